"""`tacit predict`."""

from __future__ import annotations

from typing import Literal

from tacit.cli._app import DataOptions, app, network_setting, print_json


@app.command
def predict(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    only: tuple[str, ...] = (),
    activation: str = "relu",
    train: Literal["both", "first"] = "both",
    width: int = 100,
    init: str | None = None,
    output_weight: float | None = None,
    loss: str = "logistic",
    rule: Literal["flow", "gd", "sgd", "adam"] = "flow",
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
    activation
        `relu`, or `leaky:A` for φ(z) = max(z, Az).
    train
        The layers that are trained: both, or the first only.
    width
        The number of neurons.
    init
        Initial weights, see `tacit list initialisations`; unless told otherwise `balanced:1e-4`,
        with a fixed output layer `gaussian:1e-4`.
    output_weight
        With --train first: V of the output layer, half +V and half −V (1).
    loss
        `logistic`, `exponential` or `hinge`.
    rule
        Gradient flow, or a rule with steps.
    seed
        Of the initial weights. Generators have a seed of their own.
    json
        One JSON object on standard output.
    """
    setting = network_setting(activation, train, width, init, output_weight, loss, rule)

    from tacit import show
    from tacit.explain import predict as predictions

    found = predictions(setting, options.load(data), seed, only)
    if json:
        print_json(show.predictions_as_json(found))
    else:
        show.predictions(found)
    return 0
