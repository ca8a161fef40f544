"""The three-layer network of brutzkus2019: convolution, max-pooling, fixed signs."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass

from tacit._jax import jax, jnp
from tacit.messages import BadInput
from tacit.models.activation import check_alpha, phi, phi_prime
from tacit.models.model import Params, Shape, T, output_signs


@dataclass(frozen=True)
class ConvMaxPool:
    """f(x) = Σ_i [max_j φ(w_i·x_j) − max_j φ(u_i·x_j)], brutzkus2019 (2).

    The input is cut into patches x_j of `patch` coordinates that do not overlap. Parameters: W
    (2k, patch), first the k filters w, then the k filters u, and their fixed signs a (2k,). The
    paper counts 2k channels; that is our width.

    Among patches that tie for the maximum the first one takes the gradient.
    """

    patch: int = 2
    alpha: float = 0.0

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.patch < 1:
            raise BadInput(f"patch = {self.patch} must be at least 1")

    def shapes(self, d: int, width: int) -> dict[str, Shape]:
        if d % self.patch:
            raise BadInput(f"{d} coordinates cannot be cut into patches of {self.patch}")
        signs = output_signs(width)
        return {"W": Shape((width, self.patch), self.patch), "a": Shape(signs.shape, width)}

    def __call__(self, params: Params, X: jax.Array) -> jax.Array:
        z, _ = self._pool(params["W"], X)
        return phi(z, self.alpha) @ params["a"]  # (2); φ is increasing, so φ(max) = max φ

    def gradient(self, params: Params, X: jax.Array, g: jax.Array) -> Params:
        z, winner = self._pool(params["W"], X)
        s = g[:, None] * phi_prime(z, self.alpha) * params["a"]
        dW = jnp.stack([jnp.sum(s * x, axis=0) for x in winner], axis=1)
        return {"W": dW, "a": jnp.zeros_like(params["a"])}

    def trained(self, params: dict[str, T]) -> dict[str, T]:
        return {"W": params["W"]}

    @property
    def homogeneity(self) -> int:
        return 1

    def _pool(self, W: jax.Array, X: jax.Array) -> tuple[jax.Array, list[jax.Array]]:
        """max_j w_i·x_j for every example and filter, and the coordinates of the patch it is at.

        Sums of products and `where` over the patches: XLA fuses all of it into one loop, several
        times faster than small matrix products and far faster than autodiff through a maximum.
        """

        def score(patch: list[jax.Array]) -> jax.Array:
            return functools.reduce(operator.add, (x * W[:, c] for c, x in enumerate(patch)))

        columns = [X[:, c, None] for c in range(X.shape[1])]
        winner = columns[: self.patch]
        z = score(winner)
        for start in range(self.patch, len(columns), self.patch):
            patch = columns[start : start + self.patch]
            new = score(patch)
            better = new > z  # strictly: the first of equals stays
            z = jnp.where(better, new, z)
            winner = [jnp.where(better, x, old) for x, old in zip(patch, winner, strict=True)]
        return z, winner
