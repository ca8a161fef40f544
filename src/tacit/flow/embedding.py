"""Lemma 5.2 of lyu2021 for states and paths of the flow; the mathematics is in `numerics`."""

from __future__ import annotations

import math

import numpy as np

from tacit.flow.path import Path
from tacit.flow.state import State
from tacit.numerics import embedding as numerics
from tacit.numerics.embedding import EarlyEmbedding, EmbeddedFlow, Kind
from tacit.values import BadInput


def embedding(first: State, kind: Kind = "logistic") -> EarlyEmbedding:
    """The embedding of initial weights; a BadInput where the lemma does not speak of them."""
    if not first.both:
        raise BadInput("Lemma 5.2 is about networks of which both layers are trained")
    planes = first.planes
    numerics.need_symmetric(planes.X, planes.y)
    return numerics.embedding(planes.X, planes.y, planes.alpha, first.W, first.a, kind)


def lemma_5_2(path: Path, r: float, kind: Kind = "logistic") -> EmbeddedFlow:
    """The lemma at radius r, measured on the path."""
    if not path.last.state.both:
        raise BadInput("Lemma 5.2 is about networks of which both layers are trained")
    planes = path.last.state.planes
    n = len(planes.y)  # the path is that of the sum of the losses, the lemma that of the mean
    times = np.array([n * math.exp(min(moment.log_t, 600.0)) for moment in path.moments])
    weights = [(moment.state.W, moment.state.a) for moment in path.moments]
    return numerics.interpolated(planes.X, planes.y, planes.alpha, times, weights, r, kind)
