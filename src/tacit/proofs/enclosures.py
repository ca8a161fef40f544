"""Exponentials, logarithms and cosines from above, in fractions.

Each is a power series whose remainder has a known sign or a bound that is added; powers and sums
are rounded up to BITS bits after the point.
"""

from fractions import Fraction

BITS = 320
"""Bits after the point that are kept."""
_ONE = 1 << BITS
"""1 as a whole number of units of 2^−BITS."""
_TERMS = 40
"""Terms of the series for logarithms, with ratio 1/9 at most: what is left is below 2^−126."""
_LEAST = Fraction(-150)
"""e^x below this is taken for e^−150, which is larger and below 2^−216."""


def exp_above(x: Fraction) -> Fraction:
    """A number that is at least e^x, for x ≤ 0; at most a share of 2^−90 above max(e^x, e^−150).

    e^x = (e^t)^(2^k) with t = x/2^k in [−½, 0], and the series of e^t, whose terms alternate and
    shrink, is above e^t where it ends with an even power.
    """
    if x > 0:
        raise ValueError("exp_above is for numbers that are not positive")
    number = _up(max(x, _LEAST))
    halvings = max(abs(number).bit_length() - BITS + 1, 0)
    t = Fraction(number, _ONE << halvings)
    term, total = Fraction(1), Fraction(1)
    for j in range(1, 25):
        term = term * t / j
        total += term
    value = _up(total)
    for _ in range(halvings):
        value = -(-value * value >> BITS)
    return Fraction(value, _ONE)


def log_above(x: Fraction) -> Fraction:
    """A number that is at least log x, for x ≥ 1, and at most 2^−100 above it for x < 2^1000.

    log x = k log 2 + log m with 1 ≤ m ≤ 2, and log m = 2 atanh z with z = (m − 1)/(m + 1) ≤ 1/3.
    """
    if x < 1:
        raise ValueError("log_above is for numbers that are at least 1")
    k = max((x.numerator // x.denominator).bit_length() - 1, 0)
    m = Fraction(_up(x / (1 << k)), _ONE)
    return k * _log(Fraction(2)) + _log(m)


def _log(m: Fraction) -> Fraction:
    z = Fraction(_up((m - 1) / (m + 1)), _ONE)  # atanh grows with z
    power, total = z, Fraction(0)
    for j in range(_TERMS):
        total += power / (2 * j + 1)
        power = Fraction(_up(power * z * z), _ONE)
    total += power / ((2 * _TERMS + 1) * (1 - z * z))
    return 2 * Fraction(_up(total), _ONE)


def cos_above(x: Fraction) -> Fraction:
    """A number that is at least cos x, for 0 ≤ x ≤ 1, and at most x¹⁰/10! above it."""
    if not 0 <= x <= 1:
        raise ValueError("cos_above is for numbers from 0 to 1")
    return 1 - x**2 / 2 + x**4 / 24 - x**6 / 720 + x**8 / 40320


def _up(value: Fraction) -> int:
    """value · 2^BITS, rounded up."""
    return -(-(value.numerator << BITS) // value.denominator)
