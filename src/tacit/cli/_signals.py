"""Ctrl-C and SIGTERM in long commands: both end them in the same way, and neither is lost."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

AGAIN = 0.05
"""Seconds until an interrupt that was lost comes again."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM end a sweep as Ctrl-C does, and lose neither.

    JAX runs some code with every garbage collection. Python would print what is raised there and
    go on, so an interrupt that comes just then comes again.
    """
    again: list[threading.Timer] = []

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def lost(what: Any) -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt):
            return hook(what)
        again.append(threading.Timer(AGAIN, _interrupt_main))
        again[-1].start()

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread
        yield
        return
    hook, sys.unraisablehook = sys.unraisablehook, lost
    try:
        yield
    finally:
        for timer in again:
            timer.cancel()
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, before)


def _interrupt_main() -> None:
    thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and thread is not None:
        signal.pthread_kill(thread, signal.SIGINT)  # it may be waiting
    else:
        _thread.interrupt_main()
