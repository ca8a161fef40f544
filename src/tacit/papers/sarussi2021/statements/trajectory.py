"""Hypotheses of §6 about the trajectory: the late phase of training, and agreement of neurons."""

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

import numpy as np

from tacit.measures.agreement import nar
from tacit.measures.measure import Snapshot
from tacit.models import TwoLayer
from tacit.models.losses import Logistic
from tacit.papers.sarussi2021.statements.hypotheses import data_checks, network_checks
from tacit.theorems import Case, Observation, PathPoint
from tacit.theorems.hypotheses import by_slack, flow, logistic, needs_a_run
from tacit.values import Check, Network

LATE = math.log(math.log(2))
"""The log of the sum of the losses from which on every point is on its side."""


def flow_checks(case: Case) -> tuple[Check, ...]:
    """What §6 asks of data and setting."""
    rules = logistic(case, "§3"), flow(case, "§6")
    return (*network_checks(case), *rules, *data_checks(case))


def late_phase(run: Observation | None) -> Check:
    """Assumption 6.1, with (ln 2)/n: some time, the sum of the losses is below ln 2."""
    name, place = "late_phase", "Assumption 6.1"
    if run is None or not run.path:
        return needs_a_run(name, place)
    lowest = min(moment.log_loss for moment in run.path)
    note = f"Σ ℓ falls to e^{lowest:.4g}; it must fall below ln 2"
    return by_slack(name, LATE - lowest, place, note, strict=True)


def ends(run: Observation | None) -> TypeGuard[Observation]:
    """Whether the run tells where it leads; one that was cut off does not."""
    return run is not None and bool(run.path) and run.settled


class Agreement(NamedTuple):
    """The NAR (Definition 6.2) that a run ends in."""

    beta: float
    """Its β at the end, not positive where there is none: from some time on, W_t is in the NAR of
    every smaller β."""
    since: float
    """The first moment from which on all neurons agree as they do in the end; inf if never."""


def agreement(case: Case, run: Observation) -> Agreement:
    """Look at the end, and follow the run backwards while the neurons agree as they do there."""
    sides, beta, since = _sides(case, run.end), _beta(case, run.end), math.inf
    for moment in _late_moments(run):
        now = _beta(case, moment.network)
        if now <= 0 or (_sides(case, moment.network) != sides).any():
            break
        since = moment.time
    return Agreement(beta if since < math.inf else min(beta, 0.0), since)


def agree(case: Case, run: Observation | None, place: str) -> Check:
    """From some T_NAR ≥ t₀ on, all neurons of one sign are on one side of every point."""
    if run is None or not run.path:
        return needs_a_run("agreement", place)
    beta, since = agreement(case, run)
    note = f"NAR with β = {beta:.3g} (in the unit of the data), from log t = {since:.4g} on"
    if beta <= 0:
        note = "in the end, neurons of one sign are on different sides of a point"
    return by_slack("agreement", beta, place, note, strict=True)


def _late_moments(run: Observation) -> Iterator[PathPoint]:
    """The moments from the last one back to t₀."""
    for moment in reversed(run.path):
        if moment.log_loss >= LATE:
            return
        yield moment


def _sides(case: Case, network: Network) -> np.ndarray:
    """(c^w, c^u): the sides of the two means."""
    means = [network.W[network.a * sign > 0].sum(axis=0) for sign in (1, -1)]
    return np.where(case.data.X @ np.array(means).T >= 0, 1, -1)


def _beta(case: Case, network: Network) -> float:
    """β of the NAR the weights are in; not positive when they are in none."""
    model = TwoLayer(case.alpha, "first")
    return nar(Snapshot(model, Logistic(), {"W": network.W, "a": network.a}, case.data))
