"""The convolutional network of App. D on the digits 0 and 1: Figures 3 and 4 are about it."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np

from tacit._jax import jax, jnp
from tacit.data import load
from tacit.models import SixConv
from tacit.models.initialisations import initial_weights
from tacit.reproduction.artefact import Claim, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_most
from tacit.training import train_many
from tacit.values import BadInput, Dataset, Setting

BLOCK = 128
"""Images whose features are computed at once."""


@dataclass(frozen=True)
class ImageSettings(Settings):
    """The training of App. D."""

    n: int = ours(12_665, "App. D has the digits 0 and 1 of MNIST: all its training images")
    side: int = ours(28, "as MNIST is; a smaller side averages blocks of pixels")
    width: int = paper(128, "Table 1, layer 7")
    batch: int = paper(128, "App. D")
    epochs: int = paper(50, "App. D")
    factor: float = paper(0.05, "App. D: the weights of the dense layers are multiplied by it")
    biases: bool = ours(True, "the biases of the dense layers are multiplied as well")
    init: str = ours("uniform:1", "what is multiplied: PyTorch's default, uniform in ±1/√fan_in")
    lr: float = ours(1e-3, "Adam's default")
    standardise: bool = ours(
        True, "pixels have mean 0 and variance 1, as is usual; layer 7 depends on it"
    )
    stand_in: bool = ours(False, "where MNIST is missing, take the digits of scikit-learn")


SMALL = {"n": 256, "side": 14, "batch": 16, "epochs": 10, "stand_in": True}
"""Images and training that take seconds."""


@dataclass(frozen=True, eq=False)
class ImageNetwork:
    """The convolutional network of App. D before and after training."""

    data: Dataset
    model: SixConv
    start: dict[str, np.ndarray]
    end: dict[str, np.ndarray]
    top: np.ndarray
    """f⁷ of every image, after training."""
    departures: tuple[str, ...]


def trained_network(s: ImageSettings, tell: Tell) -> ImageNetwork:
    """The trained network; Figures 3 and 4 are about one, which is trained once."""
    tell("training the convolutional network")
    return _train_images(
        ImageSettings(**{f.name: getattr(s, f.name) for f in fields(ImageSettings)})
    )


@lru_cache(maxsize=1)
def _train_images(s: ImageSettings) -> ImageNetwork:
    data, departures = zeros_and_ones(s)
    side = round(data.d**0.5)
    model = SixConv(side)
    start = initial_weights(model, data.d, s.width, s.init, s.seed)
    for part in ("W7", "W8", *(("b7", "b8") if s.biases else ())):
        start[part] = s.factor * start[part]
    setting = Setting(
        model=f"six_conv:{side}", width=s.width, rule="adam", lr=s.lr, batch=min(s.batch, data.n)
    )
    first = {part: array[None] for part, array in start.items()}
    many = train_many(data, setting, s.epochs, [s.seed], start_at=first, single=True)
    end = many.member(0)
    return ImageNetwork(data, model, start, end, top_features(model, end, data.X), departures)


def zeros_and_ones(s: ImageSettings) -> tuple[Dataset, tuple[str, ...]]:
    """The digits 0 (+1) and 1 (−1), and what has to be said about them."""
    departures: tuple[str, ...] = ()
    try:
        data = load(f"mnist:classes=0/1,n={s.n},seed={s.seed}")
        X = _shrink(data.X, s.side)
    except BadInput as reason:
        if not s.stand_in:
            raise
        most = load("digits:classes=0/1").n
        data = load(f"digits:classes=0/1,n={min(s.n, most)},seed={s.seed}")
        X = data.X
        departures = (f"scikit-learn's digits of 8 × 8 pixels instead of MNIST: {reason}",)
    if s.standardise:
        X = (X - X.mean()) / X.std()
    return Dataset(X, data.y, name=data.name), departures


def _shrink(X: np.ndarray, side: int) -> np.ndarray:
    """Average images of 28 × 28 pixels over blocks."""
    block = 28 // max(side, 1)
    if side < 4 or block * side != 28:
        raise BadInput(f"side={side} must be 28, 14, 7 or 4")
    return X.reshape(-1, side, block, side, block).mean(axis=(2, 4)).reshape(len(X), -1)


_layers_of = jax.jit(lambda model, weights, X: model.features(weights, X), static_argnums=0)


def features(
    model: SixConv, weights: dict[str, np.ndarray], X: np.ndarray
) -> Iterator[list[np.ndarray]]:
    """f¹, …, f⁷ of the images, a few at a time: all of them together would not fit in memory."""
    single = {part: jnp.asarray(array, jnp.float32) for part, array in weights.items()}
    for first in range(0, len(X), BLOCK):
        images = X[first : first + BLOCK]
        block = np.zeros((BLOCK, X.shape[1]), np.float32)  # of one size: it is compiled once
        block[: len(images)] = images
        yield [layer[: len(images)] for layer in _layers_of(model, single, block)]


def top_features(model: SixConv, weights: dict[str, np.ndarray], X: np.ndarray) -> np.ndarray:
    """f⁷ of the images, the input of the last ReLU."""
    return np.concatenate([np.asarray(layers[-1]) for layers in features(model, weights, X)])


def training_error(trained: ImageNetwork) -> float:
    """The share of images that are not classified."""
    end = trained.end
    outputs = np.maximum(trained.top, 0) @ end["W8"][0] + end["b8"]
    return float((trained.data.y * outputs <= 0).mean())


def fitted_claim(trained: ImageNetwork) -> Claim:
    """The network classifies nearly all images."""
    wrong = training_error(trained)
    return at_most("fitted", "training error", wrong, 0.001)
