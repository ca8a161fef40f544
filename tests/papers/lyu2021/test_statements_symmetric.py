"""Theorems of lyu2021, §3 to §6 and App. A: unseen data, edges of the hypotheses, second routes."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from tacit import Dataset, Setting, load
from tacit.certificates import certify
from tacit.explanation.observation import observe
from tacit.flow import initial_network, limit
from tacit.numerics.embedding import embedding, integrated
from tacit.papers.lyu2021.networks import linear_network, one_neuron
from tacit.papers.lyu2021.statements.cases import hinted_case, symmetric_case
from tacit.papers.lyu2021.statements.early_pulls import pulls
from tacit.papers.lyu2021.statements.embedding import (
    embed,
    embedding_of,
    size_of,
    spread,
    symmetrised,
)
from tacit.papers.lyu2021.statements.hinted import enough_K, hints_of
from tacit.papers.lyu2021.statements.network_functions import difference, margin
from tacit.papers.lyu2021.statements.symmetric import separator
from tacit.theorems import Case, Network, Observation, PathPoint, judge, theorem


def flow(case: Case) -> Observation:
    return observe(limit(case.data, case.setting, start=case.start))


def of(number: str, case: Case, run: Observation | None = None):
    return judge(theorem(f"lyu2021:{number}"), case, run)


def slack(number: str, case: Case, name: str, run: Observation | None = None):
    checks = theorem(f"lyu2021:{number}").hypotheses(case, run)
    return next(check for check in checks if check.name == name)


def with_data(case: Case, X: np.ndarray, y: np.ndarray) -> Case:
    return replace(case, data=Dataset(X, y), _properties={})


def test_functions_are_told_apart() -> None:
    """Also where they differ by a small kink."""
    case = symmetric_case()
    w = separator(case)
    assert difference(linear_network(w, case.alpha), linear_network(w, case.alpha), case) == 0
    assert difference(one_neuron(w, case.alpha), linear_network(w, case.alpha), case) > 0.1
    W = np.vstack([linear_network(w, case.alpha).W, [[0, 1e-3], [0, 1e-3]]])
    kinked = Network(W, np.array([0.5, -0.5, 1e-3, 1e-3]), case.alpha)
    assert 1e-7 < difference(kinked, linear_network(w, case.alpha), case) < 1e-4


# --- symmetric data -------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha, call", [(0.1, "n=6,d=2,seed=7"), (0.7, "n=16,d=5,seed=8")])
def test_theorem_4_2_on_other_data(alpha: float, call: str) -> None:
    case = replace(symmetric_case(call, alpha), start=None)
    verdict = of("thm4.2", case)
    assert verdict.status == "confirmed" and verdict.residual < 1e-7
    best = linear_network(separator(case), case.alpha)
    assert margin(best, case) == pytest.approx(verdict.prediction.values["margin"], rel=1e-12)
    assert certify(best, case.data).optimality == "certified"


def test_theorem_4_2_is_false_without_symmetry() -> None:
    data = load("hinted:n=4,d=2")
    case = replace(symmetric_case(), data=data, start=None, _properties={})
    one = theorem("lyu2021:thm4.2")
    assert of("thm4.2", case).status == "not applicable"
    assert one.residual(one.predict(case), case, None) > 0.1


@pytest.mark.parametrize(
    "alpha, call, width, seed", [(0.2, "n=10,d=3,seed=4", 5, 0), (0.8, "n=6,d=4,seed=5", 2, 4)]
)
def test_theorem_4_3_on_other_data(alpha: float, call: str, width: int, seed: int) -> None:
    case = symmetric_case(call, alpha, width, 1e-5, seed)
    run = flow(case)
    verdict = of("thm4.3", case, run)
    assert slack("thm4.3", case, "good_embedding").holds
    assert verdict.status == "confirmed" and verdict.residual < 1e-8
    # the start may also come with the run
    assert of("thm4.3", replace(case, start=None), run).status == "confirmed"


def test_theorem_4_3_says_nothing_where_all_neurons_pull_to_one_side() -> None:
    """Then the limit is that of Lemma A.4, and it is another one."""
    one = theorem("lyu2021:thm4.3")
    case, name = one.counterexample()
    assert slack("thm4.3", case, name).slack < 0
    run = flow(case)
    assert of("thm4.3", case, run).status == "not applicable"
    assert one.residual(one.predict(case), case, run) > 0.1
    w = theorem("lyu2021:lemmaA.4").predict(case).values["w"]
    assert difference(run.end, one_neuron(w, case.alpha), case) < 1e-8


def test_one_small_entry_of_the_other_sign_makes_a_good_embedding() -> None:
    case, name = theorem("lyu2021:thm4.3").counterexample()
    for entry, holds in ((1e-9, True), (0.0, False), (-1e-9, False)):
        W, a = case.start.W.copy(), case.start.a.copy()
        W[0], a[0] = -entry * W[1], -entry * a[1]
        check = slack("thm4.3", replace(case, start=Network(W, a, case.alpha)), name)
        assert check.holds is holds
        assert np.sign(check.slack) == np.sign(entry)


@pytest.mark.parametrize("weak, status", [(1e-2, "confirmed"), (1e-8, "not applicable")])
def test_how_small_the_start_must_be_depends_on_the_weaker_sign(weak: float, status: str) -> None:
    """A neuron that is nearly off the line loses its way, and the limit is another."""
    case = symmetric_case("n=8,d=2,seed=2", width=3)
    mu = case.data.y @ case.data.X
    mu = mu / np.linalg.norm(mu)
    across = np.array([-mu[1], mu[0]])
    W = 1e-6 * np.array([mu, mu + across, across - weak / 2 * mu])
    case = replace(case, start=Network(W, 1e-6 * np.array([1, 1, -weak / 2]), case.alpha))
    run, one = flow(case), theorem("lyu2021:thm4.3")
    assert slack("thm4.3", case, "good_embedding").holds
    assert of("thm4.3", case, run).status == status
    assert (one.residual(one.predict(case), case, run) < 1e-8) is (status == "confirmed")


def test_assumption_4_5_just_missed() -> None:
    """A point across µ."""
    case = symmetric_case()
    X = np.array([[1.0, 0.5], [1.0, -0.5], [0.0, 1.0], [2.0, -1.0]])
    y = np.repeat([1, -1], 4)
    for shift, holds in ((0.0, False), (1e-9, True)):
        near = X + np.array([[0, 0], [0, 0], [shift, 0], [0, 0]])
        found = slack(
            "thm4.3", with_data(case, np.vstack([near, -near]), y), "lyu2021:assumption4.5"
        )
        assert found.holds is holds


@cache
def ensemble() -> tuple[Case, Observation]:
    case = replace(symmetric_case("n=4,d=2,seed=3", width=2), start=None)
    runs = []
    for seed in range(16):
        start = initial_network(case.data, case.setting, seed)
        runs.append(flow(replace(case, start=start)))
    return case, Observation((), members=tuple(runs))


def test_corollary_4_4_over_random_starts() -> None:
    """As many runs attain the widest margin as have a good embedding."""
    case, run = ensemble()
    verdict = of("cor4.4", case, run)
    assert verdict.status == "confirmed" and verdict.residual == 0
    widest = verdict.prediction.values["margin"]
    assert verdict.prediction.values["probability"] == 0.5
    hits = [margin(one.end, case) > (1 - 1e-6) * widest for one in run.members]
    good = [embedding_of(case, one.start).good for one in run.members]
    assert hits == good and 0 < sum(hits) < len(hits)


def test_corollary_4_4_can_be_refuted() -> None:
    case, run = ensemble()
    bad = [one for one in run.members if not embedding_of(case, one.start).good]
    verdict = of("cor4.4", case, Observation((), members=tuple(bad * 5)))
    assert verdict.status == "refuted" and verdict.residual > 0.3
    assert of("cor4.4", case, Observation((), members=())).status == "open"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_theorem_5_5_from_anywhere_on_the_right_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = symmetric_case(f"n=8,d=3,seed={seed}", 0.1 * seed, 2)
    W = rng.normal(size=(2, 3)) * 10.0 ** rng.uniform(-2, 0.5)
    W *= (np.sign(W @ separator(case)) * [1, -1])[:, None]
    a = np.linalg.norm(W, axis=1) * [1, -1]
    case = replace(case, start=Network(W, a, case.alpha))
    verdict = of("thm5.5", case, flow(case))
    assert verdict.status == "confirmed" and verdict.residual < 1e-8


def test_theorem_5_5_at_the_edge_of_its_hypotheses() -> None:
    case = theorem("lyu2021:thm5.5").example()
    w, a = separator(case), case.start.a
    across = np.array([-w[1], w[0]])
    for tilt, holds in ((1e-6, True), (-1e-6, False)):
        W = np.array([across + tilt * w, -w])
        W *= (np.abs(a) / np.linalg.norm(W, axis=1))[:, None]
        check = slack("thm5.5", replace(case, start=Network(W, a, case.alpha)), "right_sides")
        assert check.holds is holds and check.slack == pytest.approx(tilt, rel=1e-3)
    other = replace(case, start=replace(case.start, a=1.001 * a))
    assert slack("thm5.5", other, "balanced").slack == pytest.approx(-0.001, rel=1e-3)
    other = replace(case, start=replace(case.start, a=np.abs(a)))
    assert slack("thm5.5", other, "both_signs").holds is False


# --- the way there --------------------------------------------------------------------------------


def test_lemma_5_2_has_slope_3_on_the_run_too() -> None:
    case = symmetric_case("n=10,d=3,seed=6", 0.3, 5, 1e-10, 2)
    known = embedding_of(case, case.start)
    run = flow(case)
    assert of("lemma5.2", case, run).status == "confirmed"
    sizes, errors = [], []
    for moment in run.path[1:]:
        grown = known.rate * case.data.n * math.exp(min(moment.time, 9.0))
        r = known.size * math.exp(min(grown, 99.0))
        if 0.01 < r < 0.2:
            off = moment.network.W - r * np.outer(known.b, known.direction)
            sizes.append(r)
            errors.append(np.linalg.norm(off, axis=1).max())
    assert len(sizes) >= 3
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(3, abs=0.1)
    known = (*symmetrised(case), case.alpha, case.start.W, case.start.a)
    errors = [integrated(*known, r).error for r in (0.02, 0.04)]
    assert math.log2(errors[1] / errors[0]) == pytest.approx(3, abs=0.05)


def test_lemma_5_2_refutes_the_printed_rate() -> None:
    """Neurons that grow like e^((1+α)/2 ‖µ‖t) are beyond the bound."""
    one, case = theorem("lyu2021:lemma5.2"), symmetric_case()
    said = one.predict(case)
    ideal = one.ideal(said, case)
    early = [PathPoint(m.time - math.log(2), m.log_loss, m.network) for m in ideal.path]
    early.append(ideal.path[-1])
    assert one.residual(said, case, ideal) == 0
    assert one.residual(said, case, Observation(tuple(early))) > 1


def test_the_embedding_does_not_depend_on_the_last_bits_of_the_data() -> None:
    case = symmetric_case("n=10,d=3,seed=6", 0.3, 5)
    mine = embedding_of(case, case.start)
    other = embedding(*symmetrised(case), case.alpha, case.start.W, case.start.a)
    assert (mine.size, mine.good) == (other.size, other.good)
    assert mine.rate == pytest.approx(other.rate, rel=1e-14)
    np.testing.assert_allclose(mine.b, other.b, rtol=1e-12)


def test_lemma_5_2_needs_room_for_r() -> None:
    """√m ‖θ₀‖_M ≤ (√λ₀/2)³."""
    case = symmetric_case()
    known = embedding_of(case, case.start)
    for factor, holds in ((0.999, True), (1.001, False)):
        scale = factor * (math.sqrt(known.rate) / 2) ** 3 / known.size
        start = Network(scale * case.start.W, scale * case.start.a, case.alpha)
        assert slack("lemma5.2", replace(case, start=start), "room_for_r").holds is holds


def test_lemma_5_3_the_flows_of_2_and_of_m_neurons_are_the_same() -> None:
    case = theorem("lyu2021:lemma5.3").example()
    said = theorem("lyu2021:lemma5.3").predict(case).values
    two = replace(
        case,
        setting=replace(case.setting, width=2),
        start=Network(said["W"], said["a"], case.alpha),
    )
    many, few = flow(case), flow(two)
    assert len(many.path) == len(few.path)
    for one, other in zip(many.path, few.path, strict=True):
        assert one.log_loss == pytest.approx(other.log_loss, rel=1e-9)
        wanted = embed(case.start.a, other.network)
        off = Network(one.network.W - wanted.W, one.network.a - wanted.a)
        assert size_of(off) < 1e-9 * size_of(wanted)


def test_lemma_5_3_notices_a_neuron_that_leaves() -> None:
    case = theorem("lyu2021:lemma5.3").example()
    run = flow(case)
    last = run.path[-1]
    W = last.network.W.copy()
    W[2] *= 1 + 1e-6
    moments = (*run.path[:-1], last._replace(network=replace(last.network, W=W)))
    assert of("lemma5.3", case, replace(run, path=moments)).status == "refuted"


def test_lemma_5_4_errors_shrink_with_the_start() -> None:
    one = theorem("lyu2021:lemma5.4")
    sizes, errors = [1e-3, 1e-4, 1e-5], []
    for size in sizes:
        case = symmetric_case("n=10,d=3,seed=4", 0.2, 6, size, 2)
        errors.append(one.residual(one.predict(case), case, flow(case)))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(1, abs=0.2)
    case = symmetric_case("n=10,d=3,seed=4", 0.2, 6, 1e-7, 2)
    assert of("lemma5.4", case, flow(case)).status == "confirmed"


# --- any direction --------------------------------------------------------------------------------


@pytest.mark.parametrize("train, activation", [("both", "relu"), ("first", "leaky:0.3")])
def test_theorem_3_1_on_data_that_is_not_separable_by_a_line(train, activation) -> None:
    X = np.array([[1.0, 0.2], [-1.0, -0.1], [0.1, -1.0], [-0.2, 1.0]])
    init = "balanced:0.1" if train == "both" else "gaussian:0.1"
    setting = Setting(activation=activation, train=train, width=12, init=init, rule="flow")
    case = Case(Dataset(X, np.array([1, 1, -1, -1])), setting)
    assert slack("thm3.1", case, "small_loss").holds is None
    run = observe(limit(case.data, setting, seed=1))
    verdict = of("thm3.1", case, run)
    assert verdict.status == "confirmed" and verdict.residual < 1e-8


def test_theorem_3_1_at_the_edge_of_its_loss() -> None:
    case = symmetric_case()
    best = spread(case, linear_network(separator(case), case.alpha))
    X, y = case.data.X, case.data.y
    q = y * (np.maximum(X @ best.W.T, 0.5 * X @ best.W.T) @ best.a)
    edge = minimize(
        lambda s: (np.logaddexp(0, -(s[0] ** 2) * q).sum() - math.log(2)) ** 2, [5.0], tol=1e-14
    ).x[0]
    for factor, holds in ((1.01, True), (0.99, None)):
        start = Network(factor * edge * best.W, factor * edge * best.a, case.alpha)
        assert slack("thm3.1", replace(case, start=start), "small_loss").holds is holds
    stuck = Observation((PathPoint(0.0, 0.0, best), PathPoint(1.0, -0.1, best)))
    assert slack("thm3.1", case, "small_loss", stuck).holds is False


def test_theorem_5_6_near_and_not_near() -> None:
    one = theorem("lyu2021:thm5.6")
    case = one.example()
    best = spread(case, linear_network(separator(case), case.alpha))
    rng = np.random.default_rng(3)
    noise = Network(rng.normal(size=best.W.shape), rng.normal(size=best.a.shape))
    for share, holds in ((0.09, True), (0.2, False)):
        step = share / size_of(noise)
        start = replace(best, W=20 * (best.W + step * noise.W), a=20 * (best.a + step * noise.a))
        near = replace(case, start=start)
        assert slack("thm5.6", near, "near_the_best").holds is holds
        if holds:
            verdict = of("thm5.6", near, flow(near))
            assert verdict.status == "confirmed" and verdict.residual < 1e-8


# --- one neuron survives --------------------------------------------------------------------------


@pytest.mark.parametrize("alpha, call", [(0.3, "n=5,d=3,seed=4"), (0.7, "n=6,d=2,seed=9")])
def test_theorem_6_2_on_other_data(alpha: float, call: str) -> None:
    case = hinted_case(call, alpha, 10.0 ** (-8 if alpha < 0.5 else -12))
    run = flow(case)
    verdict = of("thm6.2", case, run)
    assert verdict.status == "confirmed", verdict.words
    hints = hints_of(case.data)
    for mine, made in zip((hints.H, hints.K, hints.eps), "H K eps".split(), strict=True):
        assert mine == pytest.approx(case.data.parameters[made], rel=1e-9)
    assert margin(run.end, case) == pytest.approx(hints.eps / 2, rel=1e-8)
    assert verdict.prediction.values["widest"] > 1.01 * hints.eps / 2
    assert of("thmA.7", case, run).status == "confirmed"


def test_without_a_positive_neuron_the_hints_do_not_work() -> None:
    case = hinted_case()
    one, start = theorem("lyu2021:thm6.2"), replace(case.start, a=-np.abs(case.start.a))
    case = replace(case, start=start)
    run = flow(case)
    assert of("thm6.2", case, run).status == "not applicable"
    assert one.residual(one.predict(case), case, run) > 0.1


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8])
def test_the_margin_is_suboptimal_from_enough_K_on(alpha: float) -> None:
    eps = 0.05
    for factor, holds in ((0.999, False), (1.001, True)):
        K = factor * enough_K(eps, alpha)
        call = f"n=5,d=3,seed=2,alpha={alpha},eps={eps},K={K},margin=0.5"
        data = load(f"hinted:{call}")
        w = data.X[0] / np.linalg.norm(data.X[0])
        case = replace(hinted_case(), data=data, start=None, _properties={})
        case = replace(case, setting=replace(case.setting, activation=f"leaky:{alpha}"))
        assert slack("thm6.2", case, "large_K").holds is holds
        net = one_neuron(w, case.alpha)
        found = certify(net, data, tolerance=1e-9)
        assert found.optimality == ("suboptimal" if holds else "certified")


def test_hints_are_found_only_where_they_are() -> None:
    case = hinted_case()
    X, y = case.data.X, case.data.y
    order = [3, 0, 1, 2, *range(4, len(y))]
    assert slack("thm6.2", with_data(case, X[order], y[order]), "hinted").holds is False
    moved = X.copy()
    moved[1] *= 1.001
    check = slack("thm6.2", with_data(case, moved, y), "hinted")
    assert check.holds is False and 1e-5 < -check.slack < 1e-2
    assert of("thm6.2", with_data(case, X[:3], y[:3])).status == "not applicable"


def principal(lengths: np.ndarray, y: np.ndarray) -> Dataset:
    """Points along one direction, and a little across."""
    across = 0.05 * np.sin(np.arange(1, len(y) + 1))
    return Dataset(np.column_stack([y * lengths, across]), y)


@pytest.mark.parametrize("sign", [1, -1])
def test_theorems_A_7_and_A_10_without_hints(sign: int) -> None:
    """The classes change places, and so do the theorems."""
    y = np.array([1, 1, 1, 1, -1, -1])
    data = principal(np.array([0.5, 3.0, 4.0, 5.0, 2.2, 2.4]), y)
    data = Dataset(data.X, sign * data.y)
    case = replace(hinted_case(size=1e-9), data=data, _properties={})
    setting = replace(case.setting, activation="leaky:0.3")
    start = replace(case.start, a=sign * case.start.a, alpha=0.3)
    case = replace(case, setting=setting, start=start)
    holds, other = ("thmA.7", "thmA.10") if sign > 0 else ("thmA.10", "thmA.7")
    verdict = of(holds, case, flow(case))
    assert verdict.status == "confirmed", verdict.words
    assert of(other, case).status == "not applicable"


def test_a_start_of_1e_9_is_not_small_where_the_signs_grow_alike() -> None:
    """σ^κ counts, κ = 1 − ‖µ⁻‖/‖µ⁺‖ = 0.0008: negative neurons are still there at the end."""
    X = [[0.73, 0.33], [0.59, -0.08], [0.91, 0.1], [-0.57, -0.27], [-0.67, -0.1], [-1.0, 0.37]]
    W = 1e-9 * np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -1.0]])
    start = Network(W, np.linalg.norm(W, axis=1) * [1, -1, 1], 0.8)
    setting = Setting(activation="leaky:0.8", width=3, init="balanced_gaussian:1e-9", rule="flow")
    case = Case(Dataset(np.array(X), np.array([1, 1, 1, -1, -1, -1])), setting, start)
    check = slack("thmA.7", case, "negative_stay_small")
    assert check.holds is None and "κ = 0.0008" in check.note
    one = theorem("lyu2021:thmA.7")
    residual = one.residual(one.predict(case), case, flow(case))
    assert residual is not None and residual > 0.1


def test_a_neuron_on_the_ray_shrinks() -> None:
    """−µ⁻ for a > 0: it stays there, and the hypothesis knows."""
    case = hinted_case()
    ray = pulls(case).minus / np.linalg.norm(pulls(case).minus)
    for sign, holds in ((-1, False), (1, True)):
        W = case.start.W.copy()
        W[0] = sign * np.linalg.norm(W[0]) * ray
        near = replace(case, start=replace(case.start, W=W))
        assert slack("thmA.7", near, "off_the_ray").holds is holds


@pytest.mark.parametrize("alpha, call", [(0.1, "n=8,d=2,seed=5"), (0.6, "n=30,d=6,seed=6")])
def test_lemma_A_4_on_other_data(alpha: float, call: str) -> None:
    setting = Setting(activation=f"leaky:{alpha}", width=1, rule="flow")
    case = Case(load(f"linear:{call}"), setting)
    verdict = of("lemmaA.4", case)
    assert verdict.status == "confirmed"
    one = theorem("lyu2021:lemmaA.4")
    said = verdict.prediction
    turned = replace(said, values=said.values | {"w": np.roll(said.values["w"], 1)})
    assert one.residual(turned, case, None) > 1e-3
    if case.data.d == 2:  # no direction of the circle is better
        angles = np.linspace(0, 2 * np.pi, 100_001)
        w = np.column_stack([np.cos(angles), np.sin(angles)])
        t = case.data.X @ w.T
        best = (case.data.y[:, None] * np.maximum(t, alpha * t)).min(axis=0).max() / 2
        assert best == pytest.approx(said.values["margin"], rel=1e-4)
