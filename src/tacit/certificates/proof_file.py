"""The proof of an optimum as data, for `tacit verify` to check in exact arithmetic.

Nothing is taken over from the solvers but a network and λ; a z is found for every cell on which
λ alone exceeds the bound. The file is checked before it is handed out, and claims just what the
check has proved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.certificates.optima import ClassOptimum, Optimum
from tacit.numerics.arrangements import cells
from tacit.numerics.convex_program import OptimumStatus
from tacit.numerics.float64 import LARGEST
from tacit.numerics.pricing import function, price
from tacit.proofs import MOST_BYTES, Verification, verify, write_proof
from tacit.values import BadInput

SIGNS = np.array(["-", "0", "+"])


def proof_of(optimum: Optimum) -> tuple[bytes, Verification]:
    """The bytes of the proof file, and what they prove.

    Where the arrangement was too large to enumerate, the file may prove a smaller lower bound than
    the optimum has, since it uses the bound by subsets only.

    Parameters
    ----------
    optimum : Optimum
        What `tacit.optimum` returned. BadInput is raised when there is nothing to prove.

    Returns
    -------
    tuple of bytes and Verification

    Examples
    --------
    >>> import tacit
    >>> raw, verification = proof_of(tacit.optimum(tacit.load("xor")))
    >>> verification.verified
    True
    """
    if len(optimum.signs) == 1:
        raise BadInput("a proof is about networks with both signs of output weights")
    for part in optimum.per_class:
        if part.status != OptimumStatus.INFEASIBLE and part.network.width == 0:
            raise BadInput("no network that fits was found, so there is nothing to prove yet")
    content: dict[str, Any] = {
        "alpha": optimum.setting.alpha,
        "train": optimum.setting.train,
        "output_weight": optimum.output_weight,
        "units": optimum.units,
        "X": optimum.data.X.tolist(),
        "classes": list(optimum.data.classes) or None,
        "problems": [_problem(optimum, part) for part in optimum.per_class],
        "lower": None,
        "upper": None,
    }
    if optimum.status != OptimumStatus.INFEASIBLE:  # claims that are true whatever is proved
        content |= {"lower": 0.0, "upper": LARGEST}
    verification = verify(write_proof(content))
    if not verification.verified:
        raise AssertionError(f"the proof does not hold: {verification.reason}")
    if verification.objective_bounds is not None:
        lower, upper = verification.objective_bounds
        content |= {"lower": lower, "upper": upper}
    raw = write_proof(content)
    if len(raw) > MOST_BYTES:
        raise BadInput(f"the proof has {len(raw):,} bytes; at most {MOST_BYTES:,} can be verified")
    return raw, verification


def _problem(optimum: Optimum, part: ClassOptimum) -> dict[str, Any]:
    y = [int(label) for label in part.y]
    if part.exact is not None:
        dual = [str(part.exact.get(i, 0)) for i in range(len(y))]
        return {"y": y, "status": "infeasible", "dual": dual}
    W, a = part.network.W.tolist(), part.network.a.tolist()
    return {
        "y": y,
        "status": "optimum",
        "neurons": [{"w": w, "a": weight} for w, weight in zip(W, a, strict=True)],
        "dual": part.dual.tolist(),
        "method": "cells" if part.cells else "subsets",
        "multipliers": _multipliers(optimum, part) if part.cells else [],
    }


def _multipliers(optimum: Optimum, part: ClassOptimum) -> list[dict[str, Any]]:
    """A z for every cell on which λ alone exceeds the bound."""
    rows, alpha = np.flatnonzero(part.dual), optimum.setting.alpha
    X = optimum.data.X[rows]
    X = np.ldexp(X, -int(np.frexp(np.abs(X).max())[1]))  # a power of two: ties stay ties
    all_cells = cells(X)
    entries = []
    for s in (1, -1):
        c = s * part.dual[rows] * part.y[rows]
        floor = _reached(X, c, alpha, part.network.W[np.sign(part.network.a) == s])
        priced = price(X, c, alpha, all_cells, floor)
        for cell, z in zip(priced.cells, priced.z, strict=True):
            used = np.flatnonzero(z)
            if len(used):
                pairs = [[int(rows[i]), float(z[i])] for i in used]
                entries.append({"sign": s, "cell": "".join(SIGNS[cell + 1]), "z": pairs})
    return entries


def _reached(X: np.ndarray, c: np.ndarray, alpha: float, W: np.ndarray) -> float:
    """The largest value that the network's own neurons reach; cells below it need no z."""
    lengths = np.linalg.norm(W, axis=1)
    values = [function(X, c, alpha, w / r) for w, r in zip(W, lengths, strict=True) if r > 0]
    return max([*values, 1e-9 * float(np.abs(c).sum())]) * (1 - 1e-12)
