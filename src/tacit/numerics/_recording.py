"""The tree of branch and bound written down for a proof, depth first: numbers, one after the other.

A proof may leave out caps of the ball: then only u with v_j·u ≤ κ for unit vectors v_j count, and
µ(κ − v_j·u) with a multiplier µ ≥ 0 may be added to (1) of `_relaxation`.
"""

import math

import numpy as np

from tacit.numerics import _quadratics
from tacit.numerics._branching import (
    Tree,
    by_quadratics,
    chords_at,
    copy_node,
    leaf_at,
    learn,
    quadratics_at,
)
from tacit.numerics._chords import (
    LEAST_GAIN,
    LEAST_LOST,
    MOST_ROUNDS,
    SHARE,
    begin,
    cone_end,
    known_rows,
    ranges_in_cap,
    widest,
)
from tacit.numerics._least_norm import least_norm
from tacit.numerics._relaxation import EPS, FINAL_SHARE, Node, Room, Sum, evaluate, relax, room_for
from tacit.numerics.compiled import compiled

LEAST_RECORDED = 0.05
"""How a range is shrunk by the sides is written down if it loses this share."""
DIGITS = 6
"""Digits of the multipliers of quadratic functions, near whose minimum few are enough."""
COARSE = 2.0**-30
"""What the check of such a function rounds to, relative to the sum of its terms …"""
SPARE = 1e-5
"""… so that it is made smaller than it would have to be, by this share."""


@compiled
def digits_for(F: Sum, threshold: float) -> int:
    """Nine: short in a file, and a bound loses less by far; more where rows cancel."""
    largest = 0.0
    for k in range(len(F.rows)):
        largest = max(largest, F.norms[k])
    return 9 + int(math.log10(max(largest / threshold, 1.0))) if threshold > 0 else 9


@compiled
def rounded(value: float, digits: int = 9) -> float:
    """Downwards, to so many digits."""
    if digits > 15:
        return max(value, 0.0)
    if not 0.0 < value < math.inf:
        return 0.0
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(value)))
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
def write(out: np.ndarray, value: float) -> None:
    """Append to `out`, whose first entry is the number of entries in use."""
    if out[0] < len(out):
        out[int(out[0])] = value
    out[0] += 1


@compiled
def record_cone(F: Sum, node: Node, out: np.ndarray, digits: int) -> None:
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
                x[known[i]] = rounded(mu[i], digits)
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
    digits = digits_for(F, threshold)
    record_cone(F, node, out, digits)
    start = int(out[0])
    write(out, 0.0)
    bound = math.inf
    for number in range(MOST_ROUNDS + 1):
        share = FINAL_SHARE
        for k in range(F.up):
            room.way[k] = node.side[k]
            if node.side[k] == 0:
                node.x[k], share = 0.0, SHARE
        exactly = number == 1 and share == FINAL_SHARE  # as `bound_node` does
        if exactly:
            node.x[:] = 0.0
        constant, norm, error = evaluate(F, node, room)
        rest = (goal - constant - error) * (1 - EPS)
        if exactly:
            least_norm(F, node.x, room, rest)
        else:
            relax(F, node.x, room, norm, rest, share)
        for k in range(len(node.x)):
            node.x[k] = rounded(node.x[k], digits)
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
            return True
        lost = ranges_in_cap(F, node, room.q, norm, threshold - constant - error)
        if lost < LEAST_LOST and widest(node) >= 0:
            break
    return False


@compiled
def rounded_quadratics(F: Sum, node: _quadratics.QuadraticNode) -> _quadratics.QuadraticNode:
    """The node with multipliers of few digits."""
    K = len(F.rows)
    z = np.empty_like(node.z)
    # µ upwards, so that S stays positive; the others downwards, so that θ + h stays below 1.
    z[0] = rounded(node.z[0], DIGITS) * (1 + 10.0 ** (1 - DIGITS))
    for k in range(2 * K):
        z[1 + k] = rounded(node.z[1 + k] * (1 - 10.0 ** (1 - DIGITS)), DIGITS)
    return _quadratics.QuadraticNode(node.side, node.low, node.high, z)


@compiled
def coarseness(F: Sum, terms: _quadratics.Terms, z: np.ndarray) -> float:
    """About what a check with numbers of few bits makes of S and g, and of a bound, at most."""
    total = z[0] + 2 * F.size + F.norms.sum()
    for i in range(len(terms.row)):
        n, value = F.norms[terms.row[i]], z[terms.at[i]]
        total += 4 * abs(terms.bend[i]) * value * n * n + 2 * abs(terms.push[i]) * value * n
    K, r = F.rows.shape
    return 2 * total * COARSE * (K + r + 2 * math.sqrt(r) + 8)


@compiled
def write_quadratics(
    F: Sum, node: _quadratics.QuadraticNode, threshold: float, out: np.ndarray
) -> None:
    """µ, a number for every row, and one more for every row with −, as the file has them."""
    K = len(F.rows)
    write(out, node.z[0] / threshold)
    for k in range(K):
        if k < F.up and node.side[k] == 0:
            write(out, 0.5 * node.z[1 + k] * threshold)
        elif k < F.up:
            write(out, node.z[1 + k])
        else:
            write(out, node.z[1 + K + k] + 0.5 * node.z[1 + k])
    for k in range(F.up, K):
        n = F.norms[k]
        write(out, node.z[1 + k] / n * threshold if n > 0 else 0.0)


@compiled
def record_quadratic_node(
    F: Sum,
    node: _quadratics.QuadraticNode,
    threshold: float,
    goal: float,
    barrier: float,
    out: np.ndarray,
) -> tuple[int, float]:
    """Bound a node and write it down; the row to branch on (−1: it is closed), and the bound."""
    terms, first = _quadratics.terms_of(F, node)
    target = goal * (1 - SPARE)
    made, barrier = _quadratics.relax(F, node, terms, first, target, barrier)
    write(out, 0.0)
    if made.positive and made.bound <= target:
        short = rounded_quadratics(F, node)
        loss = coarseness(F, terms, short.z)
        # The check's S and g differ by as much from these; where S is nearly singular that counts
        # many times, as it does for a smaller µ.
        worse = short.z.copy()
        worse[0] -= loss
        again = _quadratics.factored(F, terms, first, worse, barrier)
        if again.positive and again.bound + 1.5 * loss <= goal:
            write(out, -1.0)
            write_quadratics(F, short, threshold, out)
            return -1, again.bound
    row = _quadratics.any_row(F, node)
    if made.positive:
        shape, _ = _quadratics.shape_of(F, made)
        row = _quadratics.furthest(F, node, shape, barrier)
    write(out, 0.0)
    return row, made.bound


@compiled
def record_slot(
    F: Sum, tree: Tree, slot: int, room: Room, threshold: float, goal: float, out: np.ndarray
) -> int:
    """Bound a node and write it down, but for the row to branch on, which is returned.

    −1: it is closed; −2: it cannot be.
    """
    if not by_quadratics(F, tree):
        node = chords_at(tree, slot)
        if record_node(F, node, room, threshold, goal, out):
            return -1
        row = widest(node)
        return row if row >= 0 else -2
    quadratic = quadratics_at(tree, slot)
    if _quadratics.any_row(F, quadratic) < 0:
        leaf = leaf_at(F, tree, slot)
        return -1 if record_node(F, leaf, room, threshold, goal, out) else -2
    barrier = _quadratics.FIRST_BARRIER * threshold
    if tree.bounds[slot] < math.inf:
        barrier = _quadratics.barrier_of(tree.bounds[slot], goal)
    row, tree.bounds[slot] = record_quadratic_node(F, quadratic, threshold, goal, barrier, out)
    return row


@compiled
def begin_record(F: Sum, tree: Tree, threshold: float) -> None:
    """The first node, which knows nothing but the lengths of the rows."""
    if by_quadratics(F, tree):
        _quadratics.begin(F, quadratics_at(tree, 0), threshold)
    else:
        begin(F, chords_at(tree, 0))
    tree.bounds[0] = math.inf
    tree.counts[0] = 1


@compiled
def record(F: Sum, tree: Tree, threshold: float, goal: float, out: np.ndarray, nodes: int) -> int:
    """So many more nodes of the whole tree with F ≤ threshold, depth first, the open ones in slots.

    Returns 0 when it is done, 1 when `out` is full (it can go on with a longer one), 2 when a node
    cannot be closed, 3 when there are more nodes.
    """
    room, counts = room_for(F), tree.counts
    before = len(tree.bounds) - 1
    while counts[0] > 0:
        if nodes == 0:
            return 3
        nodes -= 1
        slot, start = counts[0] - 1, out[0]
        copy_node(tree, slot, before)
        row = record_slot(F, tree, slot, room, threshold, goal, out)
        if row == -2:
            return 2
        write(out, row)
        if out[0] > len(out):
            copy_node(tree, before, slot)
            out[0] = start
            return 1
        counts[0] -= 1
        if row >= 0:
            copy_node(tree, slot, slot + 1)
            learn(F, tree, slot, row, -1)
            learn(F, tree, slot + 1, row, 1)
            counts[0] += 2
    return 0
