"""Gradient descent from the same initial weights, to be shown beside the flow."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit._jax import jnp
from tacit.flow.exponential_tail import tail_of, weights
from tacit.flow.hyperplanes import hyperplanes_of
from tacit.flow.path import Moment
from tacit.flow.state import start as state_at
from tacit.lab.frames import frames
from tacit.lab.requests import Request
from tacit.models.initialisations import initial_weights
from tacit.training import stopping as stops
from tacit.training.backends.one_by_one import advance
from tacit.training.rules import parse_descent, start

RECORDS = 150
"""Epochs that are shown, evenly spread in the logarithm."""


def descend(request: Request, send: Callable[[dict[str, Any]], None]) -> None:
    """Train by gd, and send the weights of some epochs."""
    data = request.points
    setting = request.setting.replace(rule="gd", lr=request.lr, step=request.step)
    descent = parse_descent(setting, data.n)
    drawn = initial_weights(
        setting.model, data.d, setting.width, setting.init, request.seed, setting.output_weight
    )
    kind, planes = tail_of(setting.loss), hyperplanes_of(data.X, data.y, setting.alpha)
    X, y = jnp.asarray(data.X), jnp.asarray(data.y, jnp.float64)
    lr, now = jnp.asarray(request.lr, jnp.float64), start(descent, drawn)
    spread = np.unique(np.geomspace(1, request.epochs, RECORDS).round().astype(int)).tolist()
    for epoch in [0, *spread]:
        now = advance(descent, now, X, y, request.seed, lr, epoch)
        W, a = np.asarray(now.params["W"]), np.asarray(now.params.get("a", drawn["a"]))
        state = state_at(planes, W, a, setting.train == "both")
        moment = Moment(float(epoch), -np.inf, weights(state.outputs(), kind).log_L, state)
        send({"is": "descent", "frames": [{**frames([moment], kind)[0], "epoch": epoch}]})
        if int(now.status) != stops.RUNNING:
            break
