"""Numbers read off each dense layer: its rank, clusters of units, dead units, balance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.measures.rank import effective_rank_of
from tacit.probing.differentiable import DenseLayer
from tacit.values import Network

ANGLE = math.radians(5)
"""Angle up to which two units count as one direction."""
SHARE = 0.99
"""Clusters are counted until they hold this share of the weight; the rest is negligible."""
MOST_UNITS = 4096
"""Units whose clusters are counted."""


@dataclass(frozen=True, eq=False)
class LayerMeasures:
    """One dense layer.

    Attributes
    ----------
    name : str
        What the model calls it.
    units, inputs : int
        Its size.
    norm : float
        The Frobenius norm of its weights and biases.
    effective_rank : float
        ‖W‖_F²/‖W‖²: near 1 for rank one, at most the rank.
    clusters : int or None
        Directions, 5° apart at least, that hold 99 % of the norms of its units; None where there
        are too many units to say.
    dead : int or None
        Units that are active on no example; None for the last layer, and where it is not known.
    agreement : float
        The share of (two units, example) in which both are active or neither is.
    balance : float
        max_k |‖in_k‖² − ‖out_k‖²|/(‖in‖² + ‖out‖²) of its units and the next layer; gradient flow
        conserves ‖in_k‖² − ‖out_k‖² where ReLU is between the two.
    """

    name: str
    units: int
    inputs: int
    norm: float
    effective_rank: float
    clusters: int | None
    dead: int | None
    agreement: float
    balance: float


def measured_layers(layers: Sequence[DenseLayer]) -> tuple[LayerMeasures, ...]:
    """The numbers of each layer; the last one has no activation."""
    made = []
    for k, layer in enumerate(layers):
        last = k == len(layers) - 1
        following = None if last else layers[k + 1].W
        W = layer.W if layer.bias is None else np.column_stack([layer.W, layer.bias])
        dead = None if last or layer.alive is None else int((~layer.alive).sum())
        made.append(
            LayerMeasures(
                layer.name,
                len(layer.W),
                layer.W.shape[1],
                float(np.linalg.norm(W)),
                effective_rank_of(layer.W, np.linalg.svd(layer.W, compute_uv=False)),
                _clusters(W),
                dead,
                float("nan") if last else layer.agreement,
                float("nan") if following is None else _balance(W, following),
            )
        )
    return tuple(made)


def _clusters(W: np.ndarray) -> int | None:
    if len(W) > MOST_UNITS:
        return None
    weights = [group.weight for group in Network(W, np.ones(len(W))).groups(angle=ANGLE)]
    held = np.cumsum(weights)
    return int(np.searchsorted(held, SHARE * held[-1])) + 1 if weights else 0


def _balance(W: np.ndarray, following: np.ndarray) -> float:
    if following.shape[1] != len(W):  # something between the two changes the number of units
        return float("nan")
    into, out = (W**2).sum(axis=1), (following**2).sum(axis=0)
    total = float(into.sum() + out.sum())
    return float(np.abs(into - out).max()) / total if total > 0 else float("nan")
