"""The convex program: ours against cvxpy with every cell written out, in the same run.

python benchmarks/optimum.py
"""

from __future__ import annotations

import time

import cvxpy as cp
import numpy as np

from tacit.solvers.arrangements import cells
from tacit.solvers.convex_program import optimum

PROBLEMS = [(20, 2, "xor"), (15, 3, "xor"), (20, 3, "xor"), (30, 3, "xor"), (40, 3, "xor")]


def problem(n: int, d: int, labels: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sign(X[:, 0] * X[:, 1]) if labels == "xor" else rng.choice([-1.0, 1.0], n)


def all_cells(X: np.ndarray, y: np.ndarray) -> float:
    """min Σ‖v‖ over both signs and all cells, as the program is written (ReLU)."""
    signs = cells(X).astype(float)
    V = {s: cp.Variable((len(signs), X.shape[1])) for s in (1, -1)}
    outputs = sum(
        s * cp.sum(cp.multiply((signs > 0).astype(float), v @ X.T), axis=0) for s, v in V.items()
    )
    inside = [cp.multiply(signs, v @ X.T) >= 0 for v in V.values()]
    size = sum(cp.sum(cp.norm(v, axis=1)) for v in V.values())
    program = cp.Problem(cp.Minimize(size), [*inside, cp.multiply(y, outputs) >= 1])
    return float(program.solve(solver="CLARABEL"))


def main() -> None:
    optimum(*problem(5, 2, "xor"))  # imports
    print(
        f"{'points':>6} {'d':>2} {'cells':>6} {'cvxpy':>9} {'ours':>8} {'ratio':>7}  optimum, gap"
    )
    for n, d, labels in PROBLEMS:
        X, y = problem(n, d, labels)
        start = time.perf_counter()
        best = optimum(X, y)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        value = all_cells(X, y)
        theirs = time.perf_counter() - start
        print(
            f"{n:6} {d:2} {len(cells(X)):6} {theirs:8.2f}s {ours:7.3f}s {theirs / ours:7.0f}  "
            f"{best.upper:.10g} (gap {best.gap:.0e}; cvxpy {value:.10g})"
        )


if __name__ == "__main__":
    main()
