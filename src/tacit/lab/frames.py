"""Moments of a path as the page draws them, and the fingerprint of a whole run."""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.flow.early import dead
from tacit.flow.exponential_tail import Kind
from tacit.flow.path import Moment, Path, PathEnd
from tacit.flow.path_measures import along
from tacit.flow.state import State
from tacit.numerics.float64 import LN10
from tacit.values.jsonable import plain


def frames(moments: Sequence[Moment], kind: Kind) -> list[dict[str, Any]]:
    """One entry per moment: weights, what the neurons do, the loss and the margins."""
    path = Path(list(moments), [], PathEnd.REACHED, "", 0, 0, 0.0)
    measures = along(path, kind)
    return [
        plain(
            {
                "log10_loss": moment.log_L / LN10,
                "depth": moment.log10_depth,
                "log10_time": moment.log_t / LN10,
                "fallen": fallen(moment.state.outputs(), kind),
                "margin": measures.margin[i],
                "smoothed": measures.smoothed_margin[i],
                "norm": measures.norm[i],
                "W": moment.state.W,
                "a": moment.state.a,
                "life": life(moment.state),
                "q": moment.state.outputs(),
            }
        )
        for i, moment in enumerate(moments)
    ]


def fallen(q: np.ndarray, kind: Kind) -> float:
    """ℓ(0) − ℓ(q_i), summed: how far the loss is below that of f = 0.

    From small weights the loss stays near that one while neurons turn; this number keeps its digits
    then, so that the page can spread that phase out.
    """
    with np.errstate(over="ignore"):
        less = np.expm1(-np.maximum(q, -700.0))
    return float(-(np.log1p(less / 2) if kind == "logistic" else less).sum())


def life(state: State) -> str:
    """One letter per neuron: living (l), sliding along a hyperplane (s), or dead (d)."""
    gone, slides = dead(state), (state.side == 0).any(axis=1)
    return "".join("d" if x else "s" if s else "l" for x, s in zip(gone, slides, strict=True))


def events(path: Path) -> list[list[Any]]:
    """What, which neuron, at which points, and between which moments: 3.5 is halfway after 3."""
    times = [moment.s for moment in path.moments]
    planes = path.moments[0].state.planes
    rows = [np.flatnonzero(planes.line == k).tolist() for k in range(len(planes.e))]
    said = []
    for event in path.events:
        i = min(max(bisect_right(times, event.s) - 1, 0), max(len(times) - 2, 0))
        long = times[i + 1] - times[i] if i + 1 < len(times) else 0.0
        at = i + min(max((event.s - times[i]) / long, 0.0), 1.0) if long > 0 else float(i)
        said.append([event.what, event.neuron, rows[event.plane] if event.plane >= 0 else [], at])
    return said


def fingerprint(path: Path) -> str:
    """The same for two runs exactly when all their moments have the same bits."""
    digest = hashlib.sha256()
    for moment in path.moments:
        times = np.array([moment.s, moment.log_t, moment.log_L, moment.beyond])
        for array in (times, moment.state.W, moment.state.a, moment.state.side):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
