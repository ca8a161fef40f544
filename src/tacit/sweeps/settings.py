"""The settings of a plan: fields of `Setting`, two numbers for axes, and what is refused."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from tacit.models import Model, model_text
from tacit.models.initialisations import Initialisation
from tacit.sweeps.plan_values import Kind
from tacit.values import BadInput, Setting
from tacit.values.setting import PLAIN_TYPES

FILES = ("file", "embedding")
"""Initialisations that read a file."""
SMALL = 1000
"""Neurons up to which initial weights are drawn to see whether they can be."""


@cache
def kinds() -> dict[str, Kind]:
    """What the keys of [setting] may hold."""
    known = {name: Kind(tuple if kind is list else kind) for name, kind in PLAIN_TYPES.items()}
    return {**known, "alpha": Kind(float), "scale": Kind(float)}


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
    from tacit.models.initialisations import INITIALISATIONS

    forms = {name: kind.form for name, kind in INITIALISATIONS.items() if name not in FILES}
    fit = [name for name, form in forms.items() if form.count(":") == 1]
    if init in fit:
        return f"{init}:{scale!r}"
    raise BadInput(
        f'init = "{init}" does not go with scale; with it, init is one of {", ".join(fit)}'
    )


def check(setting: Setting, record: Sequence[str]) -> None:
    """Refuse what no data could make right."""
    from tacit.models.initialisations import Embedding, FromFile
    from tacit.models.losses import Softmax
    from tacit.training.rules import parse_descent

    if setting.rule == "flow":
        raise BadInput(
            'rule = "flow" is no training; record = ["limit"] follows the flow from the same '
            "initial weights"
        )
    if isinstance(setting.loss, Softmax):
        raise BadInput(f'loss = "{setting.loss}" is for several outputs; a sweep trains one')
    if isinstance(setting.init, Embedding | FromFile):
        raise BadInput(
            f'init = "{setting.init}" reads weights from a file, which a sweep does not; take a '
            "random initialisation"
        )
    if setting.batch is not None and setting.rule == "gd":
        raise BadInput(f'rule = "gd" uses all examples; batch = {setting.batch} is for sgd or adam')
    descent = parse_descent(replace(setting, batch=None), 1)
    if not setting.two_layer:
        for name in ("limit", "certificate"):
            if name in record:
                raise BadInput(
                    f"{name} is for two_layer networks, not for {model_text(setting.model)}"
                )
        if descent.stop.agreement:
            raise BadInput('stop = ["agreement"] speaks of the neurons of a two_layer net')
    if "limit" in record:
        from tacit.flow.exponential_tail import tail_of

        tail_of(setting.loss)
    small = min(setting.width, SMALL + setting.width % 2)
    _check_start(setting.model, small, setting.initialisation)


def _check_start(model: Model, width: int, init: Initialisation) -> None:
    """Draw the initial weights of a network of the kind, and see that it has one output."""
    from tacit._jax import jax
    from tacit.models.initialisations import initial_weights

    d = getattr(model, "side", 0) ** 2 or getattr(model, "patch", 2)
    weights = initial_weights(model, d, width, init, 0)
    if jax.eval_shape(model, weights, jax.ShapeDtypeStruct((1, d), float)).ndim != 1:
        raise BadInput(f'model = "{model_text(model)}" has several outputs; a sweep trains one')


def check_points(setting: Setting, n: int, d: int) -> None:
    """Refuse a setting that does not go with n points in R^d."""
    if setting.batch is not None and setting.batch > n:
        raise BadInput(f"batch = {setting.batch} is more than the {n} points of the data")
    setting.model.shapes(d, 2)
