"""The exact limit and the certified optimum: mistakes that the pictures of `beyond` would hide."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.certificates import optimum
from tacit.data import load
from tacit.flow import limit
from tacit.papers.beyond.drawing import draw_depths, draw_transition
from tacit.papers.beyond.figures import PAPER
from tacit.papers.beyond.figures.exact import angles_to, losses_and_margins
from tacit.papers.beyond.figures.global_margin import (
    RowResult,
    ends_of,
    right_claim,
    rows_of,
    shortfall_claim,
)
from tacit.papers.beyond.figures.hinted import threshold_of_K
from tacit.papers.beyond.figures.phase import first_crossing
from tacit.plot import new_figure, picture
from tacit.training import Many
from tacit.values import Setting


def quick(name, **changes):
    artefact = PAPER.artefacts[name]
    result = artefact.make(artefact.choose(quick=True, **changes), lambda words: None)
    return result, {claim.id: claim for claim in result.claims}


def many_at(state, setting):
    """An ensemble of one network that was trained for nothing."""
    model = setting.model
    weights = {"W": state.W[None, None], "a": state.a[None, None]}
    return Many(model, (0,), np.array([0]), weights, np.array([0]), ("ran all epochs",))


@pytest.mark.parametrize("train", ["both", "first"])
def test_the_angle_to_the_limit_is_that_of_the_path(train):
    setting = Setting(activation="leaky:0.3", train=train, width=12)
    end = limit(load("gaussians:n=12,d=3"), setting, seed=1)
    trained = many_at(end.path.last.state, setting)
    assert angles_to(end, trained, 0)[0] == pytest.approx(end.approach[-1, 1], rel=1e-5)
    _, margin = losses_and_margins(trained, end.data)
    assert margin[0, 0] < end.margin < 1.2 * margin[0, 0]


def test_where_a_power_law_crosses_one():
    scales = np.geomspace(1e-3, 10, 9)
    assert first_crossing(scales, 0.07 / scales) == pytest.approx(0.07)
    assert first_crossing(scales, 1e-9 / scales) == 0
    assert first_crossing(scales, 1e9 / scales) == math.inf


def test_a_large_start_spoils_the_linear_corner():
    few = {"scales": 3, "runs": 2, "widths": (20,), "flow_scales": (1.0,), "flow_width": 4}
    _, claims = quick("phase", small=3.0, **few)
    assert not claims["small_linear"].holds
    assert not claims["between"].holds
    assert not claims["small_linear"].finding


def test_the_counterexample_ends_a_sixth_wide():
    s = PAPER.artefacts["global"].choose(quick=True)
    row = next(row for row in rows_of(s) if row.key == "thm2")
    (end,) = ends_of(row, s)
    assert end.known and end.margin == pytest.approx(1 / 6)
    assert optimum(row.data).margin == pytest.approx(0.1956, abs=5e-5)


def test_starts_go_on_until_one_fits():
    """With seed 2 the first network of wang2022's F.1 fits one of the two points only."""
    s = replace(PAPER.artefacts["global"].choose(quick=True), seed=2, runs=1)
    *others, last = ends_of(next(row for row in rows_of(s) if row.key == "f1"), s)
    assert others and not any(end.fits for end in others)
    assert last.fits and last.known


def test_a_shortfall_fails_a_claim_of_the_widest_margin_and_passes_one_of_a_kkt_point():
    s = PAPER.artefacts["global"].choose(quick=True)
    row = next(row for row in rows_of(s) if row.key == "f2")
    result = RowResult(row, np.array([0.5]), np.array([0.1]), np.array(["suboptimal"]))
    claim = shortfall_claim("f2", [result], s)
    assert not claim.holds and not claim.finding
    other = result._replace(row=row._replace(widest=False))
    assert shortfall_claim("f2", [other], s).holds
    assert not shortfall_claim(
        "f2", [other, other._replace(verdicts=np.array(["undecided"]))], s
    ).holds
    nothing = np.zeros(0)
    assert not shortfall_claim("f2", [RowResult(row, nothing, nothing, nothing)], s).holds


def test_a_flow_that_stays_at_the_linear_classifier_has_not_left_it():
    s = PAPER.artefacts["global"].choose(quick=True)
    row = next(row for row in rows_of(s) if row.key == "right")
    half = row.data.parameters["eps"] / 2
    for margins, holds in ((half, False), (1.5 * half, True)):
        result = RowResult(row, np.array([half, margins]), np.zeros(2), np.array(["undecided"] * 2))
        assert right_claim(result, s).holds == holds


@pytest.mark.parametrize("alpha", [0.1, 0.6])
def test_the_threshold_of_K_by_bisection_is_the_formula(alpha):
    s = replace(PAPER.artefacts["hinted"].choose(quick=True), seed=5, d=3)
    formula = math.sqrt((3 + alpha) / (1 - alpha))
    assert threshold_of_K(s, alpha) == pytest.approx(formula, rel=1e-4)


def test_the_printed_bound_on_K_is_refuted_only_by_small_K():
    few = {"eps_factors": (0.5,), "alphas": (0.5,), "H_values": 2}
    _, claims = quick("hinted", K_factors=(2.0,), **few)
    assert claims["any_K"].holds and not claims["any_K"].finding
    assert claims["flow"].holds


@pytest.mark.long
def test_too_large_a_start_does_not_end_at_the_linear_classifier():
    few = {"eps_factors": (0.5,), "alphas": (0.5,), "H_values": 2}
    _, claims = quick("hinted", K_factors=(3.0,), scale=0.3, **few)
    assert claims["flow"].ours == 0


def test_theorem_a_7_is_broken_where_our_condition_fails():
    _, claims = quick("principal", lengths=(3.0,), scales=(1e-6,), runs=2)
    assert not claims["promise"].holds and claims["promise"].finding
    others = [claim for name, claim in claims.items() if name != "promise"]
    assert all(claim.holds for claim in others), others


@pytest.mark.long
def test_theorem_a_7_is_kept_where_our_condition_holds():
    _, claims = quick("principal", lengths=(0.5,), length=0.5, scales=(1e-6,))
    assert claims["promise"].holds and not claims["promise"].finding


def test_flows_without_a_depth_and_widths_without_a_transition_can_be_drawn():
    figure, ((depths, transition),) = new_figure(1, 2)
    draw_depths(depths, (3.0, 30.0), np.full((2, 1), np.inf))
    draw_transition(transition, np.array([]), np.array([]), np.zeros((0, 2)))
    assert picture(figure, "png")[:4] == b"\x89PNG"
    assert depths.get_yscale() == transition.get_yscale() == "linear"
