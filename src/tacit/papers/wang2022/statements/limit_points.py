"""The limit of a run in the max-margin problem (13): its margin, KKT masks and living neurons."""

import numpy as np

from tacit.certificates.kkt import KKT
from tacit.certificates.kkt_two_layer import two_layer_kkt
from tacit.papers.wang2022.statements.hypotheses import network_checks
from tacit.papers.wang2022.statements.sign_vectors import ON_HYPERPLANE
from tacit.theorems import Case, Observation, PathPoint
from tacit.theorems.asking import seconds_left
from tacit.theorems.hypotheses import needs_a_run, two_classes, undecided
from tacit.values import Check, Dataset, Network

NEGLIGIBLE = 1e-6
"""Neurons with a smaller share of Σ|a_k|‖w_k‖ have died out."""
WITHOUT_LIMIT = ("undecided", "branched")
"""Outcomes of runs that do not say where the flow ends."""


def ended_at(network: Network) -> Observation:
    """A run made by hand that has this limit."""
    return Observation((PathPoint(0.0, 0.0, network),), network)


def margin_of(network: Network, data: Dataset) -> float:
    """q_min/‖θ‖²; 0 for the network 0."""
    return network.margin(data.X, data.y) if network.norm > 0 else 0.0


def kkt_of(network: Network, data: Dataset) -> KKT:
    """The KKT certificate of the network."""
    return two_layer_kkt(data, network, boundary=ON_HYPERPLANE, seconds=seconds_left())


def masks_of(network: Network, data: Dataset, kkt: KKT) -> np.ndarray:
    """D̂_k of Proposition 3, one row for every neuron."""
    D = (network.W @ data.X.T > 0).astype(float)
    for (k, n), mask in kkt.masks.items():
        D[k, n] = mask
    return D


def living_neurons(network: Network) -> np.ndarray:
    """The numbers of the neurons that have not died out."""
    weights = network.weights
    return np.flatnonzero(weights > NEGLIGIBLE * weights.sum())


def why_no_limit(case: Case, run: Observation | None, name: str, place: str) -> Check | None:
    """None when the run has a limit that the problem (13) is about; else why `name` is open."""
    if run is None or not run.path:
        return needs_a_run(name, place)
    for check in (two_classes(case, place), *network_checks(case, place)):
        if not check.holds:
            return undecided(name, place, f"not evaluated: {check.name} fails")
    return None
