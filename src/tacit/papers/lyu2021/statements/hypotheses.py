"""The hypotheses that several theorems share: network, data, flow, start, KKT direction."""

from dataclasses import replace

from tacit.certificates import two_layer_kkt
from tacit.models.initialisations import Gaussian, Pair
from tacit.theorems import Case, Observation
from tacit.theorems.hypotheses import (
    both_layers,
    by_slack,
    flow,
    leaky,
    logistic,
    needs_a_run,
    two_classes,
    two_layer,
    undecided,
    yes_or_no,
)
from tacit.values import BadInput, Check

KKT = 1e-6
"""Residuals of the KKT conditions up to this are those of a KKT point."""


def started(case: Case, run: Observation | None) -> Case:
    """The case with its initial weights, where the run knows them."""
    if case.start is None and run is not None and run.path:
        return replace(case, start=run.start)
    return case


def network_checks(case: Case) -> tuple[Check, ...]:
    """A two-layer Leaky ReLU network on two classes, both layers trained."""
    place = "§3.2"
    return (
        two_classes(case, place),
        two_layer(case, place),
        leaky(case, place),
        both_layers(case, place),
    )


def symmetric_checks(case: Case) -> tuple[Check, ...]:
    """Such a network on symmetric, linearly separable data."""
    return (
        *network_checks(case),
        case.data_check("linearly_separable", "Assumption 3.2"),
        case.data_check("symmetric", "Assumption 4.1"),
    )


def flow_checks(case: Case) -> tuple[Check, ...]:
    """Gradient flow with the logistic loss."""
    return logistic(case, "(1)"), flow(case, "(1)")


def at_least(width: int, case: Case, place: str) -> Check:
    """The network has at least this width."""
    note = f"m is {case.setting.width}; it must be {width} or more"
    return by_slack(f"width_{width}_or_more", case.setting.width - width, place, note)


def width_is(case: Case, wanted: int, place: str) -> Check:
    """The network has exactly this width."""
    width = case.setting.width if case.start is None else len(case.start.a)
    note = f"the width is {width}; it must be {wanted}"
    return by_slack(f"width_{wanted}", -abs(width - wanted), place, note)


def is_spoken_of(case: Case) -> bool:
    """Whether it is a two-layer network on two classes; other hypotheses say so when it is not."""
    return case.data.binary and case.setting.two_layer


def gaussian_start(case: Case, place: str) -> Check:
    """w_k ~ N(0, σ²I), a_k ~ N(0, c²σ²)."""
    init = case.setting.initialisation
    note = f"the initialisation is {init}"
    return yes_or_no("gaussian_start", isinstance(init, Gaussian | Pair), place, note)


def non_branching(run: Observation | None, place: str) -> Check:
    """The flow never had a choice (Appendix I.2)."""
    if run is None:
        return needs_a_run("non_branching", place)
    runs = run.members or (run,)
    several = sum(one.outcome == "branched" for one in runs)
    return by_slack("non_branching", -several, place, f"{several} of {len(runs)} runs branch")


def kkt_direction(case: Case, run: Observation | None, place: str) -> Check:
    """The run leads to a network along a KKT-margin direction (Definition B.8)."""
    name = "kkt_direction"
    if run is None or not run.path:
        return needs_a_run(name, place)
    if not case.both:
        return undecided(name, place, "not looked at: the first layer only is trained")
    if not is_spoken_of(case) or not run.end.W.any():
        return undecided(name, place, "there is no such network")
    try:  # no longer than it always may: far from a limit wide networks have many masks to choose
        kkt = two_layer_kkt(case.data, run.end, boundary=KKT, seconds=0.0)
    except BadInput as reason:
        return undecided(name, place, str(reason))
    if kkt.feasibility > 0:
        return Check(name, False, -kkt.feasibility, place, "it does not fit every label")
    residual = max(kkt.stationarity, kkt.complementarity)
    if residual > KKT and run.limit is None:
        note = f"the limit is not known; at the last network the KKT residual is {residual:.1e}"
        return undecided(name, place, note)
    return by_slack(name, KKT - residual, place, f"the KKT residual is {residual:.1e}")
