"""Proofs that no network of any width fits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.proof_texts import content, infeasible, judge, rejected, three_classes
from tacit.proofs.bracket import check_infeasible
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget
from tacit.proofs.reading import Problem, Proof


def case(X: object, y: object, dual: object, alpha: float = 0.0) -> dict:
    return content(X, [infeasible(y, dual)], alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_opposite_pairs_around_zero(alpha: float, tmp_path: Path) -> None:
    """(x, +) and (−x, −) want the odd part of f positive at x, for three x that 0 is between."""
    x = np.array([[2.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]])
    X, y = np.concatenate([x, -x]), [1, 1, 1, -1, -1, -1]
    verification = judge(case(X, y, [1] * 6, alpha), tmp_path)
    assert verification.verified and verification.infeasible and verification.reason == ""
    assert verification.exact_bounds is None
    assert judge(case(X, y, ["7/3"] * 6, alpha), tmp_path).verified
    rejected(case(X, y, [1, 1, 1, 1, 1, 2], alpha), tmp_path, "problems[0].dual", "column 0")
    rejected(case(X, y, [1, 1, 1, 0, 0, 0], alpha), tmp_path, "line", "row 0")
    rejected(case(X, y, [0] * 6, alpha), tmp_path, "zero in every entry")


def test_equal_points_of_two_classes(tmp_path: Path) -> None:
    X = [[0.1, 0.7], [0.3, 0.2], [0.1, 0.7]]
    assert judge(case(X, [1, 1, -1], [1, 0, 1]), tmp_path).infeasible
    rejected(case(X, [1, 1, 1], [1, 0, 1]), tmp_path, "column 0")
    rejected(case(X, [1, 1, -1], [1, 0, "999999999999/1000000000000"]), tmp_path, "column 0")


def test_parallel_points(tmp_path: Path) -> None:
    """Networks are homogeneous along a ray, so x and 3x cannot have different labels."""
    X = [[3 / 1024, -21 / 64, 9], [1 / 1024, -7 / 64, 3]]
    assert judge(case(X, [1, -1], [1, 3]), tmp_path).infeasible
    assert judge(case(X, [1, -1], ["1/3", "1"]), tmp_path).infeasible
    rejected(case(X, [1, -1], [3, 1]), tmp_path, "column 0")
    rejected(case([[1, 0], [-3, 0]], [1, 1], [3, 1]), tmp_path, "line through 0 and row 0")
    assert 0.1 * 3 != 0.3  # so rounding counts
    rejected(case([[0.1, 0.1], [0.1 * 3, 0.3]], [1, -1], [3, 1]), tmp_path, "column 0")
    third = str(Fraction(0.3) / Fraction(0.1))
    assert judge(case([[0.1, -0.1], [0.3, -0.3]], [1, -1], [third, 1]), tmp_path).infeasible


def test_a_point_at_zero_cannot_be_fitted(tmp_path: Path) -> None:
    assert judge(case([[1, 2], [0, 0]], [1, -1], [0, "1/2"]), tmp_path).infeasible
    rejected(case([[1, 2], [0, 1e-300]], [1, -1], [0, "1/2"]), tmp_path, "column 1")


@pytest.mark.parametrize(
    "dual, words",
    [
        (["1/0", 1], ["dual[0]", "divided by 0"]),
        (["-1/2", "-1/2"], ["dual[0]", "negative"]),
        ([-1, -1], ["dual[0]", "negative"]),
        (["1/-2", 1], ["dual[0]", "p/q"]),
        (["١", "١"], ["dual[0]", "p/q"]),
        ([" 1", "1"], ["dual[0]", "p/q"]),
        ([1, 0.5], ["dual[1]", "p/q"]),
        ([1, True], ["dual[1]", "true"]),
        ([1], ["length 1"]),
        (["1/" + "9" * 5000, 1], ["dual[0]", "…"]),
    ],
)
def test_what_is_no_fraction(dual: list, words: list[str], tmp_path: Path) -> None:
    rejected(case([[1, 2], [1, 2]], [1, -1], dual), tmp_path, *words)


def test_denominators_may_not_grow_without_end(tmp_path: Path) -> None:
    dual = [f"1/{10**3000 + 2 * i + 1}" for i in range(60)]
    rejected(case([[1.0]] * 60, [1, -1] * 30, dual), tmp_path, "common denominator")


def test_one_hopeless_class_is_enough(tmp_path: Path) -> None:
    """Two classes meet in one point; the third could be told apart, and its proof must be right."""
    X = [[1, 0], [1, 0], [0, 1]]
    entries = three_classes() | {"X": X, "lower": None, "upper": None}
    third = entries["problems"][2]
    third["neurons"] = [{"w": [0.0, 1.0], "a": 1.0}, {"w": [1.0, 0.0], "a": -1.0}]
    entries["problems"] = [
        infeasible([1, -1, -1], [1, 1, 0]),
        infeasible([-1, 1, -1], [1, 1, 0]),
        third,
    ]
    verification = judge(entries, tmp_path)
    assert verification.verified and verification.infeasible and verification.exact_bounds is None
    rejected({**entries, "lower": 1.0}, tmp_path, "lower must be null")
    third["neurons"][1]["a"] = 1.0
    rejected(entries, tmp_path, "problems[2]", "row 0", "not positive")


entry = st.integers(-2, 2)


@given(
    st.lists(st.tuples(entry, entry, st.sampled_from([-1, 1]), st.integers(0, 2)), min_size=1),
    st.sampled_from([0.0, 0.5]),
)
def test_against_the_definition(rows: list[tuple], alpha: float) -> None:
    """Σ λ_i y_i φ(u·x_i) = 0 at 64 directions, one in each cell of such points and more."""
    X, y = np.array([row[:2] for row in rows], dtype=float), np.array([row[2] for row in rows])
    dual = np.array([row[3] for row in rows], dtype=object)
    angles = np.arange(64) * np.pi / 32 + 0.001
    t = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ X.T
    values = np.maximum(t, alpha * t) @ (dual.astype(float) * y)
    proof = Proof(alpha, "both", None, None, X, (), (), None, None)
    problem = Problem("here", y, True, np.zeros((0, 2)), np.zeros(0), dual, "", ())
    try:
        check_infeasible(proof, problem, Budget())
        holds = True
    except Rejected:
        holds = False
    assert holds == bool(np.abs(values).max() < 1e-9)
