"""How tightly the neurons of one sign stand together (sarussi2021 §5)."""

import numpy as np

from tacit.measures.farthest import farthest_pair
from tacit.measures.measure import Snapshot, directions, measure, norms


@measure("cluster_radius")
def cluster_radius(s: Snapshot) -> float:
    """The largest distance of a neuron from the mean of its sign (r of Thm 5.1 where a is ±v)."""
    return max((float(norms(g - g.mean(axis=0)).max()) for g in s.groups if len(g)), default=0.0)


@measure("cluster_radius_relative")
def cluster_radius_relative(s: Snapshot) -> float:
    """r/‖w̄ − ū‖ of sarussi2021 (6), neurons weighted by |a|: 0 means a linear boundary."""
    normal, r = _linear_part(s)
    length = float(norms(normal))
    return r / length if length > 0 else float("nan")


@measure("cluster_angle")
def cluster_angle(s: Snapshot) -> float:
    """The largest angle between two neurons of one sign (radians); zero neurons have none."""
    largest = 0.0
    for group in s.groups:
        unit = directions(group[group.any(axis=1)])
        if len(unit) < 2:
            continue
        pair = farthest_pair(unit)
        if pair is None:
            return float("nan")
        one, other = unit[pair[0]], unit[pair[1]]
        # An arccos near 1 would show no angle below 1e-8.
        angle = 2 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other))
        largest = max(largest, float(angle))
    return largest


@measure("nonlinear_share")
def nonlinear_share(s: Snapshot) -> float:
    """Share of points outside |(w̄−ū)·x| ≥ 2r‖x‖ of Thm 5.1, neurons weighted by |a|."""
    normal, r = _linear_part(s)
    if not normal.any():
        return float("nan")
    sets = [s.data.X] if s.data.test is None else [s.data.X, s.data.test.X]
    inside = [np.abs(X @ normal) >= 2 * r * norms(X) for X in sets]
    return float(1 - np.concatenate(inside).mean())


def _linear_part(s: Snapshot) -> tuple[np.ndarray, float]:
    """w̄ − ū and r of Thm 5.1, for output weights that need not be ±v.

    f(x) is an average of φ(A w_k·x) − φ(B u_l·x) over pairs, with weights |a_k||a_l| and A, B the
    sums of |a| of each sign. So Thm 5.1 holds for the neurons A w_k and B u_l and their weighted
    means; with ±v these are w_k, u_l and their means, all times the same number. Where one sign
    has no neuron, a zero neuron stands for it.
    """
    normal, r = np.zeros(s.data.d), 0.0
    for sign, group in zip((1, -1), s.groups, strict=True):
        if len(group):
            a = np.abs(s.a[s.a * sign > 0])
            mean = a @ group
            normal += sign * mean
            r = max(r, float(norms(a.sum() * group - mean).max()))
    return normal, r
