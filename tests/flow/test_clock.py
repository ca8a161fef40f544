"""The time of gradient flow, and the errors of neurons, along the path."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from tacit.flow.clock import log_time
from tacit.flow.follow import begin, follow
from tacit.flow.tolerances import PATH


def test_the_time_of_one_neuron_on_one_point_is_that_of_its_equation() -> None:
    """With w = a = r and x = 2, twice, L = 2e^(−2r²) and dr/dt = 2rL: one integral tells t.

    p never changes, so that steps are as long as a neuron may grow, and so is what L does in them.
    """
    path = follow(
        np.array([[2.0], [2.0]]),
        np.array([1, 1]),
        0.0,
        np.array([[1e-4]]),
        np.array([1e-4]),
        kind="exponential",
        log_L_end=-300.0,
    )
    for moment in path.moments[1:]:
        r = float(moment.state.W[0, 0])
        t = quad(
            lambda u, end=r: math.exp(2 * math.exp(2 * u) - 2 * end**2) / 4,
            math.log(1e-4),
            math.log(r),
            epsabs=0,
            epsrel=1e-11,
            limit=500,
        )[0]
        late = moment.log_L < -20  # implicit steps have errors of 1e-4
        assert moment.log_t == pytest.approx(math.log(t) + 2 * r**2, abs=1e-4 if late else 1e-6)


@pytest.mark.parametrize("fall", [1e-3, 1.0, 40.0, 1e3, 1e6, 1e12])
def test_steps_over_which_the_loss_falls_far(fall: float) -> None:
    """log L = −fall·s over s ≤ 1: the time is (e^fall − 1)/fall."""
    exact = fall + math.log(-math.expm1(-fall) / fall)
    known = log_time(1.0, (0.0, -fall), (-fall, -fall), -fall / 2)
    assert known == pytest.approx(exact, abs=1e-9 + 1e-15 * fall)


def test_a_shrinking_neuron_stays_balanced() -> None:
    """On a line a neuron of the wrong sign decays for ever; round-off must not unbalance it."""
    path = follow(
        np.array([[1.0], [2.0]]),
        np.array([-1, -1]),
        0.3,
        np.array([[1e-2], [-1e-2]]),
        np.array([1e-2, 1e-2]),
        log_L_end=-1.0,
        seconds=20,
    )
    for moment in path.moments:
        state = moment.state
        np.testing.assert_allclose(state.a, np.abs(state.W[:, 0]), rtol=1e-12)


@pytest.mark.long
def test_errors_of_neurons_are_those_of_the_path() -> None:
    """The directions differ by no more from those with a tenth of the tolerance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 2)), rng.choice([-1, 1], 8)
    W = 1e-2 * rng.normal(size=(6, 2))
    a = np.linalg.norm(W, axis=1) * rng.choice([-1, 1], 6)
    path = follow(X, y, 0.3, W, a, log_L_end=1.0)
    fine = replace(PATH, step=1e-7)
    exact = begin(X, y, 0.3, W, a, errors=fine).run(1.0)
    assert path.end == exact.end == "reached"
    one, other = path.last.state.W, exact.last.state.W
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    sines = np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]) / sizes
    errors = path.last.errors
    assert errors is not None and errors.max() < 1e-3
    late = abs(path.last.log_L - exact.last.log_L)  # they do not end at the same time
    assert (sines <= 3 * errors + late).all()


def test_errors_grow_while_a_neuron_shrinks() -> None:
    """An error across its direction stays, so that its share grows as the neuron gets small."""
    X, y = np.array([[1.0, 0.2], [1.0, -0.3]]), np.array([-1, -1])
    W, a = np.array([[1.0, 1e-9], [-0.5, -1.0]]), np.array([1.0, -np.sqrt(1.25)])
    path = follow(X, y, 0.3, W, a, log_L_end=-3.0)
    sizes = np.array([np.linalg.norm(moment.state.W[0]) for moment in path.moments])
    errors = np.array([moment.errors[0] for moment in path.moments])
    smallest = int(sizes.argmin())
    assert sizes[smallest] < 0.1 and errors[smallest] > 10 * errors[1]
    assert (np.diff(errors) >= 0).all()
