"""Whole numbers for floats, and roundings to the right side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.proofs import float_above, float_below
from tacit.proofs.exact import Budget, longest, root_above, root_below, whole
from tacit.proofs.peaks import _sums
from tacit.values import BadInput

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite))
def test_floats_are_whole_numbers_over_a_power_of_two(values: list[float]) -> None:
    numbers, e = whole(values)
    assert [Fraction(number, 2**e) for number in numbers] == [Fraction(v) for v in values]
    assert all(type(number) is int for number in numbers)


@given(st.fractions(min_value=0))
def test_roots(value: Fraction) -> None:
    below, above = root_below(value), root_above(value)
    assert below**2 <= value <= above**2
    assert above - below <= above / 2**150


@pytest.mark.parametrize("value", [Fraction(0), Fraction(9, 4), Fraction(1, 10**600), 10**600])
def test_roots_of_squares(value: Fraction) -> None:
    value = Fraction(value)
    assert root_below(value) == root_above(value) and root_above(value) ** 2 == value


@given(st.fractions())
def test_floats_on_either_side(value: Fraction) -> None:
    below, above = float_below(value), float_above(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert above in (below, math.nextafter(below, math.inf))


def test_floats_at_the_ends() -> None:
    huge, tiny = Fraction(10**400), Fraction(1, 10**400)
    largest, smallest = float(np.finfo(float).max), 5e-324
    assert (float_below(huge), float_above(huge)) == (largest, math.inf)
    assert (float_below(-huge), float_above(-huge)) == (-math.inf, -largest)
    assert (float_below(tiny), float_above(tiny)) == (0, smallest)
    assert (float_below(-tiny), float_above(-tiny)) == (-smallest, 0)


@pytest.mark.parametrize("bits", [3, 31, 32, 33, 63, 64, 200])
def test_sums_in_pieces(bits: int, rng: np.random.Generator) -> None:
    def number() -> int:
        return int.from_bytes(rng.bytes(30)) % 2 ** (bits + 1) - 2**bits

    terms = np.array([[number() for _ in range(3)] for _ in range(40)], dtype=object)
    terms[0] = 2**bits - 1
    terms[1] = -(2**bits)
    chosen = rng.integers(0, 2, (50, 40))
    chosen[0], chosen[1] = 0, 1
    assert (_sums(chosen, terms) == chosen.astype(object) @ terms).all()


def test_the_longest_number() -> None:
    assert longest(np.array([3, -256], dtype=object)) == 9
    assert longest(np.zeros(0, dtype=object)) == 0


def test_the_budget_is_shared() -> None:
    budget = Budget(10)
    budget.take(6, "a")
    with pytest.raises(BadInput, match="^b needs about 6e"):
        budget.take(6, "b")
