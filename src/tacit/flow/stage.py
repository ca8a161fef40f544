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

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

import numpy as np

from tacit.flow import motion, newton, sensitivity
from tacit.flow._faces import Faces
from tacit.flow._lines import free_pulls, most_held, sees, square_slopes
from tacit.flow.exponential_tail import weights
from tacit.flow.hyperplanes import Face, hyperplanes_of
from tacit.flow.state import Events, State, check_time, start
from tacit.flow.tolerances import STAGE
from tacit.numerics.least_squares import boxed_least_squares

Result = TypeVar("Result")


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
    new = state.copy()
    velocities(new, np.ones(2))
    pull(new, np.ones(2))
    advance(new, np.ones(2), 0.1)
    q = new.outputs()
    weights(q, "logistic")
    seen, rest = sees(state.side, np.ones(1, np.bool_), planes.lines), np.zeros(2)
    found = newton.compare(rest, newton.scaled(rest, seen, np.ones(2)), q, seen, rest, 0.0, False)
    newton.improve(np.eye(2), np.arange(2), 0.1, np.ones(2), found)
    square_slopes(state.products(), state.side, np.ones(1), np.ones(1), planes.lines)
    before, after = ((s.W, s.a, s.side) for s in (state, new))
    some, faces, events = np.arange(2), room(new), np.zeros((0, 5))
    sensitivity.response(
        before, after, np.ones(1), events, planes.lines, rest, some, faces, True, 0.1, np.zeros(1)
    )


def advance(
    state: State,
    c: np.ndarray,
    time: float,
    rate: np.ndarray | None = None,
    shrink: np.ndarray | None = None,
) -> None:
    """Move the state by `time` with c_i = p_i y_i held fixed; its events are appended.

    With a rate c is the mean of what changes at that rate during the stage: a neuron that meets a
    hyperplane is pulled by the mean until then, and from then on by that of the rest. The weights
    of each neuron are divided by e^(shrink·time) meanwhile.
    """
    T, change = state.products().copy(), np.zeros(len(c)) if rate is None else rate
    shrink = np.zeros(len(state.a)) if shrink is None else shrink
    lines, both = state.planes.lines, state.both

    def move(rows: slice, faces: Faces) -> tuple[motion.Log, int, int, float]:
        log = _log(STAGE.events_in_stage + 4 * len(state.a[rows]))
        net = state.W[rows], state.a[rows], state.side[rows]
        times = float(time), shrink[rows]
        return log, *motion.move(net, T[rows], lines, c, change, faces, log, both, *times)

    for rows, (log, end, neuron, share) in by_pieces(state, move):
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

    def settle(rows: slice, faces: Faces) -> motion.Log:
        log = _log(int((state.side[rows] == 0).sum()))
        motion.settle_all(state.W[rows], state.side[rows], state.planes.lines, c, faces, log)
        return log

    for rows, log in by_pieces(state, settle):
        _note(state, log, rows.start)


def velocities(state: State, c: np.ndarray) -> np.ndarray:
    """w_k'/a_k of every neuron, projected on the hyperplanes along which it slides."""
    lines = state.planes.lines
    parts = by_pieces(state, lambda rows, at: motion.velocities(state.side[rows], lines, c, at))
    return np.concatenate([part for _, part in parts])


def pull(state: State, c: np.ndarray) -> np.ndarray:
    """Σ κ e of every neuron over the hyperplanes that it is not on."""
    return free_pulls(state.side, state.planes.lines.e, *state.planes.pulls(c))


def room(state: State) -> Faces:
    """Room for the factorised faces of all neurons."""
    return state.planes.faces(len(state.a), most_held(state.side))


def by_pieces(
    state: State, work: Callable[[slice, Faces], Result]
) -> Iterator[tuple[slice, Result]]:
    """What this work gives on pieces of the neurons that take not too long, one after the other.

    The work gets the neurons of the piece and their factorised faces. Pieces are worked on side by
    side, since compiled code holds no lock; how many there are does not depend on the machine.
    """
    m, (lines, d) = len(state.a), state.planes.e.shape
    faces, size = room(state), m * lines * d
    if size < STAGE.halves:
        check_time(state)
        return iter([(slice(0, m), work(slice(0, m), faces))])
    rows = max(min(int(STAGE.piece * m / size), (m + 1) // 2), 1)
    pieces = [slice(first, min(first + rows, m)) for first in range(0, m, rows)]
    own = len(faces.size) >= m
    alone = not own or len(pieces) == 1 or os.cpu_count() == 1

    def on(piece: slice) -> Result:
        check_time(state)
        return work(piece, Faces(*(value[piece] for value in faces)) if own else faces)

    if alone:
        return ((piece, on(piece)) for piece in pieces)
    jobs = [_threads().submit(on, piece) for piece in pieces]
    try:
        return iter([(piece, job.result()) for piece, job in zip(pieces, jobs, strict=True)])
    finally:
        wait(jobs)  # an interrupted piece is still at work on these neurons


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads that are kept: to start one takes as long as a piece of a small stage."""
    return ThreadPoolExecutor(os.cpu_count() or 1)


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _log(most: int) -> motion.Log:
    return motion.Log(np.empty((most, 5)), np.zeros(1, np.int64))


def _note(state: State, log: motion.Log, first: int) -> None:
    count = int(log.number[0])
    if count > len(log.rows):
        raise Undecided("too many events in one stage")
    if count:
        log.rows[:count, 0] += first
        state.events = state.events + Events(log.rows[:count])


def nearest_pulls(face: Face, g: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """κ in [low, high] that makes ‖g + Σ κ e‖ smallest."""
    free = -(face.solve @ g)
    if ((free > low) & (free < high)).all():
        return free
    return boxed_least_squares(face.e.T, -g, low, high)
