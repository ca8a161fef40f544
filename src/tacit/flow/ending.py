"""Follow gradient flow to its end and say what the end is, with the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np

from tacit.certificates import certify
from tacit.flow.evidence import Found, judge
from tacit.flow.exponential_tail import tail_of
from tacit.flow.follow import FLAT, SLOW, STILL, begin
from tacit.flow.path import Path
from tacit.flow.result import Limit, Outcome
from tacit.flow.steps import seen_by
from tacit.models import model_text
from tacit.models.initialisations import initial_weights
from tacit.values import BadInput, Dataset, Network, Setting
from tacit.values.text import count

LN10 = math.log(10)
DEEPER = (-1e5, -1e7, -1e9, -1e60, -1e250)
"""log₁₀ losses down to which the path is followed where no limit can be told yet."""
DEEPEST = {"both": -1e250, "first": -1e120}
"""Further down squares of weights overflow; with a fixed output layer they grow like log(1/L)."""
MORE_TRIES = 300
"""Steps that may be tried there, or as many as were before."""
TELLING = -1000.0
"""log₁₀ loss from which on a path that could not be followed further may still tell its limit."""
CERTIFY_SECONDS = 60.0
SMALLEST = 1e-50
"""Largest entries of data and of weights are between this and its inverse."""

Progress = Callable[[float, float], None]
"""Called with the log₁₀ loss reached and the one to reach."""


def find(
    setting: Setting,
    data: Dataset,
    seed: int = 0,
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    progress: Progress | None = None,
    start: Network | tuple[np.ndarray, np.ndarray] | None = None,
) -> Limit:
    """The end of gradient flow on binary data, from the initial weights that training has too.

    The path is followed to `log10_loss`, and on from there when it does not tell its limit yet.
    A network (or W and a) `start` is where it starts instead.
    """
    started = perf_counter()
    if not setting.two_layer:
        raise BadInput(
            f"the flow is that of two_layer networks, not of {model_text(setting.model)}"
        )
    kind = tail_of(setting.loss)
    alpha, train = setting.alpha, setting.train
    if log10_loss < DEEPEST[train]:
        raise BadInput(
            f"--log10-loss {log10_loss:g} is beyond the flow's arithmetic; "
            f"it must be at least {DEEPEST[train]:g}"
        )
    if isinstance(start, Network):
        start = start.W, start.a
    W, a = start or drawn(setting, data, seed)
    _check_sizes(data.X, W)
    flow = begin(data.X, data.y, alpha, W, a, train == "both", kind)
    path = flow.run(log10_loss * LN10, seconds, _reporter(progress, log10_loss))
    outcome, reason, found = _end(path, data, train)
    allowed = max(2 * flow.tries, flow.tries + MORE_TRIES)  # not in seconds: the same every time
    for goal in (max(depth, DEEPEST[train]) for depth in DEEPER if depth < 10 * log10_loss):
        if path.end != "reached" or outcome != "undecided":
            break
        left = max(seconds - (perf_counter() - started), 0.0)
        path = flow.run(
            goal * LN10, left, _reporter(progress, goal), most_tries=allowed - flow.tries
        )
        ending = _end(path, data, train)
        if path.end == "reached" or ending[0] == "converged":
            outcome, reason, found = ending
    certificate = None
    if found is not None:
        W, a = found.W, found.a
        left = min(CERTIFY_SECONDS, max(seconds - (perf_counter() - started), 1.0))
        certificate = certify(W, a, data.X, data.y, alpha, train, seconds=left)
    return Limit(
        setting=setting,
        data=data,
        seed=seed,
        outcome=outcome,
        reason=reason,
        path=path,
        groups=found.groups if found else (),
        W=found.W if found else None,
        a=found.a if found else None,
        kkt=found.kkt if found else None,
        certificate=certificate,
        approach=found.approach if found else np.zeros((0, 2)),
        rate=found.rate if found else None,
        seconds=perf_counter() - started,
    )


def drawn(setting: Setting, data: Dataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Initial W and a of a two-layer net."""
    init = initial_weights(
        setting.model, data.d, setting.width, setting.init, seed, setting.output_weight
    )
    return init["W"], init["a"]


def _check_sizes(X: np.ndarray, W: np.ndarray) -> None:
    """Squares of all lengths must be numbers, and so must their products."""
    for what, entries in (("points", X), ("initial weights", W)):
        size = np.abs(entries)[entries != 0]
        if size.size and not (SMALLEST <= size.max() and size.max() <= 1 / SMALLEST):
            raise BadInput(
                f"{what} of size {size.max():.1e} are beyond the flow's arithmetic; "
                f"scale them to between {SMALLEST:g} and {1 / SMALLEST:g}"
            )


def _end(path: Path, data: Dataset, train: str) -> tuple[Outcome, str, Found | None]:
    """What the end of the path is, a sentence of evidence, and the limit where there is one."""
    state, at = path.last.state, f"log₁₀ L = {path.last.log_L / LN10:.4g}"
    if path.end == "branched":
        hint = "Another --seed, or a Leaky ReLU, may have one way only."
        return "branched", f"{path.reason} {hint}", None
    if path.end in ("undecided", "interrupted"):
        verdict = judge(path, data, train) if path.last.log_L < TELLING * LN10 else ""
        if isinstance(verdict, Found):
            return "converged", verdict.evidence, verdict
        return "undecided", f"{path.reason}; the path was followed to {at}", None
    if path.end == "dead":
        when = "from the start" if len(path.moments) < 3 else "in the end"
        return "dead", f"No neuron feels any point, {when}: nothing moves any more at {at}.", None
    if path.end == "rest":
        return "stuck", _stuck(path, at), None
    unseen = ~seen_by(state)
    if unseen.any():
        return "partial", _partial(data, unseen), None
    verdict = judge(path, data, train)
    if isinstance(verdict, str):
        return "undecided", verdict, None
    return "converged", verdict.evidence, verdict


def _stuck(path: Path, at: str) -> str:
    q = path.last.state.outputs()
    wrong = int((q <= 0).sum())
    how = (
        f"no neuron changes by more than {SLOW:g} and log L by more than {FLAT:g} in the time "
        "1/Σ p_i‖x_i‖"
        if path.last.state.both
        else f"the pulls on the neurons are below {math.sqrt(STILL):.0e} of what they consist of"
    )
    return (
        f"At rest with positive loss, {at}: {how}; {count(wrong, 'point')} of {len(q)} "
        f"{'is' if wrong == 1 else 'are'} not on the side of the label."
    )


def _partial(data: Dataset, unseen: np.ndarray) -> str:
    classes = {int(label) for label in data.y[unseen]}
    whole = len(classes) == 1 and (unseen == (data.y == min(classes))).all()
    which = f", all of class {min(classes):+d}" if whole else ""
    return (
        f"No living neuron sees {count(int(unseen.sum()), 'point')} of {data.n}{which}: the output "
        "stays 0 there, while the rest is fitted with ever larger weights."
    )


def _reporter(progress: Progress | None, goal: float) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda log_L: progress(log_L / LN10, goal)
