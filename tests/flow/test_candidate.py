"""The limit that surviving patterns point to, where it is known or can be certified."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest

from tacit.certificates import two_layer_kkt
from tacit.data import load
from tacit.flow import Candidate, candidate, candidates
from tacit.flow.follow import follow
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.state import OutOfTime, State, start
from tacit.flow.tolerances import EVIDENCE
from tacit.numerics.class_margin import class_margin
from tacit.papers.sarussi2021.perfect_agreement import par
from tacit.values import Network


def small_net(m: int, d: int, size: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    W = rng.normal(size=(m, d))
    W *= size / np.linalg.norm(W, axis=1)[:, None]
    return W, size * rng.choice([-1.0, 1.0], m)


def network(found: Candidate) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.sqrt(np.linalg.norm(found.V, axis=1))
    live = lengths > 0
    return found.V[live] / lengths[live][:, None], (lengths * found.sign)[live]


def test_orthogonally_separable_data_points_to_the_max_margin_vectors() -> None:
    """phuong2021 Thm. 1, far beyond what the path itself can show."""
    data = load("orthogonal:n=60,d=5")
    path = follow(data.X, data.y, 0.0, *small_net(20, 5), log_L_end=-100.0)
    found = candidate(path.last.state)
    assert found is not None and len(found.touches) == 0
    for label in (1, -1):
        w = class_margin(data.X, data.y, label).w
        (mine,) = found.V[(found.sign == label) & (np.linalg.norm(found.V, axis=1) > 0)]
        np.testing.assert_allclose(mine, w, rtol=1e-9, atol=1e-10)


def test_groups_on_hyperplanes_take_no_matrix_of_d_times_d(rng: np.random.Generator) -> None:
    """5 points in 30,000 dimensions took 20 GB, and much longer than the seconds."""
    X, y = rng.normal(size=(6, 1000)), np.array([1, -1, 1, -1, 1, -1])
    path = follow(X, y, 0.0, *small_net(10, 1000), log_L_end=-2000.0)
    state = path.last.state
    assert (state.side == 0).any()
    tracemalloc.start()
    found = candidate(state, 1e-6, path.weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1000**2 / 2
    assert found is not None
    W, a = network(found)
    kkt = two_layer_kkt(X, y, Network(W, a, 0.0))
    assert max(kkt.stationarity, kkt.complementarity) < 1e-9


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_limit_on_xor_is_a_kkt_point_that_the_path_approaches(alpha: float) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(16, 2))
    y = np.sign(X[:, 0] * X[:, 1]).astype(int)
    path = follow(X, y, alpha, *small_net(40, 2))
    assert path.end == "reached"
    found = candidate(path.last.state)
    assert found is not None and len(found.touches) == 0
    W, a = network(found)
    kkt = two_layer_kkt(X, y, Network(W, a, alpha))
    assert max(kkt.stationarity, kkt.complementarity) < 1e-9
    distances = [distance(moment.state, found) for moment in path.moments if moment.log_L < -30]
    thirds = [np.mean(part) for part in np.array_split(distances, 3)]
    assert thirds[0] > thirds[1] > thirds[2]


def test_a_rough_answer_is_called_rough_and_not_kept_for_the_exact_one(monkeypatch) -> None:
    data = load("orthogonal:n=20,d=3")
    path = follow(data.X, data.y, 0.0, *small_net(20, 3), log_L_end=-100.0)
    state = path.last.state
    exact = candidate(state)
    assert exact is not None and exact.exact
    state.planes.solved.clear()
    rough = candidate(state, far=lambda end: True)
    assert rough is not None and not rough.exact
    length = [np.linalg.norm(one.V, axis=1).sum() for one in (exact, rough)]
    assert length[0] * (1 - 1e-9) <= length[1] <= length[0] * (1 + 2 * EVIDENCE.rough)
    near = candidate(state, far=lambda end: False)
    assert near is not None and near.exact
    np.testing.assert_allclose(near.V, exact.V, rtol=1e-9, atol=1e-10)
    state.planes.solved.clear()
    solve = candidates.widest

    def short(*arguments):
        found = solve(*arguments)
        return replace(found, V=(1 - 1e-5) * found.V, value=(1 - 1e-5) * found.value)

    monkeypatch.setattr(candidates, "widest", short)
    rough = candidate(state, far=lambda end: True)
    assert rough is not None and not rough.exact
    again = candidate(state)  # by the general solver
    assert again is not None and again.exact
    np.testing.assert_allclose(again.V, exact.V, rtol=1e-9, atol=1e-10)
    # A general solver that the time cuts has no answer: on 500 points it takes two minutes.
    state.planes.solved.clear()
    late = replace(state, deadline=perf_counter() + 1e9)

    def cut(*arguments, seconds, **options):
        late.deadline = perf_counter() - 1  # as if it had taken all that was left
        return general(*arguments, seconds=seconds, **options)

    general = candidates.restricted_program
    monkeypatch.setattr(candidates, "restricted_program", cut)
    with pytest.raises(OutOfTime):
        candidate(late)
    monkeypatch.setattr(candidates, "restricted_program", general)
    assert candidate(state) is not None
    kept = candidate(state, far=lambda end: True)
    assert kept is not None and kept.exact


def distance(state: State, found: Candidate) -> float:
    V = np.zeros(found.V.shape)
    for k in np.flatnonzero(found.group >= 0):
        V[found.group[k]] += np.abs(state.a[k]) * state.W[k]
    return float(np.linalg.norm(V / np.linalg.norm(V) - found.V / np.linalg.norm(found.V)))


def test_perfect_agreement_points_to_par() -> None:
    """First layer only, all neurons of one sign on one side: sarussi2021 (7)."""
    data = load("gaussians:n=30,d=3")
    w = par(data.X, data.y, 0.2)
    W = np.vstack([w.w, 1.1 * w.w, w.u])
    a = np.array([1.0, 1.0, -1.0])
    state = start(hyperplanes_of(data.X, data.y, 0.2), W, a, both=False)
    found = candidate(state)
    assert found is not None and sorted(found.size.tolist()) == [1, 2]
    sized = np.linalg.norm(found.V, axis=1) ** 2 / found.size
    alone = candidate(start(state.planes, W[1:], a[1:], both=False))
    assert alone is not None
    np.testing.assert_allclose(alone.V[alone.sign > 0][0], w.w, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(alone.V[alone.sign < 0][0], w.u, rtol=1e-9, atol=1e-10)
    assert sized.sum() < (np.linalg.norm(alone.V, axis=1) ** 2).sum()  # more units cost less


def test_patterns_that_cannot_fit_have_no_limit() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, -1])
    state = start(hyperplanes_of(X, y, 0.0), np.array([[1.0, 1.0]]), np.array([1.0]), both=True)
    assert candidate(state) is None
