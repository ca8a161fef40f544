"""Work that processes of `Cores` do in tests; they import it by name."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from tacit.sweeps.run import Pack, Result, Sets

POISON = 3
"""The seed of runs that end their process, or fail."""


def echo(pack: Pack, sets: Sets, threads: int) -> list[Result]:
    """What the process sees."""
    print("this must not reach standard output")
    about = {
        "pid": os.getpid(),
        "threads": threads,
        "sets": [call.text for call in sets],
        "variables": [os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "NPROC")],
    }
    return [Result({"seed": run.seed, **about}) for run in pack]


def poison(pack: Pack, sets: Sets, threads: int) -> list[Result]:
    """Ends its process on one run."""
    if any(run.seed == POISON for run in pack):
        os._exit(7)
    return echo(pack, sets, threads)


def clumsy(pack: Pack, sets: Sets, threads: int) -> list[Result]:
    if any(run.seed == POISON for run in pack):
        raise ZeroDivisionError("by zero\nagain")
    return echo(pack, sets, threads)


def endless(pack: Pack, sets: Sets, threads: int) -> list[Result]:
    """Busy until it is killed; the folder named by the data gets a file with its number."""
    with open(os.path.join(pack[0].data.text, f"{os.getpid()}"), "x"):
        pass
    while True:
        time.monotonic()


def real_but_poison(pack: Pack, sets: Sets, threads: int) -> Sequence[Result]:
    from tacit.sweeps.work import work

    if any(run.seed == POISON for run in pack):
        os._exit(7)
    return work(pack, sets, threads)
