"""The network with the widest margin on a data set: one convex program for each class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np

from tacit.data import takes_data
from tacit.messages import count, printable
from tacit.models import model_text
from tacit.numerics.convex_program import OptimumStatus, convex_optimum
from tacit.numerics.fixed_output import fixed_optimum
from tacit.numerics.neurons import reached_objective
from tacit.numerics.tolerances import SEARCH
from tacit.proofs import Verification
from tacit.values import BadInput, Dataset, Interval, Network, Result, Setting
from tacit.values.jsonable import plain

Progress = Callable[[float, float], None]
"""Called with the lower and upper bound of the objective after every round."""


MOST_WEIGHTS = 10**7
"""The most weights of a network with a fixed output layer, each of whose units is written out."""
OUT_OF_TIME = 0.7
"""A search does not begin what would take longer than is left; from this share on time is short."""
CANCELLING = 1e5
"""Terms of a proof from this size on lose so many digits that a gap may stay above 1e-8."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassOptimum:
    """The optimum of one binary problem: two classes, or one class against the rest."""

    y: np.ndarray
    """The labels ±1 of this problem."""
    status: OptimumStatus
    objective_bounds: Interval
    """Bounds of min Σ|a_k|‖w_k‖, or of min ‖W‖ with a fixed output layer."""
    network: Network
    """A network that reaches the upper bound, scaled so that its smallest margin y_i f(x_i) is 1.
    Without neurons where none was found."""
    dual: np.ndarray
    """λ ≥ 0 that proves the lower bound, or that no network fits."""
    cells: int | None
    """The number of cells that were enumerated for the proof; None where it needed none."""
    exact: dict[int, Fraction] | None
    """Where no network fits: λ in fractions, by row."""

    def __repr__(self) -> str:
        lower, upper = self.objective_bounds
        neurons = count(self.network.width, "neuron")
        return f"ClassOptimum: {self.status}, objective in [{lower:.6g}, {upper:.6g}], {neurons}"


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Result):
    """What `tacit.optimum` returns: bounds of the widest margin, and a network that has it.

    For data of K classes there is one network for each class against the rest; objectives add up
    over the classes (norms of first layers add up as lengths do).

    Attributes
    ----------
    data, setting : Dataset, Setting
        What was asked for.
    signs : tuple of int
        The signs of output weights that were allowed.
    per_class : tuple of ClassOptimum
        One problem for two classes, else one for each class against the rest.
    seconds : float
        How long it took.
    proof : Verification or None
        What the file of a proof, where one was written, was verified to prove.
    limit : float
        How many seconds it was given.

    Examples
    --------
    >>> import tacit
    >>> best = tacit.optimum(tacit.load("xor"))
    >>> best.network.margins(best.data.X, best.data.y).min().round(9)
    np.float64(1.0)
    >>> best.to_dict()["status"]
    'certified'
    """

    data: Dataset
    setting: Setting
    signs: tuple[int, ...]
    per_class: tuple[ClassOptimum, ...]
    seconds: float
    proof: Verification | None = None
    limit: float = math.inf

    @property
    def status(self) -> OptimumStatus:
        """`infeasible` if one class is, `certified` if the gap of all together is closed."""
        if any(part.status == OptimumStatus.INFEASIBLE for part in self.per_class):
            return OptimumStatus.INFEASIBLE
        return OptimumStatus.CERTIFIED if self.gap <= SEARCH.certified else OptimumStatus.BOUNDED

    @property
    def sentence(self) -> str:
        """The status in one sentence."""
        if self.status == OptimumStatus.BOUNDED and math.isinf(self.objective_bounds.upper):
            return "no network that fits was found; whether there is one is open"
        return self.status.sentence

    @property
    def objective_bounds(self) -> Interval:
        """The bounds of the classes' objectives together; with a proof, those that it proves."""
        if self.proof is not None and self.proof.objective_bounds is not None:
            return self.proof.objective_bounds
        # θ of all classes together: squares of norms add up, and Σ|a|‖w‖ is one half of such a
        # square.
        total = math.fsum if self.setting.train == "both" else _length
        lower, upper = zip(*(part.objective_bounds for part in self.per_class), strict=True)
        return Interval(total(lower), total(upper))

    @property
    def gap(self) -> float:
        """(upper − lower)/upper of the objective."""
        return self.objective_bounds.gap

    @property
    def what_would_help(self) -> str:
        """Why an answer is `bounded` only, and what would bring the bounds closer; else empty."""
        if self.status != OptimumStatus.BOUNDED:
            return ""
        if self.seconds > OUT_OF_TIME * self.limit:
            return "the time was over; with more of it the bounds come closer"
        largest = max(self._cancelling_terms(part.dual) for part in self.per_class)
        if largest > CANCELLING:
            return (
                f"there was time left, but no digits: in the proof terms of size {largest:.0e} "
                "cancel to 1, as those of close points with different labels do"
            )
        if self.setting.train == "first":
            return "the lower bound allows parts of units; with more units the bounds come closer"
        return "there was time left, but the search made no more progress"

    def _cancelling_terms(self, dual: np.ndarray) -> float:
        """Σ λ_i ‖x_i‖, also where squares of lengths overflow."""
        rows = np.flatnonzero(dual)
        points = zip(dual[rows].tolist(), self.data.X[rows].tolist(), strict=True)
        return sum(weight * math.hypot(*x) for weight, x in points)

    @property
    def margin_bounds(self) -> Interval:
        """Bounds of the widest normalised margin q_min/‖θ‖^L; 0 and 0 when no network fits."""
        return margins_of(self.objective_bounds, 2.0 if self.setting.train == "both" else 1.0)

    @property
    def margin(self) -> float:
        """The widest normalised margin that is known to be reached."""
        return self.margin_bounds.lower

    @property
    def networks(self) -> tuple[Network, ...]:
        """The best network of each class against the rest, or the one of two classes."""
        return tuple(part.network for part in self.per_class)

    @property
    def network(self) -> Network:
        """The best network for two classes."""
        if len(self.per_class) > 1:
            raise BadInput(
                f"{self.data.name} has {len(self.per_class)} classes with a network each; "
                "`networks` has all of them"
            )
        return self.per_class[0].network

    @property
    def units(self) -> int | None:
        """The number of units of each sign of a fixed output layer."""
        return self.setting.width // 2 if self.setting.train == "first" else None

    @property
    def output_weight(self) -> float | None:
        """v of an output layer that is fixed at ±v."""
        return self.setting.output_weight if self.setting.train == "first" else None

    @property
    def class_names(self) -> list[str]:
        """What each problem is, in words that a terminal can show; "" for two classes."""
        return [f"{printable(name)} against the rest" for name in self.data.classes] or [""]

    @property
    def networks_in_words(self) -> str:
        """Which networks were compared."""
        alpha, v = self.setting.alpha, self.setting.output_weight
        kind = "ReLU" if alpha == 0 else f"Leaky ReLU (α = {alpha:g})"
        if self.units is None:
            sign = {1: "positive", -1: "negative"}[self.signs[0]]
            only = f", {sign} output weights only" if len(self.signs) == 1 else ""
            return f"{kind} networks of every width, both layers free{only}"
        return (
            f"{kind} networks with {count(self.units, 'unit')} of output weight +{v:g} and as many "
            f"of −{v:g}, first layer free"
        )

    @property
    def bounds_in_words(self) -> list[str]:
        """The bounds of the objective and of the margin, a line each."""
        both = self.setting.train == "both"
        formula, power = ("Σ|a|‖w‖", "‖θ‖²") if both else ("‖W‖", "‖W‖")
        lower, upper = self.objective_bounds
        narrow, wide = self.margin_bounds
        return [
            f"objective min {formula} in [{lower:.10g}, {upper:.10g}]",
            f"widest margin q_min/{power} in [{narrow:.10g}, {wide:.10g}], gap {self.gap:.1e}",
        ]

    def _lines(self) -> list[str]:
        lines = [
            f"Optimum on {printable(self.data.name)}: {self.status}, {self.sentence}",
            self.networks_in_words,
        ]
        if self.status == OptimumStatus.INFEASIBLE:
            return lines
        neurons = sum(network.width for network in self.networks)
        return [*lines, *self.bounds_in_words, count(neurons, "neuron")]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit optimum --json`."""
        names = self.data.classes
        one = len(self.per_class) == 1
        neurons = [
            {"w": w, "a": a} | ({"class": names[k]} if names else {})
            for k, network in enumerate(self.networks)
            for w, a in zip(network.W.tolist(), network.a.tolist(), strict=True)
        ]
        duals = [part.dual.tolist() for part in self.per_class]
        cells = [part.cells for part in self.per_class]
        fits = self.status != OptimumStatus.INFEASIBLE
        return plain(
            {
                "name": self.data.name,
                "n": self.data.n,
                "d": self.data.d,
                "classes": list(names) or None,
                "alpha": self.setting.alpha,
                "train": self.setting.train,
                "units": self.units,
                "output_weight": self.output_weight,
                "signs": list(self.signs),
                "status": str(self.status),
                "objective": self.objective_bounds.upper,
                "lower": self.objective_bounds.lower,
                "upper": self.objective_bounds.upper,
                "gap": self.gap if fits else None,
                "margin": self.margin if fits else None,
                "margin_upper": self.margin_bounds.upper if fits else None,
                "neurons": neurons,
                "dual": duals[0] if one else duals,
                "patterns": cells[0] if one else cells,
                "proof": None if self.proof is None else self.proof.to_dict(),
                "seconds": self.seconds,
            }
        )


def _length(values: Sequence[float]) -> float:
    return math.hypot(*values)


def margins_of(objective_bounds: Interval, factor: float) -> Interval:
    """Bounds of the widest margin 1/(factor · objective); an objective of 0 has margin inf."""
    lower, upper = objective_bounds
    # One division after the other: 2 times the largest float would give the margin 0.
    return Interval(*(1 / bound / factor if bound > 0 else math.inf for bound in (upper, lower)))


@takes_data
def optimum(
    data: Dataset,
    setting: Setting | None = None,
    *,
    signs: Sequence[int] = (1, -1),
    seconds: float = 120.0,
    progress: Progress | None = None,
) -> Optimum:
    """Find the network with the widest margin, with proved bounds; nothing is trained.

    With both layers trained, networks of every width compete and the width of the setting plays no
    part; with the first layer only, those with `width` units of output weight ±`output_weight`,
    half of each sign.

    Parameters
    ----------
    data : Dataset, str, Path, or X, y
        What `tacit.load` takes; with arrays, the labels are the second argument. More than two
        classes are taken one against the rest.
    setting : Setting, optional
        Its `activation`, `train`, and with `train="first"` its `width` and `output_weight` count;
        ReLU with both layers trained by default.
    signs : sequence of int, default (1, -1)
        The signs of output weights that are allowed (only with both layers trained).
    seconds : float, default 120
        About how long it may take, over all classes; what has been proved by then is returned.
    progress : callable, optional
        Called with the lower and upper bound of the objective after every round.

    Returns
    -------
    Optimum

    Examples
    --------
    >>> import tacit
    >>> data = tacit.load("lyu2021_left:alpha=0.5")
    >>> round(tacit.optimum(data, tacit.Setting(activation="leaky:0.5")).margin, 9)
    0.375
    """
    setting = Setting() if setting is None else setting
    if not setting.two_layer:
        raise BadInput(
            f"the optimum is that of two_layer networks, not of {model_text(setting.model)}"
        )
    if not signs or not {*signs} <= {1, -1}:
        raise BadInput(f"`signs={signs!r}` must be (1, -1), (1,) or (-1,)")
    if not seconds >= 0:
        raise BadInput(f"`seconds={seconds:g}` must not be negative")
    if setting.train == "first":
        _check_fixed(data, setting, signs)
    started = perf_counter()
    parts = [data] if data.binary else [data.one_vs_rest(k) for k in range(len(data.classes))]
    solve = _both_layers if setting.train == "both" else _first_layer
    deadline = started + seconds
    per_class = []
    for k, part in enumerate(parts):  # what one class leaves, the others have
        left = max((deadline - perf_counter()) / (len(parts) - k), 0.0)
        per_class.append(solve(part, setting, signs, progress, left))
    taken = perf_counter() - started
    return Optimum(data, setting, tuple(signs), tuple(per_class), taken, limit=seconds)


def _check_fixed(data: Dataset, setting: Setting, signs: Sequence[int]) -> None:
    if setting.width * data.d > MOST_WEIGHTS:
        raise BadInput(
            f"`width={setting.width}` in {count(data.d, 'dimension')} are "
            f"{setting.width * data.d:,} weights, {setting.width * data.d / 2**27:.1f} GiB; at "
            f"most {MOST_WEIGHTS:,} are looked for; choose it smaller"
        )
    if setting.width % 2:
        raise BadInput(
            f"`width={setting.width}` must be even: half of the units have weight +v, half −v"
        )
    if len(signs) == 1:
        raise BadInput("`signs` is for networks with both layers trained; leave it out")


def _both_layers(
    data: Dataset, setting: Setting, signs: Sequence[int], progress: Progress | None, seconds: float
) -> ClassOptimum:
    solution = convex_optimum(
        data.X, data.y, setting.alpha, signs, progress=progress, seconds=seconds
    )
    network = solution.neurons.balanced(setting.alpha)
    (lower, upper), status = solution.objective_bounds, solution.status
    if network.width:  # ‖w_k‖ = |a_k| costs a rounding, which close points may multiply
        upper = max(upper, reached_objective(data.X, data.y, network))
        closed = upper - lower <= SEARCH.certified * upper
        status = OptimumStatus.CERTIFIED if closed else OptimumStatus.BOUNDED
    return ClassOptimum(
        data.y,
        status,
        Interval(lower, upper),
        network,
        solution.dual,
        solution.cells,
        solution.proof,
    )


def _first_layer(
    data: Dataset, setting: Setting, signs: Sequence[int], progress: Progress | None, seconds: float
) -> ClassOptimum:
    alpha, v = setting.alpha, setting.output_weight
    solution = fixed_optimum(data.X, data.y, alpha, setting.width // 2, v, progress, seconds)
    return ClassOptimum(
        data.y,
        solution.status,
        solution.objective_bounds,
        Network(solution.W, solution.a, alpha),
        solution.relaxed.dual,
        solution.relaxed.cells,
        solution.relaxed.proof,
    )
