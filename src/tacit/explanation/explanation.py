"""The main job: geometry, theorems, the limit of training and its certificate, as one result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from tacit.data import takes_data
from tacit.explanation.observation import observe
from tacit.explanation.other_runs import OtherRuns
from tacit.explanation.predictions import (
    check_sizes,
    chosen,
    initial_neurons,
    judge_each,
    verdict_to_dict,
    verdicts_to_frame,
)
from tacit.explanation.second_computation import confirmed_refutation
from tacit.explanation.smaller_starts import at_smaller_scales
from tacit.flow import Limit, Limits, limit
from tacit.flow.ending import check_flow, share_done
from tacit.flow.limits import index_of_worst
from tacit.flow.stage import prepare
from tacit.geometry import Geometry, check
from tacit.messages import count, printable
from tacit.theorems import Case, Observation, Theorem, Verdict, VerdictStatus
from tacit.values import Dataset, Result, Setting
from tacit.values.jsonable import plain

KEPT_BACK = (0.4, 20.0)
"""Share of the time, and at most so many seconds, that are kept for the theorems and the report."""

OTHER_RUNS = (3.0, 10.0)
"""Runs that ask a theorem again take at most so many times what all took before, and seconds."""

Progress = Callable[[str, float | None], None]
"""Called with what is being done, and the share of it that is done where that is known."""


@dataclass(frozen=True, eq=False)
class Part:
    """One network: the only one, or that of one class against the rest."""

    name: str
    """The name of the class; empty for binary data."""
    limit: Limit
    verdicts: tuple[Verdict, ...]

    def __repr__(self) -> str:
        whose = f"{self.name} against the rest: " if self.name else ""
        verdicts = count(len(self.verdicts), "verdict")
        return printable(f"Part: {whose}{self.limit.outcome}, {verdicts} on theorems")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """What `explain` returns: all that is known of gradient flow on a data set.

    Parameters
    ----------
    data, setting, seed
        What was explained.
    geometry : Geometry
        The properties of the data.
    parts : tuple of Part
        For every network its limit and what it says of the theorems: one network for two classes,
        else one for every class against the rest.
    verdicts : tuple of Verdict
        Theorems about several classes on all of them together; empty for binary data.
    interrupted : bool
        Whether a KeyboardInterrupt ended the search.
    only : tuple of str
        The theorems and papers that were asked for; empty for all.
    log10_loss, time_limit : float
        How far, and for how many seconds, it was to be computed.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import tacit
    >>> why = tacit.explain("xor", tacit.Setting(width=20), only="lyu2021:thm3.1")
    >>> why.worst.limit.outcome, why.worst.verdicts[0].status
    (<Outcome.PROVED: 'proved'>, <VerdictStatus.CONFIRMED: 'confirmed'>)
    """

    data: Dataset
    setting: Setting
    seed: int
    geometry: Geometry
    parts: tuple[Part, ...]
    verdicts: tuple[Verdict, ...]
    interrupted: bool
    only: tuple[str, ...]
    log10_loss: float
    time_limit: float
    seconds: float

    @property
    def worst(self) -> Part:
        """The part that a summary speaks of."""
        return self.parts[index_of_worst([part.limit for part in self.parts])]

    @property
    def limit(self) -> Limit | Limits:
        """Where training ends: what `tacit.limit` returns."""
        limits = tuple(part.limit for part in self.parts)
        return limits[0] if self.data.binary else Limits(self.data, limits, self.interrupted)

    @property
    def refuted(self) -> list[Verdict]:
        """Theorems whose hypotheses hold and whose conclusion does not."""
        every = [one for part in self.parts for one in part.verdicts] + list(self.verdicts)
        return [one for one in every if one.status == VerdictStatus.REFUTED]

    @cached_property
    def html(self) -> str:
        """The report: one HTML page that needs nothing but itself."""
        # The report is drawn two layers above; this line is the one place that looks up there.
        return import_module("tacit.explanation.report").page(self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit explain --json`: the keys of check, limit and predict together."""
        result = {
            **self.geometry.to_dict(),
            **self.limit.to_dict(),
            "setting": self.setting.to_dict(),
            "theorems": [verdict_to_dict(one) for one in self.worst.verdicts + self.verdicts],
            "seconds": self.seconds,
        }
        if not self.data.binary:
            for entry, part in zip(result["networks"], self.parts, strict=True):
                entry["theorems"] = [verdict_to_dict(one) for one in part.verdicts]
        return plain(result)

    def to_frame(self) -> Any:
        """The theorems as a pandas DataFrame, one in each row; of several networks the worst's."""
        return verdicts_to_frame(self.worst.verdicts + self.verdicts)

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write a folder: `report.html`, `result.json`, and the files that `load` needs.

        Parameters
        ----------
        path : str or Path
            The folder, written whole or not at all.
        force : bool, default False
            Replace a folder that is there.
        """
        from tacit.explanation.explanation_folder import save

        save(self, path, force)

    @classmethod
    def load(cls, path: str | Path) -> Explanation:
        """Read a folder that `save` has written; anything that is not exactly one is refused.

        Parameters
        ----------
        path : str or Path
            The folder.
        """
        from tacit.explanation.explanation_folder import load

        return load(path)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="tacit: report" '
            'style="width: 100%; height: 40rem; border: 1px solid #8888"></iframe>'
        )

    def _lines(self) -> list[str]:
        from tacit.explanation.sentences import sentences

        return [f"Explanation of {self.data._lines()[0]}", *sentences(self, brief=True)]


@takes_data
def explain(
    data: Dataset,
    setting: Setting | None = None,
    *,
    seed: int = 0,
    only: str | Sequence[str] = (),
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    progress: Progress | None = None,
) -> Explanation:
    """Explain which solution gradient flow picks, why, and whether it is the best one.

    Checks the geometry of the data, follows gradient flow to its limit, certifies where that stands
    among all networks, and judges every theorem by it.

    Parameters
    ----------
    data : Dataset, str, Path, or arrays X, y
        Whatever `tacit.load` takes. With more than two classes, each is explained against the rest.
    setting : Setting, optional
        The network, its initial weights and its loss, by default 100 ReLU neurons; whatever its
        rule, gradient flow is followed.
    seed : int, default 0
        The seed of the initial weights.
    only : str or sequence of str, optional
        Theorems (`lyu2021:thm4.3`) or papers (`lyu2021`); all by default.
    log10_loss : float, default -1000
        The path is followed until log₁₀ of the loss is at most this, and on while it does not show
        what it leads to.
    seconds : float, default 540
        About how long the whole may take, over all classes. The path is cut where it would take
        longer; theorems that are not asked in time say so.
    progress : callable, optional
        Called with what is being done, and the share of it that is done (None where not known).

    Returns
    -------
    Explanation
        After a KeyboardInterrupt what was known until then.

    Examples
    --------
    >>> explain("xor", Setting(width=20), only="lyu2021:thm3.1")  # doctest: +ELLIPSIS
    Explanation of xor: 4 points in 2 dimensions
    Linearly separable: no; orthogonally separable: no, the worst pair fails by 1.
    Training converges: 20 neurons end in 4 directions. ...
    """
    prepare()
    started = perf_counter()
    tell = progress or (lambda stage, share: None)
    setting = (setting or Setting()).replace(rule="flow", step="constant")
    only = (only,) if isinstance(only, str) else tuple(only)
    asked = chosen(only)
    check_sizes(data)
    check_flow(data, setting, seed, log10_loss, seconds)
    tell("checking the geometry", None)
    geometry = check(data, activation=setting.activation)
    start = initial_neurons(data, setting, seed)
    deadline = started + seconds
    until = deadline - min(KEPT_BACK[0] * seconds, KEPT_BACK[1])

    def follow(now: float, goal: float) -> None:
        share = share_done(now, goal)
        tell("following the flow" if now > goal else "certifying the limit", share)

    parts: list[Part] = []
    sets = [data.one_vs_rest(k) for k in range(len(data.classes))] or [data]
    interrupted = False
    for k, (part, name) in enumerate(zip(sets, data.classes or ("",), strict=True)):
        # A share of what is left, and never nothing: each class is to say what it can.
        left = max((until - perf_counter()) / (len(sets) - k), 0.01 * seconds)
        try:
            end = limit(
                part,
                setting,
                seed=seed,
                log10_loss=log10_loss,
                seconds=left,
                start=start,
                progress=follow,
            )
            assert isinstance(end, Limit)
            known = dict(geometry.properties) if data.binary else {}
            case = Case(part, setting, start, known)
            in_time = until + (deadline - until) * (k + 1) / (len(sets) + 1)
            others = OtherRuns(case, log10_loss, _deadline(started, in_time), end.interrupted)
            verdicts = judged(asked, observe(end), in_time, others, tell)
            parts.append(Part(name, end, verdicts))
        except KeyboardInterrupt:
            if not parts:
                raise
            interrupted = True
            break
        if others.interrupted:
            interrupted = True
            break
    whole: tuple[Verdict, ...] = ()
    if not data.binary:
        runs = Observation((), members=tuple(observe(part.limit) for part in parts))
        about = [one for one in asked if one.several_classes]
        case = Case(data, setting, start, dict(geometry.properties))
        others = OtherRuns(case, log10_loss, _deadline(started, deadline), interrupted)
        whole = judged(about, runs, deadline, others, tell)
        interrupted = others.interrupted
    return Explanation(
        data,
        setting,
        seed,
        geometry,
        tuple(parts),
        whole,
        interrupted,
        only,
        log10_loss,
        seconds,
        perf_counter() - started,
    )


def _deadline(started: float, latest: float) -> float:
    """When other runs must have ended."""
    now = perf_counter()
    return min(latest, now + OTHER_RUNS[0] * (now - started) + OTHER_RUNS[1])


def judged(
    asked: Sequence[Theorem],
    run: Observation,
    deadline: float,
    others: OtherRuns,
    tell: Progress,
) -> tuple[Verdict, ...]:
    """The verdicts of the theorems; those that differ or are refuted after other runs."""

    def done(share: float) -> None:
        tell("asking the theorems", share)

    verdicts = list(judge_each(asked, others.case, run, deadline, done))
    tell("asking them again", None)
    return tuple(
        confirmed_refutation(one, others) if one.status == VerdictStatus.REFUTED else one
        for one in at_smaller_scales(verdicts, others)
    )
