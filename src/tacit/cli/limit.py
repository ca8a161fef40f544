"""`tacit limit`."""

from __future__ import annotations

from pathlib import Path

from tacit.cli._app import DataOptions, NetworkOptions, app, need_seconds, print_json, warn
from tacit.values import BadInput


@app.command
def limit(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    network: NetworkOptions = NetworkOptions(),  # noqa: B008  (frozen)
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    seed: int = 0,
    out: Path | None = None,
    picture: Path | None = None,
    force: bool = False,
    json: bool = False,
) -> int:
    """Follow gradient flow to its end: which network it becomes, and whether that is the best.

    Every outcome is an answer, with exit code 0; only `converged` claims a limit.

    Parameters
    ----------
    data
        File or generator call. Of more than two classes, one network each against the rest.
    log10_loss
        Follow the path until log₁₀ of the loss is at most this, and on to −10²⁵⁰ while it does
        not tell yet what it leads to.
    seconds
        Stop following after about that long (for each class).
    seed
        Of the initial weights. Generators have a seed of their own.
    out
        Write limit and path into this folder; `tacit certify` takes it.
    picture
        Draw the limit and the way there (.png, .svg or .pdf).
    force
        Replace OUT and PICTURE if they exist.
    json
        One JSON object on standard output.
    """
    _check_targets(data, out, picture, force)
    need_seconds(seconds)
    setting = network.setting()

    from tacit.cli import printing as show
    from tacit.flow.limit_folder import save
    from tacit.flow.limits import find_each

    points = options.load(data)
    with show.limit_progress(hidden=json) as progress:
        found, interrupted = find_each(setting, points, seed, log10_loss, seconds, progress)
    if out is not None:
        save(found, points, out, force)
    if interrupted:
        picture = None
    if picture is not None:
        from tacit.plot import draw_limit

        draw_limit(found, points, picture, force)
    if json:
        print_json(show.limit_as_json(found, points))
    else:
        show.limit(found, points, out, picture)
    if interrupted:
        saved = f"; saved in {out}" if out else "; nothing was saved"
        warn(f"interrupted at log₁₀ loss {found[-1].log10_loss:.6g}{saved}")
    return 130 if interrupted else 0


def _check_targets(data: str, out: Path | None, picture: Path | None, force: bool) -> None:
    """What is to be written can be, and is not what is read."""
    from tacit.files import check_writable

    given = [Path(part).resolve() for part in data.split(",")]
    for option, path in (("--out", out), ("--picture", picture)):
        if path is not None and path.resolve() in given:
            raise BadInput(f"{option} {path} is the data itself; choose another name")
    if out is not None:
        check_writable(out, force)
        if picture is not None and out.resolve() == picture.resolve():
            raise BadInput(f"--out and --picture are both {out}; give them different names")
    if picture is not None:
        from tacit.plot import check_ending

        check_ending(picture)
        check_writable(picture, force, folder=False)
