"""A number known up to an interval."""

import math
from typing import NamedTuple


class Interval(NamedTuple):
    """Lower and upper bound of a number that is at least 0.

    Examples
    --------
    >>> Interval(0.5, 1.0).gap
    0.5
    >>> Interval(0.5, 1.0).holds(0.75)
    True
    """

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """(upper − lower)/upper; 1 where there is no finite upper bound, or it is 0."""
        if not (math.isfinite(self.upper) and self.upper > 0):
            return 1.0
        return (self.upper - self.lower) / self.upper

    def holds(self, value: float) -> bool:
        """Whether a value lies between the bounds."""
        return self.lower <= value <= self.upper
