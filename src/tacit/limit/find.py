"""Follow gradient flow to its end and say what the end is, with the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np

from tacit._types import BadInput, Dataset, Setting
from tacit.certificates import certify, two_layer_kkt
from tacit.certificates.kkt import KKT
from tacit.flow.follow import Path, follow
from tacit.flow.tail import Kind
from tacit.limit.approach import angles, fitted_rate
from tacit.limit.candidate import Candidate, candidate
from tacit.limit.result import Group, Limit
from tacit.losses import Exponential, Logistic, parse_loss
from tacit.models import parse_activation, parse_model
from tacit.train.initial import initial_weights

LN10 = math.log(10)
STATIONARY = 1e-9
"""KKT residuals of a limit are at most this."""

Progress = Callable[[float, float], None]
"""Called with the log₁₀ loss reached and the one to reach."""


def find(
    setting: Setting,
    data: Dataset,
    seed: int = 0,
    log10_loss: float = -1000.0,
    seconds: float = 600.0,
    progress: Progress | None = None,
) -> Limit:
    """The end of gradient flow on binary data, from the initial weights that training has too."""
    begin = perf_counter()
    if setting.model != "two_layer":
        raise BadInput(f"the flow is that of two_layer networks, not of {setting.model}")
    kind = _tail(setting.loss)
    alpha, train = parse_activation(setting.activation), setting.train or "both"
    model = parse_model(setting.model, alpha, train)
    weights = initial_weights(
        model, data.d, setting.width, setting.init, seed, setting.output_weight
    )
    path = follow(
        data.X,
        data.y,
        alpha,
        weights["W"],
        weights["a"],
        train == "both",
        kind,
        log10_loss * LN10,
        seconds,
        None if progress is None else lambda log_L: progress(log_L / LN10, log10_loss),
    )
    found = candidate(path.last.state) if path.end == "reached" else None
    if found is None:
        outcome = {"reached": "partial", "rest": "stuck", "dead": "dead"}.get(path.end, path.end)
        return Limit(
            setting, data, seed, outcome, path.reason, path, (), None, None, None, None,  # type: ignore[arg-type]
            np.zeros((0, 2)), None, perf_counter() - begin,
        )  # fmt: skip
    W, a = network(found, path)
    kkt: KKT = two_layer_kkt(W, a, data.X, data.y, alpha, train)
    approach = angles(path, W, a, found)
    certificate = certify(W, a, data.X, data.y, alpha, train, seconds=60)
    return Limit(
        setting, data, seed, "converged" if kkt.holds(STATIONARY) else "undecided",
        "", path, _groups(found), W, a, kkt, certificate, approach, fitted_rate(approach),
        perf_counter() - begin,
    )  # fmt: skip


def network(found: Candidate, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The limit as a network of the path's neurons, each with its share of its group."""
    state = path.last.state
    W, a = np.zeros(state.W.shape), np.zeros(len(state.a))
    if not state.both:
        a = state.a.copy()
    for g, v in enumerate(found.V):
        rows = np.flatnonzero(found.group == g)
        length = float(np.linalg.norm(v))
        if length == 0:
            continue
        if state.both:
            part = np.abs(state.a[rows])
            part = part / np.linalg.norm(part) * math.sqrt(length)
            W[rows], a[rows] = part[:, None] * (v / length), part * found.sign[g]
        else:
            W[rows] = v / (np.abs(state.a[rows[0]]) * len(rows))
    return W, a


def _groups(found: Candidate) -> tuple[Group, ...]:
    groups = []
    for g, v in enumerate(found.V):
        weight = float(np.linalg.norm(v))
        if weight > 0:
            groups.append(
                Group(
                    int(found.sign[g]),
                    np.flatnonzero(found.group == g),
                    v / weight,
                    weight,
                    found.pattern[g],
                )
            )
    return tuple(groups)


def _tail(text: str) -> Kind:
    loss = parse_loss(text)
    if isinstance(loss, Logistic):
        return "logistic"
    if isinstance(loss, Exponential):
        return "exponential"
    raise BadInput(
        f"loss '{text}' has no exponential tail, so the flow ends at a finite point; "
        "take logistic or exponential"
    )
