"""Figure 5: a higher confidence γ of the hinge loss generalises better."""

from dataclasses import dataclass

import numpy as np

from tacit.papers.brutzkus2019.drawing import curves
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.intervals import mean_errors
from tacit.papers.brutzkus2019.figures.xord_runs import EXACT, QUICK_XORD, Xord, train_xord
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_most, mean_interval


@dataclass(frozen=True)
class Fig5(Xord):
    gammas: tuple[float, ...] = paper((1.0, 5.0), "App. C.2")
    d: int = ours(7, "any d from 4 on; Figure 1 shows what others change")
    others: str = ours("uniform", "of points that are not diverse; Figure 1 shows other choices")


@PAPER.artefact("fig5", "Figure 5, App. C.2", Fig5, {**QUICK_XORD, "channels": (8, 20)})
def fig5(s: Fig5, tell: Tell) -> Exhibit:
    """A higher confidence of the hinge loss generalises better

    The average test error over the number of channels, for each confidence γ of the positive
    points in (4); bars are 99% intervals. Runs of one number of channels have the same training
    sets and initial weights for every γ, so their differences are compared run by run.
    """
    rest = (s.d, s.others, s.runs, tell)
    errors = np.array(
        [[train_xord(s, c, g, *rest).test_error("neither") for c in s.channels] for g in s.gammas]
    )
    figure, ((ax,),) = new_figure(size=(7.5, 4.8))
    rows = {f"γ = {g:g}": mean_errors(e) for g, e in zip(s.gammas, errors, strict=True)}
    names = ("channels c = 2k", "average test error")
    curves(ax, s.channels, rows, "test error on XORD by γ", names)
    low, high = s.gammas[0], s.gammas[-1]
    gain = errors[0] - errors[-1]  # channels × runs
    interval = mean_interval(gain.mean(axis=0))
    text = f"γ = {high:g} has a smaller test error than γ = {low:g}: the difference, averaged over "
    text += "all numbers of channels, is positive beyond its 99% interval"
    worse = sum(mean_interval(row)[1] < 0 for row in gain)
    claims = (
        Claim("better", text, "better", float(gain.mean()), interval[0] > 0, interval),
        at_most(
            "worse", f"numbers of channels at which γ = {high:g} is worse (99%)", worse, 0, "better"
        ),
    )
    data = {"channels": np.array(s.channels), "gammas": np.array(s.gammas), "test_error": errors}
    return Exhibit(claims, figure, data, (EXACT,))
