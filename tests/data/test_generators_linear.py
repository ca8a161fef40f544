"""Linear, orthogonally separable, symmetric and hinted data meet their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp, kstest, truncnorm

from tacit.data import generate
from tacit.data.symmetric import hint_constants
from tacit.numerics.max_margin import max_margin
from tacit.values import Dataset

small = settings(max_examples=40, deadline=None)
counts, dims, seeds = st.integers(1, 30), st.integers(1, 12), st.integers(0, 10**6)


def margin_of(data: Dataset) -> float:
    return max_margin(data.y[:, None] * data.X).margin_bounds.lower


@small
@given(counts, dims, seeds, st.sampled_from([0.01, 1.0, 50.0]))
def test_linear_has_its_margin(n: int, d: int, seed: int, margin: float) -> None:
    data = generate(f"linear:n={n},d={d},seed={seed},margin={margin}")
    assert margin_of(data) >= margin * (1 - 1e-6)


def test_linear_test_points_share_the_teacher() -> None:
    data = generate("linear:n=50,d=5,test=200,margin=0.2,seed=3")
    assert data.test is not None
    both = Dataset(np.vstack([data.X, data.test.X]), np.concatenate([data.y, data.test.y]))
    assert margin_of(both) >= 0.2 * (1 - 1e-6)


def test_linear_margin_of_a_billionth_and_of_1e99() -> None:
    assert margin_of(generate("linear:n=5,margin=1e-9")) > 0
    assert margin_of(generate("linear:n=5,margin=1e99")) >= 0.999e99


@pytest.mark.parametrize(
    ("distance", "std", "margin"), [(3, 1, 1), (0, 1, 0), (1, 2, 3), (1, 0.1, 2.5), (0, 1, 30)]
)
def test_gaussians_are_conditioned_on_the_band(distance: float, std: float, margin: float) -> None:
    data = generate(f"gaussians:n=4000,d=3,distance={distance},std={std},margin={margin},seed=1")
    along = data.y * data.X[:, 0]
    assert along.min() >= margin
    assert data.y.sum() == 0 and (np.diff(data.y) <= 0).all()
    law = truncnorm((margin - distance) / std, np.inf, loc=distance, scale=std)
    for label in (1, -1):
        assert kstest(along[data.y == label], law.cdf).pvalue > 1e-3
    assert kstest(data.X[:, 1] / std, "norm").pvalue > 1e-3


def test_gaussians_are_what_rejection_gives() -> None:
    rng = np.random.default_rng(0)
    literal = 3 + rng.standard_normal(20_000)
    along = np.abs(generate("gaussians:n=5000,margin=2.5,seed=2").X[:, 0])
    assert ks_2samp(literal[literal >= 2.5], along).pvalue > 1e-3


def test_gaussians_without_spread() -> None:
    data = generate("gaussians:n=5,std=0,d=2")
    assert np.array_equal(data.X, np.outer(data.y * 3.0, [1, 0]))


@small
@given(counts, st.integers(2, 8), seeds, st.sampled_from([0.0, 0.1, 1.0, 4.0]))
def test_outlier_is_separable_and_defies_the_axis(n: int, d: int, seed: int, std: float) -> None:
    data = generate(f"gaussians_outlier:n={n},d={d},seed={seed},std={std}")
    assert margin_of(data) > 0
    assert data.y[-1] == 1 and data.n == n + 1
    # u = −e₁ is right on all negative points and wrong on the outlier: V⁻_β is not empty.
    wrong = np.append(np.flatnonzero(data.y < 0), n)
    assert (data.X[wrong, 0] <= -0.5).all()
    # The point nearest to the line through 0 and the outlier is negative.
    tilted = data.y * (data.X[:, 0] * data.X[-1, 1] - data.X[:, 1] * data.X[-1, 0])
    assert tilted[data.y < 0].min(initial=np.inf) <= tilted[:n].min() * (1 + 1e-12)


def test_appJ() -> None:
    data = generate("lyu2021_appJ:n=2000,d=4,seed=1,margin=0.3,bias=-2,test=5")
    assert data.d == 5 and data.test is not None and data.test.d == 5
    assert (data.X[:, -1] == -2).all() and (data.test.X[:, -1] == -2).all()
    assert (data.y * data.X[:, 0]).min() >= 0.3
    assert kstest(data.X[:, 0] - 0.3 * data.y, "norm").pvalue > 1e-3  # pushed, nothing removed
    assert generate("lyu2021_appJ").X[0, -1] == 0.1


def test_appJ_errors_are_about_those_of_table_1() -> None:
    for n, printed in ((10, 0.302), (50, 0.064), (100, 0.029)):
        errors = []
        for seed in range(5):
            data = generate(f"lyu2021_appJ:n={n},seed={seed},test=2000")
            assert data.test is not None
            w = max_margin(data.y[:, None] * data.X).direction
            errors.append(np.mean(data.test.y * (data.test.X @ w) <= 0))
        assert abs(np.mean(errors) - printed) < 0.06  # ours on average, theirs one draw


@small
@given(counts, dims, seeds)
def test_orthogonal_by_its_gram_matrix(n: int, d: int, seed: int) -> None:
    data = generate(f"orthogonal:n={n},d={d},seed={seed},test=10")
    assert data.test is not None
    X, y = np.vstack([data.X, data.test.X]), np.concatenate([data.y, data.test.y])
    assert (np.outer(y, y) * (X @ X.T) > 0).all()
    z = np.where(np.arange(d) % 2 == 0, 1, -1)
    assert (X[:, : d - d % 2] @ z[: d - d % 2] >= -1e-12).all()


def test_orthogonal_is_what_rejection_gives() -> None:
    g = np.random.default_rng(0).standard_normal((200_000, 4))
    literal = g[((g > 0).all(axis=1) | (g < 0).all(axis=1)) & (g @ [1, -1, 1, -1] >= 0)]
    data = generate("orthogonal:n=5000,d=4,seed=1")
    assert abs(data.y.mean()) < 0.06
    for direction in ([1, 0, 0, 0], [0, 1, 0, 0], [1, -1, 1, -1], [1, 0, 1, 0]):
        assert ks_2samp(literal @ direction, data.X @ direction).pvalue > 1e-3


@pytest.mark.parametrize("d", [1, 3, 5])
def test_orthogonal_in_odd_dimension_has_both_labels(d: int) -> None:
    assert abs(generate(f"orthogonal:n=2000,d={d}").y.mean()) < 0.1


@small
@given(st.integers(2, 7), st.integers(0, 4), st.integers(0, 40), seeds, st.floats(0, 0.99))
def test_orthogonal_classes_by_their_gram_matrix(
    K: int, more_d: int, more_n: int, seed: int, spread: float
) -> None:
    d, n = K - 1 + more_d, K + more_n
    call = f"orthogonal_classes:n={n},d={d},classes={K},seed={seed},spread={spread},test=9"
    data = generate(call)
    assert data.test is not None
    X, y = np.vstack([data.X, data.test.X]), np.concatenate([data.y, data.test.y])
    gram, alike = X @ X.T, y[:, None] == y
    assert (gram[alike] > 0).all() and (gram[~alike] < 0).all()
    assert len(np.unique(data.y)) == K
    assert data.classes == (() if K == 2 else tuple(map(str, range(K))))


def test_many_classes() -> None:
    data = generate("orthogonal_classes:n=200,d=99,classes=100,spread=0.99")
    gram, alike = data.X @ data.X.T, data.y[:, None] == data.y
    assert gram[alike].min() > 0 and gram[~alike].max() < 0


@small
@given(st.integers(1, 20), dims, seeds)
def test_symmetric(half: int, d: int, seed: int) -> None:
    data = generate(f"symmetric:n={2 * half},d={d},seed={seed}")
    assert np.array_equal(data.X[:half], -data.X[half:])
    assert (data.y[:half] == 1).all() and (data.y[half:] == -1).all()
    assert margin_of(data) >= 0.1 * (1 - 1e-6)


def a2_slack(data: Dataset, alpha: float) -> float:
    """Assumption A.2 of lyu2021: the smallest left side less right side."""
    Z = data.y[:, None] * data.X
    gram = Z @ Z.T
    right = (1 - alpha) / alpha * np.maximum(-gram, 0).mean(axis=1)
    return float((gram.mean(axis=1) - right).min())


def scaled_means(data: Dataset, alpha: float) -> tuple[float, float]:
    """‖µ⁺‖ and ‖µ⁻‖, (6)."""
    Z = data.y[:, None] * data.X
    plus = np.where(data.y > 0, 1, alpha) @ Z / data.n
    minus = np.where(data.y > 0, alpha, 1) @ Z / data.n
    return float(np.linalg.norm(plus)), float(np.linalg.norm(minus))


@small
@given(st.integers(1, 15), st.integers(2, 6), seeds, st.sampled_from([0.05, 0.5, 0.95]))
def test_hinted_satisfies_the_appendix(n: int, d: int, seed: int, alpha: float) -> None:
    data = generate(f"hinted:n={n},d={d},seed={seed},alpha={alpha}")
    H, K, eps = (data.parameters[key] for key in ("H", "K", "eps"))
    base = Dataset(data.X[3:], data.y[3:])
    assert data.n == n + 3 and (data.y[:3] == 1).all()
    w_star = data.X[0] / H
    assert np.linalg.norm(w_star) == pytest.approx(1)
    assert (base.y * (base.X @ w_star)).min() >= margin_of(base) * (1 - 1e-6)
    w_perp = (data.X[1] - data.X[2]) / (2 * K)
    assert np.linalg.norm(w_perp) == pytest.approx(1)
    assert abs(w_perp @ w_star) < 1e-12
    assert np.allclose(data.X[1] + data.X[2], 2 * eps * w_star)
    # Assumptions A.2 and A.3, and the margin problem of the points x⁺.
    assert a2_slack(data, alpha) > 0
    mu_plus, mu_minus = scaled_means(data, alpha)
    assert mu_plus > mu_minus
    plus = max_margin((np.where(data.y > 0, 1, -alpha))[:, None] * data.X)
    assert plus.margin_bounds.upper == pytest.approx(eps, rel=1e-6)
    assert plus.direction @ w_star == pytest.approx(1)
    # A.5: besides the hints 2 and 3 no point is a support vector of that problem.
    others = np.delete(np.where(data.y > 0, 1, alpha) * data.y * (data.X @ w_star), [1, 2])
    assert others.min() > 1.5 * eps
    # Suboptimal: λ₂ = λ₃ = 1/(2ε) is the only dual point, and it is infeasible.
    value = np.hypot((1 + alpha) * eps, (1 - alpha) * K) / (2 * eps)
    assert value > 1.01


def test_hinted_by_given_constants() -> None:
    data = generate("hinted:n=3,d=4,H=7,K=2,eps=0.25,seed=1")
    w_star = data.X[0] / 7
    assert np.allclose(
        np.linalg.norm(data.X[:3], axis=1), [7, np.hypot(2, 0.25)] + [np.hypot(2, 0.25)]
    )
    assert np.allclose(data.X[:3] @ w_star, [7, 0.25, 0.25])


def test_hint_constants_keep_what_is_given() -> None:
    X, y = np.array([[2.0, 1.0], [-2.0, 1.0]]), np.array([1, -1])
    H, K, eps = hint_constants(X, y, np.array([1.0, 0.0]), 0.5, K=3.0)
    assert (K, eps) == (3.0, 0.5)
    assert H > 3 * (1 + 1 + 3 + 3) / (0.5 * 0.5) - (2 + 2 + 0.5 + 0.5)  # H₀ by hand
