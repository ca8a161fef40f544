"""The hyperplanes x_i·w = 0 on which neurons kink, and what the points pull on either side.

Points on one line through 0 share a wall, and a neuron that lies in it has one slope for all of
them: h for those ahead and 1 + α − h for those behind (lyu2021 (40)). So a wall, not a point, is
what a neuron crosses or slides along. With unit vector e of the wall and x_i = r_i e, a neuron on
the positive side is pulled along e by Σ c_i r_i (1 where r_i > 0, α where r_i < 0).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tacit.numerics.exact_signs import distinct_lines, integer_rows

MOST_FACES = 5000


class Face(NamedTuple):
    """Where several walls meet."""

    e: np.ndarray
    """The unit vectors of the walls, as rows."""
    across: np.ndarray
    """Orthonormal rows that span the same space."""
    solve: np.ndarray
    """κ = −solve g makes ‖g + Σ κ e‖ smallest."""

    def along(self, g: np.ndarray) -> np.ndarray:
        """Vectors (the last axis) without their parts across the walls."""
        return g - (g @ self.across.T) @ self.across


@dataclass(frozen=True, eq=False)
class Walls:
    """Data as seen by neurons: n points on L lines."""

    X: np.ndarray
    y: np.ndarray
    alpha: float
    e: np.ndarray
    """L × d: a unit vector along each line."""
    line: np.ndarray
    """Which line point i is on."""
    r: np.ndarray
    """x_i = r_i e_line; 0 for a zero row."""
    _faces: dict[bytes, Face] = field(default_factory=dict, repr=False)

    def face(self, on: np.ndarray) -> Face:
        """Where these walls (their numbers, increasing) meet; kept for the next time."""
        key = on.tobytes()
        if key not in self._faces:
            if len(self._faces) > MOST_FACES:
                self._faces.clear()
            E = self.e[on]
            U, size, Vt = np.linalg.svd(E, full_matrices=False)
            kept = size > 1e-10 * size.max(initial=1.0)
            solve = (U[:, kept] / size[kept]) @ Vt[kept]
            self._faces[key] = Face(E, Vt[kept], solve)
        return self._faces[key]

    def pulls(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ c_i m_i r_i on every line, for neurons on its positive and on its negative side."""
        ahead = np.bincount(self.line, np.where(self.r > 0, c * self.r, 0.0), len(self.e))
        behind = np.bincount(self.line, np.where(self.r < 0, c * self.r, 0.0), len(self.e))
        return ahead + self.alpha * behind, self.alpha * ahead + behind

    def slopes(self, side: np.ndarray) -> np.ndarray:
        """m × n: φ' of every neuron at every point; 0 where it slides (its output is 0 there)."""
        towards = side[:, self.line] * np.sign(self.r).astype(np.int8)
        if self.alpha == 0:
            return (towards > 0).astype(float)
        return np.where(towards > 0, 1.0, np.where(towards < 0, self.alpha, 0.0))


def walls_of(X: np.ndarray, y: np.ndarray, alpha: float) -> Walls:
    """Lines are told apart exactly: x and 3x share one, x and 3x + 1e-300 do not."""
    _, line, turn = distinct_lines(integer_rows(X))
    lengths = np.linalg.norm(X, axis=1)
    count = int(line.max(initial=0)) + 1
    e = np.zeros((count, X.shape[1]))
    for i in range(len(X) - 1, -1, -1):
        if turn[i]:
            e[line[i]] = turn[i] * X[i] / lengths[i]
    return Walls(X, y.astype(float), alpha, e, line, turn * lengths)
