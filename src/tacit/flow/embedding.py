"""Lemma 5.2 of lyu2021: on symmetric data small neurons come near one line, in a known time.

G is linear there, G(w) = w·µ̃, so near zero (w_k, a_k) follow a linear equation with the matrix
[[0, µ̃], [µ̃ᵀ, 0]], whose largest eigenvalue is λ₀ = ‖µ̃‖ with the eigenvector (µ̄, 1). Its time is
that of the mean of the losses, as in the paper. §5.1 prints µ̃ = (1+α)/2 µ; with the logistic loss,
−ℓ'(0) = ½, it is (1+α)/4 µ, and µ = Σ y_i x_i / n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.flow.exponential_tail import Kind
from tacit.flow.path import Path
from tacit.flow.state import State
from tacit.values import BadInput

STEP = 0.05
"""Of the integrator, in units of 1/λ₀."""


@dataclass(frozen=True, eq=False)
class Lemma52:
    """What Lemma 5.2 says for a radius r, and what the flow does."""

    r: float
    rate: float
    """λ₀, per time of the mean loss."""
    direction: np.ndarray
    """µ̄ = µ/‖µ‖."""
    embedding: np.ndarray
    """b̄_k = (w_k·µ̄ + a_k) / (2 √m max_k max(‖w_k‖, |a_k|)), from the initial weights."""
    time: float
    """T₁(r) = log(r/(√m ‖θ₀‖_M))/λ₀ of gradient flow on the mean; over n for the sum."""
    W: np.ndarray
    a: np.ndarray
    """The flow's weights at T₁(r); the lemma predicts r b̄_k µ̄ and r b̄_k."""
    error: float
    """max_k max(‖w_k − r b̄_k µ̄‖, |a_k − r b̄_k|)."""
    bound: float
    """C r³/√m with C = 4/λ₀ + √2."""
    applies: bool
    """The initial weights are small enough (√m ‖θ₀‖_M ≤ r³), r ≤ √λ₀/2 and ‖x_i‖ ≤ 1, with the
    logistic loss: then the error is at most the bound."""

    @property
    def good(self) -> bool:
        return is_good(self.embedding)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Where small neurons go on symmetric data: w_k ≈ r b̄_k µ̄, a_k ≈ r b̄_k."""

    rate: float
    """λ₀, per time of the mean loss."""
    direction: np.ndarray
    """µ̄ = µ/‖µ‖."""
    size: float
    """√m ‖θ₀‖_M."""
    b: np.ndarray
    """b̄_k."""

    @property
    def good(self) -> bool:
        return is_good(self.b)


def is_good(b: np.ndarray) -> bool:
    """b̄ is a good embedding vector: entries of both signs and none that is zero."""
    return set(np.sign(b).tolist()) == {1.0, -1.0}


def embedding(first: State, kind: Kind = "logistic") -> Embedding:
    """Of initial weights on symmetric data."""
    _check(first)
    walls = first.walls
    slope = 1.0 if kind == "exponential" else 0.5  # −ℓ'(0)
    drift = slope * (1 + walls.alpha) / 2 * (walls.y @ walls.X) / len(walls.y)  # µ̃
    rate = float(np.linalg.norm(drift))
    if rate == 0:
        raise BadInput("Σ y_i x_i is 0, so near zero nothing moves: Lemma 5.2 needs µ ≠ 0")
    direction = drift / rate
    size = math.sqrt(len(first.a)) * _largest(first.W, first.a)
    b = (first.W @ direction + first.a) / (2 * size) if size > 0 else np.zeros(len(first.a))
    return Embedding(rate, direction, size, b)


def lemma_5_2(source: Path | State, r: float, kind: Kind = "logistic") -> Lemma52:
    """The lemma at radius r: for a path, measured on it; for initial weights, integrated here.

    A path is read between two moments, which leaves an uncertainty of up to a tenth of the error.
    The integrator has no events: it works on what is left of the flow when its linear part is taken
    out, of size r³, in which a wall is a kink of that size.
    """
    first = source.moments[0].state if isinstance(source, Path) else source
    known = embedding(first, kind)
    if not 0 < r < math.inf:
        raise BadInput(f"r={r} must be a positive number")
    rate, direction, size, b = known.rate, known.direction, known.size, known.b
    walls, m = first.walls, len(first.a)
    if not 0 < size < r:
        raise BadInput(
            f"r={r:g} must be more than √m ‖θ₀‖_M = {size:g}, so that T₁(r) is after the start"
        )
    time = math.log(r / size) / rate
    if isinstance(source, Path):
        Z = _on_path(source, time, direction, rate)
    else:
        Z = _integrated(first, time, direction, rate, kind)
    W, a = Z[:, :-1], Z[:, -1]
    return Lemma52(
        r=r,
        rate=rate,
        direction=direction,
        embedding=b,
        time=time,
        W=W,
        a=a,
        error=_largest(W - r * np.outer(b, direction), a - r * b),
        bound=(4 / rate + math.sqrt(2)) * r**3 / math.sqrt(m),
        applies=kind == "logistic"
        and size <= r**3
        and r <= math.sqrt(rate) / 2
        and float(np.abs(walls.r).max()) <= 1 + 1e-15,
    )


def _largest(W: np.ndarray, a: np.ndarray) -> float:
    """‖θ‖_M of Definition 5.1."""
    return float(max(np.linalg.norm(W, axis=1).max(), np.abs(a).max()))


def _check(state: State) -> None:
    if not state.both:
        raise BadInput("Lemma 5.2 is about nets of which both layers are trained")
    rows = np.column_stack([state.walls.X, state.walls.y])
    ordered = rows[np.lexsort(rows.T)], -rows[np.lexsort(-rows.T)]
    if not (ordered[0] == ordered[1]).all():
        raise BadInput("Lemma 5.2 needs symmetric data: with every (x, y) also (−x, −y)")


def _turn(Z: np.ndarray, direction: np.ndarray, angle: float) -> np.ndarray:
    """exp of `angle` times the matrix [[0, µ̄], [µ̄ᵀ, 0]], on neurons with rows (w_k, a_k)."""
    along, a = Z[:, :-1] @ direction, Z[:, -1]
    sinh, versine = math.sinh(angle), 2 * math.sinh(angle / 2) ** 2  # cosh − 1
    change = np.column_stack([np.outer(along * versine + a * sinh, direction), a * versine])
    change[:, -1] += along * sinh
    return Z + change


def _on_path(path: Path, time: float, direction: np.ndarray, rate: float) -> np.ndarray:
    """Between two moments: what moves exp(−tM) θ(t) is cubic in weights that grow like e^(λ₀t).

    So its parts of eigenvalue λ₀, 0 and −λ₀ go like e^(2λ₀t), e^(3λ₀t) and e^(4λ₀t).
    """
    n = len(path.last.state.walls.y)
    times = np.array([n * math.exp(min(moment.log_t, 600.0)) for moment in path.moments])
    after = int(np.searchsorted(times, time))
    if after == len(times):
        raise BadInput(
            f"the path ends at time {times[-1]:g} (of the mean loss); T₁(r) = {time:g} is later"
        )
    low, high = rate * (times[after - 1] - time), rate * (times[after] - time)
    one = _turn(_rows(path.moments[after - 1].state), direction, -low)
    gap = _turn(_rows(path.moments[after].state), direction, -high) - one
    up, down = np.append(direction, 1) / math.sqrt(2), np.append(direction, -1) / math.sqrt(2)
    parts = np.outer(gap @ up, up), np.outer(gap @ down, down)
    shares = [math.expm1(-k * low) / math.expm1(k * (high - low)) for k in (2, 3, 4)]
    return (
        one + shares[0] * parts[0] + shares[1] * (gap - parts[0] - parts[1]) + shares[2] * parts[1]
    )


def _integrated(
    state: State, time: float, direction: np.ndarray, rate: float, kind: Kind
) -> np.ndarray:
    """Runge–Kutta of order 4 for exp(−tM) θ(t), which only the part beyond the linear one moves."""
    steps = max(1, math.ceil(time * rate / STEP))
    h = time / steps

    def half(Z: np.ndarray) -> np.ndarray:
        return _turn(Z, direction, rate * h / 2)

    Z = _rows(state)
    for _ in range(steps):
        k1 = _beyond(state, Z, kind)
        middle = half(Z)
        k2 = _beyond(state, middle + h / 2 * half(k1), kind)
        k3 = _beyond(state, middle + h / 2 * k2, kind)
        k4 = _beyond(state, half(middle + h * k3), kind)
        Z = half(middle + h / 6 * half(k1) + h / 3 * (k2 + k3)) + h / 6 * k4
    return Z


def _rows(state: State) -> np.ndarray:
    return np.column_stack([state.W, state.a])


def _beyond(state: State, Z: np.ndarray, kind: Kind) -> np.ndarray:
    """Gradient flow on the mean, less its linear part: Σ (ℓ'(0) − ℓ'(q_i)) y_i ∂f(x_i) / n."""
    walls, W, a = state.walls, Z[:, :-1], Z[:, -1]
    t = W @ walls.X.T
    slopes = np.where(t > 0, 1.0, walls.alpha)
    q = walls.y * (a @ (slopes * t))
    less = np.expm1(-q) if kind == "exponential" else 0.5 * np.tanh(-q / 2)
    c = less * walls.y / len(q)
    return np.column_stack([a[:, None] * ((slopes * c) @ walls.X), (slopes * t) @ c])
