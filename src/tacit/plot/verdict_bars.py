"""What holds, what does not, and what is not decided: properties of data, theorems of papers."""

from collections import Counter

from matplotlib.axes import Axes

from tacit.explanation import Predictions
from tacit.geometry import Geometry
from tacit.plot.axes import SMALL, draws, literal, own_axes

COLOURS = {True: "#00695c", False: "#b3001b", None: "#8a8f98"}
SLACK_WORDS = {True: "holds", False: "fails", None: "not decided"}
THEOREM_WORDS = {True: "applies", None: "may apply", False: "does not apply"}
LINEAR = 1e-3
"""Slacks are drawn logarithmically beyond this, so that a narrow failure is seen."""


@draws("geometry", "geometry : Geometry", "What `tacit.check` returned.")
def slacks(geometry: Geometry, ax: Axes | None = None) -> Axes:
    """Draw the slack of every property: to the right what holds, to the left what fails."""
    ax = own_axes(ax)
    checks = list(geometry.properties.values())[::-1]
    for place, check in enumerate(checks):
        colour, slack = COLOURS[check.holds], check.slack or 0.0
        ax.plot([0, slack], [place, place], c=colour, lw=1.5)
        ax.plot([slack], [place], "o", c=colour, ms=5)
    for holds, word in SLACK_WORDS.items():
        ax.plot([], [], "o-", c=COLOURS[holds], label=word)
    ax.axvline(0, c="0.6", lw=0.8)
    ax.set_xscale("symlog", linthresh=LINEAR)
    ax.set_yticks(range(len(checks)), [check.name for check in checks])
    ax.set(
        title=f"{literal(geometry.data.name)}: which assumptions hold",
        xlabel=f"slack (logarithmic beyond ±{LINEAR:g})",
    )
    ax.legend(loc="best", fontsize=SMALL)
    return ax


@draws("predictions", "predictions : Predictions", "What `tacit.predict` returned.")
def applicability(predictions: Predictions, ax: Axes | None = None) -> Axes:
    """Draw how many theorems of every paper apply, may apply, or do not."""
    ax = own_axes(ax)
    answers = [(one.theorem.source.key, one.applies) for one in predictions.verdicts]
    papers = list(dict.fromkeys(key for key, _ in answers))[::-1]
    numbers = Counter(answers)
    left = [0] * len(papers)
    for applies, word in THEOREM_WORDS.items():
        sizes = [numbers[key, applies] for key in papers]
        ax.barh(papers, sizes, left=left, color=COLOURS[applies], alpha=0.85, label=word)
        left = [a + b for a, b in zip(left, sizes, strict=True)]
    ax.set(title=f"{literal(predictions.data.name)}: which theorems apply", xlabel="statements")
    ax.legend(loc="best", fontsize=SMALL)
    return ax
