"""Pictures; the one door to matplotlib. A picture is a function that fills a figure."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit._io import write_file
from tacit._types import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tacit._types import Dataset
    from tacit.explain import Part
    from tacit.limit import Limit
    from tacit.train import Run

ENDINGS = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"{path}: a picture's name must end in {', '.join(ENDINGS)}")


def draw_run(run: Run, path: Path, force: bool = False) -> None:
    """What was learned, into a file whose ending says the format."""
    from matplotlib.figure import Figure

    from tacit.plots.learned import fill

    check_ending(path)
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    fill(figure, run)
    _write(figure, path, force)


def draw_limit(found: Sequence[Limit], data: Dataset, path: Path, force: bool = False) -> None:
    """The limit and the way there; of several networks the worst."""
    from matplotlib.figure import Figure

    from tacit.plots.limit import fill

    check_ending(path)
    figure = Figure(figsize=(14, 8.4), layout="constrained")
    fill(figure, found, data)
    _write(figure, path, force)


def explanation_pictures(part: Part) -> dict[str, bytes]:
    """Pictures of one network of an explanation as SVG, by name."""
    from tacit.plots.explain import pictures

    return pictures(part)


def _write(figure: Figure, path: Path, force: bool) -> None:
    whole = io.BytesIO()
    figure.savefig(whole, format=path.suffix[1:].lower(), dpi=150)
    write_file(path, whole.getvalue(), force)
