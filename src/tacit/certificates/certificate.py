"""Is this network the best one? Its KKT residuals, and where its margin stands among all others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tacit.certificates.kkt import KKT
from tacit.certificates.kkt_two_layer import two_layer_kkt
from tacit.certificates.optima import Progress, margins_of
from tacit.data import takes_data
from tacit.messages import printable
from tacit.numerics.convex_program import bracket, convex_optimum
from tacit.numerics.fixed_output import fixed_optimum
from tacit.numerics.neurons import Neurons
from tacit.values import BadInput, Dataset, Interval, Network, Result, Status
from tacit.values.jsonable import plain
from tacit.values.setting import Layers

SMALLEST_TOLERANCE = 1e-12
"""The margin of the weights is computed without a bound of its rounding error, which is smaller."""
TOLERANCE = 1e-6
"""Residuals, shortfalls of the margin and sines of angles to an activation hyperplane up to this
count as none."""


class Optimality(Status):
    """What is known of a margin beside those of all networks."""

    CERTIFIED = "certified", "the margin is the widest of all networks, up to the tolerance"
    SUBOPTIMAL = "suboptimal", "a network with a wider margin exists"
    BOUNDED = "bounded", "whether a network with a wider margin exists was not decided"
    INFEASIBLE = "infeasible", "no network fits the labels"


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Result):
    """What `tacit.certify` returns: what given weights are.

    Attributes
    ----------
    kkt : KKT
        Residuals of the KKT conditions, and the multipliers.
    margin_bounds : Interval
        The widest margin that any network of the kind can have is between these; 0 and 0 when none
        fits the labels.
    optimality : Optimality
        Where the margin stands among those of all networks.
    tolerance : float
        What counts as no residual and no shortfall.
    seconds : float
        How long it took.
    name : str
        What the weights are called.

    Examples
    --------
    >>> import tacit
    >>> data = tacit.load("lyu2021_left:alpha=0.5")
    >>> linear = tacit.Network([[1, 0], [-1, 0]], [1, -1], alpha=0.5)
    >>> certificate = tacit.certify(data, linear)
    >>> certificate.is_kkt, certificate.margin, str(certificate.optimality)
    (True, 0.375, 'certified')
    """

    kkt: KKT
    margin_bounds: Interval
    optimality: Optimality
    tolerance: float
    seconds: float
    dual: np.ndarray
    """λ ≥ 0 that proves the upper bound of the margin, up to a factor."""
    name: str = "network"

    @property
    def margin(self) -> float:
        """q_min/‖θ‖², or q_min/‖W‖ with the output layer fixed, of these weights."""
        return self.kkt.margin

    @property
    def is_kkt(self) -> bool:
        """Whether the weights are a KKT point, up to the tolerance."""
        return self.kkt.holds(self.tolerance)

    @property
    def shortfall(self) -> float:
        """The share of the widest margin that these weights lack, or may lack."""
        widest = self.margin_bounds.upper
        return 1 - max(self.margin, 0.0) / widest if widest > 0 else 0.0

    @property
    def verdict(self) -> str:
        """What the weights are, in one sentence."""
        if self.kkt.feasibility > 0:
            return "Not a KKT point: it does not give every training point its label."
        if not self.is_kkt:
            residual = max(self.kkt.stationarity, self.kkt.complementarity)
            return f"Not a KKT point: the residual is {residual:.1e}; {self._widest}."
        if self.optimality == Optimality.CERTIFIED:
            return f"A KKT point and the global optimum (at most {self.shortfall:.1e} short of it)."
        if self.optimality == Optimality.SUBOPTIMAL:
            return f"A KKT point, not the global optimum: {self._widest}."
        return f"A KKT point; whether it is the global optimum is open: {self._widest}."

    @property
    def _widest(self) -> str:
        lower, upper = self.margin_bounds
        widest = f"between {lower:.6g} and {upper:.6g}"
        if upper - lower <= self.tolerance * upper:
            widest = f"{lower:.6g}"
        return f"the widest margin of all is {widest}, this one is {self.margin:.6g}"

    @property
    def details(self) -> list[str]:
        """The numbers behind the verdict, a line each."""
        kkt, (lower, upper) = self.kkt, self.margin_bounds
        return [
            f"stationarity {kkt.stationarity:.2e}, complementarity {kkt.complementarity:.2e}, "
            f"feasibility {kkt.feasibility:.2e}; margin {self.margin:.10g}",
            kkt.subdifferential,
            f"widest margin of all networks in [{lower:.10g}, {upper:.10g}]: {self.optimality}",
        ]

    def _lines(self) -> list[str]:
        return [f"{printable(self.name)}: {self.verdict}", *self.details]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit certify --json` for one network."""
        kkt = self.kkt
        return plain(
            {
                "name": self.name,
                "kkt": {
                    "stationarity": kkt.stationarity,
                    "feasibility": kkt.feasibility,
                    "complementarity": kkt.complementarity,
                    "holds": self.is_kkt,
                    "tolerance": self.tolerance,
                    "subdifferential": kkt.subdifferential,
                    "boundary": kkt.boundary,
                    "balance": kkt.balance,
                    "multipliers": kkt.multipliers,
                },
                "margin": self.margin,
                "optimality": str(self.optimality),
                "lower": self.margin_bounds.lower,
                "upper": self.margin_bounds.upper,
                "gap": self.shortfall,
                "verdict": self.verdict,
                "seconds": self.seconds,
            }
        )


def worst_of(certificates: Sequence[Certificate]) -> int:
    """The number of the certificate that says the least for its network.

    A network that is no KKT point comes before those that are, the one with the largest residual
    first; among KKT points, the one that may be furthest below the widest margin.
    """

    def badness(k: int) -> tuple[bool, float, float]:
        one = certificates[k]
        return not one.is_kkt, 0.0 if one.is_kkt else one.kkt.residual, one.shortfall

    return max(range(len(certificates)), key=badness)


def certificates_to_dict(certificates: Sequence[Certificate]) -> dict[str, Any]:
    """The JSON of `tacit certify --json`: the worst network, and all if there are several."""
    entries = [one.to_dict() for one in certificates]
    seconds = sum(entry.pop("seconds") for entry in entries)
    several = {"networks": entries} if len(entries) > 1 else {}
    return entries[worst_of(certificates)] | {"seconds": seconds} | several


@takes_data
def certify(
    data: Dataset,
    network: Network,
    *,
    train: Layers = "both",
    tolerance: float = TOLERANCE,
    seconds: float = 120.0,
    progress: Progress | None = None,
) -> Certificate:
    """Say what given weights are: a KKT point? The global optimum? What do they lack?

    Parameters
    ----------
    data : Dataset, str, Path, or X, y
        Points of two classes: what `tacit.load` takes; with arrays, the labels come next.
    network : Network
        The weights, whatever made them, with the slope of their activation.
    train : {"both", "first"}, default "both"
        The layers that count as trained; with "first" the output layer is fixed.
    tolerance : float, default 1e-6
        Residuals, shortfalls of the margin, and sines of the angles between a neuron's activation
        hyperplane and a point on it, up to this, count as none.
    seconds : float, default 120
        Stop looking for better networks after about that long.
    progress : callable, optional
        Called with the bounds of the objective while better networks are looked for.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import tacit
    >>> data = tacit.load("xor")
    >>> print(tacit.certify(data, tacit.optimum(data).network).optimality)
    certified
    """
    if not SMALLEST_TOLERANCE <= tolerance < 1:
        raise BadInput(f"`tolerance={tolerance}` must be at least {SMALLEST_TOLERANCE} and below 1")
    if not seconds >= 0:
        raise BadInput(f"`seconds={seconds:g}` must not be negative")
    if not data.binary:
        raise BadInput(
            f"{data.name} has {len(data.classes)} classes and a network tells two apart; choose "
            f"two, say `labels='{','.join(data.classes[:2])}'`, or one of `data.one_vs_rest(k)`"
        )
    if not isinstance(network, Network):
        raise BadInput("`network` must be a Network, such as tacit.Network(W, a, alpha)")
    if network.d != data.d:
        raise BadInput(f"W has shape {network.W.shape}; the data needs (m, {data.d})")
    started = perf_counter()
    kkt = two_layer_kkt(data, network, train=train, boundary=tolerance, seconds=seconds)
    return compared(data, network, kkt, train, tolerance, seconds, progress, started)


def compared(
    data: Dataset,
    network: Network,
    kkt: KKT,
    train: Layers,
    tolerance: float = TOLERANCE,
    seconds: float = 120.0,
    progress: Progress | None = None,
    started: float | None = None,
) -> Certificate:
    """What `certify` says, when its KKT residuals are known already."""
    started = perf_counter() if started is None else started
    # Even if the KKT problem has used all, a bound needs a moment: no time would prove nothing.
    left = max(seconds - (perf_counter() - started), 0.01 * seconds)
    if train == "both":
        bounds, dual = _with_both_layers(network, data, kkt, tolerance, progress, left)
    else:
        bounds, dual = _with_fixed_output(network, data, progress, left)
    # The weights are a network too, so no widest margin is below theirs.
    lower, upper = max(bounds.lower, kkt.margin), bounds.upper
    optimality = Optimality.INFEASIBLE if upper == 0 else Optimality.BOUNDED
    if kkt.margin >= (1 - tolerance) * upper and upper > 0:
        optimality = Optimality.CERTIFIED
    elif kkt.margin < (1 - tolerance) * lower:
        optimality = Optimality.SUBOPTIMAL
    took = perf_counter() - started
    return Certificate(kkt, Interval(lower, upper), optimality, tolerance, took, dual)


def _with_both_layers(
    network: Network,
    data: Dataset,
    kkt: KKT,
    tolerance: float,
    progress: Progress | None,
    seconds: float,
) -> tuple[Interval, np.ndarray]:
    """Bounds of the widest margin, and λ; the weights' own is tried first (wang2022 Thm. 3)."""
    own = None
    if kkt.holds(tolerance):
        # Its own multipliers prove a global optimum at once, where it is one, and no search is
        # needed.
        neurons, started = Neurons.of(network), perf_counter()
        own = bracket(data.X, data.y, network.alpha, neurons, kkt.multipliers, seconds=seconds)
        if own.gap <= tolerance:
            return margins_of(own.objective_bounds, 2.0), own.dual
        seconds = max(seconds - (perf_counter() - started), 0.01 * seconds)
    best = convex_optimum(data.X, data.y, network.alpha, progress=progress, seconds=seconds)
    bounds, dual = best.objective_bounds, best.dual
    # A search that is cut has often proved less than these multipliers.
    if own is not None and own.objective_bounds.lower > bounds.lower:
        bounds, dual = Interval(own.objective_bounds.lower, bounds.upper), own.dual
    return margins_of(bounds, 2.0), dual


def _with_fixed_output(
    network: Network, data: Dataset, progress: Progress | None, seconds: float
) -> tuple[Interval, np.ndarray]:
    """The same for a fixed output layer; when it is not ±v, half of each, only some of it is known.

    More units can only widen the margin, so the larger of the two numbers of units bounds it from
    above, and the largest |a_k| does.
    """
    a = network.a
    counts = int((a > 0).sum()), int((a < 0).sum())
    v = float(np.abs(a).max())
    if not v > 0:
        return Interval(0.0, math.inf), np.zeros(data.n)
    best = fixed_optimum(data.X, data.y, network.alpha, max(counts), v, progress, seconds)
    even = counts[0] == counts[1] and bool(np.all(np.abs(a) == v))
    bounds = margins_of(best.objective_bounds, 1.0)
    return (bounds if even else bounds._replace(lower=0.0)), best.relaxed.dual
