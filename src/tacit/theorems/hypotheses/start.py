"""Hypotheses about the initial weights."""

import math

import numpy as np

from tacit.models.initialisations import Balanced, BalancedGaussian, Gaussian, Pair
from tacit.theorems.case import Case
from tacit.theorems.hypotheses.checks import by_slack, undecided, unquantified, yes_or_no
from tacit.values import Check, Network

SMALL, LARGE = 1e-2, 1.0
"""How "sufficiently small" initial weights are read: ‖θ_k‖ max‖x_i‖ up to the first number counts
as small and from the second on as not; in between nothing is decided."""
BALANCED = 1e-12
"""Rounding errors in ‖w_k‖ − |a_k|, relative to the largest ‖w_k‖."""


def balanced(case: Case, place: str) -> Check:
    """‖w_k‖ = |a_k| at the start."""
    if case.start is not None:
        sizes = np.linalg.norm(case.start.W, axis=1)
        off = float(np.abs(sizes - np.abs(case.start.a)).max() / max(sizes.max(), 1e-300))
        note = f"‖w_k‖ and |a_k| differ by {off:.1e} of the largest at most"
        return by_slack("balanced", BALANCED - off, place, note)
    init = case.setting.initialisation
    holds = isinstance(init, Balanced | BalancedGaussian)
    return yes_or_no("balanced", holds, place, f"the initialisation is {init}")


@unquantified
def small_start(case: Case, place: str) -> Check:
    """The initial weights are "sufficiently small"; how small that is, is our reading."""
    longest = float(np.linalg.norm(case.data.X, axis=1).max())
    init = case.setting.initialisation
    if case.start is not None:
        size = float(neuron_sizes(case.start).max()) * longest
    elif isinstance(init, Balanced):
        size = init.norm * longest
    elif isinstance(init, Gaussian | BalancedGaussian | Pair):
        size = init.sigma * math.sqrt(case.data.d) * longest
    else:
        return undecided("small_start", place, f"the size of '{init}' is not known")
    note = (
        f'‖θ_k‖ max‖x_i‖ is {size:.1e}; the theorem says "sufficiently small", which we read as '
        f"at most {SMALL:g}"
    )
    holds = True if size <= SMALL else False if size >= LARGE else None
    return Check("small_start", holds, SMALL - size, place, note)


def both_signs(case: Case, place: str) -> Check:
    """Some a_k > 0 and some a_k < 0 at the start."""
    if case.start is None:
        return undecided("both_signs", place, "the initial weights have not been drawn")
    fewest = int(min((case.start.a > 0).sum(), (case.start.a < 0).sum()))
    return by_slack("both_signs", fewest - 1, place, f"{fewest} neurons of the rarer sign")


def neuron_sizes(network: Network) -> np.ndarray:
    """‖(w_k, a_k)‖ of every neuron."""
    return np.hypot(np.linalg.norm(network.W, axis=1), network.a)
