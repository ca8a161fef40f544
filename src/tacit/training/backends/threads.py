"""Several calls of compiled code at the same time, one in each thread."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

T = TypeVar("T")


def in_threads(call: Callable[[T], None], items: Sequence[T], threads: int) -> Iterator[None]:
    """Call it with every item; yields whenever one of the calls has ended."""
    if not items:
        return
    call(items[0])  # alone: it may have to compile
    yield
    with ThreadPoolExecutor(threads) as others:
        tasks = [others.submit(call, item) for item in items[1:]]
        try:
            for task in as_completed(tasks):
                task.result()
                yield
        except BaseException:
            others.shutdown(cancel_futures=True)
            raise
