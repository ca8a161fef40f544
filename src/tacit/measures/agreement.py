"""Agreement of the neurons on the training points: NAR and PAR (sarussi2021 §6)."""

import numpy as np

from tacit.measures.farthest import farthest_pair
from tacit.measures.measure import Snapshot, directions, measure


@measure("nar")
def nar(s: Snapshot) -> float:
    """The largest β of a Neural Agreement Regime (Def. 6.2) the weights are in.

    min over neurons and points of c_i ŵ·x_i, c_i the side of the group's mean; positive exactly
    when neurons of one sign agree on every point.
    """
    return min((_agreement(g, s.data.X, _sides(g, s.data.X)) for g in _groups(s)), default=0.0)


@measure("par")
def par(s: Snapshot) -> float:
    """`nar` for the Perfect Agreement Regime (Def. 6.3): c = y for w neurons, −y for u."""
    y = s.data.y
    ratios = [
        _agreement(g, s.data.X, c * y) for g, c in zip(s.groups, (1, -1), strict=True) if len(g)
    ]
    return min(ratios, default=0.0)


@measure("disagreements")
def disagreements(s: Snapshot) -> float:
    """Most training points on which two neurons of one sign differ (fig. 9c)."""
    most = 0
    for group in _groups(s):
        patterns = np.unique(group @ s.data.X.T > 0, axis=0)
        pair = farthest_pair(patterns.astype(np.float64))
        if pair is None:
            return float("nan")
        most = max(most, int((patterns[pair[0]] != patterns[pair[1]]).sum()))
    return float(most)


@measure("par_ratio_positive")
def par_ratio_positive(s: Snapshot) -> float:
    """Share of w neurons that classify every training point like y (fig. 8)."""
    return _ratio(s.groups[0], s.data.X, s.data.y)


@measure("par_ratio_negative")
def par_ratio_negative(s: Snapshot) -> float:
    """Share of u neurons that classify every training point like −y."""
    return _ratio(s.groups[1], s.data.X, -s.data.y)


@measure("dead_neurons")
def dead_neurons(s: Snapshot) -> float:
    """Neurons that are active on no training point."""
    return float((~(s.W @ s.data.X.T > 0).any(axis=1)).sum())


def _groups(s: Snapshot) -> list[np.ndarray]:
    return [group for group in s.groups if len(group)]


def _sides(group: np.ndarray, X: np.ndarray) -> np.ndarray:
    return np.where(X @ group.mean(axis=0) >= 0, 1, -1)


def _agreement(group: np.ndarray, X: np.ndarray, c: np.ndarray) -> float:
    return float((c * (directions(group) @ X.T)).min())


def _ratio(group: np.ndarray, X: np.ndarray, c: np.ndarray) -> float:
    return float((c * (group @ X.T) > 0).all(axis=1).mean()) if len(group) else float("nan")
