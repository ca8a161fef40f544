"""`tacit optimum`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tacit.cli._app import (
    PointOptions,
    Unused,
    command,
    print_json,
    proof_or_not_so,
    time_left,
    warn,
)
from tacit.messages import count
from tacit.values import BadInput, Setting

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.certificates import ClassOptimum, Optimum

MOST_NEURONS = 12
"""Neurons shown, the largest first."""
MOST_COORDINATES = 6
"""Coordinates of a neuron that are shown."""
SIGNS = {"both": (1, -1), "positive": (1,), "negative": (-1,)}


@command("tacit optimum points.csv --activation leaky:0.3 --proof proof.json")
def optimum(
    data: str,
    /,
    *,
    options: PointOptions = PointOptions(),  # noqa: B008  (frozen)
    activation: str = "relu",
    train: Literal["both", "first"] = "both",
    width: int | None = None,
    output_weight: float | None = None,
    signs: Literal["both", "positive", "negative"] = "both",
    seconds: float = 120.0,
    proof: Path | None = None,
    force: bool = False,
    seed: Unused = 0,
    json: bool = False,
) -> int:
    """The widest margin any network can have on this data, with a proof. No training.

    Exit code 1 when no network fits the labels, or none was found, and when --proof asks for a
    proof and there is none.

    Parameters
    ----------
    data
        File or generator call. Classes of more than two are taken one against the rest.
    activation
        `relu`, or `leaky:A` for φ(z) = max(z, Az).
    train
        Layers that may be chosen: both (then any width), or the first only.
    width
        With --train first: the number of units (100), half with weight +V, half with −V.
    output_weight
        With --train first: V (1).
    signs
        Signs of the output weights that are allowed.
    seconds
        About how long it may take, over all classes; the bounds found so far hold. With --proof a
        third of it is kept for the proof.
    proof
        Write the proof to this file; `tacit verify` checks it in exact arithmetic.
    force
        Replace PROOF if it exists.
    seed
        Accepted by every command; the answer does not depend on it.
    json
        One JSON object on standard output.
    """
    from tacit.files import check_writable, write_file

    for name, value in (("--width", width), ("--output-weight", output_weight)):
        if train == "both" and value is not None:
            raise BadInput(
                f"{name} plays no part when both layers are free; it needs --train first"
            )
    if train == "first" and signs != "both":
        raise BadInput("--signs is for networks with both layers trained; leave it out")
    setting = Setting(
        activation=activation,
        train=train,
        width=width,
        output_weight=1.0 if output_weight is None else output_weight,
    )
    time_left(seconds)
    if proof is not None:
        check_writable(proof, force, folder=False)
        if realpath(proof) in map(realpath, data.split(",")):
            raise BadInput(f"--proof {proof} is the data itself; choose another name")
        if signs != "both":
            raise BadInput("--proof is for networks with both signs; leave --signs out")

    from tacit.certificates import optimum as find_optimum
    from tacit.certificates import proof_of
    from tacit.cli.terminal import spinner

    points = options.load(data)
    left = time_left(seconds, 0.0 if proof is None else seconds / 3)
    bounds: tuple[float, float] | None = None
    with bounds_progress(hidden=json) as progress:

        def tell(lower: float, upper: float) -> None:
            nonlocal bounds
            bounds = lower, upper
            if progress is not None:
                progress(lower, upper)

        try:
            best = find_optimum(points, setting, signs=SIGNS[signs], seconds=left, progress=tell)
        except KeyboardInterrupt:
            if bounds is None or not points.binary:
                raise
            known = f"the objective is in [{bounds[0]:.10g}, {bounds[1]:.10g}]"
            warn(f"interrupted; {known}; nothing was saved")
            return 130
    failure, searched = None, best
    if proof is not None:
        try:
            with spinner("making the proof and checking it", hidden=json):
                raw, verification = proof_or_not_so(lambda: proof_of(best, time_left(seconds)))
            write_file(proof, raw, force)
            searched, best = best, replace(best, proof=verification)
        except Exception as error:  # the optimum is shown all the same
            failure = error
    if json:
        print_json(best.to_dict())
    else:
        _print_optimum(best, proof, searched.objective_bounds.lower)
    if failure is not None:
        raise failure
    return int(math.isinf(best.objective_bounds.upper))


@contextmanager
def bounds_progress(hidden: bool) -> Iterator[Callable[[float, float], None] | None]:
    """The two bounds as they close, on a terminal."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("looking for the best network") as status:
        yield lambda lower, upper: status.update(
            f"looking for the best network: objective between {lower:.6g} and {upper:.6g}"
        )


def _print_optimum(best: Optimum, proof: Path | None, lower: float) -> None:
    """Bounds, networks and the proof, or why no network fits; `lower` is what floats have shown."""
    from rich.markup import escape

    from tacit.cli.terminal import console, title

    screen = console()
    screen.print(title(best.data))
    screen.print(best.networks_in_words)
    screen.print(f"[bold]{best.status}: {best.sentence}[/]")
    if best.status != "infeasible":
        for line in best.bounds_in_words:
            screen.print(escape(line))
    if best.what_would_help and best.proof is None:
        screen.print(best.what_would_help)
    for name, part in zip(best.class_names, best.per_class, strict=True):
        prefix = f"{escape(name)}: " if name else ""
        if best.status != "infeasible":
            _print_neurons(screen, prefix, part)
        elif part.status == "infeasible":
            rows = part.dual.nonzero()[0]
            shown = ", ".join(map(str, rows[:MOST_NEURONS]))
            more = ", …" if len(rows) > MOST_NEURONS else ""
            where = "row" if len(rows) == 1 else "rows"
            screen.print(f"{prefix}the contradiction is in {where} {shown}{more}")
    screen.print(f"{best.seconds:.2f} s")
    if best.proof is None:
        return
    screen.print(f"proof: {escape(str(proof))}")
    # Up to 1e-8, the gap at which an optimum counts as certified, nobody misses what is lost.
    if best.status != "infeasible" and best.objective_bounds.lower < (1 - 1e-8) * lower:
        screen.print(
            f"[yellow]note[/] the file proves less than the search, which came to {lower:.10g} "
            "(a proof of all of it would be too large, or take too long)"
        )


def _print_neurons(screen: Console, prefix: str, part: ClassOptimum) -> None:
    """How the optimum was proved, and its neurons; equal ones of a fixed output layer once."""
    import numpy as np

    from tacit.cli.terminal import plain_table

    a, W = part.network.a, part.network.W
    support = count(int((part.dual > 0).sum()), "point")
    cells = "their arrangement was not enumerated"
    if part.cells is not None:
        cells = f"proved on all {count(part.cells, 'cell')} of their arrangement"
    screen.print(f"{prefix}{count(len(a), 'neuron')}; {support} with a multiplier, {cells}")
    if len(a) == 0:
        return
    rows, many = np.unique(np.column_stack([a, W]), axis=0, return_counts=True)
    units = dict(zip(map(tuple, rows.tolist()), many.tolist(), strict=True))
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
