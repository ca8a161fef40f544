"""The max-margin separator through 0, with a proof of how good it is.

For rows z_i = y_i x_i the two problems

    max_{‖w‖ ≤ 1} min_i z_i·w   =   min_{λ ≥ 0, Σλ = 1} ‖Σ λ_i z_i‖

always have solutions, whatever the scale and whether or not the data is separable: the left value
is the margin when it is positive, and 0 is in the convex hull of the rows when it is not. Any unit
w bounds the margin from below and any λ bounds it from above, so no solver has to be believed:
we compute both bounds ourselves, with the rounding error of the computation added. The error
bounds are wide enough for entries of the rows that were themselves rounded once.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.numerics.farkas import farkas_proof
from tacit.numerics.float64 import EPS, TINY
from tacit.numerics.hull_solvers import by_active_set, by_least_squares, hull_weights
from tacit.numerics.newton import logistic_fit, squared_hinge_fit
from tacit.numerics.tolerances import MARGIN
from tacit.values import Interval, Status


class Separability(Status):
    """Whether a hyperplane through 0 has all rows on one side."""

    SEPARABLE = "separable", "The rows are separable, with a margin of at least the lower bound."
    NOT_SEPARABLE = "not separable", "Farkas' multipliers prove that no hyperplane separates."
    UNDECIDED = "undecided", "Floating point cannot tell on which side of 0 the margin is."


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """The largest margin lies in `margin_bounds`; `direction` reaches the lower one."""

    status: Separability
    """`undecided` when floating point cannot tell on which side of 0 the margin is."""
    direction: np.ndarray
    """Unit vector w (zero when every row is zero); without a margin, one that comes near."""
    margin_bounds: Interval
    """From below min z_i·w, less its rounding error: the data is separable if this is positive.
    From above ‖Σ λ_i z_i‖, plus its rounding error: 0 when the data is proved not separable."""
    multipliers: np.ndarray
    """λ, non-negative, of sum 1: the dual point, or Farkas' proof that no w separates."""

    @property
    def margin(self) -> float:
        """The margin that `direction` has for certain; 0 when none was proved."""
        return max(self.margin_bounds.lower, 0.0)

    @property
    def gap(self) -> float:
        """How much of the margin is not proved; 0 where it is proved that there is none."""
        return 0.0 if self.margin_bounds.upper == 0 else self.margin_bounds.gap


def max_margin(Z: np.ndarray, first: np.ndarray | None = None) -> MaxMargin:
    """Separate the rows of Z from 0 as widely as possible: z_i·w ≥ margin for all i, ‖w‖ = 1.

    Who knows which rows will matter may name them in `first`; the others join where they do.
    """
    Z = np.asarray(Z, dtype=np.float64)
    n, d = Z.shape
    if not Z.any():
        return MaxMargin(
            Separability.NOT_SEPARABLE, np.zeros(d), Interval(0.0, 0.0), np.full(n, 1 / n)
        )
    used = Z.any(axis=0)
    if not used.all():  # a column of zeros changes nothing
        narrow = max_margin(Z[:, used], first)
        direction = np.zeros(d)
        direction[used] = narrow.direction
        return replace(narrow, direction=direction)
    scale = _power_of_two(Z)
    scaled = Z / scale
    answer = _solve(scaled, first)
    lost = (scaled * scale != Z).any(axis=1)  # entries 10³⁰⁰ times smaller than the largest
    if answer.status == Separability.NOT_SEPARABLE and lost[answer.multipliers > 0].any():
        # The proof is about other rows than these.
        bounds = answer.margin_bounds._replace(upper=_upper(scaled, answer.multipliers))
        answer = replace(answer, status=Separability.UNDECIDED, margin_bounds=bounds)
    if answer.status == Separability.UNDECIDED:
        answer = _whatever_the_lengths(Z, scaled, answer)
    if answer.status == Separability.NOT_SEPARABLE:
        answer = _with_best_direction(scaled, answer)
    lower, upper = answer.margin_bounds
    # An entry that was lost is below the smallest float, and enters d products.
    lower = lower - d * TINY if lost.any() else lower
    bounds = Interval(_times(lower, scale, -np.inf), _times(upper, scale, np.inf))
    return replace(answer, margin_bounds=bounds)


def support(Z: np.ndarray, answer: MaxMargin) -> np.ndarray:
    """Rows on the margin: z_i·w within `MARGIN.support` (relative) or rounding of the smallest."""
    Z = Z / _power_of_two(Z)
    margins = Z @ answer.direction
    rounding = 2 * _rounding(Z, answer.direction)
    return np.flatnonzero(margins - rounding <= margins.min() * (1 + MARGIN.support))


def _power_of_two(Z: np.ndarray) -> float:
    """The one below the largest entry: dividing by it rounds nothing but underflows."""
    return math.ldexp(1.0, math.frexp(np.abs(Z).max())[1] - 1)


def _times(value: float, scale: float, towards: float) -> float:
    """value · scale, rounded in the given direction where it is too small or large for a float."""
    product = value * scale
    back = product / scale
    wrong_way = back > value if towards < 0 else back < value
    return math.nextafter(product, towards) if wrong_way else product


def _solve(Z: np.ndarray, first: np.ndarray | None = None) -> MaxMargin:
    working = np.arange(len(Z)) if first is None else np.unique(first)
    best: MaxMargin | None = None
    if len(Z) > 2 * MARGIN.first_rows and first is None:
        best, working = _look_first(Z)
    for _ in range(MARGIN.most_rounds):
        if best is not None and best.status == Separability.NOT_SEPARABLE:
            return best
        part, weights = _nearest_to_zero(Z[working])
        best = _better(best, _of_all_rows(Z, working, part))
        if not _open(best):
            break
        margins = Z @ _unit(weights @ Z[working])
        # Rows with a weight are on the margin; a row that is not even as far brings the hull nearer
        # to 0.
        inside = margins[working[weights > 0]].max(initial=0.0)
        violated = np.setdiff1d(np.flatnonzero(margins < inside), working)
        if len(violated) == 0:
            break
        # Rows without weight may go: the hull's distance to 0 still falls, so nothing repeats.
        worst = violated[np.argsort(margins[violated])[: MARGIN.first_rows // 2]]
        kept = working[(weights > 0) | (margins[working] <= inside)]
        working = np.union1d(kept, worst)
    assert best is not None
    return best


def _whatever_the_lengths(Z: np.ndarray, scaled: np.ndarray, answer: MaxMargin) -> MaxMargin:
    """Undecided: try rows of similar lengths, as w separates these iff it separates the others."""
    exponents = np.frexp(np.abs(Z).max(axis=1))[1]
    rows = np.ldexp(Z, -exponents[:, None])
    other = _solve(rows)
    lower = _lower(scaled, other.direction)
    if other.status == Separability.SEPARABLE:
        bounds = answer.margin_bounds._replace(lower=max(lower, 0.0))
        return MaxMargin(other.status, other.direction, bounds, answer.multipliers)
    if other.status == Separability.NOT_SEPARABLE:
        used = other.multipliers > 0
        if (np.ldexp(rows, exponents[:, None]) == Z)[used].all():  # nothing got lost
            # λ of the shortened rows, by the factors of the rows; a common factor keeps all at 1 or
            # below.
            multipliers = np.ldexp(other.multipliers, exponents[used].min() - exponents)
            multipliers = multipliers / multipliers.sum()
            multipliers[used] = np.maximum(multipliers[used], TINY)  # no row drops out
            bounds = other.margin_bounds._replace(lower=lower)
            return replace(other, margin_bounds=bounds, multipliers=multipliers)
    return answer


def _with_best_direction(Z: np.ndarray, answer: MaxMargin) -> MaxMargin:
    """No w separates. The logistic fit's comes near, and does not depend on the rows' order."""
    if len(Z) > 2 * MARGIN.first_rows:
        return answer  # it has that direction
    w, _ = logistic_fit(Z, ridge=MARGIN.ridge)
    w = _unit(w) if w.any() else answer.direction
    bounds = answer.margin_bounds._replace(lower=_lower(Z, w))
    return replace(answer, direction=w, margin_bounds=bounds)


def _look_first(Z: np.ndarray) -> tuple[MaxMargin | None, np.ndarray]:
    """Large data: Newton fits show whether it separates, and which rows will matter."""
    # A fixed seed: the same data has the same answer.
    rows = np.random.default_rng(0).permutation(len(Z))[: MARGIN.most_logistic_rows]
    w = np.zeros(Z.shape[1])
    # From the fit of a stronger ridge Newton's method has a few steps to that of a weaker one.
    for ridge in (1e-2, 1e-4, 1e-6):
        w, lam = logistic_fit(Z[rows], ridge, w, most_steps=12)
        if (Z[rows] @ w).min() > 0:
            w = squared_hinge_fit(Z[rows], w)
            break
        proof = farkas_proof(Z[rows], lam) if ridge < 1e-2 else None  # at first λ is too rough
        if proof is not None:
            multipliers = np.zeros(len(Z))
            multipliers[rows] = proof
            return _not_separable(Z, _unit(w), multipliers), rows
    return None, np.sort(np.argsort(Z @ w)[: MARGIN.first_rows])


def _nearest_to_zero(Z: np.ndarray) -> tuple[MaxMargin, np.ndarray]:
    """What is proved about these rows, and λ of the point of their hull nearest to 0.

    DAQP goes first because it is up to 8 times faster than NNLS (equal only for a dense support in
    hundreds of dimensions); NNLS is asked, too, where what DAQP finds proves too little.
    """
    best: MaxMargin | None = None
    fitted = False
    for solve in (by_active_set, by_least_squares):
        weights, finished = hull_weights(Z, solve)
        if not finished and solve is by_active_set:
            continue
        if not fitted and np.linalg.norm(weights @ Z) <= MARGIN.surrounds:
            best, fitted = _by_logistic_fit(Z) or best, True
        if _open(best):
            for w, dual in _candidates(Z, weights):
                best = _better(best, _bounds(Z, w, dual))
        if not _open(best):
            break
    assert best is not None
    if best.status == Separability.UNDECIDED and not fitted:
        best = _by_logistic_fit(Z) or best
    return best, weights


def _open(best: MaxMargin | None) -> bool:
    """Whether there is more to prove."""
    return best is None or (
        best.status != Separability.NOT_SEPARABLE and best.gap > MARGIN.good_gap
    )


def _by_logistic_fit(Z: np.ndarray) -> MaxMargin | None:
    """A proof from a logistic fit, whose λ > 0 is better for that than the few rows of a QP's λ."""
    if len(Z) <= MARGIN.most_plain_rows:
        return None
    w, lam = logistic_fit(Z, ridge=MARGIN.ridge)
    proof = farkas_proof(Z, lam) if (Z @ w).min() <= 0 else None
    if proof is None:
        return None
    return _not_separable(Z, _unit(w), proof)


def _of_all_rows(Z: np.ndarray, working: np.ndarray, answer: MaxMargin) -> MaxMargin:
    """What was proved about the working set, said about all rows: their margin is not larger."""
    if len(working) == len(Z):
        return answer
    multipliers = np.zeros(len(Z))
    multipliers[working] = answer.multipliers
    lower = _lower(Z, answer.direction)
    status = answer.status
    if status != Separability.NOT_SEPARABLE:
        status = Separability.SEPARABLE if lower > 0 else Separability.UNDECIDED
    bounds = answer.margin_bounds._replace(lower=lower)
    return MaxMargin(status, answer.direction, bounds, multipliers)


def _candidates(Z: np.ndarray, weights: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs (w, λ): as solved, and polished by solving the equations of the support exactly."""
    rows = np.flatnonzero(weights > 0)
    plain = (_unit(weights @ Z), weights)
    on_margin = Z[rows]
    if not on_margin.any():
        return [plain]
    on_margin = on_margin / _power_of_two(on_margin)
    # On the support z_i·w is one and the same number: take the smallest such w, …
    exact, *_ = np.linalg.lstsq(on_margin, np.ones(len(rows)), rcond=None)
    if not np.isfinite(exact).all() or not exact.any():
        return [plain]
    # … and the λ on the support that makes it: Z_Sᵀ λ ∝ w.
    dual, *_ = np.linalg.lstsq(on_margin.T, exact, rcond=None)
    dual = np.maximum(dual, 0)
    if not dual.sum() > 0:
        return [plain]
    polished = np.zeros(len(Z))
    polished[rows] = dual / dual.sum()
    return [plain, (_unit(exact), polished)]


def _bounds(Z: np.ndarray, w: np.ndarray, multipliers: np.ndarray) -> MaxMargin:
    """The bounds that w and λ prove."""
    lower, upper = _lower(Z, w), _upper(Z, multipliers)
    if lower > 0:
        return MaxMargin(Separability.SEPARABLE, w, Interval(lower, upper), multipliers)
    proof = farkas_proof(Z, multipliers) if upper <= MARGIN.try_proof else None
    if proof is not None:
        return _not_separable(Z, w, proof)
    return MaxMargin(Separability.UNDECIDED, w, Interval(lower, upper), multipliers)


def _not_separable(Z: np.ndarray, w: np.ndarray, proof: np.ndarray) -> MaxMargin:
    """No direction separates, by this proof; w comes near."""
    return MaxMargin(Separability.NOT_SEPARABLE, w, Interval(_lower(Z, w), 0.0), proof)


def _lower(Z: np.ndarray, w: np.ndarray) -> float:
    """min z_i·w/‖w‖ for a w that is a unit vector up to rounding, less all rounding errors."""
    lower = float((Z @ w - _rounding(Z, w)).min())
    # Also ‖w‖ is 1 up to rounding only.
    return lower - (len(w) + 4) * EPS * abs(lower)


def _upper(Z: np.ndarray, multipliers: np.ndarray) -> float:
    """‖Σ λ_i z_i‖ for λ of sum 1 up to rounding, plus all rounding errors."""
    rows = np.flatnonzero(multipliers)
    lam = multipliers[rows]
    # hypot neither overflows nor underflows where the squares would.
    combined = math.hypot(*(lam @ Z[rows]))
    errors = math.hypot(*(lam @ np.abs(Z[rows]))) * EPS + Z.shape[1] * TINY
    return combined * (1 + (len(rows) + 8) * EPS) + (len(rows) + 4) * errors


def _rounding(Z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Bounds of the errors of Z @ w, those of underflow too."""
    return (len(w) + 2) * (EPS * (np.abs(Z) @ np.abs(w)) + TINY * Z.any(axis=1))


def _better(old: MaxMargin | None, new: MaxMargin) -> MaxMargin:
    """Join what both prove: the larger lower bound and the smaller upper bound."""
    if old is None or new.status == Separability.NOT_SEPARABLE:
        return new
    if old.status == Separability.NOT_SEPARABLE:
        return old
    primal = new if new.margin_bounds.lower > old.margin_bounds.lower else old
    dual = new if new.margin_bounds.upper < old.margin_bounds.upper else old
    bounds = Interval(primal.margin_bounds.lower, dual.margin_bounds.upper)
    return replace(primal, margin_bounds=bounds, multipliers=dual.multipliers)


def _unit(v: np.ndarray) -> np.ndarray:
    if not v.any():
        return v
    # First this: the squares of entries below 1e-154 would be 0.
    v = v / np.abs(v).max()
    return v / np.linalg.norm(v)
