"""Ctrl-C and SIGTERM: each ends a command, at a moment when that does no harm.

Python would raise KeyboardInterrupt at whatever it is doing just then. In a callback of the garbage
collector, where JAX has one, it would be printed and forgotten; inside an import or a library it
may leave behind something half-made that the command needs for saving. So an interrupt waits for a
moment at which our own code runs; for GRACE seconds, then it is raised wherever that does no harm.
"""

import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

GRACE = 0.5
"""Seconds that an interrupt waits for a moment at which our own code runs."""
AGAIN = 0.01
"""Seconds between two looks whether this is such a moment."""
TWICE = 0.5
"""Seconds after which another Ctrl-C ends the program at once; what comes earlier is the same one,
which a terminal and a wrapper (`make`, `uv run`) may both have passed on."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
OURS = os.path.dirname(__file__) + os.sep
LIBRARY = os.sep + os.path.join("jax", "_src") + os.sep
DRAWING = os.sep + "rich" + os.sep
"""Nothing is raised while something is drawn: a bar that was half begun would hide the cursor."""
UNSAFE = ("_xla_gc_callback", "_adjust_thread_count", "_publish", "orderly", "ignore")
"""Functions in which nothing is ever raised: Python lets no exception out of the first; the second,
which starts the threads of a pool, would leave one that works on and that nobody waits for; after
the third what was written is known to be so; outside of the last two nobody would catch it."""


class _Interrupts:
    def __init__(self) -> None:
        self.first: float | None = None
        """When the first one came."""
        self.held = False
        """Whether they wait, see `held_back`."""
        self.over = False
        """Whether what they would end has ended."""

    def arrive(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.over:
            return
        if self.first is None:
            self.first = now
            self.look(number, frame)
        elif now > self.first + TWICE:
            show_cursor = b"\x1b[?25h" if os.isatty(2) else b""
            with contextlib.suppress(OSError):  # whoever reads it may have been interrupted too
                os.write(2, show_cursor + b"tacit: interrupted twice; stopped at once\n")
            os._exit(130)

    def look(self, number: int, frame: FrameType | None) -> None:
        """Raise it now, or look again a little later."""
        if self.over:
            return
        late = time.monotonic() > (self.first or 0.0) + GRACE
        if not hasattr(signal, "setitimer") or (not self.held and _can_be_raised(frame, late)):
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, AGAIN)


def _can_be_raised(frame: FrameType | None, late: bool) -> bool:
    if frame is None or not (late or frame.f_code.co_filename.startswith(OURS)):
        return False
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name in UNSAFE:
            return False
        if DRAWING in code.co_filename:
            return False
        if LIBRARY in code.co_filename and not late:
            return False
        frame = frame.f_back
    return True


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """SIGINT and SIGTERM raise KeyboardInterrupt once, where it is not lost.

    Outside of the main thread, and inside of another `orderly`, it changes nothing; signals that
    are ignored stay so.
    """
    if threading.current_thread() is not threading.main_thread() or _installed() is not None:
        yield
        return
    state, alarm = _Interrupts(), getattr(signal, "SIGALRM", None)
    hook = sys.unraisablehook

    def lost(what: Any) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            if alarm is not None:
                signal.setitimer(signal.ITIMER_REAL, AGAIN)
        elif what.object is None and issubclass(what.exc_type, OSError):
            pass  # Python says that a signal came just while its handler was taken away
        elif state.first is None:
            hook(what)
        # Else the interrupt left an object half-made, whose finaliser misses what it never had.

    before: dict[signal.Signals, Any] = {}
    if alarm is not None:  # before an interrupt can come that would have to wait for it
        timer = signal.getitimer(signal.ITIMER_REAL)
        before[alarm] = signal.signal(alarm, state.look)
    sys.unraisablehook = lost
    for number in SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, state.arrive)
    try:
        yield
    finally:
        state.over = True
        if alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, *timer)
        for number, handler in before.items():
            if signal.getsignal(number) in (state.arrive, state.look):
                signal.signal(number, handler)
        sys.unraisablehook = hook


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait meanwhile.

    The mask is that of one thread: one that came just before, or to another thread, waits as well.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    state = _installed() or _Interrupts()
    before, state.held = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS), True
    try:
        yield
    finally:
        state.held = False
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that are started meanwhile never hear Ctrl-C and SIGTERM, which wait."""
    from multiprocessing import resource_tracker

    with warnings.catch_warnings():
        # It may have been killed, as any process; it is started again, and has nothing to track.
        warnings.filterwarnings("ignore", "resource_tracker: process died")
        resource_tracker.ensure_running()  # it would let the signals through
        with held_back():
            yield


def ignore() -> None:
    """Let no further interrupt change how the program ends: it only has to leave."""
    state = _installed()
    if state is not None:
        state.over = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def interrupted() -> bool:
    """Whether an interrupt has come in this `orderly`.

    C code that calls Python may turn a KeyboardInterrupt into an error of its own, so what is
    raised afterwards may be the interrupt.
    """
    state = _installed()
    return state is not None and state.first is not None


def _installed() -> _Interrupts | None:
    for number in SIGNALS:  # either may be ignored
        state = getattr(signal.getsignal(number), "__self__", None)
        if isinstance(state, _Interrupts):
            return state
    return None
