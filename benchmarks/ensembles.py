"""Ensembles: `train_many` beside the PyTorch loop and the C kernel, in one process on one core.

Then `train_many` again in a process with all cores. Each workload has a process of its own, so that
start-up and compilation are those of a user.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.text import seconds, table, times

C_BAR = 2.0
"""At most this many times slower than the C kernel."""


@dataclass(frozen=True)
class Timed:
    """Seconds of one workload in one process; None and a reason where something is not there.

    On one core `later`, `kernel` and `loop` are CPU seconds: there others do not disturb them.
    """

    about: str
    bar: float | None
    start_up: float
    """Importing."""
    compilation: float
    """The first call with one epoch, less the fastest of three more."""
    later: float
    kernel: float | None = None
    kernel_note: str = ""
    loop: float | None = None
    loop_note: str = ""


def fastest(
    *works: Callable[[], object], calls: int = 3, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Of each work, the fastest of some calls; in turns, so that a busy moment hits all of them."""
    best = [float("inf")] * len(works)
    for _ in range(calls):
        for i, work in enumerate(works):
            begun = clock()
            work()
            best[i] = min(best[i], clock() - begun)
    return best


def measure(name: str, alone: bool, whole: bool) -> Timed:
    """Time one workload here; `alone` is on one core and with the peers."""
    if alone and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    begun = time.perf_counter()
    from tacit.training import Many, train_many

    start_up = time.perf_counter() - begun
    from benchmarks.works import WORKS

    work = WORKS[name]()

    threads = 1 if alone else None

    def ours(epochs: int = work.epochs) -> Many:
        return train_many(work.data, work.setting, epochs, work.seeds, threads=threads)

    (first,) = fastest(lambda: ours(1), calls=1)
    (again,) = fastest(lambda: ours(1))
    compilation = max(first - again, 0.0)
    if not alone:
        return Timed(work.about, work.bar, start_up, compilation, *fastest(ours))
    works: list[Callable[[], object]] = [ours]
    kernel, loop_scale = None, None
    kernel_note = loop_note = ""
    from benchmarks import kernels

    try:
        kernel = kernels.prepare(work.setting, work.data, work.epochs, work.seeds)
        works.append(kernel)
        kernel_note = f"{kernels.difference(ours().last, kernel()):.0e}"
    except kernels.NoCompiler as missing:
        kernel_note = str(missing)
    try:
        from benchmarks.loops import loop

        many, part = len(work.data), 1.0 if whole else work.part
        some = max(round(part * many), 1)
        epochs = max(round(part * many / some * work.epochs), 1)
        loop_scale = many / some * work.epochs / epochs
        loop(work, 0, 1)  # PyTorch imports much of itself when it is first used
        works.append(lambda: [loop(work, seed, epochs) for seed in range(some)])
    except ImportError as missing:
        loop_note = f"PyTorch is not installed ({missing})"
    spent = iter(fastest(*works, calls=1 if whole else 3, clock=time.process_time))
    return Timed(
        work.about,
        work.bar,
        start_up,
        compilation,
        later=next(spent),
        kernel=next(spent) if kernel else None,
        kernel_note=kernel_note,
        loop=next(spent) * loop_scale if loop_scale else None,
        loop_note=loop_note,
    )


def in_a_process(name: str, alone: bool, whole: bool) -> Timed | str:
    """The same in a new process; a sentence if it failed."""
    command = [sys.executable, "-m", "benchmarks.ensembles", name]
    command += ["alone"] * alone + ["whole"] * whole
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    if ran.returncode:
        return f"failed: {(ran.stderr.strip().splitlines() or ['no message'])[-1]}"
    return Timed(**json.loads(ran.stdout.splitlines()[-1]))


HEAD = (
    "work", "PyTorch loop", "C kernel", "ours, one core", "all cores", "one core over PyTorch",
    "all cores over PyTorch", "bar", "one core over C", "bar", "differs from C", "start-up",
    "compilation",
)  # fmt: skip


def section(whole: bool, say: Callable[[str], None]) -> str:
    """All workloads as a table."""
    from benchmarks.works import WORKS

    rows, notes = [], []
    for name in WORKS:
        say(f"ensembles: {name}")
        one, all_cores = in_a_process(name, True, whole), in_a_process(name, False, whole)
        if isinstance(one, str) or isinstance(all_cores, str):
            notes.append(f"{name}: {one if isinstance(one, str) else all_cores}.")
            continue
        over_loop = one.loop / one.later if one.loop is not None else None
        over_kernel = one.later / one.kernel if one.kernel is not None else None
        rows.append(
            (
                f"{name}: {one.about}",
                seconds(one.loop),
                seconds(one.kernel),
                seconds(one.later),
                seconds(all_cores.later),
                times(over_loop),
                times(one.loop / all_cores.later if one.loop is not None else None),
                f"≥ {one.bar:,.0f}×" if one.bar else "",
                times(over_kernel),
                f"≤ {C_BAR:.0f}×",
                "–" if one.kernel is None else one.kernel_note,
                seconds(all_cores.start_up),
                seconds(all_cores.compilation),
            )
        )
        notes += [one.kernel_note] * (one.kernel is None) + [one.loop_note] * (one.loop is None)
    parts = "all of it, once" if whole else "a part of it, scaled (`--whole` runs all of it)"
    about = (
        "PyTorch, C and one core: CPU seconds of one process on one core, float64, in turns, the "
        f"fastest of {1 if whole else 3}; the PyTorch loop is run for {parts}. All cores, "
        'start-up and compilation: by the clock, in another process. "over C" is our time over '
        "that of `kernels.c` (one thread, same initial weights, same orders of examples, which it "
        'is given ready-made); "differs" is the largest difference of a weight at the end, '
        "relative to the largest weight. Start-up is importing JAX and tacit; compilation is the "
        "first call less a later one, with one epoch. k pairs of filters are 2k channels "
        "(brutzkus2019)."
    )
    told = "".join(f"\n\n{note}" for note in dict.fromkeys(notes))
    return f"## Ensembles\n\n{about}\n\n{table(HEAD, rows)}{told}"


if __name__ == "__main__":
    print(json.dumps(asdict(measure(sys.argv[1], "alone" in sys.argv, "whole" in sys.argv))))
