"""Figure 6: more pairs of digits become linear on the data."""

from dataclasses import dataclass

from tacit.papers.sarussi2021.drawing import curves, mark_first_epoch, shares_down_to_zero
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.image_runs import (
    QUICK_IMAGES,
    ImageRuns,
    as_id,
    image_sets,
    separable,
    train_on_all,
)
from tacit.papers.sarussi2021.figures.several_runs import mean_of_runs
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_most


@dataclass(frozen=True)
class Fig6(ImageRuns):
    pairs: tuple[str, ...] = ours(
        ("0/8", "1/7", "2/7", "3/8", "4/9", "5/6"), "the paper's legend is not in its text"
    )
    n: int = ours(2000, "a random subset that is linearly separable")
    runs: int = paper(5, "Fig. 6")


QUICK = {**QUICK_IMAGES, "runs": 2, "pairs": ("1/7", "3/8", "4/9")}


@PAPER.artefact("fig6", "Figure 6, App. D.2", Fig6, QUICK)
def fig6(s: Fig6, tell: Tell) -> Exhibit:
    """More pairs of digits: the learned classifier becomes linear on the data.

    As on the left of Figure 2: the share of training and test points outside the linear region of
    Theorem 5.1. Lines are means over the initialisations, bands go from the smallest to the
    largest of them. Below 1% the axis is linear.
    """
    sets, departures = image_sets(s, s.pairs)
    updates, lines, _ = train_on_all(s, sets, s.small, ("nonlinear_share",), tell)
    shares = lines["nonlinear_share"]
    figure, ((ax,),) = new_figure(size=(7.0, 4.6))
    curves(ax, updates, shares)
    mark_first_epoch(ax, s.n)
    shares_down_to_zero(ax, f"mean of {s.runs} initialisations (std {s.small:g})")
    claims = [separable(sets)]
    for name, share in shares.items():
        text = f"{name}: mean share at the end"
        claims.append(mean_of_runs(at_most, as_id(name), text, share[:, -1], s.few, "→ 0"))
    arrays = {as_id(name): share for name, share in shares.items()}
    return Exhibit(
        tuple(claims), figure, {"updates": updates[next(iter(updates))], **arrays}, departures
    )
