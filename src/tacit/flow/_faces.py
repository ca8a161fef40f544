"""Factorised faces: the hyperplanes along which a neuron slides, as e_on = Rᵀ Q, compiled by Numba.

The rows of Q are orthonormal; a Gram matrix would lose half of the digits where hyperplanes are
nearly parallel. A factorisation is updated when a hyperplane joins or leaves, which takes r·d
operations for r hyperplanes, not r²·d.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.flow.tolerances import STAGE
from tacit.numerics.compiled import compiled, compiled_in_place

DEPENDENT, MOST_UPDATES = STAGE.dependent, STAGE.most_updates
Array = np.ndarray


class Faces(NamedTuple):
    """Factorised faces; neuron k has that at the place k modulo their number.

    Before it is used a face is brought up to date with the hyperplanes that the neuron is on, so
    that what is left there by another neuron, or another state, does no harm.
    """

    size: Array
    """The number of hyperplanes of each face …"""
    rank: Array
    """… and of rows of Q."""
    updates: Array
    """How often hyperplanes were taken away since it was last factorised anew."""
    on: Array
    """The numbers of the hyperplanes."""
    pivot: Array
    """The row of Q that a hyperplane brought; −1 where its normal depends on those before it."""
    Q: Array
    R: Array
    """Column j has the coefficients of the normal of hyperplane j."""


def faces_for(places: int, most: int, d: int) -> Faces:
    """Room for so many faces of at most so many hyperplanes each."""
    size, rank, updates = np.zeros((3, places), np.int64)
    on, pivot = np.zeros((2, places, most), np.int64)
    rows = min(most, d)
    Q, R = np.empty((places, rows + 1, d)), np.empty((places, rows, most))
    return Faces(size, rank, updates, on, pivot, Q, R)


@compiled_in_place
def dot(u: Array, v: Array) -> float:
    """u·v."""
    total = 0.0
    for x in range(len(u)):
        total += u[x] * v[x]
    return total


@compiled_in_place
def add(target: Array, factor: float, vector: Array) -> None:
    """target += factor · vector."""
    for x in range(len(target)):
        target[x] += factor * vector[x]


@compiled_in_place
def put(target: Array, vector: Array) -> None:
    """target = vector."""
    for x in range(len(target)):
        target[x] = vector[x]


@compiled_in_place
def append(faces: Faces, at: int, plane: int, e: Array) -> bool:
    """Let a hyperplane join a face, by Gram–Schmidt, twice; False where there is no room."""
    j, rank = faces.size[at], faces.rank[at]
    if j == faces.on.shape[1]:
        return False
    Q, R = faces.Q[at], faces.R[at]
    rest = Q[rank]  # there is one row more than there may be of a rank
    put(rest, e[plane])
    for i in range(rank):
        R[i, j] = 0.0
    # The second pass removes what rounding of the first has left along Q, which a short rest
    # magnifies.
    for _ in range(2):
        for i in range(rank):
            part = dot(Q[i], rest)
            R[i, j] += part
            add(rest, -part, Q[i])
    length = np.sqrt(dot(rest, rest))
    faces.on[at, j], faces.pivot[at, j] = plane, -1
    if length > DEPENDENT and rank < len(rest):
        for x in range(len(rest)):
            rest[x] /= length
        R[rank, j] = length
        faces.pivot[at, j] = rank
        faces.rank[at] += 1
    faces.size[at] += 1
    return True


@compiled_in_place
def remove(faces: Faces, at: int, j: int, e: Array) -> None:
    """Take the j-th hyperplane away from a face, by Givens rotations."""
    size, on = faces.size[at], faces.on[at]
    for i in range(j, size - 1):
        on[i] = on[i + 1]
    # Without the j-th, a normal that depended on it may be independent: no rotation finds that out.
    if faces.rank[at] < size or faces.updates[at] >= MOST_UPDATES:
        faces.size[at] = faces.rank[at] = faces.updates[at] = 0
        for i in range(size - 1):
            append(faces, at, on[i], e)
        return
    Q, R = faces.Q[at], faces.R[at]
    for c in range(j, size - 1):
        for i in range(c + 2):
            R[i, c] = R[i, c + 1]
        radius = np.hypot(R[c, c], R[c + 1, c])
        cos, sin = R[c, c] / radius, R[c + 1, c] / radius
        R[c, c] = radius
        for later in range(c + 2, size):
            one, other = R[c, later], R[c + 1, later]
            R[c, later], R[c + 1, later] = cos * one + sin * other, cos * other - sin * one
        for x in range(Q.shape[1]):
            one, other = Q[c, x], Q[c + 1, x]
            Q[c, x], Q[c + 1, x] = cos * one + sin * other, cos * other - sin * one
    faces.size[at] -= 1
    faces.rank[at] -= 1
    faces.updates[at] += 1


@compiled_in_place
def face_of(k: int, side: Array, faces: Faces, e: Array) -> int:
    """The place of the face of neuron k, brought up to date; −1 where there is no room."""
    at = k % len(faces.size)
    on = faces.on[at]
    for j in range(faces.size[at] - 1, -1, -1):
        if side[k, on[j]] != 0:
            remove(faces, at, j, e)
    missing = -faces.size[at]
    for here in side[k]:
        missing += here == 0
    if missing:
        for plane in range(len(e)):
            if side[k, plane] != 0:
                continue
            known = False
            for j in range(faces.size[at]):
                known = known or on[j] == plane
            if not known and not append(faces, at, plane, e):
                return -1
    return at


@compiled_in_place
def project(faces: Faces, at: int, vector: Array) -> None:
    """Project a vector, in place, on a face."""
    for i in range(faces.rank[at]):
        add(vector, -dot(faces.Q[at, i], vector), faces.Q[at, i])


@compiled_in_place
def unbounded(faces: Faces, at: int, g: Array, kappa: Array) -> None:
    """κ that makes ‖g + Σ κ e‖ smallest; 0 for normals that depend on the others."""
    Q, R, pivot, size = faces.Q[at], faces.R[at], faces.pivot[at], faces.size[at]
    for j in range(size - 1, -1, -1):
        row = pivot[j]
        kappa[j] = 0.0
        if row >= 0:
            total = -dot(Q[row], g)
            for later in range(j + 1, size):
                total -= R[row, later] * kappa[later]
            kappa[j] = total / R[row, j]


@compiled_in_place
def forget(place: Array, j: int) -> None:
    """Take entry j out of an array."""
    for i in range(j, len(place) - 1):
        place[i] = place[i + 1]


@compiled
def boxed(faces: Faces, at: int, e: Array, g: Array, on: Array, low: Array, high: Array) -> Array:
    """κ of the hyperplanes `on` of a face, in [low, high], that makes ‖g + Σ κ e‖ smallest.

    An active-set method (Stark & Parker 1995): a hyperplane at its bound is freed when the pull
    leads inside, and free ones are solved for together. The face is left with the free ones.
    """
    many = len(on)
    place = np.empty(many, np.int64)  # of the free hyperplanes in `on`
    kappa, trial, bound = np.empty(many), np.empty(many), np.empty(many, np.bool_)
    for j in range(many):
        place[j] = j
    unbounded(faces, at, g, kappa)
    size = np.sqrt(dot(g, g))
    for j in range(many - 1, -1, -1):
        if not low[j] < kappa[j] < high[j]:
            kappa[j] = min(max(kappa[j], low[j]), high[j])
            remove(faces, at, j, e)
            forget(place, j)
        size += abs(kappa[j])
    last = -1
    # In exact arithmetic it ends by itself; the bound is for cycles that rounding might cause.
    for _ in range(10 * many + 10):
        while True:
            free = faces.size[at]
            rest = g.copy()
            for j in range(many):
                bound[j] = True
            for f in range(free):
                bound[place[f]] = False
            for j in range(many):
                if bound[j]:
                    add(rest, kappa[j], e[on[j]])
            unbounded(faces, at, rest, trial)
            share, first = 1.0, -1
            for f in range(free):
                j = place[f]
                if low[j] <= trial[f] <= high[j]:
                    continue
                limit = low[j] if trial[f] < low[j] else high[j]
                part = (limit - kappa[j]) / (trial[f] - kappa[j])
                if part < share or first < 0:
                    share, first = part, f
            for f in range(free):
                kappa[place[f]] += share * (trial[f] - kappa[place[f]])
            if first < 0:
                break
            j = place[first]
            kappa[j] = low[j] if trial[first] < low[j] else high[j]
            remove(faces, at, first, e)
            forget(place, first)
        rest = g.copy()
        for j in range(many):
            add(rest, kappa[j], e[on[j]])
        worst, most = -1, 1e-14 * size
        for j in range(many):
            # One that was freed just now, and is at its bound again, was freed by rounding.
            if bound[j] and j != last and high[j] > low[j]:
                slope = dot(e[on[j]], rest)
                inward = -slope if kappa[j] <= low[j] else slope
                if inward > most:
                    worst, most = j, inward
        if worst < 0:
            break
        place[faces.size[at]] = worst
        append(faces, at, on[worst], e)
        last = worst
    return kappa
