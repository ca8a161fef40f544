"""A process that runs one case after the other, so that a hang or a crash ends no more than it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from multiprocessing.connection import Connection

from soak.case import Outcome, run_case

MOST_SECONDS = 600.0
"""A case that takes longer hangs; the slowest take about a minute on an idle machine."""
MOST_CASES = 200
"""Cases of one process; what JAX has compiled for each of them stays in memory."""


def _serve(pipe: Connection, folder: str) -> None:
    os.setpgid(0, 0)  # Ctrl-C is for the runner
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    signal.signal(signal.SIGINT, signal.default_int_handler)
    while True:
        try:
            campaign, seed = pipe.recv()
        except EOFError:
            return
        pipe.send(run_case(campaign, seed))


class Worker:
    """Runs cases; the process behind it is a new one after a hang, a crash, or many cases."""

    def __init__(self) -> None:
        self.process: multiprocessing.process.BaseProcess | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="soak-")
        """Temporary files; what a killed process leaves behind is there too."""

    def run(self, campaign: str, seed: int) -> Outcome:
        if self.process is None:
            self._start()
        assert self.process is not None
        self.pipe.send((campaign, seed))
        self.cases += 1
        try:
            if self.pipe.poll(MOST_SECONDS):
                outcome = self.pipe.recv()
            else:
                outcome = Outcome(f"not done after {MOST_SECONDS:g} s", [])
                self.stop()
        except EOFError:
            self.process.join()
            outcome = Outcome(f"the process died (exit code {self.process.exitcode})", [])
            self.process = None
        if self.cases >= MOST_CASES:
            self.stop()
        return outcome

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.folder.name))
        self.process.start()
        theirs.close()
        self.cases = 0

    def stop(self) -> None:
        """End the process and what it has started."""
        if self.process is None:
            return
        pid = self.process.pid
        assert pid is not None
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:  # it has not become a group yet
            self.process.kill()
        self.process.join()
        self.process = None
