"""The settings of a plan: fields of `Setting`, two numbers for axes, and what is refused."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any, Literal

from tacit.models import parse_activation, parse_model
from tacit.sweeps.plan_values import Kind
from tacit.values import BadInput, Setting

Train = Literal["both", "first"] | None

FILES = ("file", "embedding")
"""Initialisations that read a file."""
SMALL = 1000
"""Neurons up to which initial weights are drawn to see whether they can be."""


@cache
def kinds() -> dict[str, Kind]:
    """What the keys of [setting] may hold."""
    hints = typing.get_type_hints(Setting)
    found = {field.name: _kind(hints[field.name]) for field in fields(Setting)}
    return {**found, "alpha": Kind(float), "scale": Kind(float)}


def _kind(hint: Any) -> Kind:
    if typing.get_origin(hint) is tuple:
        return Kind(tuple)
    choices = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if typing.get_origin(hint) is typing.Union:
        choices = typing.get_args(hint)
    kind = next(choice for choice in choices if choice is not type(None))
    return Kind(kind if isinstance(kind, type) else str)


def exclude(where: str, keys: Sequence[str]) -> None:
    """Refuse keys of [setting] that do not go together."""
    if {"alpha", "activation"} <= set(keys):
        raise BadInput(f"{where}: alpha and activation say the same; give one of them")
    if "scale" in keys and "init" not in keys:
        raise BadInput(f'{where}: scale is the number of an initialisation; give init = "gaussian"')


def setting_of(values: Mapping[str, Any]) -> Setting:
    """The setting with these values."""
    given = dict(values)
    alpha, scale = given.pop("alpha", None), given.pop("scale", None)
    if alpha is not None:
        given["activation"] = "relu" if alpha == 0 else f"leaky:{alpha!r}"
    if scale is not None:
        given["init"] = _scaled(given["init"], scale)
    return Setting(**given)


def _scaled(init: str, scale: float) -> str:
    from tacit.training.initialisations import forms

    form = forms().get(init)
    if form is not None and form.count(":") == 1 and init not in FILES:
        return f"{init}:{scale!r}"
    fit = [name for name, form in forms().items() if form.count(":") == 1 and name not in FILES]
    raise BadInput(
        f'init = "{init}" does not go with scale; with it, init is one of {", ".join(fit)}'
    )


def check(setting: Setting, record: Sequence[str]) -> None:
    """Refuse what no data could make right."""
    from tacit.models.losses import SOFTMAX
    from tacit.training.rules import parse_descent

    if setting.rule == "flow":
        raise BadInput(
            'rule = "flow" is no training; record = ["limit"] follows the flow from the same '
            "initial weights"
        )
    if setting.loss == SOFTMAX:
        raise BadInput(f'loss = "{SOFTMAX}" is for several outputs; a sweep trains one')
    if (setting.init or "").partition(":")[0] in FILES:
        raise BadInput(
            f'init = "{setting.init}" reads weights from a file, which a sweep does not; take a '
            "random initialisation"
        )
    if setting.batch is not None and setting.batch < 1:
        raise BadInput(f"batch = {setting.batch} must be at least 1")
    if setting.batch is not None and setting.rule == "gd":
        raise BadInput(f'rule = "gd" uses all examples; batch = {setting.batch} is for sgd or adam')
    if setting.width < 1:
        raise BadInput(f"width = {setting.width} must be at least 1")
    if not 0 < setting.output_weight < math.inf:
        raise BadInput(f"output_weight = {setting.output_weight} must be a positive number")
    descent = parse_descent(replace(setting, batch=None), 1)
    if setting.model != "two_layer":
        for name in ("limit", "certificate"):
            if name in record:
                raise BadInput(f"{name} is for two_layer networks, not for {setting.model}")
        if descent.stop.agreement:
            raise BadInput('stop = ["agreement"] speaks of the neurons of a two_layer net')
    if "limit" in record:
        from tacit.flow.exponential_tail import tail_of

        tail_of(setting.loss)
    small = min(setting.width, SMALL + setting.width % 2)
    _check_start(setting.model, setting.activation, setting.train, small, setting.init)


@cache
def _check_start(
    model_text: str, activation: str, train: Train, width: int, init: str | None
) -> None:
    """Draw the initial weights of a network of the kind, and see that it has one output."""
    from tacit._jax import jax
    from tacit.training.initialisations import initial_weights

    model = parse_model(model_text, parse_activation(activation), train)
    d = getattr(model, "side", 0) ** 2 or getattr(model, "patch", 2)
    weights = initial_weights(model, d, width, init, 0)
    if jax.eval_shape(model, weights, jax.ShapeDtypeStruct((1, d), float)).ndim != 1:
        raise BadInput(f'model = "{model_text}" has several outputs; a sweep trains one')


def check_points(setting: Setting, n: int, d: int) -> None:
    """Refuse a setting that does not go with n points in R^d."""
    if setting.batch is not None and setting.batch > n:
        raise BadInput(f"batch = {setting.batch} is more than the {n} points of the data")
    _check_shape(setting.model, setting.activation, setting.train, d)


@cache
def _check_shape(model: str, activation: str, train: Train, d: int) -> None:
    parse_model(model, parse_activation(activation), train).shapes(d, 2)
