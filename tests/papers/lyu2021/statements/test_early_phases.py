"""Lemmas B.20, D.2, G.4, G.5, G.8 and Theorem F.9: what would spoil them, and second routes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from statement_checks import flow_of, judged
from tacit.papers.lyu2021.statements.critical_margin import smoothed_margin
from tacit.papers.lyu2021.statements.linear_phase import linear_flow
from tacit.papers.lyu2021.statements.two_cones import narrowest, single_neuron
from tacit.theorems import Case, Network, Observation, theorem
from tacit.values import Dataset, Setting


def the(number):
    return theorem(f"lyu2021:{number}")


def principal_case(seed, size=1e-24, alpha=0.4, width=5):
    """Points near one axis, so that A.2 holds, with longer positive ones, so that A.3 does."""
    rng = np.random.default_rng(seed)
    y = np.array([1, -1, 1, -1, 1])
    X = np.column_stack([y * rng.uniform(0.4, 0.6, 5), 0.1 * rng.normal(size=(5, 2))])
    X[y > 0] *= 1.6
    W = size * rng.normal(size=(width, 3))
    a = np.resize([1.0, -1.0], width) * np.linalg.norm(W, axis=1)
    setting = Setting(activation=f"leaky:{alpha}", width=width, init="balanced:1e-24", rule="flow")
    return Case(Dataset(X, y), setting, Network(W, a, alpha))


def other_times(run, factor):
    return Observation(
        tuple(p._replace(time=p.time + math.log(factor)) for p in run.path), run.limit, run.outcome
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_the_phases_of_data_with_a_principal_direction(seed):
    case = principal_case(seed)
    run = flow_of(case)
    for number in ("lemmaG.4", "lemmaG.5", "lemmaG.8", "lemmaB.20"):
        verdict = judged(f"lyu2021:{number}", case, run)
        assert verdict.status == "confirmed", (number, verdict.words)


def test_twice_the_rate_as_printed_is_refused_by_the_run():
    """‖µ⁺‖ instead of ½‖µ⁺‖ is the same run in half of its time."""
    case = principal_case(0)
    run = flow_of(case)
    for number in ("lemmaG.5", "lemmaG.8"):
        one, said = the(number), the(number).predict(case)
        assert one.residual(said, case, run) <= one.tolerance
        residual = one.residual(said, case, other_times(run, 0.5))
        assert residual is None or residual > one.tolerance
    assert the("lemmaG.5").residual(said, case, other_times(run, 0.5)) > 1
    symmetric = the("lemmaD.2").example()
    path = flow_of(symmetric)
    assert the("lemmaD.2").residual(the("lemmaD.2").predict(symmetric), symmetric, path) == 0
    assert the("lemmaD.2").residual(None, symmetric, other_times(path, 0.5)) > 1


def test_a_path_that_runs_backwards_is_noticed():
    case = the("lemmaB.20").example()
    run = flow_of(case)
    back = tuple(
        p._replace(network=q.network) for p, q in zip(run.path, run.path[::-1], strict=True)
    )
    said = the("lemmaB.20").predict(case)
    assert the("lemmaB.20").residual(said, case, replace(run, path=back)) > 0.1
    f_9 = the("thmF.9")
    case = f_9.example()
    run = flow_of(case)
    back = tuple(
        p._replace(network=q.network) for p, q in zip(run.path, run.path[::-1], strict=True)
    )
    assert f_9.residual(f_9.predict(case), case, replace(run, path=back)) > 1e-3


def test_a_neuron_that_stays_behind_is_noticed():
    case = principal_case(0)
    run = flow_of(case)
    wrong = np.linalg.norm(run.start.W[0]) * np.array([-1.0, 0.0, 0.0])
    stuck = tuple(
        p._replace(network=replace(p.network, W=np.vstack([wrong, p.network.W[1:]])))
        for p in run.path
    )
    said = the("lemmaG.4").predict(case)
    assert the("lemmaG.4").residual(said, case, run) == 0
    assert the("lemmaG.4").residual(said, case, replace(run, path=stuck)) > 1e-3


def test_the_linear_flow_is_what_small_steps_make(rng):
    start = Network(rng.normal(size=(3, 2)), rng.normal(size=3), 0.5)
    c = rng.normal(size=(3, 2))
    W, a, steps = start.W, start.a, 20_000
    for _ in range(steps):
        half = W + a[:, None] * c / (2 * steps), a + (W * c).sum(axis=1) / (2 * steps)
        W, a = W + half[1][:, None] * c / steps, a + (half[0] * c).sum(axis=1) / steps
    there = linear_flow(start, c, 1.0)
    assert np.allclose(there.W, W, atol=1e-7) and np.allclose(there.a, a, atol=1e-7)


def test_the_narrowest_pull_by_random_masks(rng):
    case = principal_case(3)
    delta = narrowest(case)
    Z = case.data.y[:, None] * case.data.X
    masks = np.where(rng.random((4000, 5)) < 0.5, case.alpha, 1.0)
    masks[:2000] = rng.uniform(case.alpha, 1, (2000, 5))
    pulls = masks @ Z / np.linalg.norm(masks @ Z, axis=1, keepdims=True)
    seen = (pulls @ Z.T).min(axis=1)
    assert seen.min() == pytest.approx(delta, rel=1e-12) and seen[:2000].min() > delta > 0


def test_the_single_neuron_is_that_of_the_flow():
    case = principal_case(1, width=1)
    mu = np.where(case.data.y[:, None] > 0, 1, -case.alpha) * case.data.X
    w = mu.mean(axis=0) / np.linalg.norm(mu.mean(axis=0))
    case = replace(case, start=Network(1e-5 * w[None], np.array([1e-5]), case.alpha))
    rate = np.linalg.norm(mu.mean(axis=0)) / 2
    checked = 0
    for p in flow_of(case).path:
        log_size = math.log(1e-5) + rate * case.data.n * math.exp(min(p.time, 100.0))
        if -5 < log_size < 0.5:
            neuron, a = single_neuron(case, w, log_size)
            assert np.allclose(p.network.W[0], neuron, rtol=1e-4) and checked < 1000
            assert p.network.a[0] == pytest.approx(a, rel=1e-4)
            checked += 1
    assert checked > 0


def test_the_smoothed_margin_by_its_definition():
    case = the("thmF.9").example()
    best = the("thmF.9").ideal(None, case).end
    for scale in (3.0, 10.0, 1e4):
        network = replace(best, W=scale * best.W, a=scale * best.a)
        q = network.margins(case.data.X, case.data.y)
        if scale < 1e3:
            total = np.log1p(np.exp(-q)).sum()
            wanted = -math.log(math.expm1(total)) / network.norm**2
        else:
            wanted = q.min() / network.norm**2
        assert smoothed_margin(network, case) == pytest.approx(wanted, rel=1e-6)
    assert smoothed_margin(replace(best, W=-best.W), case) is None
