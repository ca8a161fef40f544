"""Initial weights, by name: `gaussian:1e-3`, `balanced:1e-4`, `he:0.001`, `file:weights.npz`, …

Weights are drawn on the host by `numpy.random.default_rng(seed)`, part after part in the order of
`Model.shapes`, so a seed gives the same weights alone and in an ensemble. A fixed output layer is
±v, half of each sign, and is not drawn. A new initialisation is one function with `@scheme`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tacit.files import read_npz
from tacit.models import Model, Shape, output_signs
from tacit.values import BadInput
from tacit.values.text import near_miss

Weights = dict[str, np.ndarray]
Draw = Callable[[dict[str, Shape], np.random.Generator, list[float]], Weights]

SCHEMES: dict[str, tuple[Draw, str]] = {}
"""Name → how to draw, and how the text is written."""


def scheme(form: str) -> Callable[[Draw], Draw]:
    """Register the decorated function; `form` is its text, such as `pair:SIGMA:C`."""

    def register(draw: Draw) -> Draw:
        name = form.partition(":")[0]
        assert name not in (*SCHEMES, "file", "embedding"), f"there is a scheme '{name}' already"
        SCHEMES[name] = (draw, form)
        return draw

    return register


def initial_weights(
    model: Model, d: int, width: int, text: str | None, seed: int, output_weight: float = 1.0
) -> Weights:
    """The weights that training starts from."""
    if width < 1:
        raise BadInput(f"--width {width} must be at least 1")
    shapes = model.shapes(d, width)
    name, _, rest = (text or "").partition(":")
    rng = np.random.default_rng(seed)
    if name == "file":
        return _from_file(shapes, rest)
    if name == "embedding":
        return _embedding(shapes, rest, rng)
    trained = model.trained(shapes)
    fixed: Weights = {}
    if len(trained) < len(shapes):
        if not 0 < output_weight < math.inf:
            raise BadInput(f"--output-weight {output_weight} must be a positive number")
        fixed = {"a": output_weight * output_signs(width)}
    text = text or default_init(model, d, width)
    name = text.partition(":")[0]
    if name not in SCHEMES:
        raise BadInput(f"unknown initialisation '{name}'{near_miss(name, forms())}")
    draw, form = SCHEMES[name]
    weights = draw(trained, rng, _numbers(text, form))
    return {part: fixed[part] if part in fixed else weights[part] for part in shapes}


def default_init(model: Model, d: int, width: int) -> str:
    """What is taken when nothing is said: small, so that the features are learned."""
    shapes = model.shapes(d, width)
    if len(model.trained(shapes)) < len(shapes):
        return "gaussian:1e-3"
    return "balanced:1e-3" if "a" in shapes else "he:1"


def forms() -> dict[str, str]:
    """Name → how the text is written, of every initialisation."""
    own = {name: form for name, (_, form) in SCHEMES.items()}
    return own | {"embedding": "embedding:FILE.npz", "file": "file:FILE.npz"}


def descriptions() -> dict[str, str]:
    """How the text is written → what it means, of every initialisation."""
    own = {form: (draw.__doc__ or "").partition("\n")[0] for draw, form in SCHEMES.values()}
    return own | {
        "embedding:FILE.npz": (_embedding.__doc__ or ""),
        "file:FILE.npz": (_from_file.__doc__ or ""),
    }


def _numbers(text: str, form: str) -> list[float]:
    given, wanted = text.split(":")[1:], form.split(":")[1:]
    try:
        numbers = [float(word) for word in given]
    except ValueError:
        raise BadInput(f"initialisation '{text}': write {form} with numbers") from None
    if len(numbers) != len(wanted) or not all(0 < number < math.inf for number in numbers):
        raise BadInput(f"initialisation '{text}': write {form} with positive numbers")
    return numbers


@scheme("gaussian:SIGMA")
def gaussian(shapes: dict[str, Shape], rng: np.random.Generator, numbers: list[float]) -> Weights:
    """Every entry N(0, σ²)."""
    return {part: numbers[0] * rng.standard_normal(s.shape) for part, s in shapes.items()}


@scheme("truncated:SIGMA")
def truncated(shapes: dict[str, Shape], rng: np.random.Generator, numbers: list[float]) -> Weights:
    """N(0, σ²) cut off at 2σ (brutzkus2019 App. H)."""

    def draw(shape: tuple[int, ...]) -> np.ndarray:
        z = rng.standard_normal(shape)
        while (far := np.abs(z) > 2).any():
            z[far] = rng.standard_normal(int(far.sum()))
        return numbers[0] * z

    return {part: draw(s.shape) for part, s in shapes.items()}


@scheme("he:FACTOR")
def he(shapes: dict[str, Shape], rng: np.random.Generator, numbers: list[float]) -> Weights:
    """N(0, 2/fan_in) times a factor; biases zero (lyu2021 App. I.1.3, J)."""
    return {
        part: np.zeros(s.shape)
        if part.startswith("b")
        else numbers[0] * math.sqrt(2 / s.fan_in) * rng.standard_normal(s.shape)
        for part, s in shapes.items()
    }


@scheme("uniform:FACTOR")
def uniform(shapes: dict[str, Shape], rng: np.random.Generator, numbers: list[float]) -> Weights:
    """Uniform in ±1/√fan_in (PyTorch's default, likely meant in phuong2021 §5.1) × a factor."""
    return {
        part: numbers[0] / math.sqrt(s.fan_in) * rng.uniform(-1, 1, s.shape)
        for part, s in shapes.items()
    }


@scheme("balanced:NORM")
def balanced(shapes: dict[str, Shape], rng: np.random.Generator, numbers: list[float]) -> Weights:
    """w_k uniform on the sphere of radius λ, a_k = ±λ (phuong2021 §2)."""
    W = _output_layer_needed(shapes, rng, "balanced")
    W *= numbers[0] / np.linalg.norm(W, axis=1, keepdims=True)
    return {"W": W, "a": numbers[0] * rng.choice([-1.0, 1.0], len(W))}


@scheme("balanced_gaussian:SIGMA")
def balanced_gaussian(
    shapes: dict[str, Shape], rng: np.random.Generator, numbers: list[float]
) -> Weights:
    """w_k ~ N(0, σ²I), a_k = ±‖w_k‖ (lyu2021 §6)."""
    W = numbers[0] * _output_layer_needed(shapes, rng, "balanced_gaussian")
    return {"W": W, "a": np.linalg.norm(W, axis=1) * rng.choice([-1.0, 1.0], len(W))}


@scheme("pair:SIGMA:C")
def pair(shapes: dict[str, Shape], rng: np.random.Generator, numbers: list[float]) -> Weights:
    """w_k ~ N(0, σ²I), a_k ~ N(0, c²σ²) (lyu2021 §4.2)."""
    sigma, c = numbers
    W = sigma * _output_layer_needed(shapes, rng, "pair")
    return {"W": W, "a": c * sigma * rng.standard_normal(len(W))}


def _output_layer_needed(
    shapes: dict[str, Shape], rng: np.random.Generator, name: str
) -> np.ndarray:
    if set(shapes) != {"W", "a"}:
        raise BadInput(
            f"initialisation '{name}' needs a two-layer net with both layers trained; "
            "with a fixed output layer take gaussian:SIGMA"
        )
    return rng.standard_normal(shapes["W"].shape)


def _from_file(shapes: dict[str, Shape], path: str) -> Weights:
    """Explicit weights: one array per part."""
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


def _embedding(shapes: dict[str, Shape], path: str, rng: np.random.Generator) -> Weights:
    """A two-neuron net (arrays W 2×d, a = (a₁ > 0, a₂ < 0), optional b) embedded into m neurons."""
    if set(shapes) != {"W", "a"}:
        raise BadInput("initialisation 'embedding' needs a two-layer net")
    m, d = shapes["W"].shape
    parts = {"W": Shape((2, d), d), "a": Shape((2,), 2)}
    if "b" in read_npz(path):
        parts["b"] = Shape((m,), 1)
    two = _from_file(parts, path)
    return embed(two, two.pop("b") if "b" in two else _both_signs(m, rng))


def _both_signs(m: int, rng: np.random.Generator) -> np.ndarray:
    """b ~ N(0, I), given that it has entries of both signs."""
    if m < 2:
        raise BadInput(f"--width {m}: an embedding needs neurons of both signs, so at least 2")
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
    plus, minus = np.hypot.reduce(b[b > 0]), np.hypot.reduce(b[b < 0])
    share = np.where(b > 0, b / plus, -b / minus)  # b_k / b_±
    which = np.where(b > 0, 0, 1)
    return {"W": share[:, None] * two["W"][which], "a": share * two["a"][which]}
