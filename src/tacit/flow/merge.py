"""Neurons with one sign and one pattern that have aligned move as one.

They obey the same linear equation, so aligned ones stay aligned (lyu2021 Lemma 5.3 is the case of
one group of either sign), and one neuron with their joint square norm has the same effect. Nearly
aligned ones come nearer while they grow; while they shrink, the pull is against them, and the
smallest angle between them grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.flow.sizes import sizes
from tacit.flow.state import State, check_time
from tacit.flow.tolerances import PATH
from tacit.numerics.compiled import compiled


@dataclass(frozen=True, eq=False)
class Shares:
    """How all neurons follow from the merged ones."""

    group: np.ndarray
    """The merged neuron that each one moves with."""
    share: np.ndarray
    """w_k = share_k w_group, and the same for a_k; 1 when the output layer is fixed."""

    @cached_property
    def members(self) -> list[list[int]]:
        """The neurons that move with each merged one."""
        members: list[list[int]] = [[] for _ in range(int(self.group.max(initial=-1)) + 1)]
        for k, g in enumerate(self.group.tolist()):
            members[g].append(k)
        return members

    def expand(self, small: State, factor: float = 1.0) -> State:
        """The state of all neurons; with both layers trained it is multiplied by a factor."""
        share = self.share
        if small.both:  # those that count as less than one are smaller
            share = share * np.sqrt(np.maximum(small.copies, 1e-250))[self.group] * factor
        W = small.W[self.group] * share[:, None]
        a = small.a[self.group] * (share if small.both else 1.0)
        side = small.side[self.group]
        return State(small.planes, W, a, small.both, side, np.ones(len(self.group)))


def alone(count: int) -> Shares:
    """The shares when nothing is merged yet."""
    return Shares(np.arange(count), np.ones(count))


def merge(state: State, shares: Shares, grows: np.ndarray) -> tuple[State, Shares]:
    """The state with one neuron for each aligned group; neurons that do not grow must be equal."""
    size = sizes(state)
    groups, first = _groups(state, size, np.where(grows, PATH.aligned, PATH.equal))
    count = len(first)
    if count == len(size):
        return state, shares
    if not state.both:
        copies = np.bincount(groups, state.copies, count).astype(float)
        small = State(
            state.planes, state.W[first], state.a[first], False, state.side[first], copies
        )
        return small, Shares(groups[shares.group], shares.share)
    total = np.sqrt(np.bincount(groups, size**2, count))
    part = size / np.where(total > 0, total, 1.0)[groups]
    grow = total / np.where(size[first] > 0, size[first], 1.0)
    small = State(
        state.planes,
        state.W[first] * grow[:, None],
        state.a[first] * grow,
        True,
        state.side[first],
        state.copies[first],
        less=np.broadcast_to(state.less, size.shape)[first],
    )
    return small, Shares(groups[shares.group], shares.share * part[shares.group])


def _groups(state: State, size: np.ndarray, nearest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The group of every neuron, and the largest neuron of every group."""
    check_time(state)
    Z = np.column_stack([state.W, state.a]) / np.where(size > 0, size, 1.0)[:, None]
    less = np.broadcast_to(state.less, size.shape)
    output = np.column_stack(
        [np.sign(state.a), state.copies, less] if state.both else [state.a, state.a]
    )
    numbers: dict[bytes, int] = {}
    kinds = np.array(
        [
            numbers.setdefault(side.tobytes() + out.tobytes(), len(numbers))
            for side, out in zip(state.side, output, strict=True)
        ]
    )
    order = np.argsort(-size, kind="stable")
    return _grouped(order, kinds, len(numbers), Z if state.both else state.W, nearest, state.both)


@compiled
def _grouped(
    order: np.ndarray, kinds: np.ndarray, many: int, Z: np.ndarray, nearest: np.ndarray, both: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The same, by the kinds of neurons that may be aligned; without `both` they must be equal."""
    groups, largest, count = np.empty(len(order), np.int64), np.empty(len(order), np.int64), 0
    newest, before = np.full(many, -1), np.full(len(order), -1)  # the groups of every kind
    for k in order:
        found, group = -1, newest[kinds[k]]
        while group >= 0:  # from the newest to the oldest, which counts
            z = Z[largest[group]]
            # The sine, from what is left across: a cosine shows no angle below 1e-8.
            across = Z[k] - np.sum(Z[k] * z) * z
            equal = not both and bool(np.all(Z[k] == z))
            if equal or (both and np.sqrt(np.sum(across * across)) <= nearest[k]):
                found = group
            group = before[group]
        if found < 0:
            found, largest[count] = count, k
            before[count], newest[kinds[k]] = newest[kinds[k]], count
            count += 1
        groups[k] = found
    return groups, largest[:count]
