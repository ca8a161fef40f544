"""The figures of sarussi2021: claims fail where they should, and numbers agree by two routes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from tacit.data import load
from tacit.measures import MEASURES
from tacit.measures.plane import TURNS, bend, circle
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.fig9 import Fig9, with_outlier
from tacit.papers.sarussi2021.figures.torn_clusters import tear
from tacit.papers.sarussi2021.figures.trained_networks import (
    TrainedSettings,
    sgd,
    snapshot,
    train_by_updates,
)
from tacit.papers.sarussi2021.perfect_agreement import par
from tacit.papers.sarussi2021.regime import regime_margin
from tacit.training import train_many
from tacit.values import BadInput, Dataset


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
    assert claims["zero"].criterion.endswith("of 0.166667") and all(held(result).values())
    assert not held(make("fig5", alpha=0.0))["leaky"]


def test_from_a_large_start_the_convex_program_predicts_nothing():
    holds = held(make("fig4", start=3.0, epochs=30, n=20, width=10, runs=1))
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


def test_the_outlier_is_on_the_wrong_side_of_w_and_every_point_has_its_label():
    s = Fig9(width=10, v=0.1 * 10**0.5, seed=7)  # v² × width is that of the figure
    data, in_par, beta = with_outlier(s)
    assert in_par < 0 < s.agreement <= beta and data.y[-1] == 1
    many = train_many(data, sgd(s, s.start, s.lr), 500, [3])
    W, a = many.last["W"][0], many.last["a"][0]
    sides = np.where(a[:, None] > 0, np.append(data.y[:-1], -1), -data.y)
    assert ((W @ data.X.T) * sides > 0).all()
    assert (many.outputs(data.X)[0] * data.y > 0).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_margin_of_a_regime_is_that_of_its_program(seed, rng):
    """Against the dual: no feasible (w, u) is shorter, and the sides are those of the best one."""
    y = np.repeat([1, -1], 8)
    X = rng.standard_normal((16, 3)) + 3 * y[:, None] * np.eye(3)[0]
    c_w, c_u = y.copy(), -y
    c_u[seed] *= -1
    Z = y[:, None] * np.hstack(
        [np.where(c > 0, 1, 0.3)[:, None] * s * X for c, s in ((c_w, 1), (c_u, -1))]
    )
    best = minimize(
        lambda v: v @ v / 2,
        np.ones(6),
        jac=lambda v: v,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: Z @ v - 1, "jac": lambda v: Z},
    )
    w, u = np.split(best.x, 2)
    sides = min((c * (X @ v)).min() / np.linalg.norm(v) for c, v in ((c_w, w), (c_u, u)))
    assert regime_margin(X, y, c_w, c_u, 0.3) == pytest.approx(sides, rel=1e-4)


def test_the_neurons_of_one_type_are_measured_alone():
    s = Fig9(width=4)
    data = with_outlier(s).data
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


def test_the_first_updates_are_those_of_sgd(rng):
    s = Fig9(width=4)
    data = load("gaussians:n=30,d=3,seed=1")
    setting, seeds = sgd(s, 0.5, 0.1), [5, 6]
    many = train_by_updates(data, setting, 3, seeds, 12)
    assert many.at[0] == 0 and many.at[1] == 1 and data.n in many.at and many.at[-1] == 90
    assert (np.diff(many.at) > 0).all() and len(many.weights["W"]) == len(many.at)
    for i, seed in enumerate(seeds):
        row = np.random.default_rng([seed, 1]).permutation(data.n)[0]
        (W, after), a, x, y = (
            many.weights["W"][:2, i],
            many.weights["a"][0, i],
            *data.X[[row]],
            data.y[row],
        )
        z = W @ x
        f = a @ np.maximum(z, s.alpha * z)
        slope = y / (1 + np.exp(y * f)) * a * np.where(z > 0, 1, s.alpha)
        np.testing.assert_allclose(after, W + 0.1 * slope[:, None] * x, rtol=1e-12)


@pytest.mark.parametrize("label", [1, -1])
def test_a_ridge_tears_a_cluster_apart_and_is_found(label, rng):
    """Neurons on both sides of a point of their own label come apart along it; others do not."""
    X = np.vstack([5 * np.eye(6)[0], rng.normal(size=(5, 6)) + 4 * np.eye(6)[5]])
    data = Dataset(X, np.array([label, *[-label] * 5]))
    W = 1e-4 * rng.normal(size=(8, 6)) - np.eye(6)[5]
    W[:, 0] = np.tile([0.02, -0.02], 4)  # half of the neurons see the first point
    s = TrainedSettings(width=8, alpha=0.5)
    first = {"W": W[None], "a": np.repeat([s.v, -s.v], 4)[None]}
    many = train_many(data, sgd(s, 1e-3, 0.002), 30, [0], (0,), first)
    before, after = (snapshot(many, data, 0, t) for t in (0, -1))
    found, mine = tear(after), 0 if label > 0 else 1
    assert found is not None and found.kind == "wu"[mine] and found.cosine > 0.99
    assert (found.point, found.ahead, found.neurons) == (0, 2, 4)
    wide = [np.ptp(one.groups[mine][:, 0]) for one in (before, after)]
    most = 30 * 0.5 * 0.002 * s.v * 5  # (1 − α)ηv‖x‖ an update, as |ℓ'| ≤ 1
    assert 0.2 * most < wide[1] - wide[0] <= most
    other = [np.ptp(one.groups[1 - mine][:, 0]) for one in (before, after)]
    assert other[1] < other[0]
    first["W"][0, :, 0] *= 1e-4  # now they differ in all directions
    assert tear(replace(before, params={k: v[0] for k, v in first.items()})) is None
