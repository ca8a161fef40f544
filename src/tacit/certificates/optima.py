"""The best network for a data set: the convex program, one problem per class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from tacit.numerics.convex_program import TOLERANCE, Optimum
from tacit.numerics.convex_program import optimum as solve
from tacit.numerics.fixed_output import FixedOptimum, fixed_optimum
from tacit.values import BadInput, Dataset

Train = Literal["both", "first"]
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class Problem:
    """One binary problem: its best network lies in [lower, upper], `W` and `a` reach `upper`."""

    y: np.ndarray
    status: str
    """certified, bounded, or infeasible."""
    lower: float
    upper: float
    W: np.ndarray
    a: np.ndarray
    """The network f(x) = Σ a_k φ(w_k·x), scaled so that min y_i f(x_i) = 1."""
    dual: np.ndarray
    """λ ≥ 0 that proves `lower`, or that there is no network."""
    cells: int | None
    """Cells that were enumerated for the proof; None: it needed none."""
    exact: dict[int, Fraction] | None
    """For `infeasible`: λ in fractions, by row."""


@dataclass(frozen=True, eq=False)
class Best:
    """The optimum over all networks of the kind, for every class against the rest."""

    data: Dataset
    alpha: float
    train: Train
    units: int | None
    """With a fixed output layer: units of each sign …"""
    output_weight: float | None
    """… and its weights' size."""
    signs: tuple[int, ...]
    """Signs of output weights that were allowed."""
    problems: tuple[Problem, ...]

    @property
    def status(self) -> str:
        """infeasible if one class is; certified if the whole has a gap below the tolerance."""
        if any(problem.status == "infeasible" for problem in self.problems):
            return "infeasible"
        return "certified" if self.gap <= TOLERANCE else "bounded"

    @property
    def lower(self) -> float:
        return self._total([problem.lower for problem in self.problems])

    @property
    def upper(self) -> float:
        return self._total([problem.upper for problem in self.problems])

    def _total(self, values: Sequence[float]) -> float:
        """min Σ|a_k|‖w_k‖ adds up over the classes; min ‖W‖ as lengths do."""
        return math.fsum(values) if self.train == "both" else math.hypot(*values)

    @property
    def gap(self) -> float:
        if not (math.isfinite(self.upper) and self.upper > 0):
            return 1.0
        return (self.upper - self.lower) / self.upper

    @property
    def margin(self) -> tuple[float, float]:
        """Bounds of the widest normalised margin q_min/‖θ‖^L; 0 when no network fits."""
        factor = 2.0 if self.train == "both" else 1.0
        return inverse(factor * self.upper), inverse(factor * self.lower)


def inverse(value: float) -> float:
    """1/value, and inf for 0."""
    return 1 / value if value > 0 else math.inf


def optimum(
    data: Dataset,
    alpha: float = 0.0,
    train: Train = "both",
    width: int = 100,
    output_weight: float = 1.0,
    signs: Sequence[int] = (1, -1),
    progress: Progress | None = None,
    seconds: float = math.inf,
) -> Best:
    """The network with the widest margin, with a lower and an upper bound of the optimum.

    With both layers trained, networks of every width are allowed and `width` plays no part; with
    the first layer only, `width` units of output weight ±`output_weight`, half of each sign.
    `signs` are the signs of output weights that are allowed (both layers only). After about
    `seconds` (for each class) what has been proved is returned.
    """
    if not 0 <= alpha < 1:
        raise BadInput(f"the slope α = {alpha} of the activation must be in [0, 1)")
    if train == "first":
        _check_fixed(width, output_weight, signs)
    labels = [data] if data.binary else [data.one_vs_rest(k) for k in range(len(data.classes))]
    problems = []
    for one in labels:
        if train == "both":
            best = solve(one.X, one.y, alpha, signs, progress=progress, seconds=seconds)
            problems.append(_both(one.y, best))
        else:
            found = fixed_optimum(one.X, one.y, alpha, width // 2, output_weight, progress, seconds)
            problems.append(_first(one.y, found))
    fixed = train == "first"
    return Best(
        data,
        alpha,
        train,
        width // 2 if fixed else None,
        output_weight if fixed else None,
        tuple(signs),
        tuple(problems),
    )


def _check_fixed(width: int, output_weight: float, signs: Sequence[int]) -> None:
    if width < 2 or width % 2:
        raise BadInput(f"--width {width} must be even: half of the units have weight +v, half −v")
    if not (output_weight > 0 and math.isfinite(output_weight)):
        raise BadInput(f"--output-weight {output_weight} must be a positive number")
    if len(signs) == 1:
        raise BadInput("--signs is for networks with both layers trained; leave it out")


def _both(y: np.ndarray, found: Optimum) -> Problem:
    lengths = np.sqrt([math.hypot(*v) for v in found.net.V.tolist()])  # balanced: ‖w_k‖ = |a_k|
    return Problem(
        y,
        found.status,
        found.lower,
        found.upper,
        found.net.V / lengths[:, None],
        lengths * found.net.sign,
        found.dual,
        found.cells,
        found.proof,
    )


def _first(y: np.ndarray, found: FixedOptimum) -> Problem:
    return Problem(
        y,
        found.status,
        found.lower,
        found.upper,
        found.W,
        found.a,
        found.relaxed.dual,
        found.relaxed.cells,
        found.relaxed.proof,
    )
