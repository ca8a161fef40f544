"""The λ problem: by its definition, against other solvers, and for large data."""

from collections import Counter
from itertools import chain, combinations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import nnls

from helpers import kkt_of
from tacit.numerics.boxed_nnls import _active_set, nonnegative


def definition(case, kkt):
    """Both residuals, pair by pair from λ and the masks."""
    W, a, X, y, alpha, train = case
    both = train == "both"
    norm = np.sqrt((W**2).sum() + both * (a**2).sum())
    W, a, L = W / norm, a / norm if both else a, 2 if both else 1
    phi = np.maximum(X @ W.T, alpha * (X @ W.T))
    left = 0.0
    for k in range(len(a)):
        part = W[k].copy()
        for i in range(len(y)):
            slope = kkt.masks.get((k, i), 1.0 if W[k] @ X[i] > 0 else alpha)
            part -= kkt.multipliers[i] * y[i] * a[k] * slope * X[i]
        left += part @ part + both * (a[k] - kkt.multipliers * y @ phi[:, k]) ** 2
    q = y * (phi @ a)
    return np.sqrt(left), L * kkt.multipliers @ (q - q.min())


def by_cvxpy(case):
    """The smallest √(stationarity² + complementarity²), with one variable per boundary pair."""
    W, a, X, y, alpha, train = case
    both = train == "both"
    norm = np.sqrt((W**2).sum() + both * (a**2).sum())
    W, a, L = W / norm, a / norm if both else a, 2 if both else 1
    phi = np.maximum(X @ W.T, alpha * (X @ W.T))
    q = y * (phi @ a)
    lam = cp.Variable(len(y), nonneg=True)
    products = cp.Variable((len(a), len(y)))  # λ_i h_ki
    near = np.abs(W @ X.T) <= 1e-9 * np.outer(*(np.linalg.norm(M, axis=1) for M in (W, X)))
    low, high = (
        np.where(near | (W @ X.T <= 0), alpha, 1.0),
        np.where(near | (W @ X.T > 0), 1, alpha),
    )
    rows = cp.vstack([lam] * len(a))
    within = [products >= cp.multiply(low, rows), products <= cp.multiply(high, rows)]
    parts = [cp.vec(W - np.diag(a) @ products @ (y[:, None] * X), order="C")]
    parts += [a - (y[:, None] * phi).T @ lam] if both else []
    parts += [cp.reshape(L * (q - q.min()) @ lam, (1,), order="C")]
    problem = cp.Problem(cp.Minimize(cp.norm(cp.hstack(parts))), within)
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("labels", ["fitted", "any"])
def test_no_other_multipliers_and_masks_do_better(random_case, rng, labels):
    several = chosen = 0  # points with several boundary pairs, and masks that are not just α
    for _ in range(60):
        case = random_case(rng, labels)
        kkt = kkt_of(*case)
        mine = np.hypot(kkt.stationarity, kkt.complementarity)
        assert mine == pytest.approx(by_cvxpy(case), abs=1e-6)
        several += sum(n > 1 for n in Counter(i for _, i in kkt.masks).values())
        chosen += sum(h > case.alpha for h in kkt.masks.values())
    assert several > 50 and chosen > 20


def test_residuals_are_those_of_the_definition(random_case, rng):
    for _ in range(40):
        case = random_case(rng)
        kkt = kkt_of(*case)
        assert kkt.multipliers.min() >= 0
        assert all(case.alpha <= h <= 1 for h in kkt.masks.values())
        np.testing.assert_allclose(
            [kkt.stationarity, kkt.complementarity], definition(case, kkt), atol=1e-12
        )


@pytest.mark.parametrize("shape", [(1500, 3, 5), (700, 20, 40)])
def test_the_working_set_misses_nothing(rng, shape):
    """Against non-negative least squares with all columns at once."""
    n, d, m = shape
    X = rng.standard_normal((n, d))
    W, a = rng.standard_normal((m, d)), rng.standard_normal(m)
    y = np.where(np.maximum(X @ W.T, 0) @ a > 0, 1, -1)
    kkt = kkt_of(W, a, X, y, 0.0)
    norm = np.sqrt((W**2).sum() + (a**2).sum())
    W, a = W / norm, a / norm
    Z = X @ W.T
    q = y * (np.maximum(Z, 0) @ a)
    first = ((y[:, None] * (Z > 0) * a)[:, :, None] * X[:, None, :]).reshape(n, m * d)
    columns = np.hstack([first, y[:, None] * np.maximum(Z, 0), 2 * (q - q.min())[:, None]])
    _, smallest = nnls(columns.T, np.concatenate([W.ravel(), a, [0]]))
    assert np.hypot(kkt.stationarity, kkt.complementarity) == pytest.approx(smallest, abs=1e-10)


def test_many_boundary_pairs_come_to_an_end(rng):
    X = rng.integers(-2, 3, (500, 5)).astype(float)
    W, a = rng.integers(-1, 2, (60, 5)).astype(float), rng.standard_normal(60)
    y = np.where(np.maximum(X @ W.T, 0.3 * (X @ W.T)) @ a > 0, 1, -1)
    kkt = kkt_of(W, a, X, y, 0.3)
    assert kkt.boundary > 3000
    # No step to other multipliers or masks helps: the objective is convex in (λ, λh).
    case = (W, a, X, y, 0.3, "both")
    for scale in (0.999, 1.001):
        other = type(kkt)(**{**vars(kkt), "multipliers": scale * kkt.multipliers})
        assert np.hypot(*definition(case, other)) > np.hypot(kkt.stationarity, kkt.complementarity)


def test_non_negative_least_squares_against_all_supports(rng):
    """Columns that depend on each other, targets in and off their cone, and bad starts."""
    for trial in range(150):
        rows, n = rng.integers(1, 6, 2)
        A = rng.integers(-2, 3, (rows, n)) @ np.diag(1 / rng.integers(1, 4, n))
        A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        b = A @ rng.integers(0, 2, n) if trial % 3 == 0 else rng.integers(-2, 3, rows).astype(float)
        if trial % 2:  # what was exactly orthogonal now is so up to rounding
            Q = np.linalg.qr(rng.standard_normal((rows, rows)))[0]
            A, b = Q @ A, Q @ b
        smallest = np.linalg.norm(b)
        for support in chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1)):
            x = np.linalg.lstsq(A[:, support], b, rcond=None)[0]
            if (x >= 0).all():
                smallest = min(smallest, np.linalg.norm(b - A[:, support] @ x))
        starts = [np.zeros(n), rng.exponential(size=n) * rng.integers(0, 2, n)]
        for x in [nonnegative(A, b), *(_active_set(A, b, start) for start in starts)]:
            assert x.min() >= 0
            assert np.linalg.norm(b - A @ x) == pytest.approx(smallest, abs=1e-12)
