"""Network, initialisation, loss and training rule of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, Literal, get_args

from tacit.messages import BadInput, near_miss
from tacit.models import (
    MODELS,
    Activation,
    ConvMaxPool,
    Model,
    TwoLayer,
    model_text,
    parse_activation,
    parse_model,
)
from tacit.models.initialisations import (
    FromFile,
    Initialisation,
    default_initialisation,
    parse_initialisation,
)
from tacit.models.losses import Loss, Softmax, parse_loss
from tacit.values.arguments import is_iterable, is_real
from tacit.values.stop_rules import StopRule, parse_stop_rule

MOST = 10**18
"""The largest width and batch: what is computed with them stays in 64 bits."""

Layers = Literal["both", "first"]
Rule = Literal["gd", "sgd", "adam", "flow"]
Step = Literal["constant", "scaled"]
WIDTH = 100
"""Neurons of a network whose width is not given."""
PLAIN_TYPES: dict[str, type] = {
    "model": str,
    "activation": str,
    "train": str,
    "width": int,
    "init": str,
    "output_weight": float,
    "loss": str,
    "rule": str,
    "lr": float,
    "step": str,
    "batch": int,
    "stop": list,
}
"""What JSON and TOML hold for every field of a setting."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Setting:
    """What is trained, from where, and how. Texts are parsed, and nonsense is refused, at once.

    Parameters
    ----------
    model : str or Model, default "two_layer"
        `two_layer`, `conv_max_pool[:PATCH]`, `residual[:DEPTH]`, `image_cnn` or `six_conv[:SIDE]`.
    activation : str or Activation, default "relu"
        `relu`, or `leaky:A` for φ(z) = max(z, Az).
    train : {"both", "first"}, optional
        The layers of a two-layer net that are trained; both by default.
    width : int, optional
        m, the number of neurons (of channels in a convolutional net); 100 by default, or what the
        file of `init="file:…"` holds.
    init : str or Initialisation, optional
        Initial weights (`tacit list initialisations`). The default is `balanced:1e-4`, with a fixed
        output layer `gaussian:1e-4`, for deeper nets `he:1`.
    output_weight : float, default 1
        v of an output layer that is fixed at ±v.
    loss : str or Loss, default "logistic"
        `logistic` or `exponential` (the mean; with `:sum` the sum), `hinge` (the sum), or `hinge:G`
        (brutzkus2019 (4): confidence G for y = +1 and 1 for y = −1, the mean of each class).
        Networks with an output for each class have `softmax`.
    rule : {"gd", "sgd", "adam", "flow"}, default "gd"
        The training rule; `flow` is gradient flow, which `tacit.limit` follows.
    lr : float, default 0.1
        Step size.
    step : {"constant", "scaled"}, default "constant"
        `scaled` is step size lr / loss, right also where the loss underflows.
    batch : int, optional
        Examples in a batch; 1 for `sgd` and all for `adam` by default.
    stop : sequence of str or StopRule
        Rules that end a run: `loss:X`, `log10_loss:X`, `zero_error`, `no_improvement:K`,
        `agreement`, `direction:ANGLE`.

    Examples
    --------
    >>> setting = Setting(activation="leaky:0.3", width=50)
    >>> setting.activation
    Leaky(alpha=0.3)
    >>> setting.initialisation
    Balanced(norm=0.0001)
    >>> setting
    Setting(activation='leaky:0.3', width=50)
    """

    model: Model
    activation: Activation
    train: Layers
    width: int
    init: Initialisation | None
    output_weight: float
    loss: Loss | Softmax
    rule: Rule
    lr: float
    step: Step
    batch: int | None
    stop: tuple[StopRule, ...]

    def __init__(
        self,
        model: str | Model = "two_layer",
        activation: str | Activation = "relu",
        train: Layers | None = None,
        width: int | None = None,
        init: str | Initialisation | None = None,
        output_weight: float = 1.0,
        loss: str | Loss | Softmax = "logistic",
        rule: Rule = "gd",
        lr: float = 0.1,
        step: Step = "constant",
        batch: int | None = None,
        stop: Sequence[str | StopRule] = (),
    ) -> None:
        if isinstance(activation, str):
            activation = parse_activation(activation)
        _check_kind("activation", activation, Activation, "leaky:0.3")
        _check_choice("train", train, get_args(Layers) + (None,))
        _check_kind("model", model, (str, *(kind for kind, _ in MODELS.values())), "residual:4")
        text = model if isinstance(model, str) else model_text(model)
        architecture = parse_model(text, activation.alpha, train)
        if isinstance(init, str):
            init = parse_initialisation(init)
        _check_kind("init", init, Initialisation | None, "balanced:1e-4")
        if width is None:
            width = (init.width if isinstance(init, FromFile) else None) or WIDTH
        if isinstance(loss, str):
            loss = parse_loss(loss)
        _check_kind("loss", loss, Loss | Softmax, "logistic")
        _check_choice("rule", rule, get_args(Rule))
        _check_choice("step", step, get_args(Step))
        _check_whole("width", width)
        if batch is not None:
            _check_whole("batch", batch)
        _check_positive("lr", lr)
        _check_positive("output_weight", output_weight)
        if step == "scaled" and isinstance(loss, Softmax):
            raise BadInput("`step='scaled'` goes with a loss of margins, not with softmax")
        if step == "scaled" and rule != "gd":
            raise BadInput(f"`step='scaled'` goes with `rule='gd'`, not {rule}")
        if isinstance(stop, str) or not is_iterable(stop):
            example = stop if isinstance(stop, str) else "loss:1e-6"
            raise BadInput(f"`stop` is a sequence of rules, such as ({example!r},)")
        rules = tuple(parse_stop_rule(one) if isinstance(one, str) else one for one in stop)
        for one in rules:
            _check_kind("stop", one, StopRule, "loss:1e-6")
        _check_twice(rules)
        layers = train or ("first" if isinstance(architecture, ConvMaxPool) else "both")
        values = (
            *(architecture, activation, layers, int(width), init, float(output_weight), loss),
            *(rule, float(lr), step, batch, rules),
        )
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)

    @property
    def alpha(self) -> float:
        """α, the slope of the activation for z < 0."""
        return self.activation.alpha

    @property
    def initialisation(self) -> Initialisation:
        """The initialisation that was given, or the default one."""
        return self.init or default_initialisation(self.model)

    @property
    def two_layer(self) -> bool:
        """Whether the model is a two-layer network."""
        return isinstance(self.model, TwoLayer)

    def replace(self, **changes: Any) -> Setting:
        """The same with other values, as texts or typed; `Setting` says which there are."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Texts and numbers that JSON holds and that `Setting(**…)` takes."""
        return {
            "model": model_text(self.model),
            "activation": str(self.activation),
            "train": self.train,
            "width": self.width,
            "init": str(self.initialisation),
            "output_weight": self.output_weight,
            "loss": str(self.loss),
            "rule": self.rule,
            "lr": self.lr,
            "step": self.step,
            "batch": self.batch,
            "stop": [str(rule) for rule in self.stop],
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Setting:
        """The setting that `to_dict` wrote; anything else is refused."""
        if set(given) != set(PLAIN_TYPES):
            raise BadInput(f"its setting has {sorted(given)}, not {sorted(PLAIN_TYPES)}")
        read: dict[str, Any] = {}
        for name, kind in PLAIN_TYPES.items():
            value = given[name]
            read[name] = float(value) if kind is float and type(value) is int else value
            right = isinstance(read[name], kind) or (name == "batch" and value is None)
            if not right or isinstance(value, bool):
                raise BadInput(f"its setting has {name} = {value!r}")
        if not all(isinstance(text, str) for text in read["stop"]):
            raise BadInput("its stop rules are no texts")
        return cls(**read)

    to_saved, from_saved = to_dict, from_dict

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        default = Setting(model_text(self.model), train=self.train).to_dict() | {
            "model": "two_layer",
            "train": "both",
        }
        said = [f"{k}={v!r}" for k, v in self.to_dict().items() if v != default[k]]
        return f"Setting({', '.join(said)})"


def _check_kind(name: str, value: Any, kind: Any, example: str) -> None:
    if not isinstance(value, kind):
        raise BadInput(f"`{name}={value!r}` must be a text, such as {example!r}")


def _check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if not isinstance(value, str | None) or value not in allowed:
        words = [word for word in allowed if word is not None]
        raise BadInput(f"unknown {name} '{value}'{near_miss(str(value), words)}")


def _check_whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise BadInput(f"`{name}={value}` must be a whole number, at least 1")
    if int(value) > MOST:
        raise BadInput(f"`{name}` must be at most {MOST:.0e}; it has {len(str(value))} digits")


def _check_positive(name: str, value: Any) -> None:
    if not is_real(value) or not 0 < float(value) < math.inf:
        raise BadInput(f"`{name}={value}` must be a positive number")


def _check_twice(rules: tuple[StopRule, ...]) -> None:
    kinds = ["loss" if rule.name == "log10_loss" else rule.name for rule in rules]
    for k, rule in enumerate(rules):
        if kinds[k] in kinds[:k]:
            raise BadInput(f"stop rule '{rule}': there is one like it already; give it once")
