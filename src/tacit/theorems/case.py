"""What a theorem is asked about: data, setting, and initial weights."""

from dataclasses import dataclass, field
from functools import cached_property

from tacit.geometry.predicate import View, predicates
from tacit.values import BadInput, Check, Dataset, Network, Setting


@dataclass(frozen=True, eq=False)
class Case:
    """What a theorem is asked about.

    Parameters
    ----------
    data : Dataset
        The training points.
    setting : Setting
        Network, initialisation, loss and training rule.
    start : Network, optional
        The initial weights, where they have been drawn; its slope α is that of the setting. A
        convolutional network has its filters in W and its output weights, ±1, in a.
    """

    data: Dataset
    setting: Setting
    start: Network | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.start.alpha != self.alpha:
            raise BadInput(
                f"start has the slope α = {self.start.alpha:g}, the setting's activation is "
                f"{self.setting.activation}"
            )

    @property
    def given_start(self) -> Network:
        """The initial weights of a case that has them."""
        assert self.start is not None
        return self.start

    @cached_property
    def alpha(self) -> float:
        """The slope α of the activation for negative inputs."""
        return self.setting.alpha

    @property
    def both(self) -> bool:
        """Whether both layers of a two-layer net are trained."""
        return self.setting.two_layer and self.setting.train == "both"

    @cached_property
    def view(self) -> View:
        """The data as the properties of `tacit check` look at it."""
        return View(self.data, self.alpha)

    def data_check(self, name: str, place: str) -> Check:
        """A property of the data, as `tacit check` decides it, with its place in this paper."""
        check = self._properties.get(name)
        if check is None:
            check = self._properties[name] = predicates()[name](self.view)
        return Check(name, check.holds, check.slack, place, check.note, check.error)

    _properties: dict[str, Check] = field(default_factory=dict, repr=False)
