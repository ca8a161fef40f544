"""`tacit check` against brute force in fractions: definitions, read off the papers, one by one.

An answer may be open; an answer that is given must be the true one.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from soak.case import Case
from soak.exact_networks import Vector, dot, exact, root
from soak.point_sets import points, write_csv

ROUNDING = 1e-9


def attack(case: Case) -> None:
    X, y = points(case.rng, most=8, dimensions=(1, 2, 2, 3), decades=case.pick(8, 150))
    alpha = case.pick(0.0, 0.3, 0.5)
    write_csv(Path("points.csv"), X, y)
    activation = f"leaky:{alpha}" if alpha else "relu"
    answer = case.as_json("check", "points.csv", "--activation", activation)
    rows, labels = [exact(x) for x in X], [int(label) for label in y]
    said = {name: entry["holds"] for name, entry in answer["properties"].items()}
    truths = {
        "orthogonally_separable": _orthogonally_separable(rows, labels),
        "symmetric": _symmetric(rows, labels),
        "general_position": _general_position(rows),
        "lyu2021:assumption4.5": _assumption_4_5(rows, labels),
        "lyu2021:assumptionA.3": _difference_of_means(rows, labels, alpha) > 0,
        "lyu2021:assumptionA.8": _difference_of_means(rows, labels, alpha) < 0,
    }
    if alpha:
        truths["lyu2021:assumptionA.2"] = _assumption_A_2(rows, labels, Fraction(alpha))
    for name, truth in truths.items():
        case.need(said[name] in (truth, None), f"{name} is {truth}; the answer is {said[name]}")
    _margin(case, answer, X, y, rows, labels)
    if case.rng.random() < 0.1:
        case.tacit(  # data beyond the arithmetic of the theorems is refused
            "predict", "points.csv", "--activation", activation, "--width", 20, codes=(0, 2)
        )


def _orthogonally_separable(rows: list[Vector], labels: list[int]) -> bool:
    pairs = [(i, j) for i in range(len(rows)) for j in range(i, len(rows))]
    return all(
        dot(rows[i], rows[j]) > 0 if labels[i] == labels[j] else dot(rows[i], rows[j]) <= 0
        for i, j in pairs
    )


def _symmetric(rows: list[Vector], labels: list[int]) -> bool:
    there = Counter((tuple(row), label) for row, label in zip(rows, labels, strict=True))
    return there == Counter((tuple(-v for v in row), -label) for row, label in there.elements())


def _rank(rows: list[Vector]) -> int:
    rows, rank = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [p - factor * q for p, q in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def _general_position(rows: list[Vector]) -> bool:
    k = min(len(rows), len(rows[0]))
    return all(_rank(list(subset)) == k for subset in combinations(rows, k))


def _sum(rows: list[Vector]) -> Vector:
    return [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]


def _signed(rows: list[Vector], labels: list[int]) -> list[Vector]:
    return [[label * v for v in row] for row, label in zip(rows, labels, strict=True)]


def _assumption_4_5(rows: list[Vector], labels: list[int]) -> bool:
    total = _sum(_signed(rows, labels))
    return all(dot(total, row) != 0 for row in rows)


def _assumption_A_2(rows: list[Vector], labels: list[int], alpha: Fraction) -> bool:
    Z = _signed(rows, labels)
    total = _sum(Z)
    return all(
        alpha * dot(total, z) > (1 - alpha) * sum(max(-dot(z, other), 0) for other in Z) for z in Z
    )


def _difference_of_means(rows: list[Vector], labels: list[int], alpha: float) -> Fraction:
    """‖µ⁺‖² − ‖µ⁻‖², times n²: in µ⁺ negative points count α times, in µ⁻ positive ones."""
    squares = []
    for sign in (1, -1):
        scaled = [
            [(1 if label == sign else Fraction(alpha)) * v for v in row]
            for row, label in zip(_signed(rows, labels), labels, strict=True)
        ]
        total = _sum(scaled)
        squares.append(dot(total, total))
    return squares[0] - squares[1]


def _margin(
    case: Case, answer: dict, X: np.ndarray, y: np.ndarray, rows: list[Vector], labels: list[int]
) -> None:
    """Separability by a linear program, whose w is tried exactly; the margin is reached by w."""
    Z = _signed(rows, labels)
    separable = answer["linearly_separable"]
    lengths = np.array([root(dot(row, row)) for row in rows])
    if (lengths == 0).any():
        case.need(separable in (False, None), "separable, but a point is 0")
        return
    scaled = np.array(
        [[float(v / Fraction(s)) for v in z] for z, s in zip(Z, lengths, strict=True)]
    )
    n, d = X.shape
    program = linprog(  # the largest t with z_i·w ≥ t and |w_j| ≤ 1
        np.append(np.zeros(d), -1), np.column_stack([-scaled, np.ones(n)]), np.zeros(n),
        bounds=[(-1, 1)] * d + [(None, None)], method="highs",
    )  # fmt: skip
    w = exact(program.x[:d])
    if all(dot(w, z) > 0 for z in Z):
        case.need(separable in (True, None), "not separable, but a separator was found")
        margin = float(min(dot(w, z) for z in Z) / Fraction(root(dot(w, w))))
        upper = answer["max_margin_upper"]
        if upper is not None:
            case.need(margin <= upper * (1 + ROUNDING), f"margin {margin!r} above {upper!r}")
    if separable:
        u = exact(np.array(answer["max_margin_direction"]))
        reached = min(dot(u, z) for z in Z) / Fraction(root(dot(u, u)))
        claimed = answer["max_margin"]
        case.need(
            reached > 0 and float(reached) >= claimed * (1 - ROUNDING),
            f"the direction has the margin {float(reached)!r}, not {claimed!r}",
        )
        case.need(not math.isinf(claimed), "an infinite margin")
