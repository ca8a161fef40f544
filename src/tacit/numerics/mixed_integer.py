"""A network with few units of each sign that fits, by branch and bound over which points they see.

Where a unit helps a point (its sign is the label) φ(x_i·v_g) = max(x_i·v_g, α x_i·v_g) counts as
one of the two, which a binary variable chooses; where it hurts, φ is convex, and two inequalities
are enough. So k units of each sign have n·k binary variables, and a few dozen of these are searched
to the end, which local search cannot do.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from tacit.numerics.neurons import Neurons
from tacit.numerics.tolerances import FIXED_OUTPUT


def fitting_by_integers(
    X: np.ndarray, y: np.ndarray, alpha: float, units: int, deadline: float
) -> Neurons | None:
    """A network of `units` units of each sign, to be checked; None: there was none on the way."""
    from scipy.optimize import linprog

    program = _Program(X / np.linalg.norm(X, axis=1)[:, None], y, alpha, units)
    nodes = [(program.low, program.high)]
    for _ in range(FIXED_OUTPUT.most_nodes):
        if not nodes or perf_counter() > deadline:
            break
        low, high = nodes.pop()
        bounds = np.column_stack([low, high])
        node = linprog(program.cost, program.rows, program.right, bounds=bounds, method="highs")
        if node.x is None or -node.fun <= FIXED_OUTPUT.hopeless:
            continue
        if program.margin(node.x) > 0:
            return program.neurons(node.x)
        unsure = np.abs(node.x - np.round(node.x)) * program.whole
        branch = int(unsure.argmax())
        if unsure[branch] < FIXED_OUTPUT.hopeless:  # all is chosen, and the margin was an error
            continue
        # Depth first, the nearer value before the other: any network ends the search.
        for value in (1 - np.round(node.x[branch]), np.round(node.x[branch])):
            lower, upper = low.copy(), high.copy()
            lower[branch] = upper[branch] = value
            nodes.append((lower, upper))
    return None


class _Program:
    """The linear program max t; its variables are t, the v_g, what counts of φ, and the choices."""

    def __init__(self, X: np.ndarray, y: np.ndarray, alpha: float, units: int) -> None:
        self.X, self.y, self.alpha = X, y, alpha
        self.sign = np.repeat([1, -1], units)
        (n, d), m = X.shape, 2 * units
        counts = 1 + m * d + np.arange(m * n).reshape(m, n)
        choices = counts + m * n
        size = 1 + m * (d + 2 * n)
        margins = np.zeros((n, size))
        margins[:, 0] = 1
        margins[np.arange(n), counts] = -self.sign[:, None] * y
        rows, right = [margins], [np.zeros(n)]
        # |x·v| ≤ ‖x‖₁ where |v| ≤ 1, so that x·v and α x·v differ by no more than this.
        most = (1 - alpha) * np.abs(X).sum(axis=1)
        for g, s in enumerate(self.sign):
            helps = y == s
            for slope, step in ((1.0, 1.0), (alpha, -1.0)):
                piece = np.zeros((n, size))
                piece[:, 1 + g * d : 1 + (g + 1) * d] = np.where(helps, -slope, slope)[:, None] * X
                piece[np.arange(n), counts[g]] = np.where(helps, 1.0, -1.0)
                piece[np.arange(n), choices[g]] = helps * step * most
                rows.append(piece)
                right.append(helps * most * (step > 0))
        # Units of one sign may be exchanged: one order of them is enough.
        order = np.zeros((m, size))
        order[np.arange(m), 1 + d * np.arange(m)] = 1
        order = (order[1:] - order[:-1])[np.arange(m - 1) != units - 1]
        self.rows, self.right = (
            np.vstack([*rows, order]),
            np.append(np.concatenate(right), order[:, 0]),
        )
        self.cost = -(np.arange(size) == 0).astype(float)
        self.whole = np.arange(size) >= choices[0, 0]
        weights = (np.arange(size) > 0) & (np.arange(size) < counts[0, 0])
        self.low = np.where(self.whole, 0.0, np.where(weights, -1.0, -np.inf))
        self.high = np.where(self.whole | weights, 1.0, np.inf)
        # What a unit hurts has no choice.
        self.high[choices[self.sign[:, None] * y < 0]] = 0.0

    def _weights(self, solution: np.ndarray) -> np.ndarray:
        m, d = len(self.sign), self.X.shape[1]
        return solution[1 : 1 + m * d].reshape(m, d)

    def margin(self, solution: np.ndarray) -> float:
        """The smallest margin of the network itself, whatever the choices say."""
        t = self.X @ self._weights(solution).T
        return float((self.y * (np.maximum(t, self.alpha * t) @ self.sign)).min())

    def neurons(self, solution: np.ndarray) -> Neurons:
        V = self._weights(solution)
        live = V.any(axis=1)
        return Neurons(V[live], self.sign[live])
