"""What the theorems say of data and setting, before any training."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from tacit.data import takes_data
from tacit.flow.ending import check_width, initial_network
from tacit.messages import count, near_miss, printable
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
from tacit.theorems.asking import TimeIsUp, asked_until
from tacit.values import BadInput, Dataset, Network, Result, Setting
from tacit.values.arguments import check_seed
from tacit.values.jsonable import plain
from tacit.values.optional import optional_import

MOST_NAMED = 4
"""Theorems that a short text names."""
LARGEST = 1e70
"""Entries of points are at most this, and rows not shorter than its inverse: fourth powers of
lengths are then numbers that are not 0."""
NOT_ASKED = "It was not asked, or not to the end: the seconds were used up."


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Result):
    """What `predict` returns: which theorems apply, and what each promises.

    Parameters
    ----------
    case : Case
        Data, setting and initial weights.
    seed : int
        The seed of the initial weights.
    verdicts : tuple of Verdict
        One for every theorem that was asked.
    classes : tuple of (str, tuple of Verdict)
        With more than two classes: for each its name, and the verdicts on it against the rest.

    Examples
    --------
    >>> import tacit
    >>> asked = tacit.predict("orthogonal:n=20,d=2", only="lyu2021:thmH.2")
    >>> asked.verdicts[0].applies is None  # a hypothesis speaks of the trajectory
    True
    """

    case: Case
    seed: int
    verdicts: tuple[Verdict, ...]
    classes: tuple[tuple[str, tuple[Verdict, ...]], ...] = ()

    @property
    def data(self) -> Dataset:
        """The data that the theorems were asked about."""
        return self.case.data

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit predict --json`."""
        result: dict[str, Any] = {
            "name": self.data.name,
            "n": self.data.n,
            "d": self.data.d,
            "setting": self.case.setting.to_dict(),
            "seed": self.seed,
            "theorems": [prediction_to_dict(one) for one in self.verdicts],
        }
        if self.classes:
            result["networks"] = [
                {"class": name, "theorems": [prediction_to_dict(one) for one in verdicts]}
                for name, verdicts in self.classes
            ]
        return plain(result)

    def to_frame(self) -> Any:
        """The theorems as a pandas DataFrame, one in each row."""
        return verdicts_to_frame(self.verdicts)

    def _lines(self) -> list[str]:
        asked = count(len(self.verdicts), "theorem")
        lines = [f"Predictions for {self.data._lines()[0]}; {asked} asked"]
        for applies, words in ((True, "apply"), (None, "may apply"), (False, "do not apply")):
            ids = [one.theorem.id for one in self.verdicts if one.applies is applies]
            if ids:
                few = ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")
                lines.append(f"{len(ids)} {words}: {few}")
        return [printable(line) for line in lines]


@takes_data
def predict(
    data: Dataset, setting: Setting | None = None, *, seed: int = 0, only: str | Sequence[str] = ()
) -> Predictions:
    """Ask the theorems which of them apply, and what each promises. Nothing is trained.

    Parameters
    ----------
    data : Dataset, str, Path, or arrays X, y
        Whatever `tacit.load` takes. With more than two classes, the theorems are also asked about
        every class against the rest.
    setting : Setting, optional
        The network and how it is trained, by default 100 ReLU neurons and gradient flow. The
        setting's rule counts: most theorems speak of `rule="flow"`.
    seed : int, default 0
        The seed of the initial weights.
    only : str or sequence of str, optional
        Theorems (`lyu2021:thm4.3`) or papers (`lyu2021`); all by default.

    Returns
    -------
    Predictions
        A verdict for every theorem, with the slack of every hypothesis.

    Examples
    --------
    >>> predict("symmetric:n=10,d=2", Setting(activation="leaky:0.5", rule="flow"), only="lyu2021")
    ... # doctest: +ELLIPSIS
    Predictions for symmetric: 10 points in 2 dimensions; ... theorems asked
    ...
    """
    setting = setting or Setting(rule="flow")
    asked = chosen(only)
    check_sizes(data)
    check_width(data, setting)
    check_seed(seed)
    start = initial_neurons(data, setting, seed)
    case = Case(data, setting, start)
    parts = []
    for k, name in enumerate(data.classes):
        part = Case(data.one_vs_rest(k), setting, start)
        parts.append((name, tuple(judge_each(asked, part))))
    return Predictions(case, seed, tuple(judge_each(asked, case)), tuple(parts))


def check_sizes(data: Dataset) -> None:
    """Refuse points whose products overflow, or vanish although they are not 0."""
    sizes = np.abs(data.X).max(axis=1, initial=0.0)
    for row in np.flatnonzero((sizes > 0) & ((sizes < 1 / LARGEST) | (sizes > LARGEST)))[:1]:
        raise BadInput(
            f"row {row} of the data has size {sizes[row]:.1e}, which is beyond the theorems' "
            f"arithmetic; scale the data to between {1 / LARGEST:g} and {LARGEST:g}"
        )


def initial_neurons(data: Dataset, setting: Setting, seed: int) -> Network | None:
    """The initial weights of a run with this seed, where they are those of neurons."""
    if isinstance(setting.model, TwoLayer | ConvMaxPool):
        return initial_network(data, setting, seed)
    return None


def chosen(only: str | Sequence[str]) -> list[Theorem]:
    """The theorems of these ids (`lyu2021:thm4.3`) or papers (`lyu2021`); all if none is named."""
    known = theorems()
    asked: list[Theorem] = []
    for word in (only,) if isinstance(only, str) else only:
        many = [one for id, one in known.items() if id.startswith(f"{word}:")]
        if not many and ":" not in word:
            papers = dict.fromkeys(id.partition(":")[0] for id in known)
            raise BadInput(f"unknown paper '{word}'{near_miss(word, papers)}")
        asked += many or [theorem(word)]
    return asked or list(known.values())


def judge_each(
    asked: Sequence[Theorem],
    case: Case,
    run: Observation | None = None,
    deadline: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Verdict]:
    """The verdict of every theorem; one that cannot be evaluated says so.

    After the deadline, a moment of `perf_counter`, no theorem is asked any more, and one that was
    not done with it by then says the same. `progress` is
    called with the share of those that have been.
    """
    for k, one in enumerate(asked):
        if progress is not None:
            progress(k / len(asked))
        verdict = Verdict(one, (), None, VerdictStatus.OPEN, None, NOT_ASKED)
        if perf_counter() < deadline:
            with asked_until(deadline), suppress(TimeIsUp):
                verdict = careful_judge(one, case, run)
        yield verdict


def careful_judge(one: Theorem, case: Case, run: Observation | None = None) -> Verdict:
    """What `judge` returns; `open` where the theorem raises, or warns that numbers overflow."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return judge(one, case, run)
    except TimeIsUp:
        raise
    except Exception as reason:  # of whatever a theorem of another package may raise
        if case.start is not None and not case.setting.two_layer:
            return careful_judge(one, replace(case, start=None), run)  # they are no neurons to it
        kind = "" if isinstance(reason, BadInput) else f"{type(reason).__name__}: "
        words = f"It cannot be evaluated here ({kind}{reason})."
    return Verdict(one, (), None, VerdictStatus.OPEN, None, " ".join(words.split()))


def prediction_to_dict(verdict: Verdict) -> dict[str, Any]:
    """What is known of a theorem before training, as scripts read it."""
    promise = verdict.prediction
    return {
        "id": verdict.theorem.id,
        "place": " ".join(verdict.theorem.source),
        "summary": verdict.theorem.summary,
        "applies": verdict.applies,
        "words": verdict.words,
        "hypotheses": [asdict(check) for check in verdict.hypotheses],
        "prediction": None if promise is None else {"words": promise.words, **promise.values},
        "directions": [] if promise is None else [[sign, v] for sign, v in promise.directions],
    }


def verdict_to_dict(verdict: Verdict) -> dict[str, Any]:
    """What is known of a theorem after training, as scripts read it."""
    return {
        **prediction_to_dict(verdict),
        "verdict": verdict.status,
        "proved": verdict.proved,
        "residual": verdict.residual,
        "tolerance": verdict.theorem.tolerance,
    }


def verdicts_to_frame(verdicts: Sequence[Verdict]) -> Any:
    """A pandas DataFrame with a row for every theorem."""
    columns = ("id", "place", "applies", "verdict", "residual", "tolerance", "words")
    rows = [[verdict_to_dict(one)[name] for name in columns] for one in verdicts]
    return optional_import("pandas", "to_frame").DataFrame(rows, columns=list(columns))
