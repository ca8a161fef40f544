"""Values as JSON and back: no pickle, and what is read is checked against the types of the fields.

A class that is not made of its fields has the methods `to_saved` and `from_saved`.
"""

import base64
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from tacit.messages import BadInput

DTYPES = ("float64", "int64", "int8", "bool")
TAGS = ("array", "stored", "float", "fraction", "pairs")
"""An object with one of these as its only key stands for what JSON cannot hold."""

FEW_BYTES = 1 << 16
"""Arrays that are larger may be stored beside the JSON."""


def to_saved(value: Any, arrays: dict[str, np.ndarray] | None = None) -> Any:
    """The value in objects, lists, texts and numbers that JSON holds.

    Large arrays become members of `arrays`, if that is given.
    """
    if hasattr(value, "to_saved"):
        return value.to_saved()
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        parts = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        return {name: to_saved(one, arrays) for name, one in parts.items()}
    if isinstance(value, Mapping):
        if all(type(key) is str for key in value) and not _tagged(value):
            return {key: to_saved(one, arrays) for key, one in value.items()}
        return {"pairs": [[to_saved(key), to_saved(one, arrays)] for key, one in value.items()]}
    if isinstance(value, tuple | list):
        return [to_saved(one, arrays) for one in value]
    if isinstance(value, np.ndarray):
        if value.dtype.name not in DTYPES:
            value = value.astype(np.int64 if value.dtype.kind in "iu" else np.float64)
        if arrays is None or value.nbytes <= FEW_BYTES:
            return {"array": _array_to_saved(value)}
        name = f"stored.{len(arrays)}"
        arrays[name] = value
        return {"stored": name}
    if isinstance(value, np.generic):
        return to_saved(value.item())
    if isinstance(value, Fraction):  # in hexadecimal: Python limits the digits of decimal ones
        return {"fraction": f"{value.numerator:x}/{value.denominator:x}"}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, PurePath):
        return str(value)
    assert value is None or isinstance(value, bool | int | float | str), type(value)
    return value


def from_saved(kind: Any, form: Any, arrays: Mapping[str, np.ndarray] | None = None) -> Any:
    """The value of this type that `to_saved` made the form of; BadInput for anything else."""
    return _fit(kind, _untagged(form, arrays or {}), getattr(kind, "__name__", "it"))


def _tagged(form: Mapping[str, Any]) -> bool:
    return len(form) == 1 and next(iter(form)) in TAGS


def _array_to_saved(array: np.ndarray) -> list[Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.name, list(array.shape), data]


def _untagged(form: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(form, list):
        return [_untagged(one, arrays) for one in form]
    if not isinstance(form, dict):
        return form
    if not _tagged(form):
        return {key: _untagged(one, arrays) for key, one in form.items()}
    ((tag, inner),) = form.items()
    try:
        if tag == "array":
            dtype, shape, data = inner
            _need(dtype in DTYPES and all(type(size) is int for size in shape), "an array")
            return np.frombuffer(base64.b64decode(data, validate=True), dtype).reshape(shape)
        if tag == "stored":
            _need(inner in arrays and arrays[inner].dtype.name in DTYPES, "an array")
            return arrays[inner]
        if tag == "float":
            return float(inner)
        if tag == "fraction":
            over, under = inner.split("/")
            return Fraction(int(over, 16), int(under, 16))
        return {_key(key): _untagged(one, arrays) for key, one in inner}
    except (TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise BadInput(f"what stands for {tag} is not right: {error}") from None


def _key(form: Any) -> Any:
    return tuple(form) if isinstance(form, list) else form


def _need(right: bool, what: str) -> None:
    if not right:
        raise BadInput(f"{what} is not right")


def _fit(kind: Any, value: Any, where: str) -> Any:
    """The value as this type; `where` names it in messages."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any or kind is NoneType and value is None:
        return value
    if origin in (Union, UnionType):
        if value is None and NoneType in args:
            return None
        (only,) = (one for one in args if one is not NoneType)
        return _fit(only, value, where)
    if origin is Literal:
        _need(value in args, where)
        return value
    if origin is tuple:
        _need(isinstance(value, list | tuple), where)
        kinds = args[:1] * len(value) if args[1:] == (...,) else args
        _need(len(kinds) == len(value), where)
        return tuple(_fit(one, item, where) for one, item in zip(kinds, value, strict=True))
    if origin is list:
        _need(isinstance(value, list), where)
        return [_fit(args[0], item, where) for item in value]
    if origin in (dict, Mapping):
        _need(isinstance(value, dict), where)
        return {_fit(args[0], k, where): _fit(args[1], v, where) for k, v in value.items()}
    if hasattr(kind, "from_saved"):
        return kind.from_saved(value)
    if is_dataclass(kind):
        return _fit_fields(kind, value, where)
    if hasattr(kind, "_fields"):
        hints = _hints(kind)
        _need(isinstance(value, list) and len(value) == len(hints), where)
        return kind(
            *(_fit(one, item, where) for one, item in zip(hints.values(), value, strict=True))
        )
    return _fit_plain(kind, value, where)


def _fit_fields(kind: Any, value: Any, where: str) -> Any:
    hints = _hints(kind)
    names = [one.name for one in fields(kind) if one.init]
    _need(isinstance(value, dict) and list(value) == names, where)
    return kind(**{name: _fit(hints[name], value[name], f"{where}.{name}") for name in names})


def _fit_plain(kind: Any, value: Any, where: str) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if issubclass(kind, Enum) or issubclass(kind, PurePath):
        _need(type(value) is str, where)
        try:
            return kind(value)
        except ValueError as error:
            raise BadInput(f"{where} is not right: {error}") from None
    _need(isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), where)
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
