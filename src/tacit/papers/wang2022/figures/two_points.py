"""Two independent points in the plane with their optimum, which Figures 1 to 10 are about."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.certificates import optimum
from tacit.data import load
from tacit.geometry import check
from tacit.papers.wang2022 import drawing as draw
from tacit.papers.wang2022.rectified_ellipsoid import (
    hyperplane_directions,
    largest_by_force,
    on_circle,
    polar_radius,
    rectified_image,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, ours, paper
from tacit.reproduction.claims import at_most
from tacit.values import BadInput, Check, Dataset

EXACT = 1e-9
"""What two exact computations of one number may differ by."""


@dataclass(frozen=True)
class PlaneSettings(Settings):
    data: str = paper("wang2022_f1", "App. F.1")
    directions: int = ours(200_000, "directions u of brute-force maxima, which are off by 1e-10")
    outline: int = ours(720, "points on every outline that is drawn")


@dataclass(frozen=True)
class SecondPlane(PlaneSettings):
    data: str = paper("wang2022_f2", "App. F.2")


@dataclass(frozen=True, eq=False)
class TwoPoints:
    """Two independent points in the plane, and the optimum of (14) and (15)."""

    data: Dataset
    U: np.ndarray
    """Unit vectors in order, with all corners of the outlines among them."""
    neurons: np.ndarray
    """The directions of the optimal neurons, those with a > 0 first."""
    signs: np.ndarray
    """The signs of their output weights."""
    dual: np.ndarray
    """The dual optimum λ, with Yλ ≥ 0."""
    value: float
    """The optimal value of (14)."""

    @property
    def X(self) -> np.ndarray:
        return self.data.X

    def image(self, U: np.ndarray) -> np.ndarray:
        """(Xu)₊ for rows u."""
        return rectified_image(self.X, U)

    @property
    def longest(self) -> float:
        """The largest ‖z‖ with Xz = (Xu)₊, over all directions that are drawn."""
        return float(np.linalg.norm(np.linalg.solve(self.X, self.image(self.U).T), axis=0).max())


def two_points(s: PlaneSettings) -> TwoPoints:
    """Load the two points and solve (14)."""
    data = load(s.data)
    if data.X.shape != (2, 2) or not data.binary or abs(np.linalg.det(data.X)) < 1e-9:
        raise BadInput(f"data = {s.data}: the figure shows two independent points in the plane")
    (best,) = optimum(data).per_class
    V, signs = weighted_neurons(best.network.W, best.network.a)
    U = around(s.outline, np.vstack([hyperplane_directions(data.X), data.X]))
    units = V / np.linalg.norm(V, axis=1)[:, None]
    return TwoPoints(data, U, units, signs, data.y * best.dual, best.objective_bounds.upper)


def weighted_neurons(W: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|a|w and the signs of a, those with a > 0 first."""
    order = np.argsort(-a, kind="stable")
    return (np.abs(a)[:, None] * W)[order], np.sign(a[order]).astype(int)


def around(count: int, corners: np.ndarray) -> np.ndarray:
    """`count` unit vectors in order, and those along the corners."""
    turn = np.linspace(-np.pi, np.pi, count, endpoint=False)
    return on_circle(np.sort(np.concatenate([turn, np.arctan2(corners[:, 1], corners[:, 0])])))


def property_of(data: Dataset, name: str) -> Check:
    """A property of the data, as `check` decides it."""
    return check(data, properties=name).properties[name]


def outline_claim(points: TwoPoints, s: PlaneSettings) -> Claim:
    """What is drawn is Q: it reaches as far as a search over all directions does."""
    E = on_circle(np.linspace(-np.pi, np.pi, 200))
    forced = largest_by_force(points.X, E, s.directions) * polar_radius(points.X, E)
    text = "max |λᵀz| over Q, by search and in closed form (11), apart by"
    return at_most("support", text, distance_from_one(forced), EXACT, "equal (11)")


def distance_from_one(values: np.ndarray) -> float:
    """The largest |value − 1|."""
    return float(np.abs(values - 1).max())


Drawn = tuple[tuple[Claim, ...], dict[str, np.ndarray]]
"""The claims and the data of a panel."""


def panels(points: TwoPoints, *draw_panels: Callable[[Any], Drawn]) -> Exhibit:
    """One panel alone, or four in a square."""
    side = math.isqrt(len(draw_panels))
    figure, rows = new_figure(side, side, (6.2 * side, 6.0 * side))
    claims: dict[str, Claim] = {}
    data = {"X": points.X, "y": points.data.y, "lambda": points.dual, "optimal": points.neurons}
    for ax, draw_panel in zip(rows.flat, draw_panels, strict=True):
        own, numbers = draw_panel(ax)
        draw.legend(ax)
        claims |= {claim.id: claim for claim in own}
        data |= numbers
    return Exhibit(tuple(claims.values()), figure, data)
