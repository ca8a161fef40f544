"""Sentences of the page."""

import math
from collections.abc import Sequence

import numpy as np

from tacit.explanation import Explanation, Part
from tacit.explanation.sentences import KEPT, just_fail, of_the_data, of_the_run, telling
from tacit.flow.limits import ROUNDING
from tacit.messages import count, printable
from tacit.pages import number
from tacit.theorems import Verdict, VerdictStatus
from tacit.theorems.judgement import angle_between

LONGEST = 100
"""Letters of a name that is not shown as a whole."""


def short(name: str) -> str:
    """A name on one line, cut when it is very long."""
    line = printable(name)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def answer(explanation: Explanation) -> list[tuple[str, str]]:
    """Question and answer: which solution, why, is it the best."""
    part = explanation.worst
    whose = f"Class {short(part.name)} against the rest: " if part.name else ""
    return [
        ("Which solution?", whose + of_the_run(part.limit)),
        ("Why?", why(explanation, part)),
        ("Is it the best?", best(part)),
    ]


def why(explanation: Explanation, part: Part) -> str:
    """The theorem that says most about where training ends; else the one that comes nearest."""
    data = of_the_data(explanation.geometry)
    verdicts = part.verdicts + explanation.verdicts
    loud = [one for one in verdicts if one.status == VerdictStatus.REFUTED]
    if loud:
        ids = ", ".join(one.theorem.id for one in loud)
        verb = "is" if len(loud) == 1 else "are"
        return f"{data} Careful: {ids} {verb} refuted by this run, see below."
    kept = [one for one in telling(part.verdicts, 10**6) if one.status in KEPT]
    kept.sort(key=lambda one: -_tells(one))
    if kept and kept[0].prediction is not None:
        one, said = kept[0], kept[0].prediction.words
        others = sum(other.status == VerdictStatus.CONFIRMED for other in part.verdicts)
        others -= one.status == VerdictStatus.CONFIRMED
        verb = "is" if others == 1 else "are"
        more = f" {count(others, 'more statement')} {verb} confirmed." if others > 0 else ""
        kind, kept_it = "applies and predicts", "Confirmed"
        if one.status == VerdictStatus.AGREES:
            kind, kept_it = "may apply, and predicts", "The run agrees"
        return (
            f"{data} {place(one)} {kind}: {_sentence(said)} {kept_it}: {_sentence(one.words)}{more}"
        )
    near = just_fail(part.verdicts)
    none = f"{data} No theorem of the {len(part.verdicts)} that were asked explains this"
    if not part.verdicts:
        return f"{data} No theorem was asked."
    if all(one.status == VerdictStatus.OPEN for one in part.verdicts):
        return f"{data} None of the {len(part.verdicts)} theorems that were asked was decided."
    if near:
        return f"{none}; the nearest is {place(near[0])}. {_sentence(near[0].words)}"
    return f"{none}."


def best(part: Part) -> str:
    """What the certificate says."""
    certificate = part.limit.certificate
    if certificate is None:
        return "There is no limit to compare with the best network."
    said = certificate.verdict
    if certificate.optimality == "certified":
        return f"Yes. {said} Its margin is {number(certificate.margin, 6)}."
    if certificate.optimality == "suboptimal":
        return f"No. {said} It falls short by {100 * certificate.shortfall:.3g} %."
    return f"Not decided. {said}"


def place(verdict: Verdict) -> str:
    """Where the theorem is printed, as in `lyu2021 Theorem H.2`."""
    return " ".join(verdict.theorem.source)


def alt(name: str, part: Part) -> str:
    """What a picture shows, for who cannot see it."""
    limit = part.limit
    whose = "limit" if limit.groups else "last network"
    signs = [group.sign for group in limit.groups]
    groups = f"{signs.count(1)} directions with a > 0 and {signs.count(-1)} with a < 0"
    margin = f", which tends to {number(limit.margin, 6)}" if limit.margin is not None else ""
    angle = f", {number(limit.approach[-1, 1], 2)} rad at the end" if len(limit.approach) else ""
    return {
        "boundary": f"The {limit.data.n} points and the output of the {whose} as colours, with "
        "the decision boundary as a black line.",
        "neurons": "Directions of neurons before training (dots), at the end "
        f"({groups if signs else 'lines'}) and as theorems predict them (hollow marks).",
        "turning": "The direction of every neuron over loss-normalised time.",
        "margins": f"Margin and smoothed margin over log₁₀(1/L){margin}.",
        "loss": f"The loss over time, down to {limit.path.last.loss_text()}.",
        "distance": f"Angle between the path and its limit over log₁₀(1/L){angle}.",
    }.get(name, name)


def nearest(verdicts: Sequence[Verdict], sign: int, direction: np.ndarray) -> tuple[float, str]:
    """The angle to the nearest direction that a theorem about the limit names, and its id."""
    angles = [
        (angle_between(direction, u), one.theorem.id)
        for one in verdicts
        if one.prediction is not None and one.theorem.needs == "limit"
        for s, u in one.prediction.directions
        if s == sign and len(u) == len(direction)
    ]
    return min(angles, key=lambda one: max(one[0], ROUNDING), default=(math.nan, ""))


def names_directions(verdict: Verdict) -> bool:
    """Whether the theorem says where neurons point."""
    return verdict.prediction is not None and len(verdict.prediction.directions) > 0


def _tells(verdict: Verdict) -> int:
    """More for a statement about where neurons end, and for certainty."""
    about_the_limit = verdict.theorem.needs == "limit"
    return (
        4 * about_the_limit
        + 2 * names_directions(verdict)
        + (verdict.status == VerdictStatus.CONFIRMED)
    )


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."
