"""The file of a proof about a limit: every entry held against the format."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.proofs.entries import (
    Rejected,
    list_of,
    matrix,
    not_negative,
    number,
    numbers,
    object_of,
    plus_or_minus_one,
    short,
)
from tacit.proofs.reading import (
    OPTIMUM_KEYS,
    Problem,
    check_classes,
    read_alpha,
    read_classes,
    read_problem,
)
from tacit.proofs.trap import TrapCertificate
from tacit.proofs.tree_reading import TreeProof, read_tree
from tacit.proofs.trees import Cap

FORMAT = "tacit limit proof 1"
KEYS: tuple[str, ...] = ("format", "alpha", "train", "loss", "X", "classes", "networks")
NETWORK_KEYS = (*(key for key in OPTIMUM_KEYS if key != "status"), "idle", "lower", "upper", "near")
TRAPS = ("trap", "trap of one sign")
NEAR_KEYS = ("directions", "angle", "cosine", "far", "share")


@dataclass(frozen=True)
class Near:
    """The claim that most weight ends within an angle of some directions."""

    signs: tuple[int, ...]
    directions: np.ndarray
    angle: float
    cosine: float
    trees: tuple[TreeProof, ...]
    """One for each sign: at most `peak` is reached outside of the caps of that sign."""
    share: float
    first: int
    """The number by which trees name the first direction; rows of X have the smaller ones."""

    def caps(self, sign: int) -> list[Cap]:
        """The caps of this sign, with their numbers."""
        return [
            Cap(self.first + j, self.directions[j], self.cosine)
            for j, s in enumerate(self.signs)
            if s == sign
        ]


@dataclass(frozen=True)
class StoredNetwork:
    """The weights from which the flow goes on, λ with what proves its peaks, and the claims."""

    problem: Problem
    """Its neurons are the stored weights."""
    idle: dict[int, np.ndarray]
    """Neurons that never add to a margin, with v for each."""
    lower: float
    upper: float
    near: Near | None
    trap: tuple[TrapCertificate, ...] = ()
    """Why the neurons keep their activation patterns, where the upper bound is one for these."""
    trap_angle: float | None = None


@dataclass(frozen=True)
class LimitProof:
    """The content of a proof of a limit, its form checked and nothing else yet."""

    alpha: float
    train: str
    loss: str
    X: np.ndarray
    classes: tuple[str, ...]
    networks: tuple[StoredNetwork | None, ...]
    """One for two classes, else one for each class; None where nothing is claimed."""


def parse_limit(entries: dict[str, Any]) -> LimitProof:
    """The proof in these entries, with every size and every number checked."""
    object_of(entries, ("sha256", *KEYS), "the file")
    alpha = read_alpha(entries["alpha"])
    for key, words in (("train", ("both", "first")), ("loss", ("logistic", "exponential"))):
        if entries[key] not in words:
            raise Rejected(
                f"{key} is {short(entries[key])}; it must be '{words[0]}' or '{words[1]}'"
            )
    X = matrix(entries["X"], "X")
    classes = read_classes(entries["classes"])
    given = list_of(entries["networks"], "networks", max(1, len(classes)))
    networks = tuple(
        None if one is None else _network(one, X, entries["train"], f"networks[{k}]")
        for k, one in enumerate(given)
    )
    claimed = [one for one in networks if one is not None]
    if not claimed:
        raise Rejected("networks holds nothing that is claimed")
    if classes and len(claimed) == len(networks):
        check_classes([one.problem for one in claimed])
    return LimitProof(alpha, entries["train"], entries["loss"], X, classes, networks)


def _network(value: Any, X: np.ndarray, train: str, where: str) -> StoredNetwork:
    entries = object_of(value, NETWORK_KEYS, where)
    if entries["method"] in TRAPS:
        return _trapped(entries, X, train, where)
    own = {key: entries[key] for key in OPTIMUM_KEYS if key != "status"}
    problem = read_problem({**own, "status": "optimum"}, X, where)
    n, d = X.shape
    idle: dict[int, np.ndarray] = {}
    for j, pair in enumerate(list_of(entries["idle"], f"{where}.idle")):
        k, v = list_of(pair, f"{where}.idle[{j}]", 2)
        if type(k) is not int or not 0 <= k < len(problem.a) or k in idle or train == "both":
            raise Rejected(f"{where}.idle[{j}]: {short(k)} is no neuron that can be idle")
        idle[k] = np.array(numbers(v, f"{where}.idle[{j}][1]", d))
    lower = not_negative(entries["lower"], f"{where}.lower")
    upper = not_negative(entries["upper"], f"{where}.upper")
    near = None if entries["near"] is None else _near(entries["near"], n, d, f"{where}.near")
    return StoredNetwork(problem, idle, lower, upper, near)


def _trapped(entries: dict[str, Any], X: np.ndarray, train: str, where: str) -> StoredNetwork:
    n, d = X.shape
    if train != "both" or entries["idle"] != []:
        raise Rejected(f"{where}: the methods of traps are for both layers, without idle neurons")
    all_trapped = entries["method"] == "trap"
    given = {**entries, "method": "subsets", "multipliers": [], "status": "optimum"}
    problem = read_problem({key: given[key] for key in OPTIMUM_KEYS}, X, where)
    trap = []
    for j, one in enumerate(list_of(entries["multipliers"], f"{where}.multipliers")):
        place = f"{where}.multipliers[{j}]"
        own = object_of(one, ("dual", "slopes", *(() if all_trapped else ("tree",))), place)
        dual = [not_negative(v, f"{place}.dual") for v in list_of(own["dual"], f"{place}.dual", n)]
        slopes = [numbers(row, f"{place}.slopes", n) for row in list_of(own["slopes"], place)]
        tree = None if all_trapped else read_tree(own["tree"], n, f"{place}.tree")
        trap.append(TrapCertificate(np.array(dual), np.array(slopes).reshape(len(slopes), n), tree))
    angle = None
    if all_trapped or entries["near"] is not None:
        angle = number(object_of(entries["near"], ("angle",), f"{where}.near")["angle"], where)
    # Directions are printed as floats: of smaller angles than their rounding nothing can be said.
    if not trap or not (angle is None or 1e-12 <= angle <= 1):
        raise Rejected(f"{where}: there is no certificate, or no angle from 1e-12 to 1")
    lower = not_negative(entries["lower"], f"{where}.lower")
    upper = not_negative(entries["upper"], f"{where}.upper")
    return StoredNetwork(problem, {}, lower, upper, None, tuple(trap), angle)


def _near(value: Any, n: int, d: int, where: str) -> Near:
    entries = object_of(value, NEAR_KEYS, where)
    directions = [
        object_of(one, ("sign", "u"), f"{where}.directions[{j}]")
        for j, one in enumerate(list_of(entries["directions"], f"{where}.directions"))
    ]
    U = [numbers(one["u"], f"{where}.directions[{j}].u", d) for j, one in enumerate(directions)]
    angle, cosine = (number(entries[key], f"{where}.{key}") for key in ("angle", "cosine"))
    if not 0 < angle <= 1 or not 0 < cosine <= 1:
        raise Rejected(f"{where}: angle and cosine must be above 0 and at most 1")
    trees = tuple(
        read_tree(tree, n + len(U), f"{where}.far[{j}]")
        for j, tree in enumerate(list_of(entries["far"], f"{where}.far"))
    )
    if sorted(tree.sign for tree in trees) != [-1, 1]:
        raise Rejected(f"{where}.far must have one tree for each sign")
    return Near(
        tuple(plus_or_minus_one(one["sign"], f"{where}.directions") for one in directions),
        np.array(U, dtype=np.float64).reshape(len(U), d),
        angle,
        cosine,
        trees,
        not_negative(entries["share"], f"{where}.share"),
        n,
    )
