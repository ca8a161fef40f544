"""Neurons with one sign and one pattern that have aligned move as one.

They obey the same linear equation, so aligned ones stay aligned (lyu2021 Lemma 5.3 is the case of
one group of either sign), and one neuron with their joint square norm has the same effect.
"""

from __future__ import annotations

import numpy as np

from tacit.flow.state import State

ALIGNED = 1e-8
"""Sine of the angle up to which neurons count as aligned."""


def merge(state: State) -> tuple[State, np.ndarray]:
    """The state with one neuron per group, and which group every neuron went to."""
    size = np.maximum(np.hypot(np.linalg.norm(state.W, axis=1), state.a), 1e-300)
    Z = np.column_stack([state.W, state.a]) / size[:, None]
    groups = np.full(len(size), -1)
    firsts: list[int] = []
    by_pattern: dict[bytes, list[int]] = {}
    for k in np.argsort(-size, kind="stable"):
        key = state.side[k].tobytes() + (b"+" if state.a[k] > 0 else b"-")
        for g in by_pattern.setdefault(key, []):
            across = Z[k] - (Z[k] @ Z[firsts[g]]) * Z[firsts[g]]
            same = state.both or state.a[k] == state.a[firsts[g]]
            if same and np.linalg.norm(across) <= ALIGNED:
                groups[k] = g
                break
        else:
            groups[k] = len(firsts)
            by_pattern[key].append(len(firsts))
            firsts.append(int(k))
    count = len(firsts)
    if state.both:
        total = np.sqrt(np.bincount(groups, state.copies * size**2, count))
        copies = np.ones(count)
        W, a = Z[firsts, :-1] * total[:, None], Z[firsts, -1] * total
    else:
        copies = np.bincount(groups, state.copies, count).astype(float)
        sums = np.zeros((count, state.W.shape[1]))
        np.add.at(sums, groups, state.copies[:, None] * state.W)
        W, a = sums / copies[:, None], state.a[firsts]
    return State(state.walls, W, a, state.both, state.side[firsts], copies), groups


def expand(small: State, groups: np.ndarray, like: State) -> State:
    """All neurons again: each keeps its share of its group."""
    if like.both:
        size = np.hypot(np.linalg.norm(like.W, axis=1), like.a)
        total = np.sqrt(np.bincount(groups, like.copies * size**2, len(small.a)))
        share = size / np.maximum(total, 1e-300)[groups]
        W, a = small.W[groups] * share[:, None], small.a[groups] * share
    else:
        W, a = small.W[groups].copy(), small.a[groups].copy()
    events = [
        (int(k), wall, what) for g, wall, what in small.events for k in np.flatnonzero(groups == g)
    ]
    return State(like.walls, W, a, like.both, small.side[groups], like.copies, events)
