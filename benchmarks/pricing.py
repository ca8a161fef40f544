"""Pricing: max Σ c_i φ(u·x_i) over the unit ball, beside SCIP on the same problem.

c = ±λ_i y_i with the λ of an optimum. SCIP gets the sides of the points with c_i > 0 as binary
variables, and the ball as a quadratic constraint. Both signs one after the other, on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from sklearn import datasets

import tacit
from benchmarks.real_data import cancer, gaussian, pair, scaled
from benchmarks.text import seconds, table, times
from tacit.numerics.branch_and_bound import Branching, compilation
from tacit.values import Dataset

PATIENCE = 60.0
"""Seconds after which either is stopped, for one sign."""
GAP = 1e-6
"""The relative gap that SCIP is asked for; ours is asked for 1e-9."""
PROBLEMS: tuple[tuple[str, Callable[[], Dataset]], ...] = (
    ("digits 0/1", lambda: pair(datasets.load_digits, 0, 1)),
    ("wine 1/2, standardised", lambda: scaled(pair(datasets.load_wine, 1, 2))),
    ("digits 3/8", lambda: pair(datasets.load_digits, 3, 8)),
    ("random labels, n=60 d=8", lambda: gaussian(60, 8, "random")),
    ("breast cancer, standardised", lambda: scaled(cancer())),
)


def scip(X: np.ndarray, c: np.ndarray, patience: float = PATIENCE) -> tuple[float, float, int]:
    """Lower and upper bound of the maximum (ReLU), and nodes."""
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", patience)
    model.setParam("limits/gap", GAP)
    u = [model.addVar(lb=-1, ub=1) for _ in range(X.shape[1])]
    model.addCons(quicksum(v * v for v in u) <= 1)
    parts = []
    for row, weight in zip(X, c, strict=True):
        length = float(np.linalg.norm(row))
        product = quicksum(float(x) * v for x, v in zip(row, u, strict=True))
        part = model.addVar(lb=0, ub=length)
        if weight > 0:
            side = model.addVar(vtype="B")
            model.addCons(part <= product + length * (1 - side))
            model.addCons(part <= length * side)
        else:
            model.addCons(part >= product)
        parts.append(float(weight) * part)
    model.setObjective(quicksum(parts), "maximize")
    model.optimize()
    lower = model.getObjVal() if model.getNSols() else 0.0
    return lower, float(model.getDualbound()), int(model.getNNodes())


def row(name: str, data: Dataset) -> list[str]:
    """Points with λ > 0; time, nodes and gap of ours and of SCIP; how many times faster."""
    best = tacit.optimum(data, seconds=2 * PATIENCE).per_class[0]
    rows = np.flatnonzero(best.dual)
    X, lam = data.X[rows], best.dual[rows] / best.dual[rows].sum()
    took, nodes, gaps = [0.0, 0.0], [0, 0], [0.0, 0.0]
    peer = True
    for sign in (1, -1):
        c = sign * lam * data.y[rows]
        begun = perf_counter()
        ours = Branching(X, c, 0.0)
        values = ours.climb(np.vstack([X, -X]))[1]
        answer = ours.maximum(float(values.max()) * (1 + 1e-9), seconds=PATIENCE)
        took[0] += perf_counter() - begun
        nodes[0] += answer.nodes
        reached = max(float(values.max()), float(answer.values.max(initial=0.0)))
        gaps[0] = max(gaps[0], 1 - reached / answer.bound)
        try:
            begun = perf_counter()
            lower, upper, many = scip(X, c)
        except ImportError:
            peer = False
            continue
        took[1] += perf_counter() - begun
        nodes[1] += many
        gaps[1] = max(gaps[1], 1 - lower / upper)
    theirs = [seconds(took[1]), f"{nodes[1]:,}", f"{gaps[1]:.0e}", times(took[1] / took[0])]
    return [
        name,
        f"{len(rows)}",
        seconds(took[0]),
        f"{nodes[0]:,}",
        f"{gaps[0]:.0e}",
        *(theirs if peer else ["–"] * 4),
    ]


def section(say: Callable[[str], None]) -> str:
    compilation()
    rows = []
    for name, data in PROBLEMS:
        rows.append(row(name, data()))
        say("pricing: " + ", ".join(rows[-1]))
    head = ["pricing", "points", "ours", "nodes", "gap", "SCIP", "nodes", "gap", "times"]
    return "\n\n".join(
        [
            "## Pricing",
            "How large λ can make a neuron, with a proof: both signs, each stopped after "
            f"{PATIENCE:g} s. A dash: SCIP (pyscipopt) cannot be installed here.",
            table(head, rows),
        ]
    )
