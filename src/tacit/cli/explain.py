"""`tacit explain`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from tacit.cli._app import (
    DataOptions,
    NetworkOptions,
    as_options,
    command,
    compile_first,
    print_json,
    process_start,
    seconds_to_write,
    time_left,
    warn,
)
from tacit.messages import BadInput, printable

if TYPE_CHECKING:
    from tacit.explanation import Explanation

DEFAULT = "orthogonal:n=40,d=2,seed=3"
"""Explained when nothing is named: the theorems of three papers apply, and it can be drawn."""
COLOURS = {"refuted": "bold white on red", "differs": "red", "confirmed": "green"}
DRAWING = 2.0
"""Seconds that the report may take."""
MOST_TOLD, MOST_NEAR = 7, 3
"""Theorems that a summary names: those with a verdict, and those that just fail."""


@command("tacit explain points.csv --out why", takes="[DATA]")
def explain(
    data: str = DEFAULT,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    only: tuple[str, ...] = (),
    network: NetworkOptions = NetworkOptions(),  # noqa: B008  (frozen)
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    seed: int = 0,
    out: Path | None = None,
    force: bool = False,
    json: bool = False,
) -> int:
    """The main job: geometry, theorems, the limit of training and its certificate, in one report.

    Exit code 1 when a theorem is refuted: its hypotheses hold and its conclusion does not.

    Parameters
    ----------
    data
        File or generator call; without one, an instructive data set.
    only
        Only this theorem (`lyu2021:thm4.3`) or paper (`lyu2021`); may be repeated.
    log10_loss
        Follow the path until log₁₀ of the loss is at most this, and on while it does not show yet
        what it leads to.
    seconds
        About how long the whole may take, over all classes.
    seed
        Of the initial weights. Generators have a seed of their own.
    out
        Write `report.html` and `result.json` into this folder; by default into a new one that is
        called after the data.
    force
        Replace OUT if it exists.
    json
        One JSON object on standard output.
    """
    setting = network.setting()

    from tacit.explanation import explain as explain_data
    from tacit.files import check_writable
    from tacit.flow.stage import prepare
    from tacit.plot import check_backend

    check_backend()
    if out is not None:
        check_writable(out, force)
    points = options.load(data)
    with _progress(hidden=json) as tell:
        compile_first(prepare)
        explanation = explain_data(
            points,
            setting,
            seed=seed,
            only=only,
            log10_loss=log10_loss,
            seconds=time_left(seconds, DRAWING + seconds_to_write(points, setting.width)),
            progress=tell,
        )
        explanation = replace(explanation, time_limit=seconds)
        tell("drawing the report", None)
        where, failure = None, None
        try:
            where = _saved(explanation, out, force)
        except Exception as error:  # what was found is shown all the same
            failure = error
    if json:
        print_json(explanation.to_dict())
    else:
        _print_explanation(explanation, where, perf_counter() - process_start[0])
    if failure is not None:
        if explanation.interrupted:
            warn(f"interrupted; nothing was saved: {failure}")
            return 130
        raise failure
    if explanation.interrupted:
        warn(f"interrupted; what was found until then is in {where}")
        return 130
    return int(bool(explanation.refuted))


def _saved(explanation: Explanation, out: Path | None, force: bool) -> Path:
    """The folder that it was written to."""
    while True:
        where = _free(explanation.data.name) if out is None else out
        try:
            explanation.save(where, force)
            return where
        except BadInput:
            # Somebody else took a free name while the report was drawn: take the next one.
            if out is not None or not where.exists():
                raise


def _free(name: str) -> Path:
    """A folder of this directory that does not exist yet."""
    word = "".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-")[:40]
    base = f"explain-{word or 'data'}"
    path, number = Path(base), 1
    while path.exists():
        number += 1
        path = Path(f"{base}-{number}")
    return path


@contextmanager
def _progress(hidden: bool) -> Iterator[Callable[[str, float | None], None]]:
    """A bar on a terminal that says what is being done; nothing in a file or a pipe."""
    from rich.progress import BarColumn, SpinnerColumn, TimeElapsedColumn

    from tacit.cli.terminal import progress_bar

    columns = SpinnerColumn(), "{task.description:<22}", BarColumn(), TimeElapsedColumn()
    with progress_bar(*columns, hidden=hidden) as bar:
        task = bar.add_task("reading the data", total=None)

        def tell(stage: str, share: float | None) -> None:
            total = None if share is None else 1.0
            bar.update(task, description=stage, total=total, completed=share or 0.0)

        yield tell


def _print_explanation(explanation: Explanation, where: Path | None, seconds: float) -> None:
    """What a person reads in ten seconds."""
    from rich.markup import escape

    from tacit.cli.terminal import console, print_hanging, title
    from tacit.explanation.sentences import just_fail, sentences, telling

    screen = console()
    screen.print(title(explanation.data))
    for sentence in sentences(explanation):
        screen.print(escape(as_options(printable(sentence))))
    verdicts = explanation.worst.verdicts
    few = len(verdicts) <= MOST_TOLD
    shown = verdicts if few else telling(verdicts, MOST_TOLD)
    told = [(f"{one.status}{', proved' if one.proved else ''}", one) for one in shown]
    told += [("just fails", one) for one in just_fail(verdicts)[: 0 if few else MOST_NEAR]]
    for status, one in told:
        style = COLOURS.get(one.status, "yellow") if status != "just fails" else "dim"
        pad = " " * (max(len(word) for word, _ in told) - len(status))
        width = max(len(other.theorem.id) for _, other in told)
        head = f"  [{style}]{status}[/]{pad}  [bold]{escape(f'{one.theorem.id:<{width}}')}[/]  "
        words = one.words.removeprefix("It does not apply: ")
        print_hanging(screen, head, escape(as_options(printable(words))))
    screen.print(f"{seconds:.1f} s")
    if where is not None:
        screen.print(f"report: {escape(str(where / 'report.html'))}")
