"""What the second half of lyu2021's theorems say, by other routes, other seeds and near misses."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from tacit.certificates import certify, optimum, two_layer_kkt
from tacit.data import load
from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.geometry import check
from tacit.numerics.class_margin import class_margin
from tacit.papers.lyu2021.scaled_margin import scaled_margin
from tacit.papers.lyu2021.statements.head_start import head_starts
from tacit.papers.lyu2021.statements.kkt_points import three_directions
from tacit.papers.lyu2021.statements.left_example import (
    printed_multipliers,
    printed_network,
    stationarity,
)
from tacit.papers.lyu2021.statements.multipliers import weaker_at_multipliers
from tacit.papers.lyu2021.statements.network_functions import margin
from tacit.papers.lyu2021.statements.no_branching import steps_back
from tacit.papers.lyu2021.statements.one_sided import best_step, three_points
from tacit.papers.lyu2021.statements.run_ends import ended
from tacit.papers.lyu2021.statements.well_aligned import largest_G
from tacit.theorems import Case, Network, judge, theorem
from tacit.values import Dataset, Setting


def setting(activation="leaky:0.5", width=4, init="balanced:1e-3", **more):
    return Setting(activation=activation, width=width, init=init, rule="flow", **more)


def flow_of(case, seed=0):
    if case.start is None:
        return observe(limit(case.data, case.setting, seed=seed))
    return observe(limit(case.data, case.setting, start=case.start))


def holds(theorem_id, case, name, run=None):
    return next(c for c in theorem(theorem_id).hypotheses(case, run) if c.name == name)


def ended_at(case, W, a):
    return ended(Network(W, a, case.alpha))


# Lemma B.9


def test_optimal_networks_are_balanced_and_others_no_kkt_points():
    """The convex program knows nothing of balance; its networks get it from min Σ|a|‖w‖."""
    data = load("linear:n=12,d=3,margin=0.2,seed=5")
    best = optimum(data, Setting(activation="leaky:0.3")).network
    case = Case(data, setting("leaky:0.3"))
    kkt = two_layer_kkt(best.W, best.a, data.X, data.y, 0.3, boundary=1e-6)
    assert kkt.holds(1e-5)
    assert kkt.balance < 1e-5
    skewed = two_layer_kkt(2 * best.W, best.a / 2, data.X, data.y, 0.3, boundary=1e-6)
    assert not skewed.holds(1e-2)
    assert (
        theorem("lyu2021:lemmaB.9").residual(
            theorem("lyu2021:lemmaB.9").predict(case), case, ended_at(case, 2 * best.W, best.a / 2)
        )
        > 0.5
    )


def test_a_network_that_is_no_kkt_point_is_not_spoken_of():
    case = theorem("lyu2021:lemmaB.9").example()
    run = ended_at(case, np.eye(2), np.array([1.0, -1.0]))
    assert holds("lyu2021:lemmaB.9", case, "kkt_direction", run).holds is False


# Theorem B.19


def best_separator_by_sampling(w, Z, rng):
    """max of w·u over unit u with Z u ≥ 0, by brute force in the plane."""
    angles = np.linspace(-np.pi, np.pi, 200_001)
    U = np.column_stack([np.cos(angles), np.sin(angles)])
    inside = (U @ Z.T >= 0).all(axis=1)
    return float((U[inside] @ w).max())


def test_the_best_separator_for_a_neuron_is_found(rng):
    data = load("linear:n=10,d=2,margin=0.3,seed=1")
    case, Z = Case(data, setting()), data.y[:, None] * data.X
    W, a = rng.normal(size=(12, 2)), rng.normal(size=12) * 1.5
    for k, start in enumerate(head_starts(Network(W, a, case.alpha), case)):
        best = best_separator_by_sampling(np.sign(a[k]) * W[k], Z, rng)
        want = best**2 - max(W[k] @ W[k] - a[k] ** 2, 0)
        if best <= 0:
            assert start == -1
        else:
            assert start * (W[k] @ W[k] + a[k] ** 2) == pytest.approx(want, abs=1e-4)


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_one_neuron_with_a_head_start_is_enough(seed):
    """Unseen data, unbalanced neurons of any kind."""
    rng = np.random.default_rng(seed)
    data = load(f"linear:n=12,d=3,margin=0.3,seed={seed}")
    start = Network(0.3 * rng.normal(size=(4, 3)), 0.3 * rng.normal(size=4), 0.5)
    case = Case(data, setting(init=None), start)
    verdict = judge(theorem("lyu2021:thmB.19"), case, flow_of(case))
    assert verdict.status in ("confirmed", "not applicable")
    assert (verdict.status == "confirmed") == (head_starts(start, case).max() > 0)


def test_an_output_weight_that_is_too_small_is_no_head_start():
    data = load("linear:n=12,d=3,margin=0.3,seed=3")
    case = Case(data, setting(init=None))
    along = case.view.separator.direction
    w = along + 3 * np.linalg.svd(along[None])[2][1]  # far outside the cone of separators
    threshold = math.sqrt(
        w @ w - head_starts(Network(w[None], np.array([9.0]), case.alpha), case)[0] * (w @ w + 81)
    )
    for factor, good in ((1.01, True), (0.99, False)):
        start = Network(w[None], np.array([factor * threshold]), case.alpha)
        found = holds("lyu2021:thmB.19", dataclasses.replace(case, start=start), "head_start")
        assert found.holds is good


# Theorem E.4


def test_the_largest_pull_is_found(rng):
    data = load("linear:n=9,d=3,margin=0.1,seed=7")
    case = Case(data, setting("leaky:0.2"))
    U = rng.normal(size=(100_000, 3))
    z = U / np.linalg.norm(U, axis=1, keepdims=True) @ data.X.T
    sampled = np.abs(np.maximum(z, 0.2 * z) @ data.y).max() / (2 * data.n)
    assert sampled <= largest_G(case) <= 1.001 * sampled


def test_on_symmetric_data_the_pull_is_that_of_lemma_5_2():
    data = load("symmetric:n=14,d=3,seed=4")
    mu = data.y @ data.X / data.n
    assert largest_G(Case(data, setting("leaky:0.5"))) == pytest.approx(
        1.5 / 4 * np.linalg.norm(mu), rel=1e-9
    )


def test_the_distance_from_pure_growth_has_slope_three():
    """Twice as large weights are eight times as far from pure growth, whatever the start's size."""
    one, points = theorem("lyu2021:thmE.4"), []
    case = one.example()
    for factor in (1.0, 0.5, 0.2):
        start = Network(factor * case.start.W, factor * case.start.a, case.alpha)
        case_here = dataclasses.replace(case, start=start)
        said = one.predict(case_here).values
        for moment in flow_of(case_here).path:
            if not -math.inf < moment.time <= math.log(said["until"] / case.data.n):
                continue
            growth = math.exp(said["rate"] * case.data.n * math.exp(moment.time))
            far = np.abs(moment.network.W - growth * start.W).max()
            if growth > 5:
                points.append((math.log(growth * factor), math.log(far)))
    assert len(points) >= 4
    assert np.polyfit(*np.array(points).T, 1)[0] == pytest.approx(3, abs=0.1)


def test_well_aligned_neurons_on_data_that_is_not_symmetric():
    data = load("lyu2021_right")
    data = Dataset(data.X / np.linalg.norm(data.X, axis=1).max(), data.y)
    mu = np.where(data.y == 1, 1.0, 0.5) * data.y @ data.X  # ∇G in the interior of C
    w = 1e-4 * mu / np.linalg.norm(mu)
    case = Case(data, setting(width=1, init=None), Network(w[None], np.array([1e-4]), 0.5))
    verdict = judge(theorem("lyu2021:thmE.4"), case, flow_of(case))
    assert verdict.status == "confirmed", verdict.words


# Lemma F.3


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_the_three_directions_are_kkt_points_with_the_margins_it_names(alpha):
    data = load("symmetric:n=10,d=3,margin=0.2,seed=8")
    case = Case(data, setting(f"leaky:{alpha}", width=2))
    said = theorem("lyu2021:lemmaF.3").predict(case)
    for net, wanted in zip(
        three_directions(said.values["w"], alpha), said.values["margins"], strict=True
    ):
        kkt = two_layer_kkt(net.W, net.a, data.X, data.y, alpha)
        assert kkt.holds(1e-8)
        assert kkt.margin == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_two_neurons_end_in_one_of_three_ways(seed):
    """Large starts, not balanced; |a_k| ≥ ‖w_k‖ keeps the signs."""
    rng = np.random.default_rng(seed)
    data = load(f"symmetric:n=8,d=2,margin=0.2,seed={seed}")
    W = rng.normal(size=(2, 2))
    start = Network(W, np.array([1.1, -1.5]) * np.linalg.norm(W, axis=1), 0.5)
    case = Case(data, setting(width=2, init=None), start)
    verdict = judge(theorem("lyu2021:lemmaF.3"), case, flow_of(case))
    assert verdict.status == "confirmed", verdict.words


# Lemmas G.1 and G.2


def gaps(case):
    """By how much A.2 holds for every point, over max‖x‖²; from its definition."""
    Z, alpha = case.data.y[:, None] * case.data.X, case.alpha
    gram = Z @ Z.T
    against = np.maximum(-gram, 0).sum(axis=1)
    return (gram.sum(axis=1) - (1 - alpha) / alpha * against) / len(Z) / np.diag(gram).max()


@pytest.mark.parametrize("seed", range(6))
def test_a_principal_direction_gives_the_slack_it_promises(seed):
    rng = np.random.default_rng(seed)
    d = 2 + seed % 3
    X = rng.normal(size=(10, d)) * rng.uniform(0.02, 0.2)
    y = np.where(rng.uniform(size=10) < 0.5, 1, -1)
    X[:, 0] = y * rng.uniform(0.8, 1.2, 10)
    case = Case(Dataset(X, y), setting(f"leaky:{rng.uniform(0.2, 0.9)}"))
    verdict = judge(theorem("lyu2021:lemmaG.1"), case)
    assert verdict.status in ("confirmed", "agrees", "not applicable")
    weaker = case.data_check("lyu2021:assumptionA.2", "A.2")
    if case.data_check("lyu2021:assumptionA.1", "A.1").holds:
        assert weaker.holds
    assert gaps(case).min() == pytest.approx(weaker.slack, abs=1e-12)


@pytest.mark.parametrize(
    ("spec", "alpha"),
    [("linear:n=7,d=2,margin=0.3,seed=0", 0.4)]
    + [(f"linear:n=8,d=3,margin=0.1,seed={seed}", 0.6) for seed in range(3)],
)
def test_the_smallest_product_on_the_cone_by_all_corners_and_by_linear_programs(spec, alpha):
    data = load(spec)
    case = Case(data, setting(f"leaky:{alpha}"))
    Z = data.y[:, None] * data.X
    corners = np.array(list(itertools.product([alpha, 1.0], repeat=data.n)))
    brute = (corners @ Z @ Z.T).min() / data.n
    programs = min(linprog(Z @ z, bounds=[(alpha, 1.0)] * data.n).fun / data.n for z in Z)
    scale = np.linalg.norm(Z, axis=1).max() ** 2
    slack = theorem("lyu2021:lemmaG.2").predict(case).values["slack"]
    assert brute == pytest.approx(programs, abs=1e-9)
    assert alpha * slack * scale == pytest.approx(brute, abs=1e-9)
    assert judge(theorem("lyu2021:lemmaG.2"), case).status == "confirmed"


def test_the_equivalence_at_the_very_threshold():
    """A.2 just holds and just fails: so do the cones."""
    data = load("linear:n=12,d=2,margin=0.5,seed=0")
    threshold = float(
        check(data, properties="lyu2021:assumptionA.2", activation="leaky:0.5")
        .properties["lyu2021:assumptionA.2"]
        .note.rpartition("> ")[2]
    )
    for factor, good in ((1.01, True), (0.99, False)):
        case = Case(data, setting(f"leaky:{factor * threshold}"))
        said = theorem("lyu2021:lemmaG.2").predict(case)
        assert (said.values["slack"] > 0) is good
        assert judge(theorem("lyu2021:lemmaG.2"), case).status == "confirmed"


# Theorems G.9 and G.11


@pytest.mark.parametrize(("seed", "alpha"), [(21, 0.2), (22, 0.5), (23, 0.8)])
def test_one_neuron_ends_along_w_plus(seed, alpha):
    rng = np.random.default_rng(seed)
    data = load(f"linear:n=10,d=3,margin=0.2,seed={seed}")
    case = Case(data, setting(f"leaky:{alpha}", width=1, init=None))
    w = rng.normal(size=3)
    w *= np.sign(w @ case.view.separator.direction)
    case = dataclasses.replace(
        case, start=Network(w[None], np.array([np.linalg.norm(w)]), case.alpha)
    )
    verdict = judge(theorem("lyu2021:thmG.9"), case, flow_of(case))
    assert verdict.status == "confirmed", verdict.words
    assert margin(flow_of(case).end, case) == pytest.approx(
        scaled_margin(data.X, data.y, alpha).lower / 2, rel=1e-6
    )


def test_one_neuron_is_locally_best_where_the_theorem_says_so():
    for spec in ("lyu2021_right", "hinted:n=6,d=3,seed=2", "lyu2021_middle"):
        verdict = judge(theorem("lyu2021:thmG.11"), Case(load(spec), setting()))
        assert verdict.status == "confirmed", (spec, verdict.words)


def test_the_condition_at_the_multipliers_implies_a_5(rng):
    strong = weak = 0
    for k in range(40):
        y = rng.permutation(np.repeat([1, -1], 3))
        X = np.column_stack([y * rng.uniform(0.2, 1, 6), rng.normal(size=6)])
        X[y == -1] *= 1 + k % 4
        case = Case(Dataset(X, y), setting())
        condition = weaker_at_multipliers(case, 1, "here")
        a_5 = case.data_check("lyu2021:assumptionA.5", "A.5")
        if condition.holds:
            strong += 1
            assert a_5.holds
            residual = judge(theorem("lyu2021:thmG.11"), case).residual
            assert residual < 1e-7
        elif condition.holds is False:
            weak += bool(a_5.holds)
            assert best_step(case, scaled_margin(X, y, 0.5))[0] > 1e-6
    assert strong > 0 and weak > 0  # A.5 holds in both


def test_on_three_points_a_5_holds_and_the_flow_leaves_the_single_neuron():
    """A.2, A.3, A.5 and (orthogonally separable) A.6 hold, so Theorem A.7 promises one neuron."""
    case = three_points()
    for name in ("A.2", "A.3", "A.5"):
        assert case.data_check(f"lyu2021:assumption{name}", name).holds
    assert case.data_check("orthogonally_separable", "H.1").holds
    one_neuron = scaled_margin(case.data.X, case.data.y, 0.5).lower / 2
    for size in ("1e-3", "1e-6"):
        run = flow_of(dataclasses.replace(case, setting=setting(init=f"balanced:{size}")), seed=1)
        assert (run.start.a > 0).any() and (run.start.a < 0).any()
        assert run.outcome == "converged"
        assert margin(run.end, case) > 1.05 * one_neuron
        assert certify(run.end, case.data).is_kkt


@pytest.mark.parametrize(
    ("s", "a_5", "condition"), [(0.24, 1, 1), (0.26, 1, 0), (0.99, 1, 0), (1.01, 0, 0)]
)
def test_both_conditions_on_two_orthogonal_points(s, a_5, condition):
    """(s, 0) positive and (0, 1) negative: by hand, A.5 means s < 1, the other s < α²."""
    case = Case(Dataset(np.array([[s, 0.0], [0.0, 1.0]]), np.array([1, -1])), setting())
    assert case.data_check("lyu2021:assumptionA.5", "A.5").holds is bool(a_5)
    assert weaker_at_multipliers(case, 1, "here").holds is bool(condition)


def test_flipped_labels_flip_the_condition():
    case = three_points()
    flipped = dataclasses.replace(case, data=Dataset(case.data.X, -case.data.y), _properties={})
    one, other = weaker_at_multipliers(case, 1, "x"), weaker_at_multipliers(flipped, -1, "x")
    assert one.holds is other.holds is False
    assert one.slack == pytest.approx(other.slack)


# Theorem H.2 and Lemma H.3


@pytest.mark.parametrize(
    ("spec", "width", "seed"),
    [("orthogonal:n=30,d=4,seed=5", 20, 3), ("orthogonal:n=50,d=2,seed=6", 10, 4)],
)
def test_the_flow_ends_at_the_two_max_margin_neurons(spec, width, seed):
    case = Case(load(spec), setting("relu", width))
    run = flow_of(case, seed)
    for id in ("lyu2021:thmH.2", "lyu2021:lemmaH.3"):
        verdict = judge(theorem(id), case, run)
        assert verdict.status == "confirmed", verdict.words
    words = judge(theorem("lyu2021:thmH.2"), case, run).words
    assert f"{width} neurons end within" in words and "rad of w⁺ or w⁻" in words


@pytest.mark.parametrize("spec", ["orthogonal:n=20,d=3,seed=9", "orthogonal:n=16,d=5,seed=2"])
def test_the_margin_it_names_is_that_of_the_convex_program(spec):
    data = load(spec)
    said = theorem("lyu2021:thmH.2").predict(Case(data, setting("relu")))
    low, high = optimum(data).margin_bounds
    assert low - 1e-9 <= said.values["margin"] <= high + 1e-9
    assert high - low < 1e-5 * high


def test_dead_neurons_are_counted():
    case = theorem("lyu2021:thmH.2").example()
    said = theorem("lyu2021:thmH.2").predict(case)
    end = theorem("lyu2021:thmH.2").ideal(said, case).end
    W, a = end.W, end.a
    run = ended_at(case, np.vstack([W, -1e-12 * W[:1]]), np.append(a, 1e-12))
    verdict = judge(theorem("lyu2021:thmH.2"), case, run)
    assert verdict.status == "confirmed"
    assert verdict.words.startswith("12 of 13 neurons end within")


def test_a_neuron_that_is_turned_is_noticed_in_proportion():
    case = theorem("lyu2021:lemmaH.3").example()
    said = theorem("lyu2021:lemmaH.3").predict(case)
    end = theorem("lyu2021:lemmaH.3").ideal(said, case).end
    W, a = end.W, end.a
    across = np.linalg.svd(W[:1])[2][1]
    found = []
    for angle in (1e-3, 1e-4):
        turned = W.copy()
        size = np.linalg.norm(W[0])
        turned[0] = math.cos(angle) * W[0] + math.sin(angle) * size * across
        run = ended_at(case, turned, a)
        found.append(
            [
                theorem(id).residual(said, case, run) / angle
                for id in ("lyu2021:thmH.2", "lyu2021:lemmaH.3")
            ]
        )
    assert np.all(np.array(found) > 0.005)
    assert found[0] == pytest.approx(found[1], rel=0.05)


def test_one_class_is_orthogonally_separable_and_needs_one_vector():
    """Exactly at the edge of the definition: no point of the other class at all."""
    data = load("wang2022_f2")
    case = Case(data, setting("relu", 3))
    verdict = judge(theorem("lyu2021:thmH.2"), case, flow_of(case, 0))
    assert verdict.status == "confirmed"
    assert [sign for sign, _ in verdict.prediction.directions] == [1]


def test_orthogonal_classes_just_meet_the_definition_and_an_acute_angle_misses_it():
    for tilt, good in ((0.0, True), (1e-9, False)):
        X = np.array([[1.0, 0.0], [tilt, 1.0]])
        case = Case(Dataset(X, np.array([1, -1])), setting("relu", 4))
        assert holds("lyu2021:thmH.2", case, "orthogonally_separable").holds is good


def test_w_plus_is_that_of_phuong2021():
    case = theorem("lyu2021:thmH.2").example()
    said = theorem("lyu2021:thmH.2").predict(case)
    X, y = case.data.X, case.data.y
    for name, sign in (("w_plus", 1), ("w_minus", -1)):
        assert (X[y == sign] @ said.values[name]).min() == pytest.approx(1)
        assert said.values[name] == pytest.approx(class_margin(X, y, sign).w)


# App. I.1.1


@pytest.mark.parametrize(("alpha", "own", "best"), [(0.0, 0.2071, 0.25), (0.5, 0.3561, 0.375)])
def test_the_margins_of_the_left_figure(alpha, own, best):
    case = Case(load(f"lyu2021_left:alpha={alpha}"), setting(f"leaky:{alpha}", width=3))
    said = theorem("lyu2021:exI.1.1").predict(case)
    assert said.values["margin"] == pytest.approx(own, abs=5e-5)
    assert said.values["best"] == pytest.approx(best, abs=1e-12)
    assert judge(theorem("lyu2021:exI.1.1"), case).status == "confirmed"


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.3, 0.7, 0.95])
def test_the_printed_multipliers_fit_with_the_lower_slope_at_the_kinks(alpha):
    assert printed_multipliers(alpha).min() >= 0
    assert stationarity(alpha, alpha) < 1e-12
    assert stationarity(alpha, 1.0) > 1e-3
    net = printed_network(alpha)
    data = load(f"lyu2021_left:alpha={alpha}")
    z = data.X @ net.W.T
    q = data.y * (np.maximum(z, alpha * z) @ net.a)
    assert q.min() == pytest.approx(1)
    assert q[printed_multipliers(alpha) > 0] == pytest.approx(1)


def test_it_knows_its_points_in_any_order_and_no_others(rng):
    data = load("lyu2021_left")
    order = rng.permutation(6)
    case = Case(Dataset(data.X[order], data.y[order]), setting(width=3))
    assert holds("lyu2021:exI.1.1", case, "six_points").holds
    moved = Case(Dataset(data.X + 1e-6, data.y), setting(width=3))
    assert holds("lyu2021:exI.1.1", moved, "six_points").holds is False


# App. I.2.1


@pytest.mark.parametrize("seed", [31, 32, 33])
def test_the_flow_is_monotone_even_from_unbalanced_starts(seed):
    rng = np.random.default_rng(seed)
    data = load(f"orthogonal:n=10,d=3,seed={seed}")
    start = Network(rng.normal(size=(5, 3)), 0.1 * rng.normal(size=5), 0.5)
    case = Case(data, setting(init=None, width=5), start)
    verdict = judge(theorem("lyu2021:lemmaI.2.1"), case, flow_of(case))
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)


def test_on_other_data_neurons_turn_back():
    data = load("linear:n=16,d=2,margin=0.05,seed=2")
    case = Case(data, setting(width=6, init="balanced:1e-2"))
    assert holds("lyu2021:lemmaI.2.1", case, "orthogonally_separable").holds is False
    run = observe(limit(case.data, case.setting, log10_loss=-2))
    assert steps_back(run, case).max() > 1e-3


# All of them, on what they do not speak of

HERE = (
    "lemmaB.9 thmB.19 thmE.4 lemmaF.3 lemmaG.1 lemmaG.2 thmG.9 thmG.11 thmH.2 lemmaH.3 exI.1.1 "
    "lemmaI.2.1"
)


@pytest.mark.parametrize("number", HERE.split())
def test_no_data_and_no_start_is_too_strange_to_be_judged(number, rng):
    for data in (
        load("orthogonal_classes:n=9,d=3,classes=3"),
        load("xor"),
        load("wang2022_f2"),
        Dataset(np.zeros((2, 2)), np.array([1, -1])),
        Dataset(np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, -1])),
    ):
        W = rng.normal(size=(2, data.d))
        for alpha, size in itertools.product((0.0, 0.5), (None, 1.0, 0.0)):
            some, none = (Network(s * W, s * np.array([1.0, -1.0]), alpha) for s in (1.0, 0.0))
            start = {None: None, 1.0: some, 0.0: none}[size]
            case = Case(data, setting(f"leaky:{alpha}" if alpha else "relu", width=2), start)
            for run in (None, ended(some), ended(none)):
                verdict = judge(theorem(f"lyu2021:{number}"), case, run)
                slacks = [c.slack for c in verdict.hypotheses if c.slack is not None]
                assert np.isfinite([*slacks, verdict.residual or 0.0]).all()
