"""Where small neurons are pulled, and what that asks of the start (App. A and G)."""

from typing import NamedTuple

import numpy as np

from tacit.papers.lyu2021.statements.hypotheses import non_branching
from tacit.papers.lyu2021.statements.one_neuron import Sign
from tacit.theorems import Case, Observation
from tacit.theorems.hypotheses.checks import by_slack, undecided, unquantified
from tacit.theorems.hypotheses.start import LARGE, SMALL, balanced, neuron_sizes, small_start
from tacit.values import Check, Network


class EarlyPulls(NamedTuple):
    """µ⁺ and µ⁻ (6): twice the drift of small neurons on the two sides of the data."""

    plus: np.ndarray
    minus: np.ndarray

    def of(self, sign: int) -> np.ndarray:
        return self.plus if sign > 0 else self.minus


def pulls(case: Case) -> EarlyPulls:
    """Compute µ⁺ and µ⁻ (6) of a case."""
    Z, positive = case.data.y[:, None] * case.data.X, (case.data.y > 0)[:, None]
    plus = np.where(positive, Z, case.alpha * Z).mean(axis=0)
    return EarlyPulls(plus, np.where(positive, case.alpha * Z, Z).mean(axis=0))


@unquantified
def other_sign_stays_small(case: Case, sign: Sign, place: str) -> Check:
    """Neurons of the other sign must still be small when those of this one are of size one.

    While these grow from σ to 1, the others grow from σ to σ^κ, κ = 1 − ‖µ⁻‖/‖µ⁺‖ (Lemma G.5).
    Where the weights are known, either sign has a σ of its own; a neuron near the ray from which it
    cannot grow starts from less, in proportion to its distance.
    """
    name = "negative_stay_small" if sign > 0 else "positive_stay_small"
    plain = small_start(case, place)
    both = pulls(case)
    own, other = (float(np.linalg.norm(both.of(s))) for s in (sign, -sign))
    if plain.slack is None or not other < own:
        note = plain.note if plain.slack is None else "κ is not > 0"
        return undecided(name, place, note)
    kappa, size = 1 - other / own, SMALL - plain.slack
    left = size**kappa
    if case.start is not None:
        longest = float(np.linalg.norm(case.data.X, axis=1).max())
        sizes = neuron_sizes(case.start) * longest
        mine = sign * case.start.a > 0
        off = np.sqrt((1 - _along_the_ray(case, case.start)) / 2)
        grows = float((sizes * off)[mine].max(initial=1e-300))
        others = float(sizes[~mine].max(initial=0.0)) / grows ** (1 - kappa)
        left = max(size, others) if mine.any() else size
    holds = True if left <= SMALL else False if size >= LARGE else None
    note = (
        f"‖θ_k‖ max‖x_i‖ is up to {size:.1e} and κ = {kappa:.2g}: the other sign comes to about "
        f'{left:.1e}; "sufficiently small" is read as at most {SMALL:g}'
    )
    return Check(name, holds, SMALL - left, place, note)


def _along_the_ray(case: Case, start: Network) -> np.ndarray:
    """Cosines of w_k with −µ⁻ (a_k > 0) or µ⁺ (a_k < 0), along which it shrinks to 0 for ever."""
    both = pulls(case)
    rays = np.where((start.a > 0)[:, None], -both.minus, both.plus)
    sizes = np.linalg.norm(start.W, axis=1) * np.linalg.norm(rays, axis=1)
    return np.minimum((start.W * rays).sum(axis=1) / np.maximum(sizes, 1e-300), 1.0)


def some_of_sign(case: Case, sign: Sign, place: str) -> Check:
    """Some neuron has that sign, an event of probability 1 − 2^(−m)."""
    name = "some_positive" if sign > 0 else "some_negative"
    if case.start is None:
        odds = 1 - 2.0**-case.setting.width
        note = f"the initial weights have not been drawn; random signs do with probability {odds}"
        return undecided(name, place, note)
    number = int((sign * case.start.a > 0).sum())
    return by_slack(name, number - 1, place, f"{number} neurons")


def off_the_ray(case: Case, place: str) -> Check:
    """No neuron is where it would shrink to 0 for ever; the slack is 1 − the largest cosine."""
    if case.start is None:
        return undecided("off_the_ray", place, "the initial weights have not been drawn")
    slack = float(1 - _along_the_ray(case, case.start).max())
    note = "1 − the largest cosine with the ray on which it would shrink to 0"
    # A cosine is off by rounding: what is within that of the ray counts as on it.
    return by_slack("off_the_ray", slack - 1e-14, place, note, strict=True)


def start_checks(case: Case, sign: Sign, run: Observation | None, place: str) -> tuple[Check, ...]:
    """What App. G asks of the start, so that neurons of this sign win."""
    return (
        balanced(case, "§6"),
        some_of_sign(case, sign, place),
        off_the_ray(case, "Lemma G.4"),
        other_sign_stays_small(case, sign, place),
        non_branching(run, "Assumption A.6"),
    )
