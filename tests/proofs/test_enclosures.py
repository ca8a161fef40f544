"""Exponentials, logarithms and cosines from above, against the decimal module in 120 digits."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.proofs.enclosures import cos_above, exp_above, log_above

RATIOS = st.fractions(min_value=0, max_value=10**9, max_denominator=10**12)


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


@given(RATIOS)
def test_exponentials(x: Fraction) -> None:
    with localcontext() as context:
        context.prec = 120
        bound, exact = decimal(exp_above(-x)), (-decimal(x)).exp()
        assert bound >= exact
        assert bound <= max(exact, Decimal(-150).exp()) * (1 + Decimal(2) ** -90)


@given(RATIOS)
def test_logarithms(x: Fraction) -> None:
    with localcontext() as context:
        context.prec = 120
        bound, exact = decimal(log_above(1 + x)), (1 + decimal(x)).ln()
        assert exact <= bound <= exact + Decimal(2) ** -100


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**9))
def test_cosines(x: Fraction) -> None:
    with localcontext() as context:
        context.prec = 60
        t = decimal(x)
        exact, term = Decimal(1), Decimal(1)
        for j in range(1, 25):
            term *= -t * t / ((2 * j - 1) * (2 * j))
            exact += term
        bound = decimal(cos_above(x))
        assert -Decimal("1e-50") <= bound - exact <= t**10 / 3628800 + Decimal("1e-50")


def test_ends() -> None:
    assert (
        exp_above(Fraction(0)) == 1 and log_above(Fraction(1)) == 0 and cos_above(Fraction(0)) == 1
    )
    assert 0 < exp_above(Fraction(-(10**300))) < Fraction(1, 1 << 200)
    for wrong, x in ((exp_above, 1), (log_above, Fraction(1, 2)), (cos_above, 2)):
        with pytest.raises(ValueError):
            wrong(Fraction(x))
