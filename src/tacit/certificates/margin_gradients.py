"""The gradients of a two-layer network's margins q_i, as columns of a least-squares problem.

A column is ∂q_i(θ̂) with L(q̂_i − q̂_min) below it, and the target is θ̂ with 0 below. The neurons
that have points on their activation hyperplane choose masks; those of all the others are fixed, and
when the network is wide an orthogonal change of rows leaves n + 1 of theirs, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from tacit.certificates.kkt import inverse, lengths_of, without_rounding
from tacit.messages import count
from tacit.numerics.boxed_nnls import Combination
from tacit.values import BadInput

ENTRIES = 2**18
"""Pairs of a neuron and a point that are looked at in one go: their arrays stay in the cache."""
UNREDUCED = 2**22
"""Pairs up to which no rows are reduced."""
SPEED = 1e10
"""Floating point operations a second, up to a factor of three; it serves an estimate."""
ALWAYS = 1.0
"""Estimated seconds that the KKT conditions may take even where less is left."""


def blocks(m: int, n: int) -> Iterator[slice]:
    """The numbers below m, so many at a time that arrays with n entries for each are small."""
    size = max(ENTRIES // n, 1)
    return (slice(start, start + size) for start in range(0, m, size))


@dataclass(frozen=True, eq=False)
class NeuronBlock:
    """Neurons of θ̂, all or some of them, and the points divided by powers of two."""

    W: np.ndarray
    a: np.ndarray
    X: np.ndarray
    y: np.ndarray
    alpha: float
    both: bool
    free: np.ndarray
    """n × m: pairs whose mask is free."""

    @property
    def L(self) -> int:
        return 2 if self.both else 1

    def blocks(self) -> Iterator[tuple[slice, NeuronBlock]]:
        """The neurons, so many at a time that n × m arrays of them are small."""
        for part in blocks(len(self.a), len(self.X)):
            yield part, self.only(part)

    def only(self, these: np.ndarray | slice) -> NeuronBlock:
        """The block of these neurons alone."""
        return replace(self, W=self.W[these], a=self.a[these], free=self.free[:, these])

    @cached_property
    def Z(self) -> np.ndarray:
        """w_k·x_i, and 0 where it is nothing but rounding, which a large λ_i would enlarge."""
        return without_rounding(self.X @ self.W.T, (self.X.shape[1] + 2) * self._sizes)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """‖w_k‖‖x_i‖, what the rounding of w_k·x_i is relative to."""
        return lengths_of(self.X)[:, None] * lengths_of(self.W)

    @cached_property
    def slopes(self) -> np.ndarray:
        """n × m: φ' where it is fixed, α where it is free."""
        return np.where((self.Z > 0) & ~self.free, 1.0, self.alpha)

    @cached_property
    def phi(self) -> np.ndarray:
        return np.maximum(self.Z, self.alpha * self.Z)

    def margins(self) -> np.ndarray:
        """q̂_i in the unit of point i, and 0 where it is nothing but rounding."""
        q, size = np.zeros((2, len(self.X)))
        for _, part in self.blocks():
            q += part.phi @ part.a
            slopes = np.where(part.Z > 0, 1.0, np.where(part.Z < 0, self.alpha, 0.0))
            size += (slopes * part._sizes) @ np.abs(part.a)
        return without_rounding(self.y * q, (sum(self.W.shape) + 4) * size)

    def gradients(self, points: np.ndarray | slice, masks: np.ndarray) -> np.ndarray:
        """∂q_i/∂W of these points, in rows."""
        above = (self.y[points, None] * masks * self.a)[:, :, None] * self.X[points, None, :]
        return above.reshape(len(masks), self.W.size)

    def rows(self) -> np.ndarray:
        """What these neurons, none of them free, have in all columns and, last, in the target."""
        parts = [np.column_stack([self.gradients(slice(None), self.slopes).T, self.W.ravel()])]
        if self.both:
            parts.append(np.column_stack([(self.y[:, None] * self.phi).T, self.a]))
        return np.concatenate(parts)


class TooLong(BadInput):
    """The KKT conditions would take longer than they may."""


class Allowance:
    """What the KKT conditions may cost: some seconds from now, and at least what ALWAYS allows.

    Below that nothing depends on a clock. Work is announced in operations, piece by piece.
    """

    def __init__(self, m: int, n: int, seconds: float) -> None:
        self.what = f"the KKT conditions of {count(m, 'neuron')} on {count(n, 'point')}"
        self.seconds, self.until = seconds, perf_counter() + seconds
        self.spent = 0.0

    def take(self, operations: float) -> None:
        """TooLong when so many operations would end too late."""
        self.spent += operations / SPEED
        if self.spent > ALWAYS and perf_counter() + operations / SPEED > self.until:
            about = max(self.spent, self.seconds)
            raise TooLong(
                f"{self.what} take about {about:.0f} s or more, and {self.seconds:.1f} s are left; "
                "allow more"
            )


def reduced(neurons: NeuronBlock, allowance: Allowance) -> np.ndarray:
    """At most n + 1 rows that have the same lengths and angles as those of all these neurons.

    TooLong when that takes longer than it may.
    """
    (n, d), m = neurons.X.shape, len(neurons.a)
    # Every block is factored together with the n + 1 rows that are left of all before it.
    rows = m * (d + 1) + len([*blocks(m, n)]) * (n + 1) * 2 / 3
    allowance.take(2.0 * rows * (n + 1) ** 2)
    R: Any = np.zeros((0, n + 1))
    for _, part in neurons.blocks():
        # Block after block, since all rows together would not fit into memory.
        R = np.linalg.qr(np.concatenate([R, part.rows()]), mode="r")
    return R


@dataclass(frozen=True, eq=False)
class MarginGradients:
    """The columns; those of `neurons` with their masks, and below them rows without."""

    neurons: NeuronBlock
    excess: np.ndarray
    """q̂_i − q̂_min in the unit of point i."""
    fixed: np.ndarray
    """r × (n + 1): the rows of neurons whose masks are fixed, the target last."""

    @cached_property
    def target(self) -> np.ndarray:
        return np.concatenate([self.neurons.W.ravel(), self.target_below])

    @cached_property
    def target_below(self) -> np.ndarray:
        """The part of the target beside `below`."""
        one = self.neurons
        return np.concatenate([one.a if one.both else [], self.fixed[:, -1], np.zeros(1)])

    @cached_property
    def below(self) -> np.ndarray:
        """The part of each column that depends on no mask: ∂q_i/∂a, and L(q̂_i − q̂_min) last."""
        one = self.neurons
        rest = np.column_stack([self.fixed[:, :-1].T, one.L * self.excess])
        return np.hstack([one.y[:, None] * one.phi, rest]) if one.both else rest

    def _lengths(self, points: np.ndarray | slice, masks: np.ndarray) -> np.ndarray:
        above = lengths_of(masks * self.neurons.a) * lengths_of(self.neurons.X[points])
        return np.hypot(above, lengths_of(self.below[points]))

    def best(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A free mask is 1 where that helps, else α."""
        one = self.neurons
        m, d = one.W.shape
        S = one.y[:, None] * one.a * (one.X @ residual[: m * d].reshape(m, d).T)
        masks = np.where(one.free & (S > 0), 1.0, one.slopes)
        values = (masks * S).sum(axis=1) + self.below @ residual[m * d :]
        return masks, values * inverse(self._lengths(slice(None), masks))

    def matrix(self, points: np.ndarray, rays: np.ndarray) -> np.ndarray:
        columns = np.hstack([self.neurons.gradients(points, rays), self.below[points]])
        return (columns * inverse(self._lengths(points, rays))[:, None]).T

    def multipliers_and_masks(self, combination: Combination) -> tuple[np.ndarray, np.ndarray]:
        """λ, and the mask of every pair: the mean of its rays' masks, by weight."""
        weights = combination.weights * inverse(self._lengths(combination.points, combination.rays))
        slopes = self.neurons.slopes
        lam, H = np.zeros(len(slopes)), np.zeros(slopes.shape)
        np.add.at(lam, combination.points, weights)
        np.add.at(H, combination.points, weights[:, None] * combination.rays)
        H = np.divide(H, lam[:, None], out=slopes.copy(), where=(lam > 0)[:, None])
        # A mean of masks in [α, 1] may leave the interval by a rounding error.
        return lam, np.clip(H, self.neurons.alpha, 1.0)
