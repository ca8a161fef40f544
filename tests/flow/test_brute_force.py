"""The flow against gradient descent with steps of 1e-6, at equal loss, on tiny problems.

Descent goes a step across a hyperplane where the flow slides along it, and so differs by the step;
all else of descent's own error is of that size too. So the direction of all weights together must
be that of the flow up to 1e-4, and is asked to be.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from helpers import rest_long
from tacit._jax import jax, jnp
from tacit.flow.follow import follow
from tacit.flow.path import Path

STEP = 1e-6
TIME = 8.0
"""Of descent on the sum of the logistic losses."""
EVERY = 500
"""Steps after which descent's weights are kept; in between it is run again."""
NEAR = 1e-4

CASES = [
    (seed, m, d, alpha, size, both)
    for m, d, size, both, seeds in [
        (2, 2, 0.3, True, (1, 3, 10)),
        (3, 2, 0.1, True, (1, 3, 4)),
        (4, 2, 0.2, True, (0, 1, 2)),
        (3, 3, 0.3, True, (0, 1, 2)),
        (4, 3, 0.05, True, (0, 1, 2)),
        (4, 2, 0.3, False, (2, 5)),
    ]
    for alpha in (0.0, 0.3)
    for seed in seeds
]
QUICK = [(1, 2, 2, 0.0, 0.3, True), (5, 4, 2, 0.3, 0.3, False)]


def problem(seed: int, m: int, d: int, size: float, both: bool):
    """Three points of length up to 5, so that time goes fast, and neurons of one size."""
    rng = np.random.default_rng([seed, m, d])
    X, y = 1.5 * rng.normal(size=(3, d)), rng.permutation([1, -1, int(rng.choice([-1, 1]))])
    W = rng.normal(size=(m, d))
    W *= size / np.linalg.norm(W, axis=1)[:, None]
    return X, y, W, (size if both else 0.5) * rng.choice([-1.0, 1.0], m)


def _slopes(t, alpha):
    return jnp.where(t > 0, 1.0, alpha)


def _step(problem, weights):
    X, y, alpha, both = problem
    W, a = weights
    slopes = _slopes(X @ W.T, alpha)
    active = slopes * (X @ W.T)
    pull = y * jax.nn.sigmoid(-y * (active @ a))
    new = W + STEP * a[:, None] * ((slopes * pull[:, None]).T @ X)
    return new, a + both * STEP * (active.T @ pull)


def _log_loss(problem, weights):
    X, y, alpha, _ = problem
    t = X @ weights[0].T
    return jnp.log(jnp.sum(jnp.logaddexp(0.0, -y * ((_slopes(t, alpha) * t) @ weights[1]))))


# Eight million steps: whatever the other tests compile with, this is worth being optimised.
@partial(jax.jit, compiler_options={"xla_backend_optimization_level": 3})
def descent(problem, weights):
    """Weights and log losses of gradient descent on the sum, every EVERY steps."""

    def part(weights, _):
        later = jax.lax.fori_loop(0, EVERY, lambda _, w: _step(problem, w), weights)
        return later, (*weights, _log_loss(problem, weights))

    return jax.lax.scan(part, weights, None, length=round(TIME / STEP / EVERY) + 1)[1]


@jax.jit
def every_step(problem, weights):
    """The same over one part, step by step."""

    def one(weights, _):
        return _step(problem, weights), (*weights, _log_loss(problem, weights))

    return jax.lax.scan(one, weights, None, length=EVERY + 1)[1]


def at_loss(problem, log_L: float, W, a, losses) -> np.ndarray:
    """Descent's weights at the step where it comes to this loss."""
    part = max(int(np.searchsorted(-losses, -log_L)) - 1, 0)
    W, a, losses = map(np.asarray, every_step(problem, (W[part], a[part])))
    step = min(int(np.searchsorted(-losses, -log_L)), EVERY)
    return np.concatenate([W[step].ravel(), a[step]])


def differences(problem, path: Path, W, a, losses) -> np.ndarray:
    """Of the directions, at every moment whose loss descent has reached."""
    seen = []
    for moment in path.moments[1:]:
        if moment.log_L < losses[-1]:
            break
        mine = np.concatenate([moment.state.W.ravel(), moment.state.a])
        other = at_loss(problem, moment.log_L, W, a, losses)
        if not moment.state.both:
            mine, other = mine[: W[0].size], other[: W[0].size]
        seen.append(np.linalg.norm(mine / np.linalg.norm(mine) - other / np.linalg.norm(other)))
    return np.array(seen)


def compared(seed, m, d, alpha, size, both) -> tuple[Path, np.ndarray]:
    X, y, W, a = problem(seed, m, d, size, both)
    posed = (X, y.astype(float), alpha, float(both))
    kept = [np.asarray(part) for part in descent(posed, (W, a))]
    path = follow(X, y, alpha, W, a, both, log_L_end=-60.0, seconds=60)
    return path, differences(posed, path, *kept)


@pytest.mark.parametrize("seed, m, d, alpha, size, both", rest_long(CASES, QUICK))
def test_the_flow_goes_where_tiny_steps_go(seed, m, d, alpha, size, both) -> None:
    path, distances = compared(seed, m, d, alpha, size, both)
    assert path.end in ("reached", "rest") and len(distances) >= 5
    assert distances.max() < NEAR


@pytest.mark.parametrize(
    "cases, both_layers, first_layer",
    [(QUICK, 1, 1), pytest.param(CASES, 10, 1, marks=pytest.mark.long)],
    ids=["quick", "all"],
)
def test_sliding_is_among_the_cases(cases, both_layers: int, first_layer: int) -> None:
    slid = {True: 0, False: 0}
    for seed, m, d, alpha, size, both in cases:
        X, y, W, a = problem(seed, m, d, size, both)
        path = follow(X, y, alpha, W, a, both, log_L_end=-5.0, seconds=60)
        slid[both] += any(event.what == "slide" for event in path.events)
    assert slid[True] >= both_layers and slid[False] >= first_layer
