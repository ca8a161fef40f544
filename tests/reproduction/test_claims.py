"""Claims are judged by intervals that mean what they say."""

import numpy as np
import pytest
from scipy import stats

from tacit.reproduction.artefact import Whose
from tacit.reproduction.claims import (
    NOT_STATED,
    STATED,
    at_least,
    at_most,
    explained,
    mean_interval,
    near,
    probability_at_least,
    probability_at_most,
    probability_is,
    share_interval,
)


@pytest.mark.parametrize("trials", [1, 7, 40, 1000])
def test_the_interval_of_a_share_is_where_both_tails_are_half_a_percent(trials):
    for successes in {0, 1, trials // 3, trials - 1, trials}:
        low, high = share_interval(successes, trials)
        if successes:
            assert stats.binom.sf(successes - 1, trials, low) == pytest.approx(0.005)
        else:
            assert low == 0
        if successes < trials:
            assert stats.binom.cdf(successes, trials, high) == pytest.approx(0.005)
        else:
            assert high == 1


def test_the_interval_of_a_mean_covers_it_as_often_as_it_says(rng):
    samples = rng.standard_normal((4000, 6)) + 3
    inside = [low <= 3 <= high for low, high in map(mean_interval, samples)]
    low, high = share_interval(sum(inside), len(inside))
    assert low <= 0.99 <= high
    assert mean_interval(np.array([1.0])) == (-np.inf, np.inf)


def test_a_probability_fails_only_when_the_whole_interval_does():
    assert probability_at_least("a", "", 740, 1000, 0.75).holds
    assert not probability_at_least("a", "", 700, 1000, 0.75).holds
    assert probability_at_most("a", "", 760, 1000, 0.75).holds
    assert not probability_at_most("a", "", 800, 1000, 0.75).holds
    assert probability_is("a", "", 62, 100, 0.7).holds
    assert not probability_is("a", "", 62, 100, 0.9).holds
    derived = probability_is("a", "", 62, 100, 0.7, NOT_STATED)
    assert (derived.paper, derived.criterion) == (NOT_STATED, "0.7")


def test_numbers_can_fail():
    assert at_most("a", "", 1.0, 1.0).holds and not at_most("a", "", 1.1, 1.0).holds
    assert at_least("a", "", 1.0, 1.0).holds and not at_least("a", "", 0.9, 1.0).holds
    assert near("a", "", 1.04, 1.0, 0.05).holds and not near("a", "", 1.06, 1.0, 0.05).holds
    assert not at_most("a", "", float("nan"), 1.0).holds
    assert not near("a", "", float("nan"), 1.0, 1.0).holds


def test_what_the_paper_states_is_told_from_the_bound_that_decides():
    ours = at_most("a", "", 0.5, 1.0)
    assert (ours.paper, ours.criterion) == ("not stated", "≤ 1")
    worded = at_least("a", "", 0.5, 0.1, "nearly all")
    assert (worded.paper, worded.criterion) == ("nearly all", "≥ 0.1")
    for bound in (at_most("a", "", 0.5, 0.75, STATED), at_least("a", "", 0.5, 0.75, STATED)):
        assert bound.paper[2:] == "0.75" and not bound.criterion
    assert probability_at_least("a", "", 1, 2, 0.75).paper == "≥ 0.75"
    assert near("a", "", 1.0, 1.0, 0.1).paper == 1 and near("a", "", 1.0, 1.0, 0.1).criterion
    assert near("a", "", 2.0, 2.0, 0.0, "rank two").paper == "rank two"


def test_only_what_fails_is_explained():
    fails, holds = at_most("a", "", 2.0, 1.0), at_most("a", "", 0.0, 1.0)
    assert explained(holds, "why", Whose.PAPER) == holds
    assert explained(fails, "why", Whose.PAPER, known=False) == fails
    said = explained(fails, "why", Whose.OPEN)
    assert (said.finding, said.whose, said.holds) == ("why", "open", False)
