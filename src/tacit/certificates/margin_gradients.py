"""The gradients of a two-layer network's margins q_i, as columns of a least-squares problem.

A column is ∂q_i(θ̂) with L(q̂_i − q̂_min) below it, and the target is θ̂ with 0 below. The neurons
that have points on their activation hyperplane choose masks; those of all the others are fixed, and
when the network is wide an orthogonal change of rows leaves n + 1 of theirs, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from tacit.certificates.kkt import inverse, lengths_of, without_rounding
from tacit.messages import count
from tacit.numerics.boxed_nnls import Combination, nonnegative
from tacit.numerics.least_squares import boxed_least_squares
from tacit.numerics.polish import along
from tacit.values import BadInput

ENTRIES = 2**18
"""Pairs of a neuron and a point that are looked at in one go: their arrays stay in the cache."""
UNREDUCED = 2**22
"""Pairs up to which no rows are reduced."""
SPEED = 1e10
"""Floating point operations a second, up to a factor of three; it serves an estimate."""
MOST_CHANGES = 30
"""How often it is changed which masks are held at their bounds; a handful is usual."""
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
        return np.concatenate([self.neurons.W.ravel(), self._target_below])

    @cached_property
    def _target_below(self) -> np.ndarray:
        """The part of the target beside `_below`."""
        one = self.neurons
        return np.concatenate([one.a if one.both else [], self.fixed[:, -1], np.zeros(1)])

    @cached_property
    def _below(self) -> np.ndarray:
        """The part of each column that depends on no mask: ∂q_i/∂a, and L(q̂_i − q̂_min) last."""
        one = self.neurons
        rest = np.column_stack([self.fixed[:, :-1].T, one.L * self.excess])
        return np.hstack([one.y[:, None] * one.phi, rest]) if one.both else rest

    def _lengths(self, points: np.ndarray | slice, masks: np.ndarray) -> np.ndarray:
        above = lengths_of(masks * self.neurons.a) * lengths_of(self.neurons.X[points])
        return np.hypot(above, lengths_of(self._below[points]))

    def best(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A free mask is 1 where that helps, else α."""
        one = self.neurons
        m, d = one.W.shape
        S = one.y[:, None] * one.a * (one.X @ residual[: m * d].reshape(m, d).T)
        masks = np.where(one.free & (S > 0), 1.0, one.slopes)
        values = (masks * S).sum(axis=1) + self._below @ residual[m * d :]
        return masks, values * inverse(self._lengths(slice(None), masks))

    def matrix(self, points: np.ndarray, rays: np.ndarray) -> np.ndarray:
        columns = np.hstack([self.neurons.gradients(points, rays), self._below[points]])
        return (columns * inverse(self._lengths(points, rays))[:, None]).T

    def likely(self, spend: Callable[[float], None]) -> tuple[np.ndarray, np.ndarray]:
        """Points and rays to begin with, where neurons choose masks.

        A neuron whose masks may be any numbers says something along the intersection of its
        hyperplanes alone. What comes out beyond α or 1 is held there, and what is held is freed
        again where that helps, until this changes nothing (a primal-dual active-set method).
        """
        one = self.neurons
        held = np.zeros(
            one.free.shape, dtype=np.int8
        )  # 1 or −1 where a free mask is held at 1 or α
        lam = np.zeros(len(one.X))
        for _ in range(MOST_CHANGES if one.free.any() else 0):
            lam = self._multipliers(held, spend)
            changed = self._changed(lam, held)
            if np.array_equal(changed, held):
                break
            held = changed
        return self._rays_of(lam)

    def _multipliers(self, held: np.ndarray, spend: Callable[[float], None]) -> np.ndarray:
        """λ where masks that are free and not held may be any numbers."""
        one = self.neurons
        between = one.free & (held == 0)
        signed = one.y[:, None] * one.a * np.where(held > 0, 1.0, one.slopes)
        chooses = between.any(axis=0)
        sure = replace(one, free=one.free & ~between).only(~chooses)
        above = (signed[:, ~chooses, None] * one.X[:, None]).reshape(len(one.X), -1)
        parts = [np.column_stack([above.T, sure.W.ravel()])]
        parts.append(np.column_stack([self._below.T, self._target_below]))
        for k in np.flatnonzero(chooses):
            frame = along(one.X[between[:, k]])
            parts.append(frame.T @ np.column_stack([(signed[:, k, None] * one.X).T, one.W[k]]))
        A = np.concatenate(parts)
        spend(3.0 * len(A) * A.shape[1] ** 2)
        inverses = inverse(lengths_of(A[:, :-1].T))
        return nonnegative(A[:, :-1] * inverses, A[:, -1]) * inverses

    def _changed(self, lam: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Which masks are held at 1 or α next."""
        one, changed = self.neurons, held.copy()
        pulls = (lam * one.y)[:, None] * one.X
        slopes = np.where(held > 0, 1.0, one.slopes)
        for k in np.flatnonzero(one.free.any(axis=0)):
            rest = one.W[k] - one.a[k] * (slopes[:, k] @ pulls)
            free = np.flatnonzero(one.free[:, k])
            on = free[(held[free, k] == 0) & (lam[free] > 0)]
            if len(on):
                A = (1 - one.alpha) * one.a[k] * pulls[on].T
                share = np.linalg.lstsq(A, rest)[0]
                changed[on, k] = np.where(share > 1, 1, np.where(share < 0, -1, 0))
                rest = rest - A @ share
            helps = np.sign(one.y[free] * one.a[k] * (one.X[free] @ rest)).astype(np.int8)
            # A point that has no multiplier is asked for one with the masks that help most.
            idle, at = lam[free] == 0, (lam[free] > 0) & (held[free, k] != 0)
            changed[free[idle], k] = np.where(helps[idle] > 0, 1, -1)
            changed[free[at], k] = np.where(helps[at] == -held[free[at], k], 0, held[free[at], k])
        return changed

    def _rays_of(self, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of every point with λ_i > 0 the ray whose masks leave least of each neuron."""
        one, points = self.neurons, np.flatnonzero(lam)
        rays, pulls = one.slopes.copy(), (lam * one.y)[:, None] * one.X
        for k in np.flatnonzero(one.free[points].any(axis=0)):
            on = points[one.free[points, k]]
            rest = one.W[k] - one.a[k] * (one.slopes[:, k] @ pulls)
            between = _in_box(one.a[k] * (1 - one.alpha) * pulls[on].T, rest)
            rays[on, k] += (1 - one.alpha) * between
        return points, rays[points]

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


def _in_box(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x between 0 and 1 that makes ‖Ax − b‖ smallest."""
    x = np.linalg.lstsq(A, b)[0]
    return x if (x >= 0).all() and (x <= 1).all() else boxed_least_squares(A, b, 0.0, 1.0)
