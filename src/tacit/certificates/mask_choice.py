"""Masks on activation hyperplanes that lie between α and 1, by an active-set method.

The rays of `boxed_nnls` have every mask at α or 1, and a point whose masks are in between is a sum
of many of them. Where neurons lie on thousands of hyperplanes it is quicker to ask which masks are
at their bounds: what is left is least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tacit.certificates.kkt import inverse, lengths_of
from tacit.certificates.margin_gradients import MarginGradients, NeuronBlock
from tacit.numerics.boxed_nnls import nonnegative
from tacit.numerics.least_squares import boxed_least_squares
from tacit.numerics.polish import along

MOST_CHANGES = 30
"""How often it is changed which masks are held at their bounds; a handful is usual."""
MOST_ENTRIES = 5 * 10**7
"""Entries of a matrix with a column for every point: some seconds for a factorisation."""


def likely_rays(
    columns: MarginGradients, spend: Callable[[float], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Points, and a ray for each, with masks that are about right; none where it would take much.

    A neuron whose masks may be any numbers says something along the intersection of its
    hyperplanes alone. What comes out beyond α or 1 is held there, and what is held is freed
    again where that helps, until this changes nothing (a primal-dual active-set method).
    """
    one = columns.neurons
    held = np.zeros(one.free.shape, dtype=np.int8)  # 1 or −1 where a free mask is held at 1 or α
    lam = np.zeros(len(one.X))
    possible = one.free.any() and len(one.X) * len(columns.target) <= MOST_ENTRIES
    for _ in range(MOST_CHANGES if possible else 0):
        lam = _multipliers(columns, held, spend)
        changed = _changed(one, lam, held)
        if np.array_equal(changed, held):
            break
        held = changed
    return _rays_of(one, lam)


def _multipliers(
    columns: MarginGradients, held: np.ndarray, spend: Callable[[float], None]
) -> np.ndarray:
    """λ where masks that are free and not held may be any numbers."""
    one = columns.neurons
    between = one.free & (held == 0)
    signed = one.y[:, None] * one.a * np.where(held > 0, 1.0, one.slopes)
    chooses = between.any(axis=0)
    sure = replace(one, free=one.free & ~between).only(~chooses)
    above = (signed[:, ~chooses, None] * one.X[:, None]).reshape(len(one.X), -1)
    parts = [np.column_stack([above.T, sure.W.ravel()])]
    parts.append(np.column_stack([columns.below.T, columns.target_below]))
    for k in np.flatnonzero(chooses):
        frame = along(one.X[between[:, k]])
        parts.append(frame.T @ np.column_stack([(signed[:, k, None] * one.X).T, one.W[k]]))
    A = np.concatenate(parts)
    spend(3.0 * len(A) * A.shape[1] ** 2)
    inverses = inverse(lengths_of(A[:, :-1].T))
    return nonnegative(A[:, :-1] * inverses, A[:, -1]) * inverses


def _changed(one: NeuronBlock, lam: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Which masks are held at 1 or α next."""
    changed = held.copy()
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


def _rays_of(one: NeuronBlock, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every point with λ_i > 0 the ray whose masks leave least of each neuron."""
    points = np.flatnonzero(lam)
    rays, pulls = one.slopes.copy(), (lam * one.y)[:, None] * one.X
    for k in np.flatnonzero(one.free[points].any(axis=0)):
        on = points[one.free[points, k]]
        rest = one.W[k] - one.a[k] * (one.slopes[:, k] @ pulls)
        between = _in_box(one.a[k] * (1 - one.alpha) * pulls[on].T, rest)
        rays[on, k] += (1 - one.alpha) * between
    return points, rays[points]


def _in_box(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x between 0 and 1 that makes ‖Ax − b‖ smallest."""
    x = np.linalg.lstsq(A, b)[0]
    return x if (x >= 0).all() and (x <= 1).all() else boxed_least_squares(A, b, 0.0, 1.0)
