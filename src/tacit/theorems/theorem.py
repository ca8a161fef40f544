"""What a theorem is: hypotheses with slack, a prediction made without training, and a residual.

A theorem reads like its statement. `hypotheses` says which of its conditions hold and by how much,
`predict` what it promises, from data and setting alone, and `residual` how far a run is from that:
dimensionless and zero exactly at the conclusion. Classes are abstract (this one) or final.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from tacit.geometry.predicate import View, predicates
from tacit.values import Check, Dataset, Network, Setting

Needs = Literal["data", "limit", "path", "descent", "ensemble"]
"""What a residual looks at: nothing but the data; the limit of the flow; its whole path; a run of
gradient descent; or many runs, for a statement about probabilities."""


class Moment(NamedTuple):
    """A network on its way; a convolutional one has its filters in W and its outputs ±1 in a."""

    time: float
    """log t (natural) of gradient flow on the sum of the losses; of descent, the iteration."""
    log_loss: float
    """Natural logarithm of the sum of the losses."""
    network: Network


@dataclass(frozen=True, eq=False)
class Run:
    """What training did."""

    moments: tuple[Moment, ...]
    """In order of time; the first is the start."""
    limit: Network | None = None
    """Where the path leads, when that is known (scaled so that the smallest margin is 1)."""
    outcome: str = "converged"
    """As `tacit limit` calls it; of descent, `done`."""
    members: tuple[Run, ...] = ()
    """Of an ensemble: all runs; then there are no moments."""
    events: tuple[tuple[float, int, str], ...] = ()
    """(log t, neuron, what): neurons that cross a wall, slide, are released or die, in order."""

    @property
    def start(self) -> Network:
        return self.moments[0].network

    @property
    def end(self) -> Network:
        """The limit when it is known, else the last network."""
        return self.moments[-1].network if self.limit is None else self.limit


@dataclass(frozen=True, eq=False)
class Case:
    """What a theorem is asked about."""

    data: Dataset
    setting: Setting
    start: Network | None = None
    """The initial weights, where they have been drawn."""

    @cached_property
    def alpha(self) -> float:
        return self.setting.alpha

    @property
    def both(self) -> bool:
        """Whether both layers of a two-layer net are trained."""
        return self.setting.two_layer and self.setting.train == "both"

    @cached_property
    def view(self) -> View:
        return View(self.data, self.alpha)

    def data_check(self, name: str, place: str) -> Check:
        """A property of the data, as `tacit check` decides it, under the place in this paper."""
        found = self._properties.get(name)
        if found is None:
            found = self._properties[name] = predicates()[name](self.view)
        return Check(name, found.holds, found.slack, place, found.note, found.error)

    _properties: dict[str, Check] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a theorem promises."""

    words: str
    """One sentence that a student understands."""
    values: dict[str, Any] = field(default_factory=dict)
    """Numbers and arrays by name."""
    directions: tuple[tuple[int, np.ndarray], ...] = ()
    """(sign of a, unit vector) of the neurons in the limit, where the theorem names them."""


class Source(NamedTuple):
    """Where a theorem is printed."""

    key: str
    """The paper's: phuong2021."""
    place: str
    """Theorem 1, Lemma A.2, …"""


class Evidence(NamedTuple):
    """What a computation says of a misprint."""

    supports: Literal["printed", "corrected"]
    words: str
    """The numbers that decide."""


class Erratum(NamedTuple):
    """A statement that cannot be meant as it is printed."""

    printed: str
    corrected: str
    check: Callable[[], Evidence]
    """The computation that tells; a second or so."""


class Theorem(ABC):
    """One published statement."""

    id: ClassVar[str]
    """`phuong2021:thm1`."""
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
    """Whether it also speaks of more than two classes, with a run whose members are one for each
    class against the rest."""
    errata: ClassVar[tuple[Erratum, ...]] = ()

    @abstractmethod
    def example(self) -> Case:
        """Meets every hypothesis."""

    @abstractmethod
    def counterexample(self) -> tuple[Case, str]:
        """Fails exactly one hypothesis, and the name of that."""

    @abstractmethod
    def hypotheses(self, case: Case, run: Run | None = None) -> tuple[Check, ...]:
        """Those about the trajectory are undecided without a run."""

    @abstractmethod
    def predict(self, case: Case) -> Prediction:
        """Without training. Asked only where no hypothesis about data and setting fails."""

    @abstractmethod
    def residual(self, prediction: Prediction, case: Case, run: Run | None) -> float | None:
        """How far the run is from the conclusion; None when this run cannot tell."""

    def ideal(self, prediction: Prediction, case: Case) -> Run | None:
        """A run made by hand that agrees with the prediction; None when the data alone decides."""
        return None

    def verdict(self, residual: float, prediction: Prediction, run: Run | None) -> str:
        """The residual, as a sentence for a person."""
        return f"The residual is {residual:.1e}; up to {self.tolerance:.0e} counts as agreement."
