"""Rows of a program that nearly cancel, since points with different labels are close together.

With unit vectors x_i, x_h at a distance of ε and different labels the rows x_i·v and −x_h·v add up
to about ε: a solver that knows each of them to 1e-13 knows the sum to 1e-13/ε, and has no digits
left for the margin, which is about ε too. Here one point h of a cluster stands for all of it: its
value is a variable of its own in units of ε, x_h·v = ε z, and the others have
x_i·v = ε z + (x_i − x_h)·v, divided by their distance. All numbers are then of size 1.
"""

from dataclasses import dataclass

import numpy as np

CLOSE = 0.03
"""Unit vectors at a smaller distance are close: what is lost further apart, solvers can spare."""


@dataclass(frozen=True, eq=False)
class ClosePoints:
    """A point, those that are close to it (itself too), and how far a different label is."""

    hub: int
    members: np.ndarray
    gap: float
    scale: np.ndarray
    """The distance of each member, at least the gap: the unit of its row."""


def clusters(X: np.ndarray, y: np.ndarray) -> list[ClosePoints]:
    """Clusters of unit rows that have close rows with the other label; no row is in two."""
    first, second = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    # |x − x'|² = 2 − 2x·x' has lost its digits where points are close, so it only selects.
    near = np.argwhere(X[first] @ X[second].T > 1 - CLOSE**2 / 2)
    pairs = np.column_stack([first[near[:, 0]], second[near[:, 1]]])
    apart = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    free = np.ones(len(X), dtype=bool)
    close = []
    for k in np.argsort(apart, kind="stable"):
        hub, other = pairs[k]
        if not (free[hub] and free[other] and apart[k] > 0):
            continue
        distance = np.linalg.norm(X - X[hub], axis=1)
        members = np.flatnonzero(free & (distance < CLOSE))
        free[members] = False
        gap = float(apart[k])
        close.append(ClosePoints(int(hub), members, gap, np.maximum(distance[members], gap)))
    return close
