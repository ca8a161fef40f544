"""`tacit limit` against compiled gradient descent from the same weights.

Descent is run with two step sizes. Where the two agree, the path must go where they go. Both may be
off by the same, where a neuron goes to and fro at the hyperplane of a long point, or is so small
that they step past a = 0: a third, smaller step must agree as well. No network that descent comes
to may have a wider margin than the limit that is claimed; and where the flow is said to rest,
descent must not go on. Descent steps across the cell between two activation hyperplanes that nearly
coincide, where the flow may stay, and so cannot judge such data. Nor can it judge what follows when
a neuron with balanced layers has shrunk to 0: it steps past.
"""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from soak.case import Case, Failure
from soak.descent import Descent, descend
from soak.exact_networks import dot, exact
from soak.point_sets import points, write_csv

PART = 2e-5
"""Step size of the finer descent, relative to the weights."""
MOST = 1_500_000
"""Steps of it; the other has half as many of twice the size."""
FINEST = 4
"""How many times smaller the steps of a third descent are, where the two speak against a path."""
LOWEST = -60.0
"""Smallest log L compared; below, descent with steps of this size becomes unstable."""
AGREE = 1e-2
"""Distance of the two descents' directions up to which they can judge a path."""
ALLOWED = 2e-3
"""Distance that is allowed beside ten times that of the two descents."""
NARROW = 2e-3
"""Angle of a cell that descent may step across."""
SHRUNK = 1e-3
"""Share of its length to which a neuron shrinks at most before descent steps past 0."""
PROVED = 1e-6
"""What is shown and what is proved may differ by this."""
SEEN = 1e-6
"""Change of log L from which on equal losses mean the same place on the path."""


def attack(case: Case) -> None:
    import tacit

    X, y = points(case.rng, most=6, dimensions=(1, 2, 2, 3), decades=3)
    alpha, m, both = case.pick(0.0, 0.0, 0.3), case.pick(2, 4, 8), case.rng.random() < 0.85
    exponential = case.rng.random() < 0.3
    W = case.rng.normal(size=(m, X.shape[1]))
    W *= 10.0 ** case.rng.uniform(-3, 0) / np.linalg.norm(W, axis=1)[:, None]
    a = case.rng.choice([-1.0, 1.0], m) * (np.linalg.norm(W, axis=1) if both else 1.0)
    np.savez("start.npz", W=W, a=a)
    write_csv(Path("points.csv"), X, y)
    setting = {
        "activation": f"leaky:{alpha}" if alpha else "relu",
        "train": "both" if both else "first",
        "init": "file:start.npz",
        "loss": "exponential" if exponential else "logistic",
    }
    options = [f"--{name} {value}" for name, value in setting.items()]
    case.commands.append(" ".join(["tacit limit points.csv --log10-loss -100", *options]))
    with case.watched():
        flow = tacit.Setting(rule="flow", **setting)
        limit = tacit.limit(X, y, flow, seconds=30, log10_loss=-100)
    if limit.proved is not None:
        _check_proof(case, limit)
    path = limit.path.moments
    wanted = _telling_losses([moment.log_L for moment in path])
    rest = str(limit.outcome) in ("stuck", "dead")
    if rest:  # and on, if it goes on
        wanted = np.append(wanted, path[-1].log_L - math.log(2))

    def descent(part: float, most: int) -> Descent:
        return descend(X, y, W, a, alpha, both, exponential, wanted, part, most)

    runs = [descent(2 * PART, MOST // 2), descent(PART, MOST)]
    same, opposite = _narrow_cells(X)
    if rest and not (same or opposite):
        allowed = path[-1].log_L - 0.01
        if max(run.log_L for run in runs) <= allowed:
            runs = [runs[1], descent(PART / FINEST, MOST * FINEST)]
        case.need(
            max(run.log_L for run in runs) > allowed,
            f"{limit.outcome} at log L = {path[-1].log_L:.6g}, but descent reaches "
            f"{runs[0].log_L:.6g} and {runs[1].log_L:.6g}",
        )
    try:
        agreed = not (same or opposite) and _compare(case, limit, wanted, runs, both)
    except Failure:
        runs = [runs[1], descent(PART / FINEST, MOST * FINEST)]
        agreed = _compare(case, limit, wanted, runs, both)
    if agreed and limit.margin is not None:
        _compare_margin(case, limit.margin, runs[1], X, y, alpha, both)


def _check_proof(case: Case, limit: Any) -> None:
    """The proof is verified, proves what is shown, and does not exclude the limit."""
    with case.watched():
        _, verification = limit.proof()
    case.need(verification.verified, f"the proof is rejected: {verification.reason}")
    (end,) = verification.ends
    (lower, upper), (low, high) = limit.proved.margin_bounds, end.margin_bounds
    enough = low >= lower * (1 - PROVED) and high <= upper * (1 + PROVED)
    case.need(enough, f"shown [{lower!r}, {upper!r}], proved [{low!r}, {high!r}]")
    inside = low * (1 - PROVED) <= limit.margin <= high * (1 + PROVED)
    case.need(inside, f"the margin {limit.margin!r} is not in [{low!r}, {high!r}]")
    if limit.proved.share is not None:
        short = limit.proved.share - float(end.share)
        case.need(short <= PROVED / (1 - np.cos(end.angle)), f"{short:.1e} less weight is proved")


def _telling_losses(losses: list[float]) -> np.ndarray:
    """Losses of the path, falling, each below the one before by what can be told."""
    telling = [losses[0]]
    for log_L in losses[1:]:
        if max(LOWEST, losses[-1] + SEEN) < log_L < telling[-1] - SEEN:
            telling.append(log_L)
    return np.array(telling[1:])


def _narrow_cells(X: np.ndarray) -> tuple[bool, bool]:
    """Whether two points nearly have one direction, or opposite ones, but not exactly."""
    nearly = [False, False]
    for x, z in combinations([row for row in X if row.any()], 2):
        cosine = float(x @ z / np.linalg.norm(x) / np.linalg.norm(z))
        u, v = exact(x), exact(z)
        if 1 - abs(cosine) < NARROW**2 and dot(u, v) ** 2 != dot(u, u) * dot(v, v):
            nearly[int(cosine < 0)] = True
    return nearly[0], nearly[1]


def _compare(case: Case, limit: Any, wanted: np.ndarray, runs: list[Descent], both: bool) -> bool:
    """Hold the path against both descents; whether they agree to the end."""
    states = [moment.state for moment in limit.path.moments]
    place = {moment.log_L: k for k, moment in enumerate(limit.path.moments)}
    size = states[0].W.size
    ways = [[_unit(kept if both else kept[:size]) for kept in run.kept] for run in runs]
    own = [float(np.linalg.norm(u - v)) for u, v in zip(*ways, strict=False)]
    ours = [_unit(np.concatenate([s.W.ravel(), s.a if both else []])) for s in states]
    for k, point in enumerate(ways[1][: len(own)]):
        error = max(own[max(k - 1, 0) : k + 2])
        if error > AGREE:
            return False
        if wanted[k] not in place:
            continue
        if both and _shrunk(states[0], states[place[wanted[k]]]):
            return False
        near = ours[max(place[wanted[k]] - 2, 0) : place[wanted[k]] + 3]
        apart = min(float(np.linalg.norm(mine - point)) for mine in near)
        case.need(
            apart <= 10 * error + ALLOWED,
            f"at log L = {wanted[k]:.6g} the path is {apart:.2g} from descent, whose own error is "
            f"{error:.2g} ({limit.outcome})",
        )
    return True


def _shrunk(first: Any, state: Any) -> bool:
    """Whether a neuron is so small that steps of descent lead past w = 0 and a = 0."""
    lengths = [np.linalg.norm(one.W, axis=1) for one in (first, state)]
    return bool((lengths[1] < SHRUNK * lengths[0]).any())


def _compare_margin(
    case: Case, claimed: float, run: Descent, X: np.ndarray, y: np.ndarray, alpha: float, both: bool
) -> None:
    z = X @ run.W.T
    q = float((y * (np.maximum(z, alpha * z) @ run.a)).min())
    length = float(np.linalg.norm(run.W))
    margin = q / (length**2 + float(run.a @ run.a)) if both else q / length
    case.need(
        margin <= claimed * (1 + 1e-3),
        f"converged with the margin {claimed:.6g}, but descent has {margin:.6g}",
    )


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
