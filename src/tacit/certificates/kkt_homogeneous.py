"""The KKT certificate of any network that is homogeneous in its weights, by automatic gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.certificates.kkt import (
    KKT,
    excesses,
    exponents_of,
    finite,
    infeasibility,
    inverse,
    labels,
    lengths_of,
    scaled,
    without_rounding,
)
from tacit.numerics.boxed_nnls import nnls_over_rays
from tacit.values import BadInput

MOST_BYTES = 4e9
"""Size of the gradients of all q_i up to which they are computed."""
BLOCK_ENTRIES = 2**25
"""Entries of the gradients that are computed at once."""
ROUNDINGS = 1000
"""Rounding errors ε that f and its gradient may have."""
EULER = 1e-6
"""Largest relative error of Euler's identity."""


def homogeneous_kkt(
    f: Callable[[Any, Any], Any], params: Any, X: np.ndarray, y: np.ndarray, homogeneity: float
) -> KKT:
    """How near `params` is to a KKT point of the max-margin problem of f.

    At kinks the gradient is the one that JAX gives.

    Parameters
    ----------
    f : callable
        f(params, x) is a JAX function that gives one number and satisfies
        f(cθ, x) = c^homogeneity f(θ, x) for c > 0, which is checked. For a model of `tacit.models`
        that trains all its weights, it is `lambda params, x: model(params, x[None])[0]`.
    params : tree of arrays
        All of them count as trained.
    X : array of shape (n, …)
        The examples X[i].
    y : array of shape (n,)
        The labels ±1.
    homogeneity : float
        The degree of f in its parameters.

    Returns
    -------
    KKT

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [-2.0, 1.0]]), np.array([1, -1])
    >>> linear = homogeneous_kkt(lambda w, x: w @ x, np.array([1.0, 0.0]), X, y, 1)
    >>> linear.margin, linear.holds(1e-12)
    (1.0, True)
    """
    X = finite("X", X)
    if X.ndim == 0:
        raise BadInput("X is one number; it must be an array whose X[i] are the examples")
    y = labels(y, len(X))
    theta, unit_params = _on_the_sphere(params)
    _allow(len(X), len(theta))
    outputs, J = _gradients(f, unit_params, X, len(theta))
    J *= y[:, None]
    exponents = exponents_of(J)
    J = np.ldexp(J, -exponents[:, None], out=J)
    q = scaled(y * outputs, -exponents)  # as J, in the unit 2^exponents_i of each example
    # Else the margin would be no function of the direction, and λ and θ̂ of no one problem.
    _check_euler(J, theta, q, homogeneity)
    q = without_rounding(q, ROUNDINGS * lengths_of(J))
    excess, q_min = excesses(q, exponents)
    lam = multipliers_of(J, theta, homogeneity * excess)
    return KKT(
        stationarity=float(np.linalg.norm(theta - lam @ J)),
        feasibility=infeasibility(scaled(q, exponents - exponents.max())),
        complementarity=float(homogeneity * (lam @ excess)),
        multipliers=scaled(lam, -exponents),
        margin=float(scaled(q_min, exponents.max())),
        subdifferential="gradient as automatic differentiation gives it, at kinks too",
    )


def multipliers_of(J: np.ndarray, theta: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """λ ≥ 0 that minimises ‖θ − λJ‖² + (λ·cost)², the smallest costs first."""
    columns = _Gradients(J, cost)
    combination = nnls_over_rays(columns, np.append(theta, 0.0), np.argsort(cost))
    lam = np.zeros(len(J))
    lam[combination.points] = combination.weights * columns.inverse_lengths[combination.points]
    return lam


@dataclass(frozen=True, eq=False)
class _Gradients:
    """Columns ∂q_i(θ̂) with L(q̂_i − q̂_min) below; a point has one ray."""

    J: np.ndarray
    last: np.ndarray

    @cached_property
    def inverse_lengths(self) -> np.ndarray:
        return inverse(np.hypot(lengths_of(self.J), self.last))

    def best(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = self.J @ residual[:-1] + self.last * residual[-1]
        return np.zeros((len(self.J), 0)), slopes * self.inverse_lengths

    def matrix(self, points: np.ndarray, rays: np.ndarray) -> np.ndarray:
        columns = np.column_stack([self.J[points], self.last[points]])
        columns *= self.inverse_lengths[points, None]
        return columns.T


def _on_the_sphere(params: Any) -> tuple[np.ndarray, Any]:
    """θ̂ as one vector and as a tree."""
    from tacit._jax import jax, jnp

    leaves, tree = jax.tree.flatten(params)
    leaves = [finite(f"part {i} of params", leaf) for i, leaf in enumerate(leaves)]
    theta = np.concatenate([np.zeros(0), *(leaf.ravel() for leaf in leaves)])
    if not theta.any():
        raise BadInput("all weights in params are zero; a KKT point is a direction")
    theta = scaled(theta, -exponents_of(theta[None])[0])
    theta = theta / np.linalg.norm(theta)
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]
    parts = zip(np.split(theta, ends), leaves, strict=True)
    return theta, jax.tree.unflatten(tree, [jnp.asarray(p.reshape(old.shape)) for p, old in parts])


def _allow(n: int, parameters: int) -> None:
    size = 8.0 * n * parameters
    if size > MOST_BYTES:
        raise BadInput(
            f"the gradients of {n} examples by {parameters} parameters take {size / 1e9:.1f} GB, "
            f"more than {MOST_BYTES / 1e9:.0f} GB; give fewer examples"
        )


def _gradients(
    f: Callable[[Any, Any], Any], params: Any, X: np.ndarray, parameters: int
) -> tuple[np.ndarray, np.ndarray]:
    """f(θ̂, x_i), and the n × parameters matrix of its gradients."""
    from tacit._jax import jax

    shape = jax.eval_shape(f, params, X[0]).shape
    if shape != ():
        raise BadInput(f"f gives an array of shape {shape}; it must give one number per example")
    block = max(1, min(len(X), 256, BLOCK_ENTRIES // parameters))
    compute = jax.jit(jax.vmap(jax.value_and_grad(f), in_axes=(None, 0)))
    outputs, J = np.empty(len(X)), np.empty((len(X), parameters))
    for start in range(0, len(X), block):
        rows = np.arange(start, min(start + block, len(X)))
        # The last block is filled up with rows from the start, so that all have one shape.
        values, gradient = compute(params, X[np.arange(start, start + block) % len(X)])
        outputs[rows] = values[: len(rows)]
        parts = [np.asarray(g[: len(rows)]) for g in jax.tree.leaves(gradient)]
        J[rows] = np.hstack([part.reshape(len(rows), -1) for part in parts])
        good = np.isfinite(outputs[rows]) & np.isfinite(J[rows]).all(axis=1)
        if not good.all():
            raise BadInput(
                f"f or its gradient at params/‖params‖ and example {rows[np.argmin(good)]} "
                "(counted from 0) is not finite; it must be"
            )
    return outputs, J


def _check_euler(J: np.ndarray, theta: np.ndarray, q: np.ndarray, homogeneity: float) -> None:
    """∂q_i·θ = L q_i, relative to ‖∂q_i‖‖θ‖ or L|q_i|, whichever is larger."""
    q = homogeneity * q
    errors = np.abs(J @ theta - q) * inverse(np.maximum(lengths_of(J), np.abs(q)))
    worst = int(np.argmax(errors))
    if not errors[worst] <= EULER:
        raise BadInput(
            f"f is not homogeneous of degree {homogeneity:g} in params: at example {worst} "
            f"(counted from 0) Euler's identity fails by {errors[worst]:.1e} of its terms, "
            f"more than {EULER:.0e}"
        )
