"""What the theorems of phuong2021 share: their setting, w₊ and w₋, sectors, and small examples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.numerics.class_margin import class_margin
from tacit.theorems.shared_hypotheses import both_layers, by_slack, flow, relu, two_layer
from tacit.theorems.theorem import Case, Moment, Network, Run
from tacit.values import Check, Dataset, Setting

WALL = 1e-9
"""A neuron is in the wall of a point when |cos(w, x)| is at most this."""
FLOW = Setting(rule="flow", width=8, init="balanced:1e-4")
"""Of the examples."""


def network_and_rule(case: Case) -> tuple[Check, ...]:
    """Gradient flow on both layers of a two-layer ReLU network."""
    return (
        two_layer(case, "§2 (2)"),
        relu(case, "§2 (2)"),
        both_layers(case, "§2 (4)"),
        flow(case, "§2 (4)"),
    )


def both_classes(case: Case, place: str) -> Check:
    """Labels are ±1, and there are points of either."""
    if not case.data.binary:
        note = f"there are {len(case.data.classes)} classes"
        return Check("both_classes", False, -1.0, place, note)
    fewest = int(min((case.data.y > 0).sum(), (case.data.y < 0).sum()))
    return by_slack("both_classes", fewest - 1, place, f"{fewest} points of the rarer class")


def orthogonally_separable(case: Case) -> Check:
    """(1)."""
    found = case.data_check("orthogonally_separable", "§2 (1)")
    if found.slack is None or found.holds is None:
        return found
    size = abs(found.slack)
    note = f"closest pair {size:.2g} away from failing (its cosine)"
    if not found.holds:
        note = f"worst pair {size:.2g} on the wrong side of a right angle (its cosine)"
    return replace(found, note=note)


def max_margin_vectors(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """w₊ and w₋."""
    plus, minus = (class_margin(data.X, data.y, label).w for label in (1, -1))  # (6), (7)
    assert plus is not None and minus is not None, "orthogonally separable data has both"
    return plus, minus


def unit(w: np.ndarray) -> np.ndarray:
    return w / np.linalg.norm(w)


def cosines(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """m × n; 0 for neurons that are 0."""
    lengths = np.outer(np.linalg.norm(W, axis=1), np.linalg.norm(X, axis=1))
    return np.divide(W @ X.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0)


def sectors(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """m × n: the signs of w_k·x_i, 0 in the wall (Definition 1)."""
    found = cosines(W, X)
    return np.where(np.abs(found) <= WALL, 0, np.sign(found)).astype(np.int8)  # (11)


Walls = list[tuple[int, np.ndarray, np.ndarray]]
"""Of the neurons in walls: which, the points of its walls, and the pseudoinverse of these."""


def walls_of(signs: np.ndarray, X: np.ndarray) -> Walls:
    rows = np.flatnonzero((signs == 0).any(axis=1) & (signs > 0).any(axis=1))
    return [(int(k), wall := X[signs[k] == 0], np.linalg.pinv(wall)) for k in rows]


def pulls(
    signs: np.ndarray, X: np.ndarray, c: np.ndarray, walls: Walls | None = None
) -> np.ndarray:
    """Σ c_i 1{w·x_i > 0} P_w x_i of every neuron, P_w along the walls it is in; from its signs."""
    g = ((signs > 0) * c) @ X  # (31), (46)
    for k, wall, inverse in walls_of(signs, X) if walls is None else walls:
        g[k] -= inverse @ (wall @ g[k])
    return g


def sure_to_live(network: Network, data: Dataset) -> np.ndarray:
    """m flags: neurons that see a point of the class of their sign; by Lemma B.1 always."""
    seen = (network.W @ data.X.T > 0) & (np.outer(network.a, data.y) > 0)
    return seen.any(axis=1)


def cones(d: int, n: int = 5, seed: int = 0, spread: float = 0.45) -> Dataset:
    """Orthogonally separable: n points of each class, d of them support examples that span R^d.

    These lie about the corners of a simplex around an axis, near ±(1, …, 1); the others are further
    out.
    """
    rng = np.random.default_rng(seed)
    axis = np.ones(d) / np.sqrt(d)
    corners = np.eye(d) - 1 / d
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    classes = []
    for length in (1.0, -1.5):
        support = axis + spread * (corners + 0.2 / d**2 * rng.normal(size=(d, d)))
        tilt = np.linalg.qr(np.eye(d) + 0.15 * rng.normal(size=(d, d)))[0]
        support = support @ (tilt * np.sign(np.diag(tilt)))
        outer = rng.uniform(0.2, 1, (n - d, d)) @ support
        outer *= rng.uniform(1.5, 2.5, (n - d, 1)) / (outer @ axis)[:, None]
        classes.append(length * np.vstack([support, outer]))
    return Dataset(np.vstack(classes), np.repeat([1, -1], n), name=f"cones in R^{d}")


def start(data: Dataset, width: int = 8, size: float = 1e-4, seed: int = 0) -> Network:
    """Balanced initial weights (§2) of alternating sign."""
    W = np.random.default_rng(seed).normal(size=(width, data.d))
    W *= size / np.linalg.norm(W, axis=1, keepdims=True)
    return Network(W, size * np.where(np.arange(width) % 2 == 0, 1.0, -1.0))


def flipped(data: Dataset) -> Dataset:
    """The same with the label of the first point changed: no longer orthogonally separable."""
    y = data.y.copy()
    y[0] = -y[0]
    return Dataset(data.X, y, name=f"{data.name}, one label changed")


def still(*networks: Network) -> Run:
    """A run made by hand: these networks one after the other, the last of them the limit."""
    moments = tuple(Moment(float(i), -float(i), net) for i, net in enumerate(networks))
    return Run(moments, networks[-1])
