"""What the theorems say of data and setting, before any training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.flow import initial_network
from tacit.models import ConvMaxPool, TwoLayer
from tacit.theorems import (
    Case,
    Observation,
    Theorem,
    Verdict,
    VerdictStatus,
    judge,
    theorem,
    theorems,
)
from tacit.values import BadInput, Dataset, Setting
from tacit.values.text import near_miss


@dataclass(frozen=True, eq=False)
class Predictions:
    """All theorems on one data set."""

    case: Case
    seed: int
    verdicts: tuple[Verdict, ...]
    classes: tuple[tuple[str, tuple[Verdict, ...]], ...] = ()
    """Of more than two classes: name, and the verdicts on that class against the rest."""


def predict(
    setting: Setting, data: Dataset, seed: int = 0, only: Sequence[str] = ()
) -> Predictions:
    """Every theorem, or those of these ids or papers: does it apply, and what does it promise?"""
    asked = chosen(only)
    case = case_of(setting, data, seed)
    parts = []
    for k, name in enumerate(data.classes):
        part = case_of(setting, data.one_vs_rest(k), seed)
        parts.append((name, judge_all(asked, part)))
    return Predictions(case, seed, judge_all(asked, case), tuple(parts))


def case_of(setting: Setting, data: Dataset, seed: int) -> Case:
    """With the initial weights that a run of this seed has, where they are those of neurons."""
    start = None
    if isinstance(setting.model, TwoLayer | ConvMaxPool):
        start = initial_network(data, setting, seed)
    return Case(data, setting, start)


def chosen(only: Sequence[str]) -> list[Theorem]:
    """The theorems of these ids (`lyu2021:thm4.3`) or papers (`lyu2021`); unless named, all."""
    known = theorems()
    found: list[Theorem] = []
    for word in only:
        many = [one for id, one in known.items() if id.startswith(f"{word}:")]
        if not many and ":" not in word:
            papers = dict.fromkeys(id.partition(":")[0] for id in known)
            raise BadInput(f"unknown paper '{word}'{near_miss(word, papers)}")
        found += many or [theorem(word)]
    return found or list(known.values())


def judge_all(
    asked: Sequence[Theorem], case: Case, run: Observation | None = None
) -> tuple[Verdict, ...]:
    """The verdict of every theorem; one that cannot be evaluated says so."""
    return tuple(_careful(one, case, run) for one in asked)


def _careful(one: Theorem, case: Case, run: Observation | None) -> Verdict:
    try:
        return judge(one, case, run)
    except Exception as reason:  # of whatever a theorem of another package may raise
        if case.start is not None and not case.setting.two_layer:
            return _careful(one, replace(case, start=None), run)  # they are no neurons to it
        kind = "" if isinstance(reason, BadInput) else f"{type(reason).__name__}: "
        words = f"It cannot be evaluated here ({kind}{reason})."
    return Verdict(one, (), None, VerdictStatus.OPEN, None, " ".join(words.split()))
