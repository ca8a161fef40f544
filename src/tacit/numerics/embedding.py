"""Lemma 5.2 of lyu2021: on symmetric data small neurons approach one line, in a known time.

G is linear there, G(w) = w·µ̃, so near zero (w_k, a_k) follow a linear equation with the matrix
[[0, µ̃], [µ̃ᵀ, 0]], whose largest eigenvalue is λ₀ = ‖µ̃‖ with the eigenvector (µ̄, 1). Times are
those of the mean of the losses, as in the paper. §5.1 prints µ̃ = (1+α)/2 µ; with the logistic
loss, −ℓ'(0) = ½, it is (1+α)/4 µ, and µ = Σ y_i x_i / n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.values import BadInput

Kind = Literal["logistic", "exponential"]
STEP = 0.05
"""Step of the integrator, in units of 1/λ₀."""


@dataclass(frozen=True, eq=False)
class EarlyEmbedding:
    """Where small neurons go on symmetric data: w_k ≈ r b̄_k µ̄ and a_k ≈ r b̄_k at time T₁(r)."""

    rate: float
    """λ₀, per time of the mean loss."""
    direction: np.ndarray
    """µ̄ = µ/‖µ‖."""
    size: float
    """√m ‖θ₀‖_M, with ‖θ‖_M = max_k max(‖w_k‖, |a_k|) (Definition 5.1)."""
    b: np.ndarray
    """b̄_k = (w_k·µ̄ + a_k) / (2 √m ‖θ₀‖_M), from the initial weights."""

    @property
    def good(self) -> bool:
        """Whether b̄ is a good embedding vector: entries of both signs and none that is zero."""
        return set(np.sign(self.b).tolist()) == {1.0, -1.0}

    def time(self, r: float) -> float:
        """T₁(r) = log(r/(√m ‖θ₀‖_M))/λ₀ of gradient flow on the mean; over n for the sum."""
        return math.log(r / self.size) / self.rate

    def neurons(self, r: float) -> tuple[np.ndarray, np.ndarray]:
        """The weights that the lemma predicts at T₁(r), up to the error bound."""
        return r * np.outer(self.b, self.direction), r * self.b

    def bound(self, r: float) -> float:
        """C r³/√m with C = 4/λ₀ + √2, which bounds the error for r ≤ √λ₀/2."""
        return (4 / self.rate + math.sqrt(2)) * r**3 / math.sqrt(len(self.b))


@dataclass(frozen=True, eq=False)
class EmbeddedFlow:
    """What Lemma 5.2 says for a radius r, and what the flow does."""

    r: float
    embedding: EarlyEmbedding
    W: np.ndarray
    a: np.ndarray
    """The weights of the flow at T₁(r)."""
    error: float
    """max_k max(‖w_k − r b̄_k µ̄‖, |a_k − r b̄_k|)."""
    applies: bool
    """The initial weights are small enough (√m ‖θ₀‖_M ≤ r³), r ≤ √λ₀/2 and ‖x_i‖ ≤ 1, with the
    logistic loss: then the error is at most the bound."""

    @property
    def bound(self) -> float:
        return self.embedding.bound(self.r)

    @property
    def time(self) -> float:
        return self.embedding.time(self.r)


def need_symmetric(X: np.ndarray, y: np.ndarray) -> None:
    """Refuse data that do not have (−x, −y) as often as (x, y), to the last bit."""
    rows = np.column_stack([X, y])
    if not (rows[np.lexsort(rows.T)] == -rows[np.lexsort(-rows.T)]).all():
        raise BadInput("Lemma 5.2 needs symmetric data: with every (x, y) also (−x, −y)")


def embedding(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    W: np.ndarray,
    a: np.ndarray,
    kind: Kind = "logistic",
) -> EarlyEmbedding:
    """λ₀, µ̄ and b̄ for initial weights; only on symmetric data do they mean what the lemma says."""
    slope = 1.0 if kind == "exponential" else 0.5  # −ℓ'(0)
    drift = slope * (1 + alpha) / 2 * (y @ X) / len(y)  # µ̃
    rate = float(np.linalg.norm(drift))
    if rate == 0:
        raise BadInput("Σ y_i x_i is 0, so near zero nothing moves: Lemma 5.2 needs µ ≠ 0")
    direction = drift / rate
    size = math.sqrt(len(a)) * largest(W, a)
    b = (W @ direction + a) / (2 * size) if size > 0 else np.zeros(len(a))
    return EarlyEmbedding(rate, direction, size, b)


def largest(W: np.ndarray, a: np.ndarray) -> float:
    """‖θ‖_M of Definition 5.1."""
    return float(max(np.linalg.norm(W, axis=1).max(), np.abs(a).max()))


def integrated(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    W: np.ndarray,
    a: np.ndarray,
    r: float,
    kind: Kind = "logistic",
) -> EmbeddedFlow:
    """The lemma at radius r, with the flow from these initial weights integrated up to T₁(r).

    Runge–Kutta of order 4 for exp(−tM) θ(t), which only the part of the flow beyond its linear one
    moves. It has no events: that part is of size r³, and a neuron that crosses an activation
    hyperplane puts a kink of that size into it.
    """
    known = _known(X, y, alpha, W, a, r, kind)
    time = known.time(r)
    steps = max(1, math.ceil(time * known.rate / STEP))
    h = time / steps

    def half(Z: np.ndarray) -> np.ndarray:
        return _turn(Z, known.direction, known.rate * h / 2)

    def beyond(Z: np.ndarray) -> np.ndarray:
        return _beyond_linear(X, y, alpha, Z, kind)

    Z = np.column_stack([W, a])
    for _ in range(steps):
        k1 = beyond(Z)
        middle = half(Z)
        k2 = beyond(middle + h / 2 * half(k1))
        k3 = beyond(middle + h / 2 * k2)
        k4 = beyond(half(middle + h * k3))
        Z = half(middle + h / 6 * half(k1) + h / 3 * (k2 + k3)) + h / 6 * k4
    return _measured(X, known, r, kind, Z)


def interpolated(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    times: np.ndarray,
    path: Sequence[tuple[np.ndarray, np.ndarray]],
    r: float,
    kind: Kind = "logistic",
) -> EmbeddedFlow:
    """The lemma at radius r, measured on a path of the flow: weights (W, a) at increasing times.

    The path is read between two times, which leaves an uncertainty of up to a tenth of the error.
    What moves exp(−tM) θ(t) is cubic in weights that grow like e^(λ₀t), so its parts of eigenvalue
    λ₀, 0 and −λ₀ go like e^(2λ₀t), e^(3λ₀t) and e^(4λ₀t).
    """
    known = _known(X, y, alpha, *path[0], r, kind)
    time, rate, direction = known.time(r), known.rate, known.direction
    after = int(np.searchsorted(times, time))
    if after == len(times):
        raise BadInput(
            f"the path ends at time {times[-1]:g} (of the mean loss); T₁(r) = {time:g} is later"
        )
    low, high = rate * (times[after - 1] - time), rate * (times[after] - time)
    one = _turn(np.column_stack(path[after - 1]), direction, -low)
    change = _turn(np.column_stack(path[after]), direction, -high) - one
    up, down = np.append(direction, 1) / math.sqrt(2), np.append(direction, -1) / math.sqrt(2)
    growing, shrinking = np.outer(change @ up, up), np.outer(change @ down, down)
    # expm1, since times may be so close that differences of exponentials have no digits left.
    share = [math.expm1(-k * low) / math.expm1(k * (high - low)) for k in (2, 3, 4)]
    still = change - growing - shrinking
    Z = one + share[0] * growing + share[1] * still + share[2] * shrinking
    return _measured(X, known, r, kind, Z)


def _known(
    X: np.ndarray, y: np.ndarray, alpha: float, W: np.ndarray, a: np.ndarray, r: float, kind: Kind
) -> EarlyEmbedding:
    """The embedding of initial weights, where the lemma speaks of this radius."""
    need_symmetric(X, y)
    known = embedding(X, y, alpha, W, a, kind)
    if not 0 < r < math.inf:
        raise BadInput(f"r={r} must be a positive number")
    if not 0 < known.size < r:
        raise BadInput(
            f"r={r:g} must be more than √m ‖θ₀‖_M = {known.size:g}, so that T₁(r) is after the "
            "start"
        )
    return known


def _measured(
    X: np.ndarray, known: EarlyEmbedding, r: float, kind: Kind, Z: np.ndarray
) -> EmbeddedFlow:
    W, a = Z[:, :-1], Z[:, -1]
    expected_W, expected_a = known.neurons(r)
    return EmbeddedFlow(
        r=r,
        embedding=known,
        W=W,
        a=a,
        error=largest(W - expected_W, a - expected_a),
        applies=kind == "logistic"
        and known.size <= r**3
        and r <= math.sqrt(known.rate) / 2
        # Points that were divided by their length have norm 1 up to rounding only.
        and float(np.linalg.norm(X, axis=1).max()) <= 1 + 1e-15,
    )


def _turn(Z: np.ndarray, direction: np.ndarray, angle: float) -> np.ndarray:
    """exp of `angle` times the matrix [[0, µ̄], [µ̄ᵀ, 0]], on neurons with rows (w_k, a_k)."""
    along, a = Z[:, :-1] @ direction, Z[:, -1]
    # cosh − 1 by the half angle: for small angles the difference would lose all digits.
    sinh, versine = math.sinh(angle), 2 * math.sinh(angle / 2) ** 2  # cosh − 1
    change = np.column_stack([np.outer(along * versine + a * sinh, direction), a * versine])
    change[:, -1] += along * sinh
    return Z + change


def _beyond_linear(
    X: np.ndarray, y: np.ndarray, alpha: float, Z: np.ndarray, kind: Kind
) -> np.ndarray:
    """Gradient flow on the mean, less its linear part: Σ (ℓ'(0) − ℓ'(q_i)) y_i ∂f(x_i) / n."""
    W, a = Z[:, :-1], Z[:, -1]
    t = W @ X.T
    slopes = np.where(t > 0, 1.0, alpha)
    q = y * (a @ (slopes * t))
    less = np.expm1(-q) if kind == "exponential" else 0.5 * np.tanh(-q / 2)
    c = less * y / len(q)
    return np.column_stack([a[:, None] * ((slopes * c) @ X), (slopes * t) @ c])
