"""Ctrl-C anywhere: one line, exit code 130, and none is lost."""

import gc
import importlib
import io
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from interrupt_trials import COMMANDS
from tacit import interrupts
from tacit.certificates.proof_file import cell_text
from tacit.cli import main
from tacit.files import writing
from tacit.interrupts import held_back, orderly
from tacit.values import BadInput

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
TRIALS = Path(__file__).parents[1] / "interrupt_trials.py"


@pytest.fixture(autouse=True)
def _this_file_is_ours(monkeypatch):
    monkeypatch.setattr(interrupts, "OURS", __file__)


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def compute() -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pass


def test_it_is_raised_at_once_in_our_own_code():
    with orderly(), pytest.raises(KeyboardInterrupt):
        ctrl_c()
        compute()


def test_it_is_not_lost_in_a_callback_of_the_garbage_collector(capfd):
    """Python prints what is raised there, and goes on; JAX has such a callback, of this name."""
    ended = []

    def _xla_gc_callback(*_):
        if not ended:
            ctrl_c()
            time.sleep(0.05)
            ended.append(True)

    gc.callbacks.append(_xla_gc_callback)
    try:
        with orderly(), pytest.raises(KeyboardInterrupt):
            gc.collect()
            compute()
    finally:
        gc.callbacks.remove(_xla_gc_callback)
    assert ended and capfd.readouterr().err == ""


def test_jax_has_the_callback_that_is_known():
    import jax  # noqa: F401

    callbacks = {one.__name__ for one in gc.callbacks if "jax" in (one.__module__ or "")}
    assert callbacks and callbacks <= set(interrupts.UNSAFE)


def test_a_pool_knows_every_thread_that_it_has_started(monkeypatch):
    """What a thread of a pool writes is waited for, also where Ctrl-C comes while it starts."""
    monkeypatch.setattr(interrupts, "GRACE", 0.0)
    start, wrote = threading.Thread.start, []

    def slow_start(thread):
        start(thread)
        ctrl_c()
        time.sleep(0.05)

    def write():
        time.sleep(0.2)
        wrote.append(True)

    monkeypatch.setattr(threading.Thread, "start", slow_start)
    with orderly(), pytest.raises(KeyboardInterrupt):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(write)
            compute()
    assert wrote


def test_a_terminal_gets_its_cursor_back(monkeypatch):
    """Also where Ctrl-C comes while a bar begins, which hides it."""
    monkeypatch.setattr(interrupts, "GRACE", 0.0)
    start, screen = threading.Thread.start, io.StringIO()

    def slow_start(thread):
        start(thread)
        ctrl_c()
        time.sleep(0.05)

    monkeypatch.setattr(threading.Thread, "start", slow_start)
    with orderly(), pytest.raises(KeyboardInterrupt):
        with Console(file=screen, force_terminal=True).status("at work"):
            compute()
    assert screen.getvalue().rfind(SHOW) > screen.getvalue().rfind(HIDE) >= 0


def test_it_is_not_lost_while_a_proof_is_written():
    """NumPy loses most of those that come while it makes texts of an array."""
    cell, heard = np.tile(np.array([-1, 0, 1], dtype=np.int8), 20), []

    def ring(*_):
        heard.append(True)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(30):
            heard.clear()
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 2e-4)
                while not heard:
                    cell_text(cell)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_what_has_been_written_is_known_to_be_so(tmp_path, monkeypatch):
    """Ctrl-C just after the rename, when the file is there."""
    replace = os.replace

    def slow_replace(one, other):
        replace(one, other)
        ctrl_c()  # this file is ours: it would be raised here

    monkeypatch.setattr(writing.os, "replace", slow_replace)
    writing.written.clear()
    with orderly(), pytest.raises(KeyboardInterrupt):
        writing.write_file(tmp_path / "file", b"whole")
        compute()
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert list(writing.written) == [tmp_path / "file"]


def test_it_is_not_lost_where_nothing_can_be_raised(capfd, monkeypatch):
    monkeypatch.setattr(interrupts, "GRACE", 0.0)

    class Finalised:
        def __del__(self):
            ctrl_c()
            time.sleep(0.05)

    with orderly(), pytest.raises(KeyboardInterrupt):
        Finalised()
        compute()
    assert capfd.readouterr().err == ""


def test_an_object_that_it_left_half_made_says_nothing(capfd):
    """As Numba's do: their finalisers look for what was never set."""

    class HalfMade:
        def __del__(self):
            raise AttributeError("never set")

    with orderly():
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
            compute()
        HalfMade()
    assert capfd.readouterr().err == ""


def test_an_import_is_finished_first(tmp_path, monkeypatch):
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhole = [k for k in range(9)]\n"
    (tmp_path / "half_made.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with orderly(), pytest.raises(KeyboardInterrupt):
        importlib.import_module("half_made")
        compute()
    assert len(sys.modules.pop("half_made").whole) == 9


def test_a_library_is_left_first_but_not_waited_for_long(monkeypatch):
    monkeypatch.setattr(interrupts, "OURS", "/nowhere/")
    clock = itertools.count(0.0, interrupts.GRACE / 5)
    monkeypatch.setattr(interrupts, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with orderly(), pytest.raises(KeyboardInterrupt):
        ctrl_c()
        compute()
    assert next(clock) > interrupts.GRACE


def test_what_is_held_back_is_done_first(monkeypatch):
    """Also where it came to another thread, as that of a bar on a terminal, or just before."""
    monkeypatch.setattr(interrupts, "GRACE", 0.05)
    done, stop = [], threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    try:
        with orderly(), pytest.raises(KeyboardInterrupt):
            with held_back():
                ctrl_c()
                time.sleep(0.2)
                done.append("it came to another thread")
            compute()
    finally:
        stop.set()
        other.join()
    monkeypatch.setattr(interrupts, "OURS", "/nowhere/")
    with orderly(), pytest.raises(KeyboardInterrupt):
        ctrl_c()
        with held_back():
            time.sleep(0.2)
            done.append("it came just before")
        compute()
    assert len(done) == 2


def test_one_that_comes_twice_at_once_is_one_and_handlers_come_back(monkeypatch):
    monkeypatch.setattr(interrupts, "time", SimpleNamespace(monotonic=lambda: 1.0))
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with orderly():
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
            compute()
        ctrl_c()
        time.sleep(0.01)  # what is being saved is saved
    assert before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


def test_what_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with orderly():
            ctrl_c()
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, before)


def failing(error: Exception, number: int = signal.SIGINT):
    """A command that makes this error of an interrupt."""

    def run(*_, **__):
        try:
            os.kill(os.getpid(), number)
            compute()
        except KeyboardInterrupt:
            raise error from None

    return run


@pytest.mark.parametrize(
    "error",
    [
        ValueError("Invalid bounding box"),  # matplotlib's C code, which calls Python for one
        BadInput("what was read is no number"),
        BrokenPipeError(),  # `| tee log`: Ctrl-C has ended the reader as well
        OSError("no space"),
    ],
)
def test_it_is_known_where_another_error_is_made_of_it(monkeypatch, capsys, error):
    monkeypatch.setattr("tacit.cli.app", failing(error))
    assert main(["list", "data"]) == 130
    assert capsys.readouterr().err == "tacit: interrupted; nothing was saved\n"


def test_one_of_the_two_signals_may_be_ignored(monkeypatch, capsys):
    """As Ctrl-C is in the background of a shell, where SIGTERM ends a command."""
    monkeypatch.setattr("tacit.cli.app", failing(ValueError(), signal.SIGTERM))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with orderly():
            assert main(["list", "data"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "tacit: interrupted; nothing was saved\n"


def test_nobody_has_to_read_what_is_said(monkeypatch):
    """`2>&1 | tee log`: Ctrl-C has ended the reader as well."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", buffering=1) as closed, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", closed)
        patch.setattr("tacit.cli.app", failing(KeyboardInterrupt()))
        assert main(["list", "data"]) == 130
        with pytest.raises(BrokenPipeError):
            closed.close()


EARLY = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "tacit.interrupts":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv = ["tacit", "list", "data"]
runpy.run_module("tacit", run_name=NAME)
"""


@pytest.mark.parametrize("name", ["__main__", "tacit.__main__"])
def test_one_that_comes_while_the_program_begins_is_one_line(name):
    """What `python -m tacit` runs, and the script `tacit` imports."""
    code = EARLY.replace("NAME", repr(name))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "tacit: interrupted; nothing was saved\n"


def test_it_waits_until_the_handlers_are_there(monkeypatch):
    """Nobody would catch what is raised before."""
    real, entered = signal.signal, []

    def slow_signal(number, handler):
        before = real(number, handler)
        if number == signal.SIGINT and not entered:
            ctrl_c()
        return before

    monkeypatch.setattr(signal, "signal", slow_signal)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    with pytest.raises(KeyboardInterrupt):
        with orderly():
            entered.append(True)
            compute()
    assert entered
    assert before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM))


def test_one_that_comes_when_a_command_is_done_is_not_raised(monkeypatch):
    with orderly():
        handler, state = signal.getsignal(signal.SIGINT), interrupts._installed()
        monkeypatch.setattr(interrupts, "_installed", lambda: ctrl_c() or state)
        try:
            interrupts.ignore()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGINT, handler)


STUBBORN = """
import os, signal, time
from tacit import interrupts
from tacit.cli import main
from tacit.files import writing
interrupts.TWICE = 0.05
with interrupts.orderly():
    while True:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass
"""


def test_the_second_one_ends_everything_at_once():
    done = subprocess.run([sys.executable, "-c", STUBBORN], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "tacit: interrupted twice; stopped at once\n"
    reading, writing = os.pipe()
    os.close(reading)  # as after `2>&1 | tee log`, whose reader Ctrl-C has ended as well
    done = subprocess.run([sys.executable, "-c", STUBBORN], stderr=writing)
    os.close(writing)
    assert done.returncode == 130


def test_one_that_comes_just_when_a_command_is_done_changes_nothing(monkeypatch):
    """Python reports a signal whose handler is taken away before it was called."""
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", reports.append)
    storm = f"import os\nfor _ in range(100000):\n    os.kill({os.getpid()}, {signal.SIGINT:d})"
    with orderly():
        handler = signal.getsignal(signal.SIGINT)
        interrupts.ignore()
        other = subprocess.Popen([sys.executable, "-c", storm])
        while other.poll() is None:
            for _ in range(100):
                signal.signal(signal.SIGINT, handler)
                interrupts.ignore()
        signal.signal(signal.SIGINT, handler)
    assert other.returncode == 0 and not reports


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.timeout(3600)
def test_random_interrupts(command):
    words = [sys.executable, str(TRIALS), "200", "0", command]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.timeout(3600)
def test_random_interrupts_while_it_starts(command):
    words = [sys.executable, str(TRIALS), "10", "0", command, "--from-the-start"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
