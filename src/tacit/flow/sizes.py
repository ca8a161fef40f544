"""Sizes, speeds and distances of the neurons of a state."""

from __future__ import annotations

import math

import numpy as np

from tacit.flow.exponential_tail import Weights
from tacit.flow.stage import velocities
from tacit.flow.state import State


def speeds(state: State, now: Weights) -> np.ndarray:
    """The speed of each neuron, relative to its size."""
    g = velocities(state, now.p * state.planes.y)
    along = (g * state.W).sum(axis=1) if state.both else 0.0
    moved = np.abs(state.a) * np.linalg.norm(g, axis=1)
    return np.hypot(moved, along) / np.maximum(sizes(state), 1e-300)


def pulls(state: State, c: np.ndarray) -> np.ndarray:
    """The norm of what pulls each neuron, when the samples weigh c_i = y_i p_i."""
    return np.asarray(np.linalg.norm(velocities(state, c), axis=1))


def fall(state: State, now: Weights) -> float:
    """The rate −d log L/ds at which the loss falls."""
    return float(state.copies @ (speeds(state, now) * sizes(state)) ** 2)


def conserved(state: State) -> np.ndarray:
    """‖w_k‖² − a_k² of each neuron, which the flow of both layers does not change."""
    return (state.W**2).sum(axis=1) - state.a**2


def sizes(state: State) -> np.ndarray:
    """The norm of each neuron (w_k, a_k)."""
    return np.hypot(np.linalg.norm(state.W, axis=1), state.a)


def distance(one: State, other: State) -> float:
    """The distance of two networks with the same neurons, relative to their size."""
    size = math.hypot(float(np.linalg.norm(other.W)), float(np.linalg.norm(other.a)))
    return float(np.linalg.norm(distances(one, other) * sizes(other))) / size


def distances(one: State, other: State) -> np.ndarray:
    """The distance of each neuron from the same one of another network, relative to its size."""
    apart = np.hypot(np.linalg.norm(one.W - other.W, axis=1), one.a - other.a)
    return apart / np.maximum(sizes(other), 1e-300)
