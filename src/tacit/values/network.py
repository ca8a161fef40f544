"""A two-layer network: what limits, optima, certificates, theorems and pictures speak of."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tacit.files import path_of, read_weights, write_file
from tacit.messages import BadInput, count
from tacit.models.activation import check_alpha
from tacit.values.weight_names import chosen, two_layers

SAME_DIRECTION = 1e-6
"""Angle, in radians, up to which neurons count as one direction."""
MOST_BYTES = 1 << 30
"""Bytes read from a file of weights."""
NEURONS, PRODUCTS = 2**9, 2**15
"""Neurons, and products w_k·x_i, that are held at a time: what leaves the fastest cache takes ten
times as long, and so do few neurons on many points."""


@dataclass(frozen=True, eq=False)
class Group:
    """Neurons of one sign that point in one direction."""

    sign: int
    """The sign of their output weights."""
    members: np.ndarray
    """The numbers of the neurons."""
    direction: np.ndarray
    """A unit vector."""
    weight: float
    """`Σ|a_k|‖w_k‖` over the group."""
    pattern: np.ndarray | None = None
    """The sign of direction·x_i for every point, 0 on an activation hyperplane, where known."""

    @property
    def size(self) -> int:
        """The number of neurons."""
        return len(self.members)

    @property
    def active(self) -> int:
        """The number of points on which they are active, where the pattern is known."""
        return 0 if self.pattern is None else int((self.pattern > 0).sum())

    @property
    def on_hyperplanes(self) -> int:
        """The number of points on whose activation hyperplane the direction lies."""
        return 0 if self.pattern is None else int((self.pattern == 0).sum())

    def to_dict(self) -> dict[str, Any]:
        """The group as scripts read it."""
        signs = None if self.pattern is None else "".join("0+-"[s] for s in self.pattern.tolist())
        return {
            "sign": self.sign,
            "size": self.size,
            "direction": self.direction,
            "weight": self.weight,
            "pattern": signs,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """The network f(x) = Σ_k a_k φ(w_k·x) with φ(z) = max(z, αz).

    Parameters
    ----------
    W : array of shape (m, d)
        The neurons, one in each row.
    a : array of shape (m,) or (1, m)
        The output weights.
    alpha : float, default 0
        The slope of the activation for z < 0; 0 is ReLU.

    Examples
    --------
    >>> net = Network([[1.0, 0.0], [0.0, 2.0]], [1.0, -0.5])
    >>> net.outputs([[1.0, 1.0]])
    array([0.])
    >>> net
    Network: 2 ReLU neurons in 2 dimensions, ‖θ‖ = 2.5
    """

    W: np.ndarray
    a: np.ndarray
    alpha: float = 0.0

    def __post_init__(self) -> None:
        try:
            W, a = np.asarray(self.W), np.asarray(self.a)
            if "c" in (W.dtype.kind, a.dtype.kind):
                raise TypeError
            W, a = W.astype(np.float64, copy=False), a.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError):
            raise BadInput("W and a must be arrays of numbers") from None
        if a.ndim == 2 and a.shape[0] == 1:  # the last layer of PyTorch's
            a = a[0]
        if W.ndim != 2 or a.shape != W.shape[:1]:
            raise BadInput(f"W has shape {W.shape} and a has shape {a.shape}; need (m, d) and (m,)")
        check_alpha(self.alpha)
        for name, array in (("W", W), ("a", a)):
            array = array.view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "alpha", float(self.alpha))

    @property
    def width(self) -> int:
        """m, the number of neurons."""
        return len(self.a)

    @property
    def d(self) -> int:
        """The dimension of the inputs."""
        return self.W.shape[1]

    @property
    def norm(self) -> float:
        """‖θ‖, the Euclidean norm of all weights."""
        return math.hypot(np.linalg.norm(self.W), np.linalg.norm(self.a))

    @property
    def weights(self) -> np.ndarray:
        """`|a_k|‖w_k‖` of every neuron."""
        return np.abs(self.a) * np.linalg.norm(self.W, axis=1)

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """f(x) for every row of X."""
        X = np.asarray(X, dtype=np.float64)
        if X.shape[-1:] != (self.d,):
            raise BadInput(f"`X` has shape {X.shape}; the network needs (…, {self.d})")
        rows = X.reshape(math.prod(X.shape[:-1]), X.shape[-1])
        total = np.zeros(len(rows))
        high = PRODUCTS // max(1, min(self.width, NEURONS))
        for start in range(0, self.width, NEURONS):
            W, a = self.W[start : start + NEURONS], self.a[start : start + NEURONS]
            for first in range(0, len(rows), high):
                z = rows[first : first + high] @ W.T
                total[first : first + high] += np.maximum(z, self.alpha * z) @ a
        return total.reshape(X.shape[:-1])

    def margins(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """q_i = y_i f(x_i) for every point, with labels ±1."""
        return np.asarray(y) * self.outputs(X)

    def margin(
        self, X: np.ndarray, y: np.ndarray, train: Literal["both", "first"] = "both"
    ) -> float:
        """q_min/‖θ‖² with both layers trained, q_min/‖W‖ with the output layer fixed."""
        smallest = float(self.margins(X, y).min())
        return smallest / (self.norm**2 if train == "both" else float(np.linalg.norm(self.W)))

    def error(self, X: np.ndarray, y: np.ndarray) -> float:
        """The share of points that do not get their label; an output of 0 is no label."""
        return float(np.mean(self.margins(X, y) <= 0))

    def groups(self, X: np.ndarray | None = None, angle: float = SAME_DIRECTION) -> list[Group]:
        """Neurons of one sign and one direction, the heaviest group first; zero neurons in none.

        Parameters
        ----------
        X : array of shape (n, d), optional
            Points for the groups' activation patterns.
        angle : float
            Radians up to which two neurons count as one direction.
        """
        weight = self.weights
        left = list(np.argsort(-weight, kind="stable")[: int((weight > 0).sum())])
        unit = self.W / np.where(weight > 0, np.linalg.norm(self.W, axis=1), 1.0)[:, None]
        groups = []
        while left:
            k = left[0]
            rows = np.array(left)
            chord = np.linalg.norm(unit[rows] - unit[k], axis=1)
            near = (2 * np.arcsin(np.minimum(chord / 2, 1)) <= angle) & (
                np.sign(self.a[rows]) == np.sign(self.a[k])
            )
            members = np.sort(rows[near])
            total = weight[members] @ unit[members]
            direction = total / np.linalg.norm(total)
            pattern = None if X is None else np.sign(X @ direction).astype(int)
            groups.append(
                Group(
                    int(np.sign(self.a[k])),
                    members,
                    direction,
                    float(weight[members].sum()),
                    pattern,
                )
            )
            left = [int(row) for row in rows[~near]]
        return sorted(groups, key=lambda group: -group.weight)

    def to_dict(self) -> dict[str, Any]:
        """W, a and alpha as plain lists and numbers."""
        return {"W": self.W.tolist(), "a": self.a.tolist(), "alpha": self.alpha}

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write a .npz file with the arrays W, a and alpha; an older one only with `force`."""
        whole = io.BytesIO()
        np.savez(whole, W=self.W, a=self.a, alpha=np.array(self.alpha))
        write_file(path_of(path), whole.getvalue(), force)

    @classmethod
    def load(
        cls,
        path: str | Path,
        alpha: float | None = None,
        bias: float | None = None,
        layers: Sequence[str] = (),
    ) -> Network:
        """Read a file with the arrays W (m × d) and a (m), or with PyTorch's names for them.

        Parameters
        ----------
        path : str or Path
            The file: .npz, .safetensors, or .pt of a PyTorch state_dict. An array that is not
            understood is refused: without it this would be another network.
        alpha : float, optional
            The slope of the activation, where the file does not say it (default 0, ReLU).
        bias : float, optional
            The constant last coordinate of the data, as `tacit.load` takes it: biases of the
            neurons, over this constant, become the last column of W. A file with biases is refused
            without it.
        layers : sequence of str, optional
            The names of the two layers, such as ("fc1", "fc2"), in a file that has more; the rest
            is left out.
        """
        arrays = read_weights(path, most_bytes=MOST_BYTES)
        slope = arrays.pop("alpha", None)
        if layers:
            arrays = chosen(arrays, layers, f"{path}")
        W, a, b, c = two_layers(arrays, f"{path}")
        if c is not None and c.any():
            raise BadInput(
                f"{path} has a bias of the output, {float(c.flat[0]):g}; these networks have none"
            )
        if b is not None:
            if not bias:
                raise BadInput(
                    f"{path} has biases of the neurons; give the data a constant coordinate, "
                    "`bias=1`, and they become weights of it"
                )
            W = np.column_stack([W, b / bias])
        if slope is not None and (slope.size != 1 or slope.dtype.kind not in "iuf"):
            raise BadInput(f"{path}: alpha must be one number")
        stored = None if slope is None else float(slope.flat[0])
        if alpha is not None and stored is not None and alpha != stored:
            raise BadInput(f"{path} says alpha = {stored:g}, not {alpha:g}")
        return cls(W, a, alpha if alpha is not None else stored or 0.0)

    def __repr__(self) -> str:
        kind = "ReLU" if self.alpha == 0 else f"Leaky ReLU (α = {self.alpha:g})"
        neurons, dimensions = count(self.width, f"{kind} neuron"), count(self.d, "dimension")
        return f"Network: {neurons} in {dimensions}, ‖θ‖ = {self.norm:.4g}"
