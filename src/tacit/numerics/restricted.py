"""The convex program on given activation patterns (wang2022 (14), Leaky too), by Clarabel.

A group g is a neuron of sign s_g whose activation pattern is fixed; v_g is its weight vector with
the output weight multiplied in. In the form that always has a solution, whatever the scale,

    max t   such that   y_i Σ_g s_g m_gi x_i·v_g ≥ t for all i,   size(v) ≤ 1,

with m_gi = 1 where the pattern is + and α where it is −. A group has to stay in its cell,
σ_gi x_i·v_g ≥ 0. That is needed only at points with s_g y_i < 0: at the others φ(x_i·v_g) is at
least the m_gi x_i·v_g that is counted, whatever its side. What comes out is a proposal, to be
checked by evaluating its network and pricing its multipliers.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.numerics.close_points import clusters

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

    face = np.zeros_like(groups.constrained) if groups.face is None else groups.face
    rows = _Rows(X, y, groups, np.where(groups.pattern > 0, 1.0, alpha), width)
    width = rows.width
    margins = rows.margins(unit / lengths)
    inside = rows.inside()
    faces = sparse.vstack([_constraints(X, face, np.ones(face.shape), width), rows.means()])
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
    lam = np.maximum(z[faces.shape[0] :][:n], 0) / (lengths * rows.scale)
    if not (np.isfinite(x).all() and np.isfinite(lam).all() and lam.sum() > 0):
        return None
    return Restricted(x[0] * unit, x[1 : 1 + count * d].reshape(count, d), lam / lam.sum())


class _Rows:
    """Margins and sides of the groups, in variables in which close points do not cancel.

    Beside t, v (and τ) there are for each cluster z, what the groups that do not bend between its
    points make of its hub, and x_h·v_g for each of the others, all in units of the cluster's gap.
    """

    def __init__(
        self, X: np.ndarray, y: np.ndarray, groups: Groups, slope: np.ndarray, width: int
    ) -> None:
        self.X, self.y, self.groups = X, y, groups
        self.weight = slope * groups.sign[:, None]
        self.clusters = clusters(X, y)
        self.bends = [
            np.flatnonzero((groups.pattern[:, one.members] != groups.pattern[:, [one.hub]]).any(1))
            for one in self.clusters
        ]
        self.first = width
        ends = np.cumsum([width, *(1 + len(bends) for bends in self.bends)])
        self.starts, self.width = ends[:-1], int(ends[-1])
        self.scale = np.ones(len(X))
        for one in self.clusters:
            self.scale[one.members] = one.scale

    def margins(self, unit: np.ndarray) -> Any:
        """unit_i t − y_i Σ_g s_g m_gi x_i·v_g, which must not be positive."""
        from scipy import sparse

        n, d = self.X.shape
        count = len(self.groups.sign)
        M = np.zeros((n, self.width))
        M[:, 0] = unit
        V = -(self.y * self.weight).T[:, :, None] * self.X[:, None]
        for one, bends, start in zip(self.clusters, self.bends, self.starts, strict=True):
            i, hub = one.members, self.X[one.hub]
            # The weights of groups that do not bend are those of the hub, bit by bit.
            V[i] = -(self.y[i] * self.weight[:, i]).T[:, :, None] * (self.X[i] - hub)[:, None]
            M[i, start] = -self.y[i] * one.gap
            columns = start + 1 + np.arange(len(bends))
            M[np.ix_(i, columns)] = -one.gap * (self.y[i] * self.weight[np.ix_(bends, i)]).T
        M[:, 1 : 1 + count * d] = V.reshape(n, count * d)
        return sparse.csc_matrix(M / self.scale[:, None])

    def inside(self) -> Any:
        """−σ_gi x_i·v_g, which must not be positive."""
        from scipy import sparse

        constrained, sides = self.groups.constrained.copy(), -self.groups.pattern.astype(float)
        blocks = []
        for one, bends, start in zip(self.clusters, self.bends, self.starts, strict=True):
            where = np.zeros_like(constrained)
            where[np.ix_(bends, one.members)] = constrained[np.ix_(bends, one.members)]
            constrained &= ~where
            rows = _constraints(
                self.X - self.X[one.hub], where, sides / self.scale, self.width
            ).tolil()
            g, i = np.nonzero(where)
            rows[np.arange(len(g)), start + 1 + np.searchsorted(bends, g)] = (
                one.gap * sides[g, i] / self.scale[i]
            )
            blocks.append(rows)
        return sparse.vstack(
            [_constraints(self.X, constrained, sides, self.width), *blocks], format="csc"
        )

    def means(self) -> Any:
        """x_h·v − ε z, which must be 0."""
        from scipy import sparse

        d = self.X.shape[1]
        M = sparse.lil_matrix((self.width - self.first, self.width))
        for one, bends, start in zip(self.clusters, self.bends, self.starts, strict=True):
            hub, at = self.X[one.hub], start - self.first
            parts = self.weight[:, [one.hub]] * hub
            parts[bends] = 0.0
            M[at, 1 : 1 + parts.size] = parts.ravel()
            M[at, start] = -one.gap
            for k, g in enumerate(bends, start=1):
                M[at + k, 1 + g * d : 1 + (g + 1) * d] = hub
                M[at + k, start + k] = -one.gap
        return M.tocsc()


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
