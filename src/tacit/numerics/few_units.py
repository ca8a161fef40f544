"""Networks with few units of each sign that fit, by local search from many starts.

With few units a network cannot be had by rounding the real numbers of the convex program: what is
left of its neurons seldom fits. Here all units move at once, from starts of their own.
"""

from collections.abc import Iterator

import numpy as np

from tacit.numerics.max_margin import max_margin
from tacit.numerics.neurons import Neurons
from tacit.numerics.tolerances import FIXED_OUTPUT


def fitting(
    X: np.ndarray, y: np.ndarray, alpha: float, units: int, net: Neurons
) -> Iterator[Neurons]:
    """Networks of `units` units of each sign that fit, or nearly do.

    Whether one fits does not depend on the lengths of the points, so that all are divided by them.
    Each start makes Σ max(0, 1 − y_i f(x_i))² small. The first ones come as they are, too: from
    where a network fits by little, that sum may lead away.
    """
    from scipy.optimize import minimize

    rows = X / np.linalg.norm(X, axis=1)[:, None]
    sign = np.repeat([1, -1], units)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        t = rows @ flat.reshape(len(sign), -1).T
        short = np.maximum(1 - y * (np.maximum(t, alpha * t) @ sign), 0)
        slopes = np.where(t > 0, 1.0, alpha) * sign
        return float(short @ short), -2 * ((y * short)[:, None] * slopes).T.dot(rows).ravel()

    for k, start in enumerate(_starts(rows, y, units, net)):
        if k < 2:
            yield from _living(start, sign)
        options = {"maxiter": FIXED_OUTPUT.most_steps}
        # The squared hinge is smooth but for the kinks of the units, which L-BFGS steps across.
        end = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options)
        yield from _living(end.x.reshape(len(sign), -1), sign)


def _living(V: np.ndarray, sign: np.ndarray) -> Iterator[Neurons]:
    """The units that are not zero, if there are any."""
    live = V.any(axis=1)
    if live.any():
        yield Neurons(V[live], sign[live])


def _starts(rows: np.ndarray, y: np.ndarray, units: int, net: Neurons) -> Iterator[np.ndarray]:
    """Weights to begin with: one row for each unit, the positive ones first.

    The first see all points of their class, or tell the classes apart, where a hyperplane does;
    then come the heaviest neurons of a network that is too wide, and random ones.
    """
    rng = np.random.default_rng(0)
    d = rows.shape[1]
    own = [max_margin(rows[y == s]).direction if (y == s).any() else np.zeros(d) for s in (1, -1)]
    apart = max_margin(y[:, None] * rows).direction
    for pair in (own, [apart, -apart]):
        yield FIXED_OUTPUT.long * np.repeat(pair, units, axis=0)
    heaviest = np.zeros((2, units, d))
    for part, s in zip(heaviest, (1, -1), strict=True):
        V = net.V[net.sign == s]
        V = V[np.argsort(-np.linalg.norm(V, axis=1))][:units]
        part[: len(V)] = FIXED_OUTPUT.long * V / np.linalg.norm(V, axis=1)[:, None]
    yield heaviest.reshape(2 * units, d)
    for k in range(FIXED_OUTPUT.random_starts):
        # Sizes over a range: a large start keeps its activation patterns, a small one chooses them.
        start = 10.0 ** rng.uniform(-0.5, 1) * rng.standard_normal((2 * units, d))
        if k % 2:  # every unit sees a point of its class that it can serve
            for part, s in zip((start[:units], start[units:]), (1, -1), strict=True):
                if (y == s).any():
                    seen = rng.choice(np.flatnonzero(y == s), units)
                    part += FIXED_OUTPUT.long * rows[seen]
        yield start
