"""The main job: geometry, theorems, the run and its certificate, as one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from tacit.explanation.observation import observe
from tacit.explanation.predictions import case_of, chosen, judge_all
from tacit.flow import Limit, limit
from tacit.flow.ending import Progress
from tacit.flow.limits import index_of_worst
from tacit.geometry import Geometry, check
from tacit.theorems import Observation, Verdict
from tacit.values import Dataset, Setting


@dataclass(frozen=True, eq=False)
class Part:
    """One network: the only one, or that of one class against the rest."""

    name: str
    """Of the class; empty for binary data."""
    limit: Limit
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, eq=False)
class Explanation:
    """All there is to know of gradient flow on a data set."""

    data: Dataset
    setting: Setting
    seed: int
    geometry: Geometry
    parts: tuple[Part, ...]
    """The first is the only one when there are two classes."""
    verdicts: tuple[Verdict, ...]
    """Of theorems about more than two classes, on the whole; empty for binary data."""
    interrupted: bool
    log10_loss: float
    allowed: float
    """How far, and for how many seconds, the path was to be followed."""
    seconds: float

    @property
    def worst(self) -> Part:
        """The part that a summary speaks of."""
        return self.parts[index_of_worst([part.limit for part in self.parts])]


def explain(
    setting: Setting,
    data: Dataset,
    seed: int = 0,
    only: Sequence[str] = (),
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    progress: Progress | None = None,
) -> Explanation:
    """Check, predict, follow the flow to its limit, certify, and compare."""
    started = perf_counter()
    asked = chosen(only)
    geometry = check(data, activation=setting.activation)
    end = limit(data, setting, seed=seed, log10_loss=log10_loss, seconds=seconds, progress=progress)
    parts = []
    for one, name in zip(end.each, data.classes or ("",), strict=False):
        verdicts = judge_all(asked, case_of(setting, one.data, seed), observe(one))
        parts.append(Part(name, one, verdicts))
    whole: tuple[Verdict, ...] = ()
    if not data.binary:
        runs = Observation((), members=tuple(observe(one) for one in end.each))
        about = [one for one in asked if one.several_classes]
        whole = judge_all(about, case_of(setting, data, seed), runs)
    return Explanation(
        data,
        setting,
        seed,
        geometry,
        tuple(parts),
        whole,
        end.interrupted,
        log10_loss,
        seconds,
        perf_counter() - started,
    )
