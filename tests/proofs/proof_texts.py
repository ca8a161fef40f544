"""True proofs for small problems, made by a convex program over all cells and by nnls."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import nnls

from tacit.proofs import Verification, float_above, float_below, verify, write_proof
from tacit.proofs.arrangement import cells, lines_of
from tacit.proofs.exact import Budget, whole


def signs_of(X: np.ndarray) -> np.ndarray:
    """The signs of the rows of X on every cell (0 for rows of zeros)."""
    lines = lines_of(whole(X)[0])
    masks = cells(lines, Budget(), "test")
    bits = np.column_stack([lines.bits(masks).astype(int), np.zeros(len(masks), dtype=int)])
    return (2 * bits[:, lines.line] - 1) * np.sign(np.array(lines.factor, dtype=object)).astype(int)


def text_of(signs: np.ndarray) -> str:
    return "".join("-0+"[sign + 1] for sign in signs)


def problem(y: Any, neurons: Any, dual: Any, multipliers: Any = (), method: str = "cells") -> dict:
    return {
        "y": [int(label) for label in y],
        "status": "optimum",
        "neurons": [{"w": [float(v) for v in w], "a": float(a)} for w, a in neurons],
        "dual": [float(value) for value in dual],
        "method": method,
        "multipliers": list(multipliers),
    }


def infeasible(y: Any, dual: Any) -> dict:
    return {"y": [int(label) for label in y], "status": "infeasible", "dual": list(dual)}


def content(X: Any, problems: Any, alpha: float = 0.0, **changes: Any) -> dict[str, Any]:
    hopeless = any(p["status"] == "infeasible" for p in problems)
    return {
        "alpha": alpha,
        "train": "both",
        "output_weight": None,
        "units": None,
        "X": [[float(v) for v in row] for row in X],
        "classes": None,
        "problems": list(problems),
        "lower": None if hopeless else 0.0,
        "upper": None if hopeless else 1e300,
    } | changes


def judge(entries: dict[str, Any], folder: Path) -> Verification:
    """Write the proof with a true digest and verify it."""
    path = folder / "proof.json"
    path.write_bytes(write_proof(entries))
    return verify(path)


def claimed(entries: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same proof with the tightest claims that it supports."""
    verification = judge(entries, folder)
    assert verification.verified, verification.reason
    assert verification.exact_bounds is not None
    lower, upper = verification.exact_bounds
    return {**entries, "lower": float_below(lower), "upper": float_above(upper)}


def rejected(entries: dict[str, Any], folder: Path, *words: str) -> str:
    verification = judge(entries, folder)
    assert not verification.verified and not verification.infeasible
    assert verification.exact_bounds is None
    assert "\n" not in verification.reason
    for word in words:
        assert word in verification.reason, verification.reason
    return verification.reason


def changed(entries: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one entry changed; the path reads like `problems.0.dual.2`."""
    entries = copy.deepcopy(entries)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = entries
    for step in way:
        place = place[step]
    place[last] = value
    return entries


def text(entries: dict[str, Any]) -> str:
    """The JSON of a proof after its first line."""
    return write_proof(entries).split(b"\n", 1)[1].decode()


def multipliers(X: np.ndarray, y: np.ndarray, dual: np.ndarray, alpha: float) -> list[dict]:
    """The best z for each sign and each cell of the support points that needs one."""
    support = np.flatnonzero(dual)
    priced: list[tuple[float, float, dict]] = []
    for signs in signs_of(X[support]):
        slopes = np.where(signs > 0, 1, alpha)
        for sign in (1, -1):
            g = sign * (dual[support] * y[support] * slopes) @ X[support]
            z, height = nnls((signs[:, None] * X[support]).T, -g)
            pairs = [[int(support[k]), float(z[k])] for k in np.flatnonzero(z)]
            entry = {"sign": sign, "cell": text_of(signs), "z": pairs}
            priced.append((float(np.linalg.norm(g)), float(height), entry))
    peak = max(height for _, height, _ in priced)
    return [entry for norm, _, entry in priced if norm > peak]


def solved(X: np.ndarray, y: np.ndarray, alpha: float) -> dict[str, Any]:
    """A proof (without claims) of the optimum for both layers."""
    S = signs_of(X)
    U, V = cp.Variable((len(S), X.shape[1])), cp.Variable((len(S), X.shape[1]))
    slopes = np.where(S > 0, 1, alpha)
    margins = cp.multiply(y, cp.sum(cp.multiply(slopes, (U - V) @ X.T), axis=0))
    fits = margins >= 1
    inside = [cp.multiply(S, weights @ X.T) >= 0 for weights in (U, V)]
    size = cp.sum(cp.norm(U, 2, axis=1)) + cp.sum(cp.norm(V, 2, axis=1))
    cp.Problem(cp.Minimize(size), [fits, *inside]).solve(solver=cp.CLARABEL)
    dual = np.maximum(fits.dual_value, 0)
    dual[dual < 1e-6 * dual.max()] = 0
    values = [(w, a) for weights, a in ((U, 1), (V, -1)) for w in weights.value]
    neurons = [(w, a) for w, a in values if np.linalg.norm(w) > 1e-7]
    return content(X, [problem(y, neurons, dual, multipliers(X, y, dual, alpha))], alpha)


def one_point(alpha: float = 0.25) -> dict[str, Any]:
    """x = (3, 4), y = 1: the optimum is 1/‖x‖ = 0.2."""
    push = [{"sign": -1, "cell": "+", "z": [[0, 1.0]]}]
    return content([[3, 4]], [problem([1], [([3, 4], 1)], [1], push)], alpha)


def three_classes() -> dict[str, Any]:
    """The three unit vectors, each a class of its own; every class has the optimum 1 + √2."""
    X = np.eye(3)
    problems = []
    for k in range(3):
        y = np.where(np.arange(3) == k, 1, -1)
        rest = 1.0 - X[k]
        dual = np.where(y > 0, 1, np.sqrt(0.5))
        problems.append(problem(y, [(X[k], 1), (rest, -1)], dual, method="subsets"))
    return content(X, problems, classes=["a", "b", "c"])


def reloaded(raw: bytes) -> dict[str, Any]:
    entries = json.loads(raw)
    del entries["sha256"]
    return entries
