"""`tacit predict`."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tacit.cli._app import DataOptions, app, network_setting, print_json


@app.command
def predict(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    only: tuple[str, ...] = (),
    model: str = "two_layer",
    activation: str = "relu",
    train: Literal["both", "first"] | None = None,
    width: int = 100,
    init: str | None = None,
    output_weight: float | None = None,
    loss: str = "logistic",
    rule: Literal["flow", "gd", "sgd", "adam"] = "flow",
    lr: float = 0.1,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Which theorems apply, by how much the others fail, and what each promises. No training.

    Parameters
    ----------
    data
        File or generator call. Of more than two classes, also every class against the rest.
    only
        Only this theorem (`lyu2021:thm4.3`) or paper (`lyu2021`); may be repeated.
    model
        `two_layer`, or `conv_max_pool` for brutzkus2019 (2).
    activation
        `relu`, or `leaky:A` for φ(z) = max(z, Az).
    train
        The layers of a two-layer net that are trained: both unless told otherwise.
    width
        The number of neurons.
    init
        Initial weights, see `tacit list initialisations`; unless told otherwise `balanced:1e-4`,
        with a fixed output layer `gaussian:1e-4`.
    output_weight
        With --train first: V of the output layer, half +V and half −V (1).
    loss
        `logistic`, `exponential`, `hinge` or `hinge:G` (brutzkus2019 (4)).
    rule
        Gradient flow, or a rule with steps.
    lr
        Step size of such a rule.
    seed
        Of the initial weights. Generators have a seed of their own.
    json
        One JSON object on standard output.
    """
    if model == "two_layer":
        train = train or "both"
    setting = network_setting(activation, train, width, init, output_weight, loss, rule)
    setting = replace(setting, model=model, lr=lr)

    from tacit import show
    from tacit.explain import predict as predictions

    found = predictions(setting, options.load(data), seed, only)
    if json:
        print_json(show.predictions_as_json(found))
    else:
        show.predictions(found)
    return 0
