"""What a theorem is: hypotheses with slack, a prediction made without training, and a residual.

A theorem reads like its statement. `hypotheses` says which of its conditions hold and by how much,
`predict` what it promises, from data and setting alone, and `residual` how far a run is from that:
dimensionless and zero exactly at the conclusion. Classes are abstract (this one) or final.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from tacit.theorems.case import Case
from tacit.theorems.errata import Erratum
from tacit.theorems.observation import Observation
from tacit.values import Check

Needs = Literal["data", "limit", "path", "descent", "ensemble"]
"""What a residual looks at: nothing but the data; the limit of the flow; its whole path; a run of
gradient descent; or many runs, for a statement about probabilities."""


class Source(NamedTuple):
    """Where a theorem is printed."""

    key: str
    """The paper: `phuong2021`."""
    place: str
    """The place in it: `Theorem 1`, `Lemma A.2`."""


class Estimate(float):
    """A residual, and what is known of its error.

    Parameters
    ----------
    value : float
        The residual.
    error : float
        By how much rounding, or bounds that are not tight, may have made it too large.
    reason : str
        Where the error comes from, in a few words: "digits were lost".

    Examples
    --------
    >>> residual = Estimate(1e-3, 2e-3, "digits were lost")
    >>> residual > 1e-6, residual - residual.error > 1e-6
    (True, False)
    """

    error: float
    reason: str

    def __new__(cls, value: float, error: float, reason: str) -> Estimate:
        estimate = super().__new__(cls, value)
        estimate.error, estimate.reason = float(error), reason
        return estimate


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a theorem promises."""

    words: str
    """One sentence that a student understands."""
    values: dict[str, Any] = field(default_factory=dict)
    """Numbers and arrays by name."""
    directions: tuple[tuple[int, np.ndarray], ...] = ()
    """(sign of a, unit vector) of the neurons in the limit, where the theorem names them."""


class Theorem(ABC):
    """One published statement."""

    id: ClassVar[str]
    """The paper and the statement: `phuong2021:thm1`."""
    source: ClassVar[Source]
    summary: ClassVar[str]
    """What it says, in one plain sentence."""
    needs: ClassVar[Needs]
    tolerance: ClassVar[float]
    """Residuals up to this confirm it."""
    invariances: ClassVar[frozenset[str]] = frozenset()
    """What the residual does not notice: `order` of the neurons, `scale` of the weights, a joint
    `rotation` of data and weights."""
    several_classes: ClassVar[bool] = False
    """Whether it also speaks of more than two classes, with an observation whose members are one
    for each class against the rest."""
    proof_covers_it: ClassVar[bool] = False
    """Whether the margin and the directions that it predicts are all that it promises of the limit,
    so that a proof of these proves it."""
    errata: ClassVar[tuple[Erratum, ...]] = ()

    def __repr__(self) -> str:
        return f"{self.id}: {self.summary}"

    def to_saved(self) -> str:
        """What a file of verdicts says of it: its id."""
        return self.id

    @staticmethod
    def from_saved(id: Any) -> Theorem:
        """The theorem of an id that was read from a file."""
        from tacit.theorems.registry import theorem

        return theorem(str(id))

    @abstractmethod
    def example(self) -> Case:
        """A case that meets every hypothesis."""

    @abstractmethod
    def counterexample(self) -> tuple[Case, str]:
        """A case that fails exactly one hypothesis, and the name of that hypothesis."""

    @abstractmethod
    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        """Which hypotheses hold; those about the trajectory are undecided without a run."""

    @abstractmethod
    def predict(self, case: Case) -> Prediction:
        """What the theorem promises, without training.

        This is asked only where no hypothesis about data and setting fails.
        """

    @abstractmethod
    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """How far the run is from the conclusion; None when this run cannot tell.

        An `Estimate` where more than a few rounding errors may be in it: only what is beyond its
        error can refute the theorem.
        """

    def exact_residual(self, case: Case) -> float | None:
        """The residual in exact arithmetic, for statements about the data alone that allow it.

        It is asked for where the residual in floating point breaks the promise.
        """
        return None

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        """A run made by hand that agrees with the prediction; None when the data alone decides."""
        return None

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        """The residual, as a sentence for a person."""
        return f"The residual is {residual:.1e}; up to {self.tolerance:.0e} counts as agreement."
