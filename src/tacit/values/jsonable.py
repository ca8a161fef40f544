"""Values as JSON holds them, and JSON that is read without trusting it."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

OTHER_MACHINE = 1e-9
"""Numbers that were computed on another machine may differ by this."""


def plain(value: Any) -> Any:
    """The value in dicts, lists and plain numbers; None for every number that is not finite."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind == "f":
        whole = value.astype(object)
        whole[~np.isfinite(value)] = None
        return whole.tolist()
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def json_bytes(value: Any) -> bytes:
    """The text of a JSON file; names that are no text become escapes, as JSON has them."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode(errors="backslashreplace")


def read_json(text: bytes) -> Any:
    """What a JSON file holds; ValueError or RecursionError where it is none, or holds NaN."""

    def refuse(constant: str) -> None:
        raise ValueError(f"it holds {constant}")

    return json.loads(text, parse_constant=refuse)


def agree(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two JSON objects say the same, up to rounding, under the keys that both have."""
    return all(alike(one[key], other[key]) for key in one.keys() & other.keys())


def alike(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same up to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and agree(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if type(one) in (int, float) and type(other) in (int, float):
        return math.isclose(one, other, rel_tol=OTHER_MACHINE, abs_tol=OTHER_MACHINE)
    return one == other
