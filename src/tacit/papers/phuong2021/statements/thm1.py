"""Theorem 1: the neurons end in two directions, those of w₊ and w₋."""

import math
from typing import Any

import numpy as np

from tacit.messages import count
from tacit.papers.phuong2021.statements.errata import LOSS, ORTHANTS, SPAN
from tacit.papers.phuong2021.statements.examples import FLOW, cones, initial_network, run_through
from tacit.papers.phuong2021.statements.hypotheses import (
    both_classes,
    network_and_rule,
    orthogonally_separable,
)
from tacit.papers.phuong2021.statements.max_margin_vectors import max_margin_vectors, unit
from tacit.papers.phuong2021.statements.stays import sure_to_live
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses.checks import NEEDS_A_RUN, by_slack, undecided, yes_or_no
from tacit.theorems.hypotheses.setting import logistic
from tacit.theorems.hypotheses.start import balanced, small_start
from tacit.values import Check, Network

UNTOLD = ("undecided", "branched")
"""Outcomes of runs that say nothing about a limit."""


def setting_of_theorem_1(case: Case, run: Observation | None) -> tuple[Check, ...]:
    """All hypotheses of Theorem 1."""
    return (
        both_classes(case, "§2"),
        *network_and_rule(case),
        logistic(case, "§2 (3)"),
        balanced(case, "§2"),
        small_start(case, "Theorem 1"),
        orthogonally_separable(case),
        support_spans(case),
        some_neuron_lives(case, run),
    )


def support_spans(case: Case) -> Check:
    """The support examples of each class span R^d; the slack is the smaller rank − d."""
    name, place, d = "support_spans", "Theorem 1", case.data.d
    sides = ("positive", "negative")
    parts = [case.data_check(f"{side}_support_spans", place) for side in sides]
    known = [part.slack for part in parts if part.slack is not None]
    if len(known) < 2 and not any(part.holds is False for part in parts):
        return undecided(name, place, next(part.note for part in parts if part.slack is None))
    ranks = " and ".join(
        f"the {side} ones span {d + int(part.slack)}"
        for side, part in zip(sides, parts, strict=True)
        if part.slack is not None
    )
    slack = min(known)
    note = f"Theorem 1 asks that the support points of each class span all {d} dimensions: {ranks}"
    if slack < 0:
        note += ", so it does not apply as stated"
    return by_slack(name, slack, place, note)


def some_neuron_lives(case: Case, run: Observation | None) -> Check:
    """J₊ ∪ J₋ is not empty, which has at least the probability 1 − 2^(−p)."""
    name, place = "some_neuron_lives", "Theorem 1; Lemma B.1"
    if case.start is not None:
        sure = int(sure_to_live(case.start, case.data).sum())
        if sure:
            note = f"{count(sure, 'neuron')} of {len(case.start.a)} cannot die (Lemma B.1)"
            return by_slack(name, sure - 1, place, note)
    if run is not None and run.outcome not in UNTOLD:
        return yes_or_no(name, run.outcome != "dead", place, f"the run is {run.outcome}")
    missing = 2.0**-case.setting.width
    note = f"{NEEDS_A_RUN}, or initial weights; its probability is at least 1 − {missing:.1g}"
    return undecided(name, place, note)


def said_of_vectors(case: Case) -> tuple[dict[str, Any], str]:
    """w₊ and w₋ as values, and in words."""
    plus, minus = max_margin_vectors(case.data)
    lengths = float(np.linalg.norm(plus)), float(np.linalg.norm(minus))
    cosine = float(np.clip(unit(plus) @ unit(minus), -1, 1))
    values = {"w_plus": plus, "w_minus": minus, "norms": np.array(lengths), "cosine": cosine}
    words = (
        f"w₊ and w₋ (margins {1 / lengths[0]:.4g} and {1 / lengths[1]:.4g}, "
        f"{math.degrees(math.acos(cosine)):.0f}° apart)"
    )
    return values, words


def limit_network(case: Case, plus: np.ndarray, minus: np.ndarray) -> Network:
    """One network of the prediction: neurons of alternating sign and growing size."""
    sizes = 1.0 + np.arange(case.setting.width)
    first = np.arange(len(sizes)) % 2 == 0
    W = np.where(first[:, None], unit(plus), unit(minus)) * sizes[:, None]
    return Network(W, np.where(first, sizes, -sizes))


def end_of(run: Observation) -> Network:
    """The limit; of a run that fits one class only, the direction that its last moments point to.

    There θ/‖θ‖ is smooth in 1/‖θ‖² (the outputs grow like ‖θ‖², and what is left of the direction
    is their constant part), so a polynomial through the last three moments gives its end.
    """
    if run.outcome != "partial" or len(run.path) < 3:
        return run.end
    last = [moment.network for moment in run.path[-3:]]
    sizes = [net.norm for net in last]
    x = np.array(sizes) ** -2.0
    weights = [np.prod(np.delete(x, i) / (np.delete(x, i) - x[i])) for i in range(3)]
    parts = list(zip(weights, last, sizes, strict=True))
    return Network(
        np.sum([w * net.W / size for w, net, size in parts], axis=0),
        np.sum([w * net.a / size for w, net, size in parts], axis=0),
    )


def rays(network: Network, plus: np.ndarray, minus: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance of every neuron from the nearer ray, and how far along it that is.

    The rays are those of (w, a) = (u w₊, u‖w₊‖) and (z w₋, −z‖w₋‖), u, z ≥ 0. (8), (9)
    """
    off, along = [], []
    for w, sign in ((unit(plus), 1), (unit(minus), -1)):
        part = np.maximum(network.W @ w + sign * network.a, 0.0) / 2
        rest = np.linalg.norm(network.W - np.outer(part, w), axis=1)
        off.append(np.hypot(rest, network.a - sign * part))
        along.append(math.sqrt(2) * part)
    nearer = off[0] <= off[1]
    return np.where(nearer, *off), np.where(nearer, *along)


class Theorem1(Theorem):
    """A ReLU network on orthogonally separable data ends as two max-margin neurons.

    Let both layers of a two-layer network of width p be trained by gradient flow on the logistic
    loss from small balanced weights. Let the data be orthogonally separable (1), and let the
    support examples of each class span R^d. Then, for almost all such data and with probability
    1 − 2^(−p) over the initial weights,

        W/‖W‖ → u w₊ᵀ + z w₋ᵀ,   a/‖a‖ → u‖w₊‖ − z‖w₋‖,   (8), (9)

    for some u, z ≥ 0 with u_k = 0 or z_k = 0 for every k; w₊ and w₋ are the shortest vectors with
    w·x ≥ 1 on the positive and on the negative points (6), (7). Where only neurons of one sign
    survive, u = 0 or z = 0 and the other class is never fitted.

    The residual is the distance of (W, a)/‖(W, a)‖ from the nearest such network.
    """

    id = "phuong2021:thm1"
    source = Source("phuong2021", "Theorem 1")
    summary = "On orthogonally separable data every neuron ends along w₊ or w₋, or dies."
    needs = "limit"
    tolerance = 1e-5
    invariances = frozenset({"order", "scale", "rotation"})
    errata = (SPAN, ORTHANTS, LOSS)

    def example(self) -> Case:
        data = cones(3)
        return Case(data, FLOW, initial_network(data))

    def counterexample(self) -> tuple[Case, str]:
        data = cones(3, n=7)
        kept = np.delete(np.arange(14), [0, 7])  # a support example of each class
        fewer = type(data)(data.X[kept], data.y[kept], name="cones without two of their points")
        return Case(fewer, FLOW, initial_network(data)), "support_spans"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return setting_of_theorem_1(case, run)

    def predict(self, case: Case) -> Prediction:
        values, vectors = said_of_vectors(case)
        words = f"Neurons with a > 0 and a < 0 that survive end along {vectors}"
        if case.start is not None:
            sure = sure_to_live(case.start, case.data)
            many = [int((sure & (case.start.a * sign > 0)).sum()) for sign in (1, -1)]
            values["sure_to_live"] = np.array(many)
            words += f"; at least {many[0]} and {many[1]} survive"
        plus, minus = values["w_plus"], values["w_minus"]
        directions = ((1, unit(plus)), (-1, unit(minus)))
        return Prediction(f"{words}.", values, directions)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or run.outcome in UNTOLD:
            return None
        network = end_of(run)
        off, along = rays(network, prediction.values["w_plus"], prediction.values["w_minus"])
        return float(np.linalg.norm(off) / np.hypot(np.linalg.norm(off), np.linalg.norm(along)))

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        plus, minus = prediction.values["w_plus"], prediction.values["w_minus"]
        return run_through(limit_network(case, plus, minus))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        network = end_of(run)
        off, along = rays(network, prediction.values["w_plus"], prediction.values["w_minus"])
        size = np.hypot(off, along)
        living = size > self.tolerance * size.max()
        angle = float(np.arctan2(off, along)[living].max())
        dead = "" if living.all() else f" ({int((~living).sum())} have died)"
        which = "All" if living.all() else "The"
        words = (
            f"{which} {count(int(living.sum()), 'living neuron')}{dead} end within {angle:.1e} rad "
            "of w₊ with a > 0 or w₋ with a < 0"
        )
        if run.outcome == "partial":
            words += "; one class only is fitted, and the limit is extrapolated from the path"
        return f"{words}."
