"""Theorems of wang2022, beyond the suite."""

import dataclasses
import math

import numpy as np
import pytest

from helpers import rest_long
from tacit.certificates import certify, optimum
from tacit.data import load
from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.flow.early import early as early_phase
from tacit.papers.wang2022.statements import early
from tacit.papers.wang2022.statements.convex import written_out
from tacit.papers.wang2022.statements.dual import bounds_of, dual_feasible
from tacit.papers.wang2022.statements.extreme import own_gradients
from tacit.papers.wang2022.statements.gradients import (
    flow_gradient,
    gradient_lengths,
    matching_slacks,
)
from tacit.papers.wang2022.statements.hypotheses import balanced_network
from tacit.papers.wang2022.statements.kkt import acute_pair, covered, kkt_point
from tacit.papers.wang2022.statements.limit_points import ended_at, kkt_of
from tacit.papers.wang2022.statements.limits import three_against_one
from tacit.papers.wang2022.statements.masks import largest_in_cell
from tacit.papers.wang2022.statements.sign_vectors import sign_vector
from tacit.papers.wang2022.statements.widest_margin import best_network
from tacit.theorems import Case, Network, Observation, PathPoint, judge, theorem
from tacit.values import Dataset, Setting

FLOW = Setting(rule="flow", init="balanced:1e-4", width=8)


def of(number):
    return theorem(f"wang2022:{number}")


def start(rng, data, width=8, scale=1e-4):
    """Balanced neurons in random directions."""
    W = rng.normal(size=(width, data.d))
    W *= scale / np.linalg.norm(W, axis=1, keepdims=True)
    return Network(W, scale * np.where(rng.random(width) < 0.5, 1.0, -1.0))


def followed(data, begin):
    return observe(limit(data, FLOW, start=begin))


def names(checks, holds):
    return [check.name for check in checks if check.holds is holds]


# ------------------------------------------------------------------ the convex program


def test_the_printed_numbers():
    one = of("eq128").predict(of("eq128").example())
    assert one.values["neurons"] == pytest.approx(
        np.array([[0.5606, -0.1597], [-0.23, 0.6607]]), abs=5e-5
    )
    other = of("eq130").predict(of("eq130").example())
    assert other.values["neurons"] == pytest.approx(np.array([[0.4386, 0.5881]]), abs=5e-5)


def test_the_flow_ends_at_the_printed_numbers():
    for name, id, signs in (("wang2022_f1", "eq128", [1, -1]), ("wang2022_f2", "eq130", [1, 1])):
        data = load(name)
        begin = balanced_network(1e-4 * np.array([[1.0, 0.1], [0.1, 1.0]]), signs)
        end = followed(data, begin).end
        V = np.abs(end.a)[:, None] * end.W
        for sign, u in of(id).predict(Case(data, FLOW)).directions:
            own = V[np.sign(end.a) == sign].sum(axis=0)
            assert own / np.linalg.norm(own) == pytest.approx(u, abs=1e-7)


@pytest.mark.parametrize("id", ["eq128", "eq130"])
def test_other_data_has_other_neurons(id):
    one = of(id)
    said = one.predict(one.example())
    other = dataclasses.replace(one.example().data, X=one.example().data.X + 0.01)
    assert one.residual(said, Case(other, FLOW), None) > 1e-3


@pytest.mark.parametrize(("n", "d", "seed"), [(5, 2, 11), (4, 3, 12), (6, 4, 13)])
def test_primal_and_dual_meet_on_random_data(n, d, seed):
    rng = np.random.default_rng(seed)
    data = Dataset(rng.normal(size=(n, d)), np.where(np.arange(n) % 2, 1, -1))
    verdict = judge(of("prop2"), Case(data, FLOW))
    assert verdict.status == "confirmed" and verdict.residual < 1e-7
    value, V, sign = written_out(data)
    assert value == pytest.approx(optimum(data).objective_bounds.upper, rel=1e-7)
    # The same network, balanced, is feasible for (13) and has ½‖θ‖² = Σ‖u‖.
    roots = np.sqrt(np.linalg.norm(V, axis=1))
    W, a = V / roots[:, None], sign * roots
    assert (data.y * (np.maximum(data.X @ W.T, 0) @ a)).min() > 1 - 1e-6
    assert ((W**2).sum() + (a**2).sum()) / 2 == pytest.approx(value, rel=1e-5)


def test_the_classes_do_not_interact():
    data = load("orthogonal_classes:n=8,d=3,classes=4,seed=5")
    said = of("prop1").predict(Case(data, FLOW))
    parts = [optimum(data.one_vs_rest(k)).objective_bounds.upper for k in range(4)]
    assert said.values["upper"] == pytest.approx(sum(parts))


def test_too_many_cells_leave_the_programs_open():
    assert judge(of("prop2"), Case(load("linear:n=60,d=3,seed=0"), FLOW)).status == "open"


# ------------------------------------------------------------------ KKT points and λ


@pytest.mark.parametrize("seed", rest_long([21, 22, 23], [21]))
def test_limits_on_random_data_are_sums_of_points(seed):
    rng = np.random.default_rng(seed)
    data = load(f"linear:n=6,d=2,seed={seed}")
    begin = start(rng, data)
    run = followed(data, begin)
    verdict = judge(of("prop3"), Case(data, FLOW, begin), run)
    assert verdict.status == ("confirmed" if run.settled else "not applicable")


def test_a_network_that_is_no_kkt_point_is_recognised():
    case = of("prop3").example()
    ideal = of("prop3").ideal(of("prop3").predict(case), case)
    assert kkt_point(case, ideal, "here").holds
    turned = Network(ideal.end.W + [[0.0, 0.01], [0.0, 0.0]], ideal.end.a)
    spoilt = ended_at(turned)
    assert kkt_point(case, spoilt, "here").holds is False
    assert of("prop3").residual(of("prop3").predict(case), case, spoilt) > 1e-3


def test_the_problem_of_both_layers_is_not_asked_of_one():
    data = load("linear:n=8,d=2,seed=3")
    setting = Setting(train="first", width=8, init="gaussian:1e-3", rule="flow")
    run = observe(limit(data, setting))
    for one in (of("prop3"), of("prop4"), of("thm3"), theorem("lyu2021:lemmaB.9")):
        checks = one.hypotheses(Case(data, setting), run)
        assert "both_layers" in names(checks, False)
        unknown = [check for check in checks if check.holds is None]
        assert unknown and all(
            check.note.startswith(("not evaluated", "not looked at")) for check in unknown
        )


def test_dual_feasibility_by_two_routes():
    """The largest |λᵀ(Xu)₊| by cells, and on a fine grid of directions."""
    data, _ = three_against_one()
    data = data.one_vs_rest(0)
    network = Network(data.X, data.y.astype(float))  # every neuron its own point
    run, case = ended_at(network), Case(data, FLOW)
    assert kkt_point(case, run, "here").holds
    check = dual_feasible(case, run, "here")
    angle = np.linspace(-np.pi, np.pi, 200_001)
    U = np.array([np.cos(angle), np.sin(angle)])
    lam = data.y * kkt_of(network, data).multipliers
    largest = np.abs(lam @ np.maximum(data.X @ U, 0)).max()
    assert check.holds is False and 1 - check.slack == pytest.approx(largest, abs=1e-5)
    assert largest == pytest.approx(2 * math.cos(math.radians(50)), abs=1e-6)
    assert judge(of("thm3"), case, run).status == "not applicable"
    # What λ proves is Σλ/M, and that is all there is to the residual of Propositions 4 and 5.
    assert bounds_of(network, data).gap == pytest.approx(1 - 1 / largest, abs=1e-5)


def test_a_kkt_point_that_does_not_see_a_class_as_a_whole():
    """Orthogonal points of one class, a neuron each: a KKT point; Proposition 4 does not apply."""
    data = Dataset(np.eye(3), np.array([1, 1, -1]))
    case, run = Case(data, FLOW), ended_at(Network(np.eye(3), data.y.astype(float)))
    assert kkt_point(case, run, "here").holds
    assert covered(case, run, "here").holds is False
    assert names(of("prop5").hypotheses(case, run), False) == ["classes_covered"]
    W = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) / [[2**0.25], [1.0]]
    whole = balanced_network(W, [1, -1])
    verdict = judge(of("prop5"), case, ended_at(whole))
    assert verdict.status == "confirmed" and verdict.residual < 1e-9


@pytest.mark.parametrize("seed", [31, 32, 33])
def test_spike_free_data_of_unseen_dimensions(seed):
    rng = np.random.default_rng(seed)
    d = 2 + seed % 3
    # Columns of an inverse M-matrix: the dual basis has obtuse angles.
    Q = np.eye(d) - 0.9 / d * rng.random((d, d))
    data = Dataset(np.linalg.inv((Q + Q.T) / 2), np.where(np.arange(d) == 0, -1, 1))
    X = np.linalg.cholesky(data.X)
    data = Dataset(X, data.y)
    assert Case(data, FLOW).data_check("spike_free", "here").holds
    run = ended_at(best_network(data))
    verdict = judge(of("prop5"), Case(data, FLOW), run)
    assert verdict.status == "confirmed"
    assert judge(of("thm3"), Case(data, FLOW), run).status == "confirmed"


def test_the_best_network_needs_clarkes_masks():
    data = acute_pair()
    network = best_network(data)
    kkt = kkt_of(network, data)
    assert sorted(kkt.masks.values()) == pytest.approx([0.5, 0.5])
    assert judge(of("prop3"), Case(data, FLOW), ended_at(network)).status == "confirmed"


# ------------------------------------------------------------------ limits


@pytest.mark.parametrize(("d", "seed"), rest_long([(2, 41), (3, 42), (5, 43)], [(3, 42)]))
def test_orthogonally_separable_data_ends_at_the_widest_margin(d, seed):
    data = load(f"orthogonal:n=10,d={d},seed={seed}")
    begin = start(np.random.default_rng(seed), data)
    case, run = Case(data, FLOW, begin), followed(data, begin)
    verdict = judge(of("thm4"), case, run)
    assert verdict.status == "confirmed" and verdict.residual < 1e-8
    assert verdict.prediction.values["margin"] == pytest.approx(optimum(data).margin, rel=1e-7)
    assert judge(of("thm2"), case, run).status == "confirmed"
    assert judge(of("prop4"), case, run).status == "confirmed"
    # As two outputs: the second has the labels exchanged.
    exchanged = followed(Dataset(data.X, -data.y), Network(begin.W, -begin.a))
    both = Observation((), members=(run, exchanged))
    assert of("thm2").residual(verdict.prediction, case, both) < 1e-8


def test_one_class_needs_neurons_of_its_sign_only():
    data = load("wang2022_f2")
    begin = balanced_network(1e-4 * np.array([[1.0, 0.2], [0.5, 1.0]]), [1, 1])
    verdict = judge(of("thm4"), Case(data, FLOW, begin), followed(data, begin))
    assert verdict.status == "confirmed" and len(verdict.prediction.directions) == 1


def test_condition_9_is_needed_for_both_signs():
    case = of("thm4").example()
    only = Network(case.start.W, np.abs(case.start.a))
    run = followed(case.data, only)
    assert run.outcome == "partial"
    checks = of("thm4").hypotheses(Case(case.data, case.setting, only), run)
    assert names(checks, False) == ["matching_neurons"]
    said = of("thm4").predict(case)
    assert of("thm4").residual(said, case, run) >= 1 - 1e-12


@pytest.mark.parametrize(("degrees", "holds"), [(90.001, True), (89.999, False)])
def test_orthogonal_separability_just_holds_and_just_fails(degrees, holds):
    angle = math.radians(degrees)
    X = np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])
    case = of("thm4").example()
    begin = balanced_network(1e-4 * np.array([[1.0, -0.3], [-0.3, 1.0]]), [1, -1])
    checks = of("thm4").hypotheses(Case(Dataset(X, np.array([1, -1])), case.setting, begin))
    assert names(checks, False) == ([] if holds else ["orthogonally_separable"])


def test_three_classes_refute_the_printed_theorem_2():
    """As `_three_classes` argues without training, the flow ends below the optimum."""
    classes, begin = three_against_one()
    assert Case(classes, FLOW).data_check("orthogonally_separable", "§2.1").holds
    data = classes.one_vs_rest(0)
    run = followed(data, begin)
    found = certify(data, run.end)
    assert run.settled and found.is_kkt and found.optimality == "suboptimal"
    assert found.margin == pytest.approx(1 / 6, abs=1e-6)
    assert found.margin_bounds.lower == pytest.approx(0.1956, abs=5e-5)
    checks = of("thm2").hypotheses(Case(classes, FLOW))
    assert names(checks, False) == ["one_against_the_rest"]


# ------------------------------------------------------------------ the early phase


@pytest.mark.parametrize(
    ("name", "seed"),
    rest_long([("wang2022_f1", 51), ("acute", 52), ("linear", 53)], [("wang2022_f1", 51)]),
)
def test_neurons_are_aligned_by_the_time_of_proposition_6(name, seed):
    """Times of alignment from between the moments of the path, against the bound."""
    data = {"wang2022_f1": load("wang2022_f1"), "acute": acute_pair()}.get(name)
    data = data or load("linear:n=4,d=2,seed=2")
    begin = start(np.random.default_rng(seed), data, 6, 1e-12)
    case, found = Case(data, FLOW, begin), limit(data, FLOW, start=begin)
    verdict = judge(of("thm1"), case, observe(found))
    assert verdict.residual == 0 and verdict.status == "confirmed"
    when = early_phase(found.path, delta=early.DELTA).aligned
    matching = early.heights(begin, data) > 0
    assert matching.any()
    assert (np.exp(when[matching]) <= verdict.prediction.values["time"]).all()


def test_the_printed_cosine_is_never_reached_on_an_acute_pair():
    data = acute_pair()
    begin = balanced_network(1e-9 * np.array([[1.0, 0.4], [0.6, 1.0]]), [1, -1])
    case, run = Case(data, FLOW, begin), followed(data, begin)
    assert judge(of("thm1"), case, run).status == "confirmed"
    printed = []
    for moment in run.path:
        W, a = moment.network.W, moment.network.a
        sees = np.array([sign_vector(data.X, w) > 0 for w in W])
        g = np.sign(a)[:, None] * ((sees * data.y) @ data.X)
        sizes = np.linalg.norm(W, axis=1) * np.linalg.norm(g, axis=1)
        printed.append((W * g).sum(axis=1) / sizes)
    assert np.max(printed) == pytest.approx(math.sqrt(0.75), abs=1e-6)


def test_theorem_1_of_three_classes():
    """A K-class run has one member for each class."""
    data = load("orthogonal_classes:n=3,d=2,classes=3,seed=1")
    begins = [start(np.random.default_rng(k), data, 5, 1e-12) for k in range(3)]
    runs = [followed(data.one_vs_rest(k), begin) for k, begin in enumerate(begins)]
    case, run = Case(data, FLOW), Observation((), members=tuple(runs))
    one = of("thm1")
    assert [c.name for c in one.hypotheses(case) if c.holds is None] == [
        "matching_neuron",
        "lasts_until_aligned",
    ]
    assert names(one.hypotheses(case, run), False) == []
    said = one.predict(case)
    assert one.residual(said, case, run) == 0
    assert one.residual(said, case, Observation((), members=tuple(runs[:2]))) is None


def test_balance_off_is_seen():
    case = of("lemma1").example()
    ideal = of("lemma1").ideal(of("lemma1").predict(case), case)
    last = ideal.path[-1]
    for change, residual in ((1 + 1e-4, 2e-4), (-1.0, 1.0)):
        other = PathPoint(last.time, 0.0, Network(last.network.W, change * last.network.a))
        found = of("lemma1").residual(None, case, Observation((*ideal.path[:-1], other)))
        assert found == pytest.approx(residual, rel=0.01)


def test_a_neuron_too_small_for_numbers_has_died():
    begin = Network(1e-3 * np.eye(2), 1e-3 * np.array([1.0, -1.0]))
    for size, residual in ((0.0, 0), (1e-160, 0), (1e-140, 1)):
        W = np.array([[1e-3, 0.0], [0.0, size]])
        later = Network(W, np.array([1e-3, size]))  # the second neuron's sign has changed
        run = Observation((PathPoint(0.0, 0.0, begin), PathPoint(1.0, 0.0, later)))
        assert of("lemma1").residual(None, of("lemma1").example(), run) == residual


def test_the_difference_of_lemma_2_grows_like_the_square_of_the_weights():
    case = of("lemma2").example()
    sizes = 10.0 ** np.arange(-4, 0)
    W, a = case.start.W, case.start.a
    unit = np.linalg.norm(W, axis=1).max()
    found = np.array(
        [early.differences(Network(s * W / unit, s * a / unit), case.data) for s in sizes]
    )
    slopes = np.diff(np.log(found), axis=0) / np.log(10)
    assert slopes == pytest.approx(2 * np.ones((3, 2)), abs=0.03)


def test_the_rate_of_lemma_2_by_a_difference_quotient():
    data = load("wang2022_f1")
    network = balanced_network(np.array([[0.3, 0.1], [-0.1, 0.4]]), [1, -1])
    h = 1e-6

    def moved(step):
        lam = early.dual_variable(network, data)
        active = network.W @ data.X.T > 0
        dW = network.a[:, None] * ((active * lam) @ data.X)
        da = np.maximum(network.W @ data.X.T, 0) @ lam
        return Network(network.W + step * dW, network.a + step * da)

    active = network.W @ data.X.T > 0
    ends = [(active * early.dual_variable(moved(s), data)) @ data.X for s in (h, -h)]
    rate = np.linalg.norm((ends[0] - ends[1]) / (2 * h), axis=1).max()
    assert early.differences(network, data)[1] == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-4, 1e-6, 1e-9])
def test_lemma_2_holds_as_long_as_it_says(scale):
    """And the smaller the start, the longer: by log(1/scale)/g_max."""
    data = load("linear:n=4,d=2,seed=2")
    begin = start(np.random.default_rng(61), data, 4, scale)
    verdict = judge(of("lemma2"), Case(data, FLOW, begin), followed(data, begin))
    assert verdict.status == "confirmed"
    smaller = Network(begin.W / 10, begin.a / 10)
    longer = of("lemma2").predict(Case(data, FLOW, smaller)).values["time"]
    gain = longer - verdict.prediction.values["time"]
    assert gain == pytest.approx(math.log(10) / gradient_lengths(data)[0][-1], rel=0.05)


def test_a_neuron_turns_as_corollary_1_says_and_not_much_faster():
    """At λ̃ = y/2 exactly, the cosine is tanh(g₀t + …): z(t) is below, and near for small δ."""
    data = load("wang2022_f1")
    begin = balanced_network(1e-9 * np.array([[0.1, -1.0]]), [1])
    run = followed(data, begin)
    said = of("cor1").predict(Case(data, FLOW, begin))
    assert judge(of("cor1"), Case(data, FLOW, begin), run).status == "confirmed"
    first = data.X[0] @ begin.W[0] / np.linalg.norm(data.X[0]) / np.linalg.norm(begin.W[0])
    size = np.linalg.norm(data.X[0]) / 2
    exact = (math.atanh(1 - early.DELTA) - math.atanh(first)) / size
    assert exact < said.values["time"] < 1.1 * exact
    for moment in run.path:
        w = moment.network.W[0]
        if moment.time < math.log(exact):
            t = math.exp(moment.time)
            cosine = data.X[0] @ w / np.linalg.norm(data.X[0]) / np.linalg.norm(w)
            assert cosine == pytest.approx(math.tanh(math.atanh(first) + size * t), abs=1e-6)


# ------------------------------------------------------------------ extreme points, masks


@pytest.mark.parametrize(
    ("n", "d", "seed"), rest_long([(6, 2, 71), (9, 3, 72), (5, 4, 73)], [(6, 2, 71), (9, 3, 72)])
)
def test_extreme_points_of_unseen_data(n, d, seed):
    case = Case(load(f"orthogonal:n={n},d={d},seed={seed}"), FLOW)
    for id in ("lemma4", "prop7", "lemma6", "lemma8", "lemma9"):
        status = judge(of(id), case).status
        assert status == "confirmed" or (id, d, status) == ("lemma8", 4, "open")


def test_orthogonal_points_break_lemma_9_and_leave_proposition_7():
    case = Case(Dataset(np.diag([1.0, 2.0, 0.5]), np.array([1, -1, -1])), FLOW)
    said = of("lemma9").predict(case)
    assert of("lemma9").residual(said, case, None) > 0.1
    # Within one class they are not orthogonally separable; one point each is.
    pair = Case(Dataset(np.diag([1.0, 2.0]), np.array([1, -1])), FLOW)
    assert judge(of("prop7"), pair).status == "confirmed"
    assert judge(of("lemma9"), pair).status == "not applicable"


def test_data_that_is_not_orthogonally_separable_is_told_apart():
    """The residuals of the statements can be positive."""
    case = Case(acute_pair(), FLOW)
    assert of("prop7").residual(of("prop7").predict(case), case, None) == 2.0
    assert list(own_gradients(case.data.X, case.data.y.astype(float))) == []
    both = Case(Dataset(case.data.X, np.array([1, 1])), FLOW)
    obtuse = Dataset(np.array([[1.0, 0.0], [-0.9, 0.1]]), np.array([1, 1]))
    assert judge(of("lemma6"), both).status == "confirmed"
    lonely = Case(obtuse, FLOW)
    assert of("lemma6").residual(of("lemma6").predict(lonely), lonely, None) > 0.1
    assert of("lemma4").residual(of("lemma4").predict(lonely), lonely, None) > 1


def test_the_largest_value_in_a_cell_by_sampling(rng):
    X, lam = rng.normal(size=(4, 2)), rng.normal(size=4)
    angle = np.linspace(-np.pi, np.pi, 100_001)
    U = np.column_stack([np.cos(angle), np.sin(angle)])
    signs = np.sign(X @ U.T).T
    for sigma in np.unique(signs[(signs != 0).all(axis=1)], axis=0):
        inside = (signs == sigma).all(axis=1)
        sampled = max(0.0, ((lam * (sigma > 0)) @ X @ U[inside].T).max())
        assert largest_in_cell(X, lam, sigma) == pytest.approx(sampled, abs=1e-4)


def test_lemma_5_needs_its_condition(rng):
    """In cells that differ where λ > 0 the value can exceed 1."""
    X = np.array([[1.0, 0.0], [0.8, 0.6]])
    lam = np.array([1.0, 1.0])  # D₀ sees the first point only: ‖u₀‖ = 1
    assert largest_in_cell(X, lam, np.array([1, 1])) > 1.5
    assert largest_in_cell(X, np.array([1.0, -1.0]), np.array([1, 1])) <= 1 + 1e-12


def test_gradients_of_tiny_points_are_found_without_underflow():
    """Lengths of such rows are 0 in floating point; the rows are not."""
    X = np.array([[1e-170, 0.0], [0.0, 1.0]])
    g = flow_gradient(X, np.array([0.5, -0.5]), np.array([0.0, 1.0]))
    assert np.isfinite(g).all() and g[1] == -0.5


def test_pulls_that_cancel_match_no_sign():
    """Σ y_n x_n = 0: what rounding leaves of it is no pull."""
    data = Dataset(np.array([[-2.0, 0.0], [-2.0, 2.0], [0.0, 2.0]]), np.array([-1, 1, -1]))
    W = np.random.default_rng(0).normal(size=(200, 2))
    seen = (W @ data.X.T > 0).all(axis=1)
    slacks = matching_slacks(Network(W, np.ones(200)), data)
    assert seen.any() and (slacks[seen] == 0).all() and (slacks[~seen] != 0).any()


def test_nearly_tied_data_is_left_undecided():
    """Hyperplanes of two points 1e-9 apart cannot be told apart along a run."""
    X = np.array([[1.0, 1.0], [-1.0, -1.0 + 2e-9], [0.3, -1.0]])
    start = balanced_network(1e-5 * np.array([[1.0, 0.2], [0.2, -1.0]]), [1, -1])
    case = Case(Dataset(X, np.array([1, -1, 1])), FLOW, start)
    near = next(c for c in of("thm1").hypotheses(case) if c.name == "no_near_ties")
    assert near.holds is None and "e-" in near.note
    apart = Case(Dataset(X + [[0, 0], [0, 0.1], [0, 0]], np.array([1, -1, 1])), FLOW, start)
    assert "no_near_ties" in names(of("thm1").hypotheses(apart), True)
