"""Extremal directions as values: what both ways to find them return."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Direction:
    """A strict local maximum or minimum of G."""

    direction: np.ndarray
    """w, a unit vector."""
    value: float
    """The value G(w)."""
    sign: int
    """+1: a maximum, a positive extremal direction. −1: a minimum, a negative one."""
    sector: np.ndarray
    """The signs of w·x_i, in {−1, 0, 1}."""
    doubtful: bool
    """Floats could not tell, and no exact arithmetic was done."""


@dataclass(frozen=True, eq=False)
class Extremal:
    """Extremal directions: maxima from the largest value on, then minima from the smallest on."""

    items: list[Direction]
    complete: bool
    """These are all, provably; otherwise they are those that were met."""

    @property
    def positive(self) -> list[Direction]:
        return [item for item in self.items if item.sign > 0]

    @property
    def negative(self) -> list[Direction]:
        return [item for item in self.items if item.sign < 0]


def scaled_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows divided by powers of two, their largest entries in [½, 1); and the exponents."""
    exponents = np.frexp(np.abs(X).max(axis=1))[1]
    return np.ldexp(X, -exponents[:, None]), exponents


def in_order(directions: list[Direction]) -> list[Direction]:
    """Maxima from the largest value on, then minima from the smallest on."""
    return sorted(directions, key=lambda item: (-item.sign, -item.sign * item.value))


def unit_vector(w: np.ndarray) -> np.ndarray:
    """Integers as a unit vector of floats."""
    peak = max(map(abs, w.tolist()))
    # Python divides integers of any length with one rounding; as floats first they might overflow.
    unit = np.array([value / peak for value in w.tolist()])
    return unit / np.linalg.norm(unit)


def value_of(X: np.ndarray, c: np.ndarray, alpha: float, w: np.ndarray) -> float:
    """G(w) = Σ c_i φ(w·x_i), computed without overflow on the way."""
    rows, exponents = scaled_rows(X)
    t = rows @ w
    top = int(exponents[X.any(axis=1)].max())
    largest = float(np.abs(c).max())
    terms = np.ldexp(c / largest * np.maximum(t, alpha * t), exponents - top)
    with np.errstate(over="ignore"):  # what no float can hold is inf
        return float(np.ldexp(terms.sum(), top) * largest)
