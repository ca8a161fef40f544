"""Which assumptions of the theorems hold for a data set, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.data import takes_data
from tacit.geometry.facts import facts, remarks
from tacit.geometry.predicate import View, predicates
from tacit.messages import near_miss, printable
from tacit.models import Activation, parse_activation
from tacit.values import BadInput, Check, Dataset, Interval, Result
from tacit.values.jsonable import plain
from tacit.values.optional import optional_import

MOST_NAMED = 4
"""Properties that a short text names."""


@dataclass(frozen=True, eq=False, repr=False)
class Geometry(Result):
    """What `check` returns: the properties of a data set.

    Parameters
    ----------
    data : Dataset
        The data that was checked.
    alpha : float
        The slope of the activation, for the assumptions that mention one.
    facts : dict
        Sizes of the classes, zero rows, repeated and contradictory points.
    properties : dict of str to Check
        Every property by its name: whether it holds, and by how much.
    margin_bounds : Interval or None
        Bounds of the largest margin of a linear separator (with K classes: the smallest of the K
        largest, each class against the rest); None when there is none, or it was not asked for.
    max_margin_direction : array or None
        The unit vector that reaches the lower bound, for two classes.

    Examples
    --------
    >>> import tacit
    >>> geometry = tacit.check("orthogonal:n=20,d=2")
    >>> geometry.properties["orthogonally_separable"].holds
    True
    """

    data: Dataset
    alpha: float
    facts: dict[str, Any]
    properties: dict[str, Check]
    margin_bounds: Interval | None
    max_margin_direction: np.ndarray | None

    @property
    def remarks(self) -> list[str]:
        """What a person should know of the data, as sentences."""
        return remarks(self.facts)

    @property
    def test_error(self) -> float | None:
        """The share of test points that the linear separator does not give their label."""
        w, test = self.max_margin_direction, self.data.test
        return None if w is None or test is None else float((test.y * (test.X @ w) <= 0).mean())

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit check --json`."""
        data, bounds = self.data, self.margin_bounds
        result = {
            "name": data.name,
            "n": data.n,
            "d": data.d,
            "classes": list(data.classes) or None,
            "columns": list(data.columns) or None,
            "parameters": data.parameters,
            "linearly_separable": self._holds("linearly_separable"),
            "max_margin": bounds.lower if bounds else None,
            "max_margin_upper": bounds.upper if bounds else None,
            "max_margin_direction": self.max_margin_direction,
            "orthogonally_separable": self._holds("orthogonally_separable"),
            "symmetric": self._holds("symmetric"),
            "spike_free": self._holds("spike_free"),
            "alpha": self.alpha,
            "facts": self.facts,
            "remarks": self.remarks,
            "properties": {
                name: {key: value for key, value in _fields(check).items() if key != "name"}
                for name, check in self.properties.items()
            },
        }
        if data.test is not None:
            result["n_test"] = data.test.n
            if self.test_error is not None:
                result["max_margin_test_error"] = self.test_error
        return plain(result)

    def to_frame(self) -> Any:
        """The properties as a pandas DataFrame, one in each row."""
        pandas = optional_import("pandas", "to_frame")
        return pandas.DataFrame([_fields(check) for check in self.properties.values()])

    def _holds(self, name: str) -> bool | None:
        return self.properties[name].holds if name in self.properties else None

    def _lines(self) -> list[str]:
        by_answer: dict[bool | None, list[str]] = {True: [], False: [], None: []}
        for name, check in self.properties.items():
            by_answer[check.holds].append(name)
        lines = [f"Geometry of {self.data._lines()[0]}"]
        for answer, word in ((True, "hold"), (False, "fail"), (None, "undecided")):
            if names := by_answer[answer]:
                more = ", …" if len(names) > MOST_NAMED else ""
                lines.append(f"{len(names)} {word}: {', '.join(names[:MOST_NAMED])}{more}")
        if self.margin_bounds is not None:
            lines.append(f"largest linear margin: {self.margin_bounds.lower:.6g}")
        return [printable(line) for line in lines]


def _fields(check: Check) -> dict[str, Any]:
    """A property of data, as scripts read it: unlike a hypothesis, it is always quantified."""
    fields = asdict(check)
    del fields["quantified"]
    return fields


@takes_data
def check(
    data: Dataset,
    *,
    properties: str | Sequence[str] = (),
    activation: str | Activation = "relu",
) -> Geometry:
    """Check which assumptions of the theorems hold for a data set, and by how much.

    Parameters
    ----------
    data : Dataset, str, Path, or arrays X, y
        Whatever `tacit.load` takes.
    properties : sequence of str, optional
        Check only these, and take as long as it takes; by default every property is checked, but
        none for more than a few seconds. `tacit list properties` shows what there is.
    activation : str or Activation, default "relu"
        `relu` or `leaky:A`, for the assumptions that mention the slope.

    Returns
    -------
    Geometry
        The properties with their signed slacks.

    Examples
    --------
    >>> geometry = check([[1.0, 0.0], [-1.0, 0.1]], [1, -1], properties="linearly_separable")
    >>> geometry.properties["linearly_separable"].holds
    True
    >>> geometry
    Geometry of data: 2 points in 2 dimensions
    1 hold: linearly_separable
    largest linear margin: 1
    """
    known = predicates()
    properties = (properties,) if isinstance(properties, str) else properties
    for name in properties:
        if name not in known:
            raise BadInput(f"unknown property '{name}'{near_miss(name, known)}")
    alpha = (parse_activation(activation) if isinstance(activation, str) else activation).alpha
    view = View(data, alpha, unlimited=bool(properties))
    checks = {name: known[name](view) for name in properties or known}
    bounds = direction = None
    linear = checks.get("linearly_separable")
    if linear and linear.holds and linear.slack is not None:
        bounds = Interval(linear.slack, linear.slack + linear.error)
        direction = view.separator.direction if data.binary else None
    return Geometry(data, alpha, facts(data), checks, bounds, direction)
