"""phuong2021: what the suite does not ask."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from helpers import rest_long
from tacit import flow
from tacit.certificates import optimum
from tacit.data import load
from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.numerics.class_margin import class_margin
from tacit.numerics.extremal_directions import extremal_directions
from tacit.papers.phuong2021.statements import sectors as sectors_module
from tacit.papers.phuong2021.statements.dynamics import integrated, velocity
from tacit.papers.phuong2021.statements.errata import horn, pentagon
from tacit.papers.phuong2021.statements.examples import FLOW, cones, flipped, initial_network
from tacit.papers.phuong2021.statements.local import longest, right_side
from tacit.papers.phuong2021.statements.stays import sure_to_live
from tacit.theorems import Case, Network, Observation, PathPoint, applies, judge, theorem
from tacit.theorems.hypotheses import NEEDS_A_RUN
from tacit.values import Dataset, Setting

FLOW = FLOW
TIGHT = Dataset(np.array([[1.0, 0.0], [0.0, -1.0]]), np.array([1, -1]), name="a right angle")
"""Orthogonally separable with nothing to spare: neurons that do not see their class never will."""


def of(id):
    return theorem(f"phuong2021:{id}")


def check(checks, name):
    return next(one for one in checks if one.name == name)


@cache
def flowed(d, seed, width=6, signs="both", n=None):
    """A case on cones, and what the flow does there."""
    data = cones(d, n or d + 4, seed)
    start = initial_network(data, width, seed=seed)
    if signs != "both":
        start = Network(start.W, np.abs(start.a) * (1 if signs == "+" else -1))
    case = Case(data, replace(FLOW, width=width), start)
    return case, observe(limit(data, case.setting, start=start))


# Theorem 1 and Corollary 1


@pytest.mark.parametrize(
    ("d", "seed", "width"), rest_long([(2, 11, 3), (4, 12, 12), (6, 13, 5)], [(2, 11, 3)])
)
@pytest.mark.parametrize("id", ["thm1", "cor1", "lemma1", "lemma3", "lemmaA.3", "lemmaB.1"])
def test_the_flow_confirms_it_on_data_never_looked_at(id, d, seed, width):
    verdict = judge(of(id), *flowed(d, seed, width))
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)


@pytest.mark.parametrize(("signs", "label"), [("+", 1), ("-", -1)])
def test_neurons_of_one_sign_fit_one_class_only(signs, label):
    case, run = flowed(3, 5, signs=signs)
    assert run.outcome == "partial"
    verdict = judge(of("thm1"), case, run)
    assert verdict.status == "confirmed" and "one class only" in verdict.words
    # The path itself is still on its way; what it points to is the limit.
    on_its_way = of("thm1").residual(verdict.prediction, case, Observation(run.path))
    assert on_its_way > 10 * verdict.residual
    assert judge(of("cor1"), case, run).status == "confirmed"
    w = class_margin(case.data.X, case.data.y, label).w
    W, a = run.end.W, run.end.a
    f = np.maximum(case.data.X @ W.T, 0) @ a / ((W**2).sum() + (a**2).sum())
    wanted = label * np.maximum(case.data.X @ w, 0) / (2 * np.linalg.norm(w))
    assert f == pytest.approx(wanted, abs=1e-3)  # u = 1/(2‖w₊‖), with an error like 1/log t


def test_the_two_constants_of_corollary_1_follow_from_the_proof_of_theorem_1():
    case, run = flowed(3, 11)
    said = of("cor1").predict(case).values
    W, a = run.limit.W, run.limit.a
    f = np.maximum(case.data.X @ W.T, 0) @ a / ((W**2).sum() + (a**2).sum())
    plus, minus = case.data.X @ said["w_plus"], case.data.X @ said["w_minus"]
    assert f == pytest.approx(said["u"] * np.maximum(plus, 0) - said["z"] * np.maximum(minus, 0))


def test_wrong_limits_have_a_residual():
    case, run = flowed(3, 11)
    one = of("thm1")
    said = one.predict(case)
    W, a = run.limit.W, run.limit.a
    turned = W.copy()
    turned[0] += 1e-3 * np.linalg.norm(W[0]) * np.array([1.0, -2.0, 0.5])
    share = np.linalg.norm(W[0]) / np.linalg.norm(W)
    for wrong in (
        Network(turned, a),
        Network(W, -a),
        Network(W[:, ::-1], a),
        Network(W, 1.001 * a),
    ):
        assert one.residual(said, case, Observation(run.path, wrong)) > 1e-4 * share
    mean = np.where(a[:, None] > 0, *(case.data.X[case.data.y == k].mean(axis=0) for k in (1, -1)))
    mean *= (np.abs(a) / np.linalg.norm(mean, axis=1))[:, None]
    assert one.residual(said, case, Observation(run.path, Network(mean, a))) > one.tolerance
    assert one.residual(said, case, Observation(run.path, run.limit, "undecided")) is None


def test_a_dead_network_is_not_what_theorem_1_speaks_of():
    start = Network(np.array([[-1e-4, 0.0], [-1e-4, 0.0]]), np.array([1e-4, 1e-4]))
    case = Case(TIGHT, replace(FLOW, width=2), start)
    assert check(of("thm1").hypotheses(case), "some_neuron_lives").note.startswith(NEEDS_A_RUN)
    run = observe(limit(TIGHT, case.setting, start=start))
    lives = check(of("thm1").hypotheses(case, run), "some_neuron_lives")
    assert run.outcome == "dead" and lives.holds is False


@pytest.mark.parametrize(("share", "holds"), [(1 - 1e-3, True), (1 + 1e-3, False)])
def test_support_that_just_spans_or_just_does_not(share, holds):
    h = 0.3  # the nearer point alone supports once (1, h)·x > |(1, h)|²
    X = np.array([[1, h], [1 + 2 * h**2 * share, -h]])
    data = Dataset(np.vstack([X, -X]), np.array([1, 1, -1, -1]))
    checks = of("thm1").hypotheses(Case(data, FLOW, initial_network(data)))
    spans = check(checks, "support_spans")
    assert (spans.holds, spans.slack) == (holds, 0.0 if holds else -1.0)
    assert applies(checks) is holds


@pytest.mark.parametrize(("angle", "holds"), [(89.9, True), (90.1, False)])
def test_classes_that_are_just_acute_or_just_not(angle, holds):
    turn = np.radians(angle)
    X = np.array([[1, 0], [np.cos(turn), np.sin(turn)]])
    data = Dataset(np.vstack([X, -X]), np.array([1, 1, -1, -1]))
    for id in ("thm1", "lemma2", "lemma3", "lemmaB.1", "lemmaC.1", "prob"):
        named = check(of(id).hypotheses(Case(data, FLOW)), "orthogonally_separable")
        assert named.holds is holds and named.slack == pytest.approx(np.cos(turn))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"activation": "leaky:0.5"}, "relu"),
        ({"train": "first"}, "both_layers"),
        ({"loss": "exponential"}, "logistic"),
        ({"rule": "gd"}, "gradient_flow"),
        ({"init": "gaussian:1e-4"}, "balanced"),
    ],
)
def test_every_hypothesis_about_the_setting_can_fail(change, name):
    data = cones(2)
    case = Case(data, replace(FLOW, **change))
    assert check(of("thm1").hypotheses(case), name).holds is False
    assert judge(of("thm1"), case).status == "not applicable"


def test_one_class_is_not_enough():
    data = cones(2)
    one = Dataset(data.X[data.y > 0], data.y[data.y > 0])
    for id in ("thm1", "lemma2", "lemma3", "lemmaC.1"):
        assert check(of(id).hypotheses(Case(one, FLOW)), "both_classes").holds is False


def test_the_data_of_figure_1_in_plain_words():
    data = load("orthogonal:n=500,d=20,seed=0")
    start = initial_network(data, 100)
    verdict = judge(of("thm1"), Case(data, replace(FLOW, width=100), start))
    assert verdict.status == "not applicable"
    assert [one.name for one in verdict.hypotheses if one.holds is False] == ["support_spans"]
    separable = check(verdict.hypotheses, "orthogonally_separable")
    assert separable.note.startswith(f"closest pair {separable.slack:.2g} away from failing")
    ranks = [class_margin(data.X, data.y, label).rank for label in (1, -1)]
    assert check(verdict.hypotheses, "support_spans").slack == min(ranks) - 20
    assert "span all 20 dimensions: the positive ones span" in verdict.words
    assert "so it does not apply as stated" in verdict.words


def test_the_directions_need_no_span():
    data = load("orthogonal:n=40,d=6,seed=3")
    start = initial_network(data, 8)
    case = Case(data, FLOW, start)
    run = observe(limit(data, FLOW, start=start))
    verdict = judge(of("thm1"), case, run)
    assert verdict.status == "not applicable"
    assert check(verdict.hypotheses, "support_spans").slack < 0
    assert run.settled
    assert of("thm1").residual(of("thm1").predict(case), case, run) < of("thm1").tolerance


def test_horns_matrix_is_copositive_on_a_grid_and_the_pentagon_is_acute(rng):
    z = rng.exponential(size=(20_000, 5)) * (rng.random((20_000, 5)) < 0.6)
    assert ((z @ horn()) * z).sum(axis=1).min() > -1e-9
    X = pentagon()
    data = Dataset(np.vstack([X, -X]), np.repeat([1, -1], 5))
    assert Case(data, FLOW).data_check("orthogonally_separable", "§2").holds
    orthant = rng.exponential(size=(5, 3)) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert (horn() * (orthant @ orthant.T)).sum() > 0


def test_with_a_polynomial_tail_all_points_have_a_say():
    """The erratum's neuron rests where Σ 1/(v·x_i) is least among unit v, not at w₊."""
    X = np.array([[1.0, 0.2], [0.9, -0.3], [1.5, 1.0]])
    angles = np.linspace(-0.9, 0.9, 200_001)
    v = np.array([np.cos(angles), np.sin(angles)])
    best = v[:, np.argmin((1 / (X @ v).clip(1e-3)).sum(axis=0))]
    w = class_margin(X, np.ones(3), 1).w
    apart = np.arccos(best @ w / np.linalg.norm(w))
    words = of("thm1").errata[2].check().words
    assert f"{apart:.4f} rad" in words


# The probability


def ensemble(width, seeds):
    """Short flows: whether a network lives is seen long before its limit."""
    setting = replace(FLOW, width=width)
    return Observation(
        (), members=tuple(observe(limit(TIGHT, setting, seed=s, log10_loss=-2)) for s in seeds)
    )


@pytest.mark.parametrize("width", rest_long([1, 2], [1]))
def test_the_probability_is_reached_exactly_where_nothing_turns_a_neuron(width):
    case = Case(TIGHT, replace(FLOW, width=width))
    run = ensemble(width, range(100, 125))
    verdict = judge(of("prob"), case, run)
    assert verdict.status == "confirmed", verdict.words
    for member in run.members:
        assert sure_to_live(member.start, TIGHT).any() == (member.outcome != "dead")
    # The same event, from initial weights alone and many of them: here the bound is an equality.
    starts = [flow.initial_network(TIGHT, case.setting, seed) for seed in range(1000)]
    share = np.mean([sure_to_live(start, TIGHT).any() for start in starts])
    assert share == pytest.approx(1 - 2.0**-width, abs=0.06)


def test_too_many_deaths_break_the_promise_of_the_probability():
    """Theorem 1 is about weights "near zero", and does not say how near: nothing is refuted."""
    case = Case(TIGHT, replace(FLOW, width=2))
    members = [Observation((), outcome="dead")] * 45 + [Observation((), outcome="partial")] * 55
    verdict = judge(of("prob"), case, Observation((), members=tuple(members)))
    assert verdict.status == "differs" and "55 of 100" in verdict.words
    assert verdict.residual > 0 and "does not say how small" in verdict.words
    unknown = Observation((), members=(Observation((), outcome="undecided"),))
    assert judge(of("prob"), case, unknown).status == "open"


# Sectors


def test_weights_may_be_too_large_for_lemma_1_and_a_run_says_so():
    case = of("lemma1").example()
    seen = {}
    for size in (1e-4, 1e-12):
        smaller = Case(case.data, replace(FLOW, init=f"balanced:{size:g}"))
        seen[size] = judge(of("lemma1"), smaller, observe(limit(case.data, smaller.setting)))
    assert seen[1e-4].status == "differs" and seen[1e-4].residual == 1 / 8
    assert check(seen[1e-4].hypotheses, "turned_in_time").holds is None
    assert seen[1e-12].status == "confirmed"
    outputs = Network(np.array([[3.0, 0.0]]), np.array([3.0]))
    large = of("lemma1").hypotheses(case, Observation((PathPoint(0.0, 0.0, outputs),)))
    assert check(large, "turned_in_time").holds is False


def test_a_neuron_that_lingers_where_its_sign_does_not_rest_has_not_turned():
    """Data and weights have one seed: neuron 2 starts along point 2, and is pushed away from it."""
    data = Dataset(np.random.default_rng(0).normal(size=(5, 2)), np.ones(5))
    setting = replace(FLOW, width=20)
    verdict = judge(of("lemma1"), Case(data, setting), observe(limit(data, setting)))
    named = check(verdict.hypotheses, "turned_in_time")
    assert verdict.residual == 1 / 20 and named.holds is None and named.slack < -3
    smaller = replace(setting, init="balanced:1e-12")
    other = judge(of("lemma1"), Case(data, smaller), observe(limit(data, smaller, seed=1)))
    assert other.status == "confirmed", other.words


def test_lemma_1_does_not_speak_of_points_that_cancel():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.2]])
    data = Dataset(X, np.array([1, 1, -1, 1]))  # x_0 + x_1 = x_2, of other labels
    stuck = Network(1e-3 * np.array([[1.0, 1.0]]), np.array([1e-3]))
    checks = of("lemma1").hypotheses(Case(data, FLOW), Observation((PathPoint(0.0, 0.0, stuck),)))
    assert check(checks, "almost_all_data").holds is None
    assert check(of("lemma1").hypotheses(Case(data, FLOW)), "almost_all_data").holds
    twice = Dataset(np.vstack([X, 3 * X[:1]]), np.array([1, 1, -1, 1, 1]))
    assert check(of("lemma1").hypotheses(Case(twice, FLOW)), "almost_all_data").holds
    twice = Dataset(np.vstack([X, X[:1]]), np.array([1, 1, -1, 1, -1]))
    assert check(of("lemma1").hypotheses(Case(twice, FLOW)), "almost_all_data").holds is False


def test_lemma_1_leaves_open_whether_a_wall_that_draws_nobody_is_reached():
    data = Dataset(np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([1, -1]))  # orthogonal
    named = check(of("lemma1").hypotheses(Case(data, FLOW)), "almost_all_data")
    assert named.holds is None
    verdict = judge(of("lemma1"), Case(data, FLOW), observe(limit(data, FLOW)))
    assert verdict.status != "refuted"


def test_lemma_1_tells_no_failure_where_sectors_may_be_missing(rng):
    X = rng.normal(size=(8, 5))
    data = Dataset(X, np.array([1, -1] * 4))
    case = Case(data, FLOW)
    one = of("lemma1")
    said = one.predict(case)
    assert not said.values["complete"]
    run = Observation((PathPoint(0.0, 0.0, Network(X[:2], np.array([1.0, -1.0]))),))
    assert one.residual(said, case, run) is None
    assert one.residual(said, case, one.ideal(said, case)) == 0


@pytest.mark.parametrize("d", [3, 7])
def test_lemma_2_knows_points_on_the_hyperplanes(d):
    e = np.eye(d)
    data = Dataset(np.array([e[0], -2 * e[1], e[0] + 0.3 * e[2]]), np.array([1, -1, 1]))
    verdict = judge(of("lemma2"), Case(data, FLOW))
    assert verdict.status == "confirmed", verdict.words
    assert verdict.prediction.values["positive_sector"].tolist() == [1, 0, 1]
    assert verdict.prediction.values["negative_sector"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", ["orthogonal:n=30,d=3,seed=9", "orthogonal:n=50,d=9,seed=9"])
def test_lemma_2_names_the_highest_point_of_G(name, rng):
    data = load(name)
    case = Case(data, FLOW)
    said = of("lemma2").predict(case)
    (_, top), (_, bottom) = said.directions

    def G(w):
        return 0.5 * np.maximum(w @ data.X.T, 0) @ data.y

    w = rng.normal(size=(5000, data.d))
    values = G(w / np.linalg.norm(w, axis=1, keepdims=True))
    assert G(top) > values.max() and G(bottom) < values.min()


def test_lemma_2_would_notice_more_directions_and_other_signs():
    one, case = of("lemma2"), of("lemma2").example()
    said = one.predict(case)
    wrong = said.values["positive_sector"].copy()
    wrong[-1] = 0
    spoilt = replace(said, values={**said.values, "positive_sector": wrong})
    assert one.residual(spoilt, case, None) == pytest.approx(1 / case.data.n)
    mixed = flipped(case.data)  # more than one maximum, or another one
    assert one.residual(said, Case(mixed, FLOW), None) > one.tolerance
    five = of("lemma1").example().data
    assert len(extremal_directions(five.X, 0.5 * five.y).positive) == 2


def test_lemma_3_sees_neurons_leave():
    case = of("lemma3").example()
    one = of("lemma3")
    said = one.predict(case)
    (first, *_) = one.ideal(said, case).path
    outside = Network(-first.network.W, first.network.a)
    left = Observation((first, PathPoint(1.0, 0.0, outside)))
    assert one.residual(said, case, left) > 0.1
    came = Observation((PathPoint(-1.0, 0.0, outside), first))
    assert one.residual(said, case, came) == 0
    assert one.residual(said, case, Observation((PathPoint(0.0, 0.0, outside),))) is None


def test_lemma_b1_needs_orthogonal_separability():
    """Between two positive points 120° apart a neuron turns to the larger and loses the other."""
    data = Dataset(np.array([[3.0, 0.0], [-0.5, 0.87], [0.0, -1.0]]), np.array([1, 1, -1]))
    start = Network(np.array([[5e-5, 8.7e-5]]), np.array([np.hypot(5e-5, 8.7e-5)]))
    case = Case(data, replace(FLOW, width=1), start)
    run = observe(limit(data, case.setting, start=start, log10_loss=-3))
    one = of("lemmaB.1")
    assert one.residual(one.predict(case), case, run) > 0.1
    assert judge(one, case, run).status == "not applicable"


def test_lemma_b1_holds_by_its_proof(rng):
    """Every w·x_k of the own class grows at any weights, whatever they see."""
    data = load("orthogonal:n=20,d=4,seed=2")
    case = Case(data, FLOW)
    for _ in range(20):
        W = rng.normal(size=(5, 4))
        network = Network(W, rng.choice([-1, 1], 5) * np.linalg.norm(W, axis=1))
        dW, _ = velocity(case, network)
        own = np.outer(network.a, data.y) > 0
        assert (dW @ data.X.T)[own].min() >= 0


# The appendix


def test_lemma_a2_ends_where_it_says(rng):
    X, c = rng.normal(size=(6, 3)), rng.normal(size=6)
    w, v = rng.normal(size=(2, 3))
    w /= np.linalg.norm(w)
    reach = 2 * longest(X, w, v)  # where the first sign changes

    def left(step):
        there = (w + step * v) / np.linalg.norm(w + step * v)
        return np.maximum(X @ there, 0) @ c

    assert left(reach * (1 - 1e-6)) == pytest.approx(right_side(X, c, w, v, reach * (1 - 1e-6)))
    assert abs(left(1.5 * reach) - right_side(X, c, w, v, 1.5 * reach)) > 1e-6


@pytest.mark.parametrize("name", ["gaussians:n=20,d=2", "linear:n=15,d=6", "symmetric:n=8,d=3"])
def test_lemma_a2_holds_on_any_data(name):
    assert judge(of("lemmaA.2"), Case(load(name), FLOW)).status == "confirmed"


def test_lemma_a3_is_the_gradient_where_there_is_one(rng):
    case = of("lemmaA.3").example()
    W, a = rng.normal(size=(4, 2)), rng.normal(size=4)
    X, y = case.data.X, case.data.y

    def loss(theta):
        q = y * (np.maximum(X @ theta[:8].reshape(4, 2).T, 0) @ theta[8:])
        return np.logaddexp(0, -q).sum()

    theta, h = np.append(W, a), 1e-6
    slope = [(loss(theta + h * e) - loss(theta - h * e)) / (2 * h) for e in np.eye(12)]
    dW, da = velocity(case, Network(W, a))
    assert -np.array(slope) == pytest.approx(np.append(dW, da), abs=1e-7)


def test_lemma_a3_sees_sliding_neurons_and_wrong_equations(monkeypatch):
    one, case = of("lemmaA.3"), of("lemmaA.3").example()
    run = observe(limit(case.data, case.setting, start=case.start))
    assert any(what == "slide" for _, _, what in run.events)
    said = one.predict(case)
    assert one.residual(said, case, run) < one.tolerance
    signs = sectors_module.sectors
    monkeypatch.setattr(  # as if P were the identity, and the neurons active on that point
        "tacit.papers.phuong2021.statements.dynamics.sectors",
        lambda W, X: np.where(signs(W, X) == 0, 1, signs(W, X)),
    )
    projected = one.residual(said, case, run)
    assert projected is None or projected > 10 * one.tolerance
    monkeypatch.undo()
    slower = Observation(tuple(PathPoint(m.time - 0.1, m.log_loss, m.network) for m in run.path))
    assert one.residual(said, case, slower) > one.tolerance


def test_the_integration_of_lemma_a3_is_the_end_of_eulers_steps():
    """Their distance falls in proportion to their size."""
    one, case = of("lemma3"), of("lemma3").example()
    begin = one.ideal(one.predict(case), case).path[2].network
    end = integrated(case, begin, 0.5)
    apart = []
    for steps in (50, 100):
        W, a = begin.W, begin.a
        for _ in range(steps):
            dW, da = velocity(case, Network(W, a))
            W, a = W + 0.5 * dW / steps, a + 0.5 * da / steps
        apart.append(np.linalg.norm(W - end.W))
    assert np.log2(apart[0] / apart[1]) == pytest.approx(1, abs=0.05)


def test_lemma_a4_holds_for_leaky_relu_and_not_for_unbalanced_weights():
    one, case = of("lemmaA.4"), of("lemmaA.4").example()
    begin = replace(case.start, alpha=0.3)
    leaky = Case(case.data, replace(FLOW, activation="leaky:0.3"), begin)
    run = observe(limit(leaky.data, leaky.setting, start=leaky.start))
    assert judge(one, leaky, run).status == "confirmed"
    start = Network(case.start.W, 0.3 * case.start.a)
    other = Case(case.data, FLOW, start)
    run = observe(limit(case.data, FLOW, start=start))
    assert judge(one, other, run).status == "not applicable"
    assert one.residual(one.predict(other), other, run) > 0.1


@pytest.mark.parametrize("name", ["orthogonal:n=24,d=3,seed=7", "wang2022_f1"])
def test_the_kkt_point_of_lemma_c1_is_the_best_network(name):
    data = load(name)
    verdict = judge(of("lemmaC.1"), Case(data, FLOW))
    assert verdict.status == "confirmed"
    best = optimum(data)
    assert verdict.prediction.values["margin"] == pytest.approx(best.margin, rel=1e-6)


def test_lemma_c1_would_notice_another_network():
    one, case = of("lemmaC.1"), of("lemmaC.1").example()
    said = one.predict(case)
    assert said.values["smallest_q"] == pytest.approx(1)
    for key in ("W", "a", "multipliers"):
        wrong = said.values[key].copy()
        wrong[0] *= 1.01
        spoilt = replace(said, values={**said.values, key: wrong})
        assert one.residual(spoilt, case, None) > 1e-4


@pytest.mark.parametrize(("width", "holds"), [(1, False), (2, True)])
def test_lemma_c1_needs_two_neurons(width, holds):
    case = Case(cones(2), replace(FLOW, width=width))
    assert check(of("lemmaC.1").hypotheses(case), "two_neurons").holds is holds


def test_pieces_that_take_too_many_steps_are_left_out(monkeypatch):
    one, (case, run) = of("lemmaA.3"), flowed(2, 11, 3)
    assert one.residual(one.predict(case), case, run) <= one.tolerance
    monkeypatch.setattr("tacit.papers.phuong2021.statements.dynamics.MOST_STEPS", 20)
    assert judge(one, case, run).status == "open"


def test_general_position_of_many_points_is_left_to_check():
    case = Case(load("linear:n=100,d=4,seed=0"), FLOW)
    named = check(of("lemmaA.3").hypotheses(case), "general_position")
    assert named.holds is None and named.note.startswith("not checked: there are 3,921,225 ")


def test_what_holds_has_no_negative_slack():
    case, _ = flowed(3, 5)
    W = case.start.W * (1 + 2e-16)  # rounding
    case = replace(case, start=Network(W, case.start.a))
    named = check(of("thm1").hypotheses(case), "balanced")
    assert named.holds and 0 < named.slack <= 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_pulls_are_along_extremal_directions(seed):
    """Lemma A.1 on data of no kind, where minima with G > 0 occur; another direction breaks it."""
    rng = np.random.default_rng(seed)
    case = Case(Dataset(rng.normal(size=(8, 3)), np.resize([1, -1], 8)), Setting(rule="flow"))
    one = theorem("phuong2021:lemmaA.1")
    said = one.predict(case)
    assert judge(one, case).status == "confirmed" and len(said.values["C"]) >= 2
    turned = said.values["directions"] + 0.01 * rng.normal(size=said.values["directions"].shape)
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    growth = np.maximum(turned @ case.data.X.T, 0) @ (0.5 * case.data.y)
    other = replace(said, values={**said.values, "directions": turned, "C": growth})
    assert one.residual(other, case, None) > 1e-4
