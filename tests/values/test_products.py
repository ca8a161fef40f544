"""Products of arrays of integers."""

import signal
import sys

import numpy as np
import pytest

from tacit.values import products
from tacit.values.products import integer_product


class Raises:
    """A number whose products are all one object; product number `left` raises, as Ctrl-C may."""

    def __init__(self, product: object, left: list[int]) -> None:
        self.product, self.left = product, left

    def __mul__(self, other: object) -> object:
        self.left[0] -= 1
        if self.left[0] == 0:
            raise KeyboardInterrupt
        return self.product


class Total:
    def __add__(self, other: object) -> object:
        return self


@pytest.mark.parametrize("number", range(1, 13))
def test_a_product_that_raises_frees_nothing_twice(number: int) -> None:
    """Python's integers go on after that; other numbers are then told of a result with an error."""
    total, left = Total(), [number]
    A = np.array([[Raises(total, left) for _ in range(2)] for _ in range(3)], dtype=object)
    before = sys.getrefcount(total)
    with pytest.raises((KeyboardInterrupt, SystemError)) as raised:
        integer_product(A, A[:2])
    del raised
    assert sys.getrefcount(total) == before


def test_an_interrupt_of_long_integers_stays_one() -> None:
    """It comes after 5 ms of CPU time, while integers of 10,000 bits are multiplied."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    A = np.full((6, 6), 3**6_000, dtype=object)
    before = signal.signal(signal.SIGPROF, interrupt)
    try:
        for _ in range(20):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_PROF, 0.005)
                while True:
                    integer_product(A, A)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("rows", [(), (3,)])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_it_is_the_product(rows: tuple, columns: tuple, rng: np.random.Generator) -> None:
    A, B = rng.integers(-9, 9, (*rows, 4)), rng.integers(-9, 9, (4, *columns))
    product = integer_product(A.astype(object) << 90, B.astype(object))
    assert np.array_equal(product, np.multiply((A @ B).tolist(), 1 << 90, dtype=object))


@pytest.mark.parametrize("shape", [(40, 60, 30), (20, 1500), (20_000,)])
@pytest.mark.parametrize("bits", [1, 21, 42, 63, 90])
def test_it_is_the_product_of_large_arrays(shape: tuple, bits: int, rng) -> None:
    """Also of the extreme numbers, whose sums are the longest."""
    A = rng.integers(-(2**62), 2**62, shape[:2]).astype(object) << 40
    B = rng.integers(-(2**62), 2**62, shape[-1:] if len(shape) < 3 else shape[1:]).astype(object)
    for one in (A >> (102 - bits), np.full_like(A, (1 << bits) - 1), np.full_like(A, -(1 << bits))):
        product = integer_product(one, B)
        assert np.array_equal(product, np.dot(one, B))
        assert type(np.ravel(product).tolist()[0]) is int
        assert np.array_equal(integer_product(one, one.T), np.dot(one, one.T))


def test_what_is_multiplied_by_a_vector_is_not_cut(monkeypatch, rng: np.random.Generator) -> None:
    """Cutting a matrix took ten times as long as the product, and `limit` 29 s more than it had."""
    A = rng.integers(-(2**62), 2**62, (200, 300)).astype(object) << 300
    monkeypatch.setattr(products, "_pieces", lambda *_: pytest.fail("it is cut"))
    for one, other in ((A, A[0]), (A, A[:1].T), (A[0], A.T), (A[:3], A.T)):
        assert np.array_equal(integer_product(one, other), np.dot(one, other))
