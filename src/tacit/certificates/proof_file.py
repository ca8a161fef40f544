"""The proof of an optimum as data, for `tacit verify` to check in exact arithmetic.

Nothing is taken over from the solvers but a network and λ; a z is found for every cell on which
λ alone exceeds the bound. The file is checked before it is handed out, and claims just what the
check has proved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.certificates.optima import Best, Problem
from tacit.numerics.arrangements import cells
from tacit.numerics.pricing import function, price
from tacit.proofs import MOST_BYTES, Verdict, float_above, float_below, verify_bytes, write_proof
from tacit.values import BadInput

SIGNS = np.array(["-", "0", "+"])


def proof_of(best: Best) -> tuple[bytes, Verdict]:
    """The bytes of the proof file, and what they prove; BadInput when there is nothing to prove.

    Where the arrangement was too large to enumerate, the file may prove a smaller lower bound than
    `best` has: it uses the bound by subsets only.
    """
    if len(best.signs) == 1:
        raise BadInput("a proof is about networks with both signs of output weights")
    if any(problem.status != "infeasible" and len(problem.a) == 0 for problem in best.problems):
        raise BadInput("--proof: no network that fits was found, so there is nothing to prove yet")
    content: dict[str, Any] = {
        "alpha": best.alpha,
        "train": best.train,
        "output_weight": best.output_weight,
        "units": best.units,
        "X": best.data.X.tolist(),
        "classes": list(best.data.classes) or None,
        "problems": [_problem(best, problem) for problem in best.problems],
        "lower": None,
        "upper": None,
    }
    if best.status != "infeasible":
        content |= {"lower": 0.0, "upper": float(np.finfo(float).max)}
    verdict = verify_bytes(write_proof(content))
    if not verdict.verified:
        raise AssertionError(f"the proof does not hold: {verdict.reason}")
    if verdict.lower is not None and verdict.upper is not None:
        content |= {"lower": float_below(verdict.lower), "upper": float_above(verdict.upper)}
    raw = write_proof(content)
    if len(raw) > MOST_BYTES:
        raise BadInput(f"the proof has {len(raw):,} bytes; at most {MOST_BYTES:,} can be verified")
    return raw, verdict


def _problem(best: Best, problem: Problem) -> dict[str, Any]:
    y = [int(label) for label in problem.y]
    if problem.exact is not None:
        dual = [str(problem.exact.get(i, 0)) for i in range(len(y))]
        return {"y": y, "status": "infeasible", "dual": dual}
    return {
        "y": y,
        "status": "optimum",
        "neurons": [
            {"w": w, "a": a} for w, a in zip(problem.W.tolist(), problem.a.tolist(), strict=True)
        ],
        "dual": problem.dual.tolist(),
        "method": "cells" if problem.cells else "subsets",
        "multipliers": _multipliers(best, problem) if problem.cells else [],
    }


def _multipliers(best: Best, problem: Problem) -> list[dict[str, Any]]:
    rows = np.flatnonzero(problem.dual)
    X = best.data.X[rows]
    X = np.ldexp(X, -int(np.frexp(np.abs(X).max())[1]))  # a power of two: ties stay ties
    all_cells = cells(X)
    found = []
    for s in (1, -1):
        c = s * problem.dual[rows] * problem.y[rows]
        floor = _reached(X, c, best.alpha, problem.W[np.sign(problem.a) == s])
        priced = price(X, c, best.alpha, all_cells, floor)
        for cell, z in zip(priced.cells, priced.z, strict=True):
            used = np.flatnonzero(z)
            if len(used):
                found.append(
                    {
                        "sign": s,
                        "cell": "".join(SIGNS[cell + 1]),
                        "z": [[int(rows[i]), float(z[i])] for i in used],
                    }
                )
    return found


def _reached(X: np.ndarray, c: np.ndarray, alpha: float, W: np.ndarray) -> float:
    """What the network's own neurons make of λ: nothing below that has to be looked at."""
    lengths = np.linalg.norm(W, axis=1)
    values = [function(X, c, alpha, w / r) for w, r in zip(W, lengths, strict=True) if r > 0]
    return max([*values, 1e-9 * float(np.abs(c).sum())]) * (1 - 1e-12)
