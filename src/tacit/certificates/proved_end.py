"""What gradient flow can still become from given weights, whatever it does on the way.

Once L < ℓ(0), the smoothed margin γ̃ = ℓ⁻¹(L)/‖θ‖^K, with L the sum of the losses and K the number
of layers that are trained, never falls along gradient flow, sliding along hyperplanes included; it
is never above the margin, and tends to the same limit. No network has a wider margin than γ*. So
the margin can only end in [γ̃ now, γ*]. λ ≥ 0 that proves γ* also says where weight can be: see
docs/proved.md, where all of this is derived.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from tacit.certificates.certificate import Certificate
from tacit.messages import count, outward, percent_below
from tacit.numerics.branch_and_bound import Branching, maxima
from tacit.numerics.convex_program import power_of_two
from tacit.numerics.float64 import EPS
from tacit.numerics.trapping import TrapMultipliers, trap_multipliers
from tacit.numerics.tree_proof import Caps, Node, tree_proof
from tacit.proofs import Budget, Rejected, Stored, TrapCertificate, float_above, prove_trap
from tacit.values import BadInput, Dataset, Group, Interval, Network
from tacit.values.setting import Layers

NARROW = 1e-6
"""Bounds of the margin whose gap is at most this prove the limit."""
ANGLES = (0.01, 0.1)
"""Radians around the optimal directions in which the weight is shown to end: the first that can."""
SHARES = (0.9, 0.5, 0.1)
"""λ's function is shown to stay this share of 1 − cos δ below its peak outside of these caps."""
MOST_NUMBERS = 2**18
"""Numbers in the tree that shows it; larger ones are not made."""
SAME = 1e-6
"""Radians up to which two directions are one."""
TIE = 1e-9
"""The share by which a bound may be above another that says nothing of directions."""
ON_PLANE = 1e-9
"""The sine of the angle up to which a neuron is taken to lie on an activation hyperplane."""
BLOCK = 10**7
"""Products of neurons and points that are held at a time."""
MOST_TRAPPED = 30
"""Neurons, those that have aligned taken as one, of a network whose patterns are looked at."""

Tail = Literal["logistic", "exponential"]


@dataclass(frozen=True, eq=False, repr=False)
class ProvedEnd:
    """Where gradient flow from these weights can end."""

    network: Network
    """The weights themselves, not those of the limit."""
    log10_loss: float
    """log₁₀ of their loss, summed over the samples."""
    margin_bounds: Interval
    """The normalised margin ends between these, which are rounded outwards."""
    dual: np.ndarray
    """λ ≥ 0 that proves the upper bound."""
    directions: tuple[tuple[int, np.ndarray], ...] = ()
    """Signs of output weights, and unit vectors in which λ's function is at its peak."""
    angle: float | None = None
    """δ: radians around these directions; None where nothing is proved of directions."""
    levels: tuple[float, float] | None = None
    """Further away than δ, λ's function is at most this, for positive and negative outputs; the
    share of its peak that it lacks there is c(δ)."""
    share: float | None = None
    """At least this share of Σ|a_k|‖w_k‖ ends within δ of one of the directions."""
    trap: tuple[TrapMultipliers, ...] = ()
    """Where the bound from above is one for these activation patterns: why they are kept."""

    def __repr__(self) -> str:
        return f"ProvedEnd: {self.sentence}"

    @property
    def narrow(self) -> bool:
        """Whether the bounds are so close that the margin of the limit is known."""
        return self.margin_bounds.gap <= NARROW

    def excludes(self, margin: float) -> bool:
        """Whether no limit can have this margin."""
        lower, upper = self.margin_bounds
        return not (1 - NARROW) * lower <= margin <= (1 + NARROW) * upper

    @property
    def sentence(self) -> str:
        """What is proved, in words."""
        lower, upper = outward(*self.margin_bounds)
        here = f"From here on (log₁₀ L = {self.log10_loss:.4g})"
        said = f"{here} the margin can only end between {lower} and {upper}"
        if self.share is None:
            return f"{said}."
        where = count(len(self.directions), "direction")
        share = f"at least {percent_below(self.share)}" if self.share < 1 else "all"
        kept = ", and the activation patterns that matter are kept" if self.trap else ""
        near = f"{share} of the weight ends within {self.angle:g} rad of {where}"
        return f"{said}; {near}{kept}."


def proved_end(
    data: Dataset,
    network: Network,
    train: Layers,
    tail: Tail,
    certificate: Certificate,
    groups: Sequence[Group],
    seconds: float = math.inf,
) -> ProvedEnd | None:
    """What is proved of the end of gradient flow from a network; None while L ≥ ℓ(0).

    Parameters
    ----------
    data : Dataset
        Points of two classes.
    network : Network
        The weights from which the flow goes on.
    train : {"both", "first"}
        The layers that are trained.
    tail : {"logistic", "exponential"}
        The loss.
    certificate : Certificate
        Of the limit that the path points to: its λ proves how wide a margin can be.
    groups : sequence of Group
        Of this limit: where the weight should be.
    seconds : float, default inf
        About how long the search for the peaks of λ may take with the output layer fixed.

    Returns
    -------
    ProvedEnd or None
    """
    with np.errstate(all="ignore"):  # of sizes beyond floats, of which nothing is proved
        smallest, log_loss = smoothed(data, network, tail)
        norm = float(np.linalg.norm(network.W))
        if train == "both":
            norm = norm**2 + float(network.a @ network.a)
        lower = smallest / norm * (1 - (network.W.size + network.width + 16) * EPS)
    if not 0 < lower < math.inf:
        return None
    upper, dual = certificate.margin_bounds.upper * (1 + 4 * EPS), certificate.dual
    peaks = {1: 1.0, -1: 1.0} if train == "both" else None
    for lam in (certificate.kkt.multipliers, certificate.dual) if train == "first" else ():
        if not lam.any():
            continue
        bound, heights = _fixed_bound(data, network, lam, groups, seconds / 2)
        if bound <= upper * (1 + TIE):
            upper, dual, peaks = bound, lam, heights
        if lower >= (1 - NARROW) * upper:
            break
    log10_loss = log_loss / math.log(10)
    end = ProvedEnd(network, log10_loss, Interval(min(lower, upper), upper), dual)
    if end.narrow and peaks is not None:
        return _with_share(end, data, train, peaks, groups)
    return end


def trapped_end(
    data: Dataset, network: Network, tail: Tail, multipliers: np.ndarray
) -> ProvedEnd | None:
    """What is proved of a network that cannot leave its activation patterns, both layers trained.

    Its limit need not be the global optimum. `multipliers` are those of the limit; what they prove
    is decided by the exact check.
    """
    with np.errstate(all="ignore"):
        smallest, log_loss = smoothed(data, network, tail)
        norm = float(np.linalg.norm(network.W)) ** 2 + float(network.a @ network.a)
        lower = smallest / norm * (1 - (network.W.size + network.width + 16) * EPS)
    products = network.W @ data.X.T
    live = (products >= 0).any(axis=1) if network.alpha == 0 else np.ones(network.width, dtype=bool)
    if not 0 < lower < math.inf or not 0 < live.sum() <= MOST_TRAPPED:
        return None
    W, a, unit = network.W[live], network.a[live], power_of_two(data.X)
    trap = tuple(trap_multipliers(data.X / unit, data.y, network.alpha, W, a, multipliers))
    stored = Stored(data.X, data.y, network.alpha, network.W, network.a)
    certificates = tuple(TrapCertificate(one.dual, one.slopes) for one in trap)
    pulls = np.sign(a)[:, None] * ((trap[0].slopes * data.y) @ data.X) if trap else W
    directions = tuple(
        (int(s), g / np.linalg.norm(g)) for s, g in zip(np.sign(a), pulls, strict=True) if g.any()
    )
    for angle in ANGLES if trap else ():
        try:
            bound = prove_trap(
                stored, certificates, Fraction(lower), angle, Budget(), "the network"
            )
        except (Rejected, BadInput):
            continue
        upper = float_above(bound)
        return ProvedEnd(
            network,
            log_loss / math.log(10),
            Interval(min(lower, upper), upper),
            trap[0].dual,
            directions,
            angle,
            None,
            1.0,
            trap,
        )
    return None


def smoothed(data: Dataset, network: Network, tail: Tail) -> tuple[float, float]:
    """ℓ⁻¹(Σ ℓ(q_i)) from below, rounding errors included, and about log Σ ℓ(q_i)."""
    size = np.linalg.norm(data.X, axis=1) * float(network.weights.sum())
    q = network.margins(data.X, data.y) - (network.width + network.d + 8) * EPS * size
    least = float(q.min())
    with np.errstate(under="ignore"):
        total = float(np.exp(least - q).sum()) * (1 + (data.n + 8) * EPS)
    inverse = least - math.log(total) - 8 * EPS * (abs(least) + math.log(total))  # of e^(−q)
    log_loss = -inverse
    if tail == "logistic":  # log(1 + e^(−q)) ≤ e^(−q), and e^S − 1 ≤ S e^S
        inverse -= math.exp(-inverse) * (1 + 8 * EPS) if inverse > -700 else math.inf
    return inverse, log_loss


def out_of_play(data: Dataset, network: Network) -> dict[int, np.ndarray]:
    """Neurons that will never add to a margin while the output layer is fixed, each with a v.

    The neuron stays in the ball around v through w_k. There it is active, if at all, on samples
    with a_k y_i < 0, whose hyperplane v is not beyond: so each of them pulls it towards v.
    """
    out: dict[int, np.ndarray] = {}
    if network.alpha > 0:
        return out
    X, lengths = data.X, np.linalg.norm(data.X, axis=1)
    idle = np.zeros(network.width, dtype=bool)
    for block in np.array_split(np.arange(network.width), 1 + network.width * data.n // BLOCK):
        W, a = network.W[block], network.a[block]
        close = W @ X.T >= -ON_PLANE * np.outer(np.linalg.norm(W, axis=1), lengths)
        idle[block] = ~(close & (np.outer(a, data.y) >= 0)).any(axis=1)
    for k in np.flatnonzero(idle).tolist():
        v = w = network.W[k]
        t, size = X @ w, float(np.linalg.norm(w)) * lengths
        on = t >= -ON_PLANE * size
        if on.any():  # a little behind their hyperplanes
            room = max(float(t[on].max()), 0.0) + ON_PLANE * float(size.max())
            v = w - room * np.linalg.lstsq(X[on], np.ones(int(on.sum())))[0]
        reach = float(np.linalg.norm(v - w)) * (1 + (network.d + 8) * EPS)
        top = X @ v + (network.d + 8) * EPS * (np.abs(X) @ np.abs(v))
        helps = on & (network.a[k] * data.y >= 0)  # by the rounding of another product
        if (top + np.where(on, 0.0, reach * lengths) < 0).all() and not helps.any():
            out[k] = v
    return out


def _fixed_bound(
    data: Dataset, network: Network, lam: np.ndarray, groups: Sequence[Group], seconds: float
) -> tuple[float, dict[int, float]]:
    """The widest margin with these output weights, given who is out of play; and λ's peaks.

    Σλ ≤ Σ|a_k|‖w_k‖ M_{sign a_k} ≤ ‖W‖ √(Σ a_k² M²_{sign a_k}), over the neurons in play.
    """
    rows, X, weights = _support(data, lam)
    functions = {s: Branching(X, s * weights * data.y[rows], network.alpha) for s in (1, -1)}
    floors = []
    for s, function in functions.items():
        values = function.climb(_middles(groups, s, data.d))[1]
        floors.append(float(values.max(initial=0.0)) * (1 + 1e-11))
    bounds = [one.bound for one in maxima(list(functions.values()), floors, None, seconds)]
    peaks = dict(zip((1, -1), bounds, strict=True))
    live = np.ones(network.width, dtype=bool)
    live[list(out_of_play(data, network))] = False
    heights = np.where(network.a > 0, peaks[1], peaks[-1]) * np.abs(network.a)
    total = float(np.linalg.norm(heights[live])) * (1 + (network.width + 8) * EPS)
    return total / float(lam.sum()) * (1 + (data.n + 8) * EPS), peaks


def _with_share(
    end: ProvedEnd,
    data: Dataset,
    train: Layers,
    peaks: dict[int, float],
    groups: Sequence[Group],
) -> ProvedEnd:
    """The same with directions, where weight is shown to end near them."""
    size = float(end.dual @ np.linalg.norm(data.X, axis=1)) / max(peaks.values())
    gap = end.margin_bounds.gap * (1 + 8 * EPS) + 8 * EPS * (size + data.n)  # λ was rounded
    if train == "first":  # of all weight, which is at least Σλ over the larger peak
        smaller, larger = sorted(peaks.values())
        if not smaller > NARROW * larger:
            return end
        gap = gap / (1 - gap) * larger / smaller
    for angle in ANGLES:
        directions = optimal_directions(end, data, peaks, groups, angle)
        for share in SHARES:
            clearance = share * 2 * math.sin(angle / 2) ** 2
            far = gap / clearance * (1 + 16 * EPS)
            if far >= 1:
                break
            below = (1 - clearance) * (1 - 4 * EPS)
            known = replace(
                end,
                directions=directions,
                angle=angle,
                levels=(peaks[1] * below, peaks[-1] * below),
                share=1 - far,
            )
            if all(far_tree(known, data, s) is not None for s in (1, -1)):
                return known
    return end


def optimal_directions(
    end: ProvedEnd, data: Dataset, peaks: dict[int, float], groups: Sequence[Group], angle: float
) -> tuple[tuple[int, np.ndarray], ...]:
    """The directions of the limit, and others in which λ's function is near its peak as well."""
    rows, X, weights = _support(data, end.dual)
    directions = [(group.sign, group.direction) for group in groups]
    for s in (1, -1):
        function = Branching(X, s * weights * data.y[rows], end.network.alpha)
        tops, values = function.climb(np.vstack([X, -X]))
        for u in tops[values > peaks[s] * math.cos(angle)]:
            apart = [np.linalg.norm(u - v) for sign, v in directions if sign == s]
            if min(apart, default=math.inf) > SAME:
                directions.append((s, u / np.linalg.norm(u)))
    return tuple(directions)


def far_tree(end: ProvedEnd, data: Dataset, sign: int) -> list[Node] | None:
    """The tree that shows how low λ's function stays away from the directions of this sign."""
    assert end.angle is not None and end.levels is not None
    rows, X, weights = _support(data, end.dual)
    names = np.array([j for j, (s, _) in enumerate(end.directions) if s == sign], dtype=int)
    middle = np.array([end.directions[j][1] for j in names]).reshape(len(names), data.d)
    caps = Caps(middle, cap_cosine(end.angle), data.n + names)
    c, level = sign * weights * data.y[rows], end.levels[0 if sign > 0 else 1]
    return tree_proof(X, c, end.network.alpha, level, rows, caps, MOST_NUMBERS)


def cap_cosine(angle: float) -> float:
    """A float that is surely not below cos δ."""
    return math.cos(angle) * (1 + 4 * EPS)


def _support(data: Dataset, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with λ_i > 0, these points in a unit near their size, and λ_i times that unit."""
    rows = np.flatnonzero(lam)
    unit = power_of_two(data.X[rows])
    return rows, data.X[rows] / unit, lam[rows] * unit


def _middles(groups: Sequence[Group], sign: int, d: int) -> np.ndarray:
    return np.array([g.direction for g in groups if g.sign == sign]).reshape(-1, d)
