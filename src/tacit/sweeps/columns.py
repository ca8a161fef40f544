"""The columns of a sweep's table, after those of the plan."""

from collections.abc import Iterable, Sequence

STATE = ("status", "reason")
TRAINING = ("outcome", "epoch")
LIMIT = tuple(
    f"limit.{name}"
    for name in (
        "outcome",
        "margin",
        "groups",
        "log10_loss",
        "optimality",
        "optimal_margin",
        "gap",
        "rate",
    )
)
CERTIFICATE = tuple(
    f"certificate.{name}"
    for name in (
        "optimality",
        "margin",
        "lower",
        "upper",
        "gap",
        "stationarity",
        "feasibility",
        "complementarity",
    )
)
TEXTS = {*STATE, "run", "outcome", "limit.outcome", "limit.optimality", "certificate.optimality"}
"""Columns of text."""
WHOLE = {"epoch", "limit.groups"}
"""Columns of whole numbers."""
LISTS = {"singular_values"}
"""Measures that are lists of numbers."""
OTHERS = ("limit", "certificate", "weights")
"""What can be recorded besides measures."""


def measures_of(record: Iterable[str]) -> tuple[str, ...]:
    """The measures among what is recorded."""
    return tuple(name for name in record if name not in OTHERS)


def trains(record: Iterable[str]) -> bool:
    """Whether something that is recorded needs training; the limit does not."""
    return set(record) != {"limit"}


def result_columns(record: Sequence[str]) -> tuple[str, ...]:
    """What a table says of every run that records this."""
    return (
        *STATE,
        *TRAINING,
        *measures_of(record),
        *(LIMIT if "limit" in record else ()),
        *(CERTIFICATE if "certificate" in record else ()),
    )
