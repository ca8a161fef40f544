"""The cores of this machine at work: one process each, with a pipe of its own.

So it is known exactly who held which pack when a process dies, and none waits for one that is gone.
With a GPU there is one process, which has all of it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from tacit.interrupts import deaf_children
from tacit.sweeps.planned_run import DataCall, Pack, RunResult, Sets
from tacit.sweeps.workers import CRASHES, Crashed
from tacit.values import BadInput

CPU_PACK, GPU_PACK = 64, 4096
"""The most runs in a pack."""
STARTS = 3
"""Processes in a row that end before they are ready; then there is no point in trying."""
ONE_THREAD = {
    name: "1"
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NPROC")  # XLA: last
}

Compute = Callable[[Pack, Sets, int], list[RunResult]]


def cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    ready: bool = False
    pack: Pack | None = None
    has: set[DataCall] = field(default_factory=set)
    """Data that it was given already."""

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


class Cores:
    """One process per core, or one for the GPU; they start when there is something to do."""

    crashes = CRASHES

    def __init__(self, workers: int | None = None, compute: Compute | None = None) -> None:
        if workers is not None and workers < 1:
            raise BadInput(f"`workers={workers}` must be at least 1")
        self._most = workers or cores()
        self._compute = compute
        self._workers: list[_Worker] = []
        self._packs: deque[tuple[Pack, Sets]] = deque()
        self._ended: deque[tuple[Pack, Sequence[RunResult] | Crashed]] = deque()
        self._stillborn = 0

    @cached_property
    def gpu(self) -> bool:
        """Whether the processes find a GPU; asks one."""
        while True:
            if not self._workers:
                self._spawn()
            said = self._listen()
            if isinstance(said, str):
                return said == "gpu"

    @cached_property
    def pack(self) -> int:
        return GPU_PACK if self.gpu else CPU_PACK

    @cached_property
    def at_once(self) -> int:
        """Twice the processes: whoever has ended finds the next pack waiting."""
        return 2 * self._many

    @property
    def _many(self) -> int:
        return 1 if self.gpu else self._most

    def start(self, pack: Pack, sets: Sets) -> None:
        self._packs.append((pack, sets))
        self._give()

    def wait(self) -> tuple[Pack, Sequence[RunResult] | Crashed]:
        while not self._ended:
            self._give()
            if not self._workers:
                raise RuntimeError("no pack was started")
            self._listen()
        return self._ended.popleft()

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._packs.clear()
        self._ended.clear()

    def __enter__(self) -> Cores:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _give(self) -> None:
        """Packs to those who have none; more processes if there are still packs."""
        for worker in list(self._workers):
            if worker.ready and worker.pack is None and self._packs:
                pack, sets = self._packs.popleft()
                new = {run.data: sets[run.data] for run in pack if run.data in sets}
                new = {call: data for call, data in new.items() if call not in worker.has}
                worker.has |= set(new)
                worker.pack = pack
                threads = cores() if self.gpu else 1
                with contextlib.suppress(OSError):  # it has died: its sentinel will tell
                    worker.pipe.send((pack, new, threads))
        starting = sum(not worker.ready for worker in self._workers)
        while len(self._packs) > starting and len(self._workers) < self._many:
            self._spawn()
            starting += 1

    def _listen(self) -> str | None:
        """Wait for news of the processes; the backend that one of them found, if it is that."""
        said = None
        news = wait([w.pipe for w in self._workers] + [w.process.sentinel for w in self._workers])
        for worker in list(self._workers):
            if worker.pipe in news or worker.process.sentinel in news:
                try:
                    message = worker.pipe.recv() if worker.pipe.poll() else None
                except (EOFError, OSError):
                    message = None
                if message is None:
                    self._bury(worker)
                elif not worker.ready:
                    worker.ready, said, self._stillborn = True, message, 0
                else:
                    assert worker.pack is not None
                    self._ended.append((worker.pack, message))
                    worker.pack = None
        if self._ended:
            self._give()  # before the results are written: nobody is idle meanwhile
        return said

    def _bury(self, worker: _Worker) -> None:
        worker.process.join(1)  # its pipe ends a moment before itself
        code = worker.process.exitcode
        worker.end()
        self._workers.remove(worker)  # now: if this is interrupted, `close` waits for its end
        how = f"ended with exit code {code}"
        if code is None or code < 0:
            name = _name(-(code or -9))
            how = f"was killed by {name}{' (out of memory?)' if name == 'SIGKILL' else ''}"
        if worker.pack is not None:
            self._ended.append((worker.pack, Crashed(f"its worker {how}")))
        elif not worker.ready:
            self._stillborn += 1
            if self._stillborn == STARTS:
                raise BadInput(f"no process for the work can be started: each {how}")

    def _spawn(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._compute), daemon=True)
        with deaf_children(), _environment(ONE_THREAD), _without_main():
            process.start()
            self._workers.append(_Worker(process, ours))
        theirs.close()


def _serve(pipe: Connection, compute: Compute | None) -> None:
    """What a process does: packs in, results out, until whoever started it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # standard output belongs to the command
    from tacit._jax import jax
    from tacit.sweeps import computation

    compute = compute or computation.compute
    known: dict[DataCall, Any] = {}
    with contextlib.suppress(EOFError, OSError):
        pipe.send(jax.default_backend())
        while True:
            pack, new, threads = pipe.recv()
            known |= new
            try:
                answer: list[RunResult] | Crashed = compute(pack, known, threads)
            except Exception as error:
                answer = Crashed(f"its worker met {type(error).__name__}: {str(error)[:300]}")
            pipe.send(answer)
    sys.exit(0)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """These variables for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Processes that are started meanwhile do not import the script or notebook that sweeps."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
