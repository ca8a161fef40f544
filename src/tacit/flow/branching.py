"""Where the flow may go on in more than one way: neurons on a ridge (lyu2021 App. I.2).

A neuron that starts exactly in a wall, or comes to w = 0, is looked at from many points around it:
if all of them go the same way, so does it, else the flow branches there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.flow.hyperplanes import Walls
from tacit.flow.stage import TIE, Undecided, advance, nearest_pulls
from tacit.flow.state import AT_WALL, State

AROUND, AWAY = 1e-9, 1e-3
"""How far from the neuron the points around it are, and how far they go, relative to its size."""
POINTS = 48
SAME = 0.999
"""Cosine from which on two of them go the same way."""
NEAR = 1e-6
"""Sine of the angle to a wall along which a neuron leaves w = 0."""


class Branched(Exception):
    """The message says where."""


def settle_start(state: State, c: np.ndarray) -> None:
    """Put neurons that start in a wall on the side they go to, or into the wall if they slide."""
    t = state.W @ state.walls.e.T
    lengths = np.linalg.norm(state.W, axis=1)
    inside = (np.abs(t) <= AT_WALL * lengths[:, None]) & state.walls.e.any(axis=1)
    for k in np.flatnonzero(inside.any(axis=1) & (state.a != 0)).tolist():
        if lengths[k] == 0:
            leave_origin(state, k, c, "starts at w = 0")
        else:
            _leave_walls(state, k, c, np.flatnonzero(inside[k]))


def leave_origin(state: State, k: int, c: np.ndarray, where: str) -> None:
    """Neuron k, at w = 0, stays there or leaves in the one direction there is."""
    plus, minus = state.walls.pulls(c)
    state.W[k] = 0.0
    stays = shortest(state.walls, plus, minus) <= TIE * float(np.abs(c) @ np.abs(state.walls.r))
    ends = [end.W[0] for end in _around(state, k, c, np.arange(len(plus))) if end is not None]
    lengths = np.array([np.linalg.norm(end) for end in ends])
    far = [
        end / length for end, length in zip(ends, lengths, strict=True) if length > _far(state, k)
    ]
    if not far and stays:
        state.side[k] = 0
        return
    alike = np.array(far) @ np.array(far).T if far else np.zeros((1, 1))
    if stays or not far or float(alike.min()) < SAME:
        others = "it may stay there or go on" if stays else "it may go on in different directions"
        raise Branched(f"Neuron {k} {where}: {others}.")
    state.W[k] = far[0] * _far(state, k)
    state.side[k] = np.where(state.walls.e @ far[0] > 0, 1, -1)
    near = np.flatnonzero(np.abs(state.walls.e @ far[0]) <= NEAR)
    if len(near):  # it leaves along a wall
        state.side[k, near] = 0
        state.W[k] = state.walls.face(near).along(state.W[k])


def _leave_walls(state: State, k: int, c: np.ndarray, on: np.ndarray) -> None:
    """Neuron k starts in these walls."""
    ends = [end for end in _around(state, k, c, on) if end is not None]
    if not ends:
        raise Branched(f"Neuron {k} starts in a wall, and what it does there cannot be told.")
    sides = np.array([end.side[0, on] for end in ends])
    moved = np.array([end.W[0] - state.W[k] for end in ends])
    lengths = np.linalg.norm(moved, axis=1)
    if lengths.min() > _far(state, k):
        way = moved / lengths[:, None]
        apart = float((way @ way.T).min()) < SAME
    else:
        apart = lengths.max() > _far(state, k)
    if apart or (sides * sides[0] < 0).any():
        raise Branched(
            f"Neuron {k} starts in a wall: points around it go different ways, and so may the flow."
        )
    state.side[k, on] = np.where((sides == sides[0]).all(axis=0), sides[0], 0)


def shortest(walls: Walls, plus: np.ndarray, minus: np.ndarray) -> float:
    """The length of the shortest pull in Clarke's subdifferential at w = 0."""
    low, high = np.minimum(plus, minus), np.maximum(plus, minus)
    everything = np.arange(len(plus))
    kappa = nearest_pulls(walls.face(everything), np.zeros(walls.e.shape[1]), low, high)
    return float(np.linalg.norm(kappa @ walls.e))


def _around(state: State, k: int, c: np.ndarray, on: np.ndarray) -> Iterator[State | None]:
    """Where points around neuron k go; None for those that come back to w = 0 or cannot be told."""
    pull = max(float(np.abs(c) @ np.abs(state.walls.r)), 1e-300)
    size = _size(state, k)
    time = AWAY * size / (pull * max(abs(float(state.a[k])), 1e-300))
    rng = np.random.default_rng(0)
    for _ in range(POINTS):
        step = rng.standard_normal(state.W.shape[1])
        W = (state.W[k] + AROUND * size / np.linalg.norm(step) * step)[None]
        side = state.side[[k]].copy()
        side[0, on] = np.where(state.walls.e[on] @ W[0] > 0, 1, -1)
        one = State(state.walls, W, state.a[[k]].copy(), state.both, side, np.ones(1))
        try:
            advance(one, c, time)
        except Undecided:
            yield None
            continue
        yield one


def _size(state: State, k: int) -> float:
    return max(float(np.hypot(np.linalg.norm(state.W[k]), state.a[k])), 1e-300)


def _far(state: State, k: int) -> float:
    return 100 * AROUND * _size(state, k)
