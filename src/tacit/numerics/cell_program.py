"""The widest margin of groups of neurons that cannot leave their activation patterns.

Group g is a vector v_g on its face, inside its closed cell:

    max t   such that   y_i Σ_g s_g m_gi x_i·v_g ≥ t for all i,   σ_gi x_i·v_g ≥ 0,   Σ‖v_g‖ ≤ 1.

It is the program of `restricted` for the budget `sum` with all walls, for which a solver of general
sparse matrices takes at least ten times as long. An interior-point method comes near, and Newton's
method on what it has found to matter goes on to rounding error. Neither is believed: V counts with
the margins that it has, and λ ≥ 0 bounds those of all others by the longest pull Σ λ_i s_g y_i m_gi
x_i, of what a group in its cell feels of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tacit.numerics._cell_interior import CellGroups, InCells, widest_in_cells
from tacit.numerics.least_squares import nnls
from tacit.numerics.neurons import Neurons, margins
from tacit.numerics.polish import along, newton
from tacit.numerics.tolerances import CELLS


@dataclass(frozen=True, eq=False)
class Widest:
    """Vectors in their cells, and what λ proves of all others there."""

    V: np.ndarray
    """One row v_g per group, with Σ‖v_g‖ = 1."""
    multipliers: np.ndarray
    """λ ≥ 0 of the samples, of sum 1."""
    value: float
    """The smallest margin of these vectors."""
    bound: float
    """No vectors in these cells have a larger one."""


def widest(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    sign: np.ndarray,
    pattern: np.ndarray,
    unit: float = 1.0,
    deadline: float = math.inf,
    enough: Callable[[Widest], bool] | None = None,
) -> Widest:
    """The widest margin of groups in their closed cells.

    Group g has an output of this sign, and slides where its pattern is 0. `unit` is about the
    margin that is to come. What comes back may be worse than the bound: its reader decides. After
    the deadline (of `perf_counter`) it is the best that there is. A rough answer is given that is
    `enough`.
    """
    program = _Proposals(X, y, alpha, sign, pattern)
    best = program.judged(np.zeros((len(sign), X.shape[1])), np.ones(len(X)))
    rough: list[Widest] = []

    def is_enough(inside: InCells) -> bool:
        found = program.judged(*program.as_it_is(inside))
        if enough is not None and enough(found):
            rough.append(found)
        return bool(rough)

    for _ in range(2):
        inside = widest_in_cells(program.cells(unit), deadline, is_enough if enough else None)
        if rough:
            return rough[0]
        if perf_counter() > deadline:
            break
        for guess in program.guesses(inside, unit):
            found = program.judged(*guess)
            if _better(found, best):
                best = found
            if program.done(best) or perf_counter() > deadline:
                return best
        # In units of its own, where the margin is far from the one expected.
        if 1 / CELLS.same_unit < best.bound / unit < CELLS.same_unit:
            break
        unit = best.bound
    return best


def _gap(found: Widest) -> float:
    return 1 - found.value / max(found.bound, 1e-300)


def _better(one: Widest, other: Widest) -> bool:
    """Whether one has the smaller gap; without a margin the one with the smaller bound."""
    if max(one.value, other.value) <= 0:
        return one.bound < other.bound
    return _gap(one) < _gap(other)


class _Proposals:
    """The program of `widest`: proposals for it, and what they prove."""

    def __init__(
        self, X: np.ndarray, y: np.ndarray, alpha: float, sign: np.ndarray, pattern: np.ndarray
    ) -> None:
        self.lengths = np.linalg.norm(X, axis=1)
        self.lengths[self.lengths == 0] = 1.0
        self.X, self.y, self.alpha, self.sign, self.pattern = X, y, alpha, sign, pattern
        self.unit_rows = X / self.lengths[:, None]
        self.faces = [np.flatnonzero(signs == 0) for signs in pattern]
        self.frames = [along(self.unit_rows[on]) for on in self.faces]
        slope = np.where(pattern > 0, 1.0, np.where(pattern < 0, alpha, 0.0))
        self.slope = slope * sign[:, None] * y

    def cells(self, unit: float) -> CellGroups:
        wide = max(frame.shape[1] for frame in self.frames)
        P = np.zeros((*self.pattern.shape, wide))
        for rows, frame in zip(P, self.frames, strict=True):
            rows[:, : frame.shape[1]] = self.unit_rows @ frame
        return CellGroups(P, self.slope, self.pattern.astype(float), unit / self.lengths)

    def as_it_is(self, inside: InCells) -> tuple[np.ndarray, np.ndarray]:
        """V and λ of the interior-point method."""
        V = np.array([F @ u[: F.shape[1]] for F, u in zip(self.frames, inside.U, strict=True)])
        lam = inside.multipliers / inside.multipliers.sum()
        return V / np.linalg.norm(V, axis=1).sum(), lam / self.lengths

    def guesses(self, inside: InCells, unit: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """V and λ of the interior-point method, made exact by an active-set method; or as they are.

        Which groups live, which samples have the smallest margin and which walls are in the way is
        what the method has found, up to a few that Newton's method shows to be wrong.
        """
        V, last = self.as_it_is(inside)
        size = np.linalg.norm(V, axis=1)
        q = (self.slope * (V @ self.unit_rows.T)).sum(axis=0) * self.lengths
        longest = float(np.linalg.norm(inside.pulls, axis=1).max())
        # Of two that are complementary, the larger one is not 0.
        tight = q - q.min() < last * self.lengths * abs(q.min())
        lam = np.where(tight, last, 0.0)
        live = size > CELLS.dead * size.max()
        ahead = self.pattern * (V @ self.unit_rows.T)
        walls = (inside.walls / longest > ahead) & (self.pattern != 0)
        room = np.array([frame.shape[1] for frame in self.frames])
        for _ in range(CELLS.most_changes):
            for g in np.flatnonzero(live & (walls.sum(axis=1) >= room)).tolist():
                # Walls on all sides hold a group at 0.
                normals = self._normals(g, np.flatnonzero(walls[g]))
                live[g] = along(normals).shape[1] > 0
            better = self._newton(V, lam, live, walls)
            if better is None:
                break
            yield better
            before = live.copy(), walls.copy(), lam > 0
            lam = self._change(V, *better, live, walls)
            if all(map(np.array_equal, before, (live, walls, lam > 0))):
                break
        yield V, last

    def _change(
        self, first: np.ndarray, V: np.ndarray, lam: np.ndarray, live: np.ndarray, walls: np.ndarray
    ) -> np.ndarray:
        """Correct who lives and which walls are in the way; λ with the samples that matter too."""
        size = np.linalg.norm(V, axis=1)
        ahead = self.pattern * (V @ self.unit_rows.T)
        raw = (self.slope * lam) @ self.X
        rate = float((raw * V).sum() / size.sum())
        for g in range(len(V)):
            if live[g] and (V[g] * first[g]).sum() < 0:  # its length has come out negative
                live[g] = False
            elif live[g]:
                on = np.flatnonzero(walls[g])
                left = self.frames[g].T @ (rate * V[g] / size[g] - raw[g])
                push = np.linalg.lstsq(self._normals(g, on).T, left)[0]
                walls[g, on[push < 0]] = False
                walls[g] |= ahead[g] < -CELLS.none * size[g]
            else:
                length, push = self._longest(raw[g], g, rate)
                live[g] = length > rate * (1 + CELLS.none)
                walls[g] = push > 0
        q = margins(self.X, self.y, self.alpha, Neurons(V, self.sign))[0]
        low = (q < (1 - CELLS.none) * float(lam @ q)) & (lam == 0)
        return np.where(low, CELLS.dead * lam.max(), lam)

    def _newton(
        self, V: np.ndarray, lam: np.ndarray, live: np.ndarray, walls: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        which = np.flatnonzero(live)
        if len(which) == 0 or not lam.any():
            return None
        faces = [np.flatnonzero(walls[g] | (self.pattern[g] == 0)) for g in which]
        net = Neurons(V[which], self.sign[which])
        better = newton(self.X, self.y, self.alpha, net, faces, lam, "sum")
        if better is None:
            return None
        out = np.zeros(V.shape)
        out[which] = better[0].V
        return out, better[1]

    def _normals(self, g: int, on: np.ndarray) -> np.ndarray:
        return np.asarray(self.pattern[g, on, None] * (self.unit_rows[on] @ self.frames[g]))

    def _longest(self, pull: np.ndarray, g: int, aim: float) -> tuple[float, np.ndarray]:
        """How long a pull is for a group that cannot leave its cell, and what the walls do then.

        Where it is not longer than the aim without walls, it is not looked at them.
        """
        push = np.zeros(len(self.X))
        along_face = self.frames[g].T @ pull
        length = float(np.linalg.norm(along_face))
        if length <= aim:
            return length, push
        on = np.flatnonzero(self.pattern[g])
        push[on], shorter = nnls(self._normals(g, on).T, -along_face)
        return min(length, shorter), push

    def done(self, found: Widest) -> bool:
        """Whether nothing is left to be gained, or no margin is there."""
        return _gap(found) <= CELLS.none or found.bound <= CELLS.none

    def judged(self, V: np.ndarray, lam: np.ndarray) -> Widest:
        """What these prove; where a vector is outside of its cell, they are all 0 instead."""
        size = np.linalg.norm(V, axis=1)
        total = float(size.sum())
        ahead = self.pattern * (V @ self.unit_rows.T)
        off = np.where(self.pattern == 0, -np.abs(V @ self.unit_rows.T), ahead)
        inside = 0 < total and (off >= -CELLS.none * size[:, None]).all()
        V = V / total if inside else np.zeros(V.shape)
        value = float(margins(self.X, self.y, self.alpha, Neurons(V, self.sign))[0].min())
        lam = lam / lam.sum()
        raw = (self.slope * lam) @ self.X
        bound = 0.0
        aim = max(value, 0.0) * (1 + CELLS.none / 2)
        for g, pull in enumerate(raw):
            bound = max(bound, self._longest(pull, g, aim)[0])
        return Widest(V, lam, value, bound)
