"""The proof of a limit as data, for `tacit verify` to check in exact arithmetic.

Nothing is taken over but the stored weights, λ and the directions; what λ proves is shown as in the
proof of an optimum, and that it is lower far from the directions by two more trees. The file is
checked before it is handed out, and claims just what the check has proved.
"""

import math
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from tacit.certificates.optima import ClassOptimum, Optimum
from tacit.certificates.proof_file import ENOUGH, FEW_CELLS, LAST, attempts_until, problem_of
from tacit.certificates.proved_end import ProvedEnd, Tail, cap_cosine, far_tree, out_of_play
from tacit.numerics.arrangements import cover
from tacit.numerics.convex_program import OptimumStatus
from tacit.numerics.float64 import LARGEST
from tacit.proofs import (
    LIMIT_FORMAT,
    LIMIT_KEYS,
    MOST_BYTES,
    Verification,
    float_below,
    verify,
    write_proof,
)
from tacit.values import BadInput, Dataset, Interval, Setting
from tacit.values.arguments import is_real


def limit_proof_of(
    data: Dataset,
    setting: Setting,
    tail: Tail,
    ends: Sequence[ProvedEnd | None],
    seconds: float = math.inf,
) -> tuple[bytes, Verification]:
    """The bytes of the proof file, and what they prove.

    There is one end for two classes, else one for each class against the rest. It takes about
    `seconds`.
    """
    if not is_real(seconds):
        raise BadInput(f"`seconds={seconds!r}` must be a number")
    # To verify the whole takes no longer than the parts took.
    until = perf_counter() + float(seconds) / 2
    parts = [data] if data.binary else [data.one_vs_rest(k) for k in range(len(data.classes))]
    ends = [*ends, *[None] * (len(parts) - len(ends))]
    if not any(ends):
        raise BadInput(
            "no limit was reached of which anything is proved; there is nothing to write"
        )
    content: dict[str, Any] = {
        "alpha": setting.alpha,
        "train": setting.train,
        "loss": tail,
        "X": data.X.tolist(),
        "classes": list(data.classes) or None,
    }
    networks: list[dict[str, Any] | None] = [None for _ in parts]
    most_sets = 1
    for k, (part, end) in enumerate(zip(parts, ends, strict=True)):
        if end is not None:
            alone: list[dict[str, Any] | None] = [None for _ in parts]
            networks[k], sets = _best(content, alone, k, part, setting, end, until)
            most_sets = max(most_sets, sets)
    raw = _written(content, networks)
    return raw, verify(raw, sets=most_sets)


def _written(content: dict[str, Any], networks: Sequence[dict[str, Any] | None]) -> bytes:
    raw = write_proof({**content, "networks": networks}, LIMIT_FORMAT, LIMIT_KEYS)
    if len(raw) > MOST_BYTES:
        raise BadInput(f"the proof has {len(raw):,} bytes; at most {MOST_BYTES:,} can be verified")
    return raw


def _best(
    content: dict[str, Any],
    alone: list[dict[str, Any] | None],
    k: int,
    data: Dataset,
    setting: Setting,
    end: ProvedEnd,
    until: float,
) -> tuple[dict[str, Any], int]:
    """One network with its claims, by the method that proves most, and its sets for each bound."""
    if end.trap:
        return _trapped(content, alone, k, data, end), 1
    best: tuple[float, dict[str, Any], int] | None = None
    refused: BadInput | None = None
    own = _without_peaks(data, setting, end)
    pretended = _as_optimum(data, setting, end)
    for attempt in attempts_until(until):
        if best is not None and attempt is LAST:
            break
        problem = problem_of(pretended, pretended.per_class[0], attempt)
        if problem is None:
            continue
        del problem["status"]
        claimed = alone[k] = {**problem, **own}
        try:
            left = attempt.until - perf_counter()
            verification = verify(_written(content, alone), seconds=left, sets=attempt.sets)
            if not verification.verified and own["near"] is not None:
                # Peaks that are known less well prove a margin, but not where the weight ends.
                claimed = alone[k] = {**problem, **own, "near": None}
                left = attempt.until - perf_counter()
                verification = verify(_written(content, alone), seconds=left, sets=attempt.sets)
        except BadInput as error:  # too large to be verified, or in this time
            refused = error
            continue
        if not verification.verified:
            raise BadInput(f"the proof does not hold: {verification.reason}")
        proved = verification.ends[k]
        assert proved is not None
        lower, upper = proved.margin_bounds
        claimed |= {"lower": lower, "upper": upper}
        if proved.share is not None:
            claimed["near"] = {**own["near"], "share": float_below(proved.share)}
        if best is None or upper < best[0]:
            best = upper, claimed, attempt.sets
        if upper <= (1 + ENOUGH) * end.margin_bounds.upper or perf_counter() > until:
            break
    if best is None:
        raise refused or BadInput("no proof was found that can be verified")
    return best[1:]


def _trapped(
    content: dict[str, Any],
    alone: list[dict[str, Any] | None],
    k: int,
    data: Dataset,
    end: ProvedEnd,
) -> dict[str, Any]:
    """A network that cannot leave its activation patterns, with its claims."""
    W, a = end.network.W.tolist(), end.network.a.tolist()
    entries: dict[str, Any] = {
        "y": [int(label) for label in data.y],
        "neurons": [{"w": w, "a": weight} for w, weight in zip(W, a, strict=True)],
        "dual": end.dual.tolist(),
        "method": "trap" if end.trap[0].tree is None else "trap of one sign",
        "multipliers": [
            {"dual": one.dual.tolist(), "slopes": one.slopes.tolist()}
            | ({} if one.tree is None else {"tree": one.tree})
            for one in end.trap
        ],
        "idle": [],
        "near": None if end.angle is None else {"angle": end.angle},
    }
    alone[k] = {**entries, "lower": 0.0, "upper": LARGEST}
    verification = verify(_written(content, alone))
    if not verification.verified:
        raise BadInput(f"the proof does not hold: {verification.reason}")
    proved = verification.ends[k]
    assert proved is not None
    return {**entries, "lower": proved.margin_bounds.lower, "upper": proved.margin_bounds.upper}


def _without_peaks(data: Dataset, setting: Setting, end: ProvedEnd) -> dict[str, Any]:
    """All entries beside those of an optimum's proof, with claims that are true in any case."""
    idle = out_of_play(data, end.network) if setting.train == "first" else {}
    near = None
    if end.share is not None and end.angle is not None and end.levels is not None:
        far = [
            {"sign": s, "peak": level, "nodes": far_tree(end, data, s)}
            for s, level in zip((1, -1), end.levels, strict=True)
        ]
        near = {
            "directions": [{"sign": s, "u": u.tolist()} for s, u in end.directions],
            "angle": end.angle,
            "cosine": cap_cosine(end.angle),
            "far": far,
            "share": 0.0,
        }
    return {
        "idle": [[k, v.tolist()] for k, v in idle.items()],
        "lower": 0.0,
        "upper": LARGEST,
        "near": near,
    }


def _as_optimum(data: Dataset, setting: Setting, end: ProvedEnd) -> Optimum:
    """The stored weights and λ where an optimum has its network and its λ."""
    many = cover(int(np.count_nonzero(end.dual)), data.d)
    part = ClassOptimum(
        data.y,
        OptimumStatus.BOUNDED,
        Interval(0.0, LARGEST),
        end.network,
        end.dual,
        many if many <= FEW_CELLS else None,
        None,
    )
    return Optimum(data, setting, (1, -1), (part,), 0.0)
