"""The program (7) of sarussi2021: two neurons in the perfect-agreement regime (PAR)."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.numerics.float64 import EPS
from tacit.numerics.margin_solutions import (
    MarginSolution,
    confirm_without_alpha,
    objective_bounds,
    smallest_separator,
    support_rows,
)
from tacit.numerics.max_margin import max_margin


@dataclass(frozen=True, eq=False)
class Par(MarginSolution):
    """The bounds are those of ‖w‖² + ‖u‖²; both are inf when there are no w and u."""

    w: np.ndarray | None
    u: np.ndarray | None

    @property
    def boundary(self) -> np.ndarray | None:
        """Unit vector along w − u; zero where nothing is known about it, as when w = u.

        For α > 0 the network σ(w·x) − σ(u·x) decides like it (Corollary 6.1).
        """
        apart = self._apart()
        if apart is None:
            return None
        return apart / np.linalg.norm(apart) if self.boundary_error < np.pi else 0 * apart

    @property
    def boundary_error(self) -> float:
        """Angle between `boundary` and the exact one at most; π where nothing is known.

        Of points that satisfy the constraints, one with the value upper is no farther than
        √(upper − lower) from the optimum.
        """
        apart = self._apart()
        if apart is None or not (length := np.linalg.norm(apart)) > 0:
            return np.pi
        sine = math.sqrt(2 * (self.gap + 4 * EPS)) / length
        return math.asin(sine) if sine < 1 else np.pi

    def _apart(self) -> np.ndarray | None:
        """(w − u)/√(‖w‖² + ‖u‖²); zero where these are too large for a float."""
        if self.w is None or self.u is None:
            return None
        both = np.append(self.w, self.u)
        if not np.isfinite(both).all():
            return np.zeros(len(self.w))
        w, u = np.split(both / np.abs(both).max(), 2)
        return (w - u) / math.hypot(*w, *u)


def par_features(X: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    """φ(x) = [σ'(w*·x) x, −σ'(−w*·x) x] of §6.2, where y = sign(w*·x).

    That is (x, −αx) for y = +1 and (αx, −x) for y = −1; the paper's appendix has y·φ(x) there.
    """
    X = np.asarray(X, dtype=np.float64)
    positive = (np.asarray(y) == 1)[:, None]
    return np.hstack([np.where(positive, X, alpha * X), -np.where(positive, alpha * X, X)])


def par_kernel(
    X: np.ndarray, y: np.ndarray, X2: np.ndarray, y2: np.ndarray, alpha: float
) -> np.ndarray:
    """φ(x)·φ(x') for all pairs: (1 + α²) x·x' for equal labels and 2α x·x' for different ones."""
    same = np.asarray(y)[:, None] == np.asarray(y2)
    return np.where(same, 1 + alpha**2, 2 * alpha) * (np.asarray(X) @ np.asarray(X2).T)


def par(X: np.ndarray, y: np.ndarray, alpha: float) -> Par:
    """Solve (7): min ‖w‖² + ‖u‖² subject to w·x − αu·x ≥ 1 for the positive points x and
    u·x − αw·x ≥ 1 for the negative ones."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    Z = y[:, None] * par_features(X, y, alpha)
    answer = max_margin(Z)  # (7)
    # (w, u) ↦ (w − αu, u − αw) is invertible unless α = 1: each class may be separated by itself.
    parts = [np.flatnonzero(y == label) for label in (1, -1)] if alpha != 1 else [np.arange(len(y))]
    parts = [part for part in parts if len(part)]
    answer = confirm_without_alpha(answer, y[:, None] * X, parts, np.ones(len(y)))
    both = smallest_separator(answer)
    w, u = (None, None) if both is None else np.split(both, 2)
    return Par(
        answer.status,
        objective_bounds(answer, 2),
        support_rows(Z, answer),
        answer.multipliers,
        w,
        u,
    )
