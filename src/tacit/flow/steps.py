"""Steps of the flow: stages with fixed p, put together so that p follows the margins.

Explicit: the p of the middle of the step, found by half a step with the old p (second order).
Implicit: the p of the step's end, for the late phase, where p reacts to the margins ever faster
while the path itself becomes slow (the rates grow like log(1/L), the steps do not shrink).
"""

from __future__ import annotations

import numpy as np

from tacit.flow.stage import advance, projected, sliding, velocities
from tacit.flow.state import State
from tacit.flow.tail import Kind, Weights, weights

MOST_NEWTON = 40


def seen_by(state: State) -> np.ndarray:
    """Points that some neuron feels, also while it slides along their wall."""
    live = (state.a != 0) & state.W.any(axis=1)
    side = state.side[live]
    sliding = (side == 0)[:, state.walls.line] & (state.walls.r != 0)
    return ((state.walls.slopes(side) > 0) | sliding).any(axis=0)


def reaction(state: State, now: Weights) -> float:
    """How fast p answers to a change of p: Σ p_i bend_i ‖∂q_i‖², a bound of that rate."""
    walls = state.walls
    slopes = walls.slopes(state.side)
    t = slopes * (state.W @ walls.X.T)
    first = (state.copies * state.a**2) @ slopes**2 * walls.r**2
    second = state.copies @ t**2 if state.both else 0.0
    return float(now.p * now.bend @ (first + second))


def weigh(state: State, kind: Kind, q: np.ndarray | None = None) -> Weights:
    """p and the loss of the points that are seen; p = 0 for the others."""
    q = state.outputs() if q is None else q
    seen = seen_by(state)
    p, bend = np.zeros(len(q)), np.zeros(len(q))
    if not seen.any():
        return Weights(p, 0.0, bend)
    found = weights(q[seen], kind)
    p[seen], bend[seen] = found.p, found.bend
    return Weights(p, found.log_L, bend)


def explicit(state: State, now: Weights, h: float, kind: Kind) -> tuple[State, Weights, float]:
    """(state after h, its weights, the error of the step relative to the network)."""
    y, lengths = state.walls.y, np.abs(state.walls.r)
    half = state.copy()
    advance(half, now.p * y, h / 2)
    middle = weigh(half, kind)
    new = state.copy()
    advance(new, middle.p * y, h)
    end = weigh(new, kind)
    change = np.abs(end.p - now.p) @ lengths * h
    error = np.abs(now.p - 2 * middle.p + end.p) @ lengths * h + change**2
    return new, end, float(error)


def implicit(state: State, h: float, kind: Kind, guess: np.ndarray) -> State | None:
    """z₁ = stage(z₀, p(q₁), h) with q₁ the margins of z₁, by Newton's method from a guess of q₁."""
    y, q = state.walls.y, guess.copy()
    smallest, before, step, share = np.inf, q, np.zeros(0), 1.0
    rows = np.arange(0)
    for _ in range(MOST_NEWTON):
        w = weigh(state, kind, q)
        new = state.copy()
        advance(new, w.p * y, h)
        found = new.outputs()
        heavy = np.flatnonzero(w.p > 1e-13 * w.p.max())
        residual = found[heavy] - q[heavy]
        error = float(np.abs(residual).max())
        if error <= 1e-11 * max(1.0, float(np.abs(q[heavy]).max())):
            return new
        if error > smallest and share > 1e-3:  # too far: go back half of the way
            share /= 4
            q = before.copy()
            q[rows] += share * step
            continue
        smallest, before, rows, share = error, q, heavy, 1.0
        p, bend = w.p[rows], w.bend[rows]
        answer = _response(state, new, w.p * y, h, rows) @ (np.outer(p, p) - np.diag(p * bend))
        try:
            step = np.linalg.solve(answer - np.eye(len(rows)), -residual)
        except np.linalg.LinAlgError:
            return None
        q = found
        q[rows] = before[rows] + step
        if not np.isfinite(q).all():
            return None
    return None


def _response(state: State, new: State, c: np.ndarray, h: float, rows: np.ndarray) -> np.ndarray:
    """∂q₁/∂p for these points, from the derivative of the closed form (as if nothing were met)."""
    walls = state.walls
    X, y = walls.X[rows], walls.y[rows]
    g = velocities(state, c)
    # δg of neuron k for point i: y_i m_ki x_i, along the walls in which it slides
    push = walls.slopes(state.side)[:, rows, None] * (y[:, None] * X)
    for k in sliding(state):
        push[k] = projected(state, k, push[k])
    W, a = state.W, state.a
    if state.both:
        gamma = np.maximum(np.linalg.norm(g, axis=1), 1e-300)
        ghat = g / gamma[:, None]
        along = (ghat * W).sum(axis=1)
        C, S = np.cosh(gamma * h), np.sinh(gamma * h)
        d_gamma = np.einsum("kid,kd->ki", push, ghat)
        turn = (push - d_gamma[:, :, None] * ghat[:, None]) / gamma[:, None, None]
        d_along = np.einsum("kid,kd->ki", turn, W)
        dC, dS = (S * h)[:, None] * d_gamma, (C * h)[:, None] * d_gamma
        part = dC * along[:, None] + (C - 1)[:, None] * d_along + dS * a[:, None]
        dW = turn * ((C - 1) * along + S * a)[:, None, None] + part[:, :, None] * ghat[:, None]
        da = a[:, None] * dC + d_along * S[:, None] + along[:, None] * dS
    else:
        dW, da = push * (a * h)[:, None, None], np.zeros(push.shape[:2])
    slopes = walls.slopes(new.side)[:, rows] * new.copies[:, None]
    direct = np.einsum("kj,ki->ji", slopes * (new.W @ X.T), da)
    turned = np.einsum("kj,kid,jd->ji", slopes * new.a[:, None], dW, X, optimize=True)
    return y[:, None] * (direct + turned)
