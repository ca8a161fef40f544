"""`tacit limit`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os.path import realpath
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tacit.cli._app import (
    DataOptions,
    NetworkOptions,
    as_options,
    command,
    compile_first,
    not_made,
    print_json,
    proof_or_not_so,
    seconds_to_write,
    time_left,
    warn,
)
from tacit.messages import count, printable
from tacit.values import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.flow import Limit, Limits
    from tacit.proofs import Verification
    from tacit.values import Group

MOST_GROUPS = 12
"""Groups shown, the heaviest first."""
MOST_COORDINATES = 6
"""Coordinates of each direction shown."""
SHARP = 1e-6
"""The share by which the file's bound of a margin may be above the one that is shown."""
DRAWING = 1.0
"""Seconds that a picture may take."""


@command("tacit limit points.csv --init balanced:1e-6 --picture limit.png", takes="[DATA]")
def limit(
    data: str | None = None,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    network: NetworkOptions = NetworkOptions(),  # noqa: B008  (frozen)
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    seed: int = 0,
    out: Path | None = None,
    resume: Path | None = None,
    picture: Path | None = None,
    proof: Path | None = None,
    force: bool = False,
    json: bool = False,
) -> int:
    """Follow gradient flow to its end: which network it becomes, and whether that is the best.

    Every outcome is an answer, with exit code 0; only `proved` and `converged` claim a limit. Exit
    code 1 when --proof asks for a proof and there is none.

    Parameters
    ----------
    data
        File or generator call; not needed with --resume. Of more than two classes, one network
        each against the rest.
    log10_loss
        Follow the path until log₁₀ of the loss is at most this, and on, to any depth, while it does
        not show yet what it leads to.
    seconds
        About how long the command may take, over all classes; the path is cut where it would take
        longer.
    seed
        The seed of the initial weights. Generators have a seed of their own.
    out
        Write limit and path into this folder; `tacit certify` takes it.
    resume
        Go on with what is undecided in this folder, for SECONDS more; its setting, data and seed
        are kept. It is written back there, or into OUT.
    picture
        Draw the limit and the way there (.png, .svg or .pdf).
    proof
        Write what proves it to this file; `tacit verify` checks that in exact arithmetic.
    force
        Replace OUT, PICTURE and PROOF if they exist.
    json
        One JSON object on standard output.
    """
    if (data is None) == (resume is None):
        raise BadInput("give either DATA to follow the flow on or --resume FOLDER, not both")
    out = out or resume
    force_out = force or out == resume
    _check_targets(data or "", out, force_out, picture, proof, force)
    time_left(seconds)

    from tacit.cli.terminal import spinner
    from tacit.flow import Limit
    from tacit.flow import limit as follow_to_limit

    earlier, setting = None, None
    if resume is not None:
        if (network, options, seed) != (NetworkOptions(), DataOptions(), 0):
            raise BadInput("--resume keeps the setting, the data and the seed; leave them out")
        earlier = Limit.load(resume)
        points, width = earlier.data, earlier.each[0].setting.width
    else:
        assert data is not None
        setting, points = network.setting(), options.load(data)
        width = setting.width
    kept_back = seconds_to_write(points, width) + (0.0 if picture is None else DRAWING)
    kept_back += 0.0 if proof is None else seconds / 3
    with flow_progress(hidden=json) as progress:
        left = time_left(seconds, kept_back)
        result = follow_to_limit(
            points,
            setting,
            seed=seed,
            log10_loss=log10_loss,
            seconds=left,
            progress=progress,
            resume=earlier,
        )
    written: dict[str, Path] = {}
    asked: dict[str, Any] = {} if proof is None else {"proof": None}
    failure, less = "", False
    try:
        if out is not None:
            result.save(out, force_out)
            written["run"] = out
        if picture is not None and not result.interrupted:
            from tacit.plot import draw_limit

            with spinner("drawing", hidden=json):
                draw_limit(result, picture, force)
            written["picture"] = picture
        if proof is not None and not result.interrupted:
            from tacit.files import write_file

            with spinner("making the proof and checking it", hidden=json):
                raw, verification = proof_or_not_so(lambda: result.proof(time_left(seconds)))
            asked["proof"] = verification.to_dict()
            less = _proves_less(result, verification)
            write_file(proof, raw, force)
            written["proof"] = proof
    except Exception as error:
        if not result.interrupted:
            raise
        failure = f": {error}"  # the interrupt is not what went wrong with it
    finally:  # what was found is shown, also where it cannot be written
        if json:
            print_json(result.to_dict() | asked)
        else:
            _print_limit(result, written, less)
    if result.interrupted:
        saved = f"; saved in {out}" if "run" in written else f"; nothing was saved{failure}"
        at = f"{result.each[-1].log10_loss:.6g}{not_made(picture, proof)}"
        warn(f"interrupted at log₁₀ loss {at}{saved}")
    return 130 if result.interrupted else 0


def _check_targets(
    data: str,
    out: Path | None,
    force_out: bool,
    picture: Path | None,
    proof: Path | None,
    force: bool,
) -> None:
    """What is to be written can be, and is not what is read."""
    from tacit.files import check_writable

    given = [realpath(part) for part in data.split(",") if part]
    named: dict[str, str] = {}
    for option, path in (("--out", out), ("--picture", picture), ("--proof", proof)):
        if path is None:
            continue
        if realpath(path) in given:
            raise BadInput(f"{option} {path} is the data itself; choose another name")
        if other := named.get(realpath(path)):
            raise BadInput(f"{other} and {option} are both {path}; give them different names")
        named[realpath(path)] = option
    if out is not None:
        check_writable(out, force_out)
    if proof is not None:
        check_writable(proof, force, folder=False)
    if picture is not None:
        from tacit.plot import check_ending

        check_ending(picture)
        check_writable(picture, force, folder=False)


def _proves_less(result: Limit | Limits, verification: Verification) -> bool:
    """Whether the file leaves more room for a margin than what is shown."""
    return any(
        one.proved is not None
        and (end is None or end.margin_bounds.upper > (1 + SHARP) * one.proved.margin_bounds.upper)
        for one, end in zip(result.each, verification.ends, strict=False)
    )


@contextmanager
def flow_progress(hidden: bool) -> Iterator[Callable[[float, float], None] | None]:
    """A bar on a terminal; nothing where standard error is a file or a pipe."""
    from tacit.flow.ending import share_done
    from tacit.flow.stage import prepare

    if hidden or not sys.stderr.isatty():
        compile_first(prepare)
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TimeElapsedColumn

    from tacit.cli.terminal import progress_bar

    with Console(stderr=True).status("compiling the flow (the first time only)"):
        compile_first(prepare)
    at = "log₁₀ loss {task.fields[at]} of {task.fields[goal]}, {task.fields[pace]}"
    columns = "following the flow", BarColumn(), at, TimeElapsedColumn()
    with progress_bar(*columns, hidden=False) as bar:
        task = bar.add_task("", total=1.0, at="?", goal="?", pace="")
        begun, steps = perf_counter(), 0

        def update(now: float, goal: float) -> None:
            nonlocal steps
            steps += 1
            done = share_done(now, goal)
            pace = f"{steps / max(perf_counter() - begun, 1e-3):.3g} steps/s"
            bar.update(task, completed=done, at=f"{now:.4g}", goal=f"{goal:.4g}", pace=pace)

        yield update


def _print_limit(result: Limit | Limits, written: dict[str, Path], less: bool) -> None:
    from rich.markup import escape

    from tacit.cli.terminal import console, title

    screen, data, first = console(), result.data, result.each[0]
    screen.print(title(data))
    s = first.setting
    layers = "both layers" if s.train == "both" else f"first layer, output ±{s.output_weight:g}"
    screen.print(
        f"gradient flow of {s.activation}, width {s.width}, {layers}, init "
        f"{escape(printable(str(s.initialisation)))}, {s.loss} loss, seed {first.seed}"
    )
    for k, one in enumerate(result.each):
        if not data.binary:
            screen.print(f"\n[bold]{escape(printable(data.classes[k]))} against the rest[/]")
        colour = "green" if one.outcome.settled else "yellow"
        reason = f": {escape(as_options(printable(one.reason)))}" if one.reason else ""
        screen.print(f"[bold {colour}]{one.outcome}[/]{reason}")
        _print_path(screen, one)
        _print_end(screen, one)
    screen.print(f"{sum(one.seconds for one in result.each):.2f} s")
    for what, where in written.items():
        screen.print(f"{what}: {escape(str(where))}")
    if less:
        screen.print(
            "[yellow]note[/] the file proves less than is shown: margins may end further up (a "
            "proof of all of it would be too large, or take too long)"
        )


def _print_path(screen: Console, one: Limit) -> None:
    from tacit.flow.limits import EVENT_NOUNS

    path = one.path
    kinds = ", ".join(count(n, EVENT_NOUNS.get(what, what)) for what, n in one.events.items())
    balance = f"; ‖w‖² − a² kept to {path.drift:.1g}" if one.setting.train == "both" else ""
    screen.print(
        f"followed to {path.last.loss_text(6)} (sum over the points) at {path.last.time_text()}, "
        f"{count(path.steps, 'step')}; {kinds or 'no events'}{balance}"
    )
    phase = one.early_phase
    if phase is not None and phase.s > 0 and phase.median_cosine is not None:
        screen.print(
            f"early phase until log₁₀ t = {phase.log_t / math.log(10):.3g}, then the median cosine "
            f"of a neuron to its gradient at f = 0 is {phase.median_cosine:.4f}; "
            f"{int(phase.dead_at_end.sum())} of {count(one.setting.width, 'neuron')} dead at the "
            "end"
        )


def _print_end(screen: Console, one: Limit) -> None:
    kkt, best = one.kkt, one.certificate
    if kkt is None or best is None:
        return
    _print_groups(screen, one.groups, one.data.n)
    power = "‖θ‖²" if one.setting.train == "both" else "‖W‖"
    lower, upper = best.margin_bounds
    screen.print(
        f"margin q_min/{power} {kkt.margin:.10g}, "
        f"the widest of all networks is in [{lower:.10g}, {upper:.10g}]"
    )
    screen.print(best.verdict)
    if one.proved is not None:
        screen.print(one.proved.sentence)
    screen.print(
        f"KKT residuals: stationarity {kkt.stationarity:.2g}, complementarity "
        f"{kkt.complementarity:.2g}, feasibility {kkt.feasibility:.2g}"
    )
    if one.test_error is not None:
        screen.print(f"error of the limit on the test set: {one.test_error:.4g}")


def _print_groups(screen: Console, groups: Sequence[Group], n: int) -> None:
    from tacit.cli.terminal import plain_table
    from tacit.flow.limits import ROUNDING

    table = plain_table()
    for heading in ("sign", "neurons", "weight", "active on", "on the kink of", "direction"):
        table.add_column(heading, justify="left" if heading == "direction" else "right")
    order = sorted(groups, key=lambda group: -group.weight)
    for group in order[:MOST_GROUPS]:
        few = [0.0 if abs(v) < ROUNDING else v for v in group.direction[:MOST_COORDINATES]]
        shown = ", ".join(f"{value:.5g}" for value in few)
        more = ", …" if len(group.direction) > MOST_COORDINATES else ""
        table.add_row(
            "+" if group.sign > 0 else "−",
            str(group.size),
            f"{group.weight:.6g}",
            f"{group.active} of {n}",
            str(group.on_hyperplanes),
            f"({shown}{more})",
        )
    screen.print(table)
    if len(order) > MOST_GROUPS:
        screen.print(f"and {len(order) - MOST_GROUPS} more groups; --json has all of them")
