"""A plane to look at data, neurons and outputs in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy.ndimage import binary_opening

PLUS, MINUS = "#c1440e", "#1f5fa8"
"""Orange for the positive class and positive output weights, blue for the negative."""


def plane(
    X: np.ndarray, parameters: dict[str, Any], params: dict[str, np.ndarray]
) -> tuple[np.ndarray, tuple[str, str], np.ndarray]:
    """Two orthonormal directions to look along, their names, and a point of the plane."""
    d = X.shape[1]
    offset = np.zeros(d)
    if "bias" in parameters:  # the last coordinate is one constant
        offset[-1] = X[0, -1]
    inputs = d - ("bias" in parameters)
    if inputs <= 2:
        basis = np.eye(max(d, 2))[:2, :d]
        return basis, ("x₁", "x₂"), offset
    W = params.get("W")
    seen = W if W is not None and W.shape[1] == d and W.any() else X
    directions = np.linalg.svd(seen[:, :inputs], full_matrices=False)[2]
    if len(directions) < 2:  # one row only: any direction orthogonal to it will do
        directions = np.linalg.svd(seen[:, :inputs], full_matrices=True)[2]
    whose = "the neurons" if seen is W else "the data"
    basis = np.zeros((2, d))
    basis[:, :inputs] = directions[:2]
    return basis, (f"first singular direction of {whose}", "second"), offset


def boundary(
    ax: Axes,
    X: np.ndarray,
    y: np.ndarray,
    outputs: Callable[[np.ndarray], np.ndarray],
    basis: np.ndarray,
    names: tuple[str, str],
    offset: np.ndarray,
    cells: int = 200,
) -> None:
    """Draw the points, the outputs as colours, and the line where they are 0.

    Whole regions of outputs 0 are grey: they are of neither class, and no line is drawn around
    them.
    """
    flat = X @ basis.T
    reach = 1.15 * max(np.abs(flat).max(), 1e-300)
    grid = np.linspace(-reach, reach, cells + 1)
    U, V = np.meshgrid(grid, grid)
    f = outputs(np.column_stack([U.ravel(), V.ravel()]) @ basis + offset).reshape(U.shape)
    largest = np.abs(f).max()
    if largest > 0:
        ax.contourf(U, V, f / largest, levels=np.linspace(-1, 1, 21), cmap="RdBu_r", alpha=0.45)
        # The opening leaves out single cells in which f is 0 because they are on the boundary.
        if (nothing := binary_opening(f == 0, np.ones((3, 3)))).any():
            ax.contourf(U, V, nothing, levels=[0.5, 1.5], colors=["0.88"])
            ax.plot([], [], "s", c="0.88", ms=7, label="output 0")
            f = np.where(nothing, np.nan, f)
        if np.nanmin(f) < 0 < np.nanmax(f):
            ax.contour(U, V, f, levels=[0], colors="black", linewidths=1.5)
    for label, colour, marker in ((1, PLUS, "o"), (-1, MINUS, "s")):
        rows = flat[y == label]
        name = f"y = {label:+d}"
        ax.plot(rows[:, 0], rows[:, 1], marker, c=colour, ms=4, mec="white", mew=0.4, label=name)
    title = "data, output and decision boundary"
    if names[0] != "x₁":
        title = "output and boundary on a plane through 0,\npoints projected onto it"
    ax.set(title=title, xlabel=names[0], ylabel=names[1])
    ax.set_aspect("equal")
    ax.legend(loc="best", fontsize=8)
