"""Runs are put into packs: those that the same compiled code trains, as many as go together."""

import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace

from tacit.sweeps.planned_run import Pack, PlannedRun

SLOW = 4
"""The most runs in a pack where each has its own limit or certificate: these take seconds each, and
a pack is kept only when all of it is done."""

_SEED = re.compile(r"(?<=[:,])seed=[^,]*")


def packs(runs: Sequence[PlannedRun], most: int, shares: int = 1) -> list[Pack]:
    """Every run in one pack of at most `most`; at least `shares` packs where there are enough runs.

    Runs keep their order within a pack. Packs with the same compiled code follow each other.
    """
    most = max(1, min(most, math.ceil(len(runs) / max(1, shares))))
    groups: dict[Hashable, list[PlannedRun]] = {}
    for run in runs:
        groups.setdefault(alike(run), []).append(run)
    cut: list[Pack] = []
    for group in groups.values():
        slow = {"limit", "certificate"} & set(group[0].record)
        pieces = math.ceil(len(group) / (min(most, SLOW) if slow else most))
        cuts = [len(group) * i // pieces for i in range(pieces + 1)]
        cut += [tuple(group[a:b]) for a, b in zip(cuts, cuts[1:], strict=False)]
    return cut


def alike(run: PlannedRun) -> Hashable:
    """A key that runs trained together share: they differ in data, initial weights and seed.

    The call of the data without its seed stands for the shape of the points.
    """
    data = replace(run.data, text=_SEED.sub("", run.data.text))
    return data, replace(run.setting, init=None), run.epochs, run.record, run.seconds
