"""Arguments of the wrong kind are refused in one line that names their parameter."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from tacit.messages import BadInput
from tacit.models import Activation
from tacit.values.network import Network


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether it is a number that floating point can hold; whole numbers may be too large."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_iterable(value: Any) -> bool:
    """Whether it can be iterated over; arrays of one number only look like that."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


def _all(kind: Callable[[Any], bool], value: Any) -> bool:
    try:
        return all(map(kind, value))
    except TypeError:  # sparse matrices have an iterator that does not work
        return False


def _text(value: Any) -> bool:
    return isinstance(value, str)


MOST_SEED = 2**32 - 1
"""The largest seed: every generator of random numbers takes it."""


def check_seed(seed: int) -> None:
    """Refuse seeds that are negative or too large."""
    if not 0 <= seed <= MOST_SEED:
        raise BadInput(f"`seed={seed}` must be between 0 and {MOST_SEED}")


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "int": (_whole, "a whole number"),
    "float": (is_real, "a number"),
    "str": (_text, "a text"),
    "Sequence[int]": (lambda value: _all(_whole, value), "whole numbers"),
    "str | Sequence[str]": (lambda value: _all(_text, value), "a name or several"),
    "Progress": (callable, "a function"),
    "Layers": (_text, "'both' or 'first'"),
    "Run": (lambda value: hasattr(value, "members"), "a Run"),
    "str | Activation": (lambda value: isinstance(value, str | Activation), "'relu' or 'leaky:A'"),
    "Start": (
        lambda value: isinstance(value, Network) or (isinstance(value, tuple) and len(value) == 2),
        "a Network",
    ),
    "Limit | Limits": (lambda value: hasattr(value, "each"), "a Limit"),
}
"""What fits an annotation, and how a message says it; other annotations are not looked at."""


def check_kinds(function: Callable[..., Any], keywords: dict[str, Any]) -> None:
    """Refuse keywords that do not fit the annotations of a function's parameters.

    Numbers of other kinds, such as fractions, become floats.
    """
    for name, value in [*keywords.items()]:
        annotation = function.__annotations__.get(name, "")
        kind = annotation.removesuffix(" | None")
        if kind not in KINDS or (value is None and kind != annotation):
            continue
        fits, words = KINDS[kind]
        if not fits(value):
            raise BadInput(f"`{name}={value!r}` must be {words}")
        if kind == "float":
            keywords[name] = float(value)
