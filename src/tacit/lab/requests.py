"""What a page may ask for: every message is checked here before anything is computed of it."""

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tacit.data.generators import GENERATORS
from tacit.models.initialisations import INITIALISATIONS, Embedding, FromFile
from tacit.values import BadInput, Dataset, Setting

MOST_BYTES = 2_000_000
"""Bytes of one message."""
MOST_POINTS, MOST_DIMENSIONS, MOST_NEURONS = 1000, 64, 400
MOST_PRODUCTS = 100_000
"""Points times neurons, and neurons times dimensions times ten."""
MOST_EPOCHS = 200_000
MOST_LETTERS = 200
"""Letters of names and of what is chosen."""
LARGEST = 1e6
"""Coordinates of points are at most this."""
FROM_DISK = {"mnist"}
"""Generators that read files; a page may not ask for them."""
STARTS = tuple(
    name
    for name, kind in INITIALISATIONS.items()
    if kind not in (Embedding, FromFile) and kind.form.count(":") == 1
)
"""Initialisations with one number, which the page's slider sets; none that reads a file."""

Kind = Literal["check", "run", "descend", "load", "read", "stop"]


@dataclass(frozen=True)
class Request:
    """One message of a page."""

    id: int
    do: Kind
    data: Dataset | None = None
    """The points as they are shown, without the bias."""
    source: str = ""
    """The generator call that the points came from."""
    bias: float | None = None
    setting: Setting = field(default_factory=Setting)
    seed: int = 0
    dragging: bool = False
    lr: float = 0.1
    step: str = "scaled"
    epochs: int = 1000
    text: str = ""
    """The generator call to load, or the text of a file."""
    name: str = ""
    labels: str | None = None

    @property
    def points(self) -> Dataset:
        """The points that the network sees."""
        assert self.data is not None
        return self.data if self.bias is None else self.data.with_bias(self.bias)


CASE = {"id", "do", "points", "labels", "name", "source", "bias", "setting", "seed"}
FIELDS: dict[str, set[str]] = {
    "check": CASE | {"dragging"},
    "run": CASE,
    "descend": CASE | {"lr", "step", "epochs"},
    "load": {"id", "do", "call"},
    "read": {"id", "do", "name", "text", "choose"},
    "stop": {"id", "do"},
}
"""The fields of each kind of message; all of them are needed, and no others are taken."""
SETTING = {"activation", "train", "width", "init", "loss", "output_weight"}


def read_request(raw: str) -> Request:
    """The request that a message is; `BadInput`, one line, where it is none."""
    if len(raw.encode(errors="replace")) > MOST_BYTES:
        raise BadInput(f"a message has at most {MOST_BYTES:,} bytes")
    try:
        given = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the message is no JSON: {str(error)[:100]}") from None
    if not isinstance(given, dict) or given.get("do") not in FIELDS:
        raise BadInput(f"`do` must be one of {', '.join(FIELDS)}")
    kind: Kind = given["do"]
    if set(given) != FIELDS[kind]:
        odd = sorted(set(given) ^ FIELDS[kind])[0]
        words = "is missing" if odd in FIELDS[kind] else "is unknown"
        raise BadInput(f"the field {odd[:40]!r} of '{kind}' {words}")
    id = _whole(given, "id", 0, 2**53)
    if kind == "load":
        return Request(id, kind, text=_call(_text(given, "call")))
    if kind == "read":
        chosen = _text(given, "choose") or None
        return Request(
            id,
            kind,
            text=_text(given, "text", MOST_BYTES),
            name=_text(given, "name"),
            labels=chosen,
        )
    if kind == "stop":
        return Request(id, kind)
    return _case(id, kind, given)


def _case(id: int, kind: Kind, given: dict[str, Any]) -> Request:
    data = _points(given)
    bias = None if given["bias"] is None else _number(given, "bias", -LARGEST, LARGEST)
    setting = _setting(given["setting"])
    width = setting.width * 10
    if setting.width * data.n > MOST_PRODUCTS or width * data.d > MOST_PRODUCTS:
        raise BadInput("there are too many points, neurons or dimensions for a page; take fewer")
    more: dict[str, Any] = {}
    if kind == "check":
        if not isinstance(given["dragging"], bool):
            raise BadInput("`dragging` must be true or false")
        more = {"dragging": given["dragging"]}
    if kind == "descend":
        more = {
            "lr": _number(given, "lr", 1e-12, 1e6),
            "step": _choice(given, "step", ("constant", "scaled")),
            "epochs": _whole(given, "epochs", 1, MOST_EPOCHS),
        }
    seed = _whole(given, "seed", 0, 2**32 - 1)
    source = _text(given, "source")
    return Request(id, kind, data, source and _call(source), bias, setting, seed, **more)


def _points(given: dict[str, Any]) -> Dataset:
    points, labels = given["points"], given["labels"]
    if not isinstance(points, list) or not isinstance(labels, list) or len(points) != len(labels):
        raise BadInput("`points` and `labels` must be lists of the same length")
    if not 1 <= len(points) <= MOST_POINTS:
        raise BadInput(f"there must be between 1 and {MOST_POINTS} points, not {len(points)}")
    d = len(points[0]) if isinstance(points[0], list) else 0
    if not 1 <= d <= MOST_DIMENSIONS:
        raise BadInput(f"points must have between 1 and {MOST_DIMENSIONS} coordinates")
    for point in points:
        if not isinstance(point, list) or len(point) != d or not all(map(_is_coordinate, point)):
            raise BadInput(f"every point must be a list of {d} numbers of size {LARGEST:g} at most")
    if not all(type(label) is int and label in (-1, 1) for label in labels):
        raise BadInput("labels must be −1 or 1")
    return Dataset(np.array(points, dtype=float), np.array(labels), _text(given, "name") or "data")


def _setting(given: Any) -> Setting:
    if not isinstance(given, dict) or set(given) != SETTING:
        raise BadInput(f"`setting` must have exactly {', '.join(sorted(SETTING))}")
    start = _text(given, "init")
    if start.partition(":")[0] not in STARTS:
        raise BadInput(f"`init` must be one of {', '.join(STARTS)} with a number")
    return Setting(
        activation=_text(given, "activation"),
        train=_choice(given, "train", ("both", "first")),
        width=_whole(given, "width", 1, MOST_NEURONS),
        init=start,
        output_weight=_number(given, "output_weight", 1e-6, 1e6),
        loss=_choice(given, "loss", ("logistic", "exponential")),
        rule="flow",
    )


def _call(text: str) -> str:
    name = text.partition(":")[0]
    if name not in GENERATORS or name in FROM_DISK:
        raise BadInput(f"there is no generator '{name[:40]}' on this page")
    return text


def _text(given: dict[str, Any], key: str, most: int = MOST_LETTERS) -> str:
    if not isinstance(given[key], str) or len(given[key]) > most:
        raise BadInput(f"`{key}` must be a text of at most {most} letters")
    return given[key]


def _choice(given: dict[str, Any], key: str, allowed: tuple[str, ...]) -> Any:
    if given[key] not in allowed:
        raise BadInput(f"`{key}` must be one of {', '.join(allowed)}")
    return given[key]


def _whole(given: dict[str, Any], key: str, least: int, most: int) -> int:
    if type(given[key]) is not int or not least <= given[key] <= most:
        raise BadInput(f"`{key}` must be a whole number between {least} and {most}")
    return given[key]


def _number(given: dict[str, Any], key: str, least: float, most: float) -> float:
    if type(given[key]) not in (int, float) or not least <= given[key] <= most:
        raise BadInput(f"`{key}` must be a number between {least:g} and {most:g}")
    return float(given[key])


def _is_coordinate(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) <= LARGEST


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}")
