"""`tacit optimum`, `certify` and `verify` in the terminal and as JSON."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from tacit.cli.terminal import console, plain_table, title
from tacit.values.jsonable import plain
from tacit.values.text import count, printable

if TYPE_CHECKING:
    from tacit.certificates import Best, Certificate
    from tacit.certificates.optima import Problem
    from tacit.proofs import Verdict
    from tacit.values import Dataset

MOST_NEURONS = 12
"""Neurons shown, the largest first, and coordinates of each."""
MOST_COORDINATES = 6
SENTENCES = {
    "none": "bounded: no network that fits was found; whether there is one is open",
    "certified": "certified: this is the widest margin of all, up to the gap",
    "bounded": "bounded: the widest margin of all is between the two bounds",
    "infeasible": "infeasible: no network of this kind, however wide, fits these labels (proved)",
}


@contextmanager
def bounds_progress(hidden: bool) -> Iterator[Callable[[float, float], None] | None]:
    """The two bounds as they close, on a terminal."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    screen = Console(stderr=True)
    with screen.status("looking for the best network") as status:
        yield lambda lower, upper: status.update(
            f"looking for the best network: objective between {lower:.6g} and {upper:.6g}"
        )


def best(found: Best, seconds: float, proof: Path | None, proved: Verdict | None) -> None:
    """The summary of `tacit optimum`."""
    screen = console()
    screen.print(title(found.data))
    screen.print(_about(found))
    none = found.status != "infeasible" and math.isinf(found.upper)
    screen.print(f"[bold]{SENTENCES['none' if none else found.status]}[/]")
    if found.status == "infeasible":
        for name, problem in _named(found):
            if problem.status == "infeasible":
                rows = np.flatnonzero(problem.dual)
                shown = ", ".join(map(str, rows[:MOST_NEURONS]))
                more = ", …" if len(rows) > MOST_NEURONS else ""
                where = "row" if len(rows) == 1 else "rows"
                screen.print(f"{escape(name)}the contradiction is in {where} {shown}{more}")
    else:
        _bounds(screen, found)
        for name, problem in _named(found):
            _neurons(screen, name, problem)
    screen.print(f"{seconds:.2f} s")
    if proved is not None:
        screen.print(f"proof: {escape(str(proof))}")
        if proved.lower is not None and float(proved.lower) < (1 - 1e-9) * found.lower:
            screen.print(
                f"[yellow]note[/] the file proves less: the objective is at least "
                f"{float(proved.lower):.10g} (the arrangement is too large to be enumerated)"
            )


def _about(found: Best) -> str:
    kind = "ReLU" if found.alpha == 0 else f"Leaky ReLU (α = {found.alpha:g})"
    if found.train == "both":
        sign = {1: "positive", -1: "negative"}[found.signs[0]]
        only = f", {sign} output weights only" if len(found.signs) == 1 else ""
        return f"{kind} networks of every width, both layers free{only}"
    return (
        f"{kind} networks with {count(found.units or 0, 'unit')} of output weight "
        f"+{found.output_weight:g} and as many of −{found.output_weight:g}, first layer free"
    )


def _named(found: Best) -> list[tuple[str, Problem]]:
    names = [f"{label} against the rest: " for label in found.data.classes] or [""]
    return list(zip(names, found.problems, strict=True))


def _bounds(screen: Console, found: Best) -> None:
    formula = "Σ|a|‖w‖" if found.train == "both" else "‖W‖"
    narrow, wide = found.margin
    screen.print(f"objective min {formula} in [{found.lower:.10g}, {found.upper:.10g}]")
    power = "‖θ‖²" if found.train == "both" else "‖W‖"
    screen.print(
        f"widest margin q_min/{power} in [{narrow:.10g}, {wide:.10g}], gap {found.gap:.1e}"
    )


def _neurons(screen: Console, name: str, problem: Problem) -> None:
    support = int((problem.dual > 0).sum())
    cells = "their arrangement was not enumerated"
    if problem.cells is not None:
        cells = f"proved on all {count(problem.cells, 'cell')} of their arrangement"
    screen.print(
        f"{escape(name)}{count(len(problem.a), 'neuron')}; "
        f"{count(support, 'point')} with a multiplier, {cells}"
    )
    if len(problem.a) == 0:
        return
    units: dict[tuple[float, ...], int] = {}  # with a fixed output layer, many are equal
    for a, w in zip(problem.a.tolist(), problem.W.tolist(), strict=True):
        units[(a, *w)] = units.get((a, *w), 0) + 1
    table = plain_table()
    for heading in ("units", "output weight a", "neuron w"):
        table.add_column(heading, justify="left" if heading == "neuron w" else "right")
    order = sorted(units, key=lambda unit: -units[unit] * abs(unit[0]) * math.hypot(*unit[1:]))
    for unit in order[:MOST_NEURONS]:
        shown = ", ".join(f"{value:.6g}" for value in unit[1 : 1 + MOST_COORDINATES])
        more = ", …" if len(unit) > 1 + MOST_COORDINATES else ""
        table.add_row(str(units[unit]), f"{unit[0]:.6g}", f"({shown}{more})")
    screen.print(table)
    if len(order) > MOST_NEURONS:
        screen.print(f"and {len(order) - MOST_NEURONS} more; --json has all of them")


def best_as_json(found: Best, seconds: float, proved: Verdict | None = None) -> dict[str, Any]:
    """The contract of `tacit optimum --json`."""
    binary = found.data.binary
    names = [None] if binary else list(found.data.classes)
    neurons = [
        {"w": w, "a": a} if name is None else {"w": w, "a": a, "class": name}
        for name, problem in zip(names, found.problems, strict=True)
        for w, a in zip(problem.W.tolist(), problem.a.tolist(), strict=True)
    ]
    duals = [problem.dual.tolist() for problem in found.problems]
    cells = [problem.cells for problem in found.problems]
    return plain(
        {
            "name": found.data.name,
            "n": found.data.n,
            "d": found.data.d,
            "classes": names if not binary else None,
            "alpha": found.alpha,
            "train": found.train,
            "units": found.units,
            "output_weight": found.output_weight,
            "signs": list(found.signs),
            "status": found.status,
            "objective": found.upper,
            "lower": found.lower,
            "upper": found.upper,
            "gap": found.gap if found.status != "infeasible" else None,
            "margin": found.margin[0] if found.status != "infeasible" else None,
            "margin_upper": found.margin[1] if found.status != "infeasible" else None,
            "neurons": neurons,
            "dual": duals[0] if binary else duals,
            "patterns": cells[0] if binary else cells,
            "proof": None if proved is None else verdict_as_json(proved),
            "seconds": seconds,
        }
    )


def certificates(
    data: Dataset, names: Sequence[str], found: Sequence[Certificate], seconds: float
) -> None:
    """The summary of `tacit certify`."""
    screen = console()
    screen.print(title(data))
    for name, one in zip(names, found, strict=True):
        kkt = one.kkt
        screen.print(f"[bold]{escape(printable(name))}[/]: {one.verdict}")
        screen.print(
            f"  stationarity {kkt.stationarity:.2e}, complementarity {kkt.complementarity:.2e}, "
            f"feasibility {kkt.feasibility:.2e}; margin {one.margin:.10g}"
        )
        screen.print(f"  {kkt.subdifferential}")
        screen.print(
            f"  widest margin of all networks in [{one.lower:.10g}, {one.upper:.10g}]: "
            f"{one.optimality}"
        )
    screen.print(f"{seconds:.2f} s")


def certificates_as_json(
    names: Sequence[str], found: Sequence[Certificate], seconds: float
) -> dict[str, Any]:
    """The contract of `tacit certify --json`: the worst network, and all of them if several."""
    entries = [_certificate(name, one) for name, one in zip(names, found, strict=True)]
    worst = max(range(len(found)), key=lambda k: _residual(found[k]))
    result = {**entries[worst], "seconds": seconds}
    if len(entries) > 1:
        result["networks"] = entries
    return plain(result)


def _residual(one: Certificate) -> float:
    return max(one.kkt.stationarity, one.kkt.complementarity, one.kkt.feasibility)


def _certificate(name: str, one: Certificate) -> dict[str, Any]:
    kkt = one.kkt
    return {
        "name": name,
        "kkt": {
            "stationarity": kkt.stationarity,
            "feasibility": kkt.feasibility,
            "complementarity": kkt.complementarity,
            "holds": one.is_kkt,
            "tolerance": one.tolerance,
            "subdifferential": kkt.subdifferential,
            "boundary": kkt.boundary,
            "balance": kkt.balance,
            "multipliers": kkt.multipliers.tolist(),
        },
        "margin": one.margin,
        "optimality": one.optimality,
        "lower": one.lower,
        "upper": one.upper,
        "gap": one.gap,
        "verdict": one.verdict,
    }


def verdict(found: Verdict) -> None:
    """The summary of `tacit verify`."""
    screen = console()
    if not found.verified:
        screen.print(f"[bold red]rejected[/]: {escape(printable(found.reason))}")
        return
    about = f"{count(found.n, 'point')} in {count(found.d, 'dimension')}"
    kind = "ReLU" if found.alpha == 0 else f"Leaky ReLU, α = {found.alpha:g}"
    layers = "both layers"
    if found.train == "first":
        layers = f"{count(found.units or 0, 'unit')} of each output weight ±{found.output_weight:g}"
    screen.print(f"[bold green]verified[/] in exact arithmetic: {about}, {kind}, {layers}")
    if found.infeasible:
        screen.print("no network of this kind, however wide, fits these labels")
        return
    numbers = verdict_as_json(found)
    formula = "Σ|a|‖w‖" if found.train == "both" else "‖W‖"
    screen.print(f"the optimum min {formula} lies in [{numbers['lower']!r}, {numbers['upper']!r}]")
    screen.print(
        f"checked on all {count(found.cells, 'cell')}" if found.cells else "no cells needed"
    )


def verdict_as_json(found: Verdict) -> dict[str, Any]:
    """The contract of `tacit verify --json`; the bracket is rounded outwards."""
    from tacit.proofs import float_above, float_below

    return plain(
        {
            "verified": found.verified,
            "infeasible": found.infeasible,
            "lower": None if found.lower is None else float_below(found.lower),
            "upper": None if found.upper is None else float_above(found.upper),
            "reason": found.reason or None,
            "n": found.n,
            "d": found.d,
            "alpha": found.alpha,
            "train": found.train,
            "units": found.units,
            "output_weight": found.output_weight,
            "cells": found.cells,
        }
    )
