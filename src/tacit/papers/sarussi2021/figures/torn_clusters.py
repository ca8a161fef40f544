"""Why a cluster widens again: a point of the neurons' own label whose hyperplane runs through it.

An update on (x, y) moves a neuron by ηv|ℓ'|σ'(w·x)x, up to a sign. So two neurons of one type come
apart, or together, only by points that they disagree on. If y is the label of their type, both move
along x, and the one with w·x > 0 by (1−α)ηv|ℓ'|‖x‖ more: the hyperplane of x is a ridge. By points
of the other label they come together.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.measures import Snapshot

ALONG = 0.9
"""Cosine from which on neurons differ along a point, and little else."""


class Tear(NamedTuple):
    """A point by which a cluster is torn."""

    kind: str
    """w or u."""
    point: int
    cosine: float
    """Of the point and the direction in which the neurons differ most."""
    ahead: int
    """Neurons with w·x > 0."""
    neurons: int
    margin: float
    """y N(x): where it is negative, |ℓ'| is at least ½."""


def why_wider(name: str, line: np.ndarray, torn: Tear | None) -> str:
    """Why a run on the set of that name ends with wide clusters; `line` is their width."""
    less = f", where it was {line.min():.2g} before" if line.min() < line[-1] else ""
    first = f"It is a run on {name}{less}. "
    settings = (
        "The paper states neither the step size nor the epochs nor the images, and shows no "
        "intervals; these would settle whether its networks "
    )
    if torn is None:
        return f"{first}No single image is the reason. {settings}were trained as long."
    return (
        f"{first}Neurons of one type come apart only by points that they disagree on. The "
        f"{torn.kind} neurons differ along one training image of their own label (cosine "
        f"{torn.cosine:.2f}), which {torn.ahead} of {torn.neurons} have on their positive side. An "
        "update on it moves these by ηv|ℓ'|‖x‖ and the others by α times that: its hyperplane is a "
        f"ridge, and |ℓ'| is {1 / (1 + math.exp(torn.margin)):.2f}, as its margin is "
        f"{torn.margin:.1f}. {settings}met such an image."
    )


def tear(s: Snapshot) -> Tear | None:
    """The point by which the wider cluster is torn; None where there is none."""
    types = {"w": (1, s.groups[0]), "u": (-1, s.groups[1])}
    kind = max(types, key=lambda one: _radius(types[one][1]))
    label, W = types[kind]
    ahead = (s.data.X @ W.T > 0).sum(axis=1)
    split = np.flatnonzero((ahead > 0) & (ahead < len(W)) & (s.data.y == label))
    if not len(split):
        return None
    main = np.linalg.svd(W - W.mean(axis=0), full_matrices=False)[2][0]
    X = s.data.X[split]
    cosines = np.abs(X @ main) / np.linalg.norm(X, axis=1)
    x = int(split[cosines.argmax()])
    cosine = float(cosines.max())
    if cosine < ALONG:
        return None
    return Tear(kind, x, cosine, int(ahead[x]), len(W), float(s.q[x]))


def _radius(W: np.ndarray) -> float:
    return float(np.linalg.norm(W - W.mean(axis=0), axis=1).max())
