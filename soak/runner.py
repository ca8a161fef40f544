"""Campaigns get equal shares of the time; the end is a table."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from soak.worker import Worker


@dataclass
class Tally:
    """What has become of one campaign so far."""

    campaign: str
    cases: int = 0
    seconds: float = 0.0
    failed: list[int] = field(default_factory=list)
    """The numbers of the cases that failed."""


def repeat(campaign: str, seed: int) -> str:
    """The command that repeats one case."""
    return f"python -m soak {campaign} --seed {seed}"


def soak(campaigns: Sequence[str], first: int, seconds: float) -> list[Tally]:
    """Attack for so long, with the cases `first`, `first` + 1, … of every campaign.

    The next case is always one of the campaign that has had the least time.
    """
    tallies = [Tally(campaign) for campaign in campaigns]
    worker, end = Worker(), time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            tally = min(tallies, key=lambda one: one.seconds)
            _attack(tally, first + tally.cases, worker)
    except KeyboardInterrupt:
        print("soak: interrupted; so far:", file=sys.stderr)
    finally:
        worker.stop()
    return tallies


def _attack(tally: Tally, seed: int, worker: Worker) -> None:
    begun = time.monotonic()
    failure, commands = worker.run(tally.campaign, seed)
    tally.seconds += time.monotonic() - begun
    tally.cases += 1
    if failure is not None:
        tally.failed.append(seed)
        print(f"FAILED {repeat(tally.campaign, seed)}", file=sys.stderr)
        print(f"  {failure}", file=sys.stderr)
        for command in commands[-1:]:
            print(f"  {shorten(command)}", file=sys.stderr, flush=True)


def shorten(command: str) -> str:
    return command if len(command) < 400 else command[:400] + " …"


def table(tallies: Sequence[Tally]) -> str:
    """Campaign, cases, failures, and the command that repeats one, as Markdown."""
    rows = [("campaign", "cases", "failures", "repeat one")]
    rows += [
        (
            one.campaign,
            f"{one.cases:,}",
            f"{len(one.failed):,}",
            f"`{repeat(one.campaign, one.failed[0])}`" if one.failed else "",
        )
        for one in tallies
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def alone(campaign: str, seed: int, keep: str | None) -> int:
    """Run one case in this process and say what was done; the exit code."""
    from pathlib import Path

    from soak.case import run_case

    failure, commands = run_case(campaign, seed, Path(keep) if keep else None)
    for command in commands:
        print(shlex.quote(command) if "\n" in command else command)
    print("FAILED: " + failure if failure else "nothing wrong")
    return int(failure is not None)
