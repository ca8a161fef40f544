"""The least ‖g‖ of a node, by an active-set method on orthogonal factors, compiled.

Descent by coordinates (`_relaxation.relax`) works with products of rows, and creeps where columns
of the data have very different sizes. Here g itself and the rows are used: entries of x leave their
bounds one at a time, the one with the steepest slope first, and those that are free are solved for
at once, until one of them meets a bound (Stark and Parker's bounded-variable least squares).
"""

from __future__ import annotations

import math

import numpy as np

from tacit.numerics._relaxation import Room, Sum
from tacit.numerics.compiled import compiled

DEPENDENT = 1e-12
"""A row of which less than this share is across those that are free adds nothing to them."""
FLAT = 1e-13
"""Slopes below this share of ‖g‖ are rounding errors."""


@compiled
def least_norm(F: Sum, x: np.ndarray, room: Room, goal: float) -> None:
    """Make ‖g‖ smaller over 0 ≤ x ≤ top until it is smallest, or at most `goal`; x begins at 0."""
    g, way, top = room.g, room.way, room.top
    K, r = F.rows.shape
    free, many = np.empty(K, np.int64), 0
    barred = np.zeros(K, np.bool_)
    Q, R, step = np.empty((r + 1, r)), np.empty((r + 1, r + 1)), np.empty(r + 1)
    for _ in range(3 * K):
        square = np.dot(g, g)
        if square <= goal * goal:
            break
        # The bound that is left with the steepest slope.
        new, steepest = -1, FLAT * math.sqrt(square)
        for k in range(K):
            if way[k] == 0 or barred[k] or 0.0 < x[k] < top[k] or not F.norms[k] > 0:
                continue
            slope = way[k] * np.dot(F.rows[k], g) / F.norms[k]
            down = -slope if x[k] == 0.0 else slope
            if down > steepest:
                new, steepest = k, down
        if new < 0:
            break
        free[many] = new
        many += 1
        while many > 0:
            # Orthogonal factors of the free rows; twice, since once leaves rounding errors.
            ranked = True
            for i in range(many):
                k = free[i]
                Q[i] = way[k] * F.rows[k]
                R[i, : i + 1] = 0.0
                for _ in range(2):
                    for j in range(i):
                        part = np.dot(Q[j], Q[i])
                        R[i, j] += part
                        Q[i] -= part * Q[j]
                R[i, i] = math.sqrt(np.dot(Q[i], Q[i]))
                if not R[i, i] > DEPENDENT * F.norms[k]:
                    ranked = False
                    break
                Q[i] /= R[i, i]
            if not ranked or many > r:
                # The newest row follows from the others: it stays where it is.
                many -= 1
                barred[free[many]] = True
                break
            for i in range(many - 1, -1, -1):
                step[i] = -np.dot(Q[i], g)
                for j in range(i + 1, many):
                    step[i] -= R[j, i] * step[j]
                step[i] /= R[i, i]
            length, first = 1.0, -1
            for i in range(many):
                k = free[i]
                reach = math.inf
                if step[i] < 0:
                    reach = -x[k] / step[i]
                elif step[i] > 0:
                    reach = (top[k] - x[k]) / step[i]
                if reach < length:
                    length, first = reach, i
            for i in range(many):
                k = free[i]
                before = x[k]
                x[k] = min(max(before + length * step[i], 0.0), top[k])
                if i == first:
                    x[k] = 0.0 if step[i] < 0 else top[k]
                g += way[k] * (x[k] - before) * F.rows[k]
            if first < 0:
                break
            kept = 0
            for i in range(many):
                if 0.0 < x[free[i]] < top[free[i]]:
                    free[kept] = free[i]
                    kept += 1
            many = kept
