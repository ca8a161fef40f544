"""The max-margin separator: against other solvers, against its own optimality conditions, and
against rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from margin_checks import LIES, lie
from tacit.data import generate
from tacit.numerics import max_margin as module
from tacit.numerics.max_margin import MaxMargin, max_margin, support

Judge = Callable[[np.ndarray], bool]


def separable_rows(
    rng: np.random.Generator, n: int, d: int, margin: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Rows with z·w ≥ margin, and that w."""
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    Z = rng.normal(size=(n, d))
    along = np.abs(Z @ w) + margin
    return Z + np.outer(along - Z @ w, w), w


def by_cone_program(Z: np.ndarray) -> float:
    w, t = cp.Variable(Z.shape[1]), cp.Variable()
    problem = cp.Problem(cp.Maximize(t), [Z @ w >= t, cp.norm(w) <= 1])
    problem.solve(solver=cp.CLARABEL)
    return float(t.value)


def separates_by_linear_program(Z: np.ndarray) -> bool:
    n, d = Z.shape
    A = np.hstack([-Z, np.ones((n, 1))])
    program = linprog([0] * d + [-1], A, [0] * n, bounds=[(-1, 1)] * (d + 1))
    return bool(-program.fun > 1e-9)


def square(rows: list[list[Fraction]]) -> Fraction:
    return sum((sum(column) ** 2 for column in zip(*rows, strict=True)), Fraction(0))


def assert_bounds_hold_exactly(Z: np.ndarray, answer: MaxMargin) -> None:
    """lower ≤ min z·w/‖w‖ and ‖Σλz‖/Σλ ≤ upper, in rational arithmetic."""
    w = [Fraction(v) for v in answer.direction.tolist()]
    rows = [[Fraction(v) for v in row] for row in Z.tolist()]
    reached = min(sum(a * b for a, b in zip(row, w, strict=True)) for row in rows)
    if any(w) and answer.margin_bounds.lower > -np.inf:
        lower, length = Fraction(answer.margin_bounds.lower), square([w])
        signed = lower * abs(lower) * length  # lower ≤ reached/‖w‖, without the root
        assert signed <= reached * abs(reached)
    if answer.status != "not separable" and answer.margin_bounds.upper < np.inf:
        lam = [Fraction(v) for v in answer.multipliers.tolist()]
        scaled = [[p * v for v in row] for p, row in zip(lam, rows, strict=True)]
        assert square(scaled) <= (Fraction(answer.margin_bounds.upper) * sum(lam)) ** 2


@pytest.mark.parametrize("d", range(1, 7))
def test_agrees_with_a_cone_program(rng: np.random.Generator, d: int) -> None:
    for n in (1, 2, d, 4 * d, 50):
        Z, _ = separable_rows(rng, n, d)
        answer = max_margin(Z)
        assert answer.status == "separable"
        assert answer.margin == pytest.approx(by_cone_program(Z), rel=1e-7)
        assert answer.gap <= 1e-12
        assert_bounds_hold_exactly(Z, answer)


@pytest.mark.parametrize("d", range(1, 7))
def test_agrees_with_a_linear_program(rng: np.random.Generator, d: int) -> None:
    """With n = 2d Gaussian rows both answers are equally likely."""
    seen = []
    for _ in range(30):
        Z = rng.normal(size=(2 * d, d))
        answer = max_margin(Z)
        seen.append(separates_by_linear_program(Z))
        assert answer.status == ("separable" if seen[-1] else "not separable")
        assert answer.margin_bounds.lower <= answer.margin_bounds.upper
        assert_bounds_hold_exactly(Z, answer)
    assert True in seen and False in seen


@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 2), (40, 3), (3, 10), (200, 20), (60, 60)])
def test_optimality_conditions(rng: np.random.Generator, n: int, d: int) -> None:
    Z, _ = separable_rows(rng, n, d)
    answer = max_margin(Z)
    lam, w = answer.multipliers, answer.direction
    assert (lam >= 0).all() and lam.sum() == pytest.approx(1, abs=1e-14)
    assert np.linalg.norm(w) == pytest.approx(1, abs=1e-14)
    combined = lam @ Z
    np.testing.assert_allclose(combined / np.linalg.norm(combined), w, atol=1e-9)
    margins = Z @ w
    assert margins.min() >= answer.margin_bounds.lower
    np.testing.assert_allclose(margins[lam > 0], margins.min(), rtol=1e-9)
    assert set(np.flatnonzero(lam > 1e-9)) <= set(support(Z, answer))


@given(
    Z=st.tuples(st.integers(1, 8), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(-3, 3))
    )
)
def test_whole_numbers_are_decided_correctly(separable_exactly: Judge, Z: np.ndarray) -> None:
    answer = max_margin(Z)
    assert answer.status == ("separable" if separable_exactly(Z) else "not separable")
    if answer.status == "not separable":
        assert answer.margin_bounds.lower <= 0 == answer.margin == answer.margin_bounds.upper
        assert not separable_exactly(Z[answer.multipliers > 0])
    assert_bounds_hold_exactly(Z, answer)


@settings(max_examples=200)
@given(
    Z=st.tuples(st.integers(1, 5), st.integers(1, 3)).flatmap(
        lambda shape: arrays(
            np.float64, shape, elements=st.floats(allow_nan=False, allow_infinity=False)
        )
    )
)
def test_any_floats_are_never_judged_wrongly(separable_exactly: Judge, Z: np.ndarray) -> None:
    """From subnormal numbers to the largest ones, next to each other."""
    answer = max_margin(Z)
    truth = "separable" if separable_exactly(Z) else "not separable"
    assert answer.status in (truth, "undecided")
    assert_bounds_hold_exactly(Z, answer)


@pytest.mark.parametrize("exponent", range(3, 13))
@pytest.mark.parametrize("d", [2, 5])
def test_tiny_margins(rng: np.random.Generator, exponent: int, d: int) -> None:
    """(±e_j, γ) have the margin γ exactly: 0 is in the middle of the other coordinates."""
    gamma = 10.0**-exponent
    sides = np.vstack([np.eye(d - 1), -np.eye(d - 1)])
    Z = np.hstack([sides, np.full((len(sides), 1), gamma)])
    answer = max_margin(np.vstack([Z, rng.normal(size=(3, d)) + 5 * np.eye(d)[-1]]))
    assert answer.status == "separable"
    assert answer.margin_bounds.holds(gamma)
    assert answer.gap <= 1e-14 / gamma
    turned = max_margin(Z @ np.linalg.qr(rng.normal(size=(d, d)))[0])
    assert turned.status == "separable"  # its margin is γ up to the rounding of the rotation
    assert turned.margin_bounds.lower - 1e-15 <= gamma <= turned.margin_bounds.upper + 1e-15


@pytest.mark.parametrize("exponent", range(1, 18))
def test_both_sides_of_separable(exponent: int) -> None:
    delta = 10.0**-exponent

    def status(delta: float) -> str:
        return max_margin(np.array([[1, delta], [-1, delta], [0, 1]])).status

    unknown = {"undecided"} if exponent > 14 else set()
    assert status(delta) in {"separable"} | unknown
    assert status(-delta) in {"not separable"} | unknown
    assert status(0) == "not separable"


def test_powers_of_two_change_no_bit(rng: np.random.Generator) -> None:
    Z, _ = separable_rows(rng, 30, 4)
    answer = max_margin(Z)
    for k in (-900, -30, 1, 7, 900):
        other = max_margin(np.ldexp(Z, k))
        assert np.array_equal(other.direction, answer.direction)
        assert np.array_equal(other.multipliers, answer.multipliers)
        assert other.margin_bounds == tuple(np.ldexp(answer.margin_bounds, k))


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
def test_scale(rng: np.random.Generator, factor: float) -> None:
    Z, _ = separable_rows(rng, 30, 4)
    answer, scaled = max_margin(Z), max_margin(factor * Z)
    assert scaled.status == "separable"
    np.testing.assert_allclose(scaled.direction, answer.direction, atol=1e-9)
    assert scaled.margin == pytest.approx(factor * answer.margin, rel=1e-12)
    assert max_margin(factor * np.vstack([Z, -Z[:1]])).status == "not separable"


def test_rotation_order_and_labels(rng: np.random.Generator) -> None:
    Z, _ = separable_rows(rng, 40, 5)
    answer = max_margin(Z)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    order = rng.permutation(40)
    for other, w in (
        (max_margin(Z @ turn), answer.direction @ turn),
        (max_margin(Z[order]), answer.direction),
        (max_margin(-Z), -answer.direction),
    ):
        np.testing.assert_allclose(other.direction, w, atol=1e-9)
        assert other.margin == pytest.approx(answer.margin, rel=1e-12)


@pytest.mark.parametrize(
    ("rows", "margin"),
    [
        ([[2.0]], 2),
        ([[-3.0], [-0.5]], 0.5),
        ([[1.0], [-1.0]], 0),
        ([[0.0]], 0),
        ([[0.0, 0.0], [0.0, 0.0]], 0),
        ([[1.0, 0.0], [0.0, 0.0]], 0),
        ([[3.0, 4.0]], 5),
        ([[1.0, 0.0], [0.0, 1.0]], np.sqrt(0.5)),
        ([[1.0, 2.0], [2.0, 4.0], [0.5, 1.0]], np.sqrt(1.25)),  # collinear
        ([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, -1.0, 0.0]], 1),  # a plane
        ([[1.0, 2.0], [-1.0, -2.0]], 0),  # the same point with both labels
        ([[1.0, 2.0], [-2.0, -4.0], [1.0, 0.0]], 0),
    ],
)
def test_small_cases(rows: list[list[float]], margin: float) -> None:
    answer = max_margin(np.array(rows))
    assert answer.status == ("separable" if margin else "not separable")
    assert answer.margin == pytest.approx(margin, rel=1e-14)
    assert answer.margin_bounds.holds(margin)
    assert answer.multipliers.min() >= 0 and answer.multipliers.sum() == pytest.approx(1)


def test_extreme_numbers() -> None:
    """Where a float cannot hold the answer the bounds still stand."""
    largest = max_margin(np.full((2, 3), 1.7e308))
    assert largest.status == "separable"
    assert (
        largest.margin_bounds.lower <= np.finfo(float).max and largest.margin_bounds.upper == np.inf
    )
    assert largest.gap == 1
    smallest = max_margin(np.array([[5e-324, 0], [0, 5e-324]]))
    assert smallest.status == "separable"
    lower, upper = smallest.margin_bounds
    assert 0 == lower < upper  # the margin is 0.7 of the smallest float
    assert max_margin(np.array([[1.0], [1e-200]])).status == "separable"
    apart = max_margin(np.array([[1e300], [1e-300]]))  # the second is lost next to the first
    assert apart.status == "separable"
    assert apart.margin_bounds.holds(1e-300)
    tilted = np.array([[1e300, 1e-100], [-1e300, 1e-100]])  # here a column is lost
    assert max_margin(tilted).status == "undecided"


def test_rows_of_all_lengths(rng: np.random.Generator) -> None:
    """Lengths of rows do not change whether they can be separated."""
    for _ in range(20):
        Z = rng.normal(size=(8, 4))
        lengths = 10.0 ** rng.uniform(-25, 25, (8, 1))
        answer = max_margin(lengths * Z)
        assert answer.status == max_margin(Z).status
        assert_bounds_hold_exactly(lengths * Z, answer)


@pytest.mark.parametrize("d", [2, 7, 60])
def test_large_data(rng: np.random.Generator, d: int) -> None:
    """Working sets: more rows than are solved at once."""
    Z, w = separable_rows(rng, 5000, d, margin=1e-3)
    answer = max_margin(Z)
    assert answer.status == "separable" and answer.gap <= 1e-8
    assert answer.margin_bounds.upper >= (Z @ w).min()  # as good as the w it was made from
    chosen = np.flatnonzero(answer.multipliers)
    assert max_margin(Z[chosen]).margin == pytest.approx(answer.margin, rel=1e-8)
    for bad in (rng.normal(size=(5000, d)), np.vstack([Z, -Z[:1]]), np.vstack([Z, -3 * w])):
        answer = max_margin(bad)
        assert answer.status == "not separable"
        proof = answer.multipliers
        assert np.abs(proof @ bad).max() <= 1e-12 * np.abs(bad).max()


def test_working_sets_change_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = [separable_rows(rng, 300, d, 1e-3)[0] for d in (2, 5, 20)] + [rng.normal(size=(300, 4))]
    whole = [max_margin(Z) for Z in sets]
    small = replace(module.MARGIN, first_rows=10, most_logistic_rows=50)
    monkeypatch.setattr(module, "MARGIN", small)
    for Z, expected in zip(sets, whole, strict=True):
        answer = max_margin(Z)
        assert answer.status == expected.status
        assert answer.margin == pytest.approx(expected.margin, rel=1e-9)
        if answer.status == "separable":
            np.testing.assert_allclose(answer.direction, expected.direction, atol=1e-7)


def test_many_duplicates(rng: np.random.Generator) -> None:
    Z, _ = separable_rows(rng, 20, 5)
    many = np.repeat(Z, 150, axis=0)
    assert max_margin(many).margin == pytest.approx(max_margin(Z).margin, rel=1e-9)
    assert max_margin(np.vstack([many[:2000], -many[:2000]])).status == "not separable"


def test_support(rng: np.random.Generator) -> None:
    Z = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.0], [1 + 1e-9, 2.0], [1.001, 0.0], [5.0, 5.0]])
    for scale in (1e-300, 1.0, 1e300):
        assert support(scale * Z, max_margin(scale * Z)).tolist() == [0, 1, 2, 3]
    tiny = np.hstack([np.vstack([np.eye(3), -np.eye(3)]), np.full((6, 1), 1e-12)])
    turned = tiny @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert len(support(turned, max_margin(turned))) == 6


@pytest.mark.parametrize("how", LIES)
def test_a_qp_solver_that_lies_makes_nothing_separable(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    Z, _ = separable_rows(rng, 40, 4)
    lie(monkeypatch, how)
    assert max_margin(rng.normal(size=(60, 4))).status == "not separable"
    assert max_margin(np.vstack([Z, -Z[:1]])).status == "not separable"


def test_many_rows_with_wrong_labels_are_proved_inseparable() -> None:
    """Rank-deficient and large: the few rows a QP solver leaves make no proof, a logistic fit's λ
    does."""
    data = generate("digits:classes=3/8")
    wrong = np.random.default_rng(0).random(data.n) < 0.1
    assert max_margin((data.y * np.where(wrong, -1, 1))[:, None] * data.X).status == "not separable"


def test_rows_named_first_change_no_answer(rng: np.random.Generator) -> None:
    for _ in range(60):
        n, d = int(rng.integers(2, 60)), int(rng.integers(1, 6))
        Z = rng.normal(size=(n, d)) + rng.choice([0.0, 1.0, 3.0])
        first = rng.choice(n, int(rng.integers(1, n + 1)), replace=False)
        plain, named = max_margin(Z), max_margin(Z, first)
        assert named.status == plain.status
        assert named.margin == pytest.approx(plain.margin, rel=1e-10)
        assert named.multipliers.shape == (n,)
