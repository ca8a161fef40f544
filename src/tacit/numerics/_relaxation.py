"""The function that `branch_and_bound` maximises, and the relaxation of a node by chords, compiled.

The maximum of F(u) = b·u + Σ_{k < up} (p_k·u)₊ − Σ_{k ≥ up} (p_k·u)₊ over ‖u‖ ≤ 1 is looked for.
A node knows the sides of some rows k < up (`side`: p_k·u ≥ 0 or ≤ 0) and ranges [low, high] of
p_k·u for the others, all of them true for every u of the node with F(u) above the threshold. For
any multipliers 0 ≤ x, at most 1 where k ≥ up, all these u have

    F(u) ≤ g·u + constant ≤ ‖g‖ + constant,     (1)

where rows with a range are replaced by the chord of t₊ over it, and x_k is the slope of row k ≥ up
or the multiplier of a side. Steps inside of `relax` work with products p_k·p_l alone; the bound is
computed afresh from x, with what rounding may have done to it.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.numerics.compiled import compiled, compiled_as_written

EPS = 2.0**-52
FINAL_SHARE = 1e-9
"""A sweep that gains less than this share of what is missing is the last where no row is left to
branch on."""
COARSE = 1e-11
"""Where a sum may be wrong by more than this share, it is computed with twice as many digits."""
MOST_SWEEPS = 100
MOST_STEPS = 30
"""Steps of one climb."""


class Sum(NamedTuple):
    """The function F. `size` is a bound of ‖b‖ that does not cancel."""

    rows: np.ndarray
    linear: np.ndarray
    gram: np.ndarray
    norms: np.ndarray
    up: int
    size: float
    caps: np.ndarray
    """Unit vectors v_j in the middle of caps that are left out, as rows; mostly none."""
    cosine: float
    """κ."""


class Node(NamedTuple):
    """What a node knows, and multipliers; all of it changes in place."""

    side: np.ndarray
    low: np.ndarray
    high: np.ndarray
    x: np.ndarray


class Room(NamedTuple):
    """Arrays to work in: g, q_k = p_k·g, the direction ±1 or 0 in which x_k moves g, its end."""

    g: np.ndarray
    q: np.ndarray
    way: np.ndarray
    top: np.ndarray


@compiled
def room_for(F: Sum) -> Room:
    """Row k < up has no multiplier yet; the slopes of the others end at 1."""
    K, r = F.rows.shape
    way, top = np.full(K, -1.0), np.full(K, np.inf)
    way[: F.up] = 0.0
    top[F.up :] = 1.0
    return Room(np.empty(r), np.empty(K), way, top)


@compiled
def value_at(F: Sum, u: np.ndarray) -> float:
    """F(u)."""
    value = 0.0
    for j in range(len(u)):
        value += F.linear[j] * u[j]
    for k in range(len(F.rows)):
        t = 0.0
        for j in range(len(u)):
            t += F.rows[k, j] * u[j]
        if t > 0:
            value += t if k < F.up else -t
    return value


@compiled_as_written
def add(high: float, low: float, a: float, b: float) -> tuple[float, float]:
    """high + low + a·b, whose first part is the sum rounded, the second what that leaves (Dekker).

    Halves of a and b have products without rounding errors.
    """
    product = a * b
    t, s = 134217729.0 * a, 134217729.0 * b  # 2²⁷ + 1
    a1, b1 = t - (t - a), s - (s - b)
    a2, b2 = a - a1, b - b1
    rest = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    total = high + product
    back = total - high
    return total, low + ((high - (total - back)) + (product - back) + rest)


@compiled
def weight_of(F: Sum, node: Node, k: int) -> tuple[float, float]:
    """What row k is multiplied with in g, as the sum of two numbers."""
    if k >= F.up or node.side[k] < 0:
        return 0.0, -node.x[k]
    if node.side[k] > 0:
        return 1.0, node.x[k]
    return 0.0, node.high[k] / (node.high[k] - node.low[k])


@compiled
def sum_again(F: Sum, node: Node, g: np.ndarray) -> None:
    """g with twice as many digits: terms that are much larger than their sum have cancelled."""
    K, r = F.rows.shape
    low = np.zeros(r)
    g[:] = F.linear
    for k in range(K):
        for weight in weight_of(F, node, k):
            if weight != 0.0:
                for j in range(r):
                    g[j], low[j] = add(g[j], low[j], weight, F.rows[k, j])
    g += low


@compiled
def evaluate(F: Sum, node: Node, room: Room) -> tuple[float, float, float]:
    """g and q_k = p_k·g for these multipliers; the constant, ‖g‖, and the rounding error of (1)."""
    K, r = F.rows.shape
    constant, size = 0.0, F.size
    room.g[:] = F.linear
    for k in range(K):
        one, other = weight_of(F, node, k)
        weight = one + other
        if k < F.up and node.side[k] == 0:
            constant -= weight * node.low[k]
        if weight != 0.0:
            size += abs(weight) * F.norms[k]
            for j in range(r):
                room.g[j] += weight * F.rows[k, j]
    square = np.dot(room.g, room.g)
    steps = (K + r + 16) * EPS
    error = steps * (2 * size + constant)
    if error > COARSE * (math.sqrt(square) + constant):
        sum_again(F, node, room.g)
        square = np.dot(room.g, room.g)
        # Rows and slopes of chords were rounded, each by less than 2ε in all.
        error = 4 * EPS * size + steps * (2 * math.sqrt(square) + constant)
    for k in range(K):
        value = 0.0
        for j in range(r):
            value += F.rows[k, j] * room.g[j]
        room.q[k] = value
    return constant, math.sqrt(square), error


@compiled
def relax(F: Sum, x: np.ndarray, room: Room, norm: float, goal: float, share: float) -> None:
    """Make ‖g‖ smaller over 0 ≤ x ≤ top, g moving by way_k p_k with x_k; `norm` is ‖g‖.

    Ends when ‖g‖ is at most `goal`, or when a sweep gains less than a share of what is missing.
    """
    K = len(x)
    q, way, top = room.q, room.way, room.top
    square = norm * norm
    inside = np.empty(K, np.int64)
    goal = max(goal, 0.0) ** 2
    for sweep in range(MOST_SWEEPS):
        if square <= goal:
            break
        before = square
        for k in range(K):
            slope = way[k] * q[k]
            if slope == 0 or F.gram[k, k] == 0:
                continue
            step = min(max(x[k] - slope / F.gram[k, k], 0.0), top[k]) - x[k]
            if step != 0.0:
                x[k] += step
                square += 2 * step * slope + step * step * F.gram[k, k]
                step *= way[k]
                for l in range(K):
                    q[l] += step * F.gram[k, l]
        if sweep % 2 == 1:
            many = 0
            for k in range(K):
                if way[k] != 0 and 0.0 < x[k] < top[k]:
                    inside[many] = k
                    many += 1
            if many <= 3 * F.rows.shape[1]:
                square = newton(F.gram, x, room, inside[:many].copy(), square)
        if before - square <= share * (before - goal) and sweep > 0:
            break


@compiled
def newton(gram: np.ndarray, x: np.ndarray, room: Room, inside: np.ndarray, square: float) -> float:
    """Steps to the minimum over the entries inside of their bounds; who meets one stays there."""
    q, way, top = room.q, room.way, room.top
    many = len(inside)
    L = np.empty((many, many))
    step = np.empty(many)
    while many > 0:
        for i in range(many):
            a = inside[i]
            for j in range(i + 1):
                b = inside[j]
                value = way[a] * way[b] * gram[a, b]
                for l in range(j):
                    value -= L[i, l] * L[j, l]
                if i == j:  # not quite singular, since the rows may depend on each other
                    L[i, i] = math.sqrt(max(value, 1e-13 * gram[a, a]))
                else:
                    L[i, j] = value / L[j, j]
            value = -way[a] * q[a]
            for l in range(i):
                value -= L[i, l] * step[l]
            step[i] = value / L[i, i]
        for i in range(many - 1, -1, -1):
            for l in range(i + 1, many):
                step[i] -= L[l, i] * step[l]
            step[i] /= L[i, i]
        slope, bend = 0.0, 0.0
        for i in range(many):
            a = inside[i]
            slope += step[i] * way[a] * q[a]
            for j in range(many):
                b = inside[j]
                bend += step[i] * step[j] * way[a] * way[b] * gram[a, b]
        if slope >= 0 or not bend > 0:
            break
        length, first = -slope / bend, -1
        for i in range(many):
            a = inside[i]
            reach = math.inf
            if step[i] < 0:
                reach = -x[a] / step[i]
            elif step[i] > 0:
                reach = (top[a] - x[a]) / step[i]
            if reach < length:
                length, first = reach, i
        for i in range(many):
            a = inside[i]
            change = length * step[i]
            x[a] = min(max(x[a] + change, 0.0), top[a])
            change *= way[a]
            for l in range(len(x)):
                q[l] += change * gram[a, l]
        square += 2 * length * slope + length * length * bend
        if first < 0:
            break
        x[inside[first]] = 0.0 if step[first] < 0 else top[inside[first]]
        for i in range(first, many - 1):
            inside[i] = inside[i + 1]
        many -= 1
    return square


@compiled
def climb(F: Sum, u: np.ndarray, x: np.ndarray, room: Room) -> float:
    """From u to larger and larger F(u), the sides of the rows with + kept at each step; F(u)."""
    r = F.rows.shape[1]
    none = np.empty(0)
    node = Node(np.zeros(F.up, np.int8), none, none, x)
    best = value_at(F, u)
    v = u.copy()
    x[: F.up] = 0.0
    room.way[: F.up] = 0.0
    for _ in range(MOST_STEPS):
        for k in range(F.up):
            t = 0.0
            for j in range(r):
                t += F.rows[k, j] * v[j]
            node.side[k] = 1 if t > 0 else -1
        _, norm, _ = evaluate(F, node, room)
        relax(F, x, room, norm, 0.0, FINAL_SHARE)
        _, norm, _ = evaluate(F, node, room)
        if not norm > 0:
            break
        for j in range(r):
            v[j] = room.g[j] / norm
        value = value_at(F, v)
        # Rounding alone may let a climb go to and fro for ever.
        if value <= best * (1 + 1e-12):
            break
        best = value
        u[:] = v
    return best


@compiled
def climbs(F: Sum, U: np.ndarray) -> np.ndarray:
    """A climb from every row of U, which become where they end; F there."""
    room, x = room_for(F), np.zeros(len(F.rows))
    values = np.empty(len(U))
    for i in range(len(U)):
        x[:] = 0.0
        values[i] = climb(F, U[i], x, room)
    return values
