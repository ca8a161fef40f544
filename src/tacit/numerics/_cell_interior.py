"""An interior-point method for vectors in cells, which eliminates every group on its own.

    max t   such that   Σ_g m_gi x_i·v_g ≥ c_i t for all i,   σ_gi x_i·v_g ≥ 0,   Σ‖v_g‖ ≤ 1.

It is the method of Mehrotra with the scaling of Nesterov and Todd (Vandenberghe 2010, The CVXOPT
linear and quadratic cone program solvers): ‖u_g‖ ≤ τ_g are second-order cones, all else is linear.
In scaled coordinates a group without walls has the identity, so that what is left, one dense matrix
over the samples, keeps its digits until lengths and their bounds τ_g can hardly be told apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from tacit.numerics.tolerances import CELLS


@dataclass(frozen=True, eq=False)
class CellGroups:
    """Groups on their faces, in coordinates of these."""

    P: np.ndarray
    """Groups × samples × D: x_i F_g, with columns of zeros where a face has fewer dimensions."""
    slope: np.ndarray
    """m_gi s_g y_i."""
    side: np.ndarray
    """σ_gi where the group has to stay on its side; 0 where nothing is asked for."""
    goal: np.ndarray
    """c_i > 0."""


@dataclass(frozen=True, eq=False)
class InCells:
    """Vectors inside their cells, and multipliers that say how much wider a margin can be."""

    U: np.ndarray
    """Coordinates of v_g."""
    multipliers: np.ndarray
    """λ ≥ 0 of the samples, with c·λ = 1."""
    walls: np.ndarray
    """μ ≥ 0 of groups × samples."""
    pulls: np.ndarray
    """Σ_i (λ_i m_gi + μ_gi σ_gi) x_i on every group, along its face."""


@np.errstate(all="ignore")  # what is not a number ends the method
def widest_in_cells(
    cells: CellGroups,
    deadline: float = math.inf,
    enough: Callable[[InCells], bool] | None = None,
) -> InCells:
    """A proposal, up to a share `CELLS.precision` of the largest t or what rounding leaves.

    t should be of size 1, and so should the entries of P. After the deadline (of `perf_counter`) it
    is what there is. Once it is up to a share `CELLS.rough` it is asked whether that is `enough`.
    """
    program, point = _Conditions(cells), _first(cells)
    best, least, fruitless = point, np.inf, 0
    for _ in range(CELLS.most_steps):
        lacks = program.lacks(point)
        wrong = max(lacks.largest(point), point.gap)
        if not np.isfinite(wrong):
            break
        fruitless = 0 if wrong < CELLS.progress * least else fruitless + 1
        if wrong < least:
            best, least = point, wrong
        size = max(min(abs(point.t), 1.0), CELLS.precision)
        if enough is not None and wrong <= CELLS.rough * size:
            if enough(program.proposal(point)):
                break
            enough = None
        aim = CELLS.precision * size
        if wrong <= aim or fruitless == CELLS.most_fruitless or perf_counter() > deadline:
            break
        try:
            system = _System(program, point, lacks)
        except np.linalg.LinAlgError:
            break
        point = _step(system, point)
    return program.proposal(best)


@dataclass(frozen=True, eq=False)
class _Point:
    """Unknowns and multipliers; all but t are inside of their cones."""

    t: float
    y: np.ndarray
    """τ_g and u_g, one row per group."""
    s: np.ndarray
    """What is left of the margins, the walls and of Σ τ_g ≤ 1."""
    z: np.ndarray
    """λ, μ and θ, their multipliers."""
    cone: np.ndarray
    """The multipliers of ‖u_g‖ ≤ τ_g, one row per group."""

    @property
    def gap(self) -> float:
        return float(self.s @ self.z) + float((self.y * self.cone).sum())

    def moved(self, step: _Point, primal: float, dual: float) -> _Point:
        return _Point(
            self.t + primal * step.t,
            self.y + primal * step.y,
            self.s + primal * step.s,
            self.z + dual * step.z,
            self.cone + dual * step.cone,
        )

    def room(self, step: _Point) -> tuple[float, float]:
        """The largest shares of the step that stay in the cones."""
        primal = min(_room_above_0(self.s, step.s), _room(self.y, step.y))
        return primal, min(_room_above_0(self.z, step.z), _room(self.cone, step.cone))


def _first(cells: CellGroups) -> _Point:
    """Inside of all cones; what it lacks is taken away on the way."""
    count, n, width = cells.P.shape
    walls = int(np.count_nonzero(cells.side))
    lam = 1 / n / cells.goal
    pulls = np.matmul((cells.slope * lam)[:, None], cells.P)[:, 0]
    theta = 2 * max(float(np.linalg.norm(pulls, axis=1).max()), CELLS.precision)
    y, cone = np.zeros((count, width + 1)), np.zeros((count, width + 1))
    y[:, 0], cone[:, 0] = 1 / count, theta
    z = np.concatenate([lam, np.full(walls, theta / n), [theta]])
    s = np.concatenate([theta / count / lam, np.full(walls + 1, 1 / count)])
    return _Point(0.0, y, s, z, cone)


@dataclass(frozen=True, eq=False)
class _Lacks:
    """By how much a point misses its linear equations."""

    t: float
    y: np.ndarray
    s: np.ndarray

    def largest(self, point: _Point) -> float:
        pulls = float(np.abs(self.y).max()) / max(float(point.z[-1]), 1e-300)
        return max(abs(self.t), pulls, float(np.abs(self.s).max()))


class _Conditions:
    """The linear part: margins, walls, and the sum of the τ_g."""

    def __init__(self, cells: CellGroups) -> None:
        self.cells = cells
        count, n, width = cells.P.shape
        self.walls = np.nonzero(cells.side)
        self.E = np.zeros((count, n + 1, width + 1))
        self.E[:, :n, 1:] = cells.slope[:, :, None] * cells.P
        self.E[:, n, 0] = -1
        self.border = np.append(cells.goal, 0.0)
        self.used = self.E.any(axis=1).ravel()  # faces with fewer dimensions have columns of zeros

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        cells = self.cells
        inside = (cells.side * np.matmul(cells.P, y[:, 1:, None])[:, :, 0])[self.walls]
        rows = np.matmul(self.E, y[:, :, None]).sum(axis=0)[:, 0]
        return np.concatenate([rows[:-1] - cells.goal * t, inside, rows[-1:]])

    def back(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The transpose."""
        n = len(self.cells.goal)
        out = np.append(z[:n], z[-1]) @ self.E
        walls = self.cells.side * self.on_walls(z[:-1])
        out[:, 1:] += np.matmul(walls[:, None], self.cells.P)[:, 0]
        return -float(self.cells.goal @ z[:n]), out

    def on_walls(self, z: np.ndarray) -> np.ndarray:
        """The entries for the walls, as groups × samples."""
        out = np.zeros(self.cells.side.shape)
        out[self.walls] = z[len(self.cells.goal) :]
        return out

    def proposal(self, point: _Point) -> InCells:
        """The point in units in which c·λ = 1."""
        cells, n = self.cells, len(self.cells.goal)
        total = float(cells.goal @ point.z[:n])
        lam, walls = point.z[:n] / total, self.on_walls(point.z[:-1]) / total
        pulls = np.matmul((cells.slope * lam + cells.side * walls)[:, None], cells.P)[:, 0]
        return InCells(point.y[:, 1:], lam, walls, pulls)

    def lacks(self, point: _Point) -> _Lacks:
        t, y = self.back(point.z)
        s = self(point.t, point.y) - point.s
        s[-1] += 1
        return _Lacks(-1.0 - t, -y - point.cone, s)


class _System:
    """The linear system of a step, factorised."""

    def __init__(self, rows: _Conditions, point: _Point, lacks: _Lacks) -> None:
        self.rows, self.point, self.lacks = rows, point, lacks
        P, n = rows.cells.P, len(rows.cells.goal)
        self.scaling = _Cone(point.y, point.cone)
        weight = point.z / point.s
        W = self.scaling.matrices()
        bent = np.zeros(W.shape)
        bent[:, 1:, 1:] = P.transpose(0, 2, 1) @ (rows.on_walls(weight[:-1])[:, :, None] * P)
        K = np.eye(W.shape[1]) + W @ bent @ W
        self.root = W @ np.linalg.inv(np.linalg.cholesky(K)).transpose(0, 2, 1)
        self.Z = (rows.E @ self.root).transpose(1, 0, 2).reshape(n + 1, -1)
        Z = self.Z if rows.used.all() else self.Z[:, rows.used]
        S = Z @ Z.T
        S.flat[:: n + 2] += np.append(1 / weight[:n], 1 / weight[-1])
        self.factor = cho_factor(S, lower=True, check_finite=False)
        self.border = cho_solve(self.factor, rows.border, check_finite=False)

    def step(self, right: np.ndarray, cone_right: np.ndarray) -> _Point:
        """The step with s·dz + z·ds = right, W d(cone) + W⁻¹ dy = cone_right, lacking nothing."""
        point, lacks, n = self.point, self.lacks, len(self.rows.cells.goal)
        pushed = (right - point.z * lacks.s) / point.s
        t, y = self.rows.back(pushed)
        y += self.scaling.over(cone_right) - lacks.y
        half = np.matmul(self.root.transpose(0, 2, 1), y[:, :, None])[:, :, 0]
        dual = cho_solve(self.factor, self.Z @ half.ravel(), check_finite=False)
        border = self.rows.border
        dt = (float(border @ dual) + t - lacks.t) / float(border @ self.border)
        dual -= dt * self.border
        half -= (dual @ self.Z).reshape(half.shape)
        dy = np.matmul(self.root, half[:, :, None])[:, :, 0]
        ds = self.rows(dt, dy) + lacks.s
        dz = (right - point.z * ds) / point.s
        # Not by ds over what is left of a margin, which is small where λ is not; and the equations
        # of the pulls hold to rounding if the cones are put right by them.
        dz[:n], dz[-1] = pushed[:n] - dual[:n], pushed[-1] - dual[-1]
        return _Point(dt, dy, ds, dz, lacks.y - self.rows.back(dz)[1])


def _step(system: _System, point: _Point) -> _Point:
    """Predict how far the gap could fall, and step towards the centre with what is left."""
    scaling = system.scaling
    mean = point.gap / (len(point.s) + len(point.y))
    scaled = scaling.times(point.cone)
    ahead = system.step(-point.s * point.z, -scaled)
    primal, dual = (min(1.0, share) for share in point.room(ahead))
    centre = mean * max(point.moved(ahead, primal, dual).gap / point.gap, 0.0) ** 3
    second = -_product(scaled, scaled)
    second -= _product(scaling.over(ahead.y), scaling.times(ahead.cone))
    second[:, 0] += centre
    step = system.step(centre - point.s * point.z - ahead.s * ahead.z, _quotient(scaled, second))
    primal, dual = (min(1.0, CELLS.inside * share) for share in point.room(step))
    return point.moved(step, primal, dual)


class _Cone:
    """The scaling of pairs (s, z) in second-order cones, one per row."""

    def __init__(self, s: np.ndarray, z: np.ndarray) -> None:
        a, b = _size(s), _size(z)
        s, z = s / a[:, None], z / b[:, None]
        gamma = np.sqrt((1 + (s * z).sum(axis=1)) / 2)
        w = s + _flipped(z)
        self.w = w / (2 * gamma[:, None])
        self.eta = np.sqrt(a / b)

    def times(self, x: np.ndarray) -> np.ndarray:
        """W x."""
        return self.eta[:, None] * _turned(self.w, x)

    def over(self, x: np.ndarray) -> np.ndarray:
        """W⁻¹ x."""
        return _turned(_flipped(self.w), x) / self.eta[:, None]

    def matrices(self) -> np.ndarray:
        """Every W."""
        w, eye = self.w, np.eye(self.w.shape[1])
        out = eye + w[:, :, None] * w[:, None] / (1 + w[:, :1])[:, None]
        out[:, 0], out[:, :, 0] = w, w
        return out * self.eta[:, None, None]


def _flipped(x: np.ndarray) -> np.ndarray:
    """J x: all but the first entry with the other sign."""
    out = -x
    out[:, 0] = x[:, 0]
    return out


def _turned(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The symmetric root of 2 w wᵀ − J, times x."""
    along = (w[:, 1:] * x[:, 1:]).sum(axis=1)
    out = x + (x[:, 0] + along / (1 + w[:, 0]))[:, None] * w
    out[:, 0] = w[:, 0] * x[:, 0] + along
    return out


def _size(x: np.ndarray) -> np.ndarray:
    """√(xᵀJx), by factors that do not cancel."""
    length = np.linalg.norm(x[:, 1:], axis=1)
    return np.sqrt(np.maximum((x[:, 0] - length) * (x[:, 0] + length), 1e-300))


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The product x∘y of the cone's algebra."""
    out = x[:, :1] * y + y[:, :1] * x
    out[:, 0] = (x * y).sum(axis=1)
    return out


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The z with x∘z = y."""
    along = (x[:, 1:] * y[:, 1:]).sum(axis=1)
    first = (x[:, 0] * y[:, 0] - along) / _size(x) ** 2
    out = (y - first[:, None] * x) / x[:, :1]
    out[:, 0] = first
    return out


def _room(s: np.ndarray, step: np.ndarray) -> float:
    """The largest share of the step that stays in the cones."""
    # (s + a step) is on the border where a² A + 2 a B + C = 0.
    length = np.linalg.norm(s[:, 1:], axis=1)
    C = (s[:, 0] - length) * (s[:, 0] + length)
    B = s[:, 0] * step[:, 0] - (s[:, 1:] * step[:, 1:]).sum(axis=1)
    A = step[:, 0] ** 2 - (step[:, 1:] ** 2).sum(axis=1)
    with np.errstate(all="ignore"):
        root = np.sqrt(B * B - A * C)
        first = np.where(B < 0, C / (root - B), -(B + root) / A)
        ahead = np.where((first > 0) & np.isfinite(first), first, np.inf)
        down = np.where(step[:, 0] < 0, -s[:, 0] / step[:, 0], np.inf)
    return float(np.minimum(ahead, down).min(initial=np.inf))


def _room_above_0(s: np.ndarray, step: np.ndarray) -> float:
    falls = step < 0
    return float((-s[falls] / step[falls]).min(initial=np.inf))
