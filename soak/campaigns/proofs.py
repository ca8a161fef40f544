"""`tacit verify` on proofs that were changed, with the digest made anew.

A changed proof may be accepted only if what it then says is true of the data that it then names,
as a linear program and multipliers judged in fractions show. The proof that `tacit optimum`
writes proves what it shows.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from soak.case import Case
from soak.exact_networks import bound_in_plane, size
from soak.linear_program import best_network
from soak.point_sets import points, write_csv

MUTANTS = 25
SAME = 1e-9
"""What is shown and what is proved may differ by this."""
ROUNDING = 1e-12


def attack(case: Case) -> None:
    X, y = points(case.rng, most=8, dimensions=(2,), decades=4)
    alpha = case.pick(0.0, 0.2, 0.9)
    write_csv(Path("points.csv"), X, y)
    words = ["optimum", "points.csv", "--activation", f"leaky:{alpha}" if alpha else "relu"]
    words += ["--proof", "proof.json", "--seconds", 20]
    shown = case.as_json(*words, codes=(0, 1, 2))
    if not Path("proof.json").exists():
        case.need(shown["status"] == "bounded", f"{shown['status']}, but no proof was written")
        return
    proved = case.as_json("verify", "proof.json", "--data", "points.csv")
    if shown["status"] == "certified":
        for key, sign in (("lower", 1), ("upper", -1)):
            enough = sign * (proved[key] - shown[key]) >= -SAME * shown[key]
            case.need(enough, f"{key} {shown[key]!r} is shown, {proved[key]!r} is proved")
    _, _, body = Path("proof.json").read_text().partition("\n")
    entries = json.loads("{" + body)
    _judge(case, entries, proved)
    for number in range(MUTANTS):
        _try(case, entries, number)


def _try(case: Case, entries: dict[str, Any], number: int) -> None:
    mutant = copy.deepcopy(entries)
    for _ in range(int(case.rng.integers(1, 4))):
        _mutate(case.rng, mutant)
    if case.rng.random() < 0.5:  # modest claims, so that the rest of the proof is what is judged
        mutant["lower"], mutant["upper"] = 0.0, 1e300
    name = f"mutant-{number}.json"
    body = json.dumps(mutant)[1:] + "\n"
    digest = hashlib.sha256(body.encode()).hexdigest()
    Path(name).write_text(f'{{"sha256": "{digest}",\n{body}')
    answer = case.as_json("verify", name, codes=(0, 1))
    if answer["verified"]:
        _judge(case, mutant, answer)


def _judge(case: Case, entries: dict[str, Any], answer: dict[str, Any]) -> None:
    """Fail if the bounds that were accepted are not true of the data in the file."""
    X, alpha = np.array(entries["X"], dtype=float), float(entries["alpha"])
    y = np.array(entries["problems"][0]["y"])
    ours = best_network(X, y, alpha, case.rng)
    upper = math.inf if ours is None else size(ours.W, ours.a, X, y, alpha)
    if answer["infeasible"]:
        case.need(math.isinf(upper), f"proved infeasible, but a network of size {upper!r} fits")
        return
    lower = answer["lower"]
    case.need(lower <= upper * (1 + ROUNDING), f"proved {lower!r}, but {upper!r} is reached")
    if ours is not None and X.shape[1] == 2:  # a change may have left fewer columns
        bound = bound_in_plane(ours.dual, X, y, alpha)
        above = answer["upper"] >= bound * (1 - ROUNDING)
        case.need(above, f"proved {answer['upper']!r}, but {bound!r} is needed")


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every entry of a JSON value."""
    pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
    inner = [
        place
        for key, part in pairs
        if isinstance(part, dict | list)
        for place in _places(part, (*path, key))
    ]
    keys = value if isinstance(value, dict) else range(len(value))
    return [*((*path, key) for key in keys), *inner]


def _mutate(rng: np.random.Generator, entries: dict[str, Any]) -> None:
    """Change, remove, repeat or exchange one entry somewhere."""
    places = _places(entries)
    depths = [len(place) for place in places]
    depth = rng.choice(sorted(set(depths)))  # as often near the top as deep inside
    *way, last = [p for p in places if len(p) == depth][int(rng.integers(depths.count(depth)))]
    holder: Any = entries
    for step in way:
        holder = holder[step]
    value = holder[last]
    if isinstance(holder, list) and holder and rng.random() < 0.2:
        other = int(rng.integers(len(holder)))
        holder[last], holder[other] = holder[other], holder[last]
    elif isinstance(holder, list) and rng.random() < 0.1:
        del holder[last]
    elif isinstance(holder, list) and rng.random() < 0.1:
        holder.append(copy.deepcopy(value))
    else:
        holder[last] = _other(rng, value)


def _other(rng: np.random.Generator, value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return [True, False, None, 1.0][int(rng.integers(4))]
    if isinstance(value, int | float):
        near = float(value) * float(np.exp(rng.normal() * 10.0 ** rng.integers(-9, 1)))
        ends = [near, near, near, -value, 0.0, 1, -1, 1e308, 5e-324, math.nextafter(value, 9e307)]
        return ends[int(rng.integers(len(ends)))]
    if isinstance(value, str):
        words = ["cells", "subsets", "optimum", "infeasible", "both", "first", "", "1/3", "é\n"]
        flipped = value.translate({43: 45, 45: 48, 48: 43})  # + to -, - to 0, 0 to +
        return [*words, flipped, flipped, value[:-1]][int(rng.integers(len(words) + 3))]
    if isinstance(value, list):
        return value[::-1] if rng.random() < 0.7 else []
    return {key: part for key, part in value.items() if rng.random() < 0.9}
