"""`tacit predict`."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tacit.cli._app import DataOptions, NetworkOptions, app, print_json


@app.command
def predict(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    only: tuple[str, ...] = (),
    model: str = "two_layer",
    network: NetworkOptions = NetworkOptions(),  # noqa: B008  (frozen)
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
    rule
        Gradient flow, or a rule with steps.
    lr
        Step size of such a rule.
    seed
        Of the initial weights. Generators have a seed of their own.
    json
        One JSON object on standard output.
    """
    if model != "two_layer":  # the output layer of such a net is fixed
        network = replace(network, train="first")
    setting = network.setting(model=model, rule=rule, lr=lr)

    from tacit.cli import printing as show
    from tacit.explanation import predict as predictions

    found = predictions(setting, options.load(data), seed, only)
    if json:
        print_json(show.predictions_as_json(found))
    else:
        show.predictions(found)
    return 0
