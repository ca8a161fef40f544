"""One case of a campaign: its randomness, its folder, and what counts as a failure."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import tempfile
import traceback
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python does not show unless it is asked to."""


class Failure(Exception):
    """What tacit did wrong, in words."""


class Answer(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


@dataclass
class Case:
    """A case is its campaign and its number; the same case is always the same attack."""

    campaign: str
    seed: int
    folder: Path
    commands: list[str] = field(default_factory=list)
    """The commands that were run, as one would type them."""

    @cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng([zlib.crc32(self.campaign.encode()), self.seed])

    def pick(self, *values: Any) -> Any:
        """One of the values."""
        return values[int(self.rng.integers(len(values)))]

    def need(self, condition: object, what: str) -> None:
        """Fail unless the condition holds."""
        if not condition:
            raise Failure(what)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Where tacit runs: a warning that Python would show is a failure."""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for kind in UNSEEN:
                warnings.simplefilter("ignore", kind)
            yield
        for one in warned:
            what = f"{one.category.__name__}: {one.message}"
            raise Failure(f"{what} ({one.filename}:{one.lineno})")

    def tacit(self, *words: object, codes: tuple[int, ...] = (0,)) -> Answer:
        """Run a command in this process; it must end with one of the exit codes, in good order."""
        from tacit.cli import main

        tokens = [str(word) for word in words]
        self.commands.append(shlex.join(["tacit", *tokens]))
        out, err = io.StringIO(), io.StringIO()
        with self.watched(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(tokens)
        answer = Answer(code, out.getvalue(), err.getvalue())
        self.judge(answer, codes)
        return answer

    def judge(self, answer: Answer, codes: tuple[int, ...]) -> None:
        """Fail for another exit code, a traceback, a warning, or bad input in several lines."""
        said = answer.err.strip()
        last = said.splitlines()[-1] if said else ""
        self.need(answer.code in codes, f"exit code {answer.code}, not {codes}: {last}")
        for word in ("Traceback", "Warning:", "Exception ignored"):
            self.need(word not in said, f"{word} on standard error: {said[-300:]}")
        if answer.code == 2:
            self.need(last.startswith("tacit: "), f"bad input without a reason: {said[-300:]}")

    def as_json(self, *words: object, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
        """The JSON that a command prints; NaN and infinities are not JSON."""
        answer = self.tacit(*words, "--json", codes=codes)
        return json.loads(answer.out, parse_constant=_no_constant)


def _no_constant(token: str) -> Any:
    raise Failure(f"{token} in the JSON")


class Outcome(NamedTuple):
    """How a case went."""

    failure: str | None
    commands: list[str]


def run_case(campaign: str, seed: int, keep: Path | None = None) -> Outcome:
    """Run one case in a folder of its own, which is empty before and gone afterwards."""
    attack = import_module(f"soak.campaigns.{campaign}").attack
    failure = None
    with _folder(keep) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # our own checks may overflow
        case = Case(campaign, seed, folder)
        try:
            attack(case)
        except Failure as error:
            failure = str(error)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            failure = f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"
    return Outcome(failure, case.commands)


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    before = Path.cwd()
    with contextlib.ExitStack() as stack:
        name = keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-"))
        folder = Path(name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)
        stack.callback(os.chdir, before)
        yield folder
