"""The compiled part of `branch_and_bound`: relaxations, ranges, nodes, the search.

The maximum of F(u) = b·u + Σ_{k < up} (p_k·u)₊ − Σ_{k ≥ up} (p_k·u)₊ over ‖u‖ ≤ 1 is looked for.
A node knows the sides of some rows k < up (`side`: p_k·u ≥ 0 or ≤ 0) and ranges [low, high] of
p_k·u for the others, all of them true for every u of the node with F(u) above the threshold. For
any multipliers 0 ≤ x, at most 1 where k ≥ up, all these u have

    F(u) ≤ g·u + constant ≤ ‖g‖ + constant,     (1)

where rows with a range are replaced by the chord of t₊ over it, and x_k is the slope of row k ≥ up
or the multiplier of a side. Steps inside of `relax` work with products p_k·p_l alone; the bound is
computed afresh from x, with what rounding may have done to it.

A proof may leave out caps of the ball: then only u with v_j·u ≤ κ for unit vectors v_j count, and
µ(κ − v_j·u) with a multiplier µ ≥ 0 may be added to (1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.numerics.compiled import compiled

EPS = 2.0**-52
SHARE = 0.1
"""A sweep that gains less than this share of what is missing is the last: branching gains more."""
FINAL_SHARE = 1e-9
"""The same where no row is left to branch on."""
MOST_SWEEPS = 100
MOST_ROUNDS = 8
"""Times that a node is bounded anew since its ranges have become smaller …"""
LEAST_GAIN = 0.2
"""… as long as a round gains this share of what is missing …"""
LEAST_LOST = 0.02
"""… and a range loses this share of its length."""
CONE_SWEEPS = 3
"""Sweeps for either end of a range, given the sides: most of what is to be gained …"""
LEAST_CONE = 1e-3
"""… unless one gains less than this share."""
LEAST_RECORDED = 0.05
"""A proof writes down how a range is shrunk by the sides if it loses this share."""
MOST_STEPS = 30
"""Steps of one climb, which begins where F is at least …"""
CLIMB = 0.8
"""… this share of the threshold."""


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


class Tree(NamedTuple):
    """Nodes by slot; `heap` has the open ones, the largest bound first, `spare` the unused slots.

    `counts`: open nodes, spare slots, nodes seen, directions in the pool.
    """

    sides: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    xs: np.ndarray
    bounds: np.ndarray
    heap: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    pool: np.ndarray
    values: np.ndarray


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
def node_at(tree: Tree, slot: int) -> Node:
    return Node(tree.sides[slot], tree.lows[slot], tree.highs[slot], tree.xs[slot])


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


@compiled
def evaluate(F: Sum, node: Node, room: Room) -> tuple[float, float, float]:
    """g and q_k = p_k·g for these multipliers; the constant, ‖g‖, and the rounding error of (1)."""
    K, r = F.rows.shape
    constant, size = 0.0, F.size
    room.g[:] = F.linear
    for k in range(K):
        if k >= F.up:
            weight = -node.x[k]
        elif node.side[k] > 0:
            weight = 1.0 + node.x[k]
        elif node.side[k] < 0:
            weight = -node.x[k]
        else:
            weight = node.high[k] / (node.high[k] - node.low[k])
            constant -= weight * node.low[k]
        if weight != 0.0:
            size += abs(weight) * F.norms[k]
            for j in range(r):
                room.g[j] += weight * F.rows[k, j]
    square = 0.0
    for j in range(r):
        square += room.g[j] * room.g[j]
    for k in range(K):
        value = 0.0
        for j in range(r):
            value += F.rows[k, j] * room.g[j]
        room.q[k] = value
    return constant, math.sqrt(square), (K + r + 16) * EPS * (2 * size + constant)


@compiled
def rounded(value: float) -> float:
    """To nine digits: short in a file, and what a bound loses by it is less by far."""
    if not 0.0 < value < math.inf:
        return 0.0
    scale = 10.0 ** (8 - math.floor(math.log10(value)))
    return math.floor(value * scale) / scale


@compiled
def cut(F: Sum, room: Room, constant: float, norm: float) -> tuple[int, float, float, float]:
    """Where g points into a cap that is left out, add the multiple of the cap that bounds best.

    Returns the cap (−1: none) and its µ, the new constant and the new ‖g‖; g and q change in place.
    """
    r = len(room.g)
    cap, along = -1, F.cosine * norm
    for j in range(len(F.caps)):
        t = 0.0
        for i in range(r):
            t += F.caps[j, i] * room.g[i]
        if t > along:
            cap, along = j, t
    if cap < 0:
        return cap, 0.0, constant, norm
    across = math.sqrt(max(norm * norm - along * along, 0.0))
    mu = rounded(along - F.cosine * across / math.sqrt((1 - F.cosine) * (1 + F.cosine)))
    square = 0.0
    for i in range(r):
        room.g[i] -= mu * F.caps[cap, i]
        square += room.g[i] * room.g[i]
    for k in range(len(F.rows)):
        for i in range(r):
            room.q[k] -= mu * F.caps[cap, i] * F.rows[k, i]
    return cap, mu, constant + mu * F.cosine, math.sqrt(square)


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
        if value <= best * (1 + 1e-12):
            break
        best = value
        u[:] = v
    return best


@compiled
def settle(node: Node, k: int) -> None:
    """A range that does not change sign is a side."""
    if node.high[k] <= 0:
        node.side[k] = -1
    elif node.low[k] >= 0:
        node.side[k] = 1


@compiled
def ranges_in_cap(F: Sum, node: Node, q: np.ndarray, norm: float, rest: float) -> float:
    """Shrink the ranges to those over the cap g·u ≥ rest, all that (1) leaves.

    Returns the largest share that was lost by one of them.
    """
    lost = 0.0
    r = F.rows.shape[1]
    c = min(rest / norm - (r + 8) * EPS, 1.0)
    if c <= -1:
        return lost
    s = math.sqrt((1 - c) * (1 + c))
    for k in range(F.up):
        n = F.norms[k]
        if node.side[k] != 0:
            continue
        t = q[k] / norm
        pad = (r + 16) * EPS * n
        across = math.sqrt(max(n * n - t * t, 0.0) + 4 * pad * n) * s
        width = node.high[k] - node.low[k]
        if t < c * n:  # the row itself points out of the cap
            node.high[k] = min(node.high[k], t * c + across + pad)
        if -t < c * n:
            node.low[k] = max(node.low[k], t * c - across - pad)
        settle(node, k)
        lost = max(lost, 1 - (node.high[k] - node.low[k]) / width)
    return lost


@compiled
def known_rows(node: Node) -> np.ndarray:
    """The rows whose side is known."""
    known = np.empty(len(node.side), np.int64)
    many = 0
    for k in range(len(node.side)):
        if node.side[k] != 0:
            known[many] = k
            many += 1
    return known[:many]


@compiled
def cone_end(F: Sum, node: Node, known: np.ndarray, k: int, end: int, mu: np.ndarray) -> float:
    """The sides give ±p_k·u ≤ ‖±p_k + Σ µ_i side_i p_i‖ for every µ ≥ 0; a small one of these."""
    many = len(known)
    slope = np.empty(many)
    square, size = F.gram[k, k], F.norms[k]
    for i in range(many):
        mu[i] = 0.0
        slope[i] = end * node.side[known[i]] * F.gram[k, known[i]]
    for _ in range(CONE_SWEEPS):
        before = square
        for i in range(many):
            a = known[i]
            step = max(-slope[i] / F.gram[a, a], -mu[i]) if F.gram[a, a] > 0 else 0.0
            if step == 0.0:
                continue
            mu[i] += step
            size += abs(step) * F.norms[a]
            square += 2 * step * slope[i] + step * step * F.gram[a, a]
            step *= node.side[a]
            for j in range(many):
                slope[j] += step * node.side[known[j]] * F.gram[a, known[j]]
        if before - square <= LEAST_CONE * before:
            break
    error = 8 * (F.rows.shape[1] + CONE_SWEEPS * many + 8) * EPS * size * size
    return math.sqrt(max(square, 0.0) + error)


@compiled
def ranges_in_cone(F: Sum, node: Node) -> None:
    """Shrink the ranges by the sides."""
    known = known_rows(node)
    mu = np.empty(len(known))
    for k in range(F.up):
        if node.side[k] == 0:
            node.high[k] = min(node.high[k], cone_end(F, node, known, k, 1, mu))
            node.low[k] = max(node.low[k], -cone_end(F, node, known, k, -1, mu))


@compiled
def bound_node(F: Sum, node: Node, room: Room, threshold: float) -> float:
    """A bound of F over the node; its ranges, sides and multipliers improve in place."""
    bound = math.inf
    ranges_in_cone(F, node)
    for _ in range(MOST_ROUNDS):
        share = FINAL_SHARE
        for k in range(F.up):
            room.way[k] = node.side[k]
            if node.side[k] == 0:
                node.x[k], share = 0.0, SHARE
        constant, norm, error = evaluate(F, node, room)
        relax(F, node.x, room, norm, (threshold - constant - error) * (1 - EPS), share)
        constant, norm, error = evaluate(F, node, room)
        new = (constant + norm) * (1 + 4 * EPS) + error
        gained = bound - new
        bound = min(bound, new)
        if bound <= threshold or not norm > 0 or gained < LEAST_GAIN * (bound - threshold):
            break
        if ranges_in_cap(F, node, room.q, norm, threshold - constant - error) < LEAST_LOST:
            break
    return bound


@compiled
def push(tree: Tree, slot: int) -> None:
    """Put a node among the open ones."""
    i = tree.counts[0]
    tree.counts[0] += 1
    while i > 0 and tree.bounds[tree.heap[(i - 1) // 2]] < tree.bounds[slot]:
        tree.heap[i] = tree.heap[(i - 1) // 2]
        i = (i - 1) // 2
    tree.heap[i] = slot


@compiled
def pop(tree: Tree) -> int:
    """Take out the open node with the largest bound."""
    slot = tree.heap[0]
    tree.counts[0] -= 1
    size = tree.counts[0]
    last = tree.heap[size]
    i = 0
    while 2 * i + 1 < size:
        j = 2 * i + 1
        if j + 1 < size and tree.bounds[tree.heap[j + 1]] > tree.bounds[tree.heap[j]]:
            j += 1
        if tree.bounds[tree.heap[j]] <= tree.bounds[last]:
            break
        tree.heap[i] = tree.heap[j]
        i = j
    tree.heap[i] = last
    return slot


@compiled
def widest(node: Node) -> int:
    """The row whose chord is furthest above t₊; −1 where all sides are known."""
    row, most = -1, -1.0
    for k in range(len(node.side)):
        if node.side[k] == 0:
            far = -node.high[k] * node.low[k] / (node.high[k] - node.low[k])
            if far > most:
                row, most = k, far
    return row


@compiled
def climbs(F: Sum, U: np.ndarray) -> np.ndarray:
    """A climb from every row of U, which become where they end; F there."""
    room, x = room_for(F), np.zeros(len(F.rows))
    values = np.empty(len(U))
    for i in range(len(U)):
        x[:] = 0.0
        values[i] = climb(F, U[i], x, room)
    return values


@compiled
def begin(F: Sum, tree: Tree, threshold: float) -> None:
    """The first node: ranges from the lengths of the rows. A row of zeros has a side at once."""
    tree.counts[1] -= 1
    slot = tree.spare[tree.counts[1]]
    node = node_at(tree, slot)
    for k in range(F.up):
        node.low[k] = -F.norms[k]
        node.high[k] = F.norms[k]
        settle(node, k)
    tree.bounds[slot] = bound_node(F, node, room_for(F), threshold)
    tree.counts[2] += 1
    push(tree, slot)


@compiled
def is_new(tree: Tree, value: float) -> bool:
    """No direction in the pool has this value, so none is this one."""
    for i in range(tree.counts[3]):
        if abs(tree.values[i] - value) <= 1e-9 * value:
            return False
    return True


@compiled
def search(
    F: Sum, tree: Tree, floor: float, threshold: float, enough: int, nodes: int
) -> tuple[float, float]:
    """Branch, at the node with the largest bound, until all are at or below the threshold.

    Where F is large in the direction that a relaxation points to, a climb starts there; what
    exceeds the floor goes to the pool, and the threshold is at least its value. Ends also with
    `enough` directions, after so many nodes, or when there are no slots left. Returns the threshold
    and the largest bound of a node that cannot be branched any more.
    """
    room, u, slopes = room_for(F), np.empty(F.rows.shape[1]), np.zeros(len(F.rows))
    decided = 0.0
    counts = tree.counts
    last = counts[2] + nodes
    while counts[0] > 0 and counts[1] > 0 and counts[2] < last and counts[3] < enough:
        if tree.bounds[tree.heap[0]] <= threshold:
            counts[0] = 0
            break
        parent = pop(tree)
        child = parent
        row = widest(node_at(tree, parent))
        if row >= 0:
            counts[1] -= 1
            child = tree.spare[counts[1]]
            tree.sides[child] = tree.sides[parent]
            tree.lows[child] = tree.lows[parent]
            tree.highs[child] = tree.highs[parent]
            tree.xs[child] = tree.xs[parent]
            tree.bounds[child] = tree.bounds[parent]
            tree.sides[child, row] = 1
            tree.sides[parent, row] = -1
        for turn in range(2 if row >= 0 else 1):
            slot = parent if turn == 0 else child
            node = node_at(tree, slot)
            tree.bounds[slot] = min(tree.bounds[slot], bound_node(F, node, room, threshold))
            counts[2] += 1
            if row < 0:  # bounded once more with all sides known, which is the end of it
                decided = max(decided, tree.bounds[slot])
            if row < 0 or tree.bounds[slot] <= threshold:
                tree.spare[counts[1]] = slot
                counts[1] += 1
            else:
                push(tree, slot)
            norm = math.sqrt((room.g * room.g).sum())
            if tree.bounds[slot] <= threshold or not norm > 0 or counts[3] == len(tree.values):
                continue
            u[:] = room.g / norm
            if value_at(F, u) > CLIMB * threshold:
                slopes[F.up :] = node.x[F.up :]
                value = climb(F, u, slopes, room)
                if value > floor * (1 + 1e-10) and is_new(tree, value):
                    tree.pool[counts[3]] = u
                    tree.values[counts[3]] = value
                    counts[3] += 1
                    threshold = max(value, threshold)
    return threshold, decided


@compiled
def write(out: np.ndarray, value: float) -> None:
    """Append to `out`, whose first entry is the number of entries in use."""
    if out[0] < len(out):
        out[int(out[0])] = value
    out[0] += 1


@compiled
def record_cone(F: Sum, node: Node, out: np.ndarray) -> None:
    """Shrink the ranges by the sides, where that is worth a line, and write down how."""
    start = int(out[0])
    write(out, 0.0)
    known = known_rows(node)
    mu, x = np.empty(len(known)), np.zeros(F.up)
    for k in range(F.up):
        if node.side[k] != 0:
            continue
        for end in (1, -1):
            length = cone_end(F, node, known, k, end, mu)
            old = node.high[k] if end > 0 else -node.low[k]
            if length > old * (1 - LEAST_RECORDED):
                continue
            length *= 1 + 1e-8  # for the rounding of µ, whose first order vanishes or is small
            if end > 0:
                node.high[k] = length
            else:
                node.low[k] = -length
            if start < len(out):
                out[start] += 1
            write(out, k)
            write(out, end)
            for i in range(len(known)):
                x[known[i]] = rounded(mu[i])
            write_multipliers(out, x, -1, 0.0)


@compiled
def write_multipliers(out: np.ndarray, x: np.ndarray, cap: int, mu: float) -> None:
    """The multipliers that are not 0: how many, then rows and values; caps come after the rows."""
    many = 0
    for k in range(len(x)):
        many += x[k] != 0.0
    write(out, many + (mu > 0.0))
    for k in range(len(x)):
        if x[k] != 0.0:
            write(out, k)
            write(out, x[k])
    if mu > 0.0:
        write(out, len(x) + cap)
        write(out, mu)


@compiled
def record_node(
    F: Sum, node: Node, room: Room, threshold: float, goal: float, out: np.ndarray
) -> bool:
    """Bound a node as `bound_node` does, writing down what a check needs; was it closed?"""
    record_cone(F, node, out)
    start = int(out[0])
    write(out, 0.0)
    bound = math.inf
    for number in range(MOST_ROUNDS + 1):
        share = FINAL_SHARE
        for k in range(F.up):
            room.way[k] = node.side[k]
            if node.side[k] == 0:
                node.x[k], share = 0.0, SHARE
        constant, norm, error = evaluate(F, node, room)
        relax(F, node.x, room, norm, (goal - constant - error) * (1 - EPS), share)
        for k in range(len(node.x)):
            node.x[k] = rounded(node.x[k])
        constant, norm, error = evaluate(F, node, room)
        cap, mu, constant, norm = cut(F, room, constant, norm)
        error += 4 * (len(room.g) + 16) * EPS * mu
        new = (constant + norm) * (1 + 4 * EPS) + error
        gained = bound - new
        bound = min(bound, new)
        closed = new <= goal
        few = gained < LEAST_GAIN * (bound - goal) and share == SHARE
        if not closed and (not norm > 0 or few or number == MOST_ROUNDS):
            break
        if start < len(out):
            out[start] += 1
        write_multipliers(out, node.x, cap, mu)
        if closed:
            write(out, -1.0)
            return True
        lost = ranges_in_cap(F, node, room.q, norm, threshold - constant - error)
        if lost < LEAST_LOST and widest(node) >= 0:
            break
    return False


@compiled
def record(F: Sum, tree: Tree, threshold: float, goal: float, out: np.ndarray) -> int:
    """The whole tree with F ≤ threshold, depth first; `tree` lends its slots for the branch.

    Returns 0 when it is done, 1 when `out` is full, 2 when a node cannot be closed.
    """
    room = room_for(F)
    depth = 1
    while depth > 0:
        depth -= 1
        node = node_at(tree, depth)
        if record_node(F, node, room, threshold, goal, out):
            continue
        if out[0] > len(out):
            return 1
        row = widest(node)
        if row < 0 or depth + 2 > len(tree.bounds):
            return 2
        write(out, row)
        for array in (tree.lows, tree.highs):
            array[depth + 1] = array[depth]
        tree.xs[depth + 1] = tree.xs[depth]
        tree.sides[depth + 1] = tree.sides[depth]
        tree.sides[depth, row] = -1
        tree.sides[depth + 1, row] = 1
        depth += 2
    return 1 if out[0] > len(out) else 0
