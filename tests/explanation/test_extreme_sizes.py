"""True statements are not refuted, whatever the sizes of points and weights."""

from dataclasses import replace

import numpy as np
import pytest

from statement_checks import flow_of, flow_setting, hypothesis, judged
from tacit import Dataset, Limit, limit, load, optimum
from tacit.explanation.observation import observe
from tacit.explanation.other_runs import OtherRuns
from tacit.explanation.smaller_starts import at_smaller_scales
from tacit.files import npz_bytes
from tacit.papers.wang2022.statements.dual import bounds_of
from tacit.theorems import Case, Network, Observation, PathPoint, VerdictStatus, theorem
from tacit.values import BadInput

ONE = Dataset(np.array([[2.0, 1.0]]), np.array([1]))


def test_a_smoothed_margin_near_zero_has_few_digits():
    """Of one point every small network that fits it has a loss just below ln 2."""
    start = Network(1e-11 * np.array([[1.0, 0.3], [0.5, -0.2]]), 1e-11 * np.array([1.0, 0.7]))
    case = Case(ONE, flow_setting("relu", 2, None), start)
    verdict = judged("lyu2021:thmF.9", case, flow_of(case))
    assert verdict.status in ("confirmed", "open"), (verdict.residual, verdict.words)


@pytest.mark.parametrize("id", ["lyu2021:lemmaB.20", "lyu2021:lemmaI.2.1"])
def test_a_step_back_that_the_errors_of_the_path_explain_refutes_nothing(id):
    one = theorem(id)
    data = load("orthogonal:n=12,d=3,seed=1")
    W = np.outer([1.0, -2.0], data.y @ data.X)
    start = Network(W, np.array([1.0, -2.0]), 0.5)
    case = Case(data, flow_setting("leaky:0.5", 2, None), start)
    back = PathPoint(-30.0, 0.0, replace(start, W=(1 - 1e-4) * W))
    for errors, least in ((None, 5e-5), (np.full(2, 1e-3), 0.0)):
        run = Observation((PathPoint(-np.inf, 0.0, start), back._replace(errors=errors)))
        told = one.residual(one.predict(case), case, run)
        assert told > 5e-5 and (told - told.error > least or told.error == told)


def test_the_errors_of_the_path_explain_a_smoothed_margin_that_falls():
    case = Case(ONE, flow_setting("relu", 2, None), Network(0.1 * np.eye(2), 0.1 * np.ones(2)))
    run, one = flow_of(case), theorem("lyu2021:thmF.9")
    k = len(run.path) // 3
    size = run.path[k].network.norm / run.limit.norm
    best = Network(size * run.limit.W, size * run.limit.a)
    for errors, refutes in ((np.zeros(2), True), (np.ones(2), False)):
        there = run.path[k]._replace(network=best, errors=errors)
        path = (*run.path[:k], there, *run.path[k + 1 :])
        told = one.residual(one.predict(case), case, replace(run, path=path))
        assert told > 1e-5 and (told - told.error > one.tolerance) == refutes


def test_points_of_any_length_are_seen():
    X = 1e-12 * np.array([[1.0, 0.2], [0.9, 0.5], [-1.0, -0.3]])
    case = Case(Dataset(X, np.array([1, 1, -1])), flow_setting("relu", 4))
    verdict = judged("phuong2021:lemmaC.1", case)
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)


def test_large_weights_that_do_not_fit_are_not_deep_down():
    data = Dataset(np.array([[1582.7]]), np.array([-1]))
    case = Case(data, flow_setting("leaky:0.3", 20, "gaussian:1000"))
    run = flow_of(case, 624)
    assert run.outcome == "proved"
    for id in ("lyu2021:lemmaI.2.1", "lyu2021:lemmaB.20", "lyu2021:thmB.19"):
        verdict = judged(id, replace(case, start=run.start), run)
        assert verdict.status == "confirmed", (verdict.residual, verdict.words)


def test_outputs_whose_digits_are_lost_do_not_tell_the_pulls():
    rng = np.random.default_rng(0)
    data = Dataset(np.array([[1.0, 0.2], [0.3, -1.0], [-0.7, 0.9]]), np.array([1, 1, -1]))
    W = 1e20 * rng.normal(size=(2, 2))
    start = Network(W, np.linalg.norm(W, axis=1) * [1, -1])
    case = Case(data, flow_setting("relu", 2, None), start)
    run = flow_of(case)
    later = run.path[0]._replace(time=-50.0, network=Network(2 * W, 2 * start.a))
    assert (
        theorem("phuong2021:lemmaA.3").residual(
            theorem("phuong2021:lemmaA.3").predict(case),
            case,
            replace(run, path=(run.path[0], later)),
        )
        is None
    )


def test_a_small_neuron_in_another_direction_is_no_multiple():
    W = np.array([[1.0, 0.0], [1e-40, 1e-40], [0.0, -1.0]])
    start = Network(W, np.array([1.0, 1.4e-40, -1.0]), 0.5)
    case = Case(load("linear:n=6,d=2,margin=0.2,seed=1"), flow_setting(width=3, init=None), start)
    assert hypothesis("lyu2021:lemma5.3", case, "embedded").holds is False


def test_the_way_out_of_the_origin_is_as_long_as_one_likes():
    example = theorem("lyu2021:thmE.4").example()
    start = example.given_start
    small = replace(start, W=1e-30 * start.W, a=1e-30 * start.a)
    case = replace(example, start=small)
    verdict = judged("lyu2021:thmE.4", case, flow_of(case))
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)


def test_neurons_that_die_out_prove_nothing():
    data = Dataset(np.array([[0.9, 1.0, 0.0], [-4.7, -2.9, -11.0]]), np.array([1, -1]))
    best = optimum(data).network
    sizes = np.array([1e-12, 1e-15, 1e-27, 1e-75, 1e-110])
    W = np.vstack([best.W, np.outer(sizes, data.X[0])])
    net = Network(W, np.append(best.a, sizes * np.linalg.norm(data.X[0])))
    assert bounds_of(net, data).gap < 1e-9


def test_neurons_that_count_as_dead_are_no_start():
    start = Network(np.array([[0.1, 0.1], [1e-160, 0.0]]), np.array([0.1, 1e-160]))
    with pytest.raises(BadInput, match="neuron 1 of the initial weights has size 1.0e-160"):
        limit(load("xor"), start=start)


def test_smaller_scales_end_where_a_neuron_would_count_as_dead():
    start = Network(np.array([[0.1, 0.1], [1e-149, 0.0]]), np.array([0.1, -1e-149]))
    case = Case(load("orthogonal:n=6,d=2,seed=1"), flow_setting("relu", 2, None), start)
    verdict = judged("phuong2021:thm1", case, flow_of(case))
    vague = replace(verdict, status=VerdictStatus.DIFFERS)
    (told,) = at_smaller_scales([vague], OtherRuns(case, -10.0, np.inf))
    assert told is vague


def test_a_folder_with_points_beyond_floating_point_is_refused(tmp_path):
    end = limit(load("xor"), flow_setting("relu", 4), log10_loss=-10)
    end.save(tmp_path / "limit")
    file = tmp_path / "limit" / "arrays.npz"
    with np.load(file) as arrays:
        changed = {name: arrays[name] for name in arrays}
    changed["X"] = changed["X"].astype(float)
    changed["X"][0, 0] = 9e307
    file.write_bytes(npz_bytes(changed))
    with pytest.raises(BadInput, match="entries of 9.0e[+]307"):
        Limit.load(tmp_path / "limit")


@pytest.mark.parametrize(
    ("id", "X", "setting", "seed"),
    [
        (
            "lyu2021:lemmaI.2.1",
            [[-52700.0, -26350.0], [0.0, 52700.0]],
            flow_setting("leaky:0.99", 20, "balanced:0.003"),
            92,
        ),
        (
            "lyu2021:thmB.19",
            [[9.6, 6.9], [227.2, -146.1], [-303.0, 295.3], [9.0, 287.4], [237.7, -20.4]],
            flow_setting("leaky:1e-3", 4, "gaussian:0.189"),
            70,
        ),
    ],
)
def test_weights_beyond_floating_point_are_not_shown(id, X, setting, seed):
    """There they are scaled, and seem to fall."""
    y = [1, -1] if len(X) == 2 else [-1] * len(X)
    data = Dataset(np.array(X), np.array(y))
    end = limit(data, setting, seed=seed)
    assert end.path.moments[-1].log_L < -1e251
    run = observe(end)
    verdict = judged(id, Case(data, setting, run.start), run)
    assert verdict.status == "confirmed", (verdict.residual, verdict.words)
