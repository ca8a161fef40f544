"""`tacit optimum` against linear programs and exact multipliers in the plane.

Every network that fits, measured in fractions, is above the lower bound; multipliers whose peak is
found arc by arc in fractions are below the upper one; `infeasible` means that the program over all
normals has no solution; and the neurons shown are the network of the upper bound.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from soak.case import Case
from soak.exact_networks import bound_in_plane, size
from soak.linear_program import best_network
from soak.point_sets import points, write_csv

SIGNS = {"both": (1, -1), "positive": (1,), "negative": (-1,)}
ROUNDING = 1e-12
"""Of our own sums; fractions are exact up to their square roots."""
REACHED = 1e-9
"""The network shown may be this much above `upper`: its weights are rounded."""


def attack(case: Case) -> None:
    X, y = points(case.rng, most=12, dimensions=(1, 2, 2, 2, 3, 4))
    alpha = case.pick(0.0, 0.0, 0.1, 0.5, 0.9)
    signs = case.pick("both", "both", "both", "positive", "negative")
    file = write_csv(Path("points.csv"), X, y)
    activation = f"leaky:{alpha}" if alpha else "relu"
    words = ["optimum", file, "--activation", activation, "--signs", signs, "--seconds", 20]
    best = case.as_json(*words, codes=(0, 1))
    ours = best_network(X, y, alpha, case.rng, SIGNS[signs])
    upper = math.inf if ours is None else size(ours.W, ours.a, X, y, alpha)
    if best["status"] == "infeasible":
        case.need(math.isinf(upper), f"infeasible, but a network of size {upper!r} fits")
        return
    lower, theirs = best["lower"], best["upper"]
    case.need(lower <= upper * (1 + ROUNDING), f"lower {lower!r}, but {upper!r} is reached")
    if theirs is None:
        case.need(math.isinf(upper), f"none was found, but a network of size {upper!r} fits")
        return
    if X.shape[1] == 2 and ours is not None:
        bound = bound_in_plane(ours.dual, X, y, alpha, SIGNS[signs])
        case.need(theirs >= bound * (1 - ROUNDING), f"upper {theirs!r}, but {bound!r} is needed")
    W = np.array([neuron["w"] for neuron in best["neurons"]]).reshape(-1, X.shape[1])
    a = np.array([neuron["a"] for neuron in best["neurons"]])
    shown = size(W, a, X, y, alpha)
    case.need(shown <= theirs * (1 + REACHED), f"upper {theirs!r}, the neurons have {shown!r}")
