"""`tacit explain`."""

from __future__ import annotations

from pathlib import Path

from tacit.cli._app import DataOptions, NetworkOptions, app, need_seconds, print_json, warn

DEFAULT = "orthogonal:n=40,d=2,seed=3"
"""Explained when nothing is named: the theorems of three papers apply, and it can be drawn."""


@app.command
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
        Follow the path until log₁₀ of the loss is at most this, and on while it does not tell yet
        what it leads to.
    seconds
        Stop following after about that long (for each class).
    seed
        Of the initial weights. Generators have a seed of their own.
    out
        Write `report.html` and `result.json` into this folder; unless told otherwise a new one
        that is called after the data.
    force
        Replace OUT if it exists.
    json
        One JSON object on standard output.
    """
    setting = network.setting()
    need_seconds(seconds)

    from tacit.cli import printing as show
    from tacit.cli.limit import flow_progress
    from tacit.explanation import explain as explanation
    from tacit.files import check_writable, write_folder

    if out is not None:
        check_writable(out, force)
    points = options.load(data)
    with flow_progress(hidden=json) as progress:
        found = explanation(setting, points, seed, only, log10_loss, seconds, progress)
    result = show.explanation_as_json(found)
    where = _free(points.name) if out is None else out
    write_folder(where, show.explanation_files(found, result), force)
    if json:
        print_json(result)
    else:
        show.explanation(found, where)
    if found.interrupted:
        warn(f"interrupted; what was found until then is in {where}")
        return 130
    return int(show.refuted(found))


def _free(name: str) -> Path:
    """A folder of this directory that does not exist yet."""
    word = "".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-")[:40]
    base = f"explain-{word or 'data'}"
    path, number = Path(base), 1
    while path.exists():
        number += 1
        path = Path(f"{base}-{number}")
    return path
