"""The convex program on given activation patterns (wang2022 (14), Leaky too), by Clarabel.

A group g is a neuron of sign s_g whose activation pattern is fixed; v_g is its weight vector with
the output weight multiplied in. In the form that always has a solution, whatever the scale,

    max t   such that   y_i Σ_g s_g m_gi x_i·v_g ≥ t for all i,   size(v) ≤ 1,

with m_gi = 1 where the pattern is + and α where it is −. A group has to stay in its cell,
σ_gi x_i·v_g ≥ 0. That is needed only at points with s_g y_i < 0: at the others φ(x_i·v_g) is at
least the m_gi x_i·v_g that is counted, whatever its side. What comes out is a proposal, to be
checked by evaluating its network and pricing its multipliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Budget = Literal["sum", "pair"]

FINEST_FEASIBILITY = 1e-13
"""The feasibility asked of Clarabel at most: its rounding errors are not far below."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of neurons, one per entry or row."""

    sign: np.ndarray
    """s_g = ±1, the sign of the output weight."""
    pattern: np.ndarray
    """σ_g, int8: one row of ±1 per group over the points."""
    constrained: np.ndarray
    """Where σ_gi x_i·v_g ≥ 0 is required, bool."""
    face: np.ndarray | None = None
    """Where x_i·v_g = 0 is asked for, bool; None: nowhere."""


@dataclass(frozen=True, eq=False)
class Restricted:
    """A proposal, to be checked."""

    value: float
    V: np.ndarray
    """One row v_g per group; size(V) ≤ 1 up to the solver's error."""
    multipliers: np.ndarray
    """λ ≥ 0 of the points, of sum 1."""
    face_multipliers: np.ndarray
    """Multipliers of x_i·v_g = 0, per group and point; 0 where it is not asked for."""


def restricted_program(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    groups: Groups,
    budget: Budget | np.ndarray = "sum",
    precision: float = 1e-10,
    unit: float = 1.0,
    seconds: float = math.inf,
) -> Restricted | None:
    """The best V for these groups; None when the solver has no answer at all.

    `budget` is what size(v) means: `sum` is Σ‖v_g‖ (both layers trained); `pair` is
    √((Σ₊‖v_g‖)² + (Σ₋‖v_g‖)²), the sums over one sign (first layer only, group sizes free);
    numbers k_g ask for √(Σ‖v_g‖²/k_g) (first layer only, with groups of these sizes).
    `unit` is about the size of the value that is to come: the solver then works near 1. Rows are
    divided by their lengths, so that long points do not set the error of short ones. After
    `seconds` the solver gives what it has.
    """
    import clarabel
    from scipy import sparse

    n, d = X.shape
    lengths = np.linalg.norm(X, axis=1)
    lengths[lengths == 0] = 1.0
    X = X / lengths[:, None]
    count = len(groups.sign)
    sums = isinstance(budget, str)
    width = 1 + count * d + (count if sums else 0)  # t, v, and for sums τ_g ≥ ‖v_g‖

    mask = np.where(groups.pattern > 0, 1.0, alpha) * groups.sign[:, None] * y
    H = (mask[:, :, None] * X).transpose(1, 0, 2).reshape(n, count * d)
    margins = sparse.hstack(
        [unit / lengths[:, None], -H, sparse.csc_matrix((n, width - 1 - count * d))], format="csc"
    )
    inside = _constraints(X, groups.constrained, -groups.pattern.astype(float), width)
    face = np.zeros_like(groups.constrained) if groups.face is None else groups.face
    faces = _constraints(X, face, np.ones(face.shape), width)
    blocks = [faces, margins, inside]
    right = np.zeros(faces.shape[0] + n + inside.shape[0])
    cones = [clarabel.ZeroConeT(faces.shape[0]), clarabel.NonnegativeConeT(n + inside.shape[0])]
    if sums:
        balls, ball_cones, ball_right = _sums(count, d, width, groups.sign, budget == "pair")
    else:
        assert isinstance(budget, np.ndarray)
        balls, ball_cones, ball_right = _sizes(count, d, width, budget)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # Several threads would add in another order: the same problem must give the same bits.
    settings.max_threads = 1
    settings.time_limit = max(seconds, 0.1)
    settings.tol_gap_abs = settings.tol_gap_rel = precision
    # A violation counts in units of the shortest point's margin, which `unit` may be far below.
    settings.tol_feas = max(precision * min(1.0, unit / float(lengths.min())), FINEST_FEASIBILITY)
    cost = np.zeros(width)
    cost[0] = -1
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((width, width)),
        cost,
        sparse.vstack([*blocks, *balls], format="csc"),
        np.concatenate([right, ball_right]),
        [cone for cone in [*cones, *ball_cones] if cone.dim],
        settings,
    ).solve()
    # Whatever the status says: a proposal of an unfinished solver can be good, and all are checked.
    x, z = np.array(solution.x), np.array(solution.z)
    lam = np.maximum(z[faces.shape[0] :][:n], 0) / lengths
    if not (np.isfinite(x).all() and np.isfinite(lam).all() and lam.sum() > 0):
        return None
    on_face = np.zeros(face.shape)
    on_face[face] = z[: faces.shape[0]] / (lam.sum() * lengths[np.nonzero(face)[1]])
    return Restricted(x[0] * unit, x[1 : 1 + count * d].reshape(count, d), lam / lam.sum(), on_face)


def _constraints(X: np.ndarray, where: np.ndarray, factor: np.ndarray, width: int) -> Any:
    """Rows factor_gi·x_i on v_g for every (g, i) that is asked for."""
    from scipy import sparse

    d = X.shape[1]
    g, i = np.nonzero(where)
    rows = np.repeat(np.arange(len(g)), d)
    columns = (1 + g[:, None] * d + np.arange(d)).ravel()
    values = (factor[g, i][:, None] * X[i]).ravel()
    return sparse.csc_matrix((values, (rows, columns)), shape=(len(g), width))


def _sums(
    count: int, d: int, width: int, sign: np.ndarray, pair: bool
) -> tuple[list[Any], list[Any], np.ndarray]:
    """‖v_g‖ ≤ τ_g, and the τ_g together at most 1 (or a pair of sums in the unit disc)."""
    import clarabel
    from scipy import sparse

    tau = 1 + count * d + np.arange(count)
    columns = np.column_stack([tau, 1 + np.arange(count * d).reshape(count, d)]).ravel()
    rows = np.arange(len(columns))
    shape = (len(columns), width)
    norms = sparse.csc_matrix((-np.ones(len(columns)), (rows, columns)), shape=shape)
    cones = [clarabel.SecondOrderConeT(d + 1)] * count
    if not pair:
        total = sparse.csc_matrix((np.ones(count), (np.zeros(count, int), tau)), shape=(1, width))
        right = np.append(1.0, np.zeros(len(columns)))
        return [total, norms], [clarabel.NonnegativeConeT(1), *cones], right
    rows = np.where(sign > 0, 1, 2)
    totals = sparse.csc_matrix((np.ones(count), (rows, tau)), shape=(3, width))
    right = np.append([1.0, 0.0, 0.0], np.zeros(len(columns)))
    return [totals, norms], [clarabel.SecondOrderConeT(3), *cones], right


def _sizes(
    count: int, d: int, width: int, sizes: np.ndarray
) -> tuple[list[Any], list[Any], np.ndarray]:
    """The constraint Σ‖v_g‖²/k_g ≤ 1."""
    import clarabel
    from scipy import sparse

    values = np.repeat(1 / np.sqrt(sizes), d)
    rows = 1 + np.arange(count * d)
    shape = (1 + count * d, width)
    ball = sparse.csc_matrix((-values, (rows, rows)), shape=shape)
    right = np.append(1.0, np.zeros(count * d))
    return [ball], [clarabel.SecondOrderConeT(1 + count * d)], right
