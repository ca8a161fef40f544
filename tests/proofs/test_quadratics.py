"""Nodes that quadratic functions close: as far as they should, and never where F is larger."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from tacit.certificates import optimum, proof_of
from tacit.numerics import tree_proof as made
from tacit.numerics.arrangements import cells
from tacit.numerics.pricing import price
from tacit.numerics.tolerances import TREE_PROOF
from tacit.proofs import verify, write_proof
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget, whole
from tacit.proofs.quadratics import Quadratics
from tacit.proofs.reading import Problem
from tacit.proofs.tree_reading import QuadraticRound, read_tree
from tacit.proofs.trees import check_tree
from tacit.values import Dataset


@pytest.fixture(autouse=True)
def only_quadratics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A tree with chords is never small enough."""
    monkeypatch.setattr(made, "TREE_PROOF", replace(TREE_PROOF, few_numbers=1))
    yield


def function(rows: np.ndarray, linear: np.ndarray, up: np.ndarray, U: np.ndarray) -> np.ndarray:
    t = np.maximum(U @ rows.T, 0)
    return U @ linear + t[:, up].sum(axis=1) - t[:, ~up].sum(axis=1)


def node(rows: np.ndarray, linear: np.ndarray, up: np.ndarray, threshold: float) -> Quadratics:
    numbers, unit = whole(np.vstack([rows, linear]))
    numbers <<= 60
    limit = math.floor(Fraction(threshold) * (1 << unit + 60))
    return Quadratics(numbers, numbers @ numbers.T, up.tolist(), limit, Budget(), "here")


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e100])
def test_no_multipliers_close_a_part_in_which_f_is_larger(
    wide: bool, scale: float, rng: np.random.Generator
) -> None:
    closed = 0
    for _ in range(30):
        d = 12 if wide else 3
        rows = rng.standard_normal((6, d)) * 10.0 ** rng.uniform(-3, 0, (6, 1)) * scale
        linear = rng.standard_normal(d) * 0.3 * scale
        up = np.arange(6) < rng.integers(0, 7)
        U = rng.standard_normal((4000, d)) @ np.linalg.pinv(rows / scale) @ (rows / scale)
        U /= np.linalg.norm(U, axis=1)[:, None]
        U[::2] *= rng.random((2000, 1))
        side = np.where(up & (rng.random(6) < 0.5), np.sign(rows @ U[0]), 0).astype(int)
        there = ((U @ rows.T) * side >= 0).all(axis=1)
        values = function(rows, linear, up, U)[there] / scale
        lengths = np.linalg.norm(rows, axis=1) / scale
        given = QuadraticRound(
            10.0 ** rng.uniform(-1, 2),
            np.where(up & (side == 0), 1 / lengths, 1) * rng.random(6) * rng.choice([1, 3]),
            rng.random((~up).sum()) / lengths[~up] * rng.choice([1, 30]),
        )
        for share in (0.5, 0.99, 1.5, 3.0, 10.0, 100.0, 1e4):
            T = share * abs(values).max()
            scaled = given._replace(
                mu=given.mu / T,
                values=np.where(up & (side == 0), given.values * T, given.values),
                bends=given.bends * T,
            )
            if node(rows, linear, up, T * scale).closes(scaled, side, "node"):
                assert values.max() <= T
                closed += 1
                break
    assert closed > 10


def test_the_bound_is_what_floats_make_of_it(rng: np.random.Generator) -> None:
    for _ in range(20):
        rows, linear = rng.standard_normal((8, 4)), rng.standard_normal(4)
        up = np.arange(8) < 4
        side = np.array([1, -1, 0, 0, 0, 0, 0, 0])
        lengths = np.linalg.norm(rows, axis=1)
        beta, x = rng.uniform(0.2, 0.4, 8) / lengths, rng.uniform(0.3, 0.7, 8)
        weight = np.where(up, np.where(side > 0, 1 + x, np.where(side < 0, -x, 0.5)), -x)
        bend = np.where(up, np.where(side == 0, -beta, 0), beta)
        mu = 1 - np.linalg.eigvalsh((rows.T * bend) @ rows)[0]
        S, g = mu * np.eye(4) + (rows.T * bend) @ rows, linear + weight @ rows
        bound = 0.5 * mu + 0.5 * g @ np.linalg.solve(S, g) + (1 / (8 * beta[2:4])).sum()
        for factor in (1 - 1e-6, 1 + 1e-6):
            T = bound * factor
            values = np.where(up & (side == 0), beta * T, x)
            given = QuadraticRound(mu / T, values, beta[~up] * T)
            assert node(rows, linear, up, T).closes(given, side, "node") == (factor > 1)


@pytest.mark.parametrize("alpha", [0.0, 0.25])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 12])
def test_trees_prove_what_the_cells_prove(d: int, alpha: float, rng: np.random.Generator) -> None:
    X = rng.standard_normal((9, d))
    y = np.where(np.arange(9) % 2, 1, -1)
    lam = rng.integers(1, 9, 9) / 8.0
    for s in (1, -1):
        peak = price(X, s * lam * y, alpha, cells(X), 0.0).bound
        for share in (1 + 1e-9, 1.001, 1.2):
            nodes = made.tree_proof(X, s * lam * y, alpha, peak * share, np.arange(9))
            assert nodes is not None
            quadratic = [n for n in nodes if n[2] and isinstance(n[2][0], dict)]
            assert quadratic or share < 1.1
            entry = {"sign": s, "peak": peak * share, "nodes": json.loads(json.dumps(nodes))}
            tree = read_tree(entry, 9, "tree")
            given = Problem("problem", y, False, X, lam, lam, "trees", (), (tree,))
            check_tree(X, alpha, given, tree, Budget())
            low = replace(tree, peak=peak * (1 - 1e-9))
            with pytest.raises(Rejected, match="is not closed"):
                check_tree(X, alpha, given, low, Budget())


@cache
def _fitted() -> tuple[str, float]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((24, 12))
    y = np.where(rng.random(24) < 0.5, 1, -1)
    raw, verification = proof_of(optimum(Dataset(X, y)))
    entries = json.loads(raw)
    del entries["sha256"], entries["format"]
    assert verification.objective_bounds and verification.objective_bounds.gap < 1e-8
    return json.dumps(entries), verification.objective_bounds.lower


def fitted() -> tuple[dict[str, Any], list[dict[str, Any]], float]:
    """A proof as its entries, the quadratic functions in it, and the lower bound it proves."""
    text, lower = _fitted()
    entries = json.loads(text)
    trees = entries["problems"][0]["multipliers"]
    rounds = [r for tree in trees for n in tree["nodes"] for r in n[2] if isinstance(r, dict)]
    return entries, rounds, lower


def test_changed_functions_prove_nothing_that_is_false(rng: np.random.Generator) -> None:
    rejected = 0
    for _ in range(25):
        entries, rounds, lower = fitted()
        assert len(rounds) > 4
        one = rounds[int(rng.integers(len(rounds)))]
        factor = float(rng.choice([0.0, 0.5, 0.9, 2.0, 1e12, 1e-12, 1e300]))
        match int(rng.integers(5)):
            case 0:
                one["mu"] *= factor
            case 1:
                k = int(rng.integers(len(one["values"])))
                one["values"][k] *= factor
            case 2:
                one["bends"] = [value * factor for value in one["bends"]]
            case 3:
                one["values"] = one["values"][::-1]
            case 4:
                one.update(copy.deepcopy(rounds[int(rng.integers(len(rounds)))]))
        entries["problems"][0]["multipliers"][0]["peak"] *= float(rng.choice([1.0, 1 - 1e-8]))
        entries["lower"] = 0.0
        verification = verify(write_proof(entries))
        rejected += not verification.verified
        if verification.verified and verification.objective_bounds:
            assert verification.objective_bounds.lower <= lower * (1 + 1e-8)
    assert rejected > 6


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"mu": 0.0}, "is not closed"),
        ({"mu": 1e308}, "is not closed"),
        ({"mu": -1.0}, "must not be negative"),
        ({"mu": "1"}, "must be a finite double"),
        ({"values": []}, "values and"),
        ({"bends": [0.1]}, "values and"),
        ({"values": [-1.0]}, "must not be negative"),
        ({"values": [0.5] * 99}, "has the length 99"),
        ({"values": None}, "must be a list"),
        ({"more": 1}, "unknown key"),
    ],
)
def test_why_a_function_is_refused(change: dict[str, Any], reason: str) -> None:
    entries, rounds, _ = fitted()
    rounds[0].update(change)
    assert reason in verify(write_proof(entries)).reason


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.proofs.quadratics._MOST_ENTRIES", 10)
    entries, _, _ = fitted()
    assert "too many for quadratic bounds" in verify(write_proof(entries)).reason


def test_rows_that_depend_on_each_other_in_many_dimensions() -> None:
    """Coordinates of their span, although no float is exact there."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((6, 40))
    X = np.vstack([X, X[:2], X[2:4] + X[4:6], -X[5]])
    y = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1])
    lam = np.ones(11)
    peak = price(X, lam * y, 0.0, cells(X), 0.0).bound * 1.01
    nodes = made.tree_proof(X, lam * y, 0.0, peak, np.arange(11))
    tree = read_tree({"sign": 1, "peak": peak, "nodes": nodes}, 11, "tree")
    check_tree(X, 0.0, Problem("p", y, False, X, lam, lam, "trees", (), (tree,)), tree, Budget())


@pytest.mark.parametrize(("first", "n", "d"), [(100, 40, 5), (200, 60, 4)])
def test_columns_of_very_different_sizes(first: int, n: int, d: int) -> None:
    """What is written leaves room for the check's rounding, also where S is nearly singular."""
    X, label = load_breast_cancer(return_X_y=True)
    X, y = X[first : first + n, :d], 2 * label[first : first + n] - 1
    lam = optimum(Dataset(X, y)).per_class[0].dual
    rows = np.flatnonzero(lam)
    for s in (1, -1):
        nodes = made.tree_proof(X[rows], s * (lam * y)[rows], 0.0, 1 + 1e-6, rows)
        tree = read_tree({"sign": s, "peak": 1 + 1e-6, "nodes": nodes}, n, "tree")
        given = Problem("p", y, False, X, lam, lam, "trees", (), (tree,))
        check_tree(X, 0.0, given, tree, Budget())
