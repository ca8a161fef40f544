"""What a predicate is, and what predicates share.

A predicate is a function `View → Finding`, registered by `@predicate(name, place)`. The `View` of a
data set computes what several of them need once. A predicate whose work would take minutes raises
`TooLarge` unless it was asked for by name; one that has no meaning for the data raises
`NotDefined`. Both become a check with `holds = None` and the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import NamedTuple

import numpy as np

from tacit.numerics.max_margin import MaxMargin, max_margin
from tacit.values import Check, Dataset, NotDefined
from tacit.values.discovery import paper_parts

TOPICS = ("separability", "pairs", "position")
"""The files of this folder that define properties, in the order in which they are shown."""


class Finding(NamedTuple):
    """What a predicate found: the part of a `Check` that is not its name."""

    holds: bool | None
    slack: float | None
    note: str = ""
    error: float = 0.0


class TooLarge(Exception):
    """The message says what it would take."""


def row_norms(X: np.ndarray) -> np.ndarray:
    """‖x_i‖ for every row, without overflow or underflow on the way."""
    largest = np.abs(X).max(axis=1)
    safe = np.where(largest > 0, largest, 1.0)
    with np.errstate(over="ignore"):  # a norm that no float can hold is inf
        return np.linalg.norm(X / safe[:, None], axis=1) * safe


@dataclass(frozen=True, eq=False)
class View:
    """A data set, looked at: scaled by powers of two, so that nothing over- or underflows.

    Entries 10³⁰⁸ times smaller than the largest may still get lost in `X` and `rows`; that is less
    than rounding, but exact decisions look at `data.X`.
    """

    data: Dataset
    alpha: float
    """Slope of the Leaky ReLU, for the assumptions that mention one."""
    unlimited: bool = False
    """Asked for by name: take the time it takes."""

    @cached_property
    def exponents(self) -> np.ndarray:
        """The exponent of the power of two below the largest entry of every row."""
        largest = np.abs(self.data.X).max(axis=1)
        # A power of two: dividing by it changes no digit, so that exact decisions stay exact.
        return np.where(largest > 0, np.frexp(largest)[1] - 1, -1074)

    @cached_property
    def scale(self) -> float:
        return float(np.ldexp(1.0, self.exponents.max()))

    @cached_property
    def X(self) -> np.ndarray:
        """All rows divided by `scale`: the largest entry is in [1, 2)."""
        return self.data.X / self.scale

    @cached_property
    def rows(self) -> np.ndarray:
        """Every row by its own power of two: its largest entry is in [1, 2)."""
        return np.ldexp(self.data.X, -self.exponents[:, None])

    @cached_property
    def sizes(self) -> np.ndarray:
        """What `rows` have to be multiplied with to become those of `X`."""
        return np.ldexp(1.0, self.exponents - self.exponents.max())

    @cached_property
    def norms(self) -> np.ndarray:
        """‖x_i‖ for the rows of `X`; they may underflow, so 0 need not mean a zero row."""
        return np.linalg.norm(self.rows, axis=1) * self.sizes

    @cached_property
    def zero_rows(self) -> np.ndarray:
        return np.flatnonzero(~self.data.X.any(axis=1))

    @cached_property
    def Z(self) -> np.ndarray:
        """Rows y_i x_i of `X`."""
        self.need_two_classes()
        return self.data.y[:, None] * self.X

    @cached_property
    def separator(self) -> MaxMargin:
        """The linear separator of largest margin, of the data itself, in its unit."""
        self.need_two_classes()
        return max_margin(self.data.y[:, None] * self.data.X)

    @cached_property
    def mu(self) -> np.ndarray:
        """µ = mean of y_i x_i; each entry is off by n·ε/2 of its mean absolute value at most."""
        return self.Z.mean(axis=0)

    def of_class(self, label: int) -> np.ndarray:
        """The points of one class (±1), as they are."""
        self.need_two_classes()
        return self.data.X[self.data.y == label]

    def need_two_classes(self) -> None:
        if not self.data.binary:
            names = ",".join(self.data.classes[:2])
            raise NotDefined(f"speaks of two classes; choose a pair, say `labels='{names}'`")

    def allow(self, operations: float, what: str) -> None:
        """Refuse work of more than a few seconds unless it was asked for."""
        if operations > MOST_OPERATIONS and not self.unlimited:
            raise TooLarge(f"{what} would take about {operations:.0e} operations")


MOST_OPERATIONS = 3e11
"""A few seconds: all pairs of an MNIST pair of digits."""


@dataclass(frozen=True)
class Predicate:
    """A registered property of data, and where it is defined."""

    name: str
    place: str
    decide: Callable[[View], Finding]

    @property
    def summary(self) -> str:
        return (self.decide.__doc__ or "").partition("\n")[0]

    def __call__(self, view: View) -> Check:
        try:
            finding = self.decide(view)
        except TooLarge as reason:
            note = f"not computed: {reason}; ask for it by `properties='{self.name}'`"
            finding = Finding(None, None, note)
        except NotDefined as reason:
            finding = Finding(None, None, str(reason))
        slack = finding.slack
        if slack is not None:  # a tie that was decided exactly: rounding may have its sign wrong
            slack = max(slack, 0.0) if finding.holds else slack
            slack = min(slack, 0.0) if finding.holds is False else slack
            slack += 0.0  # −0 becomes 0
        return Check(self.name, finding.holds, slack, self.place, finding.note, finding.error)


_REGISTERED: dict[str, Predicate] = {}


def predicates() -> dict[str, Predicate]:
    """Every property by name: those of `tacit.geometry`, then those that papers bring."""
    general = [import_module(f"tacit.geometry.{topic}") for topic in TOPICS]
    modules = [one.__name__ for one in [*general, *paper_parts("geometry").values()]]
    order = {name: k for k, name in enumerate(modules)}

    def place(one: Predicate) -> int:
        home = one.decide.__module__ or ""  # a paper's geometry may be a folder
        return order.get(home, order.get(home.rpartition(".")[0], len(order)))

    return {one.name: one for one in sorted(_REGISTERED.values(), key=place)}


def predicate(name: str, place: str) -> Callable[[Callable[[View], Finding]], Predicate]:
    """Make the decorated function known as `name`."""

    def register(decide: Callable[[View], Finding]) -> Predicate:
        assert name not in _REGISTERED, f"there is a property '{name}' already"
        _REGISTERED[name] = Predicate(name, place, decide)
        return _REGISTERED[name]

    return register
