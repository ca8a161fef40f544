"""What the theorems of sarussi2021 share: the network (1), its clusters, and linear boundaries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.theorems.shared_hypotheses import (
    by_slack,
    first_layer,
    leaky,
    of_the_path,
    two_classes,
    two_layer,
)
from tacit.theorems.theorem import Case, Network, Run
from tacit.values import Check

KEY = "sarussi2021"
MOST_PLANES = 200
MOST_ENTRIES = 4e7
"""Of all neurons at all candidates: planes beyond these are left out."""


def network_checks(case: Case) -> tuple[Check, ...]:
    """The network (1): Leaky ReLU, k units with output +v and k with −v that stay as they are."""
    place = "§3"
    return two_layer(case, place), leaky(case, place), first_layer(case, place), halves(case, place)


def data_checks(case: Case) -> tuple[Check, ...]:
    return two_classes(case, "§3"), case.data_check("linearly_separable", "§3")


def halves(case: Case, place: str) -> Check:
    """As many output weights +v as −v, and all of the same size."""
    if case.start is None:
        odd = case.setting.width % 2
        return by_slack("halves", -float(odd), place, f"{case.setting.width} neurons")
    a = case.start.a
    v, difference = np.abs(a).max(), abs(int((a > 0).sum()) - int((a < 0).sum()))
    off = float(np.abs(np.abs(a) / (v or 1.0) - 1).max())
    note = f"counts differ by {difference}, sizes by up to {off:.1g} of the largest"
    return Check("halves", bool(difference == 0 and off <= 1e-12), -(difference + off), place, note)


def units(case: Case) -> tuple[int, float]:
    """k and v."""
    if case.start is None:
        return case.setting.width // 2, case.setting.output_weight
    return len(case.start.a) // 2, float(np.abs(case.start.a).max())


def has_weights(case: Case, run: Run | None, place: str) -> Check:
    """There is a network to speak of."""
    network = weights_of(case, run)
    if network is None:
        return of_the_path("weights", place)
    return by_slack("weights", 0.0, place, f"{len(network.a)} neurons")


def weights_of(case: Case, run: Run | None) -> Network | None:
    """Those at the end of the run; without a run, the initial ones."""
    return run.end if run is not None and run.moments else case.start


def outputs(network: Network, X: np.ndarray, alpha: float) -> np.ndarray:
    """N_W(x) for every row."""
    Z = X @ network.W.T
    return np.maximum(Z, alpha * Z) @ network.a  # (1)


class Clusters(NamedTuple):
    """The neurons of each sign around their mean."""

    w: np.ndarray
    """w̄."""
    u: np.ndarray
    """ū."""
    radius: float
    """r, the largest distance of a neuron from its own mean."""

    @property
    def normal(self) -> np.ndarray:
        """w̄ − ū."""
        return self.w - self.u

    @property
    def relative(self) -> float:
        """r/‖w̄ − ū‖; NaN when both are 0."""
        gap = float(np.linalg.norm(self.normal))
        return self.radius / gap if gap > 0 else (np.inf if self.radius > 0 else np.nan)


def clusters(network: Network) -> Clusters:
    """w̄, ū and r of §5; a sign without neurons counts as one zero neuron."""
    groups = [network.W[network.a * sign > 0] for sign in (1, -1)]
    means = [g.mean(axis=0) if len(g) else np.zeros(network.W.shape[1]) for g in groups]
    far = [np.linalg.norm(g - mean, axis=1) for g, mean in zip(groups, means, strict=True)]
    return Clusters(means[0], means[1], float(max(d.max(initial=0.0) for d in far)))


def wrong_side(network: Network, X: np.ndarray, alpha: float, cosine: float) -> float:
    """How far N_W is on the wrong side of the linear classifier w̄ − ū, relative to Σ|a_k|‖w_k‖.

    Looks at directions whose cosine with ±(w̄ − ū) is at least `cosine`, on the planes through
    w̄ − ū and a row of X. There nothing is missed: on a plane N_W is a sinusoid between the
    directions where a neuron is 0, these arcs are shorter than π, so the sign of N_W is wrong
    somewhere iff it is wrong at one of these directions or at an end of the region. An output of
    0 is wrong except on the boundary; with `cosine` 0 it must be 0 there.
    """
    normal = clusters(network).normal
    size = float(np.abs(network.a) @ np.linalg.norm(network.W, axis=1))
    length = float(np.linalg.norm(normal))
    if length == 0 or size == 0:
        return 0.0
    along = normal / length
    p = network.W @ along
    worst = 0.0
    edges = np.array([0.0, np.pi])
    if cosine <= 1:
        edge = np.arccos(cosine)
        edges = np.array([0.0, np.pi, edge, -edge, np.pi - edge, np.pi + edge])
    for across in _across(X, along, len(p)):
        q = network.W @ across
        turns = np.arctan2(-p, q)  # p cos θ + q sin θ = 0
        angles = np.concatenate([turns, turns + np.pi, edges])
        inside = np.abs(np.cos(angles)) >= cosine - 1e-12
        c, s = np.cos(angles[inside]), np.sin(angles[inside])
        N = _output(c, s, p, q, network.a, alpha)
        on_the_line = np.abs(c) <= 1e-12
        wrong = np.where(on_the_line, np.abs(N), -np.sign(c) * N) / size
        silent = ~on_the_line & (np.abs(N) <= 1e-14 * size)
        worst = max(worst, float(np.where(silent, np.abs(c), wrong).max(initial=0.0)))
    return worst


def _output(
    c: np.ndarray, s: np.ndarray, p: np.ndarray, q: np.ndarray, a: np.ndarray, alpha: float
) -> np.ndarray:
    Z = np.outer(c, p) + np.outer(s, q)
    return np.maximum(Z, alpha * Z) @ a


def _across(X: np.ndarray, along: np.ndarray, neurons: int) -> np.ndarray:
    """Unit vectors perpendicular to `along`, one for each row; one zero vector if there is none."""
    most = max(1, min(MOST_PLANES, int(MOST_ENTRIES / (2 * neurons**2))))
    X = X[np.linspace(0, len(X) - 1, min(len(X), most)).astype(int)]
    across = X - np.outer(X @ along, along)
    across -= np.outer(across @ along, along)
    sizes = np.linalg.norm(across, axis=1)
    chosen = sizes > 1e-9 * np.linalg.norm(X, axis=1)
    if not chosen.any():
        return np.zeros((1, X.shape[1]))
    return across[chosen] / sizes[chosen, None]
