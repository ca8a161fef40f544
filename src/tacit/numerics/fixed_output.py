"""The widest margin with the output layer fixed at ±v, k units of each sign.

    objective = min ‖W‖   such that   y_i v (Σ₊ φ(w_k·x_i) − Σ₋ φ(w_k·x_i)) ≥ 1 for all i.

Units of one pattern and sign are best all equal, so a group of n_g units with v_g = v·Σ w_k costs
‖v_g‖²/(v² n_g), and the problem is combinatorial in the n_g. Letting them be real numbers gives
√((Σ₊‖v_g‖)² + (Σ₋‖v_g‖)²) / (v√k), a convex program and a lower bound; rounding them and solving
again gives a network. With few units local search gives others (`few_units`), and where it finds
none, integer programming (`mixed_integer`).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from tacit.numerics.convex_program import ConvexOptimum, OptimumStatus, convex_optimum, power_of_two
from tacit.numerics.few_units import fitting
from tacit.numerics.float64 import EPS, LARGEST
from tacit.numerics.mixed_integer import fitting_by_integers
from tacit.numerics.neurons import Neurons, margins, reached_objective
from tacit.numerics.restricted import Groups, restricted_program
from tacit.numerics.tolerances import FIXED_OUTPUT, SEARCH
from tacit.values import Interval, Network


@dataclass(frozen=True, eq=False)
class FixedOptimum:
    """The objective ‖W‖ lies in its bounds; `W`, `a` reach the upper one with smallest margin 1."""

    relaxed: ConvexOptimum
    """The convex program with real group sizes."""
    objective_bounds: Interval
    W: np.ndarray
    """One row per unit that is not zero."""
    a: np.ndarray

    @property
    def gap(self) -> float:
        """(upper − lower)/upper; 0 where rounding has the two meet."""
        return max(self.objective_bounds.gap, 0.0)

    @property
    def status(self) -> OptimumStatus:
        if self.relaxed.status == OptimumStatus.INFEASIBLE:
            return OptimumStatus.INFEASIBLE
        return OptimumStatus.CERTIFIED if self.gap <= SEARCH.certified else OptimumStatus.BOUNDED


def fixed_optimum(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    units: int,
    v: float,
    progress: Callable[[float, float], None] | None = None,
    seconds: float = math.inf,
) -> FixedOptimum:
    """The best network with `units` units of output weight +v and as many of −v."""
    deadline = perf_counter() + seconds
    scale = power_of_two(X)
    share = FIXED_OUTPUT.share_of_time * seconds
    relaxed = convex_optimum(X, y, alpha, budget="pair", progress=progress, seconds=share)
    none = FixedOptimum(
        relaxed,
        relaxed.objective_bounds._replace(upper=math.inf),
        np.zeros((0, X.shape[1])),
        np.zeros(0),
    )
    if relaxed.status == OptimumStatus.INFEASIBLE:
        return none
    # In units in which the longest point has norm about 1, and v is 1; in the span of the points.
    lower = relaxed.objective_bounds.lower * scale / math.sqrt(units)
    Q, R = np.linalg.qr((X / scale).T) if X.shape[1] > len(X) else (None, X.T / scale)
    bounds = Interval(lower, math.inf)
    best = replace(none, objective_bounds=bounds, W=np.zeros((0, len(R))))
    V = relaxed.neurons.V * scale
    # The span of the points holds every optimum: a part across it adds length and no output.
    net = Neurons(V if Q is None else V @ Q, relaxed.neurons.sign)
    for proposal, sizes in _proposals(R.T, y, alpha, units, net, deadline):
        best = _better(best, R.T, y, alpha, proposal, sizes)
    if math.isinf(best.objective_bounds.upper):
        for proposal, sizes in _last_resort(R.T, y, alpha, units, deadline):
            best = _better(best, R.T, y, alpha, proposal, sizes)
    with np.errstate(over="ignore", under="ignore"):
        W = (best.W if Q is None else best.W @ Q.T) / v / scale
    lower = min(lower / v / scale, LARGEST)
    network = Network(W, v * best.a, alpha)
    # Evaluated anew: scaling back has rounded the weights, and the bound is that of these.
    upper = reached_objective(X, y, network, "first") if np.isfinite(W).all() else math.inf
    if math.isinf(upper):  # none was found, or no float can hold the weights
        return replace(none, objective_bounds=Interval(lower, math.inf))
    return replace(best, objective_bounds=Interval(lower, upper), W=W, a=network.a)


def _proposals(
    X: np.ndarray, y: np.ndarray, alpha: float, units: int, net: Neurons, deadline: float
) -> Iterator[tuple[Neurons, np.ndarray]]:
    """Groups and their sizes: those of the convex program rounded, and with few units others."""
    few = _heaviest(net, units)
    if len(net.sign):
        sizes = _sizes(few, units)
        yield few, sizes
        yield from _resolved(X, y, alpha, few, sizes, FIXED_OUTPUT.most_flips, deadline)
        if len(few.sign) == len(net.sign):
            return
    small = X.size * units * FIXED_OUTPUT.random_starts <= FIXED_OUTPUT.most_products
    if not (small and np.linalg.norm(X, axis=1).all()):
        return
    for start in fitting(X, y, alpha, units, net):
        yield from _of_single_units(X, y, alpha, start, deadline)
        if perf_counter() > deadline:
            return


def _last_resort(
    X: np.ndarray, y: np.ndarray, alpha: float, units: int, deadline: float
) -> Iterator[tuple[Neurons, np.ndarray]]:
    """Where nothing else fits: what an exhaustive search proposes, if there are few choices."""
    if len(X) * units > FIXED_OUTPUT.most_choices or not np.linalg.norm(X, axis=1).all():
        return
    start = fitting_by_integers(X, y, alpha, units, deadline)
    if start is not None:
        yield from _of_single_units(X, y, alpha, start, deadline)


def _of_single_units(
    X: np.ndarray, y: np.ndarray, alpha: float, start: Neurons, deadline: float
) -> Iterator[tuple[Neurons, np.ndarray]]:
    """These neurons as they are, and the best ones in their cells and near by."""
    ones = np.ones(len(start.sign), dtype=int)
    yield start, ones
    yield from _resolved(X, y, alpha, start, ones, FIXED_OUTPUT.few_flips, deadline)


def _better(
    best: FixedOptimum,
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    proposal: Neurons,
    sizes: np.ndarray,
) -> FixedOptimum:
    """The better of what is known and groups of these sizes."""
    W = np.repeat(proposal.V / sizes[:, None], sizes, axis=0)
    a = np.repeat(proposal.sign.astype(float), sizes)
    margin = _margin(X, y, alpha, W, a)
    lower, upper = best.objective_bounds
    if not (margin > 0 and 1 / margin < upper):
        return best
    scale = 1 / (margin * float(np.linalg.norm(W)))
    return replace(best, objective_bounds=Interval(lower, 1 / margin), W=W * scale, a=a)


def _heaviest(net: Neurons, units: int) -> Neurons:
    """No more groups than units of either sign: the lightest are left out."""
    lengths = np.linalg.norm(net.V, axis=1)
    kept = [rows[np.argsort(-lengths[rows])][:units] for rows in map(np.flatnonzero, _by_sign(net))]
    rows = np.sort(np.concatenate(kept))
    return Neurons(net.V[rows], net.sign[rows])


def _sizes(net: Neurons, units: int) -> np.ndarray:
    """Whole numbers ≥ 1 near k‖v_g‖/Σ‖v_g‖ that add up to the units of each sign."""
    lengths = np.linalg.norm(net.V, axis=1)
    sizes = np.zeros(len(lengths), dtype=int)
    for rows in _by_sign(net):
        if not rows.any():
            continue
        # The best sizes for given weights are proportional to the lengths; these are their
        # roundings.
        wanted = units * lengths[rows] / lengths[rows].sum()
        whole = np.maximum(np.floor(wanted).astype(int), 1)
        while whole.sum() > units:  # those raised to 1 take from the one that has most to spare
            whole[np.argmax(np.where(whole > 1, whole - wanted, -np.inf))] -= 1
        while whole.sum() < units:
            whole[np.argmax(wanted - whole)] += 1
        sizes[rows] = whole
    return sizes


def _by_sign(net: Neurons) -> tuple[np.ndarray, np.ndarray]:
    return net.sign > 0, net.sign < 0


def _resolved(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    sizes: np.ndarray,
    flips: int,
    deadline: float,
) -> Iterator[tuple[Neurons, np.ndarray]]:
    """The best weights for groups of these sizes, in these cells or in better ones near by.

    Where a group helps a point its side is not held (`restricted`), so that it may have moved to
    the other one, which then counts.
    """
    helps = net.sign[:, None] * y > 0
    pattern = np.where(net.V @ X.T > 0, 1, -1).astype(np.int8)
    best, value = _in_cells(X, y, alpha, net.sign, pattern, sizes, deadline)
    tried, better = 0, best is not None
    while best is not None and better:
        better = False
        for changed in _neighbours(X, best, pattern, helps):
            tried += 1
            if tried > flips or perf_counter() > deadline:
                break
            other, its_value = _in_cells(X, y, alpha, net.sign, changed, sizes, deadline)
            if other is not None and its_value > value * FIXED_OUTPUT.better:
                pattern, best, value, better = changed, other, its_value, True
                break
    if best is not None:
        yield best, sizes


def _neighbours(
    X: np.ndarray, net: Neurons, pattern: np.ndarray, helps: np.ndarray
) -> Iterator[np.ndarray]:
    """The pattern that the network has by now, and those beyond hyperplanes that it touches."""
    t = net.V @ X.T
    moved = np.where(helps, np.where(t > 0, 1, -1), pattern).astype(np.int8)
    if (moved != pattern).any():
        yield moved
    lengths = np.outer(np.linalg.norm(net.V, axis=1), np.linalg.norm(X, axis=1))
    for g, i in np.argwhere((np.abs(t) < FIXED_OUTPUT.touching * lengths) & ~helps):
        flipped = pattern.copy()
        flipped[g, i] *= -1
        yield flipped


def _in_cells(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    sign: np.ndarray,
    pattern: np.ndarray,
    sizes: np.ndarray,
    deadline: float,
) -> tuple[Neurons | None, float]:
    """The best weights inside these cells, and the margin the solver says they have."""
    left = deadline - perf_counter()
    if left < 0:
        return None, 0.0
    groups = Groups(sign, pattern, sign[:, None] * y < 0)
    budget = sizes.astype(float)
    proposal = restricted_program(X, y, alpha, groups, budget, seconds=left)
    if proposal is not None and 0 < proposal.value < FIXED_OUTPUT.tiny:
        # Once more in its own unit: the solver knows a margin up to an error relative to 1.
        unit = proposal.value
        proposal = restricted_program(X, y, alpha, groups, budget, unit=unit, seconds=left)
    return (None, 0.0) if proposal is None else (Neurons(proposal.V, sign), proposal.value)


def _margin(X: np.ndarray, y: np.ndarray, alpha: float, W: np.ndarray, a: np.ndarray) -> float:
    """min y_i f(x_i) / ‖W‖, less rounding errors."""
    length = float(np.linalg.norm(W))
    if not length > 0:
        return 0.0
    net = Neurons(W * np.abs(a)[:, None], np.sign(a).astype(int))
    q, error = margins(X, y, alpha, net)
    return float((q - error).min()) / length * (1 - (W.size + 8) * EPS)
