"""The proof of an optimum as data, for `tacit verify` to check in exact arithmetic.

Nothing is taken over from the solvers but a network and λ; that λ proves what it should is shown on
all cells, by sets of points, or by a tree of half-spaces. The file is checked before it is handed
out, and claims just what the check has proved.
"""

import math
from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tacit.certificates.optima import ClassOptimum, Optimum
from tacit.numerics.arrangements import cells
from tacit.numerics.branch_and_bound import Branching
from tacit.numerics.convex_program import OptimumStatus
from tacit.numerics.float64 import LARGEST
from tacit.numerics.neurons import near_one
from tacit.numerics.outer_bounds import subsets_bound
from tacit.numerics.pricing import function, price
from tacit.numerics.tolerances import TREE_PROOF
from tacit.numerics.tree_proof import tree_proof
from tacit.proofs import MOST_BYTES, MOST_SETS, Verification, verify, write_proof
from tacit.values import BadInput

SIGNS = "-0+"
ATTEMPTS: tuple[tuple[str, float], ...] = (
    ("few cells", 0.0),
    ("subsets", 1e-9),
    ("trees", 5e-10),
    ("trees", 4e-9),
    ("trees", 1e-8),
    ("trees", 1e-6),
    ("cells", 0.0),
    ("trees", 0.01),
    ("trees", 0.1),
    ("trees", 1.0),
    ("subsets", math.inf),
)
"""Methods, and the share by which a peak may be above what it should be: trees that floats close
just so may need more room to be checked."""
NEGLIGIBLE = 1e-3
"""The share of the gap that a proof may lose. One that loses less has to be small: where bounds are
far apart, large ones take long."""
FEW_CELLS = 2000
"""Cells of which there are no more are quicker to check than a tree is to make."""
FEW_SETS = 50
"""Branchings of the bound by subsets, which is sharp at once or not at all."""
ENOUGH = 1e-9
"""A file that proves the lower bound up to this share is not improved upon."""
SECONDS = 20.0
"""For the peaks of a network whose output layer is fixed."""


class Attempt(NamedTuple):
    """A method, its slack, its deadline and how many sets of points it looks at for each bound."""

    method: str
    slack: float
    until: float
    sets: int = MOST_SETS


LAST = Attempt("subsets", math.inf, math.inf, sets=1)
"""Quick, and works always, so it needs no deadline; for where nothing else has."""


def attempts_until(until: float) -> Iterator[Attempt]:
    """Every attempt in turn but those not begun at the deadline, and the last one."""
    for method, slack in ATTEMPTS:
        if perf_counter() < until:
            yield Attempt(method, slack, until)
    yield LAST


def proof_of(optimum: Optimum, seconds: float = math.inf) -> tuple[bytes, Verification]:
    """The bytes of the proof file, and what they prove.

    Cells, sets of points and trees of half-spaces are tried in turn, until the file proves the
    lower bound that the optimum has. Where each of these would be too large to be verified, or
    would take too long, it proves less.

    Parameters
    ----------
    optimum : Optimum
        What `tacit.optimum` returned. BadInput is raised when there is nothing to prove.
    seconds : float
        About how long it may take.

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
    attempts: list[tuple[bytes, Verification]] = []
    refused: BadInput | None = None
    problems: list[dict[str, Any] | None] = [None for _ in optimum.per_class]
    until = perf_counter() + seconds
    for attempt in attempts_until(until):
        if attempts and attempt is LAST:
            break
        new = [problem_of(optimum, part, attempt) for part in optimum.per_class]
        problems = [one or old for one, old in zip(new, problems, strict=True)]
        ready = [problem for problem in problems if problem is not None]
        if len(ready) < len(problems) or not any(new):
            continue
        try:
            attempts.append(_verified(optimum, ready, attempt))
        except BadInput as error:  # too large to be verified, or in this time
            refused = error
            continue
        proved = attempts[-1][1].objective_bounds
        if proved is None or proved.lower >= (1 - ENOUGH) * optimum.objective_bounds.lower:
            break
        if perf_counter() > until:
            break
    if not attempts:
        raise refused or BadInput("no proof was found that can be verified")
    return max(attempts, key=lambda one: (one[1].objective_bounds or (0.0, 0.0))[0])


def _verified(
    optimum: Optimum, problems: list[dict[str, Any]], attempt: Attempt
) -> tuple[bytes, Verification]:
    """The file with these problems, and what it proves, which is what it claims."""
    content: dict[str, Any] = {
        "alpha": optimum.setting.alpha,
        "train": optimum.setting.train,
        "output_weight": optimum.output_weight,
        "units": optimum.units,
        "X": optimum.data.X.tolist(),
        "classes": list(optimum.data.classes) or None,
        "problems": problems,
        "lower": None,
        "upper": None,
    }
    if optimum.status != OptimumStatus.INFEASIBLE:  # claims that are true whatever is proved
        content |= {"lower": 0.0, "upper": LARGEST}
    # Twice: what is proved is known only after a check, and the file claims just that.
    left = attempt.until - perf_counter()
    verification = verify(write_proof(content), seconds=left, sets=attempt.sets)
    if not verification.verified:
        raise BadInput(f"the proof does not hold: {verification.reason}")
    if verification.objective_bounds is not None:
        lower, upper = verification.objective_bounds
        content |= {"lower": lower, "upper": upper}
    raw = write_proof(content)
    if len(raw) > MOST_BYTES:
        raise BadInput(f"the proof has {len(raw):,} bytes; at most {MOST_BYTES:,} can be verified")
    return raw, verification


def problem_of(optimum: Optimum, part: ClassOptimum, attempt: Attempt) -> dict[str, Any] | None:
    """One problem by this method; None where it is not for this one, or takes too long."""
    method, slack, until, _ = attempt
    y = [int(label) for label in part.y]
    if part.exact is not None:
        dual = [str(part.exact.get(i, 0)) for i in range(len(y))]
        return {"y": y, "status": "infeasible", "dual": dual}
    multipliers: list[dict[str, Any]] | None = []
    if method in ("cells", "few cells"):
        few = part.cells is not None and (method == "cells" or part.cells <= FEW_CELLS)
        multipliers = _multipliers(optimum, part) if few else None
    elif method == "trees":
        multipliers = _trees(optimum, part, slack, until)
    elif not _by_subsets(optimum, part, slack):
        multipliers = None
    if multipliers is None:
        return None
    W, a = part.network.W.tolist(), part.network.a.tolist()
    return {
        "y": y,
        "status": "optimum",
        "neurons": [{"w": w, "a": weight} for w, weight in zip(W, a, strict=True)],
        "dual": part.dual.tolist(),
        "method": method.removeprefix("few "),
        "multipliers": multipliers,
    }


def _trees(
    optimum: Optimum, part: ClassOptimum, slack: float, until: float
) -> list[dict[str, Any]] | None:
    """The tree of each sign. With both layers free λ is such that both peaks are 1."""
    left = until - perf_counter()
    made = perf_counter() + left / 2  # to check a tree takes about as long as to make it
    rows, alpha = np.flatnonzero(part.dual), optimum.setting.alpha
    X, shift = near_one(optimum.data.X[rows])
    dual, more = near_one(part.dual[rows])
    trees = []
    for s in (1, -1):
        c = s * dual * part.y[rows]
        peak = float(np.ldexp(1.0, -shift - more))
        if optimum.setting.train == "first":
            floor = _reached(X, c, alpha, part.network.W[np.sign(part.network.a) == s])
            peak = Branching(X, c, alpha).maximum(floor, seconds=min(SECONDS, left / 4)).bound
        peak *= 1 + slack
        most = TREE_PROOF.few_numbers if slack < NEGLIGIBLE * optimum.gap else None
        nodes = tree_proof(X, c, alpha, peak, rows, most_numbers=most, until=made)
        if nodes is None:
            return None
        trees.append({"sign": s, "peak": float(np.ldexp(peak, shift + more)), "nodes": nodes})
    return trees


def _by_subsets(optimum: Optimum, part: ClassOptimum, slack: float) -> bool:
    """Sets of points prove that both peaks are 1, or it does not matter (an infinite slack)."""
    rows = np.flatnonzero(part.dual)
    X, shift = near_one(optimum.data.X[rows])
    c, more = near_one(part.dual[rows] * part.y[rows])
    if math.isinf(slack) or optimum.setting.train == "first":
        return True
    bound = max(subsets_bound(X, s * c, optimum.setting.alpha, FEW_SETS) for s in (1, -1))
    return bound <= float(np.ldexp(1 + slack, -shift - more))


def _multipliers(optimum: Optimum, part: ClassOptimum) -> list[dict[str, Any]]:
    """A z for every cell on which λ alone exceeds the bound."""
    rows, alpha = np.flatnonzero(part.dual), optimum.setting.alpha
    X, _ = near_one(optimum.data.X[rows])
    all_cells = cells(X)
    c = {s: s * part.dual[rows] * part.y[rows] for s in (1, -1)}
    signs = np.sign(part.network.a)
    floors = {s: _reached(X, c[s], alpha, part.network.W[signs == s]) for s in (1, -1)}
    if optimum.setting.train == "both":  # only the larger of the two counts
        floors = dict.fromkeys(floors, max(floors.values()))
    entries = []
    for s in (1, -1):
        priced = price(X, c[s], alpha, all_cells, floors[s])
        for cell, z in zip(priced.cells, priced.z, strict=True):
            used = np.flatnonzero(z)
            if len(used):
                pairs = [[int(rows[i]), float(z[i])] for i in used]
                entries.append({"sign": s, "cell": cell_text(cell), "z": pairs})
    return entries


def cell_text(cell: np.ndarray) -> str:
    """The signs of a cell. Not by an array of texts: while NumPy reads one, interrupts are lost."""
    return "".join(SIGNS[sign + 1] for sign in cell.tolist())


def _reached(X: np.ndarray, c: np.ndarray, alpha: float, W: np.ndarray) -> float:
    """The largest value that the network's own neurons reach; cells below it need no z."""
    lengths = np.linalg.norm(W, axis=1)
    values = [function(X, c, alpha, w / r) for w, r in zip(W, lengths, strict=True) if r > 0]
    # A little less than reached, so that cells which tie with it get a z; without neurons of this
    # sign, what is still above rounding.
    return max([*values, 1e-9 * float(np.abs(c) @ np.linalg.norm(X, axis=1))]) * (1 - 1e-12)
