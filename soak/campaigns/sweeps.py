"""Sweeps side by side in one folder, some of them killed: the table is that of an undisturbed one.

Whole process groups, the first process alone, or one of its workers are killed; then folders of
runs are damaged; then the sweep is run to its end. A run whose folder was damaged has another
folder, with a number behind its name.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from soak.case import Case
from soak.processes import Command

PLANS = [
    """
record = ["limit"]
seed = { from = 0, to = 11 }
[data]
name = "orthogonal"
n = 4
d = 2
[setting]
width = 2
init = "balanced:1e-3"
""",
    """
record = ["train_error", "margin", "weights"]
epochs = 20
seed = { from = 0, to = 19 }
[data]
name = "gaussians"
n = [8, 12]
seed = "run"
[setting]
width = [3, 5]
rule = "sgd"
""",
]


@cache
def _undisturbed(plan: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="soak-sweep-") as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(plan)
        case = Case("sweeps", 0, folder)
        case.tacit("sweep", folder / "plan.toml", "--out", folder / "swept", "--workers", 1)
        return (folder / "swept" / "table.csv").read_bytes()


def attack(case: Case) -> None:
    plan = str(case.pick(*PLANS))
    expected = _undisturbed(plan)
    Path("plan.toml").write_text(plan)
    words = ["sweep", "plan.toml", "--out", "swept", "--workers"]
    for _ in range(2):
        commands = [Command(case, [*words, case.pick(1, 2)]) for _ in range(case.pick(2, 3))]
        killed = [_kill(case, command) for command in commands[1:]]
        answers = [command.end() for command in commands]
        for command in commands:
            command.signal(signal.SIGKILL, group=True)  # workers of what was killed
        for answer, dead in zip(answers, [False, *killed], strict=True):
            if not dead:
                case.judge(answer, codes=(0,))
        _damage(case, Path("swept"))
    case.tacit(*words, 1)
    table = re.sub(rb"-\d+$", b"", Path("swept/table.csv").read_bytes(), flags=re.MULTILINE)
    case.need(table == expected, "the table differs from that of an undisturbed sweep")


def _kill(case: Case, command: Command) -> bool:
    """Kill it, all of its group, or one of its workers; whether its own end is then excused."""
    if not command.wait_for(
        float(case.rng.uniform(0.3, 1.6)), seconds=float(case.rng.uniform(1, 6))
    ):
        return False
    how = case.pick("alone", "group", "worker", "interrupt", "no")
    if how in ("alone", "group"):
        command.signal(signal.SIGKILL, group=how == "group")
    elif how == "interrupt":
        command.signal(signal.SIGINT, group=True)
    elif how == "worker":
        workers = _children(command.pid)
        if workers:
            try:
                os.kill(int(case.rng.choice(workers)), signal.SIGKILL)
            except ProcessLookupError:
                pass
    return how in ("alone", "group", "interrupt")


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]


def _damage(case: Case, folder: Path) -> None:
    """Spoil up to three files of finished runs, as a failing disk would."""
    files = sorted(folder.glob("runs/*/*")) or sorted(folder.rglob("run.json"))
    for path in files and case.rng.choice(np.array(files, dtype=object), 3):
        kind = case.rng.integers(4)
        if kind == 0 and path.exists():
            content = path.read_bytes()
            path.write_bytes(content[: int(case.rng.integers(len(content) + 1))])
        elif kind == 1 and path.parent.exists():
            shutil.rmtree(path.parent)
        elif kind == 2:
            path.unlink(missing_ok=True)
