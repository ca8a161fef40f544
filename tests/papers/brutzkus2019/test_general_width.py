"""Propositions E.14, E.18 and E.22: other widths than Theorem 6.3's, from worst starts too."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.data.xor import PATTERNS
from tacit.papers.brutzkus2019.statements.cases import xord_case
from tacit.papers.brutzkus2019.statements.convergence import (
    beta_negative,
    beta_positive,
    least_width,
    negative_quarters_slack,
    positive_quarters_slack,
    quarters_slack,
    share_misclassified,
)
from tacit.papers.brutzkus2019.statements.descent import descend
from tacit.papers.brutzkus2019.statements.hypotheses import hinge_confidence
from tacit.papers.brutzkus2019.statements.kinds import DIVERSE, DIVERSE_LABELS
from tacit.theorems import Network, Observation, PathPoint, judge, theorem

E_14, E_18, E_22 = (theorem(f"brutzkus2019:prop{one}") for one in ("E.14", "E.18", "E.22"))


def run_of(case, steps=20_000, every=1):
    goals, eta = np.array([hinge_confidence(case), 1.0]), case.setting.lr
    path = descend(case.start, DIVERSE, DIVERSE_LABELS, goals, eta, steps)
    return Observation(
        tuple(PathPoint(every * t, 0.0, net) for t, net in enumerate(path)), outcome="done"
    )


def lopsided(case, w, u, rng):
    """A start with these numbers of w near p₁…p₄, and of u near p₂, p₄ and on the sides of p₁."""
    size = 0.99 * math.sqrt(2) * case.setting.lr / 8
    parts = [(i, 1, n) for i, n in enumerate(w)]
    parts += [
        (i, side, n) for (i, side), n in zip([(1, 1), (3, 1), (0, 1), (0, -1)], u, strict=True)
    ]
    rows = [
        PATTERNS[i] + side / 2 * PATTERNS[(i + 1) % 4] for i, side, n in parts for _ in range(n)
    ]
    W = size * np.array(rows) * rng.uniform(0.8, 1, (2 * sum(w), 1))
    return replace(case, start=Network(W, np.repeat([1.0, -1.0], sum(w))), _properties={})


@pytest.mark.parametrize(("k", "c", "gamma"), [(17, 1 / 410, 1.0), (40, 1 / 500, 3.0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_any_width_learns_diverse_points_in_time(k, c, gamma, seed):
    case = xord_case(k, c, gamma=gamma, seed=seed)
    verdict = judge(E_14, case, run_of(case))
    assert verdict.status == "confirmed", verdict.words


@pytest.mark.parametrize(
    ("one", "k", "c", "gamma"), [(E_18, 130, 1 / 410, 8.0), (E_22, 155, 1 / 410, 1.0)]
)
def test_wide_networks_are_right_on_their_class(one, k, c, gamma):
    case = xord_case(k, c, gamma=gamma, seed=3)
    verdict = judge(one, case, run_of(case))
    assert verdict.status == "confirmed", verdict.words


def test_negative_points_are_right_from_the_worst_start_that_is_allowed(rng):
    """With γ = 1 nothing is promised for positive points, and some are wrong."""
    case = lopsided(xord_case(149, 1 / 410, gamma=1.0), (25, 49, 26, 49), (13, 61, 14, 61), rng)
    assert 0 <= negative_quarters_slack(case.start) < 0.1
    run = run_of(case)
    assert judge(E_22, case, run).status == "confirmed"
    assert share_misclassified(run.end, case, 1) > 0


def test_a_start_with_nothing_towards_p3_learns_nothing_of_it(rng):
    case = lopsided(xord_case(204, 1 / 820, gamma=4.0), (102, 51, 0, 51), (51, 51, 51, 51), rng)
    assert positive_quarters_slack(case.start) < 0 <= negative_quarters_slack(case.start)
    assert quarters_slack(case.start) == positive_quarters_slack(case.start)
    assert judge(E_18, case).status == "not applicable"
    residual = E_18.residual(E_18.predict(case), case, run_of(case))
    assert (
        residual == pytest.approx(share_misclassified(run_of(case).end, case, 1)) and residual > 0
    )


def test_a_slow_run_is_late_and_one_cut_off_tells_nothing():
    case = xord_case(25, 1 / 410, gamma=1.0, seed=0)
    said = E_14.predict(case)
    assert E_14.residual(said, case, run_of(case, every=100)) > 0.1
    assert E_14.residual(said, case, run_of(case, steps=50)) is None


@pytest.mark.parametrize("beta", [1.2, 2.0, 7.0])
def test_the_least_width_is_where_the_quarters_are_even_enough(beta):
    k = least_width(beta)
    alpha = (k / 4 + 2 * math.sqrt(k)) / (k / 4 - 2 * math.sqrt(k))
    assert alpha == pytest.approx(beta)
    assert least_width(1.0) == math.inf


def test_betas_are_those_of_the_last_lines_of_the_proofs():
    """(18) and the last line of Proposition E.22 vanish at α = β."""
    c, gamma = 0.003, 5.0
    assert (gamma + 1 - 1.25 * c) / (1 + beta_positive(gamma, c)) == pytest.approx(39 * c + 1)
    assert (1 - 1.25 * c) / (1 + beta_negative(c)) == pytest.approx(35 * c)
