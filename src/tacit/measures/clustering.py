"""How tightly the neurons of one sign stand together (sarussi2021 §5)."""

from __future__ import annotations

import numpy as np

from tacit.measures.base import NotDefined, Snapshot, measure


@measure("cluster_radius")
def cluster_radius(s: Snapshot) -> float:
    """r of Thm 5.1: the largest distance of a neuron from the mean of its sign."""
    return max(float(np.linalg.norm(g - g.mean(axis=0), axis=1).max()) for g in _both(s))


@measure("cluster_radius_relative")
def cluster_radius_relative(s: Snapshot) -> float:
    """r/‖w̄ − ū‖: 0 means a linear decision boundary (sarussi2021 (6))."""
    gap = np.linalg.norm(_normal(s))
    return cluster_radius(s) / float(gap) if gap > 0 else float("nan")


@measure("cluster_angle")
def cluster_angle(s: Snapshot) -> float:
    """The largest angle between two neurons of one sign (radians); zero neurons have none."""
    largest = 0.0
    for group in _both(s):
        norms = np.linalg.norm(group, axis=1)
        unit = group[norms > 0] / norms[norms > 0, None]
        if len(unit) < 2:
            continue
        cosines = unit @ unit.T
        i, j = np.unravel_index(cosines.argmin(), cosines.shape)
        apart, together = np.linalg.norm(unit[i] - unit[j]), np.linalg.norm(unit[i] + unit[j])
        largest = max(largest, float(2 * np.arctan2(apart, together)))
    return largest


@measure("nonlinear_share")
def nonlinear_share(s: Snapshot) -> float:
    """Share of training and test points outside the region |(w̄−ū)·x| ≥ 2r‖x‖ of Thm 5.1."""
    X = s.data.X if s.data.test is None else np.vstack([s.data.X, s.data.test.X])
    inside = np.abs(X @ _normal(s)) >= 2 * cluster_radius(s) * np.linalg.norm(X, axis=1)
    return float(1 - inside.mean())


def _both(s: Snapshot) -> tuple[np.ndarray, np.ndarray]:
    plus, minus = s.groups
    if len(plus) == 0 or len(minus) == 0:
        raise NotDefined("all output weights have one sign")
    return plus, minus


def _normal(s: Snapshot) -> np.ndarray:
    """w̄ − ū, the normal of the linear boundary of Thm 5.1."""
    plus, minus = _both(s)
    return plus.mean(axis=0) - minus.mean(axis=0)
