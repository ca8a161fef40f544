"""The search of branch and bound: open nodes, the largest bound first, and what is done with them.

Nodes are bounded by chords (`_chords`) or by quadratic functions (`_quadratics`); the slots of a
tree for the latter are longer, which tells them apart.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.numerics import _chords, _quadratics
from tacit.numerics._relaxation import Node, Room, Sum, climb, room_for, value_at
from tacit.numerics.compiled import compiled

CLIMB = 0.8
"""A climb begins where F is at least this share of the threshold."""


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


@compiled
def by_quadratics(F: Sum, tree: Tree) -> bool:
    return tree.xs.shape[1] > len(F.rows)


@compiled
def chords_at(tree: Tree, slot: int) -> Node:
    return Node(tree.sides[slot], tree.lows[slot], tree.highs[slot], tree.xs[slot])


@compiled
def quadratics_at(tree: Tree, slot: int) -> _quadratics.QuadraticNode:
    return _quadratics.QuadraticNode(
        tree.sides[slot], tree.lows[slot], tree.highs[slot], tree.xs[slot]
    )


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
def begin(F: Sum, tree: Tree, threshold: float) -> None:
    """The first node: ranges from the lengths of the rows. A row of zeros has a side at once."""
    tree.counts[1] -= 1
    slot = tree.spare[tree.counts[1]]
    if by_quadratics(F, tree):
        first = quadratics_at(tree, slot)
        _quadratics.begin(F, first, threshold)
        u = np.empty(F.rows.shape[1])
        barrier = _quadratics.FIRST_BARRIER * threshold
        tree.bounds[slot] = _quadratics.bound_node(F, first, threshold, u, barrier)
    else:
        node = chords_at(tree, slot)
        _chords.begin(F, node)
        tree.bounds[slot] = _chords.bound_node(F, node, room_for(F), threshold)
    tree.counts[2] += 1
    push(tree, slot)


@compiled
def is_new(tree: Tree, value: float) -> bool:
    """No direction in the pool has this value, so none is this one."""
    for i in range(tree.counts[3]):
        # By value alone: two directions with one value to nine digits are nearly always the same.
        if abs(tree.values[i] - value) <= 1e-9 * value:
            return False
    return True


@compiled
def row_to_branch_on(F: Sum, tree: Tree, slot: int) -> int:
    """−1 where the sides of all rows that count with + are known."""
    if by_quadratics(F, tree):
        return int(tree.xs[slot, -1])
    return _chords.widest(chords_at(tree, slot))


@compiled
def copy_node(tree: Tree, slot: int, other: int) -> None:
    """The other slot gets what this one has."""
    tree.sides[other] = tree.sides[slot]
    tree.lows[other] = tree.lows[slot]
    tree.highs[other] = tree.highs[slot]
    tree.xs[other] = tree.xs[slot]
    tree.bounds[other] = tree.bounds[slot]


@compiled
def learn(F: Sum, tree: Tree, slot: int, row: int, side: int) -> None:
    """A node knows the side of a row."""
    if by_quadratics(F, tree):
        _quadratics.know(F, quadratics_at(tree, slot), row, side)
    else:
        tree.sides[slot, row] = side


@compiled
def leaf_at(F: Sum, tree: Tree, slot: int) -> Node:
    """A node all of whose sides are known, for chords, which need no ranges then."""
    none = np.empty(0)
    return Node(tree.sides[slot, : F.up], none, none, np.zeros(len(F.rows)))


@compiled
def bound_slot(
    F: Sum,
    tree: Tree,
    slot: int,
    last: bool,
    threshold: float,
    room: Room,
    u: np.ndarray,
    slopes: np.ndarray,
) -> float:
    """Bound a node, or one all of whose sides are known for the last time.

    u points to where the relaxation is largest; with it go slopes to begin a climb with.
    """
    if by_quadratics(F, tree) and not last:
        slopes[:] = 0.0
        barrier = _quadratics.barrier_of(tree.bounds[slot], threshold)
        return _quadratics.bound_node(F, quadratics_at(tree, slot), threshold, u, barrier)
    node = leaf_at(F, tree, slot) if last else chords_at(tree, slot)
    bound = _chords.bound_node(F, node, room, threshold)
    u[:] = room.g
    slopes[F.up :] = node.x[F.up :]
    return bound


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
        row = row_to_branch_on(F, tree, parent)
        child = parent
        if row >= 0:
            counts[1] -= 1
            child = tree.spare[counts[1]]
            copy_node(tree, parent, child)
            learn(F, tree, parent, row, -1)
            learn(F, tree, child, row, 1)
        for turn in range(2 if row >= 0 else 1):
            slot = parent if turn == 0 else child
            bound = bound_slot(F, tree, slot, row < 0, threshold, room, u, slopes)
            tree.bounds[slot] = min(tree.bounds[slot], bound)
            counts[2] += 1
            if row < 0:
                decided = max(decided, tree.bounds[slot])
            if row < 0 or tree.bounds[slot] <= threshold:
                tree.spare[counts[1]] = slot
                counts[1] += 1
            else:
                push(tree, slot)
            norm = math.sqrt(np.dot(u, u))
            if tree.bounds[slot] <= threshold or not norm > 0 or counts[3] == len(tree.values):
                continue
            u /= norm
            if value_at(F, u) > CLIMB * threshold:
                value = climb(F, u, slopes, room)
                # Within rounding of the floor it is the neuron in play that set the floor.
                if value > floor * (1 + 1e-10) and is_new(tree, value):
                    tree.pool[counts[3]] = u
                    tree.values[counts[3]] = value
                    counts[3] += 1
                    threshold = max(value, threshold)
    return threshold, decided
