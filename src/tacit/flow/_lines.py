"""Sums over the samples on the lines through 0, and over the neurons on either side, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.numerics.compiled import compiled

Array = np.ndarray


class SampleLines(NamedTuple):
    """The samples and their lines, as in `Hyperplanes`."""

    X: Array
    y: Array
    alpha: float
    e: Array
    line: Array
    r: Array
    gram: Array
    """The products of all normals with each other; empty where they are too many."""


@compiled
def slope(here: int, r: float, alpha: float) -> float:
    """φ' at a sample at r on its line, of a neuron on this side; 0 where it slides."""
    towards = here * r
    return 1.0 if towards > 0 else alpha if towards < 0 else 0.0


@compiled
def pulls_of(lines: SampleLines, c: Array) -> tuple[Array, Array]:
    """κ₊ and κ₋ of every line: Σ c_i φ'_i r_i for neurons on its positive or negative side."""
    ahead, behind = np.zeros(len(lines.e)), np.zeros(len(lines.e))
    for i in range(len(c)):
        if lines.r[i] > 0:
            ahead[lines.line[i]] += c[i] * lines.r[i]
        elif lines.r[i] < 0:
            behind[lines.line[i]] += c[i] * lines.r[i]
    return ahead + lines.alpha * behind, lines.alpha * ahead + behind


@compiled
def free_pulls(side: Array, e: Array, plus: Array, minus: Array) -> Array:
    """Σ κ e of every neuron over the hyperplanes that it is not on."""
    kappa = np.empty(side.shape)
    for k in range(len(side)):
        for plane in range(side.shape[1]):
            here = side[k, plane]
            kappa[k, plane] = plus[plane] if here > 0 else minus[plane] if here < 0 else 0.0
    return np.dot(kappa, e)


@compiled
def margins(T: Array, side: Array, weight: Array, lines: SampleLines) -> Array:
    """y_i f(x_i), from the products of the neurons with the normals and what each neuron counts."""
    ahead, behind = np.zeros(T.shape[1]), np.zeros(T.shape[1])
    for k in range(len(T)):
        for plane in range(T.shape[1]):
            here, t = side[k, plane], weight[k] * T[k, plane]
            ahead[plane] += t if here > 0 else 0.0
            behind[plane] += t if here < 0 else 0.0
    q = np.empty(len(lines.y))
    for i in range(len(q)):
        one, other = ahead[lines.line[i]], behind[lines.line[i]]
        f = one + lines.alpha * other if lines.r[i] > 0 else lines.alpha * one + other
        q[i] = lines.y[i] * lines.r[i] * f
    return q


@compiled
def sees(side: Array, live: Array, lines: SampleLines) -> Array:
    """The samples on which one of the live neurons is active."""
    ahead, behind = np.zeros(side.shape[1], np.bool_), np.zeros(side.shape[1], np.bool_)
    for k in range(len(side)):
        if live[k]:
            for plane in range(side.shape[1]):
                ahead[plane] |= side[k, plane] > 0
                behind[plane] |= side[k, plane] < 0
    seen = np.empty(len(lines.r), np.bool_)
    for i in range(len(seen)):
        there = ahead if lines.r[i] > 0 else behind
        seen[i] = lines.r[i] != 0 and there[lines.line[i]]
    return seen


@compiled
def square_slopes(T: Array, side: Array, inner: Array, outer: Array, lines: SampleLines) -> Array:
    """Σ φ'_ki² (inner_k r_i² + outer_k (w_k·x_i)²) of every sample."""
    total = np.zeros((2, 2, side.shape[1]))
    for k in range(len(side)):
        for plane in range(side.shape[1]):
            at = 0 if side[k, plane] > 0 else 1
            if side[k, plane] != 0:
                total[at, 0, plane] += inner[k]
                total[at, 1, plane] += outer[k] * T[k, plane] ** 2
    squares = np.empty(len(lines.r))
    for i in range(len(squares)):
        at = 0 if lines.r[i] > 0 else 1
        active, passive = total[at, :, lines.line[i]], total[1 - at, :, lines.line[i]]
        whole = active[0] + active[1] + lines.alpha**2 * (passive[0] + passive[1])
        squares[i] = lines.r[i] ** 2 * whole
    return squares


@compiled
def most_held(side: Array) -> int:
    """The most hyperplanes that one neuron slides along."""
    most = 0
    for k in range(len(side)):
        number = 0
        for plane in range(side.shape[1]):
            number += side[k, plane] == 0
        most = max(most, number)
    return most
