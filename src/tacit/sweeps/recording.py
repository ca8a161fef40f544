"""What is recorded of one network: measures, limit, certificate, as JSON holds them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.sweeps.columns import CERTIFICATE, LIMIT, measures_of
from tacit.sweeps.planned_run import PlannedRun
from tacit.values import BadInput, Dataset, Network
from tacit.values.jsonable import plain

if TYPE_CHECKING:
    from tacit.training.rules import Descent

Weights = dict[str, np.ndarray]


def of_measures(
    run: PlannedRun, descent: Descent, data: Dataset, weights: Weights
) -> dict[str, Any]:
    """The measures that are asked for; None where one has no meaning, or the run diverged."""
    from tacit.measures import MEASURES, NotDefined, Snapshot

    names = measures_of(run.record)
    values: dict[str, Any] = dict.fromkeys(names)
    if not weights:
        return values
    assert descent.loss is not None
    snapshot = Snapshot(descent.model, descent.loss, weights, data)
    with np.errstate(all="ignore"):
        for name in names:
            try:
                values[name] = plain(MEASURES[name](snapshot))
            except NotDefined:
                continue
    return values


def of_certificate(run: PlannedRun, data: Dataset, weights: Weights) -> dict[str, Any]:
    """What the trained network is among all; `optimality` says so where there is no certificate."""
    from tacit.certificates import certify

    nothing: dict[str, Any] = dict.fromkeys(CERTIFICATE)
    if not weights:
        return nothing
    if not run.setting.two_layer:
        return nothing | {"certificate.optimality": "only two_layer networks have a certificate"}
    network = Network(weights["W"], weights["a"], run.setting.alpha)
    try:
        one = certify(data, network, train=run.setting.train, seconds=run.seconds)
    except BadInput as error:
        return nothing | {"certificate.optimality": f"none: {error}"}
    numbers = (one.margin, *one.margin_bounds, one.shortfall)
    residuals = (one.kkt.stationarity, one.kkt.feasibility, one.kkt.complementarity)
    values = (str(one.optimality), *numbers, *residuals)
    return plain(dict(zip(CERTIFICATE, values, strict=True)))


def of_limit(run: PlannedRun, data: Dataset) -> tuple[dict[str, Any], Weights]:
    """Where the flow from the initial weights ends; the limit as a network where there is one."""
    from tacit.flow import Outcome, binary_limit

    end = binary_limit(data, replace(run.setting, rule="flow"), seed=run.seed, seconds=run.seconds)
    if end.interrupted:  # the flow keeps what it has; a sweep does not
        raise KeyboardInterrupt
    best = end.certificate
    cut = end.outcome is Outcome.UNDECIDED and end.path.out_of_time
    values = (
        str(end.outcome),
        end.margin,
        len(end.groups) if end.outcome.settled else None,
        None if cut else end.log10_loss,  # how far one comes in so many seconds is no result
        str(best.optimality) if best else None,
        best.margin_bounds.lower if best else None,
        best.shortfall if best else None,
        end.rate,
    )
    net = end.network
    weights = {"limit.W": net.W, "limit.a": net.a} if net is not None else {}
    return plain(dict(zip(LIMIT, values, strict=True))), weights
