"""The arithmetic of Newton's method in an implicit step: `steps.implicit` has the equations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.flow._krylov import Response, gmres
from tacit.flow._tail import margin_at, terms
from tacit.flow.tolerances import STEP
from tacit.numerics.compiled import compiled

NEWTON, MOST_NEWTON, LIGHT, LEAST_LOG = STEP.newton, STEP.most_newton, STEP.light, STEP.least_log
FAR_TOTAL, FLAT, FAR_BELOW = STEP.far_total, STEP.flat, STEP.far_below
LIGHT_ANSWER, HEAVY, MOST_ROUNDS = STEP.light_answer, STEP.heavy, STEP.most_rounds
LARGE, KRYLOV, MOST_KRYLOV = STEP.large, STEP.krylov, STEP.most_krylov
Array = np.ndarray


class Mismatch(NamedTuple):
    """How far log p and the margins that p has led to are from each other."""

    level: float
    """log L, where it fits best."""
    implied: Array
    """log p by the margins."""
    rows: Array
    """The samples that are solved for: all but those that are light by p and by the margins."""
    bend: Array
    ratio: Array
    """ℓ/|ℓ'| of these samples."""
    residual: Array
    """That of each of these samples, and that of Σ p ρ = 1."""
    error: float
    top: float
    """The largest log p by the margins."""


class Segment:
    """One of Newton's steps, and what is left of the residual along it.

    Where a neuron meets a hyperplane on one part of the step and not on the other, the residual
    bends so much that Newton's steps lead to and fro. Its zero along the step is looked for then.
    """

    def __init__(self, p: Array, found: Mismatch, before: Segment | None) -> None:
        self.p, self.found, self.looked = p, found, 0
        self.least: float = min(found.error, before.least if before else math.inf)
        self.ends = [(p, found.level, 1.0)]

    def share(self, p: Array, found: Mismatch) -> float:
        """Where to look next, as a share of what is left of the step; 0 where this is good."""
        one = self.found
        left = left_over(self.p, one.rows, one.residual, found.rows, found.residual, one.error)
        most = STEP.overshoot if self.looked else math.inf
        good = -STEP.overshoot <= left <= most and found.error <= STEP.rise * self.least
        if good or self.looked == STEP.most_looks:
            return 0.0
        self.looked += 1
        at = p, found.level, left
        if left >= 0 and len(self.ends) > 1:
            self.ends[0] = at
        else:
            self.ends[1:] = [at]
        near, far = self.ends[0][2], self.ends[1][2]
        return min(max(near / (near - far), 0.1), 0.9) if far < 0 else 0.5

    def between(self, share: float) -> tuple[Array, float]:
        """log p there, and log L. Between p, not log p: a sample that was sent to 0 would stay."""
        (p, level, _), (far, deep, _) = self.ends
        return np.log((1 - share) * p + share * far), (1 - share) * level + share * deep


@compiled
def left_over(
    p: Array, rows: Array, residual: Array, later: Array, left: Array, error: float
) -> float:
    """What is left of a residual along itself: 1 where it is as it was, 0 after a good step."""
    now, inner, square = np.zeros(len(p)), 0.0, 0.0
    for j in range(len(later)):
        now[later[j]] = left[j] / error
    for j in range(len(rows)):
        r = residual[j] / error
        inner += p[rows[j]] * r * now[rows[j]]
        square += p[rows[j]] * r * r
    return inner / max(square, 1e-300)


@compiled
def scaled(u: Array, seen: Array, ratio: Array) -> Array:
    """p of these log p, which are scaled first where Σ p ρ is far from 1, as it is in the end."""
    total = 0.0
    for i in range(len(u)):
        if seen[i]:
            total += np.exp(u[i]) * ratio[i]
    total = np.log(max(total, 1e-300))
    if abs(total) > FAR_TOTAL:
        for i in range(len(u)):
            if seen[i]:
                u[i] -= total
    return np.exp(u)


@compiled
def compare(
    u: Array, p: Array, q: Array, seen: Array, rest: Array, predicted: float, exponential: bool
) -> Mismatch:
    """Compare u = log p with what the margins imply, and log L with what was predicted."""
    log_values, log_slopes, bend = terms(q, exponential)
    total, level, count, top = 0.0, 0.0, 0, -np.inf
    for i in range(len(u)):
        if seen[i]:
            level += p[i] * (log_slopes[i] - u[i])
            total += p[i]
    level /= total
    implied, rows = rest.copy(), np.empty(len(u), np.int64)
    for i in range(len(u)):
        if seen[i]:
            implied[i] = max(log_slopes[i] - level, LEAST_LOG)
            top = max(top, implied[i])
            if max(u[i], implied[i]) > LIGHT:
                rows[count] = i
                count += 1
    rows = rows[:count].copy()
    wrong, below = log_slopes - level - u, False
    for j in range(count):
        i = rows[j]
        wanted = margin_at(u[i] + predicted, exponential)
        below = below or (bend[i] < FLAT and wanted > q[i] + FAR_BELOW)
    if below:
        # p hardly answers to margins that are far below 0. There Newton's method starts from the
        # margin that belongs to p, not from that to which p has led.
        level, at = predicted, q.copy()
        for i in range(len(q)):
            at[i] = max(q[i], margin_at(u[i] + predicted, exponential))
        log_values, log_slopes, bend = terms(at, exponential)
        wrong = np.where(at > q, bend * (at - q), log_slopes - level - u)
    ratio = np.exp((log_values - log_slopes)[rows])
    residual, error, total = np.empty(count + 1), 0.0, 0.0
    residual[count] = 1.0
    for j in range(count):
        weight, residual[j] = p[rows[j]], wrong[rows[j]]
        residual[count] -= weight * ratio[j]
        error += weight * abs(residual[j])
        total += weight
    error = error / total + abs(residual[count])
    return Mismatch(level, implied, rows, bend, ratio, residual, error, top)


@compiled
def improve(rate: Array, at: Array, h: float, p: Array, found: Mismatch) -> tuple[Array, float]:
    """log p after Newton's step from p, and by how much log L rises.

    It solves δu + bend·δq + δℓ = the residual of every sample, with Σ p ρ kept at 1. The margins of
    the rows answer to p at this rate over h, which has them at these places.
    """
    rows, ratio, residual, n = found.rows, found.ratio, found.residual, len(found.rows)
    both, bend, weight = np.ones((n, 2)), found.bend[rows], p[rows]
    both[:, 0] = residual[:n]
    pushed, spread, stiff = h * weight, np.zeros(len(rate)), np.empty(n)  # δq = rate pushed δu
    for i in range(n):
        spread[at[i]] = weight[i] * (ratio[i] * bend[i] - 1)
        stiff[i] = bend[i] * rate[at[i], at[i]] * h
    below = weight * ratio + pushed * np.dot(spread, rate)[at]
    solved = _solve(Response(rate, at, bend, pushed), both)
    one, other = -residual[n], 0.0
    for i in range(n):
        one += below[i] * solved[i, 0]
        other += below[i] * solved[i, 1]
    rise = one / other
    u, step = np.empty(n), np.empty(n)
    for i in range(n):
        u[i] = max(np.log(p[rows[i]]), LEAST_LOG)
        step[i] = solved[i, 0] - solved[i, 1] * rise
    new = found.implied.copy()
    new[rows] = moved(u, step, stiff)
    return new, rise


@compiled
def _solve(response: Response, both: Array) -> Array:
    """The solutions of Newton's two systems.

    While many samples are not fitted yet all of them count, but most answer to a few directions
    alone: then Krylov's space is small. Else light samples change hardly anything: iterations put
    them right.
    """
    n, count = len(both), 0
    if n > LARGE:
        first, found = gmres(response, np.ascontiguousarray(both[:, 0]), KRYLOV, MOST_KRYLOV)
        if found:
            second, found = gmres(response, np.ascontiguousarray(both[:, 1]), KRYLOV, MOST_KRYLOV)
            if found:
                return np.column_stack((first, second))
    matrix = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            answer = response.rate[response.at[i], response.at[j]] * response.pushed[j]
            matrix[i, j] = response.bend[i] * answer
        matrix[i, i] += 1
    heavy, light = np.empty(n, np.int64), np.empty(n, np.int64)
    for j in range(n):
        most = abs(matrix[j, j] - 1)
        for i in range(n):
            most = max(most, abs(matrix[i, j]) if i != j else 0.0)
        if most > HEAVY:
            heavy[count] = j
            count += 1
        else:
            light[j - count] = j
    heavy, light = heavy[:count], light[: n - count]
    if 3 * count < 2 * n:
        inner, outer = np.empty((count, count)), np.empty((n - count, count))
        for j in range(count):
            for i in range(count):
                inner[i, j] = matrix[heavy[i], heavy[j]]
            for i in range(n - count):
                outer[i, j] = matrix[light[i], heavy[j]]
        inverse = np.linalg.solve(inner, np.eye(count))
        solved, rest = np.zeros(both.shape), both.copy()
        for _ in range(MOST_ROUNDS):
            part = np.dot(inverse, rest[heavy])
            other = rest[light] - np.dot(outer, part)
            for i in range(count):
                solved[heavy[i]] += part[i]
            for i in range(n - count):
                solved[light[i]] += other[i]
            rest = both - np.dot(matrix, solved)
            if np.abs(rest).max() <= NEWTON * np.abs(both).max():
                return solved
    return np.linalg.solve(matrix, both)


@compiled
def moved(u: Array, step: Array, stiff: Array) -> Array:
    """log p after Newton's step, which is made in v = stiff·p + log p.

    A sample is one of the nearest, and its p is what has to change, or it is not, and its margin
    is. In v each of the two is linear in its own way, and a sample may become the other in one
    step, as in active-set methods; steps of log p alone would have to be short.
    """
    least, new = LIGHT_ANSWER * max(stiff.max(), 0.0) + 1e-300, np.empty(len(u))
    for i in range(len(u)):
        steep = max(stiff[i], least)
        v = max(steep * np.exp(u[i]) * (1 + step[i]) + u[i] + step[i], LEAST_LOG)
        # steep e^x + x is convex in x: Newton's method from above falls to its root.
        x = min(v, np.log(v) - np.log(steep)) if v > 1 else v
        for _ in range(MOST_NEWTON):
            rate = steep * np.exp(x)
            change = (v - rate - x) / (1 + rate)
            x += change
            if abs(change) < NEWTON:
                break
        new[i] = x
    return new
