"""The KKT certificate of a two-layer network f(x) = Σ_k a_k φ(w_k·x), φ(z) = max(z, αz).

Where w_k·x_i = 0 the network has a kink, and lyu2021 Def. B.8 allows any slope h_ki in [α, 1]:
a mask of its own for every pair of a neuron k and a point i. The unknowns are then λ_i and the
products λ_i h_ki, which enter linearly; t_ki = λ_i (h_ki − α)/(1 − α) is between 0 and λ_i.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from functools import cached_property

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
    without_rounding,
)
from tacit.data import takes_data
from tacit.messages import count, near_miss
from tacit.numerics.boxed_nnls import Combination, nnls_over_rays
from tacit.numerics.float64 import TINY
from tacit.values import BadInput, Dataset, Network
from tacit.values.setting import Layers

NEGLIGIBLE = 1e-12
"""What moves a sum of length 1 by less than this has no weight in it."""
EXTREME = 1e-9
"""A mask this near to α or 1 counts as α or 1."""


@takes_data
def two_layer_kkt(
    data: Dataset,
    network: Network,
    *,
    train: Layers = "both",
    boundary: float = 1e-9,
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
    asked = weakref.ref(data), train, boundary
    answers = _ANSWERS.setdefault(network, {})
    if asked not in answers:
        answers[asked] = _solve(data, network, train, boundary)
    return answers[asked]


_ANSWERS: weakref.WeakKeyDictionary[Network, dict[tuple[object, ...], KKT]]
_ANSWERS = weakref.WeakKeyDictionary()
"""What is known of networks that are still in use: a dozen theorems ask the same of one limit."""


def _solve(data: Dataset, network: Network, train: Layers, boundary: float) -> KKT:
    W, a, X, alpha = network.W, network.a, data.X, network.alpha
    net, unit = _on_the_sphere(W, a, X, data.y.astype(np.float64), alpha, train == "both")
    on = _on_boundary(W, a, X, boundary)
    problem, owner = _merge_dead(net, on)
    problem = _in_span(problem)
    combination = nnls_over_rays(problem, problem.target, np.argsort(problem.excess))
    lam, H = problem.multipliers_and_masks(combination)
    H = np.where(on, H[:, owner], net.slopes)
    feasibility = _feasibility(net, W, a)
    margin = float(scaled(net.q_min, int(net.exponents.max()) + unit))
    masks = {(int(k), int(i)): float(H[i, k]) for k, i in np.argwhere(on.T)}
    return KKT(
        stationarity=_stationarity(net, lam, H),
        feasibility=feasibility,
        complementarity=float(net.L * (lam @ net.excess)),
        multipliers=scaled(lam, -net.exponents - unit),
        margin=max(margin, TINY) if feasibility == 0 else margin,
        subdifferential=_in_words(H[on & _matters(net, lam)], alpha),
        masks=masks,
        boundary=len(masks),
        balance=_balance(net),
    )


@dataclass(frozen=True, eq=False)
class _Net:
    """θ̂, and the points divided by powers of two; the columns ∂q_i(θ̂) with L(q̂_i − q̂_min) below."""

    W: np.ndarray
    a: np.ndarray
    X: np.ndarray
    y: np.ndarray
    alpha: float
    both: bool
    exponents: np.ndarray
    """Point i is 2^exponents_i times row i of X."""
    free: np.ndarray
    """n × m: pairs whose mask is free."""

    @property
    def L(self) -> int:
        return 2 if self.both else 1

    @cached_property
    def Z(self) -> np.ndarray:
        """w_k·x_i, and 0 where it is nothing but rounding, which a large λ_i would enlarge."""
        return without_rounding(self.X @ self.W.T, (self.X.shape[1] + 2) * self._sizes)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """‖w_k‖‖x_i‖, what the rounding of w_k·x_i is relative to."""
        return lengths_of(self.X)[:, None] * lengths_of(self.W)

    @cached_property
    def slopes(self) -> np.ndarray:
        """n × m: φ' where it is fixed, α where it is free."""
        return np.where((self.Z > 0) & ~self.free, 1.0, self.alpha)

    @cached_property
    def phi(self) -> np.ndarray:
        return np.maximum(self.Z, self.alpha * self.Z)

    @cached_property
    def q(self) -> np.ndarray:
        """q̂_i in the unit of point i, and 0 where it is nothing but rounding."""
        size = ((self.Z != 0) * self._sizes) @ np.abs(self.a)
        return without_rounding(self.y * (self.phi @ self.a), (sum(self.W.shape) + 4) * size)

    @cached_property
    def _excesses(self) -> tuple[np.ndarray, float]:
        return excesses(self.q, self.exponents)

    @property
    def excess(self) -> np.ndarray:
        """q̂_i − q̂_min in the unit of point i."""
        return self._excesses[0]

    @property
    def q_min(self) -> float:
        """q̂_min in the largest unit."""
        return self._excesses[1]

    @cached_property
    def target(self) -> np.ndarray:
        return np.concatenate([self.W.ravel(), self.a if self.both else [], [0.0]])

    @cached_property
    def _below(self) -> np.ndarray:
        """The part of each column that depends on no mask: ∂q_i/∂a and L(q̂_i − q̂_min)."""
        rest = self.L * self.excess[:, None]
        return np.hstack([self.y[:, None] * self.phi, rest]) if self.both else rest

    def _lengths(self, points: np.ndarray | slice, masks: np.ndarray) -> np.ndarray:
        above = lengths_of(masks * self.a) * lengths_of(self.X[points])
        return np.hypot(above, lengths_of(self._below[points]))

    def best(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A free mask is 1 where that helps, else α."""
        m, d = self.W.shape
        S = self.y[:, None] * self.a * (self.X @ residual[: m * d].reshape(m, d).T)
        masks = np.where(self.free & (S > 0), 1.0, self.slopes)
        values = (masks * S).sum(axis=1) + self._below @ residual[m * d :]
        return masks, values * inverse(self._lengths(slice(None), masks))

    def matrix(self, points: np.ndarray, rays: np.ndarray) -> np.ndarray:
        above = (self.y[points, None] * rays * self.a)[:, :, None] * self.X[points, None, :]
        columns = np.hstack([above.reshape(len(points), self.W.size), self._below[points]])
        return (columns * inverse(self._lengths(points, rays))[:, None]).T

    def multipliers_and_masks(self, combination: Combination) -> tuple[np.ndarray, np.ndarray]:
        """λ, and the mask of every pair: the mean of its rays' masks, by weight."""
        weights = combination.weights * inverse(self._lengths(combination.points, combination.rays))
        lam, H = np.zeros(len(self.X)), np.zeros(self.free.shape)
        np.add.at(lam, combination.points, weights)
        np.add.at(H, combination.points, weights[:, None] * combination.rays)
        H = np.divide(H, lam[:, None], out=self.slopes.copy(), where=(lam > 0)[:, None])
        return lam, np.clip(H, self.alpha, 1.0)


def _on_the_sphere(
    W: np.ndarray, a: np.ndarray, X: np.ndarray, y: np.ndarray, alpha: float, both: bool
) -> tuple[_Net, int]:
    """The network at θ̂ on scaled points, and the exponent of the unit of a fixed `a`."""
    theta = np.concatenate([W.ravel(), a]) if both else W.ravel()
    if not theta.any():
        raise BadInput("all trained weights are zero; a KKT point is a direction")
    theta = scaled(theta, -exponents_of(theta[None])[0])
    theta = theta / np.linalg.norm(theta)
    unit = 0 if both else int(exponents_of(a[None])[0])
    exponents = exponents_of(X)
    net = _Net(
        W=theta[: W.size].reshape(W.shape),
        a=theta[W.size :] if both else scaled(a, -unit),
        X=scaled(X, -exponents[:, None]),
        y=y,
        alpha=alpha,
        both=both,
        exponents=exponents,
        free=np.zeros((len(X), len(W)), dtype=bool),
    )
    return net, unit


def _feasibility(net: _Net, W: np.ndarray, a: np.ndarray) -> float:
    """Signs of q_i do not depend on how long w_k and a_k are for themselves, only their product.

    So neither ‖w_k‖ = 1e200 with a_k = 1e-200 nor a short point takes a sign away.
    """
    e_W = exponents_of(W)
    used = (a != 0) & np.any(W, axis=1)
    unit = (e_W + np.frexp(a)[1])[used].max(initial=-(2**12))
    balanced = replace(net, W=scaled(W, -e_W[:, None]), a=scaled(a, e_W - unit))
    q = balanced.q
    if (q > 0).all():
        return 0.0
    return infeasibility(scaled(q, net.exponents - net.exponents.max()))


def _on_boundary(W: np.ndarray, a: np.ndarray, X: np.ndarray, boundary: float) -> np.ndarray:
    """n × m: pairs on the boundary, except those whose slope is multiplied by 0."""
    near = np.abs(_unit_rows(X) @ _unit_rows(W).T) <= boundary
    return near & (a != 0) & np.any(X, axis=1, keepdims=True)


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    rows = scaled(rows, -exponents_of(rows)[:, None])
    return rows * inverse(lengths_of(rows))[:, None]


def _merge_dead(net: _Net, on: np.ndarray) -> tuple[_Net, np.ndarray]:
    """All neurons w_k = 0 as one, with the pairs that are free; and which neuron became which.

    Their parts of the residual are a_k times vectors from one and the same convex set, so the
    shortest of these serves them all, and one neuron with √Σa_k² has the same residual.
    """
    live = np.any(net.W, axis=1)
    if live.all():
        return replace(net, free=on), np.arange(len(live))
    merged = replace(
        net,
        W=np.vstack([net.W[live], np.zeros(net.W.shape[1])]),
        a=np.append(net.a[live], np.linalg.norm(net.a[~live])),
        free=np.column_stack([on[:, live], on[:, ~live].any(axis=1)]),
    )
    return merged, np.where(live, np.cumsum(live) - 1, live.sum())


def _in_span(net: _Net) -> _Net:
    """The same problem in coordinates of the points' span, and one for what is across it.

    Residuals have the same lengths, so that λ is the same up to rounding.
    """
    if net.X.shape[1] <= len(net.X) + 1:
        return net
    Q, R = np.linalg.qr(net.X.T)
    W = net.W @ Q
    across = lengths_of(net.W - W @ Q.T)
    X = np.column_stack([R.T, np.zeros(len(net.X))])
    return replace(net, W=np.column_stack([W, across]), X=X)


def _stationarity(net: _Net, lam: np.ndarray, H: np.ndarray) -> float:
    """‖θ̂ − Σ λ_i ∂q_i(θ̂)‖ from the definition, with masks H (n × m)."""
    weights = lam * net.y
    first = net.W - (weights[:, None] * H * net.a).T @ net.X
    second = net.a - weights @ net.phi if net.both else np.zeros(0)
    return float(np.linalg.norm(np.concatenate([first.ravel(), second])))


def _matters(net: _Net, lam: np.ndarray) -> np.ndarray:
    """n × m: pairs whose mask can move Σ λ_i ∂q_i(θ̂) by more than rounding."""
    return (lam * lengths_of(net.X))[:, None] * np.abs(net.a) > NEGLIGIBLE


def _balance(net: _Net) -> float:
    if not net.both:
        return float("nan")
    return float(np.abs(np.abs(net.a) - lengths_of(net.W)).max())


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
