"""`tacit train`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tacit.cli._app import DataOptions, app, print_json, warn
from tacit.values import BadInput, Setting

MOST_RUNS = 10_000


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

    from tacit.cli import printing as show
    from tacit.training import load, save, summary
    from tacit.training import train as follow

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
        from tacit.plot import draw_run

        draw_run(run, picture, force)
    if json:
        print_json(summary(run))
    else:
        show.run(run, out, picture)
    return 0
