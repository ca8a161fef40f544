"""The network with the widest margin: the optimum of (7), and whether there is one."""

from functools import lru_cache

from tacit.certificates import Optimum, optimum
from tacit.numerics.infeasible import no_network_fits
from tacit.papers.wang2022.statements.outputs import binary_problems
from tacit.theorems import Case
from tacit.theorems.hypotheses import yes_or_no
from tacit.values import Check, Dataset, Network

SECONDS = 1.0
"""For the convex program, of all classes together; after that there are bounds."""
MOST_ENTRIES = 1500
"""Entries of X, times the number of classes, up to which it is tried at all."""


@lru_cache(maxsize=16)
def optimum_of(data: Dataset) -> Optimum | None:
    """The optimum of (7), with its proof; None for data on which that may take long."""
    count = len(binary_problems(data))
    if data.X.size * count > MOST_ENTRIES:
        return None
    return optimum(data, seconds=SECONDS / count)


def best_network(data: Dataset) -> Network:
    """The optimum of a binary problem, balanced, with the smallest margin 1."""
    best = optimum_of(data)
    assert best is not None, "the data is too large"
    return best.network


def network_fits(case: Case, place: str) -> Check:
    """Some network gives every point its label: else the problem has no feasible point."""
    for data in binary_problems(case.data):
        proof = no_network_fits(data.X, data.y, 0.0)
        if proof is not None:
            rows = ", ".join(str(row) for row in sorted(proof)[:5])
            return yes_or_no("network_fits", False, place, f"already rows {rows} forbid it")
    return yes_or_no("network_fits", True, place)
