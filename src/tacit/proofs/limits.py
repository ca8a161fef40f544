"""What gradient flow can end in from given weights, in whole numbers and fractions.

docs/proved.md derives it. With L = Σ ℓ(q_i) and S = Σ e^(−q_i) ≥ L, ℓ⁻¹(L) is at least −log S for
the exponential loss, and at least −log(e^S − 1) ≥ −log S − S for the logistic one. Where that is
positive, L < ℓ(0), and the margin of the limit is at least ℓ⁻¹(L)/‖θ‖² (‖W‖ with the output layer
fixed). λ ≥ 0 with peaks M_s bounds it from above, by max M/(2 Σλ), or √(Σ a_k² M_s²)/Σλ over the
neurons in play. A network that cannot leave its activation patterns has a bound of its own
(`trap`).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.proofs.bracket import margins, peaks_of
from tacit.proofs.enclosures import cos_above, exp_above, log_above
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import (
    Budget,
    float_above,
    float_below,
    product_cost,
    root_above,
    squared_norms,
    unit_of,
    whole,
)
from tacit.proofs.limit_reading import LimitProof, Near, StoredNetwork
from tacit.proofs.peaks import Peaks
from tacit.proofs.trap import Stored, prove_trap
from tacit.proofs.trees import check_tree
from tacit.values import Interval
from tacit.values.products import integer_product


@dataclass(frozen=True)
class ProvedMargin:
    """What was proved of one network."""

    neurons: int
    """How many the network in the file has: those that had aligned may be one in it."""
    lower: Fraction
    upper: Fraction
    angle: float | None = None
    share: Fraction | None = None
    directions: tuple[tuple[int, tuple[float, ...]], ...] = ()
    """Signs of output weights, and unit vectors that the angle is measured from, as floats."""

    @property
    def margin_bounds(self) -> Interval:
        """The bounds of the margin as floats, rounded outwards."""
        return Interval(float_below(self.lower), float_above(self.upper))


def prove_limit(proof: LimitProof, network: StoredNetwork, budget: Budget) -> ProvedMargin:
    """What is proved of one network, and no less than it claims, or Rejected."""
    problem, where = network.problem, network.problem.where
    if not (problem.dual != 0).any():
        raise Rejected(f"{where}.dual is zero in every entry; it proves nothing")
    budget.take(30 * proof.X.size, f"{where}: its {proof.X.size:,} coordinates")
    lower = smoothed_margin(proof, network, budget)
    if network.trap:
        stored = Stored(proof.X, problem.y, proof.alpha, problem.W, problem.a)
        angle = network.trap_angle
        trapped = prove_trap(stored, network.trap, lower, angle, budget, where)
        _check_claims(network, lower, trapped.upper)
        return ProvedMargin(
            len(problem.a),
            lower,
            trapped.upper,
            *((angle, trapped.share, trapped.directions) if angle is not None else ()),
        )
    peaks = peaks_of(proof.X, proof.alpha, problem, budget)
    height, total = _height(proof, network, peaks, budget), _total(network)
    upper = height / (2 * total if proof.train == "both" else total)
    _check_claims(network, lower, upper)
    if network.near is None:
        return ProvedMargin(len(problem.a), lower, upper)
    share = _share(proof, network, network.near, peaks, height, lower, budget)
    if Fraction(network.near.share) > share:
        raise Rejected(
            f"{where}.share is claimed to be {network.near.share!r}, but only "
            f"{float_below(share)!r} is proved"
        )
    near = network.near
    directions = tuple(
        (sign, unit_of(u.tolist())) for sign, u in zip(near.signs, near.directions, strict=True)
    )
    return ProvedMargin(len(problem.a), lower, upper, near.angle, share, directions)


def _check_claims(network: StoredNetwork, lower: Fraction, upper: Fraction) -> None:
    where = network.problem.where
    if Fraction(network.lower) > lower:
        raise Rejected(
            f"{where}.lower is claimed to be {network.lower!r}, but only "
            f"{float_below(lower)!r} is proved"
        )
    if Fraction(network.upper) < upper:
        raise Rejected(
            f"{where}.upper is claimed to be {network.upper!r}, but only "
            f"{float_above(upper)!r} is proved"
        )


def smoothed_margin(proof: LimitProof, network: StoredNetwork, budget: Budget) -> Fraction:
    """γ̃ from below; it must be positive."""
    problem = network.problem
    numbers, e = margins(proof.X, proof.alpha, problem, budget)
    budget.take(50_000 * len(numbers), f"{problem.where}: the losses")
    least = min(numbers)
    decays = [exp_above(Fraction(least - q, 1 << e)) for q in numbers]
    inverse = Fraction(least, 1 << e) - log_above(sum(decays, Fraction(0)))
    if inverse > 0 and proof.loss == "logistic":
        inverse -= exp_above(-inverse)
    if inverse <= 0:
        raise Rejected(f"{problem.where}: the loss of the neurons is not below that of no output")
    W, e_w = whole(problem.W)
    square = Fraction(sum(squared_norms(W)), 4**e_w)
    if proof.train == "first":
        return inverse / root_above(square)
    a, e_a = whole(problem.a)
    return inverse / (square + Fraction(int((a * a).sum()), 4**e_a))


def _total(network: StoredNetwork) -> Fraction:
    dual, e = whole(network.problem.dual)
    return Fraction(int(sum(dual)), 1 << e)


def _height(proof: LimitProof, network: StoredNetwork, peaks: Peaks, budget: Budget) -> Fraction:
    """The larger peak; with the output layer fixed √(Σ a_k² M_s²) over the neurons in play."""
    problem = network.problem
    if proof.train == "both":
        height = root_above(max(peaks.plus, peaks.minus))
    else:
        idle = _check_idle(proof, network, budget)
        squares = [Fraction(0), Fraction(0)]
        for k, a in enumerate(problem.a.tolist()):
            if k not in idle:
                squares[a > 0] += Fraction(a) ** 2
        height = root_above(squares[1] * peaks.plus + squares[0] * peaks.minus)
    if height == 0:
        raise Rejected(f"{problem.where}.dual contradicts the neurons")
    return height


def _check_idle(proof: LimitProof, network: StoredNetwork, budget: Budget) -> set[int]:
    """Neurons that will never add to a margin: each stays in the ball around v through w_k.

    There it is active only on samples with a_k y_i < 0, whose hyperplane v is not beyond.
    """
    problem, where = network.problem, f"{network.problem.where}.idle"
    if network.idle and proof.alpha > 0:
        raise Rejected(f"{where} must be empty: with a leaky slope every neuron moves")
    X, e_x = whole(proof.X)
    squares = squared_norms(X)
    idle: set[int] = set()
    for k, given in network.idle.items():
        both, e = whole(np.vstack([problem.W[k], given]))
        w, v = both
        budget.take(X.size * product_cost(X, both), where)
        reach = int(((w - v) ** 2).sum())
        for i, t in enumerate(integer_product(X, v).tolist()):
            away = t < 0 and t * t > reach * squares[i]
            if not away and (t > 0 or problem.a[k] * problem.y[i] >= 0):
                raise Rejected(f"{where}: neuron {k} may come to add to the margin of row {i} of X")
        idle.add(k)
    return idle


def _share(
    proof: LimitProof,
    network: StoredNetwork,
    near: Near,
    peaks: Peaks,
    height: Fraction,
    lower: Fraction,
    budget: Budget,
) -> Fraction:
    """The share of Σ|a_k|‖w_k‖ that ends within the angle of one of the directions."""
    where = network.problem.where
    if Fraction(near.cosine) < cos_above(Fraction(near.angle)):
        raise Rejected(f"{where}.cosine is less than the cosine of the angle")
    tops = {1: root_above(peaks.plus), -1: root_above(peaks.minus)}
    if proof.train == "both":
        tops = dict.fromkeys(tops, max(tops.values()))
    clear = {}
    for tree in near.trees:
        check_tree(proof.X, proof.alpha, network.problem, tree, budget, near.caps(tree.sign))
        clear[tree.sign] = tops[tree.sign] - Fraction(tree.peak)
    least, total = min(clear.values()), _total(network)
    if least <= 0:
        raise Rejected(f"{where}.far: far from the directions the sum may be at its peak")
    if proof.train == "both":
        return 1 - (height - 2 * lower * total) / least
    return 1 - (height / lower - total) * max(tops.values()) / (least * total)
