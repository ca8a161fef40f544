"""Convolutional networks for square grey images: brutzkus2019 §7 and phuong2021 App. D."""

from __future__ import annotations

from dataclasses import dataclass

from tacit._jax import jax, jnp
from tacit.messages import require
from tacit.models.activation import phi
from tacit.models.model import Params, Shape, T, gradient_by_autodiff


@dataclass(frozen=True)
class ImageCNN:
    """brutzkus2019 §7: convolution with bias, ReLU, 2×2 max-pooling, dense layer; ten outputs.

    Parameters, for c = width channels: W (c, filter²), rows are filters, b (c,), V (classes,
    c·pooled²) and bV (classes,). The paper leaves open the padding and the bias of the dense layer;
    ours: the image keeps its size (zeros around it), an odd last row and column are not pooled, and
    the dense layer has a bias.
    """

    filter: int = 3
    side: int = 28
    classes: int = 10
    train_filters: bool = True
    """False (0) trains all but W, as the small network that has cluster centres as filters."""

    def __post_init__(self) -> None:
        require(1 <= self.filter <= self.side, f"filter = {self.filter} must be 1 … {self.side}")
        require(self.side >= 2, f"side = {self.side} must be at least 2")
        require(self.classes >= 1, f"classes = {self.classes} must be at least 1")

    def shapes(self, d: int, width: int) -> dict[str, Shape]:
        _check_side(d, self.side)
        window, inputs = self.filter**2, width * (self.side // 2) ** 2
        return {
            "W": Shape((width, window), window),
            "b": Shape((width,), window),
            "V": Shape((self.classes, inputs), inputs),
            "bV": Shape((self.classes,), inputs),
        }

    def __call__(self, params: Params, X: jax.Array) -> jax.Array:
        images = X.reshape(-1, self.side, self.side, 1)
        kernel = params["W"].reshape(-1, 1, self.filter, self.filter)
        around = self.filter - 1
        before = around // 2
        z = _max_pool(_convolve(images, kernel, 1, before, around - before))
        h = phi(z + params["b"], 0.0)  # φ and the bias commute with the maximum
        return h.reshape(len(X), -1) @ params["V"].T + params["bV"]

    def gradient(self, params: Params, X: jax.Array, g: jax.Array) -> Params:
        return gradient_by_autodiff(self, params, X, g)

    def trained(self, params: dict[str, T]) -> dict[str, T]:
        return {name: part for name, part in params.items() if self.train_filters or name != "W"}

    @property
    def homogeneity(self) -> None:
        return None


CONVOLUTIONS = (
    (32, 3, 1, 1),
    (32, 3, 1, 1),
    (32, 5, 2, 2),
    (64, 3, 1, 1),
    (64, 3, 1, 1),
    (64, 5, 2, 2),
)
"""phuong2021 Table 1: kernels, their size, stride, padding of layers 1 to 6."""


@dataclass(frozen=True)
class SixConv:
    """phuong2021 App. D, Table 1: six convolutions and two dense layers, ReLU between, one output.

    Parameters: W1, …, W6 (kernels, channels, size, size), W7 (width, 3136 for side 28), W8 (1,
    width) and biases b1, …, b8 (the text mentions "the use of biases"). The paper's width is 128.
    """

    side: int = 28

    def __post_init__(self) -> None:
        require(self.side >= 1, f"side = {self.side} must be at least 1")

    def shapes(self, d: int, width: int) -> dict[str, Shape]:
        _check_side(d, self.side)
        weights, channels, side = [], 1, self.side
        for kernels, size, stride, padding in CONVOLUTIONS:
            weights.append(Shape((kernels, channels, size, size), channels * size**2))
            channels, side = kernels, (side + 2 * padding - size) // stride + 1
        inputs = channels * side**2
        weights += [Shape((width, inputs), inputs), Shape((1, width), width)]
        parts = {}
        for l, W in enumerate(weights, start=1):
            parts[f"W{l}"] = W
            parts[f"b{l}"] = Shape(W.shape[:1], W.fan_in)
        return parts

    def __call__(self, params: Params, X: jax.Array) -> jax.Array:
        return (phi(self._layers(params, X)[-1], 0.0) @ params["W8"].T + params["b8"])[:, 0]

    def features(self, params: Params, X: jax.Array, activated: bool = False) -> list[jax.Array]:
        """f¹(x), …, f⁷(x), each (n, size of the layer).

        As in (30), fˡ is what layer l puts out before the ReLU; `activated` gives φ(fˡ). Only
        before the ReLU can features of different classes have a negative inner product.
        """
        layers = [f.reshape(len(X), -1) for f in self._layers(params, X)]
        return [phi(f, 0.0) for f in layers] if activated else layers

    def gradient(self, params: Params, X: jax.Array, g: jax.Array) -> Params:
        return gradient_by_autodiff(self, params, X, g)

    def trained(self, params: dict[str, T]) -> dict[str, T]:
        return dict(params)

    @property
    def homogeneity(self) -> None:
        return None

    def _layers(self, params: Params, X: jax.Array) -> list[jax.Array]:
        layers, h = [], X.reshape(-1, self.side, self.side, 1)
        for l, (_, _, stride, padding) in enumerate(CONVOLUTIONS, start=1):
            f = _convolve(h, params[f"W{l}"], stride, padding, padding) + params[f"b{l}"]
            layers.append(f)
            h = phi(f, 0.0)
        return [*layers, h.reshape(len(X), -1) @ params["W7"].T + params["b7"]]


def _convolve(
    images: jax.Array, kernel: jax.Array, stride: int, before: int, after: int
) -> jax.Array:
    """Images (n, side, side, channels), kernel (kernels, channels, size, size), zeros around.

    One matrix product of all windows with all kernels: XLA's own convolution is 35 times slower
    than this on a CPU inside a loop.
    """
    size = kernel.shape[-1]
    padded = jnp.pad(images, ((0, 0), (before, after), (before, after), (0, 0)))
    last = (padded.shape[1] - size) // stride * stride + 1
    windows = [
        padded[:, i : i + last : stride, j : j + last : stride]
        for i in range(size)
        for j in range(size)
    ]
    columns = kernel.transpose(2, 3, 1, 0).reshape(-1, kernel.shape[0])
    return jnp.concatenate(windows, axis=3) @ columns


def _max_pool(z: jax.Array) -> jax.Array:
    """2×2 max-pooling of (n, side, side, channels); the first of equals takes the gradient."""
    even = 2 * (z.shape[1] // 2)
    best = z[:, 0:even:2, 0:even:2]
    for i, j in ((0, 1), (1, 0), (1, 1)):
        new = z[:, i:even:2, j:even:2]
        best = jnp.where(new > best, new, best)
    return best


def _check_side(d: int, side: int) -> None:
    require(d == side**2, f"points have {d} coordinates; {side}×{side} images have {side**2}")
