"""The activation hyperplanes x_i·w = 0, on which neurons kink, and the pulls on either side.

Points on one line through 0 share a hyperplane, and a neuron that lies on it has one slope for all
of them: h for those ahead and 1 + α − h for those behind (lyu2021 (40)). So a hyperplane, not a
point, is what a neuron crosses or slides along. With unit normal e and x_i = r_i e, a neuron on the
positive side is pulled along e by Σ c_i r_i (1 where r_i > 0, α where r_i < 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tacit.flow._faces import Faces, faces_for
from tacit.flow._lines import SampleLines, pulls_of
from tacit.numerics.exact_signs import distinct_lines, integer_rows

MOST_FACES = 5000
"""Faces whose factorisation is kept; beyond that all are forgotten, to bound the memory."""
MOST_ROOM = 2**25
"""Numbers in all factorised faces together: 256 MB. With more neurons some share a place."""
MOST_PRODUCTS = 2500
"""Hyperplanes up to which the products of their normals with each other are kept: 50 MB."""
MOST_RAYS = 4000
"""Rays on which hyperplanes meet that are looked at: some hundredths of a second once, and then a
product of their number and that of the points for every step with a neuron at w = 0 …"""
MOST_RAY_WORK = 10**8
"""… if finding them takes no more operations than this."""
DEPENDENT = 1e-10
"""Singular values of normals up to this share of the largest are taken for 0."""


class Face(NamedTuple):
    """The intersection of several hyperplanes."""

    e: np.ndarray
    """The unit normals of the hyperplanes, as rows."""
    across: np.ndarray
    """Orthonormal rows that span the same space."""
    solve: np.ndarray
    """κ = −solve g makes ‖g + Σ κ e‖ smallest."""

    def along(self, g: np.ndarray) -> np.ndarray:
        """Project vectors (the last axis) onto the face."""
        return g - (g @ self.across.T) @ self.across


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """The L activation hyperplanes of n samples, one for each line through 0 with samples on it."""

    X: np.ndarray
    y: np.ndarray
    alpha: float
    e: np.ndarray
    """L × d: the unit normal of each hyperplane, along its line."""
    line: np.ndarray
    """The number of the line that sample i is on."""
    r: np.ndarray
    """The position of sample i on its line, x_i = r_i e_line; 0 for a zero row."""
    _faces: dict[bytes, Face] = field(default_factory=dict, repr=False)
    _room: list[Faces] = field(default_factory=list, repr=False)
    solved: dict[bytes, tuple[np.ndarray, np.ndarray] | None] = field(
        default_factory=dict, repr=False
    )
    """What the convex program of some patterns gave (`flow.candidates`): a path is judged at many
    depths, and often has the same patterns there."""

    @cached_property
    def lines(self) -> SampleLines:
        """The same for compiled functions, in arrays of one kind: each kind is compiled anew."""
        X, y, e, r = (np.array(v, float, order="C") for v in (self.X, self.y, self.e, self.r))
        gram = e @ e.T if len(e) <= MOST_PRODUCTS else np.zeros((0, 0))
        return SampleLines(X, y, float(self.alpha), e, self.line.astype(np.int64), r, gram)

    @cached_property
    def mixed(self) -> np.ndarray:
        """Whether a line has samples of both labels: which of its sides pulls more may change."""
        there = [self.line[(self.r != 0) & (self.y * sign > 0)] for sign in (1, -1)]
        return np.logical_and(*(np.bincount(lines, minlength=len(self.e)) > 0 for lines in there))

    @cached_property
    def lengths(self) -> np.ndarray:
        """The norms of the samples."""
        return np.abs(self.lines.r)

    @cached_property
    def rays(self) -> np.ndarray:
        """φ of the points (columns) on the rays (rows) along which hyperplanes meet.

        Between them a sum of the φ of the points is linear: it is positive somewhere if it is on
        one of them. Where there are too many, some are drawn.
        """
        U, size, Vt = np.linalg.svd(self.e, full_matrices=False)
        across = Vt[size > DEPENDENT * size.max(initial=1.0)]
        E, rank = self.e[self.e.any(axis=1)] @ across.T, len(across)
        most = int(min(max(MOST_RAY_WORK // max(rank, 1) ** 3, 1), MOST_RAYS))
        if math.comb(len(E), max(rank - 1, 0)) <= most:
            chosen = np.array(list(combinations(range(len(E)), max(rank - 1, 0))), dtype=int)
        else:
            rng = np.random.default_rng(0)  # always the same ones
            chosen = np.array([rng.permutation(len(E))[: rank - 1] for _ in range(most)])
        normals = E[chosen] if chosen.size else np.zeros((1, 0, rank))
        last = (
            np.linalg.svd(normals, full_matrices=True)[2][:, -1:] if rank else np.zeros((1, 1, 0))
        )
        t = np.vstack([last[:, 0], -last[:, 0]]) @ across @ self.X.T
        t[np.abs(t) <= DEPENDENT * self.lengths] = 0.0  # on the hyperplane but for rounding
        return np.where(t > 0, t, self.alpha * t)

    def face(self, on: np.ndarray) -> Face:
        """The face on which these hyperplanes (their numbers, increasing) meet; it is cached."""
        key = on.tobytes()
        if key not in self._faces:
            if len(self._faces) > MOST_FACES:
                self._faces.clear()
            E = self.e[on]
            U, size, Vt = np.linalg.svd(E, full_matrices=False)
            # Dependent normals meet in the same face: a pseudo-inverse has none of their noise.
            kept = size > DEPENDENT * size.max(initial=1.0)
            solve = (U[:, kept] / size[kept]) @ Vt[kept]
            self._faces[key] = Face(E, Vt[kept], solve)
        return self._faces[key]

    def faces(self, neurons: int, most: int) -> Faces:
        """Room for the factorised faces of these neurons, on at most so many hyperplanes each.

        It is kept, with what is in it, until more is needed.
        """
        places, wide = self._room[0].on.shape if self._room else (0, 0)
        if wide < min(most + 2, len(self.e)):
            self._make_room(neurons, 2 * most + 8)
        elif places < neurons and places < self._places(wide):
            self._make_room(neurons, wide)
        return self._room[0]

    def more_faces(self) -> None:
        """Make room for faces of twice as many hyperplanes."""
        self._make_room(len(self._room[0].size), 2 * self._room[0].on.shape[1])

    def _make_room(self, neurons: int, most: int) -> None:
        lines, d = self.e.shape
        most = max(min(most, lines), 1)
        self._room[:] = [faces_for(min(neurons, self._places(most)), most, d)]

    def _places(self, most: int) -> int:
        """The number of faces of this size for which there is memory."""
        d = self.e.shape[1]
        return max(MOST_ROOM // (min(most, d) * (d + most)), 1)

    def pulls(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """κ₊ and κ₋: Σ c_i φ'_i r_i on every line, for neurons on its positive or negative side."""
        return pulls_of(self.lines, c)

    def slopes(self, side: np.ndarray) -> np.ndarray:
        """φ' of every neuron at every sample (m × n); 0 where it slides: its output is 0 there."""
        towards = side[:, self.line] * np.sign(self.r).astype(np.int8)
        if self.alpha == 0:
            return (towards > 0).astype(float)
        return np.where(towards > 0, 1.0, np.where(towards < 0, self.alpha, 0.0))


def hyperplanes_of(X: np.ndarray, y: np.ndarray, alpha: float) -> Hyperplanes:
    """The hyperplanes of these samples. Lines are told apart exactly, in integer arithmetic.

    So x and 3x share a hyperplane, and x and 3x + 1e-300 do not.
    """
    _, line, turn = distinct_lines(integer_rows(X))
    lengths = np.linalg.norm(X, axis=1)
    count = int(line.max(initial=0)) + 1
    e = np.zeros((count, X.shape[1]))
    # Backwards, so that the first sample of a line sets its normal.
    for i in range(len(X) - 1, -1, -1):
        if turn[i]:
            e[line[i]] = turn[i] * X[i] / lengths[i]
    return Hyperplanes(X, y.astype(float), alpha, e, line, turn * lengths)
