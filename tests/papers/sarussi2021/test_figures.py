"""The figures of sarussi2021: claims fail where they should, and numbers agree by two routes."""

import numpy as np
import pytest

from tacit.flow import limit
from tacit.measures import MEASURES
from tacit.measures.plane import TURNS, bend, circle
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.fig9 import Fig9, with_outlier
from tacit.papers.sarussi2021.figures.trained_networks import sgd, snapshot
from tacit.papers.sarussi2021.perfect_agreement import par
from tacit.papers.sarussi2021.regime import regime_margin
from tacit.training import train_many
from tacit.values import BadInput


def make(name, quick=True, **changes):
    artefact = PAPER.artefacts[name]
    return artefact.make(artefact.choose(quick, **changes), print)


def held(result):
    return {claim.id: claim.holds for claim in result.claims}


def test_every_figure_is_there():
    names = [f"fig{i}" for i in range(1, 10)]
    assert list(PAPER.artefacts) == [*names, "thm41"]


@pytest.mark.parametrize("degrees", [0.0, 1.0, 30.0, 90.0])
def test_the_bend_is_the_angle_between_the_rays_of_a_boundary(degrees, rng):
    turn = rng.integers(TURNS)
    label = np.where(np.arange(TURNS) * 360 / TURNS < 180 + degrees, 1, -1)
    assert bend(np.roll(label, turn)) == pytest.approx(degrees, abs=360 / TURNS)


def test_the_bend_is_that_of_the_best_of_all_lines(rng):
    W, a = rng.standard_normal((6, 2)), np.repeat([1.0, -1.0], 3)
    Z = circle() @ W.T
    label = np.sign(np.maximum(Z, 0.1 * Z) @ a)
    lines = np.sign(circle()[:: TURNS // 360] @ circle().T)
    wrong = (lines != label).mean(axis=1).min()
    assert -0.2 <= 360 * wrong - bend(label) <= 2  # one line in each degree


def test_a_start_that_is_not_small_learns_no_line():
    holds = held(make("fig1", small=10.0, runs=3, epochs=300))
    assert holds["bent"] and not holds["linear"] and not holds["tight"]


def test_the_silent_share_of_relu_follows_from_the_angle_of_the_neurons():
    result = make("fig5", u=(-0.5, 0.75**0.5))  # at 120 degrees: both are silent on 60
    claims = {claim.id: claim for claim in result.claims}
    assert claims["zero"].paper == pytest.approx(1 / 6) and all(held(result).values())
    assert not held(make("fig5", alpha=0.0))["leaky"]


def test_from_a_large_start_the_convex_program_predicts_nothing():
    holds = held(make("fig4", start=3.0, epochs=30, n=20, width=10))
    assert not holds["par"] and not holds["neurons"]


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_the_program_of_a_regime_is_7_for_the_par(alpha, rng):
    y = np.repeat([1, -1], 10)
    X = rng.standard_normal((20, 3)) + 3 * y[:, None] * np.array([1.0, 0, 0])
    solution = par(X, y, alpha)
    if solution.w is None or solution.u is None:
        pytest.fail("these points are separable")
    sides = ((y, solution.w), (-y, solution.u))
    expected = min((c * (X @ w)).min() / np.linalg.norm(w) for c, w in sides)
    assert regime_margin(X, y, y, -y, alpha) == pytest.approx(expected, rel=1e-6)


def test_the_regime_of_the_outlier_is_where_gradient_flow_ends():
    s = Fig9(width=10)
    data, (in_par, beta) = with_outlier(s)
    end = limit(data, sgd(s, s.start, s.lr), seed=1)
    assert end.outcome.settled and in_par < 0
    for group in end.groups:
        wanted = np.where(np.arange(data.n) == data.n - 1, 1, group.sign * data.y)
        assert (group.pattern == wanted).all()
    reached = min(np.abs(data.X @ group.direction).min() for group in end.groups)
    assert reached == pytest.approx(beta, rel=1e-6)


def test_the_neurons_of_one_type_are_measured_alone():
    s = Fig9(width=4)
    data, _ = with_outlier(s)
    nets = train_many(data, sgd(s, 1.0, s.lr), 1, [0])
    w, u = nets.last["W"][0, :2], nets.last["W"][0, 2:]
    for kind, (one, other) in {"w": w, "u": u}.items():
        expected = ((data.X @ one > 0) != (data.X @ other > 0)).sum()
        assert MEASURES["disagreements"](snapshot(nets, data, 0, kind=kind)) == expected


def test_a_loss_that_is_not_reached_is_said():
    holds = held(make("thm41", epochs=3, smallest=1e-3, widths=(2,), starts=(1.0,), lrs=(1e-3,)))
    assert not holds["reached"] and holds["bound"]


def test_without_mnist_the_quick_figures_say_what_stands_in(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    result = make("fig6", epochs=2, runs=1, pairs=("3/5",))
    assert "digits:classes=3/5" in result.departures[0]
    with pytest.raises(BadInput, match="MNIST is not here"):
        make("fig2", quick=False)


def test_a_regime_that_is_not_the_foretold_one_is_seen():
    """From a large start neurons of one type stay on different sides."""
    holds = held(make("fig9", start=30.0, epochs=20, runs=2))
    assert not holds["foretold"] and not holds["nar"]
