"""Architectures: pure functions on dicts of arrays."""

from dataclasses import fields
from typing import Any, Literal

from tacit.messages import BadInput, near_miss
from tacit.models.activation import Activation, Leaky, ReLU, parse_activation, phi, phi_prime
from tacit.models.conv_max_pool import ConvMaxPool
from tacit.models.image_cnn import ImageCNN, SixConv
from tacit.models.model import Model, Params, Shape, output_signs
from tacit.models.residual import Residual
from tacit.models.two_layer import TwoLayer

__all__ = [
    "MODELS",
    "Activation",
    "ConvMaxPool",
    "ImageCNN",
    "Leaky",
    "Model",
    "Params",
    "ReLU",
    "Residual",
    "Shape",
    "SixConv",
    "TwoLayer",
    "model_text",
    "output_signs",
    "parse_activation",
    "parse_model",
    "phi",
    "phi_prime",
]

MODELS: dict[str, tuple[type[Model], tuple[str, ...]]] = {
    "two_layer": (TwoLayer, ()),
    "conv_max_pool": (ConvMaxPool, ("patch",)),
    "residual": (Residual, ("depth",)),
    "image_cnn": (ImageCNN, ("filter", "side", "classes", "train_filters")),
    "six_conv": (SixConv, ("side",)),
}
"""Name → class, and the whole numbers that may follow the name."""


def parse_model(
    text: str, alpha: float = 0.0, train: Literal["both", "first"] | None = None
) -> Model:
    """The model of a text such as `two_layer`, `conv_max_pool:2` or `residual:4`.

    `train` None is what the model does of itself: `first` for `conv_max_pool`, whose output layer
    is fixed, and every layer for all others. Only `two_layer` leaves the choice.
    """
    name, *numbers = text.split(":")
    if name not in MODELS:
        raise BadInput(f"unknown model '{name}'{near_miss(name, MODELS)}")
    kind, fields = MODELS[name]
    if len(numbers) > len(fields) or not all(number.isdecimal() for number in numbers):
        form = name + "".join(f"[:{field.upper()}]" for field in fields)
        raise BadInput(f"model '{text}': write {form}" + " with whole numbers" * bool(fields))
    given: dict[str, Any] = dict(zip(fields, map(int, numbers), strict=False))
    if kind in (ImageCNN, SixConv):
        if alpha != 0:
            raise BadInput(f"model '{name}' has ReLU activations (α = 0), not α = {alpha}")
    else:
        given["alpha"] = alpha
    own = "first" if kind is ConvMaxPool else "both"
    if kind is TwoLayer:
        given["train"] = train or own
    elif train not in (None, own):
        raise BadInput(f"model '{name}' always trains '{own}', not '{train}'")
    return kind(**given)


def model_text(model: Model) -> str:
    """The text that `parse_model` reads, with the numbers that are not the default ones."""
    name, names = next((n, names) for n, (kind, names) in MODELS.items() if type(model) is kind)
    defaults = {field.name: field.default for field in fields(model)}  # type: ignore[arg-type]
    numbers = [getattr(model, field) for field in names]
    while numbers and numbers[-1] == defaults[names[len(numbers) - 1]]:
        numbers.pop()
    return ":".join([name, *(str(int(number)) for number in numbers)])
