"""The command line: it parses, calls the rooms, and prints. No mathematics here.

Exit codes: 0 success, 1 a check that was asked for fails, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import io
import json as json_module
import os
import re
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from cyclopts import App, CycloptsError, Parameter, convert

from tacit import __version__
from tacit._types import BadInput, Dataset, Setting
from tacit._words import count, printable

MOST_RUNS = 10_000


def whole_numbers(kind: Any, tokens: Any) -> Any:
    """As cyclopts converts, but 1.5 is not a whole number."""
    if int in (get_args(kind) or (kind,)):
        for token in tokens:
            if not re.fullmatch(r"[+-]?[0-9]+", token.value):
                raise ValueError(f"{token.value} is not a whole number")
    return convert(kind, tokens)


app = App(
    name="tacit",
    help="Which of all the solutions does gradient descent pick, why, and is it the best one?",
    version=f"tacit {__version__}",
    default_parameter=Parameter(negative=(), converter=whole_numbers),
    help_epilogue="DATA is a file (.csv, .npz with X and y, or X.npy,y.npy) or a generator call "
    "such as orthogonal:n=500,d=20,seed=0; `tacit list data` shows the generators.",
    suppress_keyboard_interrupt=False,
)


@Parameter(name="*")
@dataclass(frozen=True)
class DataOptions:
    """How DATA is read."""

    labels: str | None = None
    """A,B: the raw label A becomes +1 and B becomes −1; other rows are left out."""
    bias: float | None = None
    """Append this constant to every point as a last coordinate."""
    test: str | None = None
    """A test set, named like DATA."""

    def load(self, text: str) -> Dataset:
        from tacit.data import load

        data = load(text, labels=self.labels, bias=self.bias, test=self.test)
        if left_out := data.parameters.get("left_out"):
            warn(f"{count(left_out, 'row')} with other labels left out")
        return data


@app.command
def check(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    property: tuple[str, ...] = (),
    activation: str = "leaky:0.5",
    seed: int = 0,
    json: bool = False,
) -> int:
    """Geometry of the data: which assumptions of the theorems hold, and by how much.

    Parameters
    ----------
    data
        File or generator call.
    property
        Decide only this property, also where it takes long; may be repeated. Exit code 1 unless
        all of them hold.
    activation
        Slope of the Leaky ReLU, for the assumptions that mention one.
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    from tacit import show
    from tacit.geometry import check as geometry
    from tacit.models.activation import parse_activation

    alpha = parse_activation(activation)
    found = geometry(options.load(data), property, alpha)
    if json:
        print_json(show.geometry_as_json(found))
    else:
        show.geometry(found)
    return int(any(found.properties[name].holds is not True for name in property))


@app.command
def train(
    data: str | None = None,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    setting: Annotated[Setting, Parameter(name="*")] = Setting(),  # noqa: B008  (frozen)
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
    from tacit._io import check_writable

    if resume is not None:
        out = out or resume
        if seed or runs != 1:
            raise BadInput("--resume keeps the run's own seeds; leave --seed and --runs out")
    if out is not None:
        check_writable(out, force or out == resume)
        if picture is not None and out.absolute() == picture.absolute():
            raise BadInput(f"--out and --picture are both {out}; give them different names")
    if picture is not None:
        from tacit.plots import check_ending

        check_ending(picture)
        check_writable(picture, force, folder=False)
    if not 1 <= runs <= MOST_RUNS:
        raise BadInput(f"--runs {runs} must be between 1 and {MOST_RUNS}")
    if (data is None) == (resume is None):
        raise BadInput("give either DATA to train on or --resume RUN to go on with, not both")

    from tacit import show
    from tacit.train import load, save, summary
    from tacit.train import train as follow

    earlier = None
    if resume is not None:
        earlier = load(resume)
        points, changed = earlier.data, setting
        setting = replace(earlier.setting, stop=changed.stop or earlier.setting.stop)
        if replace(changed, stop=()) != Setting() or options != DataOptions():
            raise BadInput("--resume keeps the run's own setting and data; only --stop may change")
    else:
        assert data is not None
        points = options.load(data)
    with show.progress(epochs, hidden=json) as progress:
        run = follow(
            setting,
            points,
            epochs,
            seeds=range(seed, seed + runs),
            record=record,
            progress=progress,
            earlier=earlier,
        )
    if out is not None:
        save(run, out, force or out == resume)
    interrupted = "interrupted" in run.outcomes
    if interrupted:
        more = f"tacit train --resume {shlex.quote(str(out))} --epochs {epochs}"
        where = f"; saved in {out}, go on with: {more}" if out else ""
        warn(f"interrupted at epoch {run.epoch} of {epochs}{where or '; nothing was saved'}")
        return 130
    if picture is not None:
        from tacit.plots import draw_run

        draw_run(run, picture, force)
    if json:
        print_json(summary(run))
    else:
        show.run(run, out, picture)
    return 0


@app.command(name="list")
def list_(
    what: Literal["data", "properties", "measures", "initialisations"],
    /,
    *,
    seed: int = 0,
    json: bool = False,
) -> int:
    """What there is: generators of data, properties, measures, initialisations.

    Parameters
    ----------
    what
        Which list.
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    from tacit import show

    items = show.items(what)
    if json:
        print_json({"items": items})
    else:
        show.table_of_items(items)
    return 0


def print_json(value: Any) -> None:
    print(json_module.dumps(value, ensure_ascii=False, allow_nan=False))


def warn(message: str) -> None:
    print(f"tacit: {printable(message)}", file=sys.stderr)


def main(tokens: list[str] | None = None) -> None:
    """Run a command; every failure a user can cause is one line on standard error."""
    sys.exit(_run(sys.argv[1:] if tokens is None else tokens))


def _run(tokens: list[str]) -> int:
    if sys.stdout is None or sys.stderr is None:  # closed by whoever called
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our letters
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return int(code or 0)
    except (BadInput, CycloptsError) as error:
        warn(str(error))
        return 2
    except KeyboardInterrupt:
        warn("interrupted; nothing was saved")
        return 130
    except MemoryError:
        warn("not enough memory for data or a network of this size; choose a smaller one")
        return 2
    except BrokenPipeError:  # the reader has gone, as in `tacit list data | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        warn(f"the output cannot be written: {error.strerror or error}")
        return 2
    except Exception as error:
        if os.environ.get("TACIT_DEBUG"):
            raise
        warn(
            f"this is a mistake in tacit, not in your input: {type(error).__name__}: {error} "
            "(TACIT_DEBUG=1 shows where)"
        )
        return 70
