"""Multipliers that show why a network cannot leave its activation patterns: proposals, no proof.

With both layers trained and v_g = |a_g| w_g, any λ ≥ 0 and any κ_gi that is at least λ_i m_gi times
the side where s_g y_i > 0 (m = 1 on the positive side, α on the negative), and between αλ_i and λ_i
where s_g y_i < 0, give Σλ ≤ Σ_g v_g·G_g with G_g = Σ_i s_g y_i κ_gi x_i, as long as neurons keep
their sides at the former samples. The κ that make ‖G_g‖ smallest are a least-squares problem over a
box; λ of the network without one neuron shows how much weight that neuron keeps.
"""

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from tacit.numerics.branch_and_bound import Branched, Branching
from tacit.numerics.tree_proof import tree_proof

SUPPORT = 1e-13
"""Multipliers up to this share of the largest are noise."""
NARROWER = 1e-6
"""The share by which the margin must fall where a neuron is taken away."""
MOST_ROUNDS, MOST_NEW = 20, 3
"""How often, and how many at a time, activation patterns of free neurons are added."""
SLACKS = (5e-10, 1e-8, 1e-7)
"""Shares by which the peak of a tree is above what was found: floats close some trees just so."""
MOST_NUMBERS = 2**18
"""Numbers in a tree; larger ones are not made."""


@dataclass(frozen=True, eq=False)
class TrapMultipliers:
    """λ, and κ of every neuron."""

    dual: np.ndarray
    slopes: np.ndarray
    """Neurons × points."""
    tree: dict[str, Any] | None = None
    """Where neurons of one sign are free: the peak of λ's function for it, as in a proof file."""


def trap_multipliers(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    W: np.ndarray,
    a: np.ndarray,
    lam: np.ndarray,
    margin: float,
    seconds: float,
) -> list[TrapMultipliers]:
    """Find multipliers for λ, and for each neuron those for the λ of the best network without it.

    The list is empty where one of these networks has this margin, or is not found in time, and as
    soon as that shows.
    """
    sign, side = np.sign(a).astype(int), _sides(X, W)
    if _one_is_spare(X, y, alpha, sign, side, lam):
        return []
    begun = perf_counter()
    duals = [lam]
    for g in range(len(a)):
        kept = np.arange(len(a)) != g
        if not kept.any():
            duals.append(lam)
            continue
        share = begun + seconds * (g + 1) / len(a)
        solved = _least_pull(X, y, alpha, sign[kept], side[kept], share)
        if solved is None or perf_counter() > share:
            return []
        if not solved[1] < 2 * margin * (1 - NARROWER):
            return []
        duals.append(solved[0])
    return [_multipliers(X, y, alpha, sign, side, dual) for dual in duals]


def trap_of_one_sign(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    W: np.ndarray,
    a: np.ndarray,
    lam: np.ndarray,
    free: int,
    margin: float,
    seconds: float,
) -> list[TrapMultipliers]:
    """The same where neurons of the sign `free` may go where they like; none where that fails.

    They have to do so without being better anywhere than the neurons that there are; without one
    of the other sign no network may have this margin.
    """
    sign, side = np.sign(a).astype(int), _sides(X, W)
    kept, until = sign != free, perf_counter() + seconds
    climbed = float(_climbed(X, y, alpha, free, lam, W[~kept])[2].max(initial=0.0))
    if _one_is_spare(X, y, alpha, sign[kept], side[kept], lam, climbed):
        return []
    first = _peak(X, y, alpha, free, lam, W[~kept], until)
    duals, peaks = [lam], [first.bound]
    for g in np.flatnonzero(kept):
        others = np.arange(len(a)) != g
        signs, sides = sign[others], side[others]
        for _ in range(MOST_ROUNDS):
            begun = perf_counter()
            solved = _least_pull(X, y, alpha, signs, sides, until)
            to_come = (perf_counter() - begun) * (kept.sum() - len(duals))
            if solved is None or perf_counter() + to_come > until:
                return []  # one for every neuron that is left is the least that it takes
            dual, least = solved
            if not least < 2 * margin * (1 - NARROWER):
                return []  # another network is as good, with neurons that are known
            peak = _peak(X, y, alpha, free, dual, W[~kept], until)
            if max(peak.bound, least) < 2 * margin * (1 - NARROWER):
                break
            more = _sides(X, peak.directions[:MOST_NEW])
            if len(more) == 0:
                return []
            signs, sides = np.append(signs, np.full(len(more), free)), np.vstack([sides, more])
        else:
            return []
        duals.append(dual)
        peaks.append(peak.bound)
    multipliers = []
    for dual, height in zip(duals, peaks, strict=True):
        one = _multipliers(X, y, alpha, sign[kept], side[kept], dual)
        rows = np.flatnonzero(one.dual)
        nodes = None
        for slack in SLACKS:
            top = height * (1 + slack)
            c = free * one.dual[rows] * y[rows]
            nodes = tree_proof(X[rows], c, alpha, top, rows, None, MOST_NUMBERS, until)
            if nodes is not None:
                break
        if nodes is None:
            return []
        multipliers.append(replace(one, tree={"sign": free, "peak": top, "nodes": nodes}))
    return multipliers


def _one_is_spare(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    sign: np.ndarray,
    side: np.ndarray,
    lam: np.ndarray,
    peak: float = 0.0,
) -> bool:
    """Whether one of these neurons surely has no weight that it keeps.

    Of two with the same sides where they have to keep them, either can do without the other. And
    where the pull of the limit's λ on one is shorter than another, or than the peak of the free
    ones, the best network does without it: by complementary slackness it has no weight there.
    """
    held = np.where(sign[:, None] * y > 0, side, 0)
    if len(np.unique(np.column_stack([sign, held]), axis=0)) < len(sign):
        return True
    slopes = _multipliers(X, y, alpha, sign, side, lam).slopes
    pulls = np.linalg.norm((sign[:, None] * y * slopes) @ X, axis=1)
    return bool(pulls.min() < (1 - NARROWER) * max(float(pulls.max()), peak))


def _sides(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    return np.where(W @ X.T > 0, 1, -1).astype(np.int8)


def _peak(
    X: np.ndarray,
    y: np.ndarray,
    alpha: float,
    sign: int,
    lam: np.ndarray,
    W: np.ndarray,
    until: float,
) -> Branched:
    """How large sign·Σ λ_i y_i φ(u·x_i) becomes on the sphere, and where."""
    function, tops, values = _climbed(X, y, alpha, sign, lam, W)
    # A little above what was climbed to, or the search would branch for ever at the peak itself.
    floor = float(values.max(initial=0.0)) * (1 + 1e-11)
    peak = function.maximum(floor, None, max(until - perf_counter(), 0.01))
    best = np.argsort(-values)[:MOST_NEW]
    return replace(peak, directions=np.vstack([peak.directions, tops[best]]))


def _climbed(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: int, lam: np.ndarray, W: np.ndarray
) -> tuple[Branching, np.ndarray, np.ndarray]:
    """The function, and how high one comes from these directions and from the points."""
    rows = np.flatnonzero(lam)
    function = Branching(X[rows], sign * lam[rows] * y[rows], alpha)
    return function, *function.climb(np.vstack([W, X[rows], -X[rows]]))


def _least_pull(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: np.ndarray, side: np.ndarray, until: float
) -> tuple[np.ndarray, float] | None:
    """λ of sum 1 that makes the largest ‖G_h‖ of these neurons smallest, and about how large."""
    import clarabel
    from scipy import sparse

    if X.shape[1] > len(X):  # coordinates in the span of the points keep all lengths
        X = np.linalg.qr(X.T)[1].T
    (n, d), count = X.shape, len(sign)
    width = 1 + n + count * n  # t, λ, κ
    eye = sparse.identity(n, format="csc")
    rows, cones = [_row([0.0] + [1.0] * n, width), _block(-eye, 1, width)], [clarabel.ZeroConeT(1)]
    right = [np.ones(1), np.zeros(n)]
    many = n
    for h in range(count):
        up, at = sign[h] * y > 0, 1 + n + h * n
        ahead, behind = up & (side[h] > 0), up & (side[h] < 0)
        top, floor = sparse.diags((~up).astype(float)), sparse.diags((~up | ahead).astype(float))
        slope = sparse.diags(np.where(ahead, 1.0, alpha))
        low = sparse.diags(behind.astype(float))
        for own, given in (
            (top, -top),  # κ ≤ λ
            (-floor, floor @ slope),  # κ ≥ αλ, or λ where the neuron is ahead
            (low, -alpha * low),  # κ ≤ αλ where it is behind
        ):
            rows.append(_block(own, at, width) + _block(sparse.csc_matrix(given), 1, width))
            right.append(np.zeros(n))
            many += n
    cones.append(clarabel.NonnegativeConeT(many))
    for h in range(count):
        pull = sparse.csc_matrix(-((sign[h] * y)[:, None] * X).T)
        rows += [_row([-1.0], width), _block(pull, 1 + n + h * n, width)]
        right += [np.zeros(1 + d)]
        cones.append(clarabel.SecondOrderConeT(1 + d))
    settings = clarabel.DefaultSettings()
    # One thread: several add in another order, and the same data must give the same proof.
    settings.verbose, settings.max_threads = False, 1
    settings.time_limit = max(until - perf_counter(), 0.0)
    cost = np.zeros(width)
    cost[0] = 1.0
    A = sparse.vstack(rows, format="csc")
    P = sparse.csc_matrix((width, width))
    solver = clarabel.DefaultSolver(P, cost, A, np.concatenate(right), cones, settings)
    x = np.array(solver.solve().x)
    dual = np.maximum(x[1 : n + 1], 0.0)
    return (dual, float(x[0])) if np.isfinite(x).all() and dual.any() else None


def _row(entries: list[float], width: int) -> Any:
    from scipy import sparse

    return sparse.csc_matrix(np.pad(np.array(entries, dtype=float), (0, width - len(entries))))


def _block(block: Any, at: int, width: int) -> Any:
    """The block in its columns of a matrix of this width."""
    from scipy import sparse

    entries = sparse.coo_matrix(block)
    where = entries.row, entries.col + at
    return sparse.csc_matrix((entries.data, where), shape=(block.shape[0], width))


def _multipliers(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: np.ndarray, side: np.ndarray, lam: np.ndarray
) -> TrapMultipliers:
    lam = np.where(lam > SUPPORT * lam.max(), np.maximum(lam, 0.0), 0.0)
    slopes = np.array(
        [_slopes(X, y, alpha, s, own, lam) for s, own in zip(sign, side, strict=True)]
    )
    return TrapMultipliers(lam, slopes)


def _slopes(
    X: np.ndarray, y: np.ndarray, alpha: float, sign: int, side: np.ndarray, lam: np.ndarray
) -> np.ndarray:
    """The κ of one neuron that make ‖G‖ smallest."""
    # αλ is rounded: a κ exactly at it might lie outside of the interval in the exact check.
    low, high = np.nextafter(alpha * lam, np.inf), lam.copy()
    low[lam == 0] = 0.0
    up = sign * y > 0
    low[up & (side > 0)] = lam[up & (side > 0)]
    high[up & (side > 0)] = np.inf
    high[up & (side < 0)] = np.nextafter(alpha * lam[up & (side < 0)], -np.inf)
    if alpha == 0:
        low[~up], high[up & (side < 0)] = 0.0, 0.0
    low[up & (side < 0)] = -np.inf
    free = np.flatnonzero((lam > 0) & (low < high))
    fixed = np.where(up & (side < 0), high, low)
    kappa = np.where(lam > 0, fixed, 0.0)
    kappa[free] = 0.0
    terms = (sign * y)[:, None] * X
    if len(free):
        box = low[free], high[free]
        # As in `least_squares`: SciPy's own tolerance stops far above rounding.
        solved = lsq_linear(terms[free].T, -kappa @ terms, box, method="bvls", tol=1e-15)
        # The solver may leave the box by a rounding error, which the exact check would reject.
        kappa[free] = np.clip(solved.x, *box)
    return kappa
