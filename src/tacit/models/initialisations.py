"""Initial weights, by name: `gaussian:1e-3`, `balanced:1e-4`, `he:0.001`, `file:weights.npz`, …

An initialisation is a frozen class with a method `draw`; its fields are the numbers behind its
name. A new one is such a class, listed in `INITIALISATIONS`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass
from typing import ClassVar

import numpy as np

from tacit.files import read_npz
from tacit.messages import BadInput, near_miss, number_text
from tacit.models.conv_max_pool import ConvMaxPool
from tacit.models.model import Model, Shape, output_signs
from tacit.models.two_layer import TwoLayer

Weights = dict[str, np.ndarray]
Shapes = dict[str, Shape]


@dataclass(frozen=True)
class Initialisation(ABC):
    """How the trained weights are drawn before training."""

    form: ClassVar[str]
    """How its text is written, such as `pair:SIGMA:C`."""

    @abstractmethod
    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        """Draw the weights of the parts that are trained."""

    def __post_init__(self) -> None:
        if not all(isinstance(v, str) or 0 < v < math.inf for v in astuple(self)):
            raise BadInput(f"initialisation '{self}': write {self.form} with positive numbers")

    def __str__(self) -> str:
        numbers = [v if isinstance(v, str) else number_text(v) for v in astuple(self)]
        return ":".join([self.form.partition(":")[0], *numbers])


@dataclass(frozen=True)
class Gaussian(Initialisation):
    """Every entry N(0, σ²)."""

    form = "gaussian:SIGMA"
    sigma: float

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        return {part: self.sigma * rng.standard_normal(s.shape) for part, s in shapes.items()}


@dataclass(frozen=True)
class Truncated(Initialisation):
    """N(0, σ²) cut off at 2σ (brutzkus2019 App. H)."""

    form = "truncated:SIGMA"
    sigma: float

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        return {part: self.sigma * self._standard(s.shape, rng) for part, s in shapes.items()}

    def _standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        z = rng.standard_normal(shape)
        while (far := np.abs(z) > 2).any():
            z[far] = rng.standard_normal(int(far.sum()))
        return z


@dataclass(frozen=True)
class He(Initialisation):
    """N(0, 2/fan_in) times a factor; biases zero (lyu2021 App. I.1.3, J)."""

    form = "he:FACTOR"
    factor: float

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        return {
            part: np.zeros(s.shape)
            if part.startswith("b")
            else self.factor * math.sqrt(2 / s.fan_in) * rng.standard_normal(s.shape)
            for part, s in shapes.items()
        }


@dataclass(frozen=True)
class Uniform(Initialisation):
    """Uniform in ±1/√fan_in (PyTorch's default, likely meant in phuong2021 §5.1) × a factor."""

    form = "uniform:FACTOR"
    factor: float

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        return {
            part: self.factor / math.sqrt(s.fan_in) * rng.uniform(-1, 1, s.shape)
            for part, s in shapes.items()
        }


@dataclass(frozen=True)
class Balanced(Initialisation):
    """w_k uniform on the sphere of radius λ, a_k = ±λ (phuong2021 §2)."""

    form = "balanced:NORM"
    norm: float

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        W = _standard_neurons(shapes, rng, self)
        W *= self.norm / np.linalg.norm(W, axis=1, keepdims=True)
        return {"W": W, "a": self.norm * rng.choice([-1.0, 1.0], len(W))}


@dataclass(frozen=True)
class BalancedGaussian(Initialisation):
    """w_k ~ N(0, σ²I), a_k = ±‖w_k‖ (lyu2021 §6)."""

    form = "balanced_gaussian:SIGMA"
    sigma: float

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        W = self.sigma * _standard_neurons(shapes, rng, self)
        return {"W": W, "a": np.linalg.norm(W, axis=1) * rng.choice([-1.0, 1.0], len(W))}


@dataclass(frozen=True)
class Pair(Initialisation):
    """w_k ~ N(0, σ²I), a_k ~ N(0, c²σ²) (lyu2021 §4.2)."""

    form = "pair:SIGMA:C"
    sigma: float
    c: float

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        W = self.sigma * _standard_neurons(shapes, rng, self)
        return {"W": W, "a": self.c * self.sigma * rng.standard_normal(len(W))}


@dataclass(frozen=True)
class Embedding(Initialisation):
    """A two-neuron net (arrays W 2×d, a = (a₁ > 0, a₂ < 0), optional b) embedded into m neurons."""

    form = "embedding:FILE.npz"
    path: str

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        if set(shapes) != {"W", "a"}:
            raise BadInput("initialisation 'embedding' needs a two-layer net")
        m, d = shapes["W"].shape
        parts = {"W": Shape((2, d), d), "a": Shape((2,), 2)}
        if "b" in read_npz(self.path):
            parts["b"] = Shape((m,), 1)
        two = _read(parts, self.path)
        return embed(two, two.pop("b") if "b" in two else _both_signs(m, rng))


@dataclass(frozen=True)
class FromFile(Initialisation):
    """Explicit weights: one array per part."""

    form = "file:FILE.npz"
    path: str

    @property
    def width(self) -> int | None:
        """The number of neurons in the file, where it has an array W of rows."""
        W = read_npz(self.path).get("W")
        return len(W) if W is not None and W.ndim == 2 else None

    def draw(self, shapes: Shapes, rng: np.random.Generator) -> Weights:
        return _read(shapes, self.path)


INITIALISATIONS: dict[str, type[Initialisation]] = {
    kind.form.partition(":")[0]: kind
    for kind in (
        Gaussian,
        Truncated,
        He,
        Uniform,
        Balanced,
        BalancedGaussian,
        Pair,
        Embedding,
        FromFile,
    )
}


def parse_initialisation(text: str) -> Initialisation:
    """The initialisation of a text such as `balanced:1e-4` or `file:weights.npz`."""
    name, _, rest = text.partition(":")
    if name not in INITIALISATIONS:
        raise BadInput(f"unknown initialisation '{name}'{near_miss(name, INITIALISATIONS)}")
    kind = INITIALISATIONS[name]
    if kind in (Embedding, FromFile):
        if not rest:
            raise BadInput(f"initialisation '{text}': write {kind.form}")
        return kind(rest)
    try:
        numbers = [float(word) for word in rest.split(":")] if rest else []
    except ValueError:
        raise BadInput(f"initialisation '{text}': write {kind.form} with numbers") from None
    if len(numbers) != kind.form.count(":") or not all(0 < x < math.inf for x in numbers):
        raise BadInput(f"initialisation '{text}': write {kind.form} with positive numbers")
    return kind(*numbers)


def default_initialisation(model: Model) -> Initialisation:
    """What is taken when nothing is said: small, so that features are learned."""
    if isinstance(model, TwoLayer) and model.train == "both":
        return Balanced(1e-4)
    return Gaussian(1e-4) if isinstance(model, TwoLayer | ConvMaxPool) else He(1.0)


def initial_weights(
    model: Model,
    d: int,
    width: int,
    init: Initialisation | str | None,
    seed: int,
    output_weight: float = 1.0,
) -> Weights:
    """The weights that training starts from.

    They are drawn on the host by `numpy.random.default_rng(seed)`, part after part in the order of
    `Model.shapes`, so a seed gives the same weights alone and in an ensemble. A fixed output layer
    is ±v, half of each sign, and is not drawn.
    """
    if width < 1:
        raise BadInput(f"`width={width}` must be at least 1")
    shapes = model.shapes(d, width)
    trained = model.trained(shapes)
    init = parse_initialisation(init) if isinstance(init, str) else init
    init = init or default_initialisation(model)
    rng = np.random.default_rng(seed)
    if isinstance(init, Embedding | FromFile):
        _check_slope(init.path, getattr(model, "alpha", 0.0))
        return init.draw(shapes, rng)
    fixed: Weights = {}
    if len(trained) < len(shapes):
        if not 0 < output_weight < math.inf:
            raise BadInput(f"`output_weight={output_weight}` must be a positive number")
        fixed = {"a": output_weight * output_signs(width)}
    weights = init.draw(trained, rng)
    return {part: fixed[part] if part in fixed else weights[part] for part in shapes}


def _check_slope(path: str, alpha: float) -> None:
    """Refuse a file that names another slope of the activation than the setting does."""
    stored = read_npz(path).get("alpha")
    if stored is not None and stored.size == 1 and stored.item() != alpha:
        raise BadInput(
            f"{path} holds weights for the slope α = {stored.item()} of the activation, and the "
            f"setting has α = {alpha:g}; `activation=leaky:{stored.item()}` would fit them"
        )


def _standard_neurons(shapes: Shapes, rng: np.random.Generator, init: Initialisation) -> np.ndarray:
    if set(shapes) != {"W", "a"}:
        raise BadInput(
            f"initialisation '{init.form.partition(':')[0]}' needs a two-layer net with both "
            "layers trained; with a fixed output layer take gaussian:SIGMA"
        )
    return rng.standard_normal(shapes["W"].shape)


def _read(shapes: Shapes, path: str) -> Weights:
    """One array for each part, from a file."""
    arrays = read_npz(path)
    for part, s in shapes.items():
        if part not in arrays:
            raise BadInput(f"{path}: no array '{part}'; found: {', '.join(arrays)}")
        if arrays[part].shape != s.shape:
            raise BadInput(
                f"{path}: '{part}' has shape {arrays[part].shape}; this network needs {s.shape}"
            )
        if arrays[part].dtype.kind not in "fiu" or not np.isfinite(arrays[part]).all():
            raise BadInput(f"{path}: '{part}' must hold finite real numbers")
    return {part: np.asarray(arrays[part], dtype=np.float64) for part in shapes}


def _both_signs(m: int, rng: np.random.Generator) -> np.ndarray:
    """b ~ N(0, I), given that it has entries of both signs."""
    if m < 2:
        raise BadInput(f"`width={m}`: an embedding needs neurons of both signs, so at least 2")
    b = rng.standard_normal(m)
    while (b > 0).all() or (b < 0).all():
        b = rng.standard_normal(m)
    return b


def embed(two: Weights, b: np.ndarray) -> Weights:
    """π_b of lyu2021 §5.2: the same function with as many neurons as b has entries."""
    if not (b > 0).any() or not (b < 0).any() or not (b != 0).all():
        raise BadInput("the embedding vector b needs entries of both signs and none that is zero")
    if not two["a"][0] > 0 > two["a"][1]:
        raise BadInput(f"the two output weights must be (+, −), not {two['a'].tolist()}")
    # hypot, since squares of small entries of b may underflow.
    plus, minus = np.hypot.reduce(b[b > 0]), np.hypot.reduce(b[b < 0])
    share = np.where(b > 0, b / plus, -b / minus)  # b_k / b_±
    which = np.where(b > 0, 0, 1)
    return {"W": share[:, None] * two["W"][which], "a": share * two["a"][which]}
