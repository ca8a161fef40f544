"""Theorem B.19: one neuron on the right side is enough for the loss to vanish."""

import math
from typing import final

import numpy as np

from tacit.data import load
from tacit.numerics.least_squares import nnls
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.papers.lyu2021.statements.hypotheses import (
    flow_checks,
    is_spoken_of,
    network_checks,
    started,
)
from tacit.papers.lyu2021.statements.network_functions import margin
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import neuron_sizes, undecided
from tacit.values import Check, Network

SLOW = 1e-3
"""The margin of the data, over max‖x_i‖, below which the loss may fall too slowly to see it."""
MOST_ENTRIES = 1e7
"""Entries of X, times neurons, up to which the best separator for every neuron is found."""


def too_many(case: Case, network: Network) -> bool:
    """Whether there are too many points and neurons to try every separator."""
    return case.data.X.size * len(network.a) > MOST_ENTRIES


def head_starts(network: Network, case: Case) -> np.ndarray:
    """max over separators w* of ⟨w_k, w*⟩² − max(‖w_k‖² − a_k², 0), over ‖θ_k‖², for each neuron.

    Where it is positive the condition of Theorem B.19 holds for some unit w*. In the closed cone of
    separators the best w* for s_k w_k is along its projection P onto the cone, and their product is
    ‖P‖; P is what non-negative least squares over the rows −y_i x_i leaves of s_k w_k. A neuron
    with P = 0 has no such w*, which counts as −1. Where that is too much work, w* is the max-margin
    separator, and another may do better.
    """
    Z = -(case.data.y[:, None] * case.data.X).T
    signed = np.sign(network.a)[:, None] * network.W
    if too_many(case, network):
        left = signed @ case.view.separator.direction
    else:
        left = np.array([nnls(Z, w, most_steps=100 * Z.shape[1])[1] for w in signed])
    squares, lengths = neuron_sizes(network) ** 2, np.linalg.norm(network.W, axis=1)
    # Within rounding of the cone of −y_i x_i nothing is known of the direction that is left.
    ahead = (left > 1e-9 * lengths) & (squares > 0)
    room = np.maximum((network.W**2).sum(axis=1) - network.a**2, 0.0)
    advantage = np.full(len(network.a), -1.0)
    advantage[ahead] = (left[ahead] ** 2 - room[ahead]) / squares[ahead]
    return advantage


def _a_long_separator() -> Evidence:
    """One neuron on two points, Euler's rule on the mean of the logistic losses."""
    X, y, alpha = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, -1]), 0.5
    w, a, long = np.array([1.0, 3.0]), 0.2, np.array([10.0, -1.0])
    product, room = float(w @ long), float(w @ w) - a**2
    unit = product / float(np.linalg.norm(long))
    separates = bool((y * (X @ long) > 0).all())
    time, step = 0.0, 1e-3  # Euler's rule errs by about the step; what is compared differs by more
    while a > 0 and time < 10:
        z = X @ w
        slopes = np.where(z > 0, 1.0, alpha)
        p = y / (1 + np.exp(y * a * slopes * z)) / len(y)
        w, a = w + step * a * (p * slopes) @ X, a + step * float(p @ (slopes * z))
        time += step
    words = (
        "On (1, 0) and (0, 1) with y = (1, −1) and α = ½, w = (1, 3), a = 0.2 and w* = (10, −1): "
        f"⟨w, w*⟩² = {product**2:g} > ‖w‖² − a² = {room:.2f}, but a reaches 0 at time {time:.2f}. "
        f"With w*/‖w*‖ the left side is {unit**2:.2f}."
    )
    broken = separates and product > 0 and product**2 > room > unit**2 and a <= 0
    return Evidence("corrected" if broken else "printed", words)


def _c_once() -> Evidence:
    """At a_k = 2.05, ‖w_k‖ = ⟨w_k, w*⟩ = 1: c is a bound of a_k², c² is none."""
    a, along, size = 2.05, 1.0, 1.0
    c = along**2 - size**2 + a**2
    lower, printed = a**2 >= c, a**2 >= c**2
    words = f"With ‖w_k‖ = ⟨w_k, w*⟩ = 1 and a_k = {a} c is {c:.2f}, |a_k|² is {a**2:.2f}, "
    words += f"and c² is {c**2:.2f}: what was shown is |a_k|² ≥ c."
    return Evidence("corrected" if lower and not printed else "printed", words)


@final
class TheoremB19(Theorem):
    """Theorem B.19: convergence that can be foretold.

    On linearly separable data, if a neuron k and a unit separator w* (all y_i⟨w*, x_i⟩ > 0) satisfy
    at the start

        sgn(a_k) ⟨w_k, w*⟩ > 0   and   ⟨w_k, w*⟩² > ‖w_k‖² − a_k²,

    then a_k(t) ≠ 0 for all t, L → 0 and ‖θ‖ → ∞. The proof gives more, which is checked too:
    a_k(t)² never falls below c = a_k² − ‖w_k‖² + ⟨w_k, w*⟩² at the start.
    """

    id = "lyu2021:thmB.19"
    source = Source("lyu2021", "Theorem B.19")
    summary = (
        "If one neuron starts on the right side of a separator, with an output weight that is not "
        "too small, the loss goes to zero, however the others start."
    )
    needs = "path"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})
    errata = (
        Erratum(
            "for any linear separator w* with y_i⟨w*, x_i⟩ ≥ γ* > 0",
            "for any of unit length: the proof uses ‖w_k‖² ≥ ⟨w_k, w*⟩²",
            _a_long_separator,
        ),
        Erratum(
            "L(θ(0)) − L(θ(t)) ≥ c² (αγ*/2n)² t, in the proof",
            "≥ c (αγ*/2n)² t, as |a_k|² ≥ c; it is unbounded all the same",
            _c_once,
        ),
    )

    def example(self) -> Case:
        """One good neuron among three that start on the wrong side."""
        data = load("linear:n=14,d=4,margin=0.1,seed=2")
        right = (data.y @ data.X) / np.linalg.norm(data.y @ data.X)
        W = 0.1 * np.array([right, -right, -right, right])
        a = np.array([0.1, 0.1, 0.1, -0.1])
        return Case(data, flow_setting("leaky:0.5", 4), Network(W, a, 0.5))

    def counterexample(self) -> tuple[Case, str]:
        """The example without its good neuron."""
        case = self.example()
        start = Network(case.given_start.W[1:], case.given_start.a[1:], 0.5)
        return Case(case.data, flow_setting("leaky:0.5", 3), start), "head_start"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *network_checks(case),
            *flow_checks(case),
            case.data_check("linearly_separable", "Assumption 3.2"),
            _head_start(started(case, run)),
        )

    def predict(self, case: Case) -> Prediction:
        if case.start is None:
            return Prediction("The loss goes to 0 and the weights grow without bound.")
        good = np.flatnonzero(head_starts(case.start, case) > 0)
        one = len(good) == 1
        return Prediction(
            f"The loss goes to 0 because {len(good)} of {len(case.start.a)} neurons "
            f"{'starts' if one else 'start'} on the right side; {'its' if one else 'their'} output "
            f"{'weight never changes its sign' if one else 'weights never change their signs'}.",
            {"neurons": good},
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """What is left of the loss, and by what share a good neuron's a_k² falls below c.

        The loss goes to 0 when the limit separates the data; where there is no limit, the last loss
        is compared with the first. Unless that is small, a path that was cut off tells nothing, nor
        one that rests, if the points are nearly contradictory: slow is not rest.
        """
        assert run is not None
        if run.limit is not None:
            left = 0.0 if margin(run.limit, case) > 0 else 1.0
        else:
            left = math.exp(min(run.path[-1].log_loss - run.path[0].log_loss, 0.0))
        separator = case.view.separator
        slow = separator.margin_bounds.lower < SLOW * float(
            np.linalg.norm(case.data.X, axis=1).max()
        )
        cut_off = left > self.tolerance and (slow or run.outcome in ("undecided", "branched"))
        starts = head_starts(run.start, case)
        good = np.flatnonzero(starts > 0)
        sign = np.sign(run.start.a[good])
        room = run.start.a[good] ** 2 - (run.start.W[good] ** 2).sum(axis=1)
        fallen = 0.0
        c = starts[good] * neuron_sizes(run.start)[good] ** 2 + np.maximum(room, 0.0)
        for moment in run.path:
            below = 1 - np.maximum(sign * moment.network.a[good], 0.0) ** 2 / c
            fallen = max(fallen, float(below.max(initial=0.0)))
        return None if cut_off and fallen <= self.tolerance else max(left, fallen)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """The good neurons grow along the separator; the others stay."""
        good = np.flatnonzero(head_starts(case.given_start, case) > 0)
        a = np.zeros_like(case.given_start.a)
        a[good] = (
            10 * neuron_sizes(case.given_start)[good].max() * np.sign(case.given_start.a[good])
        )
        grown = Network(np.outer(a, case.view.separator.direction), a, case.alpha)
        moments = (PathPoint(-math.inf, 0.0, case.given_start), PathPoint(10.0, -100.0, grown))
        return Observation(moments, grown)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        log10_loss = run.path[-1].log_loss / math.log(10)
        if residual <= self.tolerance:
            return f"The loss reached 10^({log10_loss:.0f}); no neuron lost its head start."
        return (
            f"The loss is 10^({log10_loss:.2g}), or a neuron lost its head start; the residual is "
            f"{residual:.1e}."
        )


def _head_start(case: Case) -> Check:
    """Some neuron satisfies the condition of the theorem."""
    if case.start is None or not is_spoken_of(case):
        return undecided("head_start", "Theorem B.19", "the initial weights have not been drawn")
    best = float(head_starts(case.start, case).max())
    note = "max over neurons and separators of (⟨w_k, w*⟩² − max(‖w_k‖² − a_k², 0))/‖θ_k‖²"
    if best <= 0 and too_many(case, case.start):
        return undecided("head_start", "Theorem B.19", f"{note}: not for the max-margin separator")
    return Check("head_start", best > 0, best, "Theorem B.19", note)
