"""The loop of a sweep: workers get what is missing, and every result is kept at once."""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tacit.messages import printable
from tacit.sweeps.packs import packs
from tacit.sweeps.plan import Plan
from tacit.sweeps.planned_run import Pack, PlannedRun, RunResult
from tacit.sweeps.store import Store
from tacit.sweeps.workers import Crashed, Workers

Progress = Callable[[int, int, str], None]
"""Called with how many runs are there, of how many, and a few words."""


@dataclass(frozen=True, eq=False)
class Completed:
    """A sweep at its end: done + failed + cached = runs."""

    results: Mapping[str, RunResult]
    """The results by the keys of runs, without arrays."""
    runs: int
    """Points of the plan."""
    done: int
    """Those that were done now."""
    failed: int
    """Those that failed, now or earlier."""
    cached: int
    """Those that were there already, or that another sweep did meanwhile."""

    @property
    def reasons(self) -> list[str]:
        """Why runs failed, each reason once."""
        return list(dict.fromkeys(one.reason for one in self.results.values() if one.failed))


def complete(
    plan: Plan,
    store: Store,
    workers: Workers,
    progress: Progress = lambda there, of, words: None,
    retry: bool = False,
) -> Completed:
    """Do what is missing; with `retry` also what has failed.

    Whatever ends it, the runs that were finished are in the store, and the next sweep goes on with
    the rest. Several sweeps may work in one folder at the same time: the second begins at the other
    end.
    """
    keys = [point.run.key for point in plan.points]
    runs = {key: point.run for key, point in zip(keys, plan.points, strict=True)}
    results = store.find(runs)
    if retry:
        results = {key: result for key, result in results.items() if not result.failed}
    loop = _Loop(plan, store, workers, progress, retry, runs, results)
    loop.tell()
    missing = {key: run for key, run in runs.items() if key not in results}
    if missing:
        with store.working() as first:
            todo = packs(list(missing.values()), workers.pack, workers.at_once)
            loop.others = not first
            loop.run(todo if first else todo[::-1])
    failed = sum(results[key].failed for key in keys)
    done = sum(key in loop.now and not results[key].failed for key in keys)
    return Completed(results, len(keys), done, failed, len(keys) - done - failed)


class _Loop:
    """What is there, what has failed, and the workers that do the rest."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        workers: Workers,
        progress: Progress,
        retry: bool,
        runs: dict[str, PlannedRun],
        results: dict[str, RunResult],
    ) -> None:
        self.store, self.workers, self.retry, self.results = store, workers, retry, results
        self.data, self.of, self.progress = plan.sets, len(runs), progress
        self.others = False
        """Whether another sweep is at work in the folder."""
        self.now: set[str] = set()
        """Runs that were done here."""
        self.failed = {key for key, result in results.items() if result.failed}
        self.crashes: Counter[str] = Counter()

    def run(self, ready: Sequence[Pack]) -> None:
        todo, given = deque(ready), 0
        while todo or given:
            while todo and given < self.workers.at_once:
                if pack := self._missing(todo.popleft()):
                    self.workers.start(pack, self.data)
                    given += 1
                self.tell()
            if given:
                pack, answer = self.workers.wait()
                given -= 1
                if isinstance(answer, Crashed):
                    todo.extend(self._again(pack, answer))
                else:
                    self.store.keep(zip(pack, answer, strict=True), self._kept)

    def _missing(self, pack: Pack) -> Pack:
        """What another sweep has not done meanwhile."""
        for run in pack:
            key = run.key
            there = self.store.look(key)
            if there is not None and not (self.retry and there.failed):
                self._note(key, there)
        return tuple(run for run in pack if run.key not in self.results)

    def _again(self, pack: Pack, crash: Crashed) -> list[Pack]:
        """A pack whose worker has died is tried run by run, and a run only so often."""
        if len(pack) > 1:
            return [(run,) for run in pack]
        (run,) = pack
        self.crashes[run.key] += 1
        times = self.crashes[run.key]
        if times < self.workers.crashes:
            return [pack]
        often = f", {times} times" if times > 1 else ""
        failure = RunResult({}, reason=printable(f"{crash}{often}"))
        self.store.keep([(run, failure)], self._kept)
        return []

    def _kept(self, run: PlannedRun, result: RunResult) -> None:
        key = run.key
        self._note(key, result)
        self.now.add(key)
        self.tell()

    def _note(self, key: str, result: RunResult) -> None:
        self.results[key] = result
        if result.failed:
            self.failed.add(key)

    def tell(self) -> None:
        words = [f"{len(self.failed)} failed"] if self.failed else []
        words += ["another sweep is at work here too"] if self.others else []
        self.progress(len(self.results), self.of, ", ".join(words))
