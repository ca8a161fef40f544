"""Pictures: functions that draw on Axes they are given and return them.

`tacit.plot.limit(end, ax)` and the other nouns of this package draw one thing each; `draw` picks
the one for a result, and is what `result.plot(ax)` calls. This package alone, with the drawing of
single papers, uses matplotlib.
"""

from __future__ import annotations

import io
import os
import textwrap
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.files import write_file
from tacit.values import BadInput, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.explanation import Part
    from tacit.flow import Limit as Limit
    from tacit.flow import Limits
    from tacit.plot.explanations import prediction_and_limit as explanation
    from tacit.plot.learned import outputs as run
    from tacit.plot.limits import distance as distance
    from tacit.plot.limits import loss as loss
    from tacit.plot.limits import margins as margins
    from tacit.plot.limits import outputs as limit
    from tacit.plot.neuron_circle import neurons as neurons
    from tacit.plot.neuron_paths import neuron_paths as turning
    from tacit.plot.plane import network_outputs as network
    from tacit.plot.plane import points as points
    from tacit.plot.probes import margin_and_residual as probe
    from tacit.plot.probes import sorted_margins as probed
    from tacit.plot.verdict_bars import applicability as predictions
    from tacit.plot.verdict_bars import slacks as geometry
    from tacit.training import Run

ENDINGS = (".png", ".svg", ".pdf")
_NOUNS = {
    "certificate": ("proved", "margin_in_bounds"),
    "claims": ("proved", "claims"),
    "distance": ("limits", "distance"),
    "explanation": ("explanations", "prediction_and_limit"),
    "geometry": ("verdict_bars", "slacks"),
    "limit": ("limits", "outputs"),
    "loss": ("limits", "loss"),
    "margins": ("limits", "margins"),
    "network": ("plane", "network_outputs"),
    "optimum": ("proved", "best_network"),
    "verification": ("proved", "proved_bounds"),
    "neurons": ("neuron_circle", "neurons"),
    "points": ("plane", "points"),
    "probe": ("probes", "margin_and_residual"),
    "probed": ("probes", "sorted_margins"),
    "predictions": ("verdict_bars", "applicability"),
    "run": ("learned", "outputs"),
    "turning": ("neuron_paths", "neuron_paths"),
}
"""Noun → module and function; matplotlib is imported when one is used."""
_RESULTS = {
    "Certificate": "certificate",
    "Optimum": "optimum",
    "Reproduction": "claims",
    "Verification": "verification",
    "Dataset": "points",
    "Explanation": "explanation",
    "Geometry": "geometry",
    "Limit": "limit",
    "Limits": "limit",
    "Predictions": "predictions",
    "Probe": "probe",
    "Probed": "probed",
    "Run": "run",
}
"""The noun that draws a result, by the name of its class."""
__all__ = ["draw", *_NOUNS]


def draw(result: Result, ax: Axes | None = None) -> Axes:
    """Draw a result.

    Parameters
    ----------
    result : Result
        What a verb returned, or a data set.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when there is none.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import tacit
    >>> tacit.plot.draw(tacit.load("xor")).get_title()
    'xor'
    """
    for kind in type(result).__mro__:
        if kind.__name__ in _RESULTS:
            return __getattr__(_RESULTS[kind.__name__])(result, ax)
    raise BadInput(f"there is no picture of a {type(result).__name__}")


def __getattr__(name: str) -> Any:
    if name in _NOUNS:
        module, function = _NOUNS[name]
        return getattr(import_module(f"tacit.plot.{module}"), function)
    raise AttributeError(f"module 'tacit.plot' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)


def check_backend() -> None:
    """Refuse a backend in the environment that matplotlib would refuse after the work is done."""
    try:
        import_module("matplotlib")
    except ValueError:
        raise BadInput(
            f"MPLBACKEND={os.environ.get('MPLBACKEND')} is no backend of matplotlib; "
            "unset it, or set it to agg"
        ) from None


def check_ending(path: Path) -> None:
    """Refuse names of pictures whose format is not known."""
    check_backend()
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"{path}: a picture's name must end in {', '.join(ENDINGS)}")


def draw_run(run: Run, path: Path, force: bool = False) -> None:
    """Draw what was learned into a file whose ending says the format."""
    from tacit.plot.learned import fill

    check_ending(path)
    figure = _empty_figure((13, 4.2))
    fill(figure, run)
    _write(figure, path, force)


def draw_limit(result: Limit | Limits, path: Path, force: bool = False) -> None:
    """Draw the limit and the way there into a file; of several networks the worst."""
    from tacit.plot.limits import fill

    check_ending(path)
    figure = _empty_figure((14, 8.4))
    fill(figure, result)
    _write(figure, path, force)


def explanation_pictures(part: Part) -> dict[str, bytes]:
    """Pictures of one network of an explanation as SVG, by name."""
    from tacit.plot.explanations import pictures

    return pictures(part)


def new_figure(
    rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any
) -> tuple[Figure, np.ndarray]:
    """An empty figure and its panels (rows × columns); `size` is in inches."""
    figure = _empty_figure(size or (4.6 * columns, 4.0 * rows))
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def _empty_figure(size: tuple[float, float]) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


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
