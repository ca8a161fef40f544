"""`tacit optimum --train first` against a local search from many starts.

Every network of the same units that the search finds is above the lower bound, forbids
`infeasible` and "no network that fits was found"; the neurons shown are those of the upper bound.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from soak.case import Case
from soak.exact_networks import first_layer_size
from soak.point_sets import points, write_csv

STARTS = 12
ROUNDING = 1e-12
REACHED = 1e-9


def attack(case: Case) -> None:
    X, y = points(case.rng, most=6, dimensions=(1, 2, 2, 3), decades=3)
    alpha, width, v = case.pick(0.0, 0.3, 0.8), case.pick(2, 4, 6), case.pick(0.5, 1.0, 2.0)
    write_csv(Path("points.csv"), X, y)
    words = ["optimum", "points.csv", "--activation", f"leaky:{alpha}" if alpha else "relu"]
    words += ["--train", "first", "--width", width, "--output-weight", v, "--seconds", 20]
    best = case.as_json(*words, codes=(0, 1))
    a = v * np.repeat([1.0, -1.0], width // 2)
    ours = min(
        (first_layer_size(W, a, X, y, alpha) for W in _search(X, y, a, alpha, case.rng)),
        default=math.inf,
    )
    if best["status"] == "infeasible":
        case.need(math.isinf(ours), f"infeasible, but a network with ‖W‖ = {ours!r} fits")
        return
    lower, upper = best["lower"], best["upper"]
    case.need(lower <= ours * (1 + ROUNDING), f"lower {lower!r}, but {ours!r} is reached")
    if upper is None:
        case.need(math.isinf(ours), f"none was found, but a network with ‖W‖ = {ours!r} fits")
        return
    W = np.array([neuron["w"] for neuron in best["neurons"]])
    b = np.array([neuron["a"] for neuron in best["neurons"]])
    counts = [int((s * b > 0).sum()) for s in (1, -1)]
    case.need(set(np.abs(b)) == {v} and max(counts) <= width // 2, "other output weights")
    shown = first_layer_size(W, b, X, y, alpha)
    case.need(shown <= upper * (1 + REACHED), f"upper {upper!r}, the neurons have {shown!r}")


def _search(
    X: np.ndarray, y: np.ndarray, a: np.ndarray, alpha: float, rng: np.random.Generator
) -> list[np.ndarray]:
    """Local minima of ‖W‖² with margins of at least 1 from random starts, as far as they fit."""
    (n, d), m = X.shape, len(a)
    scale = float(np.linalg.norm(X, axis=1).max()) or 1.0
    rows = X / scale

    def margins(flat: np.ndarray) -> np.ndarray:
        z = rows @ flat.reshape(m, d).T
        return y * (np.maximum(z, alpha * z) @ a) - 1

    def jacobian(flat: np.ndarray) -> np.ndarray:
        slopes = np.where(rows @ flat.reshape(m, d).T > 0, 1.0, alpha)
        return (y[:, None, None] * (slopes * a)[:, :, None] * rows[:, None, :]).reshape(n, m * d)

    ends = []
    for _ in range(STARTS):
        start = rng.normal(size=m * d) * 10.0 ** rng.uniform(-0.5, 1)
        solution = minimize(
            lambda flat: (float(flat @ flat), 2 * flat),
            start,
            jac=True,
            method="SLSQP",
            constraints={"type": "ineq", "fun": margins, "jac": jacobian},
            options={"maxiter": 200},
        )
        if margins(solution.x).min() > -0.5:
            ends.append(solution.x.reshape(m, d) / scale)
    return ends
