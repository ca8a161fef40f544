"""Points, and the outputs of a network, in a plane."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from tacit.plot.axes import SMALL, draws, literal, own_axes
from tacit.values import Dataset, Network

PLUS, MINUS = "#c1440e", "#1f5fa8"
"""Orange for the positive class and positive output weights, blue for the negative."""
CELLS = 400
"""The grid on which outputs are computed."""
FEW_NEURONS = 200
"""Outputs of wider networks are computed on a grid half as fine …"""
MOST_PRODUCTS = 4 * 10**8
"""… and so fine that neurons and points have at most so many products (a second or so)."""

FEW_ROWS = 300
"""Of so many rows or columns all singular vectors are computed at once."""
DIRECTIONS, ITERATIONS = 12, 8
"""Of more, those of a subspace of so many dimensions, after so many iterations."""


class Plane(NamedTuple):
    """A plane of the input space."""

    basis: np.ndarray
    """2 × d, orthonormal rows."""
    names: tuple[str, str]
    """What the axes are called."""
    offset: np.ndarray
    """The point of the plane that is drawn at 0."""
    whole: bool
    """Whether the plane is all of the space that points can be in."""


def plane(data: Dataset, W: np.ndarray | None = None) -> Plane:
    """The plane to look at data in: of the first two singular directions of the neurons, if any.

    Without neurons they are those of the data. In two dimensions, besides a bias coordinate, the
    plane is the whole space.
    """
    X, d = data.X, data.d
    bias = "bias" in data.parameters  # the last coordinate is one constant
    offset = np.zeros(d)
    if bias:
        offset[-1] = X[0, -1]
    inputs = d - bias
    if inputs <= 2:
        return Plane(np.eye(max(d, 2))[:2, :d], coordinate_names(data, inputs), offset, True)
    seen = W if W is not None and W.shape[1] == d and W.any() else X
    directions = _singular_directions(seen[:, :inputs])
    if len(directions) < 2:  # one row only: any direction orthogonal to it will do
        across = np.eye(1, inputs, int(np.abs(directions[0]).argmin()))
        across -= (across @ directions.T) @ directions
        directions = np.vstack([directions, across / np.linalg.norm(across)])
    whose = "the neurons" if seen is W else "the data"
    basis = np.zeros((2, d))
    basis[:, :inputs] = directions[:2]
    return Plane(basis, (f"first singular direction of {whose}", "second"), offset, False)


def _singular_directions(rows: np.ndarray) -> np.ndarray:
    """The right singular vectors of rows, the largest first; of many rows only the first ones.

    All of them took 3 s for 2,000 neurons in 2,000 dimensions; a picture needs two. Subspace
    iteration finds them, but for what neighbouring singular values leave open.
    """
    if min(rows.shape) <= FEW_ROWS:
        return np.linalg.svd(rows, full_matrices=False)[2]
    rows = rows / np.abs(rows).max()
    basis = np.random.default_rng(0).standard_normal((rows.shape[1], DIRECTIONS))
    for _ in range(ITERATIONS):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    return np.linalg.svd(rows @ basis, full_matrices=False)[2] @ basis.T


def coordinate_names(data: Dataset, inputs: int) -> tuple[str, str]:
    """What the axes of data with one or two coordinates are called."""
    named = tuple(map(literal, data.columns[:inputs])) or ("x₁", "x₂")
    return named[0], named[1] if len(named) > 1 else ""


@draws("points", "data : Dataset", "The points.")
def points(data: Dataset, ax: Axes | None = None) -> Axes:
    """Draw the points of a data set in a plane, with the colours of their classes.

    In more than two dimensions they are projected onto the plane of their first two singular
    directions.
    """
    ax, seen = own_axes(ax), plane(data)
    draw_points(ax, data, seen)
    name = literal(data.name)
    ax.set_title(name if seen.whole else f"{name}, projected onto a plane")
    return _finished(ax, seen)


@draws("network", "network : Network", "What is drawn.", "data : Dataset", "    The points.")
def network_outputs(network: Network, data: Dataset, ax: Axes | None = None) -> Axes:
    """Draw the outputs of a network as colours, its decision boundary, and the points."""
    cells = CELLS if network.width <= FEW_NEURONS else CELLS // 2
    cells = min(cells, math.isqrt(MOST_PRODUCTS // max(network.width, 1)))
    seen = plane(data, network.W)
    W = np.column_stack([network.W @ seen.basis.T, network.W @ seen.offset])
    flat = Network(W, network.a, network.alpha)  # on the plane two coordinates are enough

    def in_plane(points: np.ndarray) -> np.ndarray:
        return flat.outputs(np.column_stack([points, np.ones(len(points))]))

    return boundary(own_axes(ax), data, in_plane, seen, cells)


def boundary(
    ax: Axes,
    data: Dataset,
    outputs: Callable[[np.ndarray], np.ndarray],
    seen: Plane,
    cells: int = CELLS // 2,
) -> Axes:
    """Draw the points, the outputs as colours, and the line where they are 0.

    `outputs` are those at points of the plane, which are given by their two coordinates.
    Whole regions of outputs 0 are grey: they are of neither class, and no line is drawn around
    them.
    """
    reach = 1.15 * max(np.abs(data.X @ seen.basis.T).max(), 1e-300)
    grid = np.linspace(-reach, reach, cells + 1)
    U, V = np.meshgrid(grid, grid)
    f = outputs(np.column_stack([U.ravel(), V.ravel()])).reshape(U.shape)
    largest = np.abs(f).max()
    if largest > 0:
        ax.contourf(U, V, f / largest, levels=np.linspace(-1, 1, 21), cmap="RdBu_r", alpha=0.45)
        if (nothing := _zero_region(outputs, U, V, f)).any():
            ax.contourf(U, V, nothing, levels=[0.5, 1.5], colors=["0.88"])
            ax.plot([], [], "s", c="0.88", ms=7, label="output 0")
            f = np.where(nothing, np.nan, f)
        if np.nanmin(f) < 0 < np.nanmax(f):
            ax.contour(U, V, f, levels=[0], colors="black", linewidths=1.5)
    draw_points(ax, data, seen)
    title = "data, output and decision boundary"
    if not seen.whole:
        title = "output and boundary on a plane\nthrough 0, points projected onto it"
    ax.set_title(title)
    return _finished(ax, seen)


def _zero_region(
    outputs: Callable[[np.ndarray], np.ndarray], U: np.ndarray, V: np.ndarray, f: np.ndarray
) -> np.ndarray:
    """Where f is 0 inside of a region, or at its edge, and not only on a line through the point.

    Three points close by, 120° apart, tell: some have either sign where a boundary passes.
    """
    region = f == 0
    here = np.column_stack([U[region], V[region]])
    if len(here):
        turns = np.radians([10.0, 130.0, 250.0])
        steps = 0.01 * (U[0, 1] - U[0, 0]) * np.column_stack([np.cos(turns), np.sin(turns)])
        near = np.sign([outputs(here + step) for step in steps])
        region[region] = (near == 0).any(axis=0) & (near.min(axis=0) >= near.max(axis=0) - 1)
    return region


def draw_points(ax: Axes, data: Dataset, seen: Plane) -> None:
    """Draw the points of every class with its name."""
    flat = data.X @ seen.basis.T
    if data.binary:
        styles = [(1, PLUS, "o"), (-1, MINUS, "s")]
    else:
        styles = [(k, f"C{k % 10}", "o") for k in range(len(data.classes))]
    for label, colour, marker in styles:
        rows = flat[data.y == label]
        name = data.names[label] if label in data.names else ""
        name = f"y = {name}" if name in ("−1", "+1") else literal(name)
        ax.plot(rows[:, 0], rows[:, 1], marker, c=colour, ms=4, mec="white", mew=0.4, label=name)


def _finished(ax: Axes, seen: Plane) -> Axes:
    ax.set(xlabel=seen.names[0], ylabel=seen.names[1])
    ax.set_aspect("equal")
    ax.legend(loc="best", fontsize=SMALL)
    return ax
