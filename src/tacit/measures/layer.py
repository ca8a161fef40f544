"""One layer before and after training: its rank, its main plane, and the rays its rows lie on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Layer:
    """The weights of a layer before and after training, and the sign of each of its units."""

    before: np.ndarray
    after: np.ndarray
    sign: np.ndarray
    """The signs of the output weights."""

    @cached_property
    def start(self) -> float:
        """The largest singular value before training."""
        return float(np.linalg.norm(self.before, 2))

    @cached_property
    def values(self) -> np.ndarray:
        return np.linalg.svd(self.after, compute_uv=False)

    @cached_property
    def plane(self) -> np.ndarray:
        """The first two right singular vectors; units of positive sign are on the right."""
        first, second = np.linalg.svd(self.after, full_matrices=False)[2][:2]
        right = self.after @ first @ np.sign(self.sign) >= 0
        up = (self.after @ second).sum() >= 0
        return np.array([first if right else -first, second if up else -second])

    @cached_property
    def projected(self) -> np.ndarray:
        return self.after @ self.plane.T

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the projected rows."""
        return np.linalg.norm(self.projected, axis=1)

    @property
    def rank(self) -> int:
        """Singular values larger than all that there were before training.

        A change of rank r lifts r of them at most beyond the largest of before (Weyl).
        """
        return int((self.values > self.start).sum())

    @property
    def off_rays(self) -> float:
        """Degrees between a projected row and the ray of its sign, on the mean, by length."""
        if not ((self.sign > 0).any() and (self.sign < 0).any()):
            return np.nan
        total = 0.0
        for side in (1, -1):
            rows = self.projected[self.sign * side > 0]
            ray = rows.sum(axis=0)
            # arctan2 has all digits also for rows that lie almost on the ray.
            along, across = rows @ ray, rows[:, 0] * ray[1] - rows[:, 1] * ray[0]
            angles = np.degrees(np.arctan2(np.abs(across), along))
            total += float(angles @ np.linalg.norm(rows, axis=1))
        return total / float(self.lengths.sum())

    def cosines(self, directions: np.ndarray) -> np.ndarray:
        """One row for each direction (unit rows)."""
        lengths = np.linalg.norm(self.after, axis=1)
        return directions @ self.after.T / np.maximum(lengths, 1e-300)
