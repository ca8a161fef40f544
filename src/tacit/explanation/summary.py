"""Predictions and explanations as plain numbers: what scripts read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tacit.explanation.explanation import Explanation
from tacit.explanation.predictions import Predictions
from tacit.flow import Limits
from tacit.theorems import Verdict
from tacit.values.jsonable import plain


def predictions(found: Predictions) -> dict[str, Any]:
    """The contract of `tacit predict --json`."""
    case = found.case
    result: dict[str, Any] = {
        "name": case.data.name,
        "n": case.data.n,
        "d": case.data.d,
        "setting": case.setting.to_dict(),
        "seed": found.seed,
        "theorems": [_prediction(one) for one in found.verdicts],
    }
    if found.classes:
        result["networks"] = [
            {"class": name, "theorems": [_prediction(one) for one in verdicts]}
            for name, verdicts in found.classes
        ]
    return plain(result)


def explanation(found: Explanation, geometry: dict[str, Any]) -> dict[str, Any]:
    """The contract of `tacit explain --json`: with the keys of `check`, `predict` and `limit`."""
    limits = tuple(part.limit for part in found.parts)
    end = limits[0] if found.data.binary else Limits(found.data, limits)
    result = {
        **geometry,
        **end.to_dict(),
        "setting": found.setting.to_dict(),
        "theorems": [_verdict(one) for one in found.worst.verdicts + found.verdicts],
        "seconds": found.seconds,
    }
    if not found.data.binary:
        networks = result["networks"]
        for entry, part in zip(networks, found.parts, strict=True):
            entry["theorems"] = [_verdict(one) for one in part.verdicts]
    return plain(result)


def _prediction(verdict: Verdict) -> dict[str, Any]:
    said = verdict.prediction
    return {
        "id": verdict.theorem.id,
        "place": " ".join(verdict.theorem.source),
        "summary": verdict.theorem.summary,
        "applies": verdict.applies if verdict.hypotheses else None,
        "words": verdict.words,
        "hypotheses": [asdict(check) for check in verdict.hypotheses],
        "prediction": None if said is None else {"words": said.words, **said.values},
        "directions": [] if said is None else [[sign, v] for sign, v in said.directions],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        **_prediction(verdict),
        "verdict": verdict.status,
        "residual": verdict.residual,
        "tolerance": verdict.theorem.tolerance,
    }
