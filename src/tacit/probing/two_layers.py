"""Is it f(x) = Σ a_k φ(w_k·x + b_k)? Then certificates, optima and theorems speak of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.messages import count
from tacit.probing.differentiable import DenseLayer, Differentiable
from tacit.probing.examples import Examples, as_array
from tacit.values import BadInput, Dataset, Network

SAME = 1e-9
"""Outputs that differ by this share are the same network's."""
ROUNDINGS = 1e3
MOST_ENTRIES = 2**27
"""Entries of the data that are copied for it."""


def recognised(
    model: Differentiable,
    examples: Examples,
    labels: np.ndarray,
    outputs: np.ndarray,
    layers: Sequence[DenseLayer],
) -> tuple[Network | None, Dataset | None, str]:
    """The two-layer network and its data, a bias folded in as a coordinate; or why it is none."""
    if len(layers) != 2:
        return None, None, f"it has {count(len(layers), 'dense layer')}, not two"
    if outputs.shape[1] != 1:
        return None, None, "it has several outputs; one is needed, as for one class and the rest"
    first, second = layers
    W, a, b, c = first.W, second.W.ravel(), first.bias, second.bias
    held = sum(one.size for one in (W, a, b, c) if one is not None)
    inputs = int(np.prod(tuple(examples.X.shape)[1:]))
    if len(a) != len(W) or W.shape[1] != inputs or held != model.size:
        return None, None, "it has other parts than two dense layers"
    if c is not None and c.any():
        return None, None, f"the output has a bias ({c[0]:.3g}); build its layer with bias=False"
    if len(examples) * inputs > MOST_ENTRIES:
        return None, None, "the data is too large to be copied"
    X = examples.mapped(_plain)
    if b is not None:
        W, X = np.column_stack([W, b]), np.column_stack([X, np.ones(len(X))])
    positive, negative = Network(W, a).outputs(X), Network(-W, a).outputs(X)
    f = outputs[:, 0]
    # f = Σ a max(z, 0) − α Σ a max(−z, 0) is linear in α.
    square = float(negative @ negative)
    alpha = float((positive - f) @ negative) / square if square > 0 else 0.0
    for simple in (round(alpha, 6), float(np.float32(round(alpha, 6)))):
        if abs(alpha - simple) < SAME:
            alpha = simple
    scale = float(np.abs(f).max() + np.abs(positive).max())
    error = float(np.abs(positive - alpha * negative - f).max())
    if not error <= (SAME + ROUNDINGS * model.precision) * scale:
        return None, None, "its activation is neither ReLU nor Leaky ReLU"
    try:
        return Network(W, a, alpha), Dataset(X, labels, name=f"data of {model.name}"), ""
    except BadInput as error_of_values:
        return None, None, str(error_of_values)


def _plain(batch: Any) -> np.ndarray:
    array = as_array(batch)
    return array.reshape(len(array), -1).astype(np.float64)
