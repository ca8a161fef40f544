"""The work on one pack: make the data, train together, look at each network.

What goes wrong in one run is the reason of that run; the others go on. A run's result is the same
alone and in any pack, to the last bit.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.messages import printable
from tacit.numerics.blas_threads import one_blas_thread
from tacit.sweeps.columns import trains
from tacit.sweeps.data_calls import load_call, need_two_classes
from tacit.sweeps.plan_values import as_keys
from tacit.sweeps.planned_run import DataCall, Pack, PlannedRun, RunResult, Sets
from tacit.sweeps.recording import of_certificate, of_limit, of_measures
from tacit.values import BadInput, Dataset

Weights = dict[str, np.ndarray]
MOST_HELD = 2**26
"""Numbers in the data and weights that are worked on together (0.5 GB)."""
MOST_COMPILED = 64
"""Kinds of compiled programs that a worker keeps; then it forgets all of them."""
LONGEST = 500
"""Characters of a reason."""


def compute(pack: Pack, sets: Sets, threads: int = 1) -> list[RunResult]:
    """The results of the pack's runs, in their order."""
    results: list[RunResult] = []
    jobs: list[_Job] = []
    data = _Data(sets)
    with one_blas_thread():
        for i, run in enumerate(pack, start=1):
            jobs.append(_Job(run))
            with jobs[-1]:
                jobs[-1].prepare(data)
            if data.held > MOST_HELD or i == len(pack):
                results += _results(jobs, threads)
                jobs, data = [], _Data(sets)
    return results


def _results(jobs: Sequence[_Job], threads: int) -> list[RunResult]:
    """Train what is to be trained, and look at every network."""
    from tacit._jax import jax

    groups: dict[Hashable, list[_Job]] = {}
    for job in jobs:
        if job.start:
            groups.setdefault(job.alike, []).append(job)
    for group in groups.values():
        _make_room(group[0].alike)
        _train(group, threads)
    device = jax.devices()[0].device_kind
    results = []
    processor = jax.devices("cpu")[0]  # one network at a time is nothing for a GPU
    for job in jobs:
        if not job.reason:
            with job, jax.default_device(processor):
                job.look()
        recorded = ({}, {}) if job.reason else (job.values, job.arrays)
        results.append(RunResult(*recorded, job.seconds, device, job.reason))
    return results


class _Job:
    """A run on its way; as a context, what is raised becomes the run's reason."""

    def __init__(self, run: PlannedRun) -> None:
        self.run = run
        self.values: dict[str, Any] = {}
        self.arrays: Weights = {}
        self.seconds = 0.0
        self.reason = ""
        self.start: Weights = {}
        """Initial weights; none where nothing is trained."""
        self.end: Weights = {}
        """Trained weights; none where the run diverged."""
        self.batched = False
        """Whether tiny networks are batched: only where any data sets can be pooled, or it would
        depend on the pack."""
        self.alike: Hashable = None
        """A value that is equal for jobs that can be trained together."""

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self.seconds += time.perf_counter() - self._begun
        if not isinstance(error, Exception):
            return False
        self.reason, self.start = one_line(error), {}
        return True

    def prepare(self, data: _Data) -> None:
        """Make the data and the initial weights."""
        from tacit.models.initialisations import initial_weights
        from tacit.training.backends.pools import exact
        from tacit.training.loop import MOST_ENTRIES
        from tacit.training.rules import parse_descent

        run, setting = self.run, self.run.setting
        self.data = points = data.of(run.data)
        if setting.width * max(points.n, points.d) > MOST_ENTRIES:
            raise BadInput(
                f"width {setting.width} with {points.n} points in {points.d} dimensions needs more "
                f"than {MOST_ENTRIES:,} numbers at once"
            )
        if not trains(run.record):
            return
        self.descent = parse_descent(setting, points.n)
        self.start = initial_weights(
            self.descent.model,
            points.d,
            setting.width,
            setting.init,
            run.seed,
            setting.output_weight,
        )
        data.held += sum(array.size for array in self.start.values())
        self.batched = exact(points)
        self.alike = replace(setting, init=None), run.epochs, points.n, points.d, self.batched

    def look(self) -> None:
        """Read off what is recorded."""
        run = self.run
        if trains(run.record):
            self.values |= of_measures(run, self.descent, self.data, self.end)
        if "certificate" in run.record:
            self.values |= of_certificate(run, self.data, self.end)
        if "weights" in run.record:
            self.arrays = dict(self.end)
        if "limit" in run.record:
            values, arrays = of_limit(run, self.data)
            self.values |= values
            if "weights" in run.record:
                self.arrays |= arrays


def _train(jobs: Sequence[_Job], threads: int) -> None:
    """Train them together; one by one if that goes wrong, to find the one it goes wrong with."""
    from tacit.training import train_many
    from tacit.training.stopping import TrainingOutcome

    begun = time.perf_counter()
    run = jobs[0].run
    try:
        start = {part: np.stack([job.start[part] for job in jobs]) for part in jobs[0].start}
        many = train_many(
            [job.data for job in jobs],
            run.setting,
            run.epochs,
            [job.run.seed for job in jobs],
            start_at=start,
            threads=threads,
            batched=jobs[0].batched,
        )
    except Exception as error:
        if len(jobs) == 1:
            jobs[0].reason = one_line(error)
        else:
            for job in jobs:
                _train([job], threads)
        return
    seconds = (time.perf_counter() - begun) / len(jobs)
    for i, job in enumerate(jobs):
        job.seconds += seconds
        job.values |= {"outcome": str(many.outcomes[i]), "epoch": int(many.epochs[i])}
        if many.outcomes[i] is not TrainingOutcome.DIVERGED:
            job.end = {part: array.copy() for part, array in many.member(i).items()}


_compiled: set[Hashable] = set()


def _make_room(kind: Hashable) -> None:
    """Forget compiled code when there is much of it: each kind of network takes 10 MB."""
    from tacit._jax import jax

    if kind not in _compiled and len(_compiled) >= MOST_COMPILED:
        _compiled.clear()
        jax.clear_caches()
    _compiled.add(kind)


class _Data:
    """Data sets, each made once."""

    def __init__(self, sets: Sets) -> None:
        self.held = 0
        """How many numbers are in memory."""
        self._sets: dict[DataCall, Dataset] = dict(sets)
        self._wrong: dict[DataCall, str] = {}

    def of(self, call: DataCall) -> Dataset:
        if call in self._wrong:
            raise BadInput(self._wrong[call])
        if call not in self._sets:
            try:
                data = self._sets[call] = need_two_classes(load_call(call))
                self.held += data.X.size + (data.test.X.size if data.test else 0)
            except Exception as error:
                self._wrong[call] = one_line(error)
                raise
        return self._sets[call]


def one_line(error: BaseException) -> str:
    """What went wrong, without a traceback."""
    text = printable(as_keys(error) if isinstance(error, BadInput) else str(error))
    if not isinstance(error, BadInput) or not text:
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
