"""A network that cannot leave its activation patterns, in whole numbers and fractions.

docs/proved.md derives it. Neurons that are inactive on every sample stay so. The others have to
keep their sides at samples with s_g y_i > 0; as long as they do, every certificate (λ, κ) gives
Σλ ≤ Σ_g v_g·G_g for the network scaled to smallest margin 1. With R = 1/(2γ̃) ≥ Σ‖v_g‖:

- the first certificate, M the largest ‖G_g‖: M‖v_g‖ − v_g·G_g ≤ e = M R − Σλ for every neuron;
- that of neuron g, N the largest ‖G_h‖ of the others: ‖v_g‖ ≥ r = (Σλ − N R)/(‖G_g‖ − N);
- on the hyperplane of x_i, v_g·G_g ≤ ‖v_g‖ P with P² = ‖G_g‖² − (G_g·x_i)²/‖x_i‖².

If M − P > e/r for all of them, none is ever met, and the margin ends below M/(2Σλ).

Neurons of one sign may be free to go where they like, if a tree for every certificate proves that
F_s(u) ≤ its peak for all unit u: the peak then stands where ‖G_h‖ of such a neuron would. They keep
their sign, as a² ≥ ‖w‖², and the difference stays what it is. Where the first peak N is below M,
(M − N) Σ‖v_h‖ ≤ e over the free neurons, of all weight, which is at least Σλ/M.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tacit.proofs.enclosures import cos_above
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import Budget, product_cost, root_above, squared_norms, unit_of, whole
from tacit.proofs.reading import Problem, TreeProof
from tacit.proofs.trees import check_tree
from tacit.values.products import integer_product


@dataclass(frozen=True, eq=False)
class TrapCertificate:
    """λ ≥ 0, and κ of every neuron that is neither dead nor free."""

    dual: np.ndarray
    slopes: np.ndarray
    tree: TreeProof | None = None
    """The peak of λ's function for the sign whose neurons are free."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Points, labels and weights."""

    X: np.ndarray
    y: np.ndarray
    alpha: float
    W: np.ndarray
    a: np.ndarray


class Trapped(NamedTuple):
    """What multipliers prove of a network that cannot leave its activation patterns."""

    upper: Fraction
    """The margin's bound from above."""
    directions: tuple[tuple[int, tuple[float, ...]], ...]
    """The sign of every neuron that is neither dead nor free, and the direction of its G_g."""
    share: Fraction
    """At least this share of the weight is theirs in the end; 0 where that is not proved."""


def prove_trap(
    stored: Stored,
    certificates: tuple[TrapCertificate, ...],
    lower: Fraction,
    angle: float | None,
    budget: Budget,
    where: str,
) -> Trapped:
    """The margin's upper bound, given the lower one; Rejected if a neuron may leave its pattern.

    All neurons that are neither dead nor free then stay within the angle, if one is given, of G_g.
    """
    X, e = whole(stored.X)
    W, e_w = whole(stored.W)
    n, m = len(X), len(W)
    work = n * m * X.shape[1] * product_cost(X, W) * (2 + len(certificates))
    budget.take(work, f"{where}: its neurons")
    lengths = squared_norms(X)
    T = integer_product(X, W.T)
    dead = [stored.alpha == 0 and all(t < 0 for t in T[lengths > 0, k]) for k in range(m)]
    if any(stored.a[k] == 0 for k in range(m) if not dead[k]):
        raise Rejected(f"{where}: a living neuron has the output weight 0")
    peaks, free = _peaks(stored, certificates, budget, where)
    loose = [k for k in range(m) if not dead[k] and stored.a[k] * free > 0]
    for k in loose:
        if Fraction(stored.a[k]) ** 2 < Fraction(int((W[k] * W[k]).sum()), 4**e_w):
            raise Rejected(f"{where}: the output weight of neuron {k} may change its sign")
    live = [k for k in range(m) if not dead[k] and k not in loose]
    if len(certificates) != len(live) + 1 or not live:
        raise Rejected(f"{where}.multipliers must have one certificate more than living neurons")
    sides = [_sides(stored, T[:, k], lengths, 1 if stored.a[k] > 0 else -1, k, where) for k in live]
    pulls = [
        _pulls(stored, X, live, sides, one, f"{where}.multipliers[{j}]")
        for j, one in enumerate(certificates)
    ]
    reach = 1 / (2 * lower)
    squares = [[Fraction(int((G * G).sum()), 4 ** (e + e_g)) for G in Gs] for Gs, e_g in pulls]
    totals = [sum(map(Fraction, one.dual.tolist()), Fraction(0)) for one in certificates]
    M = max(root_above(max(squares[0])), peaks[0])
    excess = M * reach - totals[0]
    if M == 0 or totals[0] == 0:
        raise Rejected(f"{where}.dual proves nothing")
    cosine = Fraction(0) if angle is None else cos_above(Fraction(angle))
    for g, k in enumerate(live):
        others = [s for h, s in enumerate(squares[g + 1]) if h != g]
        N = max(root_above(max(others, default=Fraction(0))), peaks[g + 1])
        more = root_above(squares[g + 1][g]) - N
        kept = totals[g + 1] - N * reach
        if kept <= 0 or more <= 0:
            raise Rejected(f"{where}: neuron {k} may lose its weight")
        slack = excess * more / kept  # e/r
        G, e_g = pulls[0][0][g], pulls[0][1]
        along = integer_product(X, G)
        for i in np.flatnonzero(sides[g]):
            cut = Fraction(int(along[i]) ** 2, int(lengths[i]) * 4 ** (e + e_g))
            P = root_above(max(squares[0][g] - cut, Fraction(0)))
            if M - P <= slack:
                raise Rejected(f"{where}: neuron {k} may meet the hyperplane of row {i} of X")
        if angle is not None and M - slack <= cosine * root_above(squares[0][g]):
            raise Rejected(f"{where}: neuron {k} may turn by more than the angle")
    share = Fraction(1)
    if loose:
        spare = (M - peaks[0]) * totals[0]
        share = max(1 - excess * M / spare, Fraction(0)) if spare > 0 else Fraction(0)
    if angle is not None and share == 0:
        raise Rejected(f"{where}: free neurons may have all of the weight")
    signs = [1 if stored.a[k] > 0 else -1 for k in live]
    directions = tuple(zip(signs, (unit_of(G.tolist()) for G in pulls[0][0]), strict=True))
    return Trapped(M / (2 * totals[0]), directions, share)


def _peaks(
    stored: Stored, certificates: tuple[TrapCertificate, ...], budget: Budget, where: str
) -> tuple[list[Fraction], int]:
    """The peak of each λ's function for the free sign, and this sign; zeros where none is free."""
    signs = {0 if one.tree is None else one.tree.sign for one in certificates}
    if len(signs) != 1:
        raise Rejected(f"{where}.multipliers must all have a tree, and of the same sign, or none")
    peaks = []
    for j, one in enumerate(certificates):
        peaks.append(Fraction(0))
        if one.tree is not None:
            place = f"{where}.multipliers[{j}].tree"
            given = (stored.y, False, stored.W, stored.a, one.dual, "trees", ())
            check_tree(stored.X, stored.alpha, Problem(place, *given), one.tree, budget)
            peaks[-1] = Fraction(one.tree.peak)
    return peaks, signs.pop()


def _sides(
    stored: Stored, t: np.ndarray, lengths: np.ndarray, sign: int, k: int, where: str
) -> np.ndarray:
    """±1 at samples with s y_i > 0, whose hyperplanes must not be met; 0 at the others."""
    side = np.zeros(len(t), dtype=int)
    for i in np.flatnonzero((sign * stored.y > 0) & (lengths > 0)):
        if t[i] == 0:
            raise Rejected(f"{where}: neuron {k} is on the hyperplane of row {i} of X")
        side[i] = 1 if t[i] > 0 else -1
    return side


def _pulls(
    stored: Stored,
    X: np.ndarray,
    live: list[int],
    sides: list[np.ndarray],
    certificate: TrapCertificate,
    where: str,
) -> tuple[list[np.ndarray], int]:
    """G_g of every living neuron in whole numbers, in units of 2^−e beside those of X; and e."""
    alpha = Fraction(stored.alpha)
    if certificate.slopes.shape != (len(live), len(X)):
        raise Rejected(f"{where}.slopes must have a row for every living neuron")
    for g, kappas in enumerate(certificate.slopes.tolist()):
        for i, (kappa, lam) in enumerate(zip(kappas, certificate.dual.tolist(), strict=True)):
            if kappa == lam == 0:
                continue
            k, l, side = Fraction(kappa), Fraction(lam), sides[g][i]
            if not (alpha * l <= k <= l if side == 0 else k >= l if side > 0 else k <= alpha * l):
                raise Rejected(f"{where}.slopes[{g}][{i}] is {kappa}, which is no slope there")
    numbers, e = whole(certificate.slopes)
    signs = [1 if stored.a[k] > 0 else -1 for k in live]
    pulls = (integer_product(s * stored.y * row, X) for s, row in zip(signs, numbers, strict=True))
    return list(pulls), e
