"""Until when a theorem may think: whoever asks says so, and what takes seconds looks."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

_until: ContextVar[float] = ContextVar("until", default=math.inf)


class TimeIsUp(Exception):
    """Raised by `seconds_left` once there are none."""


@contextmanager
def asked_until(deadline: float) -> Iterator[None]:
    """Theorems that are asked meanwhile may think until this moment of `perf_counter`."""
    before = _until.set(deadline)
    try:
        yield
    finally:
        _until.reset(before)


def seconds_left() -> float:
    """Seconds that the theorem may still think; `TimeIsUp` where there are none."""
    left = _until.get() - perf_counter()
    if left <= 0:
        raise TimeIsUp
    return left
