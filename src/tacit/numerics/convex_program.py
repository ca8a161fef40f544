"""The widest margin any two-layer (Leaky) ReLU network can have, with a proof.

    objective = min Σ_k |a_k|‖w_k‖   such that   y_i Σ_k a_k φ(w_k·x_i) ≥ 1 for all i,

a convex program over the cells of an arrangement (wang2022 (14)) that is never written out.
Three small things grow instead: a set of points (the others are checked, and join when they are
violated), a set of neurons (`restricted`), and the arrangement of the few points that have a
multiplier λ_i > 0, in which `pricing` finds neurons still missing or proves that there are none.

Any network that separates bounds the objective from above, any λ ≥ 0 from below; both bounds are
computed here, rounding errors included, whoever proposed the network and λ.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from tacit.numerics.arrangements import cover
from tacit.numerics.column_generation import Search
from tacit.numerics.float64 import EPS, LARGEST
from tacit.numerics.infeasible import Proof, no_network_fits
from tacit.numerics.neurons import Neurons, size
from tacit.numerics.restricted import Budget
from tacit.numerics.tolerances import SEARCH
from tacit.values import Interval, Status


class OptimumStatus(Status):
    """What is known of an optimum."""

    CERTIFIED = "certified", "this is the widest margin of all, up to the gap"
    BOUNDED = "bounded", "the widest margin of all is between the two bounds"
    INFEASIBLE = ("infeasible", "no network of this kind, however wide, fits these labels (proved)")


@dataclass(frozen=True, eq=False)
class ConvexOptimum:
    """The objective lies in its bounds; `neurons` reach the upper one, with smallest margin 1."""

    status: OptimumStatus
    objective_bounds: Interval
    """The upper one is inf when no network was found."""
    neurons: Neurons
    dual: np.ndarray
    """λ ≥ 0 that proves the lower bound Σλ; for `infeasible`, Σ λ_i y_i φ(u·x_i) = 0 for all u."""
    cells: int | None
    """Cells of the arrangement that was enumerated for the proof; None: none was needed."""
    proof: Proof | None = None
    """For `infeasible`: the same λ as exact fractions, by row."""

    @property
    def gap(self) -> float:
        """(upper − lower)/upper."""
        return self.objective_bounds.gap


def convex_optimum(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float = 0.0,
    signs: Sequence[int] = (1, -1),
    budget: Budget = "sum",
    progress: Callable[[float, float], None] | None = None,
    seconds: float = math.inf,
    target: float | None = None,
) -> ConvexOptimum:
    """The best network for the rows of X with labels y = ±1.

    `signs` are the output weights' signs that are allowed. With the budget `pair` the objective is
    √((Σ₊‖v_g‖)² + (Σ₋‖v_g‖)²), which bounds networks whose output layer is fixed. `progress` hears
    the lower and upper bound after every round. The search ends when the gap is closed, when no
    progress is made, after about `seconds`, or when it is known on which side of `target` the
    objective lies.
    """
    known = _without_search(X, no_network_fits(X, y, alpha, signs))
    if known is not None:
        return known
    scale = power_of_two(X)
    if X.shape[1] > len(X):  # only the span of the points matters
        Q, R = np.linalg.qr((X / scale).T)
        goal = None if target is None else target * scale
        report = None if progress is None else _in_unit(progress, scale)
        # What is found there is proved once more here; a proof has a third of the time.
        deadline = perf_counter() + seconds
        flat = convex_optimum(R.T, y, alpha, signs, budget, report, seconds * 2 / 3, goal)
        net = Neurons(_of_size_one(flat.neurons.V) @ Q.T, flat.neurons.sign)
        left = deadline - perf_counter()
        return bracket(X, y, alpha, net, flat.dual, signs, budget, left)
    n, d = X.shape
    many = cover(min(n, 2 * d), d) > SEARCH.eager_cells
    search = Search(X / scale, y.astype(float), alpha, tuple(signs), budget, seconds)
    search.warm_start_linear()
    if many:
        search.begin_in_cells()
    stalled, precision = 0, SEARCH.coarse
    for _ in range(SEARCH.most_rounds):
        if search.hopeless:
            break
        before, left = search.gap, search.left
        missing = search.round(precision)
        if progress is not None:
            upper = 1 / search.margin / scale if search.margin > 0 else math.inf
            progress(1 / search.bound / scale, upper)
        # No finer than what is missing asks for: early programs are far from the optimum anyway.
        precision = min(max(SEARCH.ahead * missing, SEARCH.fine), SEARCH.coarse)
        stalled = 0 if missing > 0 or search.gap < SEARCH.progress * before else stalled + 1
        if search.gap <= SEARCH.certified / 10 or stalled == (
            1 if search.unfinished else SEARCH.most_stalled
        ):
            break
        # A round takes about as long as the last one; one that would be cut proves nothing.
        if search.time_for_a_round < SEARCH.next_round * (left - search.left):
            break
        if _decided(search, scale, target):
            break
    search.any_network()
    if search.gap > SEARCH.certified and not _decided(search, scale, target):
        search.finish()
    return _answer(search, scale)


def _in_unit(
    progress: Callable[[float, float], None], scale: float
) -> Callable[[float, float], None]:
    return lambda lower, upper: progress(lower / scale, upper / scale)


def _decided(search: Search, scale: float, target: float | None) -> bool:
    """The margin is surely above, or surely below, that of the target."""
    if target is None:
        return False
    margin = 1 / (target * scale)
    return search.margin > margin or search.bound < margin


def _without_search(X: np.ndarray, proof: Proof | None) -> ConvexOptimum | None:
    """What is known when no network fits, or when floats cannot hold long and short rows at once.

    In the second case a single point, the shortest, has a multiplier (that bounds a pair too).
    """
    net, dual = Neurons(np.zeros((0, X.shape[1])), np.zeros(0, dtype=int)), np.zeros(len(X))
    if proof is not None:
        dual[list(proof)] = [float(value / sum(proof.values())) for value in proof.values()]
        nowhere = Interval(math.inf, math.inf)
        return ConvexOptimum(OptimumStatus.INFEASIBLE, nowhere, net, dual, None, proof)
    lengths = [math.hypot(*row) for row in X.tolist()]
    shortest = int(np.argmin(lengths))
    # Squares of such ratios (1e-200) are still ordinary floats; products of three would underflow.
    if lengths[shortest] > 1e-100 * max(lengths):
        return None
    lower = dual[shortest] = min(0.5 / lengths[shortest], LARGEST)
    return ConvexOptimum(OptimumStatus.BOUNDED, Interval(lower, math.inf), net, dual, None)


def _answer(search: Search, scale: float) -> ConvexOptimum:
    """The result in the data's own unit: the smallest margin is 1, and λ is dual feasible."""
    n, d = search.X.shape
    search.shrink()
    # Rounded down, by more than the divisions can round up.
    lower = min((1 - 8 * EPS) / search.bound / scale, LARGEST)
    upper, net = math.inf, Neurons(np.zeros((0, d)), np.zeros(0, dtype=int))
    if search.margin > 0:
        total = size(search.net, search.budget)
        rounded = Neurons(search.net.V / (total * search.margin), search.net.sign)
        # Evaluated anew: the division has rounded the weights, and the bound is that of these.
        search.margin = 0.0
        search.look_at(rounded)
        if search.margin > 0:
            upper = (1 + 8 * EPS) / search.margin / scale
            with np.errstate(over="ignore", under="ignore"):
                net = Neurons(rounded.V / scale, rounded.sign)
            if not (np.isfinite(net.V).all() and math.isfinite(upper)):  # no float can hold it
                upper, net = math.inf, Neurons(np.zeros((0, d)), np.zeros(0, dtype=int))
    done = math.isfinite(upper) and upper - lower <= SEARCH.certified * upper
    status = OptimumStatus.CERTIFIED if done else OptimumStatus.BOUNDED
    return ConvexOptimum(status, Interval(lower, upper), net, search.dual * lower, search.cells)


def power_of_two(X: np.ndarray) -> float:
    """One near the largest entry: dividing by it rounds nothing but underflows."""
    return math.ldexp(1.0, math.frexp(float(np.abs(X).max(initial=1e-300)))[1] - 1)


def bracket(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    net: Neurons,
    lam: np.ndarray,
    signs: Sequence[int] = (1, -1),
    budget: Budget = "sum",
    seconds: float = math.inf,
) -> ConvexOptimum:
    """What a given network and given multipliers prove about the optimum, without a search.

    A proof that takes more than about `seconds` is cut: its bound is valid, but not sharp.
    """
    known = _without_search(X, no_network_fits(X, y, alpha, signs))
    if known is not None:
        return known
    scale = power_of_two(X)
    search = Search(X / scale, y.astype(float), alpha, tuple(signs), budget, seconds)
    net = Neurons(_of_size_one(net.V), net.sign)
    search.look_at(net)
    if np.isfinite(lam).all() and lam.any():
        # Their scale says nothing, and very large or small ones would overflow in sums.
        search.prove(lam / lam.max(), net, search.margin, share=1.0)
    return _answer(search, scale)


def _of_size_one(V: np.ndarray) -> np.ndarray:
    """The same network in another unit, with largest entry 1; nothing of one that is infinite."""
    largest = float(np.abs(V).max(initial=0.0))
    return V / largest if 0 < largest < math.inf else np.zeros(V.shape)
