"""What gradient flow can still become from given weights, whatever it does on the way.

Once L < ℓ(0), the smoothed margin γ̃ = ℓ⁻¹(L)/‖θ‖^K, with L the sum of the losses and K the number
of layers that are trained, never falls along gradient flow, sliding along hyperplanes included; it
is never above the margin, and tends to the same limit. No network has a wider margin than γ*. So
the margin can only end in [γ̃ now, γ*]. λ ≥ 0 that proves γ* also says where weight can be: see
docs/proved.md, where all of this is derived.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import Literal

import numpy as np

from tacit.certificates.certificate import Certificate
from tacit.messages import count, outward, percent_below
from tacit.numerics.branch_and_bound import Branching, maxima
from tacit.numerics.convex_program import power_of_two
from tacit.numerics.float64 import EPS
from tacit.numerics.trapping import TrapMultipliers, trap_multipliers, trap_of_one_sign
from tacit.numerics.tree_proof import Caps, Node, tree_proof
from tacit.proofs import (
    Budget,
    Rejected,
    Stored,
    TrapCertificate,
    float_above,
    float_below,
    prove_trap,
    read_tree,
)
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
    def brief(self) -> str:
        """What is proved of the margin, in words."""
        lower, upper = outward(*self.margin_bounds)
        return f"the margin can only end between {lower} and {upper}"

    @property
    def sentence(self) -> str:
        """What is proved, in words."""
        stored = count(self.network.width, "stored neuron")
        if self.trap:
            stored += ", aligned ones as one"
        said = f"From here on (log₁₀ L = {self.log10_loss:.4g}, {stored}) {self.brief}"
        if self.trap and self.trap[0].tree is not None:
            kept = "positive" if self.trap[0].tree["sign"] < 0 else "negative"
            said += f"; neurons with {kept} outputs keep the activation patterns that matter"
        if self.share is None:
            return f"{said}."
        where = count(len(self.directions), "direction")
        share = f"at least {percent_below(self.share)}" if self.share < 1 else "all"
        kept = ""
        if self.trap and self.trap[0].tree is None:
            kept = ", and the activation patterns that matter are kept"
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

    Certificate and groups are those of the limit that the path points to: its λ proves how wide a
    margin can be, and the groups say where the weight should be. It takes about `seconds`.
    """
    until = perf_counter() + seconds
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
    # Each λ gives a valid bound; that of the weights themselves comes first, for it ends the loop
    # where it is sharp.
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
        return _with_share(end, data, train, peaks, groups, until)
    return end


def trapped_end(
    data: Dataset, network: Network, tail: Tail, multipliers: np.ndarray, seconds: float = 60.0
) -> ProvedEnd | None:
    """What is proved of a network that cannot leave its activation patterns, both layers trained.

    Its limit need not be the global optimum. `multipliers` are those of the limit; what they prove
    is decided by the exact check. Where neurons die out, those of one sign may be free to go where
    they like, if they are better nowhere.
    """
    until = perf_counter() + seconds
    live = (network.W @ data.X.T >= 0).any(axis=1) | (network.alpha > 0)
    for free in (0, 1, -1):
        kept = live & (np.sign(network.a) != free)
        if not 0 < kept.sum() <= MOST_TRAPPED:
            continue
        if free:
            network = _keeping_signs(network, live & ~kept)
        with np.errstate(all="ignore"):
            smallest, log_loss = smoothed(data, network, tail)
            norm = float(np.linalg.norm(network.W)) ** 2 + float(network.a @ network.a)
            lower = smallest / norm * (1 - (network.W.size + network.width + 16) * EPS)
        if not 0 < lower < math.inf:
            return None
        unit = power_of_two(data.X)
        given = (data.X / unit, data.y, network.alpha, network.W[live], network.a[live])
        left = max(until - perf_counter(), 0.0)
        if free == 0:
            trap = trap_multipliers(*given, multipliers, lower / unit, left)
        else:
            trap = trap_of_one_sign(*given, multipliers, free, lower / unit, left)
        end = ProvedEnd(network, log_loss / math.log(10), Interval(lower, lower), multipliers)
        left = max(until - perf_counter(), 0.0)
        proved = _checked_trap(end, data, [_in_unit(one, unit) for one in trap], left)
        if proved is not None and proved.narrow:
            return proved
    return None


def _in_unit(one: TrapMultipliers, unit: float) -> TrapMultipliers:
    """The same for points that are this much larger: peaks are."""
    tree = one.tree
    return replace(one, tree=tree and {**tree, "peak": tree["peak"] * unit})


def _keeping_signs(network: Network, rows: np.ndarray) -> Network:
    """The network with |a_k| ≥ ‖w_k‖ exactly in these rows, where it is so but for rounding.

    ‖w_k‖² − a_k² stays what it is along the flow, so that such an output weight keeps its sign.
    """
    a = network.a.copy()
    for k in np.flatnonzero(rows).tolist():
        square = sum((Fraction(w) ** 2 for w in network.W[k].tolist()), Fraction(0))
        # Upwards until its exact square is large enough: rounding must not let a change its sign.
        near = math.nextafter(math.hypot(*network.W[k]), math.inf)
        if near <= abs(a[k]) * (1 + 4 * EPS):
            while Fraction(near) ** 2 < square:
                near = math.nextafter(near, math.inf)
            a[k] = math.copysign(max(near, abs(a[k])), a[k])
    return Network(network.W, a, network.alpha)


def _checked_trap(
    end: ProvedEnd, data: Dataset, trap: Sequence[TrapMultipliers], seconds: float
) -> ProvedEnd | None:
    """What these multipliers prove, by the exact check; None where they do not."""
    network, lower = end.network, end.margin_bounds.lower
    stored = Stored(data.X, data.y, network.alpha, network.W, network.a)
    certificates = tuple(
        TrapCertificate(
            one.dual,
            one.slopes,
            None if one.tree is None else read_tree(one.tree, data.n, "the tree"),
        )
        for one in trap
    )
    free = trap and trap[0].tree is not None
    until = perf_counter() + seconds
    for angle in (*ANGLES, None) if free else ANGLES if trap else ():
        try:
            budget = Budget(seconds=until - perf_counter())
            trapped = prove_trap(
                stored, certificates, Fraction(lower), angle, budget, "the network"
            )
        except (Rejected, BadInput):
            continue
        upper = float_above(trapped.upper)
        return replace(
            end,
            margin_bounds=Interval(min(lower, upper), upper),
            dual=trap[0].dual,
            directions=tuple((sign, np.array(u)) for sign, u in trapped.directions if angle),
            angle=angle,
            share=float_below(trapped.share) if angle else None,
            trap=tuple(trap),
        )
    return None


def smoothed(data: Dataset, network: Network, tail: Tail) -> tuple[float, float]:
    """ℓ⁻¹(Σ ℓ(q_i)) from below, rounding errors included, and about log Σ ℓ(q_i)."""
    size = np.linalg.norm(data.X, axis=1) * float(network.weights.sum())
    q = network.margins(data.X, data.y) - (network.width + network.d + 8) * EPS * size
    least = float(q.min())
    with np.errstate(under="ignore"):
        # Relative to the smallest margin no term overflows; what underflows is far below the
        # rounding that is added.
        total = float(np.exp(least - q).sum()) * (1 + (data.n + 8) * EPS)
    inverse = least - math.log(total) - 8 * EPS * (abs(least) + math.log(total))  # of e^(−q)
    log_loss = -inverse
    # log(1 + e^(−q)) ≤ e^(−q), and e^S − 1 ≤ S e^S; e^700 is about the largest that a float holds.
    if tail == "logistic":
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
        # A product within rounding of 0 counts as active: being cautious only keeps a neuron in
        # play.
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
        # Rounded up, so that a sample counts as active wherever rounding could have hidden it.
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
        # A share above what is reached, so that the search need not close the tie with it.
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
    until: float,
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
            # Smaller shares leave less clearance, so they prove nothing either.
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
            if all(far_tree(known, data, s, until) is not None for s in (1, -1)):
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


def far_tree(
    end: ProvedEnd, data: Dataset, sign: int, until: float = math.inf
) -> list[Node] | None:
    """The tree that shows how low λ's function stays away from the directions of this sign."""
    assert end.angle is not None and end.levels is not None
    rows, X, weights = _support(data, end.dual)
    names = np.array([j for j, (s, _) in enumerate(end.directions) if s == sign], dtype=int)
    middle = np.array([end.directions[j][1] for j in names]).reshape(len(names), data.d)
    caps = Caps(middle, cap_cosine(end.angle), data.n + names)
    c, level = sign * weights * data.y[rows], end.levels[0 if sign > 0 else 1]
    return tree_proof(X, c, end.network.alpha, level, rows, caps, MOST_NUMBERS, until)


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
