"""Work that processes of `Cores` do in tests; they import it by name."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from tacit.sweeps.planned_run import Pack, RunResult, Sets

POISON = 3
"""The seed of runs that end their process, or fail."""


def echo(pack: Pack, sets: Sets, threads: int) -> list[RunResult]:
    """What the process sees."""
    print("this must not reach standard output")
    about = {
        "pid": os.getpid(),
        "threads": threads,
        "sets": [call.text for call in sets],
        "variables": [os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "NPROC")],
    }
    return [RunResult({"seed": run.seed, **about}) for run in pack]


def poison(pack: Pack, sets: Sets, threads: int) -> list[RunResult]:
    """Ends its process on one run."""
    if any(run.seed == POISON for run in pack):
        os._exit(7)
    return echo(pack, sets, threads)


def clumsy(pack: Pack, sets: Sets, threads: int) -> list[RunResult]:
    if any(run.seed == POISON for run in pack):
        raise ZeroDivisionError("by zero\nagain")
    return echo(pack, sets, threads)


def endless(pack: Pack, sets: Sets, threads: int) -> list[RunResult]:
    """Busy until it is killed; the folder named by the data gets a file with its number."""
    with open(os.path.join(pack[0].data.text, f"{os.getpid()}"), "x"):
        pass
    while True:
        time.monotonic()


def real_but_poison(pack: Pack, sets: Sets, threads: int) -> Sequence[RunResult]:
    from tacit.sweeps.computation import compute

    if any(run.seed == POISON for run in pack):
        os._exit(7)
    return compute(pack, sets, threads)
