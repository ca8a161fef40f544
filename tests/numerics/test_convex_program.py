"""The global optimum: against the whole convex program written out, and its bounds on their own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle, pairwise, product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from helpers import rest_long
from tacit.data import generate
from tacit.numerics import column_generation as search
from tacit.numerics import convex_program
from tacit.numerics.arrangements import cells
from tacit.numerics.convex_program import ConvexOptimum, bracket, convex_optimum
from tacit.numerics.neurons import Neurons
from tacit.numerics.restricted import Restricted, restricted_program
from tacit.values import Interval


def best_margin(
    X: np.ndarray, y: np.ndarray, alpha: float, signs: Sequence[int] = (1, -1), budget: str = "sum"
) -> float:
    """wang2022 (14) over all cells: the widest margin with size at most 1."""
    C = cells(X).astype(float)
    output, sums, constraints = 0, [], []
    for s in signs:
        V = cp.Variable((len(C), X.shape[1]))
        t = V @ X.T
        output = output + s * cp.sum(cp.multiply(np.where(C > 0, 1, alpha), t), axis=0)
        constraints.append(cp.multiply(C, t) >= 0)
        sums.append(cp.sum(cp.norm(V, 2, axis=1)))
    total = cp.norm(cp.hstack(sums)) if budget == "pair" else sum(sums)
    margin = cp.Variable()
    problem = cp.Problem(
        cp.Maximize(margin), [*constraints, cp.multiply(y, output) >= margin, total <= 1]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy's own
        problem.solve(solver=cp.CLARABEL)
    return float(margin.value)


def exact_margin(X: np.ndarray, y: np.ndarray, alpha: float, net: Neurons) -> Fraction:
    """The smallest y_i f(x_i), in rational arithmetic."""
    slope = Fraction(alpha)
    V = [[Fraction(value) for value in row] for row in net.V.tolist()]
    smallest = []
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        point = [Fraction(value) for value in x]
        f = Fraction(0)
        for v, s in zip(V, net.sign.tolist(), strict=True):
            t = sum((a * b for a, b in zip(point, v, strict=True)), Fraction(0))
            f += s * (t if t > 0 else slope * t)
        smallest.append(int(label) * f)
    return min(smallest)


def largest(
    X: np.ndarray, c: np.ndarray, alpha: float, rng: np.random.Generator, near: np.ndarray
) -> float:
    """max Σ c_i φ(u·x_i) as far as random directions and some steps from the best of them see."""
    U = np.concatenate([rng.standard_normal((4000, X.shape[1])), X, -X, near])
    U = U / np.maximum(np.linalg.norm(U, axis=1), 1e-300)[:, None]
    t = U @ X.T
    U = U[np.argsort(-np.maximum(t, alpha * t) @ c)[:20]]
    best = 0.0
    for step in np.geomspace(0.3, 1e-7, 100):
        t = U @ X.T
        best = max(best, float((np.maximum(t, alpha * t) @ c).max()))
        slope = (np.where(t > 0, c, alpha * c)) @ X
        U = U + step * slope / np.maximum(np.linalg.norm(slope, axis=1), 1e-300)[:, None]
        U = U / np.linalg.norm(U, axis=1)[:, None]
    return best


def overlap(one: Interval, other: Interval) -> bool:
    """Whether two pairs of bounds may belong to the same number."""
    return one.lower <= other.upper and other.lower <= one.upper


def assert_proved(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    best: ConvexOptimum,
    rng: np.random.Generator,
    signs: Sequence[int] = (1, -1),
    budget: str = "sum",
) -> None:
    """The two bounds, recomputed from the network and λ that are handed out with them."""
    assert 0 < best.objective_bounds.lower <= best.objective_bounds.upper
    assert (best.status == "certified") == (best.gap <= 1e-8)
    assert (best.dual >= 0).all()
    assert best.dual.sum() == pytest.approx(best.objective_bounds.lower, rel=1e-12)
    top = [largest(X, s * best.dual * y, alpha, rng, best.neurons.V) for s in signs]
    assert (max(top) if budget == "sum" else math.hypot(*top)) <= 1 + 1e-11
    if math.isinf(best.objective_bounds.upper):
        return
    lengths = np.linalg.norm(best.neurons.V, axis=1)
    plus, minus = (lengths[best.neurons.sign == s].sum() for s in (1, -1))
    total = plus + minus if budget == "sum" else math.hypot(plus, minus)
    margin = exact_margin(X, y, alpha, best.neurons)
    rounding = 1e-15 * best.objective_bounds.upper * np.abs(X).max() * len(X)
    assert float(margin) == pytest.approx(1, rel=1e-12 + rounding)
    assert float(total / margin) <= best.objective_bounds.upper * (1 + 1e-13)
    assert set(best.neurons.sign.tolist()) <= set(signs)
    assert len(lengths) <= len(X) + (budget == "pair")


def problem(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n, d = 9, 3
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if kind == "xor":
        y = np.sign(X[:, 0] * X[:, 1])
    if kind == "linear":
        y = np.sign(X[:, 0])
    if kind == "one point":
        X, y = X[:1], y[:1]
    if kind == "on a line":
        X = np.outer([1.0, 2, 3, -1, -2], X[0])
        y = np.array([1.0, 1, 1, -1, -1])
    if kind == "one dimension":
        X, y = np.array([[1.0], [3], [-2]]), np.array([1.0, 1, 1])
    if kind == "clusters":
        X = X[[0, 1, 2] * 3] + 1e-3 * rng.standard_normal((n, d))
        y = np.array([1.0, -1, 1] * 3)
    if kind == "grid":
        X, y = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1], [1, 1]]), np.array([1.0, -1, 1, -1, 1])
    if kind == "duplicates":
        X, y = X[[0, 1, 2, 0, 1, 3]], y[[0, 1, 2, 0, 1, 3]]
    if kind == "antiparallel":
        X, y = np.vstack([X[:6], -2 * X[:2]]), np.append(y[:6], [y[0], -y[1]])
    if kind == "in a plane":
        X = X[:, :2] @ rng.standard_normal((2, 4))
    if kind == "one class":
        y = np.ones(n)
    if kind == "wide":
        X, y = rng.standard_normal((5, 8)), y[:5]
    if kind == "lengths":
        X = X * 10.0 ** rng.uniform(-2, 2, size=(n, 1))
    if kind == "nearly equal":
        X, y = np.vstack([X[:5], X[:1] + 1e-3]), np.append(y[:5], -y[0])
    return X, y


KINDS = (
    "random xor linear clusters grid duplicates antiparallel wide lengths".split()
    + "one point,on a line,one dimension,in a plane,one class,nearly equal".split(",")
)


@pytest.mark.parametrize(
    "kind, budget",
    rest_long(
        product(KINDS, ["sum", "pair"]),
        list(zip(KINDS, cycle(["sum", "pair"]), strict=False)),
    ),
)
def test_agrees_with_the_program_written_out(
    kind: str, budget: Any, rng: np.random.Generator
) -> None:
    X, y = problem(kind, rng)
    for alpha in (0.0, 0.3):
        best = convex_optimum(X, y, alpha, budget=budget)
        assert best.status == "certified"
        assert_proved(X, y, alpha, best, rng, budget=budget)
        scale = np.abs(X).max()
        expected = best_margin(X / scale, y, alpha, budget=budget) * scale
        assert 1 / best.objective_bounds.upper == pytest.approx(
            expected, rel=1e-4, abs=1e-7 * scale
        )


@pytest.mark.parametrize("sign", [1, -1])
def test_one_sign_only(sign: int, rng: np.random.Generator) -> None:
    X, _ = problem("random", rng)
    y = np.full(len(X), sign)
    y[0] = -sign
    best = convex_optimum(X, y, 0.3, signs=(sign,))
    assert_proved(X, y, 0.3, best, rng, signs=(sign,))
    assert 1 / best.objective_bounds.upper == pytest.approx(
        best_margin(X, y, 0.3, (sign,)), rel=1e-5
    )
    assert convex_optimum(X, y, 0.0, signs=(sign,)).status == "infeasible"


@pytest.mark.parametrize("alpha", [0.01, 0.9, 0.999])
def test_any_slope(alpha: float, rng: np.random.Generator) -> None:
    X, y = problem("linear", rng)
    best = convex_optimum(X, y, alpha)
    assert best.status == "certified"
    assert_proved(X, y, alpha, best, rng)
    assert 1 / best.objective_bounds.upper == pytest.approx(best_margin(X, y, alpha), rel=1e-5)


def test_reference() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    best = convex_optimum(X, np.sign(X[:, 0] * X[:, 1]))
    assert best.status == "certified"
    assert best.objective_bounds.upper == pytest.approx(32.0701209, abs=1e-7)


@pytest.mark.parametrize(("n", "d"), [(150, 2), (120, 3), (40, 4)])
def test_more_points_than_can_be_written_out(n: int, d: int, rng: np.random.Generator) -> None:
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] * X[:, 1])
    best = convex_optimum(X, y)
    assert best.status == "certified"
    assert_proved(X, y, 0.0, best, rng)


def test_many_dimensions_end_with_bounds(rng: np.random.Generator) -> None:
    X = rng.standard_normal((40, 12))
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    best = convex_optimum(X, y)
    assert math.isfinite(best.objective_bounds.upper)
    assert_proved(X, y, 0.0, best, rng)


def test_invariant(rng: np.random.Generator) -> None:
    X, y = problem("xor", rng)
    value = convex_optimum(X, y, 0.3).objective_bounds.upper
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order = rng.permutation(len(X))
    for other, labels in ((X @ turn, y), (X[order], y[order]), (X, -y), (-X, y)):
        best = convex_optimum(other, labels, 0.3)
        assert best.status == "certified"
        assert best.objective_bounds.upper == pytest.approx(value, rel=2e-8)


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
def test_the_unit_of_the_data_plays_no_part(scale: float, rng: np.random.Generator) -> None:
    X, y = problem("xor", rng)
    best, scaled = convex_optimum(X, y), convex_optimum(X * scale, y)
    assert scaled.status == "certified"
    value = best.objective_bounds.upper
    assert scaled.objective_bounds.upper * scale == pytest.approx(value, rel=2e-8)
    assert exact_margin(X * scale, y, 0.0, scaled.neurons) == pytest.approx(1, rel=1e-8)


def test_rows_that_floats_cannot_hold_together() -> None:
    best = convex_optimum(np.array([[1e-200, 0.0], [0, 1e150]]), np.array([1.0, -1]))
    assert best.status == "bounded"
    assert best.objective_bounds.lower <= 1.01e200
    assert math.isinf(best.objective_bounds.upper)


def test_nearly_impossible(rng: np.random.Generator) -> None:
    x = rng.standard_normal(4)
    for distance in (1e-5, 1e-9, 1e-15):
        X = np.array([x, x + distance * rng.standard_normal(4), rng.standard_normal(4)])
        y = np.array([1.0, -1, 1])
        assert_proved(X, y, 0.0, convex_optimum(X, y), rng)


@pytest.mark.parametrize("distance", [1e-5, 3e-9])
def test_pairs_that_nearly_coincide(distance: float, rng: np.random.Generator) -> None:
    """Four pairs of different labels: rounding errors of the program are as large as margins."""
    angle = np.array([0.1, 1.3, 2.9, 4.4])
    angle = np.concatenate([angle, angle + distance * (1 + rng.random(4))])
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    best = convex_optimum(X, np.repeat([1.0, -1.0], 4), 0.1)
    lower, upper = best.objective_bounds
    assert 0 < lower <= upper < 10 * lower


@pytest.mark.long
@pytest.mark.parametrize(("n", "d", "seed"), [(30, 3, 1), (30, 3, 2), (40, 2, 0), (30, 4, 1)])
def test_close_points_with_different_labels_are_certified(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.ones(n)
    X[1] = X[0] + 1e-4 * rng.normal(size=d)
    y[:] = rng.choice([-1, 1], n)
    y[:2] = 1, -1
    assert convex_optimum(X, y).status == "certified"


@pytest.mark.parametrize(
    ("d", "distance", "alpha"),
    rest_long(
        [(d, far, alpha) for d in (2, 3, 10, 20) for far in (1e-4, 1e-5) for alpha in (0.0, 0.2)],
        [(3, 1e-5, 0.0), (20, 1e-4, 0.2)],
    ),
)
def test_several_close_pairs_are_certified(
    d: int, distance: float, alpha: float, rng: np.random.Generator
) -> None:
    """Margins are as small as the distance, and most λ cancel: no digit may be lost on the way.

    At 1e-5 what doubles can hold is about the gap that counts as none, 1e-8, or a little more.
    """
    X, y = rng.standard_normal((20, d)), rng.choice([-1.0, 1.0], 20)
    X[17:] = X[:3] + distance / math.sqrt(d) * rng.standard_normal((3, d))
    y[17:] = -y[:3]
    best = convex_optimum(X, y, alpha, seconds=60)
    assert best.status == "certified" or (distance < 1e-4 and best.gap < 1e-7)
    assert_proved(X, y, alpha, best, rng)


@pytest.mark.parametrize(
    ("classes", "alpha"), rest_long([("1/5", 0.0), ("2/4", 0.0), ("4/9", 0.3)], [("1/5", 0.0)])
)
def test_neurons_on_one_ray_are_certified(classes: str, alpha: float) -> None:
    """Best neurons of several cells are one direction, and the solver lacks eight digits there."""
    data = generate(f"digits:classes={classes}")
    assert convex_optimum(data.X, data.y, alpha, seconds=60).status == "certified"


def test_infeasible(rng: np.random.Generator) -> None:
    X, y = problem("random", rng)
    X[1], y[1] = 4 * X[0], -y[0]
    best = convex_optimum(X, y)
    assert best.status == "infeasible"
    assert best.objective_bounds == (math.inf, math.inf)
    assert best.proof is not None and set(best.proof) == {0, 1}
    assert np.flatnonzero(best.dual).tolist() == [0, 1]
    assert best.dual @ (y[:, None] * X) == pytest.approx(np.zeros(3), abs=1e-15)
    assert len(best.neurons.sign) == 0
    assert bracket(X, y, 0.0, best.neurons, best.dual).status == "infeasible"


def nothing(*_: Any) -> None:
    return None


def nonsense(X: np.ndarray, y: np.ndarray, alpha: float, groups: Any, *_: Any) -> Restricted:
    rng = np.random.default_rng(len(groups.sign))
    V = rng.standard_normal((len(groups.sign), X.shape[1]))
    lam = rng.random(len(X))
    return Restricted(rng.random(), V, lam / lam.sum())


def too_good(*arguments: Any) -> Restricted | None:
    proposal = restricted_program(*arguments)
    if proposal is None:
        return None
    lam = np.zeros_like(proposal.multipliers)
    lam[0] = 1.0
    return Restricted(10 * proposal.value, proposal.V, lam)


def no_weights(*arguments: Any) -> Restricted | None:
    proposal = restricted_program(*arguments)
    if proposal is None:
        return None
    return Restricted(-1.0, 0 * proposal.V, proposal.multipliers)


@pytest.mark.parametrize("solver", [nothing, nonsense, too_good, no_weights])
def test_the_solver_inside_is_not_believed(
    solver: Any, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    X, y = problem("xor", rng)
    value = convex_optimum(X, y).objective_bounds.upper
    monkeypatch.setattr(search, "restricted_program", solver)
    best = convex_optimum(X, y)
    assert best.objective_bounds.lower <= value * (1 + 1e-12)
    assert best.objective_bounds.upper >= value * (1 - 1e-8)
    assert_proved(X, y, 0.0, best, rng)


def test_bracket_of_what_is_given(rng: np.random.Generator) -> None:
    X, y = problem("xor", rng)
    best = convex_optimum(X, y)
    same = bracket(X, y, 0.0, best.neurons, best.dual)
    assert same.status == "certified"
    assert same.objective_bounds.lower == pytest.approx(best.objective_bounds.lower, rel=1e-12)
    worse = Neurons(
        best.neurons.V + 0.01 * rng.standard_normal(best.neurons.V.shape), best.neurons.sign
    )
    for net, lam in (
        (worse, best.dual),
        (best.neurons, rng.random(len(X))),
        (worse, rng.random(9)),
    ):
        other = bracket(X, y, 0.0, net, lam)
        assert overlap(other.objective_bounds, best.objective_bounds)
        assert_proved(X, y, 0.0, other, rng)
    wrong = bracket(X, y, 0.0, Neurons(-best.neurons.V, best.neurons.sign), best.dual)
    lower, upper = wrong.objective_bounds
    assert math.isinf(upper) and lower == pytest.approx(best.objective_bounds.lower, rel=1e-6)


def test_bounds_only_get_better(rng: np.random.Generator) -> None:
    X = rng.standard_normal((30, 3))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    heard: list[tuple[float, float]] = []
    best = convex_optimum(X, y, progress=lambda lower, upper: heard.append((lower, upper)))
    for (low, high), (lower, upper) in pairwise(heard):
        assert low <= lower <= upper <= high
    assert heard[-1] == pytest.approx(best.objective_bounds, rel=1e-9)


def test_a_time_limit_leaves_valid_bounds(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(40, 3)), rng.choice([-1.0, 1.0], 40)
    hurried, best = convex_optimum(X, y, seconds=1e-3), convex_optimum(X, y)
    assert best.status == "certified"
    assert overlap(hurried.objective_bounds, best.objective_bounds)


def test_the_second_proof_of_wide_data_has_what_is_left_of_the_time(rng, monkeypatch) -> None:
    """In the span of the points there is one, and another in all dimensions."""
    X, y, given = rng.normal(size=(6, 9)), np.array([1.0, -1, 1, -1, 1, -1]), []

    def noted(*args: Any) -> ConvexOptimum:
        given.append(args[-1])
        return bracket(*args)

    monkeypatch.setattr(convex_program, "bracket", noted)
    assert convex_optimum(X, y, seconds=600).status == "certified"
    assert 0 < given[0] <= 600


def test_a_proof_that_is_cut_leaves_valid_bounds(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(40, 50)), rng.choice([-1.0, 1.0], 40)
    best = convex_optimum(X, y, seconds=1.0)
    cut = bracket(X, y, 0.0, best.neurons, best.dual, seconds=0.0)
    assert overlap(cut.objective_bounds, best.objective_bounds)


def test_no_direction_to_begin_with_has_a_margin(rng: np.random.Generator) -> None:
    """Many points with random labels: the first program has no weights to give."""
    X, y = rng.standard_normal((2000, 20)), rng.choice([-1.0, 1.0], 2000)
    best = convex_optimum(X, y, seconds=0.1)
    assert (
        best.status == "bounded" and 0 < best.objective_bounds.lower < best.objective_bounds.upper
    )


def test_a_target_ends_the_search_on_the_right_side(rng: np.random.Generator) -> None:
    X = rng.normal(size=(20, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    best = convex_optimum(X, y)
    for factor in (0.5, 2.0):
        value = best.objective_bounds.upper
        solved = convex_optimum(X, y, target=factor * value)
        assert overlap(solved.objective_bounds, best.objective_bounds)
        lower, upper = solved.objective_bounds
        side = lower > 0.5 * value if factor < 1 else upper < 2.0 * value
        assert side


@pytest.mark.parametrize("budget", ["sum", "pair"])
def test_only_the_span_of_the_points_matters(budget: str, rng: np.random.Generator) -> None:
    """Four points in 9 dimensions are four points in 4: the same optimum, in the span."""
    X, y = rng.normal(size=(4, 4)), np.array([1.0, -1.0, 1.0, -1.0])
    turn = np.linalg.qr(rng.normal(size=(9, 9)))[0][:4]
    flat, wide = convex_optimum(X, y, budget=budget), convex_optimum(X @ turn, y, budget=budget)
    assert wide.status == "certified"
    assert wide.objective_bounds.upper == pytest.approx(flat.objective_bounds.upper, rel=1e-9)
    assert np.allclose(wide.neurons.V @ turn.T @ turn, wide.neurons.V, atol=1e-9)


def test_a_pair_of_budgets_begins_as_one_does() -> None:
    """Without a good start wine's second and third kind were left with a gap of 0.7."""
    from sklearn.datasets import load_wine

    X, kind = load_wine(return_X_y=True)
    X, y = X[kind > 0], np.where(kind[kind > 0] == 1, 1.0, -1.0)
    bounds: list[tuple[float, float]] = []

    def tell(lower: float, upper: float) -> None:
        bounds.append((lower, upper))
        assert len(bounds) < 4 or lower > 0.9 * upper

    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert convex_optimum(X, y, budget="pair", progress=tell).status == "certified"
