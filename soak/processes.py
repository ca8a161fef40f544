"""Commands as processes of their own, which can be interrupted and killed."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from soak.case import Answer, Case

AWAKE = 0.12
"""CPU seconds after which a process certainly runs our code, and not Python's own start."""
PATIENCE = 120.0
"""Seconds that a command may take to end."""


class Command:
    """A running command, in a process group of its own."""

    def __init__(self, case: Case, words: Sequence[object]) -> None:
        tokens = [str(word) for word in words]
        case.commands.append(shlex.join(["tacit", *tokens]))
        self.running = subprocess.Popen(
            [sys.executable, "-m", "tacit", *tokens],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self.running.pid

    def wait_for(self, cpu: float, seconds: float) -> bool:
        """Wait until it has used that much CPU time, or so many seconds; whether it still runs."""
        end = time.monotonic() + seconds
        while self.running.poll() is None:
            used = _cpu_seconds(self.pid)
            if used >= cpu or (time.monotonic() > end and used >= AWAKE):
                return True
            time.sleep(0.003)
        return False

    def signal(self, number: int, group: bool = False) -> None:
        """Send a signal to it, or as a terminal does to its whole group."""
        try:
            (os.killpg if group else os.kill)(self.pid, number)
        except ProcessLookupError:
            pass

    def end(self) -> Answer:
        """Wait for it; what takes too long is killed and has the exit code −9."""
        try:
            out, err = self.running.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL, group=True)
            out, err = self.running.communicate()
        return Answer(self.running.returncode, out, err)


def _cpu_seconds(pid: int) -> float:
    """Where there is no /proc, as if it had used enough."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return AWAKE
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
