"""Pictures; the one door to matplotlib. A picture is a function that fills a figure."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.files import write_file
from tacit.values import BadInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.explanation import Part
    from tacit.flow import Limit, Limits
    from tacit.training import Run

ENDINGS = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"{path}: a picture's name must end in {', '.join(ENDINGS)}")


def draw_run(run: Run, path: Path, force: bool = False) -> None:
    """What was learned, into a file whose ending says the format."""
    from matplotlib.figure import Figure

    from tacit.plot.learned import fill

    check_ending(path)
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    fill(figure, run)
    _write(figure, path, force)


def draw_limit(result: Limit | Limits, path: Path, force: bool = False) -> None:
    """Draw the limit and the way there into a file; of several networks the worst."""
    from matplotlib.figure import Figure

    from tacit.plot.limits import fill

    check_ending(path)
    figure = Figure(figsize=(14, 8.4), layout="constrained")
    fill(figure, result)
    _write(figure, path, force)


def limit(result: Limit | Limits, ax: Axes | None = None) -> Axes:
    """Draw the outputs of a limit over the data, with the decision boundary.

    Parameters
    ----------
    result : Limit or Limits
        What `tacit.limit` returned; of several networks the worst is drawn. Where the path has no
        limit, the network at its end is.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when there is none.

    Returns
    -------
    matplotlib Axes
    """
    from tacit.plot.limits import outputs

    if ax is None:
        ax = new_figure()[1][0, 0]
    outputs(ax, result.worst)
    return ax


def explanation_pictures(part: Part) -> dict[str, bytes]:
    """Pictures of one network of an explanation as SVG, by name."""
    from tacit.plot.explanations import pictures

    return pictures(part)


def new_figure(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any
) -> tuple[Figure, np.ndarray]:
    """An empty figure and its panels (rows × columns); `size` is in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or (4.6 * columns, 4.0 * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def under(figure: Figure, text: str) -> None:
    """Write a text under the panels, its lines broken at the figure's width."""
    letters = int(15.5 * figure.get_figwidth())
    lines = [line for row in text.splitlines() for line in textwrap.wrap(row, letters)]
    figure.set_figheight(figure.get_figheight() + 0.16 * len(lines))
    figure.supxlabel(
        "\n".join(lines),
        x=0.01,
        ha="left",
        size=8,
        color="0.25",
        linespacing=1.35,
        parse_math=False,
    )


def picture(figure: Figure, ending: str) -> bytes:
    """The figure as a file; the same figure gives the same bytes."""
    import matplotlib

    whole = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}):
        nothing = {"svg": {"Date": None}, "png": {"Software": None}}.get(ending)
        figure.savefig(whole, format=ending, dpi=110, metadata=nothing)
    return whole.getvalue()


def _write(figure: Figure, path: Path, force: bool) -> None:
    whole = io.BytesIO()
    figure.savefig(whole, format=path.suffix[1:].lower(), dpi=150)
    write_file(path, whole.getvalue(), force)
