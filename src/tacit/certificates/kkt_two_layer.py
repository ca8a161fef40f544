"""The KKT certificate of a two-layer network f(x) = Σ_k a_k φ(w_k·x), φ(z) = max(z, αz).

Where w_k·x_i = 0 the network has a kink, and lyu2021 Def. B.8 allows any slope h_ki in [α, 1]:
a mask of its own for every pair of a neuron k and a point i. The unknowns are then λ_i and the
products λ_i h_ki, which enter linearly; t_ki = λ_i (h_ki − α)/(1 − α) is between 0 and λ_i.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import replace
from functools import partial

import numpy as np

from tacit.certificates.kkt import (
    KKT,
    excesses,
    exponents_of,
    finite,
    infeasibility,
    inverse,
    lengths_of,
    scaled,
)
from tacit.certificates.margin_gradients import (
    UNREDUCED,
    Allowance,
    MarginGradients,
    NeuronBlock,
    blocks,
    reduced,
)
from tacit.certificates.mask_choice import likely_rays
from tacit.data import takes_data
from tacit.messages import count, near_miss
from tacit.numerics.boxed_nnls import nnls_over_rays
from tacit.numerics.float64 import TINY
from tacit.values import BadInput, Dataset, Network
from tacit.values.setting import Layers

NEGLIGIBLE = 1e-12
"""What moves a sum of length 1 by less than this has no weight in it."""
ALIGNED = 1e-14
"""Entries of unit vectors that differ by up to this are the same but for rounding."""
EXTREME = 1e-9
"""A mask this near to α or 1 counts as α or 1."""


@takes_data
def two_layer_kkt(
    data: Dataset,
    network: Network,
    *,
    train: Layers = "both",
    boundary: float = 1e-9,
    seconds: float = math.inf,
) -> KKT:
    """How near the network is to a KKT point (lyu2021 Def. B.8) of its max-margin problem.

    Parameters
    ----------
    data : Dataset, str, Path, or X, y
        Points of two classes: what `tacit.load` takes; with arrays, the labels come next.
    network : Network
        The weights, with the slope of their activation.
    train : {"both", "first"}, default "both"
        With "both" θ = (W, a) and L = 2; with "first" θ = W, `a` is fixed and L = 1.
    boundary : float, default 1e-9
        A neuron's activation hyperplane contains a point when |w_k·x_i| ≤ boundary·‖w_k‖‖x_i‖.
    seconds : float, optional
        BadInput is raised where a wide network on many points takes longer than about that.

    Returns
    -------
    KKT

    Examples
    --------
    >>> network = Network([[1, 0], [-1, 0]], [1, -1])
    >>> two_layer_kkt([[1, 0], [-1, 0]], [1, -1], network).holds(1e-12)
    True
    """
    _check(data, network, train, boundary)
    # By identity of the data: comparing arrays would take longer than some answers.
    asked = weakref.ref(data), train, boundary
    answers = _ANSWERS.setdefault(network, {})
    if asked not in answers:
        answers[asked] = _solve(data, network, train, boundary, seconds)
    return answers[asked]


_ANSWERS: weakref.WeakKeyDictionary[Network, dict[tuple[object, ...], KKT]]
_ANSWERS = weakref.WeakKeyDictionary()
"""What is known of networks that are still in use: a dozen theorems ask the same of one limit."""


def _solve(data: Dataset, network: Network, train: Layers, boundary: float, seconds: float) -> KKT:
    exponents = exponents_of(data.X)
    on = _on_boundary(network, data.X, boundary)
    net, unit = _on_the_sphere(network, data, exponents, on, train == "both")
    excess, q_min = excesses(net.margins(), exponents)
    allowance = Allowance(network.width, data.n, seconds)
    columns, owner = _columns(net, excess, allowance)
    # Points near the margin first: these are the likely ones to have a multiplier.
    first, likely = np.argsort(excess), partial(likely_rays, columns, allowance.take)
    combination = nnls_over_rays(columns, columns.target, first, allowance.take, likely)
    lam, H = columns.multipliers_and_masks(combination)
    feasibility = _feasibility(net, network, exponents)
    margin = float(scaled(q_min, int(exponents.max()) + unit))
    k, i = np.nonzero(on.T)
    masks = H[i, owner[k]]
    matter = (lam * lengths_of(net.X))[i] * np.abs(net.a[k]) > NEGLIGIBLE
    return KKT(
        stationarity=_stationarity(net, lam, H, owner),
        feasibility=feasibility,
        complementarity=float(net.L * (lam @ excess)),
        multipliers=scaled(lam, -exponents - unit),
        # It may underflow, but all points are on their sides: 0 would say that they are not.
        margin=max(margin, TINY) if feasibility == 0 else margin,
        subdifferential=_in_words(masks[matter], network.alpha),
        masks=dict(zip(zip(k.tolist(), i.tolist(), strict=True), masks.tolist(), strict=True)),
        boundary=len(k),
        balance=_balance(net),
    )


def _on_the_sphere(
    network: Network, data: Dataset, exponents: np.ndarray, on: np.ndarray, both: bool
) -> tuple[NeuronBlock, int]:
    """The network at θ̂ on scaled points, and the exponent of the unit of a fixed `a`."""
    W, a = network.W, network.a
    theta = np.concatenate([W.ravel(), a]) if both else W.ravel()
    if not theta.any():
        raise BadInput("all trained weights are zero; a KKT point is a direction")
    # A power of two first: squares of weights such as 1e-200 would be 0 in the norm.
    theta = scaled(theta, -exponents_of(theta[None])[0])
    theta = theta / np.linalg.norm(theta)
    unit = 0 if both else int(exponents_of(a[None])[0])
    net = NeuronBlock(
        W=theta[: W.size].reshape(W.shape),
        a=theta[W.size :] if both else scaled(a, -unit),
        X=scaled(data.X, -exponents[:, None]),
        y=data.y.astype(np.float64),
        alpha=network.alpha,
        both=both,
        free=on,
    )
    return net, unit


def _feasibility(net: NeuronBlock, network: Network, exponents: np.ndarray) -> float:
    """Signs of q_i do not depend on how long w_k and a_k are for themselves, only their product.

    So neither ‖w_k‖ = 1e200 with a_k = 1e-200 nor a short point takes a sign away.
    """
    W, a = network.W, network.a
    e_W = exponents_of(W)
    used = (a != 0) & np.any(W, axis=1)
    unit = (e_W + np.frexp(a)[1])[used].max(initial=-(2**12))
    q = replace(net, W=scaled(W, -e_W[:, None]), a=scaled(a, e_W - unit)).margins()
    if (q > 0).all():
        return 0.0
    return infeasibility(scaled(q, exponents - exponents.max()))


def _on_boundary(network: Network, X: np.ndarray, boundary: float) -> np.ndarray:
    """n × m: pairs on the boundary, except those whose slope is multiplied by 0."""
    X, W = _unit_rows(X), _unit_rows(network.W)
    on = np.empty((len(X), len(W)), dtype=bool)
    for part in blocks(len(W), len(X)):
        on[:, part] = np.abs(X @ W[part].T) <= boundary
    on &= network.a != 0
    on[~np.any(X, axis=1)] = False
    return on


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    rows = scaled(rows, -exponents_of(rows)[:, None])
    return rows * inverse(lengths_of(rows))[:, None]


def _columns(
    net: NeuronBlock, excess: np.ndarray, allowance: Allowance
) -> tuple[MarginGradients, np.ndarray]:
    """The least-squares problem, and which of its neurons each neuron became, if any."""
    net, owner = _merged(_in_span(net))
    fixed = np.zeros((0, len(net.X) + 1))
    chooses = np.any(net.free, axis=0)
    if net.free.size > UNREDUCED:
        fixed = reduced(net.only(~chooses), allowance)
        net, owner = net.only(chooses), np.where(chooses, np.cumsum(chooses) - 1, -1)[owner]
    return MarginGradients(net, excess, fixed), owner


def _merged(net: NeuronBlock) -> tuple[NeuronBlock, np.ndarray]:
    """Aligned neurons as one, with their joint norm; and which neuron became which.

    The parts of the residual of neurons c_k (w, a) are c_k times vectors from one and the same
    convex set, so the shortest of these serves them all. So it is with all neurons w_k = 0.
    """
    live = np.any(net.W, axis=1)
    Z = np.where(live[:, None], np.column_stack([net.W, net.a]), 0.0)
    size = np.where(live, lengths_of(Z), np.abs(net.a))
    Z *= inverse(size)[:, None]
    # Aligned neurons are neighbours in the order of their products with a vector that is nothing
    # to them.
    order = np.argsort(Z @ np.cos(np.arange(1.0, Z.shape[1] + 1)), kind="stable")
    same = (np.abs(np.diff(Z[order], axis=0)) <= ALIGNED).all(axis=1)
    same &= ~np.diff(net.free[:, order], axis=1).any(axis=0) | ~live[order][1:]
    owner = np.empty(len(order), dtype=np.intp)
    owner[order] = np.cumsum(np.append(0, ~same))
    first = order[np.append(True, ~same)]
    if len(first) == len(order):
        return net, np.arange(len(order))
    grown = np.sqrt(np.bincount(owner, size**2)) * inverse(size[first])
    grown[np.bincount(owner) == 1] = 1.0
    free = net.free[:, first]
    free[:, ~live[first]] = np.any(net.free[:, ~live], axis=1, keepdims=True)
    W, a = grown[:, None] * net.W[first], grown * net.a[first]
    return replace(net, W=W, a=a, free=free), owner


def _in_span(net: NeuronBlock) -> NeuronBlock:
    """The same problem in coordinates of the points' span, and one for what is across it.

    Residuals have the same lengths, so that λ is the same up to rounding.
    """
    n, d = net.X.shape
    if d <= n + 1:
        return net
    Q, R = np.linalg.qr(net.X.T)
    W = np.empty((len(net.W), n + 1))
    for part in blocks(len(W), d):
        W[part, :n] = net.W[part] @ Q
        # What is across the span counts as one coordinate: only its length enters the residual.
        W[part, n] = lengths_of(net.W[part] - W[part, :n] @ Q.T)
    return replace(net, W=W, X=np.column_stack([R.T, np.zeros(n)]))


def _stationarity(net: NeuronBlock, lam: np.ndarray, H: np.ndarray, owner: np.ndarray) -> float:
    """‖θ̂ − Σ λ_i ∂q_i(θ̂)‖ from the definition, with the masks H where they are free."""
    weights = lam * net.y
    lengths = []
    for part, one in net.blocks():
        masks = np.where(one.free, H[:, owner[part]], one.slopes) if one.free.any() else one.slopes
        lengths.append(np.linalg.norm(one.W - (weights[:, None] * masks * one.a).T @ net.X))
        if net.both:
            lengths.append(np.linalg.norm(one.a - weights @ one.phi))
    return float(np.linalg.norm(lengths))


def _balance(net: NeuronBlock) -> float:
    return float(np.abs(np.abs(net.a) - lengths_of(net.W)).max()) if net.both else math.nan


def _in_words(masks: np.ndarray, alpha: float) -> str:
    """What is certified, from the masks of the boundary pairs that have weight."""
    if masks.size == 0:
        return "gradient: no point with a multiplier lies on a neuron's boundary"
    between = int((np.minimum(masks - alpha, 1 - masks) > EXTREME).sum())
    extreme = (
        f"{count(between, 'mask')} strictly between α and 1"
        if between
        else "every mask is α or 1, as the B-subdifferential wants it (wang2022 Prop. 3)"
    )
    return (
        "Clarke subdifferential with independent masks (lyu2021 Def. B.8), "
        f"{count(masks.size, 'pair')} on the boundary; {extreme}"
    )


def _check(data: Dataset, network: Network, train: str, boundary: float) -> None:
    """Refuse weights that are not finite or do not fit the data, and options without a meaning."""
    if not data.binary:
        raise BadInput(f"{data.name} has {len(data.classes)} classes and a network tells two apart")
    if network.d != data.d or network.width == 0:
        raise BadInput(
            f"W has shape {network.W.shape} and X {data.X.shape}; they must be (m, d) and (n, d)"
        )
    finite("W", network.W), finite("a", network.a)
    if train not in ("both", "first"):
        raise BadInput(f"unknown layers to train '{train}'{near_miss(train, ('both', 'first'))}")
    if not 0 <= boundary < 1:
        raise BadInput(f"boundary = {boundary} is relative to ‖w‖‖x‖; it must be in [0, 1)")
