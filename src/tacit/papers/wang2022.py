"""wang2022, The convex geometry of backpropagation: its figures, numbers and a counterexample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.certificates import optimum
from tacit.data import load
from tacit.papers.base import Paper, Result, Settings, Tell, ours
from tacit.papers.claims import at_most
from tacit.plots import new_figure

PAPER = Paper("wang2022")

F1_NEURONS = np.array([[0.5606, -0.1597], [-0.2300, 0.6607]])
"""(128); the text prints 0.58 for the first entry, which does not solve (14)."""


@dataclass(frozen=True)
class Numbers(Settings):
    tolerance: float = ours(5e-5, "the paper prints four digits")


@PAPER.artefact("numbers", "(128) and (130), App. F", Numbers)
def numbers(s: Numbers, tell: Tell) -> Result:
    """The optimal neurons of the two small data sets."""
    tell("solving (14)")
    best = optimum(load("wang2022_f1"))
    problem = best.problems[0]
    found = np.abs(problem.a)[:, None] * problem.W
    difference = float(np.abs(np.sort(found, axis=0) - np.sort(F1_NEURONS, axis=0)).max())
    figure, ((ax,),) = new_figure()
    ax.plot(*F1_NEURONS.T, "o", label="paper")
    ax.plot(*found.T, "x", label="ours")
    ax.set(xlabel="w₁", ylabel="w₂", title="optimal neurons")
    ax.legend()
    claims = (
        at_most("f1", "neurons of F.1 differ from (128) by rounding only", difference, s.tolerance),
    )
    return Result(claims, figure, {"neurons": found})
