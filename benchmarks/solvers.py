"""Solvers: the optimum and the max margin beside cvxpy, pyscnn, SVC and a soft-min ascent.

Every row has the time and how far the answer is from the best one, measured by us in the same way
for both. A peer that is not installed has a row that says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import Any

import numpy as np

from benchmarks.text import seconds, table, times
from benchmarks.works import xor_like
from tacit import Dataset, Setting
from tacit.flow import limit
from tacit.numerics.arrangements import cells
from tacit.numerics.convex_program import convex_optimum
from tacit.numerics.max_margin import max_margin

PENALTY = 1e-2
"""λ of pyscnn's problem ½·mean (f − y)² + λ Σ‖v‖."""
NEURONS, ITERATIONS = 500, 100_000
"""Of the soft-min ascent."""


@dataclass(frozen=True)
class Answer:
    """What was got, after how long, and how far it is from the best, relative to it."""

    seconds: float
    off: str


def timed(work: Callable[[], object]) -> tuple[Any, float]:
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def all_cells(X: np.ndarray, y: np.ndarray, penalty: float | None = None) -> float:
    """The convex program with both signs and all cells written out in cvxpy.

    min Σ‖v‖ with all margins at least 1; given a penalty, pyscnn's problem.
    """
    import cvxpy as cp

    signs = cells(X).astype(float)
    V = {s: cp.Variable((len(signs), X.shape[1])) for s in (1, -1)}
    outputs = sum(
        s * cp.sum(cp.multiply((signs > 0).astype(float), v @ X.T), axis=0) for s, v in V.items()
    )
    inside = [cp.multiply(signs, v @ X.T) >= 0 for v in V.values()]
    size = sum(cp.sum(cp.norm(v, axis=1)) for v in V.values())
    if penalty is None:
        program = cp.Problem(cp.Minimize(size), [*inside, cp.multiply(y, outputs) >= 1])
    else:
        fit = cp.sum_squares(outputs - y) / (2 * len(y))
        program = cp.Problem(cp.Minimize(fit + penalty * size), inside)
    return float(program.solve(solver="CLARABEL"))


def inside_cells(X: np.ndarray) -> np.ndarray:
    """A direction in each cell."""
    return np.array([max_margin(sign[:, None] * X).direction for sign in cells(X).astype(float)])


def by_pyscnn(X: np.ndarray, y: np.ndarray, gates: np.ndarray) -> float:
    """The value of pyscnn's own problem at the network that it returns, given all cells."""
    import torch
    from scnn.metrics import Metrics
    from scnn.models import ConvexReLU
    from scnn.optimize import optimize_model
    from scnn.regularizers import NeuronGL1
    from scnn.solvers import AL

    torch.set_num_threads(1)
    model = ConvexReLU(gates.T)
    with redirect_stdout(StringIO()):
        net, _ = optimize_model(
            model,
            AL(model),
            Metrics(),
            X,
            y,
            regularizer=NeuronGL1(PENALTY),
            unitize_data=False,
            dtype="float64",
        )
    W, a = net.parameters[0], net.parameters[1].ravel()
    f = np.maximum(X @ W.T, 0) @ a
    size = float(np.abs(a) @ np.linalg.norm(W, axis=1))
    return float(np.sum((f - y) ** 2) / (2 * len(y)) + PENALTY * size)


def by_svc(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The direction of SVC; every point's mirror image is there too, so that its bias is 0."""
    from sklearn.svm import SVC

    fitted = SVC(kernel="linear", C=1e10).fit(np.vstack([X, -X]), np.concatenate([y, -y]))
    w = fitted.coef_[0]
    return w / np.linalg.norm(w)


def soft_min_ascent(
    X: np.ndarray, y: np.ndarray, neurons: int = NEURONS, iterations: int = ITERATIONS
) -> Iterator[float]:
    """Gradient ascent on −log Σ exp(−β q_i)/β with ‖θ‖ = 1, β growing; the best margin so far."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((X.shape[1], neurons))
    a = np.linalg.norm(W, axis=0) * rng.choice([-1.0, 1.0], neurons)
    best = -np.inf
    for beta, step in zip(
        np.geomspace(3e2, 3e5, iterations), np.geomspace(0.03, 1e-5, iterations), strict=True
    ):
        size = np.sqrt(np.sum(W * W) + a @ a)
        W, a = W / size, a / size
        H = np.maximum(X @ W, 0)
        q = y * (H @ a)
        best = max(best, q.min())
        yield best
        p = np.exp(-beta * (q - q.min()))
        g = y * p / p.sum()
        da, dW = g @ H, X.T @ (g[:, None] * (H > 0)) * a
        step /= np.sqrt(np.sum(dW * dW) + da @ da)
        W, a = W + step * dW, a + step * da


Row = tuple[str, str, Callable[[], tuple[Answer, Answer]]]
"""Problem, peer, and how both answer it."""


def against_cvxpy(n: int, d: int) -> tuple[Answer, Answer]:
    X, y = xor_like(n, d)
    best, ours = timed(lambda: convex_optimum(X, y))
    all_cells(X[:5], y[:5])  # what is imported when it is first used is not timed
    value, theirs = timed(lambda: all_cells(X, y))
    return (
        Answer(theirs, f"{abs(value / best.objective_bounds.upper - 1):.0e}"),
        Answer(ours, f"{best.gap:.0e} proved"),
    )


def against_pyscnn(n: int, d: int) -> tuple[Answer, Answer]:
    X, y = xor_like(n, d)
    best, ours = timed(lambda: convex_optimum(X, y))
    by_pyscnn(X[:5], y[:5], inside_cells(X[:5]))  # it imports PyTorch when it is first used
    gates = inside_cells(X)
    value, theirs = timed(lambda: by_pyscnn(X, y, gates))
    least = all_cells(X, y, PENALTY)
    return (
        Answer(theirs, f"{(value - least) / least:.0e} (own problem)"),
        Answer(ours, f"{best.gap:.0e} proved"),
    )


def against_svc(n: int, d: int) -> tuple[Answer, Answer]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    teacher = rng.normal(size=d)
    X = X[np.abs(X @ teacher) > 0.1 * np.linalg.norm(teacher)]
    y = np.sign(X @ teacher)
    Z = y[:, None] * X
    best, ours = timed(lambda: max_margin(Z))
    by_svc(X[:20], y[:20])
    w, theirs = timed(lambda: by_svc(X, y))
    return (
        Answer(theirs, f"{1 - float((Z @ w).min()) / best.margin_bounds.upper:.0e}"),
        Answer(ours, f"{best.gap:.0e} proved"),
    )


@lru_cache
def by_ascent(n: int, d: int) -> Answer:
    X, y = xor_like(n, d)
    best = convex_optimum(X, y).objective_bounds.upper
    begun = time.perf_counter()
    reached: dict[float, float] = {}
    margin = 0.0
    for margin in soft_min_ascent(X, y):
        for part in (0.9, 0.99, 0.995):
            if part not in reached and margin >= part / (2 * best):
                reached[part] = time.perf_counter() - begun
    spent = time.perf_counter() - begun
    on_the_way = "".join(f"; {1 - part:.0e} at {seconds(at)}" for part, at in reached.items())
    return Answer(spent, f"{1 - 2 * best * margin:.0e}{on_the_way}")


def optimum_against_ascent(n: int, d: int) -> tuple[Answer, Answer]:
    X, y = xor_like(n, d)
    best, ours = timed(lambda: convex_optimum(X, y))
    return by_ascent(n, d), Answer(ours, f"{best.gap:.0e} proved")


def limit_against_ascent(n: int, d: int) -> tuple[Answer, Answer]:
    X, y = xor_like(n, d)
    best = convex_optimum(X, y).objective_bounds.upper
    setting = Setting(width=100, init="balanced:1e-3")
    end, ours = timed(lambda: limit(Dataset(X, y), setting, seconds=60))
    off = "" if end.margin is None else f"{1 - 2 * best * end.margin:.0e}, "
    return by_ascent(n, d), Answer(ours, f"{off}{end.outcome}")


ROWS: list[Row] = [
    ("optimum, n=20 d=3", "cvxpy, all 382 cells", lambda: against_cvxpy(20, 3)),
    ("optimum, n=40 d=3", "cvxpy, all 1,562 cells", lambda: against_cvxpy(40, 3)),
    ("optimum, n=20 d=3", "pyscnn, all 382 cells", lambda: against_pyscnn(20, 3)),
    ("optimum, n=40 d=3", "pyscnn, all 1,562 cells", lambda: against_pyscnn(40, 3)),
    ("max margin, 500×20", "SVC(C=1e10)", lambda: against_svc(500, 20)),
    ("max margin, 2,000×100", "SVC(C=1e10)", lambda: against_svc(2000, 100)),
    ("optimum, n=40 d=3", "soft-min ascent, NumPy", lambda: optimum_against_ascent(40, 3)),
    ("limit of the flow, n=40 d=3", "soft-min ascent, NumPy", lambda: limit_against_ascent(40, 3)),
]

HEAD = ("problem", "peer", "its time", "off by", "our time", "off by", "ratio")


def section(say: Callable[[str], None]) -> str:
    """All peers as a table."""
    convex_optimum(*xor_like(5, 2))  # what is imported when it is first used is not timed
    rows = []
    for problem, peer, work in ROWS:
        say(f"solvers: {problem}, {peer}")
        try:
            theirs, ours = work()
        except ImportError as missing:
            rows.append((problem, peer, f"not installed ({missing.name})", "–", "–", "–", "–"))
            continue
        except Exception as broken:  # a peer's own trouble must not end the rest
            rows.append((problem, peer, f"failed ({type(broken).__name__})", "–", "–", "–", "–"))
            continue
        ratio = times(theirs.seconds / ours.seconds)
        rows.append(
            (problem, peer, seconds(theirs.seconds), theirs.off, seconds(ours.seconds), ours.off,
             ratio)
        )  # fmt: skip
    about = (
        '"off by" is relative: of an objective or a margin, from the optimum that we have '
        'proved ("proved": the gap between our own two bounds). Points are Gaussian, labels '
        "sign(x₁x₂); for SVC they are those of a linear teacher. pyscnn solves "
        f"½·mean (f − y)² + λΣ‖v‖ with λ = {PENALTY:g}, not the max margin; how far off it is "
        "on that was measured with cvxpy; cells are given to it by us. SVC has a bias always, so "
        "it is given every point's mirror image too. The ascent has "
        f"{NEURONS} neurons and {ITERATIONS:,} steps; the flow has 100 neurons, and the network "
        "it ends at need not be the best."
    )
    return f"## Solvers\n\n{about}\n\n{table(HEAD, rows)}"
