"""Interrupt commands at random moments: `python tests/interrupt_trials.py TRIALS SEED COMMAND …`.

One process imports everything once, loads what Numba compiled, and forks for every trial, so that a
trial costs no more than the part of the command that runs; it has a single thread, or what others
hold while it forks would never be released. It prints a line of JSON for each trial that went
wrong, and a line with the counts for each command. With `--from-the-start` every trial is a process
of its own, which is interrupted while it imports, too.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

PLAN = """
epochs = 50
record = ["margin"]
seed = [0, 1]
[data]
name = "gaussians"
n = 10
"""

COMMANDS = {
    "check": "check gaussians:n=300,d=10",
    "predict": "predict orthogonal:n=12,d=2",
    "limit": "limit gaussians:n=8,d=2 --width 8 --out o",
    "explain": "explain xor --width 4 --only lyu2021:thm3.1 --out o",
    "certify": "certify ../run",
    "train": "train xor --width 8 --epochs 300 --out o",
    "optimum": "optimum gaussians:n=60,d=4 --proof p",
    "sweep": "sweep ../plan.toml --workers 1 --out o",
    "verify": "verify ../proof.json",
    "reproduce": "reproduce wang2022:fig1 --quick --out o",
    "list": "list theorems",
}
WAIT = 120.0
"""Seconds after which a command is taken to hang."""


NEEDED = {
    "certify": "train gaussians:n=60,d=6 --width 30 --epochs 300 --out run",
    "verify": "optimum gaussians:n=40,d=4,seed=1 --proof proof.json",
}
"""What has to be made first."""


def prepare(folder: Path, commands: list[str]) -> None:
    """What the commands read."""
    (folder / "plan.toml").write_text(PLAN)
    for words in (NEEDED[name] for name in commands if name in NEEDED):
        done = subprocess.run(
            [sys.executable, "-m", "tacit", *words.split()], cwd=folder, capture_output=True
        )
        assert done.returncode == 0, done.stderr


def begin(words: list[str], folder: Path, from_the_start: bool) -> int:
    """A child that runs the command in the folder, its output in files."""
    if from_the_start:
        with open(folder / ".out", "wb") as out, open(folder / ".err", "wb") as err:
            command = [sys.executable, "-m", "tacit", *words]
            child = subprocess.Popen(
                command, cwd=folder, stdout=out, stderr=err, start_new_session=True
            ).pid
        await_handlers(child)
        return child
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # not while Python itself forks
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return child
    try:
        os.setsid()
        os.chdir(folder)
        for number, name in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), number)
        import faulthandler

        faulthandler.enable()
        from tacit.__main__ import main
        from tacit.interrupts import orderly

        sys.argv, raised = ["tacit", *words], watch()
        with orderly():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        if raised and code != 130:
            os.write(2, f"swallowed: {raised}".encode())
    except BaseException as error:
        os.write(2, f"Traceback: escaped: {error!r}".encode())
        code = 99
    try:
        sys.stdout.flush()
    finally:
        os._exit(code)


def await_handlers(child: int) -> None:
    """Until then it is the interpreter that starts, without a line of ours.

    How long that takes depends on how busy the machine is. Python leaves SIGTERM alone.
    """
    status = Path(f"/proc/{child}/status")
    if not status.exists():  # another system
        return time.sleep(0.15)
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        caught = int(status.read_text().split("SigCgt:")[1].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return None
        time.sleep(0.001)
    raise AssertionError("it does not start")


def watch() -> list[str]:
    """Where interrupts will have been raised before the command was done."""
    from tacit import interrupts
    from tacit.__main__ import main

    raised: list[str] = []
    look = interrupts._Interrupts.look

    def watched(self, number, frame):
        try:
            look(self, number, frame)
        except KeyboardInterrupt:
            if frame.f_code is not main.__code__:  # which knows whether all was done
                raised.append("".join(traceback.format_stack(frame)[-12:]))
            raise

    interrupts._Interrupts.look = watched
    return raised


def interrupt(child: int) -> None:
    """As a terminal does it: the processes that it has started hear it, too."""
    try:
        os.killpg(child, signal.SIGINT)
    except ProcessLookupError:  # it has no group of its own yet
        os.kill(child, signal.SIGINT)


def wait(child: int) -> int | None:
    """The exit status, negative for a signal; None where it hangs."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def try_once(words: list[str], folder: Path, after: float, from_the_start: bool) -> dict:
    """One trial: the exit status and what is wrong about it, if anything."""
    folder.mkdir()
    child = begin(words, folder, from_the_start)
    time.sleep(after)
    if after:
        interrupt(child)
    code = wait(child)
    error = (folder / ".err").read_text(errors="replace")
    lines = error.splitlines()
    wrong = []
    if code not in (0, 1, 130):
        wrong.append(f"exit {code}")
    if "Traceback" in error or "Exception ignored" in error or "Error:" in error:
        wrong.append("traceback")
    if code == 130 and (len(lines) != 1 or not lines[0].startswith("tacit: interrupted")):
        wrong.append("not one line")
    if code in (0, 1) and error:
        wrong.append("finished with words")
    left = [str(path) for path in folder.rglob(".tacit-*")]
    if left:
        wrong.append(f"left {left}")
    shown = error if len(error) < 6000 else f"{error[:4000]} … {error[-2000:]}"
    return {"after": round(after, 3), "code": code, "wrong": wrong, "error": shown}


def trials(command: str, many: int, seed: int, base: Path, from_the_start: bool) -> dict:
    """Interrupt one command so many times, at moments spread over its length."""
    words = COMMANDS[command].split()
    rng = random.Random(f"{command} {seed}")
    for k in range(2):  # the first one reads files that nobody has read yet
        began = time.monotonic()
        whole = try_once(words, base / f"{command}-whole-{k}", 0.0, from_the_start)
        length = time.monotonic() - began
        assert whole["code"] in (0, 1) and not whole["wrong"], whole
    before = _cpu()
    counts: dict = {"command": command, "seconds": round(length, 2), "trials": many}
    counts |= {"interrupted": 0, "finished": 0, "wrong": 0}
    slowest = 0.0
    for k in range(many):
        after = rng.uniform(0.0, 1.02 * length) or 1e-3
        began = time.monotonic()
        one = try_once(words, base / f"{command}-{k}", after, from_the_start)
        if one["code"] == 130:
            slowest = max(slowest, time.monotonic() - began - after)
        counts["interrupted" if one["code"] == 130 else "finished"] += not one["wrong"]
        counts["wrong"] += bool(one["wrong"])
        if one["wrong"]:
            print(json.dumps({"command": command, "trial": k, **one}), flush=True)
    return {**counts, "slowest": round(slowest, 2), "cpu": round(_cpu() - before, 1)}


def _cpu() -> float:
    """CPU seconds of all trials so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--from-the-start"]
    many, seed, *commands = words
    # Its threads would be there before the fork.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    commands = commands or list(COMMANDS)
    from_the_start = "--from-the-start" in sys.argv
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not from_the_start:
        import jax  # noqa: F401  (without a backend, so without threads)
        import matplotlib.figure  # noqa: F401
        import optax  # noqa: F401
        import scipy.optimize  # noqa: F401

        import tacit.cli  # noqa: F401
        import tacit.explanation
        import tacit.flow
        import tacit.plot
        import tacit.reproduction
        import tacit.sweeps.sweeping
        import tacit.training  # noqa: F401
        from tacit.flow import stage
        from tacit.numerics.branch_and_bound import compilation

        stage.prepare(), compilation()
        threads = os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else [""]
        assert len(threads) == 1, "a process with threads cannot be forked safely"
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), commands)
        for command in commands:
            counts = trials(command, int(many), int(seed), Path(folder), from_the_start)
            wrong += counts["wrong"]
            print(json.dumps(counts), flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
