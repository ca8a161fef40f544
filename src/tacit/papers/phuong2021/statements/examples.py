"""Small data sets, initial weights and runs made by hand, for examples and counterexamples."""

import numpy as np

from tacit.theorems import Observation, PathPoint
from tacit.values import Dataset, Network, Setting

FLOW = Setting(rule="flow", width=8, init="balanced:1e-4")


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


def flipped(data: Dataset) -> Dataset:
    """The data with the label of the first point changed: no longer orthogonally separable."""
    y = data.y.copy()
    y[0] = -y[0]
    return Dataset(data.X, y, name=f"{data.name}, one label changed")


def initial_network(data: Dataset, width: int = 8, size: float = 1e-4, seed: int = 0) -> Network:
    """Balanced initial weights (§2) of alternating sign."""
    W = np.random.default_rng(seed).normal(size=(width, data.d))
    W *= size / np.linalg.norm(W, axis=1, keepdims=True)
    return Network(W, size * np.where(np.arange(width) % 2 == 0, 1.0, -1.0))


def run_through(*networks: Network) -> Observation:
    """A run made by hand: these networks one after the other, the last of them the limit."""
    moments = tuple(PathPoint(float(i), -float(i), net) for i, net in enumerate(networks))
    return Observation(moments, networks[-1])
