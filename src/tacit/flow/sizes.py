"""Sizes and speeds of the neurons of a state."""

from __future__ import annotations

import numpy as np

from tacit.flow.exponential_tail import Weights
from tacit.flow.stage import velocities
from tacit.flow.state import State
from tacit.flow.tolerances import PATH


def norms(rows: np.ndarray) -> np.ndarray:
    """The norm of each row; `np.linalg.norm` takes twice as long."""
    return np.asarray(np.sqrt(np.vecdot(rows, rows)))


def speeds(state: State, now: Weights) -> np.ndarray:
    """The speed of each neuron, relative to its size."""
    return rates(state, now.p) / np.maximum(sizes(state), 1e-300)


def rates(state: State, p: np.ndarray) -> np.ndarray:
    """‖(w_k', a_k')‖ of each neuron, when the samples weigh p."""
    g = velocities(state, p * state.planes.y)
    moved = np.abs(state.a) * norms(g)
    return np.hypot(moved, np.vecdot(g, state.W)) if state.both else moved


def pulls(state: State, c: np.ndarray) -> np.ndarray:
    """The norm of what pulls each neuron, when the samples weigh c_i = y_i p_i."""
    return norms(velocities(state, c))


def fall(state: State, now: Weights) -> float:
    """The rate −d log L/ds at which the loss falls."""
    return float(state.copies @ rates(state, now.p) ** 2)


def conserved(state: State) -> np.ndarray:
    """‖w_k‖² − a_k² of each neuron, which the flow of both layers does not change."""
    return (state.W**2).sum(axis=1) - state.a**2


def sizes(state: State) -> np.ndarray:
    """The norm of what is trained of each neuron: (w_k, a_k), or w_k, be it as small as it may.

    Among others a w_k without a_k that is next to 0 counts as one that has come there.
    """
    if state.both:
        return np.hypot(norms(state.W), state.a)
    lengths = norms(state.W)
    return np.maximum(lengths, PATH.fork * lengths.max(initial=0.0))
