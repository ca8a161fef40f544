"""Theorems of sarussi2021, beyond the suite: other routes, slopes, the paper's own networks."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import rest_long
from tacit.data import load
from tacit.explanation.observation import observe
from tacit.flow import initial_network, limit
from tacit.papers.sarussi2021.perfect_agreement import par
from tacit.papers.sarussi2021.statements.linear_boundary import clusters, wrong_side
from tacit.papers.sarussi2021.statements.risk import Constants, constants, largest_start
from tacit.theorems import Case, Network, Observation, PathPoint, judge, theorem
from tacit.training import train
from tacit.values import Dataset, Setting


def the(number):
    return theorem(f"sarussi2021:{number}")


def setting(alpha, **more):
    usual = {"train": "first", "width": 6, "init": "gaussian:1e-3", "rule": "flow"}
    return Setting(activation=f"leaky:{alpha}", **(usual | more))


def flow(case, seed=0):
    return observe(limit(case.data, case.setting, seed=seed, start=case.start))


def check(number, case, name, run=None):
    return next(c for c in the(number).hypotheses(case, run) if c.name == name)


# Theorem 4.1 and its recursions


def sgd(case, epochs, rng, lr=None):
    """Plain SGD, one example at a time without replacement; every update is recorded."""
    X, y, alpha, lr = case.data.X, case.data.y, case.alpha, lr or case.setting.lr
    W, a = case.start.W, case.start.a
    moments = [moment(case, 0, case.start)]
    for _ in range(epochs):
        for i in rng.permutation(len(y)):
            z = W @ X[i]
            q = y[i] * np.where(z > 0, z, alpha * z) @ a
            pull = y[i] / (1 + np.exp(q))
            W = W + lr * pull * np.outer(a * np.where(z > 0, 1, alpha), X[i])
            moments.append(moment(case, len(moments), Network(W, a, alpha)))
    return Observation(tuple(moments), outcome="done")


def moment(case, time, network):
    q = network.margins(case.data.X, case.data.y)
    return PathPoint(float(time), float(np.log(np.logaddexp(0, -q).sum())), network)


def sgd_case(rng, n=10, d=3, k=3, v=1.0, alpha=0.3, lr=0.1, size=0.1, seed=0):
    data = load(f"linear:n={n},d={d},margin=0.5,seed={seed}")
    start = Network(size * rng.standard_normal((2 * k, d)), np.repeat([v, -v], k), alpha)
    return Case(data, setting(alpha, rule="sgd", lr=lr, width=2 * k), start)


SOME = Constants(n=12, k=3, v=0.7, alpha=0.2, eta=0.05, R_x=3.0, w_star=1.7)


@pytest.mark.parametrize("epsilon", [1e-4, 1e-2, 1.0, 10.0])
@pytest.mark.parametrize("R_0", [0.0, 0.3, 20.0])
def test_equation_26_follows_from_its_derivation(epsilon, R_0):
    n, k, v, alpha, eta, R_x, w = dataclasses.astuple(SOME)
    small = epsilon / (1 + 2 * v**2 * R_x**2 * eta * k * n)
    b = math.sqrt(4 * k**2 * eta**2 * v**2 * R_x**2 + 4 * k * eta) * w
    c = 4 * k * R_0 * w

    def root(share):  # of a T = b √T + c
        a = 2 * k * eta * v * alpha * share / n
        return ((b + math.sqrt(b**2 + 4 * a * c)) / (2 * a)) ** 2

    a = 2 * k * eta * v * alpha / (n * (1 + 1 / small))
    printed = (b / a) ** 2 + math.sqrt(c / a) * b / a + c / a + n
    assert SOME.updates(epsilon, R_0) == pytest.approx(printed, rel=1e-12)
    sharper = root(-math.expm1(-small)) + n
    assert sharper <= SOME.updates(epsilon, R_0) <= 2 * root(small / (1 + small)) + n


def test_the_bound_grows_like_n4_over_epsilon_squared():
    epsilons = np.array([1e-7, 1e-8])
    M = [SOME.updates(e, 0.5) for e in epsilons]
    assert np.diff(np.log(M)) / np.diff(np.log(epsilons)) == pytest.approx(-2, abs=1e-3)
    n = np.array([10**6, 10**7])
    M = [dataclasses.replace(SOME, n=int(one)).updates(0.1, 0.5) for one in n]
    assert np.diff(np.log(M)) / np.diff(np.log(n)) == pytest.approx(4, abs=1e-3)


@pytest.mark.parametrize(
    "how",
    [
        {"seed": 7},
        {"d": 6, "k": 1, "lr": 1.0, "seed": 8},
        {"n": 25, "v": 0.3, "lr": 5.0, "size": 3.0, "seed": 9},
        {"alpha": 0.01, "size": 1e-3, "seed": 10},
        {"k": 50, "size": 30.0, "lr": 1e-2, "seed": 11},  # the large start of Figure 1
    ],
)
def test_sgd_keeps_the_bound_and_the_recursions(rng, how):
    case = sgd_case(rng, **how)
    run = sgd(case, 40, rng)
    for number in ("thm4.1", "eq18"):
        verdict = judge(the(number), case, run)
        assert verdict.status == "confirmed", (number, verdict.residual, verdict.words)


def test_the_training_room_keeps_them_too():
    data = load("gaussians:n=12,d=2,seed=4")
    said = setting(0.2, rule="sgd", lr=0.05, init="gaussian:0.3", output_weight=0.5)
    records, run = [], None
    for epochs in (1, 2, 4, 40):
        run = train(data, said, epochs=epochs, seeds=(3,), record=2, resume=run)
        records.append((12 * epochs, Network(run.params["W"][0], run.params["a"][0], 0.2)))
    start = initial_network(data, said, 3)
    case = Case(data, said, start)
    moments = [moment(case, t, network) for t, network in [(0, start), *records]]
    run = Observation(tuple(moments), outcome="done")
    assert run.path[-1].log_loss < math.log(math.log(2))
    for number in ("thm4.1", "eq18"):
        assert judge(the(number), case, run).status == "confirmed"


def test_a_loss_that_stays_too_long_refutes_the_bound():
    data = Dataset(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, -1]))
    start = Network(np.zeros((2, 2)), np.array([1.0, -1.0]), 0.9)
    case = Case(data, setting(0.9, rule="sgd", lr=1.0, width=2), start)
    bound = constants(case).updates(math.log(2), 0.0)
    times = range(math.ceil(2 * bound) + 1)
    every = tuple(moment(case, t, start) for t in times)
    one, said = the("thm4.1"), the("thm4.1").predict(case)
    seen = one.residual(said, case, Observation(every, outcome="done"))
    assert seen == pytest.approx(math.log(2), rel=0.01)
    better = moment(case, len(every), dataclasses.replace(start, W=np.array([[1.0, 0], [-1, 0]])))
    assert one.residual(said, case, Observation((*every, better), outcome="done")) >= seen
    rare = Observation((every[0], every[-1]), outcome="done")  # who knows what happened in between
    assert one.residual(said, case, rare) is None
    assert one.residual(said, case, Observation(every[: math.floor(bound)], outcome="done")) == 0


def test_other_rules_break_the_recursions(rng):
    case = sgd_case(rng)
    said = the("eq18").predict(case)
    assert the("eq18").residual(said, case, sgd(case, 2, rng)) <= 1e-12
    for lr in (-0.1, 0.004, 3.0):  # ascent; too little progress; too far
        assert the("eq18").residual(said, case, sgd(case, 2, rng, lr)) > 1e-3


def test_gaussian_starts_rarely_exceed_the_predicted_size(rng):
    case = Case(load("linear:n=5,d=4"), setting(0.1, init="gaussian:0.2", width=10))
    longest = 0.2 * np.linalg.norm(rng.standard_normal((20000, 10, 4)), axis=2).max(axis=1)
    share = (longest > largest_start(case)).mean()
    assert 0.005 < share < 0.012  # 1% by the union bound over 10 neurons
    other = Case(case.data, setting(0.1, init="uniform:1", rule="sgd"))
    assert check("thm4.1", other, "bounded_start").holds is None
    assert "updates" not in the("thm4.1").predict(other).values


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"rule": "gd"}, "sgd"),
        ({"rule": "flow"}, "sgd"),
        ({"batch": 2}, "one_at_a_time"),
        ({"rule": "gd", "step": "scaled"}, "sgd constant_step"),
        ({"loss": "exponential"}, "logistic"),
        ({"train": "both"}, "first_layer"),
        ({"activation": "relu"}, "leaky"),
    ],
)
def test_what_theorem_41_does_not_speak_of(rng, change, name):
    case = sgd_case(rng)
    start = dataclasses.replace(case.start, alpha=0.0 if name == "leaky" else case.alpha)
    other = Case(case.data, dataclasses.replace(case.setting, **change), start)
    failed = [c.name for c in the("thm4.1").hypotheses(other) if c.holds is False]
    assert failed == name.split()


# Theorem 5.1 and Corollary 6.1


def clustered(rng, d, k, alpha, spread):
    means = np.repeat(rng.standard_normal((2, d)), k, axis=0)
    W = means + spread * rng.standard_normal(means.shape)
    start = Network(W, np.repeat([0.7, -0.7], k), alpha)
    X = rng.standard_normal((60, d))
    y = np.where(X @ clusters(start).normal > 0, 1, -1)
    return Case(Dataset(X, y), setting(alpha, width=2 * k), start)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_the_region_is_linear_and_already_that_of_the_sharp_constant(rng, alpha, d):
    for k, spread in ((1, 0.0), (2, 0.1), (5, 0.3), (20, 1.0)):
        case = clustered(rng, d, k, alpha, spread)
        verdict = judge(the("thm5.1"), case)
        assert verdict.status == "confirmed"
        sharp = (1 - alpha) / (1 + alpha) * clusters(case.start).relative
        assert wrong_side(case.start, case.data.X, sharp) <= 1e-12
        # Many directions, one by one.
        X = rng.standard_normal((2000, d))
        along = X @ clusters(case.start).normal
        cosine = np.abs(along) / np.linalg.norm(X, axis=1)
        inside = cosine > sharp * np.linalg.norm(clusters(case.start).normal)
        assert (np.sign(case.start.outputs(X)) == np.sign(along))[inside].all()


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_the_sharp_constant_cannot_be_smaller(alpha):
    for factor, wrong in ((0.99, True), (1.01, False)):
        t = -(1 - alpha) / (1 + alpha)
        s = t + factor * (1 - alpha) / (1 + alpha)
        W = np.array([[1, s], [1, s], [-1, t + 1], [-1, t - 1]])  # r = 1, along x = (0, 1)
        network = Network(W, np.array([1.0, 1, -1, -1]), alpha)
        x = np.array([[0.0, 1.0]])
        assert clusters(network).radius == pytest.approx(1)
        assert (network.outputs(x)[0] < 0) == wrong
        assert clusters(network).normal @ x[0] > 0


def test_a_boundary_that_is_not_linear_is_seen(rng):
    case = clustered(rng, 3, 4, 0.2, 0.5)
    assert wrong_side(case.start, case.data.X, 0.0) > 1e-3
    assert check("cor6.1", case, "clustered").holds is False
    exact = clustered(rng, 3, 4, 0.2, 0.0)
    assert judge(the("cor6.1"), exact).status == "confirmed"
    W = exact.start.W.copy()
    W[0] *= 1 + 1e-6
    almost = Case(exact.data, exact.setting, dataclasses.replace(exact.start, W=W))
    sizes = np.linalg.norm(W, axis=1)
    r = 0.75e-6 * sizes[0] / sizes.max()  # the mean of four moved by a quarter of it
    assert check("cor6.1", almost, "clustered").slack == pytest.approx(-r, rel=1e-3)


def test_figure_5_linear_with_leaky_relu_and_not_with_relu():
    case = the("cor6.1").example()
    assert wrong_side(case.start, case.data.X, 0.0) <= 1e-15
    relu = dataclasses.replace(case.start, alpha=0.0)
    assert wrong_side(relu, case.data.X, 0.0) > 0.5
    assert relu.outputs(np.array([[-2.0, -1.0]])) == 0


@pytest.mark.parametrize("alpha", [1e-8, 1e-15, 1e-40])
def test_where_both_neurons_are_negative_the_output_is_small_and_has_its_sign(rng, alpha):
    case = clustered(rng, 2, 1, alpha, 0.0)
    assert judge(the("thm5.1"), case).status == "confirmed"
    assert judge(the("cor6.1"), case).status == "confirmed"


def test_means_that_are_equal_but_for_rounding_are_no_classifier(rng):
    W = rng.standard_normal((1, 2))
    network = Network(np.vstack([W, W * (1 + 1e-15)]), np.array([1.0, -1.0]), 0.3)
    assert wrong_side(network, rng.standard_normal((5, 2)), 0.0) == 0


def test_output_weights_must_be_halves(rng):
    case = clustered(rng, 2, 2, 0.2, 0.1)
    a = case.start.a * [1, 1, 1, 1 + 1e-6]
    uneven = Case(case.data, case.setting, dataclasses.replace(case.start, a=a))
    assert check("thm5.1", uneven, "halves").holds is False
    assert check("thm5.1", Case(case.data, setting(0.2, width=5)), "halves").holds is False
    assert judge(the("thm5.1"), Case(case.data, setting(0.2))).status == "open"


# Theorem 6.1 and Corollary 6.2


@pytest.mark.parametrize(
    "data",
    rest_long(
        ["gaussians:n=20,d=5,seed=11", "linear:n=16,d=3,margin=1,seed=12"],
        ["linear:n=16,d=3,margin=1,seed=12"],
    ),
)
def test_neurons_that_agree_cluster(data):
    case = Case(load(data), setting(0.2, width=10, output_weight=0.4))
    run = flow(case, seed=13)
    for number in ("thm6.1", "cor6.2", "thm5.1", "cor6.1"):
        assert judge(the(number), case, run).status == "confirmed"


def test_figure_9_agreement_that_is_not_perfect():
    """Two antipodal Gaussians and an outlier: an NAR that is no PAR."""
    case = Case(load("gaussians_outlier:n=20,d=2,seed=0"), setting(0.3))
    run = flow(case)
    assert judge(the("thm6.1"), case, run).status == "confirmed"
    verdict = judge(the("thm6.2"), case, run)
    assert verdict.status == "not applicable"
    said = par(case.data.X, case.data.y, 0.3)
    W = run.limit.W / np.linalg.norm(run.limit.W)
    expected = np.repeat([said.w, said.u], 3, axis=0)
    assert np.linalg.norm(W - expected / np.linalg.norm(expected)) > 0.1


def test_neurons_that_disagree_are_no_case_of_it():
    case = Case(load("gaussians_outlier:n=20,d=2,seed=0"), setting(0.1))
    run = flow(case)
    failed = check("thm6.1", case, "agreement", run)
    assert failed.holds is False and failed.slack < -1
    assert judge(the("thm6.1"), case, run).status == "not applicable"
    assert check("thm6.2", case, "no_mixed_directions", run).holds is None


def test_agreement_is_decided_by_the_end_and_not_before():
    case = the("thm6.1").example()
    run = flow(case)
    assert check("thm6.1", case, "agreement").holds is None
    assert check("thm6.1", case, "agreement", run).holds is True
    W = run.limit.W.copy()
    W[1] = -W[1]
    turned = dataclasses.replace(run, limit=dataclasses.replace(run.limit, W=W))
    assert check("thm6.1", case, "agreement", turned).holds is False
    early = Observation(run.path[:3])
    assert early.path[-1].log_loss > math.log(math.log(2))
    assert check("thm6.1", case, "agreement", early).holds is False


def test_a_run_that_was_cut_off_cannot_tell():
    case = the("thm6.2").example()
    cut = dataclasses.replace(flow(case), limit=None, outcome="undecided")
    for number in ("thm6.1", "cor6.2", "thm6.2"):
        assert judge(the(number), case, cut).status == "open"


@pytest.mark.parametrize(("total", "holds"), [(0.6931, True), (0.6932, False), (0.99, False)])
def test_the_late_phase_begins_at_ln_2(total, holds):
    case = the("thm6.1").example()
    end = the("thm6.1").ideal(the("thm6.1").predict(case), case).end
    named = check(
        "thm6.1", case, "late_phase", Observation((PathPoint(0.0, math.log(total), end),))
    )
    assert named.holds is holds and (named.slack > 0) is holds


# Theorem 6.2 and Lemma 6.1


@pytest.mark.parametrize(
    ("data", "alpha", "width", "v"),
    rest_long(
        [
            ("symmetric:n=12,d=3,margin=2,seed=21", 0.2, 8, 0.5),
            ("gaussians:n=20,d=2,seed=3", 0.1, 4, 2.0),  # β* > 0, and the NAR's β is larger
            ("gaussians:n=14,d=4,distance=6,seed=22", 0.05, 10, 1.0),
        ],
        [("gaussians:n=20,d=2,seed=3", 0.1, 4, 2.0)],
    ),
)
def test_the_flow_ends_where_the_program_says(data, alpha, width, v):
    case = Case(load(data), setting(alpha, width=width, output_weight=v))
    run = flow(case, seed=23)
    verdict = judge(the("thm6.2"), case, run)
    assert verdict.status == "confirmed", verdict.words
    q = run.limit.margins(case.data.X, case.data.y)
    margin = q.min() / np.linalg.norm(run.limit.W)
    assert verdict.prediction.values["margin"] == pytest.approx(margin, rel=1e-8)


def test_the_prediction_is_that_of_another_solver(rng):
    case = Case(load("linear:n=9,d=2,margin=1,seed=24"), setting(0.25))
    X, y, alpha = case.data.X, case.data.y, 0.25

    def slack(z):
        w, u = np.split(z, 2)
        return np.where(y > 0, X @ (w - alpha * u), X @ (u - alpha * w)) - 1  # (7)

    solved = minimize(
        lambda z: z @ z,
        rng.standard_normal(4),
        jac=lambda z: 2 * z,
        constraints={"type": "ineq", "fun": slack},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    said = the("thm6.2").predict(case).values
    assert np.append(said["w"], said["u"]) == pytest.approx(solved.x, abs=1e-6)


def test_the_margin_assumption_just_holds_and_just_fails():
    """Without a run: the margin of (7) must exceed α max‖x_i‖."""
    data = load("gaussians:n=10,d=2,seed=0")
    longest = np.linalg.norm(data.X, axis=1).max()

    def room(alpha):
        return 1 / math.sqrt(par(data.X, data.y, alpha).objective_bounds.upper) / longest - alpha

    low, high = 0.05, 0.9
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if room(middle) > 0 else (low, middle)
    assert check("thm6.2", Case(data, setting(low - 1e-6)), "margin").holds is None
    failed = check("thm6.2", Case(data, setting(low + 1e-6)), "margin")
    assert failed.holds is False and -1e-5 < failed.slack < 0
    for shift in (-1e-3, 1e-3):  # and the flow says the same
        case = Case(data, setting(round(low + shift, 6)))
        assert check("thm6.2", case, "margin", flow(case)).holds is (shift < 0)


def test_assumption_4_is_about_the_beta_of_the_regime():
    case = Case(load("gaussians:n=20,d=2,seed=3"), setting(0.1))
    assert check("thm6.2", case, "no_mixed_directions").holds is None
    named = check("thm6.2", case, "no_mixed_directions", flow(case))
    assert named.holds is True
    threshold = -case.data_check("sarussi2021:assumption4", "").slack
    assert threshold == pytest.approx(0.1236, abs=1e-4)
    outlier = Case(load("gaussians_outlier:n=20,d=2,seed=0"), setting(0.05))
    assert check("thm6.2", outlier, "no_mixed_directions").holds is False


def test_a_run_that_ends_elsewhere_is_refuted():
    case = the("thm6.2").example()
    run = flow(case)
    W = run.limit.W.copy()
    W[:3] *= 1.001  # the ratio of lengths alone
    other = judge(
        the("thm6.2"), case, dataclasses.replace(run, limit=dataclasses.replace(run.limit, W=W))
    )
    assert other.status == "refuted" and 1e-4 < other.residual < 1e-2


@pytest.mark.parametrize("seed", [31, 32, 33])
def test_symmetric_data_meets_assumption_4(seed):
    case = Case(load(f"symmetric:n=16,d=4,margin=0.2,seed={seed}"), setting(0.1))
    assert judge(the("lemma6.1"), case).status == "confirmed"
    assert case.data_check("sarussi2021:assumption4", "").holds is True


def test_neurons_too_far_apart_leave_theorem_51_nothing_to_say(rng):
    start = Network(rng.standard_normal((6, 2)), np.repeat([1.0, -1.0], 3), 0.1)
    case = Case(load("gaussians:n=10,d=2,seed=0"), setting(0.1), start)
    verdict = judge(the("thm5.1"), case)
    assert "cosine" not in verdict.prediction.values
    assert "says nothing about this network" in verdict.words
    near = dataclasses.replace(start, W=np.repeat([[1.0, 0.0], [0.0, 1.0]], 3, axis=0))
    run = Observation((PathPoint(0.0, 0.0, start), PathPoint(1.0, -1.0, near)))
    assert "give the same answer" in judge(the("thm5.1"), case, run).words


def test_lemma_61_speaks_of_sets_and_of_exact_opposites():
    data = load("symmetric:n=6,d=2,margin=0.5,seed=34")
    repeated = Dataset(np.vstack([data.X, data.X[:1]]), np.append(data.y, data.y[0]))
    assert judge(the("lemma6.1"), Case(repeated, setting(0.1))).status == "confirmed"
    X = data.X.copy()
    X[0, 0] += 1e-7
    missed = check("lemma6.1", Case(Dataset(X, data.y), setting(0.1)), "symmetric_as_a_set")
    assert missed.holds is False and -1e-6 < missed.slack < 0
    X = np.vstack([data.X[[2, 2, 2]], data.X, [[0.5, -7.0]]])
    alone = Dataset(X, np.concatenate([data.y[[2, 2, 2]], data.y, [1]]))
    named = check("lemma6.1", Case(alone, setting(0.1)), "symmetric_as_a_set")
    assert named.holds is False and named.note.startswith("row 9 ")  # of the file
    lemma, other = the("lemma6.1"), Case(load("gaussians:n=10,d=2,seed=0"), setting(0.1))
    residual = lemma.residual(lemma.predict(other), other, None)
    longest = np.linalg.norm(other.data.X, axis=1).max()
    beta = -other.data_check("sarussi2021:assumption4", "").slack
    assert residual == pytest.approx(beta / longest, rel=1e-8)


# App. K


def test_biases_are_weights_of_a_constant_input(rng):
    """SGD on (W, b) and SGD on the points (x, 1) are the same."""
    data = Dataset(rng.uniform(1, 2, (8, 2)) + np.repeat([[0.0], [2]], 4, 0), np.repeat([-1, 1], 4))
    case = Case(data.with_bias(1.0), setting(0.2, rule="sgd", lr=0.3), None)
    W, b, a = rng.standard_normal((6, 2)), rng.standard_normal(6), np.repeat([1.0, -1], 3)
    case = Case(case.data, case.setting, Network(np.column_stack([W, b]), a, 0.2))
    end = sgd(case, 5, np.random.default_rng(0)).end
    order = np.random.default_rng(0)
    for _ in range(5):
        for i in order.permutation(8):
            z = W @ data.X[i] + b
            p = np.where(z > 0, 1, 0.2)
            pull = 0.3 * data.y[i] / (1 + np.exp(data.y[i] * (a @ (p * z))))
            W, b = W + pull * np.outer(a * p, data.X[i]), b + pull * a * p
    assert end.W == pytest.approx(np.column_stack([W, b]), abs=1e-12)
    assert check("appK", case, "linearly_separable").holds is True
    assert judge(the("appK"), case).status == "confirmed"


def test_a_bias_of_another_size_is_noticed():
    case = the("appK").example()
    off = Case(Dataset(case.data.X * [1, 1 + 1e-6], case.data.y), case.setting)
    assert check("appK", off, "bias_input").slack == pytest.approx(-1e-6)
    one, said = the("appK"), the("appK").predict(case)
    assert one.residual(said, off, None) > one.tolerance


def shifted(data, by):
    plain = load(data)
    return Dataset(plain.X + [by, 0], plain.y)


def test_theorem_61_where_only_a_bias_separates():
    plain = shifted("gaussians:n=10,d=2,std=0.5,seed=1", 2.6)
    assert check("thm6.1", Case(plain, setting(0.3)), "linearly_separable").holds is False
    case = Case(plain.with_bias(1), setting(0.3))
    run = flow(case)
    for number in ("thm6.1", "cor6.2", "appK"):
        assert judge(the(number), case, run).status == "confirmed"


def test_theorem_62_with_a_bias():
    """The affine boundary that the flow ends with."""
    case = Case(shifted("gaussians:n=10,d=2,seed=0", 1.1).with_bias(1), setting(0.3))
    run = flow(case)
    assert judge(the("thm6.2"), case, run).status == "confirmed"
    said = the("appK").predict(case).values
    normal = clusters(run.limit).normal / np.linalg.norm(clusters(run.limit).normal)
    assert np.append(said["normal"], said["offset"]) == pytest.approx(normal, abs=1e-8)
    assert abs(said["offset"]) > 0.01
