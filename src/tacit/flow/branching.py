"""Where the flow may go on in more than one way: neurons on a ridge (lyu2021 App. I.2).

Points around a neuron that starts exactly on an activation hyperplane, or comes to w = 0, are
followed for a short while. If all of them go the same way, so does the neuron; otherwise the flow
branches there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tacit.flow.hyperplanes import Hyperplanes
from tacit.flow.stage import Undecided, advance, nearest_pulls
from tacit.flow.state import State, check_time
from tacit.flow.tolerances import BRANCH, STAGE


class FlowBranched(Exception):
    """The flow has more than one solution from here on; the message says where."""


def settle_start(state: State, c: np.ndarray) -> None:
    """Put neurons that start on a hyperplane on the side they go to; or let them slide."""
    t = state.W @ state.planes.e.T
    lengths = np.linalg.norm(state.W, axis=1)
    inside = (np.abs(t) <= STAGE.on_plane * lengths[:, None]) & state.planes.e.any(axis=1)
    for k in np.flatnonzero(inside.any(axis=1) & (state.a != 0)).tolist():
        check_time(state)
        if lengths[k] == 0:
            leave_origin(state, k, c, "starts at w = 0")
        else:
            leave_planes(state, k, c, np.flatnonzero(inside[k]))


def leave_origin(state: State, k: int, c: np.ndarray, where: str) -> None:
    """Let neuron k, at w = 0, stay there or leave in the one direction there is."""
    plus, minus = state.planes.pulls(c)
    state.W[k], state.known = 0.0, None
    # The sum of the lengths, not the length of the sum: rounding is relative to what was added up.
    pull = float(np.abs(c) @ np.abs(state.planes.r))
    stays = shortest(state.planes, plus, minus) <= STAGE.tie * pull
    ends = [end.W[0] for end in _around(state, k, c, np.arange(len(plus))) if end is not None]
    lengths = np.array([np.linalg.norm(end) for end in ends])
    far = [
        end / length for end, length in zip(ends, lengths, strict=True) if length > _far(state, k)
    ]
    if not far and stays and k not in led_away(state, c):
        state.side[k] = 0
        return
    alike = np.array(far) @ np.array(far).T if far else np.zeros((1, 1))
    if stays or not far or float(alike.min()) < BRANCH.same:
        others = "it may stay there or go on" if stays else "it may go on in different directions"
        raise FlowBranched(f"Neuron {k} {where}: {others}.")
    state.W[k], state.known = far[0] * _far(state, k), None
    state.side[k] = np.where(state.planes.e @ far[0] > 0, 1, -1)
    near = np.flatnonzero(np.abs(state.planes.e @ far[0]) <= BRANCH.near)
    if len(near):  # it leaves along a hyperplane
        state.side[k, near] = 0
        state.W[k] = state.planes.face(near).along(state.W[k])


def leave_planes(
    state: State,
    k: int,
    c: np.ndarray,
    on: np.ndarray,
    where: str = "starts on an activation hyperplane",
) -> None:
    """Let neuron k, which is on these hyperplanes, go the one way there is."""
    ends = [end for end in _around(state, k, c, on) if end is not None]
    if not ends:
        raise FlowBranched(f"Neuron {k} {where}, and it cannot be told what it does.")
    sides = np.array([end.side[0, on] for end in ends])
    moved = np.array([end.W[0] - state.W[k] for end in ends])
    lengths = np.linalg.norm(moved, axis=1)
    if lengths.min() > _far(state, k):
        way = moved / lengths[:, None]
        apart = float((way @ way.T).min()) < BRANCH.same
    else:
        apart = lengths.max() > _far(state, k)
    if apart or (sides * sides[0] < 0).any():
        raise FlowBranched(
            f"Neuron {k} {where}: points around it go different ways, and so may the flow."
        )
    state.side[k, on] = np.where((sides == sides[0]).all(axis=0), sides[0], 0)


def crowded(state: State) -> dict[int, np.ndarray]:
    """Neurons that have come to slide where more hyperplanes meet than they can be on at once.

    In three dimensions, say, three planes through one line: on two of them it lies on the third as
    well, whose side would be a matter of rounding. The hyperplanes that it lies on, by neuron.
    """
    met, found = np.unique(state.events.rows[:, 0]).astype(int), {}
    met = met[(state.side[met] == 0).any(axis=1)]
    lengths = np.linalg.norm(state.W[met], axis=1)
    near = np.abs(state.products()[met]) <= STAGE.on_plane * lengths[:, None]
    near &= (state.side[met] != 0) & state.planes.e.any(axis=1)
    for k, beside in zip(met.tolist(), near, strict=True):
        if not beside.any():
            continue
        held, more = state.side[k] == 0, np.flatnonzero(beside)
        across = state.planes.face(np.flatnonzero(held)).along(state.planes.e[more])
        among = np.linalg.norm(across, axis=1) <= STAGE.dependent
        if among.any() and state.W[k].any():
            found[k] = np.sort(np.append(np.flatnonzero(held), more[among]))
    return found


def led_away(state: State, c: np.ndarray, tie: float = STAGE.tie) -> np.ndarray:
    """Neurons at w = 0 that the flow may leave there, or not: in some direction u they grow.

    With G(u) = Σ c_i φ(u·x_i) that takes a G(u) > 0: where the largest a G(u) of a unit vector is
    positive, the pull there is along u. That 0 is among their velocities lets them stay as well. If
    no hyperplane repels them a G is concave: they stay as long as they can, and leave in one way.
    Up to the share `tie` of the pulls G(u) is rounding.
    """
    at_zero = np.flatnonzero((state.a != 0) & ~state.W.any(axis=1))
    if len(at_zero) == 0:
        return at_zero
    least = tie * float(np.abs(c) @ state.planes.lengths)
    (plus, minus), G = state.planes.pulls(c), state.planes.rays @ c
    positive = state.a[at_zero] > 0
    repelled = np.where(positive, (plus - minus).max(), (minus - plus).max()) > least
    return at_zero[repelled & (np.where(positive, G.max(), -G.min()) > least)]


def shortest(planes: Hyperplanes, plus: np.ndarray, minus: np.ndarray) -> float:
    """The length of the shortest pull in Clarke's subdifferential at w = 0."""
    low, high = np.minimum(plus, minus), np.maximum(plus, minus)
    everything = np.arange(len(plus))
    kappa = nearest_pulls(planes.face(everything), np.zeros(planes.e.shape[1]), low, high)
    return float(np.linalg.norm(kappa @ planes.e))


def _around(state: State, k: int, c: np.ndarray, on: np.ndarray) -> Iterator[State | None]:
    """The ends of points around neuron k; None where one returns to w = 0 or cannot be told."""
    pull = max(float(np.abs(c) @ np.abs(state.planes.r)), 1e-300)
    size = _size(state, k)
    rate = pull * max(abs(float(state.a[k])), 1e-300)
    if rate == 0:  # it underflows: nothing can be told
        return
    time = BRANCH.away * size / rate
    # Always the same points: whether a flow branches must not change from run to run.
    rng = np.random.default_rng(0)
    for _ in range(BRANCH.points):
        step = rng.standard_normal(state.W.shape[1])
        W = (state.W[k] + BRANCH.around * size / np.linalg.norm(step) * step)[None]
        side = state.side[[k]].copy()
        side[0, on] = np.where(state.planes.e[on] @ W[0] > 0, 1, -1)
        one = State(state.planes, W, state.a[[k]].copy(), state.both, side, np.ones(1))
        try:
            advance(one, c, time)
        except Undecided:
            yield None
            continue
        yield one


def _size(state: State, k: int) -> float:
    length, output = float(np.linalg.norm(state.W[k])), abs(float(state.a[k]))
    # With a fixed output layer all lengths are alike at w = 0, and only there.
    return max(math.hypot(length, output) if state.both else length or output, 1e-300)


def _far(state: State, k: int) -> float:
    return 100 * BRANCH.around * _size(state, k)
