"""One stage: while the weights p of the samples are held fixed, neurons move in closed form.

With a fixed pull g (the sum over the hyperplanes that a neuron is not on, projected on those that
it slides along)

    w' = a g,   a' = g·w:      w∥ = ĝ·w and a turn hyperbolically at the rate ‖g‖, w⊥ stays,

(first layer only: w moves on a straight line), so the time at which each neuron meets each
activation hyperplane is known exactly. There it crosses, or slides: both sides push it back, which
takes a·(κ₊ − κ₋) < 0. Where it slides along several hyperplanes the velocity is the shortest in
Clarke's subdifferential, a box-constrained least-squares problem; hyperplanes whose multiplier is
at its bound are released. Neurons do not interact during a stage, so each has its own clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from tacit.flow import motion, sensitivity
from tacit.flow._faces import Faces
from tacit.flow.hyperplanes import Face, hyperplanes_of
from tacit.flow.state import Met, State, check_time, start
from tacit.flow.tolerances import STAGE
from tacit.numerics.least_squares import boxed_least_squares


class Undecided(Exception):
    """Floating point cannot tell how the flow goes on; the message says why."""


class Fork(Undecided):
    """A sliding neuron comes to w = 0, or to a = 0, where its hyperplane begins to repel it."""

    def __init__(self, neuron: int, what: str, share: float) -> None:
        super().__init__(f"neuron {neuron} comes to {what} = 0")
        self.neuron, self.what = neuron, what
        self.share = share
        """When it does, as a share of the stage."""


@cache
def prepare() -> None:
    """Compile what moves the neurons, if that is not on disk already: some seconds, once.

    It is no part of the time that a computation is given.
    """
    planes = hyperplanes_of(np.eye(2), np.ones(2), 0.0)
    state = start(planes, np.array([[1.0, 0.5]]), np.ones(1), True)
    state.side[0, 1] = 0
    hold(state, np.ones(2))
    velocities(state, np.ones(2))
    face_bases(state)
    advance(state, np.ones(2), 0.1)
    state.outputs()
    none = np.zeros(0, np.int64)
    way = (state.W[0], state.a[0], state.side[0], state.side[0], none, none, np.zeros(0))
    sensitivity.turned(
        *way,
        planes.e,
        *planes.pulls(np.ones(2)),
        planes.X,
        planes.line,
        planes.r,
        planes.y,
        0.0,
        True,
        0.1,
    )


def advance(state: State, c: np.ndarray, time: float, rate: np.ndarray | None = None) -> None:
    """Move the state by `time` with c_i = p_i y_i held fixed; its events are appended.

    With a rate c is the mean of what changes at that rate during the stage: a neuron that meets a
    hyperplane is pulled by the mean until then, and from then on by that of the rest.
    """
    e = state.planes.e
    plus, minus = state.planes.pulls(c)
    rates = state.planes.pulls(np.zeros(len(c)) if rate is None else rate)
    none = STAGE.still * float(np.maximum(np.abs(plus), np.abs(minus)).sum())
    T = state.products().copy()
    for rows, faces in _pieces(state):
        check_time(state)
        log = _log(STAGE.events_in_stage + 4 * len(state.a[rows]))
        end, neuron, share = motion.move(
            state.W[rows],
            state.a[rows],
            state.side[rows],
            T[rows],
            e,
            plus,
            minus,
            *rates,
            faces,
            log,
            state.both,
            float(time),
            none,
        )
        if end == motion.TOO_LONG:
            raise Undecided("the stage is too long for floating point")
        if end == motion.ENDLESS:
            raise Undecided("a neuron meets activation hyperplanes without end")
        if end == motion.NO_ROOM:
            state.planes.more_faces()
            raise Undecided("too many hyperplanes in one stage")
        if end != motion.FINE:
            raise Fork(rows.start + neuron, "w" if end == motion.FORK_W else "a", share)
        _note(state, log, rows.start)
    state.known = T, state.W


def hold(state: State, c: np.ndarray) -> None:
    """Release sliding neurons that these pulls do not hold on their hyperplanes."""
    plus, minus = state.planes.pulls(c)
    for rows, faces in _pieces(state):
        check_time(state)
        log = _log(int((state.side[rows] == 0).sum()))
        motion.settle_all(state.W[rows], state.side[rows], state.planes.e, plus, minus, faces, log)
        _note(state, log, rows.start)


def velocities(state: State, c: np.ndarray) -> np.ndarray:
    """w_k'/a_k of every neuron, projected on the hyperplanes along which it slides."""
    g = pull(state, c)
    for rows, faces in _pieces(state):
        check_time(state)
        motion.project_all(g[rows], state.side[rows], state.planes.e, faces)
    return g


def pull(state: State, c: np.ndarray) -> np.ndarray:
    """Σ κ e of every neuron over the hyperplanes that it is not on."""
    return motion.free_pulls(state.side, state.planes.e, *state.planes.pulls(c))


def face_bases(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal normals of the face of every neuron, one below the other, and whose each is."""
    ((_, faces),) = _pieces(state, math.inf)
    return motion.face_bases(state.side, state.planes.e, faces)


def _pieces(state: State, most: float = STAGE.piece) -> Iterator[tuple[slice, Faces]]:
    """The neurons in pieces that take not too long, with the factorised faces of each piece."""
    m, (lines, d) = len(state.a), state.planes.e.shape
    faces = state.planes.faces(m, int((state.side == 0).sum(axis=1).max(initial=0)))
    rows = min(max(int(min(most, 1e15) / (lines * d)), 1), m)
    for first in range(0, m, rows):
        places = faces
        if len(faces.size) >= m:
            places = Faces(*(value[first : first + rows] for value in faces))
        yield slice(first, min(first + rows, m)), places


def _log(most: int) -> motion.Log:
    return motion.Log(np.empty((most, 5)), np.zeros(1, np.int64))


def _note(state: State, log: motion.Log, first: int) -> None:
    count = int(log.number[0])
    if count > len(log.rows):
        raise Undecided("too many events in one stage")
    state.events += [
        Met(first + int(k), int(plane), motion.KINDS[int(what)], when, bend)
        for k, plane, what, when, bend in log.rows[:count].tolist()
    ]


def nearest_pulls(face: Face, g: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """κ in [low, high] that makes ‖g + Σ κ e‖ smallest."""
    free = -(face.solve @ g)
    if ((free > low) & (free < high)).all():
        return free
    return boxed_least_squares(face.e.T, -g, low, high)
