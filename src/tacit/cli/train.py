"""`tacit train`."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cyclopts import Parameter

from tacit.cli._app import DEFAULT, DataOptions, command, not_made, print_json, warn
from tacit.messages import printable
from tacit.values import BadInput, Setting

if TYPE_CHECKING:
    from tacit.training import Run

MOST_RUNS = 10_000
"""Networks of one ensemble, whose states are all in memory; `tacit sweep` is for more."""
MOST_COLUMNS = 3
"""Networks that get a column each; of more, the range is shown."""


@Parameter(name="*")
@dataclass(frozen=True)
class TrainingOptions:
    """A network, its initial weights, its loss and its training rule."""

    model: str = DEFAULT["model"]
    """`two_layer`, `conv_max_pool[:PATCH]`, `residual[:DEPTH]` or `six_conv[:SIDE]`."""
    activation: str = DEFAULT["activation"]
    """`relu`, or `leaky:A` for φ(z) = max(z, Az)."""
    train: Literal["both", "first"] | None = None
    """The layers of a two-layer net that are trained; both by default."""
    width: int | None = None
    """The number of neurons (of channels in a convolutional net): 100, or what the file of
    `--init file:…` holds."""
    init: str | None = None
    """Initial weights, see `tacit list initialisations`; by default `balanced:1e-4`, with a fixed
    output layer `gaussian:1e-4`, for deeper nets `he:1`."""
    output_weight: float = DEFAULT["output_weight"]
    """V of an output layer that is fixed at ±V."""
    loss: str = DEFAULT["loss"]
    """`logistic` or `exponential` (the mean; with `:sum` the sum), `hinge` (the sum), or `hinge:G`
    (brutzkus2019 (4): confidence G for y = +1 and 1 for y = −1, the mean of each class)."""
    rule: str = DEFAULT["rule"]
    """`gd`, `sgd` or `adam`."""
    lr: float = DEFAULT["lr"]
    """Step size."""
    step: str = DEFAULT["step"]
    """`constant`, or `scaled`: step size lr / loss, right also where the loss underflows."""
    batch: int | None = None
    """Examples in a batch; by default 1 for `sgd` and all for `adam`."""
    stop: tuple[str, ...] = ()
    """End a run when one of these holds (may be repeated): `loss:X`, `log10_loss:X`, `zero_error`,
    `no_improvement:K`, `agreement`, `direction:ANGLE`."""


@command("tacit train orthogonal:n=100,d=2 --out run --picture learned.png", takes="[DATA]")
def train(
    data: str | None = None,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    training: TrainingOptions = TrainingOptions(),  # noqa: B008  (frozen)
    epochs: int = 1000,
    seed: int = 0,
    runs: int = 1,
    record: int = 60,
    out: Path | None = None,
    resume: Path | None = None,
    picture: Path | None = None,
    force: bool = False,
    json: bool = False,
) -> int:
    """Train a network by a rule, and measure it on the way.

    Parameters
    ----------
    data
        File or generator call; not needed with --resume.
    epochs
        Passes over the data; a step of gd is one.
    seed
        Of the initial weights and the order of the examples. Generators have a seed of their own.
    runs
        Train an ensemble with the seeds SEED, SEED+1, ….
    record
        At how many epochs to measure, spread evenly in log time.
    out
        Write the run into this folder.
    resume
        Go on with the run in this folder until it has EPOCHS in all; its setting, data and seeds
        are kept (--stop may be given anew). It is written back there, or into OUT.
    picture
        Draw what was learned (.png, .svg or .pdf).
    force
        Replace OUT and PICTURE if they exist.
    json
        One JSON object on standard output.
    """
    from tacit.files import check_writable

    if resume is not None:
        out = out or resume
        if seed or runs != 1:
            raise BadInput("--resume keeps the run's own seeds; leave --seed and --runs out")
    if out is not None:
        check_writable(out, force or out == resume)
        if picture is not None and out.absolute() == picture.absolute():
            raise BadInput(f"--out and --picture are both {out}; give them different names")
    if picture is not None:
        from tacit.plot import check_ending

        check_ending(picture)
        check_writable(picture, force, folder=False)
    if not 1 <= runs <= MOST_RUNS:
        raise BadInput(f"--runs {runs} must be between 1 and {MOST_RUNS}")
    if (data is None) == (resume is None):
        raise BadInput("give either DATA to train on or --resume RUN to go on with, not both")

    from tacit.training import Run
    from tacit.training import train as train_networks
    from tacit.training.stopping import TrainingOutcome

    earlier = None
    if resume is not None:
        earlier = Run.load(resume)
        points = earlier.data
        setting = earlier.setting.replace(stop=training.stop or earlier.setting.stop)
        if replace(training, stop=()) != TrainingOptions() or options != DataOptions():
            raise BadInput("--resume keeps the run's own setting and data; only --stop may change")
    else:
        assert data is not None
        setting = Setting(**vars(training))
        points = options.load(data)
    with _progress(epochs, hidden=json) as progress:
        run = train_networks(
            points,
            setting,
            epochs=epochs,
            seeds=range(seed, seed + runs),
            record=record,
            progress=progress,
            resume=earlier,
        )
    interrupted = TrainingOutcome.INTERRUPTED in run.outcomes
    written: dict[str, Path] = {}
    try:
        if out is not None:
            run.save(out, force or out == resume)
            written["run"] = out
        if picture is not None and not interrupted:
            from tacit.plot import draw_run

            draw_run(run, picture, force)
            written["picture"] = picture
    finally:  # what was measured is shown, also where it cannot be written
        if json:
            print_json(run.to_dict())
        else:
            _print_run(run, written)
    if interrupted:
        more = f"tacit train --resume {shlex.quote(str(out))} --epochs {epochs}"
        where = f"; saved in {out}, go on with: {more}" if out else "; --out keeps the next run"
        warn(f"interrupted at epoch {run.epoch} of {epochs}{not_made(picture)}{where}")
    return 130 if interrupted else 0


@contextmanager
def _progress(epochs: int, hidden: bool) -> Iterator[Callable[[int, float], None] | None]:
    """A bar on a terminal; nothing where standard error is a file or a pipe."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TimeRemainingColumn

    from tacit.cli.terminal import progress_bar

    at = "epoch {task.completed:,.0f} of {task.total:,.0f}, log₁₀ loss {task.fields[at]}"
    with progress_bar("training", BarColumn(), at, TimeRemainingColumn(), hidden=False) as bar:
        task = bar.add_task("", total=epochs, at="?")
        yield lambda epoch, log_loss: bar.update(
            task, completed=epoch, at=f"{log_loss / math.log(10):.2f}"
        )


def _print_run(run: Run, written: dict[str, Path]) -> None:
    """The measures at the end, and how each network ended."""
    import numpy as np
    from rich.markup import escape
    from rich.text import Text

    from tacit.cli.terminal import console, plain_table, title
    from tacit.measures import MEASURES
    from tacit.models import model_text
    from tacit.training.runs import remarks

    screen = console()
    screen.print(title(run.data))
    s = run.setting
    screen.print(
        f"{model_text(s.model)}, {s.activation}, width {s.width}, "
        f"init {s.initialisation}, {s.loss} loss, {s.rule} with "
        f"lr {s.lr:g}{' / loss' if s.step == 'scaled' else ''}: "
        f"{run.epoch:,} epoch{'s' * (run.epoch != 1)} in {run.seconds:.2f} s"
    )
    table = plain_table()
    table.add_column("measure at the end", no_wrap=True)
    few = len(run.members) <= MOST_COLUMNS
    columns = ["smallest", "median", "largest"]
    if few:
        columns = [
            f"seed {seed}" if k is None else f"{run.data.classes[k]} (seed {seed})"
            for seed, k in run.members
        ]
    for column in columns:
        table.add_column(escape(printable(column)), justify="right", no_wrap=True)
    # The cells, not the column, refuse to wrap: rich then takes the room that is missing from here
    # alone, where the numbers would vanish on a narrow terminal otherwise.
    table.add_column("what it is", style="dim")
    for name, values in run.measures.items():
        if values.ndim == 2:
            last = values[-1]
            if not few and not np.isnan(last).all():
                last = np.nanquantile(last, [0, 0.5, 1])
            cells = ["–" if np.isnan(value) else f"{value:.5g}" for value in last]
            meaning = (MEASURES[name].__doc__ or "").partition("\n")[0] if name in MEASURES else ""
            told = Text(meaning, no_wrap=True, overflow="ellipsis")
            table.add_row(name, *cells[: len(columns)], told)
    screen.print(table)
    if not few:
        screen.print(f"over {len(run.members)} networks; --json or --out has each of them")
    for outcome in dict.fromkeys(run.outcomes):
        screen.print(f"outcome: {outcome} ({run.outcomes.count(outcome)} of {len(run.outcomes)})")
    for remark in remarks(run):
        screen.print(f"[yellow]note[/] {remark}")
    if not run.data.binary:
        screen.print(f"error by the largest output, training set: {run.train_error}")
    for what, where in written.items():
        screen.print(f"{what}: {escape(str(where))}")
