"""A limit as plain numbers: what scripts read, and what a run folder says of itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.flow.early import early
from tacit.flow.embedding import embedding
from tacit.flow.exponential_tail import tail_of
from tacit.flow.limits import worst
from tacit.flow.path_measures import along
from tacit.flow.result import Limit
from tacit.values import BadInput, Dataset
from tacit.values.jsonable import plain

LN10 = math.log(10)
MOST_SIGNS = 10**6
"""Neurons times points up to which the sectors are written out."""
ROUNDING = 1e-12
"""Angles up to this are rounding."""


def summary(found: Sequence[Limit], data: Dataset) -> dict[str, Any]:
    """The worst network, and with more than two classes all of them in `networks`."""
    entries = [_entry(one) for one in found]
    result = entries[worst(found)]
    if not data.binary:
        for one, label in zip(entries, data.classes, strict=False):
            one["class"] = label
        result = {**result, "classes": data.classes, "networks": entries}
    result = {**result, "name": data.name, "seconds": sum(one.seconds for one in found)}
    return plain(result)


def events(found: Limit) -> dict[str, int]:
    """How many events of each kind the path had."""
    return dict(sorted(Counter(event.what for event in found.path.events).items()))


def early_numbers(found: Limit) -> dict[str, Any] | None:
    """The end of the early phase in numbers; None when there was none."""
    phase = early(found.path, tail_of(found.setting.loss))
    if phase is None:
        return None
    aligned = phase.cosines[~np.isnan(phase.cosines)]
    small = phase.sectors.size <= MOST_SIGNS
    return {
        "s": phase.s,
        "log10_time": phase.log_t / LN10,
        "log10_loss": phase.end.log_L / LN10,
        "median_cosine": float(np.median(aligned)) if len(aligned) else None,
        "smallest_cosine": float(aligned.min()) if len(aligned) else None,
        "dead_at_start": int(phase.dead_at_start.sum()),
        "dead_then": int(phase.dead_then.sum()),
        "dead_at_end": int(phase.dead_at_end.sum()),
        "cosines": phase.cosines,
        "sectors": [in_signs(row) for row in phase.sectors] if small else None,
        "embedding": _embedding(found),
    }


def _embedding(found: Limit) -> dict[str, Any] | None:
    """On symmetric data, what lyu2021 Lemma 5.2 says of the initial weights; else None."""
    try:
        known = embedding(found.path.moments[0].state, tail_of(found.setting.loss))
    except BadInput:
        return None
    return {"growth_rate": known.rate, "good": known.good, "b": known.b}


def rate_of(found: Limit) -> float | None:
    """The fitted rate, where the path is still on its way at the end."""
    late = found.approach[-1:, 1]
    return found.rate if late.size and late[0] > ROUNDING else None


def in_signs(pattern: np.ndarray) -> str:
    """A pattern as a text of +, - and 0."""
    return "".join("0+-"[sign] for sign in pattern.tolist())


def _entry(found: Limit) -> dict[str, Any]:
    setting, kkt, best = found.setting, found.kkt, found.certificate
    entry = {
        "name": found.data.name,
        "n": found.data.n,
        "d": found.data.d,
        "activation": str(setting.activation),
        "train": setting.train,
        "width": setting.width,
        "init": str(setting.initialisation),
        "output_weight": setting.output_weight if setting.train == "first" else None,
        "loss": str(setting.loss),
        "seed": found.seed,
        "outcome": found.outcome,
        "reason": found.reason,
        "log10_loss": found.log10_loss,
        "log10_time": found.path.last.log_t / LN10,
        "margin": found.margin,
        "groups": [
            {
                "sign": group.sign,
                "size": group.size,
                "direction": group.direction,
                "weight": group.weight,
                "pattern": in_signs(group.pattern),
            }
            for group in found.groups
        ],
        "kkt": None
        if kkt is None
        else {
            "stationarity": kkt.stationarity,
            "feasibility": kkt.feasibility,
            "complementarity": kkt.complementarity,
        },
        "optimal_margin": best.lower if best else None,
        "optimal_margin_upper": best.upper if best else None,
        "optimality": best.optimality if best else None,
        "gap": best.gap if best else None,
        "path_to_limit": found.approach,
        "rate": rate_of(found),
        "events": events(found),
        "early": early_numbers(found),
        "smoothed_margin_falls": len(along(found.path, tail_of(setting.loss)).falls),
        "steps": found.path.steps,
        "drift": found.path.drift,
        "seconds": found.seconds,
    }
    if found.data.test is not None:
        entry["test_error"] = test_error(found)
    return entry


def test_error(found: Limit) -> float | None:
    """The share of test points that the limit does not give their label."""
    test = found.data.test
    if test is None or found.W is None or found.a is None:
        return None
    z = test.X @ found.W.T
    f = np.maximum(z, found.setting.alpha * z) @ found.a
    return float(np.mean(test.y * f <= 0))
