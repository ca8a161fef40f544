"""The hypotheses that the theorems share: the network (1), separable data, known weights."""

import numpy as np

from tacit.theorems import Case, Observation
from tacit.theorems.hypotheses.checks import by_slack, needs_a_run
from tacit.theorems.hypotheses.setting import first_layer, leaky, two_classes, two_layer
from tacit.values import Check, Network


def network_checks(case: Case) -> tuple[Check, ...]:
    """The network (1): Leaky ReLU, k units with output +v and k with −v that stay as they are."""
    place = "§3"
    return two_layer(case, place), leaky(case, place), first_layer(case, place), halves(case, place)


def data_checks(case: Case) -> tuple[Check, ...]:
    """Two classes that are linearly separable."""
    return two_classes(case, "§3"), case.data_check("linearly_separable", "§3")


def halves(case: Case, place: str) -> Check:
    """There are as many output weights +v as −v, and all have the same size."""
    if case.start is None:
        odd = case.setting.width % 2
        return by_slack("halves", -float(odd), place, f"{case.setting.width} neurons")
    a = case.start.a
    v, difference = np.abs(a).max(), abs(int((a > 0).sum()) - int((a < 0).sum()))
    off = float(np.abs(np.abs(a) / (v or 1.0) - 1).max())
    note = f"counts differ by {difference}, sizes by up to {off:.1g} of the largest"
    same = off <= 1e-12  # a file of weights may have rounded the sizes
    return Check("halves", difference == 0 and same, -(difference + off), place, note)


def units(case: Case) -> tuple[int, float]:
    """k, the number of neurons of each sign, and v, the size of their output weights."""
    if case.start is None:
        return case.setting.width // 2, case.setting.output_weight
    return len(case.start.a) // 2, float(np.abs(case.start.a).max())


def has_weights(case: Case, run: Observation | None, place: str) -> Check:
    """The weights are known, at the end of a run or at least at its start."""
    network = weights_of(case, run)
    if network is None:
        return needs_a_run("weights", place)
    return by_slack("weights", 0.0, place, f"{len(network.a)} neurons")


def weights_of(case: Case, run: Observation | None) -> Network | None:
    """The weights at the end of the run; without a run, the initial ones."""
    return run.end if run is not None and run.path else case.start
