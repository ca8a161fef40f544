"""`tacit predict` and `tacit explain` in the terminal, as JSON and as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from tacit.cli.check import SIGNS
from tacit.cli.terminal import console, title
from tacit.values.text import printable

if TYPE_CHECKING:
    from tacit.explanation import Explanation, Predictions
    from tacit.theorems import Verdict

COLOURS = {"refuted": "bold white on red", "differs": "red", "confirmed": "green"}
MOST_TOLD, MOST_NEAR = 7, 3
"""Theorems that a summary names: those with a verdict, and those that just fail."""


def predictions(found: Predictions) -> None:
    """The summary of `tacit predict`."""
    screen = console()
    screen.print(title(found.case.data))
    _predictions(screen, found.verdicts)
    for name, verdicts in found.classes:
        screen.print(f"\n[bold]{escape(printable(name))} against the rest[/]")
        _predictions(screen, verdicts)
    screen.print(
        "? means that it cannot be decided without a run, or not at all; "
        "--json has every hypothesis with its slack."
    )


def _predictions(screen: Console, verdicts: tuple[Verdict, ...]) -> None:
    order = {True: 0, None: 1, False: 2}
    for verdict in sorted(verdicts, key=lambda one: order[one.applies]):
        name = f"[bold]{escape(verdict.theorem.id)}[/]"
        said = verdict.prediction.words if verdict.prediction else verdict.words
        screen.print(f"{SIGNS[verdict.applies]} {name}  {escape(printable(said))}")
        if verdict.applies is None:
            screen.print(f"    [dim]{escape(printable(verdict.words))}[/]")


def predictions_as_json(found: Predictions) -> dict[str, Any]:
    """The contract of `tacit predict --json`."""
    from tacit.explanation.summary import predictions

    return predictions(found)


def explanation(found: Explanation, where: Path) -> None:
    """What a person reads in ten seconds."""
    from tacit.explanation.sentences import just_fail, sentences, telling

    screen = console()
    screen.print(title(found.data))
    for sentence in sentences(found):
        screen.print(escape(printable(sentence)))
    part = found.worst
    few = len(part.verdicts) <= MOST_TOLD
    for verdict in part.verdicts if few else telling(part.verdicts, MOST_TOLD):
        style = COLOURS.get(verdict.status, "yellow")
        about = f"[{style}]{verdict.status}[/] [bold]{escape(verdict.theorem.id)}[/]"
        screen.print(f"  {about}  {escape(printable(verdict.words))}")
    for verdict in just_fail(part.verdicts)[: 0 if few else MOST_NEAR]:
        screen.print(
            f"  [dim]just fails[/] [bold]{escape(verdict.theorem.id)}[/]  "
            f"{escape(printable(verdict.words))}"
        )
    screen.print(f"{found.seconds:.1f} s")
    screen.print(f"report: {escape(str(where / 'report.html'))}")


def explanation_as_json(found: Explanation) -> dict[str, Any]:
    """The contract of `tacit explain --json`."""
    from tacit.explanation.summary import explanation

    return explanation(found, found.geometry.to_dict())


def explanation_files(found: Explanation, result: dict[str, Any]) -> dict[str, bytes]:
    """report.html and result.json."""
    from tacit.explanation.report import page

    text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
    return {"report.html": page(found).encode(), "result.json": text.encode()}


def refuted(found: Explanation) -> bool:
    """Whether any theorem is."""
    verdicts = [verdict for part in found.parts for verdict in part.verdicts]
    return any(verdict.status == "refuted" for verdict in [*verdicts, *found.verdicts])
