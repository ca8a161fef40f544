"""Hypotheses that several theorems share."""

from __future__ import annotations

import math

import numpy as np

from tacit.models import model_text
from tacit.models.initialisations import Balanced, BalancedGaussian, Gaussian, Pair
from tacit.models.losses import Exponential, Logistic
from tacit.theorems.theorem import Case, Network, Run
from tacit.values import Check

SMALL, LARGE = 1e-2, 1.0
"""What "sufficiently small" initial weights mean here: ‖θ_k‖ max‖x_i‖ up to the first are, from the
second on they are not, and in between nobody knows."""
NEEDS_A_RUN = "needs a run"


def yes_or_no(name: str, holds: bool, place: str, note: str = "") -> Check:
    """A hypothesis about words, not numbers: its slack is 0 or −1."""
    return Check(name, bool(holds), 0.0 if holds else -1.0, place, note)


def by_slack(name: str, slack: float, place: str, note: str = "", strict: bool = False) -> Check:
    """Holds when the slack is not negative (`strict`: when it is positive)."""
    slack = float(slack)  # a NumPy number would give a NumPy boolean
    return Check(name, slack > 0 if strict else slack >= 0, slack, place, note)


def undecided(name: str, place: str, note: str) -> Check:
    return Check(name, None, None, place, note)


def of_the_path(name: str, place: str) -> Check:
    """About the trajectory, and there is no run yet."""
    return undecided(name, place, f"{NEEDS_A_RUN}: `tacit explain` makes one")


def two_classes(case: Case, place: str) -> Check:
    """±1 labels; K classes are asked one against the rest."""
    note = "" if case.data.binary else f"there are {len(case.data.classes)} classes"
    return yes_or_no("two_classes", case.data.binary, place, note)


def two_layer(case: Case, place: str) -> Check:
    note = f"the network is {model_text(case.setting.model)}"
    return yes_or_no("two_layer", case.setting.two_layer, place, note)


def relu(case: Case, place: str) -> Check:
    return yes_or_no("relu", case.alpha == 0, place, f"the activation is {case.setting.activation}")


def leaky(case: Case, place: str) -> Check:
    """0 < α < 1."""
    holds = 0 < case.alpha < 1
    return yes_or_no("leaky", holds, place, f"the activation is {case.setting.activation}")


def both_layers(case: Case, place: str) -> Check:
    return yes_or_no("both_layers", case.both, place, "" if case.both else "the first only")


def first_layer(case: Case, place: str) -> Check:
    return yes_or_no("first_layer", not case.both, place, "both layers" if case.both else "")


def exponential_tail(case: Case, place: str) -> Check:
    """Logistic or exponential loss."""
    loss = case.setting.loss
    holds = isinstance(loss, Logistic | Exponential)
    return yes_or_no("exponential_tail", holds, place, f"the loss is {loss}")


def logistic(case: Case, place: str) -> Check:
    loss = case.setting.loss
    return yes_or_no("logistic", isinstance(loss, Logistic), place, f"the loss is {loss}")


def flow(case: Case, place: str) -> Check:
    """Gradient flow, not a discrete rule."""
    rule = case.setting.rule
    return yes_or_no("gradient_flow", rule == "flow", place, f"the rule is {rule}")


def balanced(case: Case, place: str) -> Check:
    """‖w_k‖ = |a_k| at the start."""
    if case.start is not None:
        sizes = np.linalg.norm(case.start.W, axis=1)
        off = float(np.abs(sizes - np.abs(case.start.a)).max() / max(sizes.max(), 1e-300))
        note = f"‖w_k‖ and |a_k| differ by {off:.1e} of the largest at most"
        return by_slack("balanced", 1e-12 - off, place, note)
    init = case.setting.initialisation
    holds = isinstance(init, Balanced | BalancedGaussian)
    return yes_or_no("balanced", holds, place, f"the initialisation is {init}")


def small_start(case: Case, place: str) -> Check:
    """The theorem says "sufficiently small"; how small that is, is our reading."""
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


def reaches_the_limit(run: Run | None, place: str) -> Check:
    """The run separates the data and its direction converges."""
    if run is None:
        return of_the_path("converges", place)
    return yes_or_no("converges", run.outcome == "converged", place, f"the run is {run.outcome}")


def neuron_sizes(network: Network) -> np.ndarray:
    """‖(w_k, a_k)‖."""
    return np.hypot(np.linalg.norm(network.W, axis=1), network.a)
