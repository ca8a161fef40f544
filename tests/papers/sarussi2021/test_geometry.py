"""Assumption 4 of sarussi2021 against its definition: every point joined, one by one."""

from __future__ import annotations

import re

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import rest_long
from margin_checks import any_points
from tacit.data import generate
from tacit.geometry import check
from tacit.geometry import predicate as base
from tacit.geometry.predicate import View, predicates
from tacit.numerics.max_margin import max_margin
from tacit.papers.sarussi2021 import geometry as sarussi2021
from tacit.values import Check, Dataset


def assumption_4(data: Dataset, unlimited: bool = True) -> Check:
    return predicates()["sarussi2021:assumption4"](View(data, 0.5, unlimited))


def by_cone_program(points: np.ndarray) -> float:
    """The largest margin of the points, 0 when there is none."""
    w, t = cp.Variable(points.shape[1]), cp.Variable()
    cp.Problem(cp.Maximize(t), [points @ w >= t, cp.norm(w) <= 1]).solve(solver=cp.CLARABEL)
    return max(float(t.value), 0.0)


def thresholds(data: Dataset) -> dict[int, np.ndarray]:
    """For every point of the other class, the margin of the class joined by it."""
    X, y = data.X, data.y
    return {
        label: np.array([by_cone_program(np.vstack([X[y == label], x])) for x in X[y != label]])
        for label in (1, -1)
    }


def assert_is(finding: Check, data: Dataset, margins: dict[int, np.ndarray]) -> None:
    """β* and the rows that reach it are those of the brute force."""
    largest = {label: float(values.max(initial=0.0)) for label, values in margins.items()}
    worst = max(largest.values())
    assert finding.holds == (worst < 1e-6)
    assert -finding.slack == pytest.approx(worst, abs=1e-6)
    assert finding.error <= 1e-9 * worst
    for sign, label in (("₊", 1), ("₋", -1)):
        named = re.search(rf"β > (\S+) \(β\*{sign}, row (\d+)\)", finding.note)
        assert (named is not None) == (largest[label] >= 1e-6)
        if named:
            others = np.flatnonzero(data.y != label).tolist()
            assert float(named[1]) == pytest.approx(largest[label], rel=1e-3)
            assert margins[label][others.index(int(named[2]))] == pytest.approx(
                largest[label], abs=1e-6
            )


@pytest.mark.parametrize("d", rest_long([1, 2, 3, 5], [2]))
def test_against_every_point_joined(rng: np.random.Generator, d: int) -> None:
    """Clouds around ±c: the closer to 0, the more directions fail on S₊ ∪ {x}."""
    seen = set()
    for distance in (0.0, 0.5, 1.0, 3.0):
        for _ in range(3):
            y = np.where(np.arange(12) < rng.integers(3, 9), 1, -1)
            data = Dataset(rng.normal(size=(12, d)) + distance * y[:, None], y)
            finding = assumption_4(data)
            assert_is(finding, data, thresholds(data))
            seen.add(finding.holds)
    assert False in seen and (True in seen or d > 3)


@settings(max_examples=30, deadline=None)
@given(
    X=st.tuples(st.integers(2, 7), st.integers(1, 3)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(-2, 2))
    ),
    seed=st.integers(0, 99),
)
def test_whole_numbers(X: np.ndarray, seed: int) -> None:
    """Zero points, repeated points, points on one line, one class: margins are 0 or far from it."""
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    data = Dataset(X, y)
    margins = thresholds(data)
    finding = assumption_4(data)
    worst = max(float(one.max(initial=0.0)) for one in margins.values())
    assert finding.holds == (worst < 1e-6)
    assert -finding.slack == pytest.approx(worst, abs=1e-6)


def test_the_definition_of_V(rng: np.random.Generator) -> None:
    """No direction is in V_β for β > β*, and the separator of the named point is for β ≤ β*."""
    data = generate("gaussians:n=100,d=2")
    X, y = data.X, data.y
    finding = assumption_4(data)
    angles = np.linspace(0, 2 * np.pi, 100_000)
    directions = np.array([np.cos(angles), np.sin(angles)])
    for sign, label in (("₊", 1), ("₋", -1)):
        own, other = X[y == label] @ directions, X[y != label] @ directions
        # The largest β for which v is in V_β.
        beta = np.minimum(own.min(axis=0), other.max(axis=0)).max()
        named = re.search(rf"β > (\S+) \(β\*{sign}, row (\d+)\)", finding.note)
        assert named and y[int(named[2])] == -label
        assert beta == pytest.approx(float(named[1]), rel=1e-3)


def with_everything_tried(data: Dataset) -> float:
    """The same without any screening."""
    X, y = data.X, data.y
    return max(
        max_margin(np.vstack([X[y == label], x])).margin for label in (1, -1) for x in X[y != label]
    )


@pytest.mark.parametrize(
    "call",
    [
        "linear:n=120,d=2",
        "linear:n=150,d=4,seed=1",
        "linear:n=100,d=10",
        "gaussians:n=100,d=20",
        "orthogonal:n=100,d=5",
        "hinted",
        "digits:classes=3/5,n=100",
    ],
)
def test_screening_changes_nothing(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = generate(call)
    finding = assumption_4(data)
    truth = with_everything_tried(data)
    assert -finding.slack == pytest.approx(truth, rel=2e-10, abs=1e-14)
    monkeypatch.setattr(sarussi2021, "FEW_DIMENSIONS", 0)
    alone = assumption_4(data)
    assert (alone.holds, alone.slack) == (finding.holds, pytest.approx(finding.slack, rel=2e-10))


def test_screening_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few of the points have to be tried."""
    calls = []

    def counted(*arguments: np.ndarray) -> object:
        calls.append(len(arguments[0]))
        return max_margin(*arguments)

    monkeypatch.setattr(sarussi2021, "max_margin", counted)
    for call, most in (
        ("linear:n=2000,d=2", 30),
        ("gaussians:n=1000,d=5", 150),
        ("gaussians:n=400,d=50", 60),
        ("symmetric:n=1000,d=5", 2),
        ("digits:classes=3/8", 4),
    ):
        calls.clear()
        assumption_4(generate(call))
        assert len(calls) <= most, call


def test_cones_cover_only_what_is_inside(rng: np.random.Generator) -> None:
    """A point is called opposite to d others only if it joins them to an inseparable set."""
    covered = 0
    for d in (1, 2, 3, 6):
        X = rng.normal(size=(d + 60, d))
        X[d : d + d] = -X[:d]  # on the edges of the cone
        X[d + d] = -X[:d].sum(axis=0)
        view = View(Dataset(X, np.where(np.arange(len(X)) < d, 1, -1)), 0.5)
        inside = sarussi2021._also_opposite(view, np.arange(d), np.arange(d, d + 60))
        assert inside[d] and (d == 1 or not inside[:d].any())
        for i in np.flatnonzero(inside):
            assert max_margin(np.vstack([X[:d], X[d + i]])).status == "not separable"
        covered += int(inside.sum())
    assert covered > 20


# --- the paper's data ----------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["symmetric:n=40,d=3", "symmetric:n=2000,d=20", "lyu2021_left"])
def test_symmetric_data(call: str) -> None:
    """Lemma 6.1."""
    finding = assumption_4(generate(call), unlimited=False)
    assert finding.holds is True and finding.slack == finding.error == 0
    assert finding.note == "V⁺_β = V⁻_β = ∅ for every β > 0"


def test_nearly_symmetric_data(rng: np.random.Generator) -> None:
    """Points in the middle may lack an opposite, points at the side may not."""
    points = [[1.0, 0.0], [1.0, 0.5], [1.0, -0.5], [1.0, 1.0], [1.0, -1.0]]
    X = np.vstack([points, -np.array(points)])
    y = np.repeat([1, -1], 5)
    assert assumption_4(Dataset(np.delete(X, 5, axis=0), np.delete(y, 5))).holds is True
    finding = assumption_4(Dataset(np.delete(X, 3, axis=0), np.delete(y, 3)))
    assert finding.holds is False and "β*₊, row 7" in finding.note  # (−1, −1), which now has none


def test_the_outlier_makes_V_minus_nonempty() -> None:
    """App. J: −e₁ gives the negative points a margin and the positive outlier, too."""
    for seed in range(3):
        data = generate(f"gaussians_outlier:n=60,d=2,seed={seed}")
        outlier = np.flatnonzero((data.X[:, 0] < 0) & (data.y == 1))
        finding = assumption_4(data)
        assert finding.holds is False
        if len(outlier) == 1:
            assert f"β*₋, row {outlier[0]}" in finding.note


@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e150])
def test_scale(factor: float) -> None:
    for call in ("linear:n=40,d=3", "symmetric:n=20,d=3"):
        data = generate(call)
        plain = assumption_4(data)
        scaled = assumption_4(Dataset(data.X * factor, data.y))
        assert scaled.holds == plain.holds
        assert scaled.slack == pytest.approx(plain.slack * factor, rel=1e-9)


# --- odd data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [1, -1])
def test_one_class(label: int) -> None:
    """V of the class itself has no x to ask for; V of the missing class asks for one x only."""
    finding = assumption_4(Dataset([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]], np.full(3, label)))
    mine, others = ("⁺", "⁻") if label == 1 else ("⁻", "⁺")
    assert finding.holds is False and finding.slack == pytest.approx(-5)
    assert f"V{mine}_β = ∅, as there is no" in finding.note
    assert f"V{others}_β = ∅ for β > 5" in finding.note and "row 1" in finding.note
    zero = assumption_4(Dataset(np.zeros((2, 3)), np.full(2, label)))
    assert zero.holds is True and "as there is no" in zero.note


def test_degenerate_data() -> None:
    def decided(X: object, y: list[int]) -> Check:
        return assumption_4(Dataset(np.array(X, dtype=float), np.array(y)))

    same = decided([[3.0, 4.0], [3.0, 4.0]], [1, -1])
    assert same.holds is False and same.slack == pytest.approx(-5)
    assert decided([[1.0, 0.0], [0.0, 0.0]], [1, -1]).holds is True  # x = 0 is on no side
    assert decided([[1.0, 1.0], [-3.0, -3.0]], [1, -1]).holds is True
    half = decided([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [1, 1, -1])
    assert half.slack == pytest.approx(-np.sqrt(0.5)) and "V⁺_β = ∅ for every β > 0" in half.note
    repeated = decided(np.repeat([[1.0, 0.3], [0.2, -1.0]], 300, axis=0), [1] * 300 + [-1] * 300)
    assert repeated.slack == pytest.approx(-by_cone_program(np.array([[1.0, 0.3], [0.2, -1.0]])))


def test_lengths_that_are_lost_next_to_others() -> None:
    """Rows 10⁶⁰⁰ times shorter than the longest still count."""
    X = np.array([[1e-300, 1e-300], [1e-300, 2e-300], [1e300, -1e300], [-1e300, -1e300]])
    finding = assumption_4(Dataset(X, np.array([1, -1, -1, -1])))
    truth = float(max_margin(X[:2]).margin_bounds.lower)
    assert finding.holds is False
    assert -finding.slack <= truth * (1 + 1e-9) <= -finding.slack + finding.error + 1e-8 * truth
    X = np.array([[1.0, -1e162], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])  # here squares are
    finding = assumption_4(Dataset(X, np.array([-1, 1, 1, -1])))
    assert finding.slack == pytest.approx(-np.sqrt(2))


def test_what_floating_point_cannot_tell() -> None:
    finding = assumption_4(Dataset([[1.0, 1e-30], [-1.0, 1e-30], [0.0, 1.0]], [1, 1, -1]))
    assert finding.holds is None or finding.slack < 0
    assert finding.error >= 0 and finding.note


@settings(max_examples=50, deadline=None)
@given(X=any_points, seed=st.integers(0, 99))
def test_any_floats(X: np.ndarray, seed: int) -> None:
    """Bounds of β* that do not contradict those of the single margins."""
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    finding = assumption_4(Dataset(X, y))
    margins = [
        max_margin(np.vstack([X[y == label], x])) for label in (1, -1) for x in X[y != label]
    ]
    lower = max((one.margin for one in margins), default=0.0)
    upper = max((one.margin_bounds.upper for one in margins), default=0.0)
    assert -finding.slack <= upper
    assert lower <= -finding.slack + finding.error
    if finding.holds:
        assert lower == 0
    if finding.holds is False:
        assert upper > 0


def test_too_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found so far decides a "no"; a "yes" would need them all."""
    mirrored = generate("symmetric:n=60,d=3")
    lengths = np.resize([1, 2, 4, 8], 60)[:, None]  # no −x any more, but −2x
    data = Dataset(mirrored.X * lengths, mirrored.y)
    assert assumption_4(data).holds is True
    monkeypatch.setattr(sarussi2021, "FEW_DIMENSIONS", 0)
    few = 3.5 * sarussi2021._cost(View(data, 0.5))
    monkeypatch.setattr(base, "MOST_OPERATIONS", few)
    left_out = assumption_4(data, unlimited=False)
    assert left_out.holds is None and "`properties='sarussi2021:assumption4'`" in left_out.note
    assert assumption_4(data).holds is True
    gaussians = generate("gaussians:n=60,d=10")
    monkeypatch.setattr(base, "MOST_OPERATIONS", 1.5 * sarussi2021._cost(View(gaussians, 0.5)))
    finding, truth = assumption_4(gaussians, unlimited=False), assumption_4(gaussians)
    assert finding.holds is False and "points were not tried" in finding.note
    assert finding.slack >= truth.slack >= finding.slack - finding.error


def test_more_classes() -> None:
    geometry = check("orthogonal_classes:classes=3", properties="sarussi2021:assumption4")
    one = geometry.properties["sarussi2021:assumption4"]
    assert one.holds is None and "`labels=" in one.note
