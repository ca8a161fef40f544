"""Statements about initial weights that are "sufficiently small", at smaller and smaller scales.

Such a statement does not say how small, so a run that breaks its promise refutes nothing. The same
initial directions are followed at smaller scales, and the verdict says from which scale on it holds
or down to which it fails.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tacit.explanation.other_runs import OtherRuns, OutOfTime
from tacit.explanation.predictions import careful_judge
from tacit.flow.ending import SMALLEST
from tacit.theorems import Verdict, VerdictStatus
from tacit.values import BadInput

FACTOR = 1e-2
"""The weights shrink by this factor from one scale to the next, at first."""
SLOWLY = 3
"""After so many scales the exponent doubles: what fails down to there may fail for good."""
KEPT = (VerdictStatus.CONFIRMED, VerdictStatus.AGREES)


def at_smaller_scales(verdicts: Sequence[Verdict], others: OtherRuns) -> list[Verdict]:
    """The verdicts; unquantified statements that differ are looked at on smaller scales."""
    results = list(verdicts)
    asked = {k: [one] for k, one in enumerate(verdicts) if _may_hold_below(one)}
    if not asked or others.case.start is None:
        return results
    scales = [float(np.linalg.norm(others.case.start.W, axis=1).max())]
    try:
        for factor in _factors(scales[0]):
            early = all(verdicts[k].theorem.needs == "path" for k in asked)
            below, run = others.scaled(factor, early)
            scales.append(factor * scales[0])
            for k in list(asked):
                asked[k].append(careful_judge(verdicts[k].theorem, below, run))
                if (said := _said(asked[k], scales)) is not None:
                    results[k] = said
                    del asked[k]
            if not asked:
                break
    except (OutOfTime, BadInput):  # the smallest neurons may be below what can be followed
        pass
    for k, seen in asked.items():
        results[k] = _ended(seen, scales)
    return results


def _may_hold_below(verdict: Verdict) -> bool:
    """Whether it differs, and nothing but what is not quantified keeps it from being refuted."""
    vague = any(not check.quantified for check in verdict.hypotheses)
    open_ = [check for check in verdict.hypotheses if check.holds is None]
    return (
        verdict.status == VerdictStatus.DIFFERS
        and vague
        and not any(check.quantified for check in open_)
    )


def _factors(scale: float) -> Iterator[float]:
    """Factors by which the weights are made smaller, as far as the flow can be followed."""
    exponent = 0.0
    for k in range(1000):
        exponent += math.log10(FACTOR) * 2 ** max(k - SLOWLY, 0)
        if exponent + math.log10(scale) <= math.log10(SMALLEST):
            break
        yield 10.0**exponent
    last = 10 * SMALLEST / scale
    if last < 10.0 ** (exponent / 2):
        yield last


def _shown(scale: float) -> str:
    return f"{scale:.0e}".replace("e-0", "e-")


def _said(seen: list[Verdict], scales: list[float]) -> Verdict | None:
    """The verdict, once two scales in a row agree that it holds, or it no longer applies."""
    if all(one.status in KEPT for one in seen[-2:]):
        words = (
            f"It holds from {_shown(scales[-2])} on (the length of the longest initial neuron), "
            f"but not yet at {_shown(scales[0])}: {seen[0].words}"
        )
        return replace(seen[0], status=VerdictStatus.AGREES, words=words)
    if seen[-1].status in (VerdictStatus.NOT_APPLICABLE, VerdictStatus.OPEN):
        return seen[0] if len(seen) == 2 else _ended(seen[:-1], scales[:-1])
    return None


def _ended(seen: list[Verdict], scales: list[float]) -> Verdict:
    """The verdict where nothing smaller was, or could be, followed."""
    if len(seen) == 1:
        return seen[0]
    if seen[-1].status in KEPT:
        at = _shown(scales[len(seen) - 1])
        words = f"It holds at {at} (the length of the longest initial neuron; none smaller tried)."
        return replace(seen[0], status=VerdictStatus.AGREES, words=f"{words} {seen[0].words}")
    words = (
        f"It fails down to {_shown(scales[len(seen) - 1])} (the length of the longest initial "
        f"neuron): {seen[-1].words}"
    )
    return replace(seen[0], residual=seen[-1].residual, words=words)
