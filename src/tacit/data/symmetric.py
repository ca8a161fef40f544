"""Symmetric data, and data made asymmetric by three hints (lyu2021)."""

import numpy as np

from tacit.data._sampling import LARGEST, between, train_and_test, unit_vector
from tacit.data.generators import generator
from tacit.data.linear import teacher_points
from tacit.messages import require
from tacit.values import Dataset

PLAIN = (1e-30, 1e30)
"""Where lengths that are squared and divided by each other must lie."""


@generator("lyu2021 Assumption 4.1; sarussi2021 Lemma 6.1")
def symmetric(
    n: int = 20, d: int = 2, margin: float = 0.1, seed: int = 0, test: int = 0
) -> Dataset:
    """Pairs (x, −x) with labels 1 and −1, linearly separable; positive points first.

    x_{i+n/2} = −x_i, y_i = 1 and y_{i+n/2} = −1 for i ≤ n/2. The positive points are those of
    `linear` (x or −x, whichever is positive), so w*·x_i ≥ margin for a random direction w*.

    Ours: the distribution. Test points are single points of `linear`, not pairs.
    """
    require(n % 2 == 0, f"symmetric: n={n} must be even, for pairs (x, −x)")
    between("symmetric", "margin", margin, 0)
    rng = np.random.default_rng(seed)
    w_star = unit_vector(d, rng)
    data = train_and_test(lambda k, r: teacher_points(k, w_star, margin, r), n // 2, test, rng)
    positive = data.y[:, None] * data.X
    y = np.repeat([1, -1], n // 2)
    return Dataset(np.vstack([positive, -positive]), y, test=data.test)


@generator("lyu2021 Definition 6.1, Theorem 6.2")
def hinted(
    n: int = 10,
    d: int = 2,
    H: float | None = None,
    K: float | None = None,
    eps: float | None = None,
    alpha: float = 0.5,
    margin: float = 0.1,
    seed: int = 0,
) -> Dataset:
    """Linearly separable data behind three hints that make its linear separator win unjustly.

    S is `linear` with n points and max-margin separator w*; S' is the hints, all positive, in front
    of S (n + 3 points): x₁ = H w*, x₂ = ε w* + K w⊥, x₃ = ε w* − K w⊥. Whichever of H, K, ε is not
    given follows from App. A.2 for the leaky slope alpha (see `hint_constants`).

    Ours: S; w⊥ is a random unit vector perpendicular to w*.
    """
    from tacit.numerics.max_margin import max_margin

    require(d >= 2, f"hinted: d={d} has no direction perpendicular to w*; d must be at least 2")
    between("hinted", "margin", margin, 0, PLAIN[1])
    rng = np.random.default_rng(seed)
    X, y = teacher_points(n, unit_vector(d, rng), margin, rng)
    separator = max_margin(y[:, None] * X)
    require(
        separator.margin_bounds.lower > 0,
        f"hinted: the base data of margin={margin} could not be separated; choose margin larger",
    )
    w_star = separator.direction
    return with_hints("hinted", X, y, w_star, _perpendicular(w_star, rng), alpha, H, K, eps)


def with_hints(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    w_star: np.ndarray,
    w_perp: np.ndarray,
    alpha: float,
    H: float | None,
    K: float | None,
    eps: float | None,
) -> Dataset:
    """The three hints of Definition 6.1 in front of (X, y)."""
    between(name, "alpha", alpha, 0, 1 - 1e-12)
    for key, value in (("H", H), ("K", K), ("eps", eps)):
        if value is not None:
            between(name, key, value, *PLAIN)
    require(
        alpha >= 1e-12 or (H is not None and eps is not None),
        f"{name}: alpha={alpha} is too small for the H and eps of App. A.2; give both, "
        "or alpha of at least 1e-12",
    )
    H, K, eps = hint_constants(X, y, w_star, alpha, H, K, eps)
    require(
        max(H, K) <= LARGEST,
        f"{name}: App. A.2 leads to H={H:g}, K={K:g} with eps={eps:g}, alpha={alpha}; "
        f"choose eps or alpha larger, until they are at most {LARGEST:g}",
    )
    require(
        eps >= 1e-12 * K,
        f"{name}: eps={eps} is lost in rounding next to K={K}; it must be at least K/10¹²",
    )
    hints = np.vstack([H * w_star, eps * w_star + K * w_perp, eps * w_star - K * w_perp])
    parameters = {"H": float(H), "K": float(K), "eps": float(eps)}
    return Dataset(np.vstack([hints, X]), np.concatenate([[1, 1, 1], y]), parameters=parameters)


def hint_constants(
    X: np.ndarray,
    y: np.ndarray,
    w_star: np.ndarray,
    alpha: float,
    H: float | None = None,
    K: float | None = None,
    eps: float | None = None,
) -> tuple[float, float, float]:
    """H, K and ε that satisfy App. A.2 for the base data (X, y), where they are not given.

    ε < α γ with γ = min y_i w*·x_i; H > ε, H₀ and n‖µ⁻‖ + ‖Σ_{j>1} y_j x_j⁺‖. As µ⁻ contains x₁
    itself, n‖µ⁻‖ ≤ α H + ‖Σ_{j>1} y_j x_j⁻‖, which makes the last condition explicit.
    A.2 asks for K > 0 only, but the linear classifier is suboptimal exactly when
    K > ε √((3+α)/(1−α)): then the dual point λ₂ = λ₃ = 1/(2ε) of its margin is infeasible.

    Ours: half of the bound on ε, twice the bound on K, 1.1 times the bound on H.
    """
    Z = y[:, None] * X
    along = Z @ w_star
    gamma = float(along.min())
    if eps is None:
        eps = alpha * gamma / 2
    if K is None:
        K = 2 * eps * float(np.sqrt((3 + alpha) / (1 - alpha)))
    if H is None:
        across = np.append(np.linalg.norm(Z - np.outer(along, w_star), axis=1), [K, K])
        along_hints = np.append(along, [eps, eps])
        H_0 = across.max() * across.sum() / (alpha * along_hints.min()) - along_hints.sum()
        plus, minus = np.where(y > 0, 1, alpha), np.where(y > 0, alpha, 1)
        sum_plus = np.linalg.norm(plus @ Z + 2 * eps * w_star)
        sum_minus = np.linalg.norm(minus @ Z + 2 * alpha * eps * w_star)
        H = 1.1 * float(max(eps, H_0, (sum_plus + sum_minus) / (1 - alpha)))
    return H, K, eps


def _perpendicular(w_star: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random unit vector perpendicular to w*."""
    w_perp = unit_vector(len(w_star), rng)
    for _ in range(2):  # once more, for what rounding left
        w_perp -= (w_perp @ w_star) * w_star
        w_perp /= np.linalg.norm(w_perp)
    return w_perp
