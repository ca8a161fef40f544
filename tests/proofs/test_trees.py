"""Proofs by trees: they hold where they should, and no changed one proves what is false."""

from __future__ import annotations

import copy
import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from tacit.certificates import optimum, proof_of
from tacit.numerics.branch_and_bound import Branching
from tacit.numerics.tree_proof import tree_proof
from tacit.proofs import verify, write_proof
from tacit.proofs.exact import Budget
from tacit.proofs.peaks import cell_peaks
from tacit.proofs.reading import Problem
from tacit.values import Dataset, Setting

SLACK = 1 + 1e-9


def problem(rng: np.random.Generator, n: int, d: int, lattice: bool) -> tuple[np.ndarray, ...]:
    X = rng.integers(-1, 2, (n, d)).astype(float) if lattice else rng.standard_normal((n, d))
    X[~X.any(axis=1)] = 1.0
    y = np.where(np.arange(n) % 2, 1, -1)
    return X, y, rng.integers(1, 9, n) / 8.0


def true_peaks(X: np.ndarray, y: np.ndarray, lam: np.ndarray, alpha: float) -> dict[int, float]:
    """By the cells, whose z the solvers find."""
    from tacit.numerics.arrangements import cells
    from tacit.numerics.pricing import price

    return {s: price(X, s * lam * y, alpha, cells(X), 0.0).bound for s in (1, -1)}


def content(
    X: np.ndarray, y: np.ndarray, lam: np.ndarray, alpha: float, peaks: dict[int, float]
) -> dict[str, Any]:
    """A file about these peaks; its network is one that fits anything: a neuron and its mirror."""
    rows = np.arange(len(X))
    trees = [
        {
            "sign": s,
            "peak": peaks[s],
            "nodes": tree_proof(X, s * lam * y, alpha, peaks[s], rows),
        }
        for s in (1, -1)
    ]
    entry = {"y": y.tolist(), "status": "optimum", "neurons": [], "dual": lam.tolist()}
    return {
        "alpha": alpha,
        "train": "both",
        "output_weight": None,
        "units": None,
        "X": X.tolist(),
        "classes": None,
        "problems": [entry | {"method": "trees", "multipliers": trees}],
        "lower": 0.0,
        "upper": 1e300,
    }


@cache
def _fitted(alpha: float) -> tuple[str, float]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 12))
    y = np.where(rng.random(24) < 0.5, 1, -1)
    setting = Setting(activation=f"leaky:{alpha}") if alpha else Setting()
    raw, verification = proof_of(optimum(Dataset(X, y), setting))
    entries = json.loads(raw)
    assert entries["problems"][0]["method"] == "trees" and verification.objective_bounds
    del entries["sha256"], entries["format"]
    return json.dumps(entries), verification.objective_bounds.lower


def fitted(alpha: float = 0.0) -> tuple[dict[str, Any], float]:
    """A proof by trees of a small optimum, as its entries, and the lower bound that it proves."""
    text, lower = _fitted(alpha)
    return json.loads(text), lower


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_an_optimum_in_twelve_dimensions(alpha: float) -> None:
    entries, lower = fitted(alpha)
    verification = verify(write_proof(entries))
    assert verification.verified and verification.objective_bounds
    assert verification.objective_bounds.gap <= 1e-8
    entries["lower"] = math.nextafter(lower, math.inf)
    assert "only" in verify(write_proof(entries)).reason


@pytest.mark.parametrize("alpha", [0.0, 0.25])
@pytest.mark.parametrize("lattice", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_trees_prove_what_the_cells_prove(
    d: int, lattice: bool, alpha: float, rng: np.random.Generator
) -> None:
    from tacit.proofs.tree_reading import read_tree
    from tacit.proofs.trees import tree_peaks

    X, y, lam = problem(rng, 9, d, lattice)
    peaks = {s: peak * SLACK + 1e-12 for s, peak in true_peaks(X, y, lam, alpha).items()}
    entries = content(X, y, lam, alpha, peaks)["problems"][0]["multipliers"]
    trees = tuple(read_tree(entry, len(X), "tree") for entry in entries)
    given = Problem("problem", y, False, X, lam, lam, "trees", (), trees)
    proved = tree_peaks(X, alpha, given, Budget())
    assert proved.plus == pytest.approx(peaks[1] ** 2, rel=1e-12)
    by_cells = cell_peaks(X, alpha, given, Budget())  # without z an upper bound
    assert proved.plus <= by_cells.plus * (1 + 1e-8) + 1e-9


def tampered(entries: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """A copy with one thing changed in the trees."""
    entries = copy.deepcopy(entries)
    tree = entries["problems"][0]["multipliers"][int(rng.integers(2))]
    nodes = tree["nodes"]
    j = int(rng.integers(len(nodes)))
    match int(rng.integers(7)):
        case 0:
            del nodes[j]
        case 1:
            nodes.insert(j, copy.deepcopy(nodes[int(rng.integers(len(nodes)))]))
        case 2:
            nodes[j][0] = None if nodes[j][0] is not None else int(rng.integers(18))
        case 3:
            tree["peak"] *= float(rng.choice([0.5, 0.9, 1 - 1e-6]))
        case 4:
            tree["sign"] = -tree["sign"]
        case 5:
            for values in nodes[j][2]:
                values[1::2] = [
                    value * float(rng.choice([0.0, 0.5, 3.0])) for value in values[1::2]
                ]
        case 6:
            for values in nodes[j][1]:
                values[1] = -values[1]
                values[3::2] = [value * 2 for value in values[3::2]]
    return entries


def test_columns_of_very_different_size() -> None:
    """Raw columns of breast cancer, some of size 1000 and some of 0.1: a leaf was left open."""
    X, label = load_breast_cancer(return_X_y=True)
    best = optimum(Dataset(X[:100, :8], 2 * label[:100] - 1), seconds=60)
    _, verification = proof_of(best)
    proved = verification.objective_bounds
    assert best.status == "certified" and proved is not None
    assert proved.lower == pytest.approx(best.objective_bounds.lower, rel=2e-9)


def test_close_points_prove_as_much_as_is_shown() -> None:
    """Multipliers have more digits where large terms cancel."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((16, 12)), rng.choice([-1, 1], 16)
    X[14:], y[14:] = X[:2] + 1e-5 * rng.standard_normal((2, 12)), -y[:2]
    best = optimum(Dataset(X, y), seconds=60)
    _, verification = proof_of(best)
    assert best.status == "certified" and verification.objective_bounds is not None
    assert verification.nodes > 0
    assert verification.objective_bounds.gap <= 1e-8


def test_a_tree_is_given_up_when_its_time_is_over(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, c, rows = rng.normal(size=(30, 4)), rng.normal(size=30), np.arange(30)
    peak = Branching(X, c, 0.0).maximum(0.0).bound * (1 + 1e-6)
    assert len(tree_proof(X, c, 0.0, peak, rows) or []) > 1
    monkeypatch.setattr(Branching, "nodes_at_a_time", lambda *_: 1)
    assert tree_proof(X, c, 0.0, peak, rows, until=0.0) is None


def test_a_tree_is_said_to_be_checked() -> None:
    entries, _ = fitted()
    verification = verify(write_proof(entries))
    assert verification.nodes == sum(
        len(tree["nodes"]) for tree in entries["problems"][0]["multipliers"]
    )
    assert f"checked on {verification.nodes} nodes of a tree" in str(verification)
    assert verification.to_dict()["nodes"] == verification.nodes


def test_changed_trees_prove_nothing_that_is_false(rng: np.random.Generator) -> None:
    entries, lower = fitted()
    rejected = 0
    for _ in range(60):
        changed = tampered(entries, rng)
        changed["lower"] = 0.0
        verification = verify(write_proof(changed))
        rejected += not verification.verified
        if verification.verified and verification.objective_bounds:
            assert verification.objective_bounds.lower <= lower * (1 + 1e-8)
    assert rejected > 15


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda tree: tree["nodes"].pop(), "ends before"),
        (lambda tree: tree["nodes"].append([None, [], []]), "more nodes than parts"),
        (lambda tree: tree.update(peak=tree["peak"] * (1 - 1e-6)), "is not closed"),
        (lambda tree: tree.update(nodes=[[None, [], []]]), "is not closed"),
        (lambda tree: tree.update(peak=-1.0), "must not be negative"),
        (lambda tree: tree.update(sign=3), "must be 1 or -1"),
        (lambda tree: tree["nodes"][0].append(0), "has the length 4"),
        (lambda tree: tree["nodes"][0].__setitem__(0, 99), "is not a row of X"),
        (lambda tree: tree["nodes"][0].__setitem__(1, [[0]]), "must be 1 or -1"),
        (lambda tree: tree["nodes"][0].__setitem__(1, [[]]), "must be 1 or -1"),
        (lambda tree: tree["nodes"][0].__setitem__(1, 5), "must be a list"),
        (lambda tree: tree["nodes"][0].__setitem__(2, [[0, 0.1, 0, 0.1]]), "twice"),
        (lambda tree: tree["nodes"][0].__setitem__(2, [[0]]), "has no value"),
        (lambda tree: tree["nodes"][0].__setitem__(2, [[0, -0.5]]), "must not be negative"),
        (lambda tree: tree["nodes"][0].__setitem__(2, [[0, 1e200]]), "too large"),
    ],
)
def test_why_a_tree_is_refused(change: Any, reason: str) -> None:
    entries, _ = fitted()
    change(entries["problems"][0]["multipliers"][0])
    assert reason in verify(write_proof(entries)).reason


def test_multipliers_belong_to_sides_and_slopes() -> None:
    entries, _ = fitted()
    y, dual = entries["problems"][0]["y"], entries["problems"][0]["dual"]
    support = [i for i, value in enumerate(dual) if value]
    tree = entries["problems"][0]["multipliers"][0]
    assert tree["sign"] == 1
    ours = next(i for i in support if y[i] == 1)
    theirs = next(i for i in support if y[i] == -1)
    for rounds, ranges, reason in (
        ([[ours, 0.1]], [], "whose side is not known"),
        ([[theirs, 1.5]], [], "a slope is larger than 1"),
        ([], [[ours, 1, ours, 0.1]], "is not known there"),
        ([], [[theirs, 1]], "has no side"),
    ):
        tree["nodes"][0] = [None, ranges, rounds]
        assert reason in verify(write_proof(entries)).reason
    others = [i for i in range(len(y)) if i not in support]
    if others:
        tree["nodes"][0] = [None, [], [[others[0], 0.5]]]
        assert "no support point" in verify(write_proof(entries)).reason


def test_one_tree_for_each_sign() -> None:
    entries, _ = fitted()
    trees = entries["problems"][0]["multipliers"]
    for wrong in ([trees[0]], [trees[0], trees[0]], [*trees, trees[1]], []):
        entries["problems"][0]["multipliers"] = wrong
        assert "one tree for each sign" in verify(write_proof(entries)).reason


def test_lengths_that_floats_cannot_compare() -> None:
    """Rows that cancel but for the last digit: the bound is 10^323 times as long as the vector."""
    X = np.array([[1.0, 0.0], [-1.0, 5e-324], [0.0, 1.0]])
    y = np.array([1, 1, -1])
    entries = content(X, y, np.ones(3), 0.0, {1: 10.0, -1: 10.0})
    neurons = (([1.0, 0.0], 1.0), ([-1.0, 0.0], 1.0), ([0.0, 1.0], -1.0))
    entries["problems"][0]["neurons"] = [{"w": w, "a": a} for w, a in neurons]
    tree = entries["problems"][0]["multipliers"][0]
    tree.update(peak=0.5, nodes=[[None, [], [[]]]])
    assert "is not closed" in verify(write_proof(entries)).reason
