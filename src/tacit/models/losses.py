"""Losses of the margins q_i = y_i f(x_i), right at any margin because they are taken in log space.

A loss is L = Σ_i c_i ℓ_i(q_i). All functions are pure; those of q work under `jit` and `vmap`;
labels are ±1. A loss is frozen and hashable, so it can be a static argument of `jit`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tacit._jax import jax, jnp
from tacit.messages import BadInput, near_miss, number_text


@dataclass(frozen=True)
class Loss(ABC):
    """What all losses share; the three below say what ℓ_i, its slope and c_i are."""

    @abstractmethod
    def weights(self, y: jax.Array) -> jax.Array:
        """The coefficients c_i: 1/n, 1, or one over the size of the example's class."""

    @abstractmethod
    def values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """The losses ℓ_i(q_i) of all points."""

    @abstractmethod
    def log_values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """log ℓ_i(q_i); −inf where ℓ_i is zero."""

    @abstractmethod
    def slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """The slopes |ℓ_i'(q_i)| of all points."""

    @abstractmethod
    def log_slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """log |ℓ_i'(q_i)|; −inf where the slope is zero."""

    @abstractmethod
    def margin_of_log_total(self, log_L: np.ndarray | float, n: int) -> np.ndarray:
        """The numerator of the smoothed margin of n examples, sarussi2021 (5), from log L.

        It is the one q with L = ℓ(q)/n (mean) or L = ℓ(q) (sum), and at most q_min. It is read off
        paths, not trained on, so it is plain NumPy.
        """

    @abstractmethod
    def __str__(self) -> str:
        """The text that `parse_loss` reads."""

    @property
    @abstractmethod
    def has_exponential_tail(self) -> bool:
        """Whether ℓ(q) ~ e^(−q), so that there is a smoothed margin and a direction to reach."""

    def total(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """L = Σ_i c_i ℓ_i(q_i); 0 or inf where float64 ends, see `log_total`."""
        return jnp.sum(_like(self.weights(y), q) * self.values(q, y))

    def log_total(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """log L; −inf where L is exactly zero."""
        shift, scaled = self._scaled_total(q, y)
        zero = scaled == 0
        return jnp.where(zero, -jnp.inf, shift + jnp.log(jnp.where(zero, 1.0, scaled)))

    def output_gradient(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """∂L/∂f(x_i) = −y_i c_i |ℓ_i'(q_i)|."""
        return -_like(y, q) * _like(self.weights(y), q) * self.slopes(q, y)

    def scaled_output_gradient(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """∂log L/∂f(x_i), the output gradient over L; right when L underflows, 0 when L is 0."""
        shift, scaled = self._scaled_total(q, y)
        zero = scaled == 0
        p = _like(self.weights(y), q) * jnp.exp(self.log_slopes(q, y) - shift)
        return jnp.where(zero, 0.0, -_like(y, q) * p / jnp.where(zero, 1.0, scaled))

    def _scaled_total(self, q: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        """s = max_i log ℓ_i (0 where that is −inf), and e^(−s) L."""
        log_values = self.log_values(q, y)
        # The shift cancels in the value; its gradient would only add rounding.
        shift = jax.lax.stop_gradient(jnp.max(log_values))
        shift = jnp.where(shift > -jnp.inf, shift, 0.0)
        return shift, jnp.sum(_like(self.weights(y), q) * jnp.exp(log_values - shift))


Reduction = Literal["mean", "sum"]


@dataclass(frozen=True)
class ExponentialTail(Loss):
    """What losses with ℓ(q) ~ e^(−q) share: the mean or the sum over the examples."""

    name: ClassVar[str]
    reduction: Reduction = "mean"

    def weights(self, y: jax.Array) -> jax.Array:
        return _equal_weights(self.reduction, y)

    def __str__(self) -> str:
        return self.name if self.reduction == "mean" else f"{self.name}:sum"

    @property
    def has_exponential_tail(self) -> bool:
        return True


@dataclass(frozen=True)
class Logistic(ExponentialTail):
    """ℓ(q) = log(1 + e^(−q)): sarussi2021 (2) is the mean, phuong2021 (3) the sum."""

    name = "logistic"

    def values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return _softplus(-q)

    def log_values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        # Three forms, each exact, so that the relative error is a few ulp even where log ℓ ≈ 0.
        # With e^(−Q) = e − 1, ℓ(q) = 1 + log1p((1 − 1/e) expm1(Q − q)); Q is kept in two parts, the
        # second one outside of expm1, where XLA does not add it to the first.
        # (Not for q > 0: XLA's log1p loses two digits between −0.41 and −0.3.)
        middle = jnp.abs(q + 0.5) < 0.5
        q_in = jnp.where(middle, q, -0.5)
        near = jnp.log1p(jnp.log1p((1 - 1 / math.e) * (jnp.expm1(_Q - q_in) + _Q_REST)))
        tail = q > 40  # ℓ = e^(−q) to the last digit
        far = jnp.log(_softplus(-jnp.where(middle | tail, 1.0, q)))
        return jnp.where(middle, near, jnp.where(tail, -q, far))

    def slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return jax.nn.sigmoid(-q)

    def log_slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return -_softplus(q)

    def margin_of_log_total(self, log_L: np.ndarray | float, n: int) -> np.ndarray:
        u = _log_sum(log_L, n, self.reduction)
        tail, large = u < -40, u > 0
        with np.errstate(over="ignore"):  # a loss above e^709 has the margin −inf
            x = np.exp(np.where(tail, 0.0, u))
        small = -np.log(np.expm1(np.where(large, 1.0, x)))
        big = -x - np.log(-np.expm1(-x))  # the same, without overflow
        return np.where(tail, -u, np.where(large, big, small))  # (5)


@dataclass(frozen=True)
class Exponential(ExponentialTail):
    """The exponential loss ℓ(q) = e^(−q)."""

    name = "exponential"

    def values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.exp(-q)

    def log_values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return -q

    def slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.exp(-q)

    def log_slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return -q

    def margin_of_log_total(self, log_L: np.ndarray | float, n: int) -> np.ndarray:
        return -_log_sum(log_L, n, self.reduction)


@dataclass(frozen=True)
class Hinge(Loss):
    """ℓ_i(q) = max(γ_i − q, 0), with slope 0 at exactly q = γ_i.

    Without a confidence: γ_i = 1, summed, the XOR loss of brutzkus2019 §3. With confidence γ:
    brutzkus2019 (4), γ_i = γ for positive and 1 for negative examples, each class averaged by its
    own size. Examples count while N(x) < γ, strictly, as in brutzkus2019 (7).
    """

    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.confidence is not None and not 1 <= self.confidence < math.inf:
            raise BadInput(f"hinge: the confidence {self.confidence} must be at least 1")

    def weights(self, y: jax.Array) -> jax.Array:
        if self.confidence is None:
            return _equal_weights("sum", y)
        positive = jnp.asarray(y) > 0
        size = jnp.where(positive, jnp.sum(positive), jnp.sum(~positive))
        return 1 / size  # (4); an example's own class is never empty

    def values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        room = self._room(q, y)
        return jnp.where(room > 0, room, 0.0)  # (4)

    def log_values(self, q: jax.Array, y: jax.Array) -> jax.Array:
        room = self._room(q, y)
        return jnp.where(room > 0, jnp.log(jnp.where(room > 0, room, 1.0)), -jnp.inf)

    def slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.where(self._room(q, y) > 0, 1.0, 0.0)

    def log_slopes(self, q: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.where(self._room(q, y) > 0, 0.0, -jnp.inf)

    def margin_of_log_total(self, log_L: np.ndarray | float, n: int) -> np.ndarray:
        raise BadInput("the hinge loss has no exponential tail, so it has no smoothed margin")

    def __str__(self) -> str:
        return "hinge" if self.confidence is None else f"hinge:{number_text(self.confidence)}"

    @property
    def has_exponential_tail(self) -> bool:
        return False

    def _room(self, q: jax.Array, y: jax.Array) -> jax.Array:
        """What each margin lacks, γ_i − q_i."""
        confidence = 1.0 if self.confidence is None else self.confidence
        return jnp.where(jnp.asarray(y) > 0, confidence - q, 1.0 - q)


@dataclass(frozen=True)
class Softmax:
    """Cross-entropy of networks with one output for each class; no function of margins."""

    def __str__(self) -> str:
        return "softmax"


LOSSES: dict[str, Loss | Softmax] = {
    "logistic": Logistic("mean"),
    "logistic:mean": Logistic("mean"),
    "logistic:sum": Logistic("sum"),
    "exponential": Exponential("mean"),
    "exponential:mean": Exponential("mean"),
    "exponential:sum": Exponential("sum"),
    "hinge": Hinge(),
    "softmax": Softmax(),
}


def parse_loss(text: str) -> Loss | Softmax:
    """The loss of a text: one of `LOSSES`, or `hinge:G` with confidence G ≥ 1."""
    if text in LOSSES:
        return LOSSES[text]
    name, _, confidence = text.partition(":")
    if name != "hinge":
        raise BadInput(f"unknown loss '{text}'{near_miss(text, [*LOSSES, 'hinge:G'])}")
    try:
        return Hinge(float(confidence))
    except ValueError:
        raise BadInput(f"loss '{text}': write hinge, or hinge:G with a number G ≥ 1") from None


def softmax_cross_entropy(outputs: jax.Array, labels: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The mean over i of −log softmax(outputs_i)[label_i], and its gradient in the outputs."""
    log_p = jax.nn.log_softmax(outputs, axis=1)
    target = jax.nn.one_hot(labels, outputs.shape[1], dtype=outputs.dtype)
    n = outputs.shape[0]
    return -jnp.sum(target * log_p) / n, (jnp.exp(log_p) - target) / n


_Q, _Q_REST = -0.5413248546129181, 1.8138570925507326e-17
"""Q = −log(e − 1), the margin of logistic loss 1, as a float and what is left of it."""


def _equal_weights(reduction: Reduction, y: jax.Array) -> jax.Array:
    n = jnp.shape(y)[0]
    return jnp.full((n,), 1 / n if reduction == "mean" else 1.0)


def _log_sum(log_L: np.ndarray | float, n: int, reduction: Reduction) -> np.ndarray:
    """The logarithm of the sum of the losses of n examples."""
    return np.asarray(log_L) + (math.log(n) if reduction == "mean" else 0.0)


def _softplus(z: jax.Array) -> jax.Array:
    """log(1 + e^z) without overflow for large z."""
    return jnp.logaddexp(z, 0.0)


def _like(c: jax.Array, q: jax.Array) -> jax.Array:
    """c as numbers of the type of q."""
    return jnp.asarray(c, jnp.asarray(q).dtype)
