"""One thread for BLAS: for small matrices its threads would mostly wait for each other."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def one_blas_thread() -> AbstractContextManager:
    """A context in which BLAS has one thread; the matrices of a flow of 100 neurons want no more.

    It also adds in one order, however many cores there are.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # a GPU machine may not have it; it only saves time
        return nullcontext()
    return threadpool_limits(limits=1, user_api="blas")


def with_one_blas_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function, which runs in this context."""

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> T:
        with one_blas_thread():
            return function(*args, **kwargs)

    return alone
