"""A dask cluster as the workers of a sweep: whatever dies there, no run is lost or kept twice."""

from __future__ import annotations

import contextlib
import itertools
import logging
import queue
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tacit.messages import count, printable
from tacit.sweeps.cluster import remote
from tacit.sweeps.cluster.address import Place, Tls, scheduler
from tacit.sweeps.planned_run import DataCall, Pack, RunResult, Sets
from tacit.sweeps.workers import Crashed
from tacit.values import BadInput

CONNECT = 8.0
"""Seconds in which a scheduler has to answer."""
PATIENCE = 60.0
"""Seconds in which a scheduler or a worker has to come back."""
LOOK = 1.0
"""Seconds between two looks at the workers."""
MOMENT = 3.0
"""Seconds in which a worker that has ended is started again by its nanny."""


class Lost(BadInput):
    """The cluster is gone; what is done is kept, and the same command goes on."""


def connect(
    address: str,
    tls: Tls | None = None,
    slurm: Mapping[str, Any] | None = None,
    tell: Callable[[str], None] = lambda line: None,
    patience: float = PATIENCE,
) -> Cluster:
    """The cluster at an address, with at least one worker; `tell` gets a line when we wait.

    We only connect outwards, except with the address `slurm`: then the scheduler is ours, and is
    bound to the one interface that the table [slurm] names.
    """
    try:
        import distributed  # noqa: F401

        if address == "slurm":
            with _our_ctrl_c():
                import dask_jobqueue  # noqa: F401
    except ImportError as error:
        raise BadInput(
            f"a cluster needs {error.name}; install it with: pip install 'tacit[cluster]'"
        ) from None
    if address != "slurm":
        return Cluster(lambda: scheduler(address, tls), tell, patience)
    if tls is not None:
        raise BadInput(
            "`cluster='slurm'` makes certificates of its own; leave "
            "`tls_ca=FILE` and the others out"
        )
    from tacit.sweeps.cluster.slurm import Jobs

    return Cluster(lambda: Jobs(slurm or {}), tell, patience)


class Cluster:
    """The `Workers` of a sweep by way of a dask scheduler."""

    pack = 64
    at_once = 2
    crashes = 1
    """One is enough: by the time dask gives a pack up, it has tried several workers."""

    def __init__(
        self, find: Callable[[], Place], tell: Callable[[str], None], patience: float
    ) -> None:
        self._tell, self._patience = tell, patience
        self._ours = remote.versions()
        self._name, self._numbers = f"tacit-{uuid.uuid4().hex[:12]}", itertools.count()
        self._hands: dict[int, tuple[Pack, Sets]] = {}
        """What the cluster has to do."""
        self._futures: dict[int, Any] = {}
        """What it knows of that."""
        self._kept: dict[DataCall, Any] = {}
        self._ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._suspects: list[int] = []
        self._alone: int | None = None
        self._known: set[str] = set()
        """Workers that are like us."""
        self._looked = 0.0
        self._bare: float | None = None
        """The time since which there are no workers."""
        self._told = False
        self._client: Any = None
        self._leaving = contextlib.ExitStack()
        try:
            self._leaving.enter_context(_quiet())
            self._place = place = find()
            self._leaving.callback(place.close)
            self._leaving.callback(self._leave)
            try:
                self._client = place.client(CONNECT)
            except OSError as error:
                raise BadInput(f"no dask scheduler at {place.address}: {error}") from None
            self._meet()
        except BaseException:
            self.close()
            raise

    def start(self, pack: Pack, sets: Sets) -> None:
        """Give a pack to the cluster."""
        self._hands[next(self._numbers)] = pack, sets
        self._feed()

    def wait(self) -> tuple[Pack, Sequence[RunResult] | Crashed]:
        """The next pack that has ended; BadInput when the cluster is gone or unlike us."""
        while True:
            self._feed()
            try:
                number, future = self._ended.get(timeout=LOOK)
            except queue.Empty:
                continue
            if self._futures.get(number) is not future:
                continue  # it belonged to a scheduler that is no more
            outcome = self._outcome(number, future)
            if outcome is not None:
                del self._futures[number]
                return self._hands.pop(number)[0], outcome

    def close(self) -> None:
        """Leave the cluster, which drops what it has not done for us; its workers stay."""
        self._leaving.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _outcome(self, number: int, future: Any) -> Sequence[RunResult] | Crashed | None:
        """What a pack gave; None when it has to be done again."""
        from distributed import CancelledError, KilledWorker

        try:
            answer = future.result(timeout=self._patience)
            return Crashed(printable(answer)) if isinstance(answer, str) else answer
        except KilledWorker as error:
            data = error.task != future.key
            if data:
                self._kept.clear()
            if (data or len(self._hands[number][0]) == 1) and self._alone != number:
                # dask blames all that its worker had in hand: once more, with nothing beside it.
                self._suspects.append(number)
                del self._futures[number]
                return None
            deaths = count(error.allowed_failures + 1, "worker")
            return Crashed(f"{deaths} of the cluster ended while working on it")
        except TimeoutError:  # its worker went with the result; dask has it done again
            self._ended.put((number, future))
            return None
        except (CancelledError, OSError):
            self._again()
            return None
        except remote.Differs as error:
            raise BadInput(f"{self._place.address}: {error}") from None
        except Exception as error:
            return Crashed(printable(f"{type(error).__name__}: {error}"))

    def _feed(self) -> None:
        """Hand over what the cluster does not know of; a suspect while there is nothing else."""
        if time.monotonic() > self._looked + LOOK:
            self._look()
        if self._alone in self._hands:
            return
        self._alone = None
        if not self._suspects:
            for number in [number for number in self._hands if number not in self._futures]:
                self._submit(number)
        elif not self._futures:
            self._alone = self._suspects.pop()
            self._submit(self._alone)

    def _submit(self, number: int) -> None:
        import dask
        from distributed.client import ClosedClientError

        pack, sets = self._hands[number]
        calls = tuple(dict.fromkeys(run.data for run in pack if run.data in sets))
        quietly = {"distributed.admin.large-graph-warning-threshold": 1 << 60}
        try:
            for call in calls:
                if call not in self._kept:
                    with dask.config.set(quietly):  # large data is sent in one piece, once
                        self._kept[call] = self._client.submit(remote.keep, sets[call], pure=False)
            data = [self._kept[call] for call in calls]
            key = f"{self._name}-{next(self._numbers)}"  # never one that dask has an answer to
            future = self._client.submit(
                remote.task, self._ours, pack, calls, *data, key=key, pure=False, retries=0
            )
        except (OSError, ClosedClientError):
            self._again()
            return
        self._futures[number] = future
        future.add_done_callback(lambda ended: self._ended.put((number, ended)))

    def _look(self) -> None:
        """Follow workers that join and leave."""
        self._looked = time.monotonic()
        self._place.look()
        try:
            workers = self._client.nthreads() if self._client.status == "running" else None
            line = remote.compare(self._client, self._ours, set(workers or ()), self._known)
            if line:
                raise BadInput(f"{self._place.address}: {line}")
        except OSError:
            workers = None
        self._known &= set(workers or ())
        if workers is None:
            self._again()
        elif workers:
            self._bare = None
            self.at_once = 2 * max(sum(workers.values()), self._place.expected) + 2
        else:
            self._miss()

    def _miss(self) -> None:
        """There are no workers: say so unless it is for a moment only, and give up in time."""
        if self._bare is None:
            self._bare, self._told = self._looked, False
        since, place = self._looked - self._bare, self._place
        if not self._told and (place.patient or since >= min(MOMENT, self._patience / 2)):
            self._told = True
            wait = "" if place.patient else f"waiting up to {self._patience:g} s; "
            self._tell(f"no workers at {place.address}; {wait}{place.advice()}")
        if since > self._patience and not place.patient:
            raise Lost(f"no workers at {place.address} for {self._patience:g} s; {place.advice()}")

    def _meet(self) -> None:
        """Wait until the workers that were asked for have come."""
        self._bare = None
        self._known.clear()
        self._look()
        while self._bare is not None:
            time.sleep(LOOK / 4)
            self._look()

    def _again(self) -> None:
        """The scheduler was lost with all that it knew: find it, and tell it everything anew."""
        address, until = self._place.address, time.monotonic() + self._patience
        self._tell(f"lost the scheduler at {address}; waiting up to {self._patience:g} s for it")
        self._leave()
        self._futures.clear()
        self._kept.clear()
        self._suspects.clear()
        self._alone = None
        while self._client is None:
            try:
                self._client = self._place.client(min(CONNECT, self._patience))
            except OSError as error:
                if time.monotonic() > until:
                    raise Lost(
                        f"lost the scheduler at {address} ({error}); start it and its workers "
                        "again, then the same command goes on"
                    ) from None
        self._tell(f"the scheduler at {address} is there again")
        self._meet()

    def _leave(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):  # dask raises of many kinds when its peer is dead
                client.close(timeout=5)


@contextlib.contextmanager
def _our_ctrl_c() -> Iterator[None]:
    """Importing dask_jobqueue sets a handler with which Ctrl-C is a silent exit with code 0."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """We say ourselves what happens, in one line; dask would log it at length."""
    names = ("distributed", "distributed.client", "tornado.application", "asyncio")
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
