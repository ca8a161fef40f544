"""The file of a proof: its digest, its JSON, and every entry held against the format.

The first line is `{"sha256": "<64 hex digits>",` and the digest is that of all bytes after it.
All bytes together are one JSON object. Numbers are doubles, as Python's `repr` writes them.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.messages import printable
from tacit.proofs.entries import (
    Rejected,
    fractions,
    list_of,
    matrix,
    not_negative,
    number,
    numbers,
    object_of,
    plus_or_minus_one,
    short,
)
from tacit.proofs.tree_reading import TreeProof, read_tree
from tacit.values import BadInput

FORMAT = "tacit proof 1"
MOST_BYTES = 256 << 20
"""Reading that much JSON can take some gigabytes of memory."""
KEYS: tuple[str, ...] = ("format", "alpha", "train", "output_weight", "units", "X", "classes")
KEYS += ("problems", "lower", "upper")
OPTIMUM_KEYS = ("y", "status", "neurons", "dual", "method", "multipliers")
METHODS = ("cells", "subsets", "trees")
INFEASIBLE_KEYS = ("y", "status", "dual")

_FIRST_LINE = re.compile(rb'\{"sha256": "([0-9a-f]{64})",\n')


@dataclass(frozen=True)
class Multiplier:
    """z ≥ 0 on rows of X, for one sign of output weights and one cell."""

    sign: int
    cell: str
    z: dict[int, float]


@dataclass(frozen=True)
class Problem:
    """One binary problem; `where` names it in messages."""

    where: str
    y: np.ndarray
    infeasible: bool
    W: np.ndarray
    a: np.ndarray
    dual: np.ndarray
    """Doubles; for an infeasible problem whole numbers, the fractions times their denominator."""
    method: str
    multipliers: tuple[Multiplier, ...]
    trees: tuple[TreeProof, ...] = ()


@dataclass(frozen=True)
class Proof:
    """The content of a proof of an optimum, its form checked and nothing else yet."""

    alpha: float
    train: str
    output_weight: float | None
    units: int | None
    X: np.ndarray
    classes: tuple[str, ...]
    problems: tuple[Problem, ...]
    lower: float | None
    upper: float | None


def write_proof(content: dict[str, Any], kind: str = FORMAT, keys: tuple[str, ...] = KEYS) -> bytes:
    """The bytes of a proof file; `content` holds all keys but the digest (and the format)."""
    entries = {"format": kind, **content}
    if wrong := sorted(set(keys) ^ set(entries)):
        raise KeyError(f"a proof has the keys {', '.join(keys)}; not so here: {', '.join(wrong)}")
    lines = [f'"{key}": {json.dumps(entries[key], allow_nan=False)}' for key in keys]
    body = (",\n".join(lines) + "}\n").encode()
    return b'{"sha256": "%s",\n' % hashlib.sha256(body).hexdigest().encode() + body


def check_first_line(raw: bytes, name: str) -> None:
    """BadInput for a file that does not begin as a proof does."""
    if not _FIRST_LINE.match(raw):
        raise BadInput(f'{name} is not a tacit proof: its first line is not {{"sha256": "…",')


def read_entries(raw: bytes) -> Any:
    """What the bytes hold, which are those that the first line has the digest of."""
    first, _, body = raw.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != first[12:76]:
        raise Rejected("the digest in the first line is not that of the rest; the file was altered")
    return _json(raw)


def parse(raw: bytes) -> Proof:
    """The proof in the bytes."""
    return parse_optimum(read_entries(raw))


def parse_optimum(content: Any) -> Proof:
    """The proof in these entries, with every size and every number checked."""
    entries = object_of(content, ("sha256", *KEYS), "the file")
    if entries["format"] != FORMAT:
        raise Rejected(f"format is {short(entries['format'])}; it must be {short(FORMAT)}")
    alpha = read_alpha(entries["alpha"])
    v, units = _fixed_output(entries)
    X = matrix(entries["X"], "X")
    classes = read_classes(entries["classes"])
    problems = list_of(entries["problems"], "problems", max(1, len(classes)))
    read = tuple(read_problem(p, X, f"problems[{k}]") for k, p in enumerate(problems))
    if classes:
        check_classes(read)
    infeasible = any(problem.infeasible for problem in read)
    lower, upper = (_claim(entries[key], infeasible, key) for key in ("lower", "upper"))
    return Proof(alpha, entries["train"], v, units, X, classes, read, lower, upper)


def read_alpha(value: Any) -> float:
    """The slope of the activation."""
    alpha = number(value, "alpha")
    if not 0 <= alpha < 1:
        raise Rejected(f"alpha is {alpha}; it must be at least 0 and less than 1")
    return alpha


def check_classes(problems: Sequence[Problem]) -> None:
    """Every point is in one class."""
    ones = np.sum([problem.y > 0 for problem in problems], axis=0)
    if (ones != 1).any():
        i = int(np.argmax(ones != 1))
        raise Rejected(f"row {i} of X is +1 in {ones[i]} problems; it must be in one class")


def _json(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except RecursionError:
        raise Rejected("the JSON is nested too deeply") from None
    except ValueError as error:  # also of bytes that are not UTF-8, and of integers too long
        raise Rejected(f"the JSON cannot be read: {printable(str(error))[:200]}") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return entries


def _constant(token: str) -> Any:
    raise ValueError(f"{token} is not a number")


def _fixed_output(entries: dict[str, Any]) -> tuple[float | None, int | None]:
    """The output weight and the units of each sign; both None when both layers are trained."""
    train, v, units = entries["train"], entries["output_weight"], entries["units"]
    if train == "both":
        if v is not None or units is not None:
            raise Rejected("output_weight and units must be null when both layers are trained")
        return None, None
    if train != "first":
        raise Rejected(f"train is {short(train)}; it must be 'both' or 'first'")
    v = number(v, "output_weight")
    if v <= 0:
        raise Rejected(f"output_weight is {v}; it must be positive")
    if type(units) is not int or units < 1:
        raise Rejected(f"units is {short(units)}; it must be a whole number from 1")
    return v, units


def read_classes(value: Any) -> tuple[str, ...]:
    """The names of the classes; none for two."""
    if value is None:
        return ()
    names = list_of(value, "classes")
    if len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise Rejected("classes must be null or the names of at least two classes")
    if len(set(names)) < len(names):
        raise Rejected("classes holds a name twice")
    return tuple(names)


def read_problem(value: Any, X: np.ndarray, where: str) -> Problem:
    """Read the entries of one binary problem, and refuse what does not fit together."""
    n, d = X.shape
    status = value.get("status") if isinstance(value, dict) else None
    if status not in ("optimum", "infeasible"):
        raise Rejected(f"{where}: status is {short(status)}; it must be 'optimum' or 'infeasible'")
    infeasible = status == "infeasible"
    entries = object_of(value, INFEASIBLE_KEYS if infeasible else OPTIMUM_KEYS, where)
    labels = list_of(entries["y"], f"{where}.y", n)
    y = np.array([plus_or_minus_one(label, f"{where}.y[{i}]") for i, label in enumerate(labels)])
    given = list_of(entries["dual"], f"{where}.dual", n)
    if infeasible:
        dual = np.array(fractions(given, f"{where}.dual"), dtype=object)
        return Problem(where, y, True, np.zeros((0, d)), np.zeros(0), dual, "", ())
    dual = np.array([not_negative(v, f"{where}.dual[{i}]") for i, v in enumerate(given)])
    method = entries["method"]
    if method not in METHODS:
        kinds = ", ".join(map(repr, METHODS))
        raise Rejected(f"{where}: method is {short(method)}; it must be one of {kinds}")
    multipliers = list_of(entries["multipliers"], f"{where}.multipliers")
    W, a = _neurons(entries["neurons"], d, f"{where}.neurons")
    if method == "trees":
        trees = tuple(
            read_tree(t, n, f"{where}.multipliers[{j}]") for j, t in enumerate(multipliers)
        )
        if sorted(tree.sign for tree in trees) != [-1, 1]:
            raise Rejected(f"{where}.multipliers must have one tree for each sign")
        return Problem(where, y, False, W, a, dual, method, (), trees)
    if method == "subsets" and multipliers:
        raise Rejected(f"{where}.multipliers must be empty for the method 'subsets'")
    read = tuple(
        _multiplier(value, n, f"{where}.multipliers[{j}]") for j, value in enumerate(multipliers)
    )
    return Problem(where, y, False, W, a, dual, method, read)


def _neurons(value: Any, d: int, where: str) -> tuple[np.ndarray, np.ndarray]:
    neurons = [
        object_of(neuron, ("w", "a"), f"{where}[{k}]")
        for k, neuron in enumerate(list_of(value, where))
    ]
    W = [numbers(neuron["w"], f"{where}[{k}].w", d) for k, neuron in enumerate(neurons)]
    a = [number(neuron["a"], f"{where}[{k}].a") for k, neuron in enumerate(neurons)]
    return np.array(W, dtype=np.float64).reshape(len(W), d), np.array(a, dtype=np.float64)


def _multiplier(value: Any, n: int, where: str) -> Multiplier:
    entries = object_of(value, ("sign", "cell", "z"), where)
    z: dict[int, float] = {}
    for j, pair in enumerate(list_of(entries["z"], f"{where}.z")):
        i, amount = list_of(pair, f"{where}.z[{j}]", 2)
        if type(i) is not int or not 0 <= i < n or i in z:
            raise Rejected(f"{where}.z[{j}]: {short(i)} is not a row of X, or named twice")
        z[i] = not_negative(amount, f"{where}.z[{j}][1]")
    cell = entries["cell"]
    if not isinstance(cell, str) or set(cell) - set("+-0"):
        raise Rejected(f"{where}.cell is {short(cell)}; it must be a text of +, - and 0")
    return Multiplier(plus_or_minus_one(entries["sign"], f"{where}.sign"), cell, z)


def _claim(value: Any, infeasible: bool, where: str) -> float | None:
    if infeasible:
        if value is not None:
            raise Rejected(f"{where} must be null, since a problem is said to be infeasible")
        return None
    return number(value, where)
