"""Descent against the flow: from the same initial weights, at equal times, for several step sizes.

On smooth pieces descent is Euler's method for the flow, so its distance is proportional to the step
size. Stochastic descent without replacement sees every example once per epoch, so an epoch is a
step of Euler's method up to the order of the examples, which matters by the same power; its
distance falls in proportion too, with a larger factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit._jax import jnp
from tacit.flow.exponential_tail import Kind
from tacit.flow.follow import follow
from tacit.flow.path import Moment, Path, PathEnd
from tacit.models.initialisations import Weights, initial_weights
from tacit.models.losses import Exponential, Logistic
from tacit.training import stopping as stops
from tacit.training.backends.one_by_one import advance
from tacit.training.rules import Descent, parse_descent, start
from tacit.values import BadInput, Dataset, Setting

MOMENTS = 24
"""The most moments of the path at which descent is compared."""
MOST_EPOCHS = 10**9


@dataclass(frozen=True, eq=False)
class Comparison:
    """How far descent is from the flow."""

    lrs: np.ndarray
    times: np.ndarray
    """The times at which they were compared, in the time of descent: step size × steps, of the mean
    loss or of the sum as the setting says; of stochastic descent, what an epoch adds up to."""
    apart: np.ndarray
    """lrs × times: ‖θ − θ_flow‖/‖θ_flow‖ of the trained weights."""
    slope: float | None
    """r of the fit distance ~ lr^r; None for fewer than two step sizes."""
    path: Path

    @property
    def distances(self) -> np.ndarray:
        """The largest distance over the times, of each step size."""
        return self.apart.max(axis=1)


def compare(
    setting: Setting,
    data: Dataset,
    seed: int = 0,
    lrs: Sequence[float] = (0.1, 0.05, 0.025),
    time: float = 10.0,
    seconds: float = 60.0,
) -> Comparison:
    """The distances of `gd` or `sgd` from the flow up to a time, and how they fall with lr.

    Descent is compared at moments of the path, and read linearly between two of its steps (`sgd`:
    epochs), an error of the square of lr. The path has an error of its own, which the distances
    level off at.
    """
    kind, mean = _loss(setting)
    descent = parse_descent(replace(setting, stop=()), data.n)
    _check(setting, descent, data, lrs, time)
    weights = initial_weights(
        descent.model, data.d, setting.width, setting.init, seed, setting.output_weight
    )
    unit = data.n if mean else 1  # time of the mean loss per time of the sum
    path = _until(setting, data, weights, kind, math.log(time / unit), seconds)
    # The last moment is at this time up to the rounding of its logarithm.
    moments = [m for m in path.moments if m.log_t <= math.log(time / unit) + 1e-12][1:]
    if not moments:
        raise BadInput(f"the path has no moment before the time {time:g}; choose it later")
    spread = np.linspace(0, len(moments) - 1, min(MOMENTS, len(moments))).round().astype(int)
    moments = [moments[i] for i in spread]
    times = np.array([unit * math.exp(m.log_t) for m in moments])
    batches = data.n / descent.batch if mean and descent.batch else 1.0
    rows = [_apart(descent, data, weights, seed, lr, lr * batches, times, moments) for lr in lrs]
    apart = np.array(rows)
    far = apart.max(axis=1)
    fits = len(lrs) > 1 and bool((far > 0).all())
    slope = float(np.polyfit(np.log(lrs), np.log(far), 1)[0]) if fits else None
    return Comparison(np.array(lrs, dtype=float), times, apart, slope, path)


def _loss(setting: Setting) -> tuple[Kind, bool]:
    """The tail of the loss, and whether it is the mean."""
    loss = setting.loss
    if isinstance(loss, Logistic):
        return "logistic", loss.reduction == "mean"
    if isinstance(loss, Exponential):
        return "exponential", loss.reduction == "mean"
    raise BadInput(f"the flow is that of logistic or exponential losses, not of '{setting.loss}'")


def _check(
    setting: Setting, descent: Descent, data: Dataset, lrs: Sequence[float], time: float
) -> None:
    if not setting.two_layer or not data.binary:
        raise BadInput("the flow is that of two_layer networks on binary data")
    if descent.rule == "adam" or descent.scaled:
        raise BadInput("only gd and sgd with constant steps follow the flow in its own time")
    if descent.batch is not None and data.n % descent.batch:
        raise BadInput(
            f"`batch={descent.batch}` must divide the {data.n} examples, "
            "so that they count equally in an epoch"
        )
    if not len(lrs) or not all(0 < lr < math.inf for lr in lrs):
        raise BadInput("there must be at least one step size, and all must be positive numbers")
    if not max(lrs) <= time <= MOST_EPOCHS * min(lrs):
        raise BadInput(f"`time={time}` must be between one and {MOST_EPOCHS:g} steps of every size")


def _until(
    setting: Setting, data: Dataset, weights: Weights, kind: Kind, log_t: float, seconds: float
) -> Path:
    """The path until that time, or until it ends before, followed to ever smaller losses."""
    alpha, both = setting.alpha, setting.train != "first"
    end, fall = math.log(data.n) - 1, 0.5
    while True:
        path = follow(data.X, data.y, alpha, weights["W"], weights["a"], both, kind, end, seconds)
        if path.last.log_t >= log_t or path.end is not PathEnd.REACHED:
            return path
        end, fall = path.last.log_L - fall, 2 * fall


def _apart(
    descent: Descent,
    data: Dataset,
    weights: Weights,
    seed: int,
    lr: float,
    per_epoch: float,
    times: np.ndarray,
    moments: list[Moment],
) -> list[float]:
    """The distance at each of the times, for one step size and the time that an epoch takes."""
    X, y = jnp.asarray(data.X), jnp.asarray(data.y, jnp.float64)
    now = start(descent, weights)
    distances = []
    for time, moment in zip(times, moments, strict=True):
        epochs = math.floor(time / per_epoch)
        share = time / per_epoch - epochs
        arguments = (X, y, seed, jnp.asarray(lr, jnp.float64))
        now = advance(descent, now, *arguments, epochs)
        later = advance(descent, now, *arguments, epochs + 1)
        one, other = descent.model.trained(now.params), descent.model.trained(later.params)
        flow = {"W": moment.state.W, "a": moment.state.a}
        apart = [np.asarray(one[k] + share * (other[k] - one[k])) - flow[k] for k in one]
        distances.append(_norm(apart) / _norm([flow[k] for k in one]))
        if int(later.status) == stops.DIVERGED or not math.isfinite(distances[-1]):
            raise BadInput(f"diverged with step size {lr:g}; try smaller ones")
    return distances


def _norm(parts: list[np.ndarray]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return math.hypot(*(float(np.linalg.norm(part)) for part in parts))
