"""Figure 6: a decoy set of XORD with a negative point that is not diverse."""

from dataclasses import dataclass

import numpy as np

from tacit.papers.brutzkus2019.drawing import curves
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.decoy_pair import (
    QUICK_DECOY,
    Decoy,
    draw_and_judge,
    train_pair,
)
from tacit.papers.brutzkus2019.figures.intervals import shares
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours


@dataclass(frozen=True)
class Fig6(Decoy):
    gamma: float = ours(2.5, "App. D gives none; chosen as the best of those in panel (e)")
    gammas: tuple[float, ...] = ours((1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0), "for panel (e)")


@PAPER.artefact(
    "fig6", "Figure 6, App. D", Fig6, {**QUICK_DECOY, "runs": 100, "gammas": (1.0, 8.0)}
)
def fig6(s: Fig6, tell: Tell) -> Exhibit:
    """XORD on a decoy set with a negative point that is not diverse

    As Figure 3, but the last negative point has only the pattern (1, −1), which a network must
    now detect to fit all points. It may still miss other patterns. Theorem 6.4 speaks of diverse
    points only, so its 33/48 is no claim about this set.

    The paper does not say which γ it used. The last panel shows that it matters: with γ = 1 wide
    networks miss a positive pattern, with a large γ the negative pattern that the last point
    does not have; in between most of them learn f*, and small networks mostly do not for any γ.
    """
    gammas = sorted({*s.gammas, s.gamma})
    pairs = {gamma: train_pair(s, "xord_appD", gamma, tell) for gamma in gammas}
    figure, (panels,) = new_figure(1, 5, size=(20, 4.5))
    (*claims, _), arrays = draw_and_judge(s, *pairs[s.gamma], panels)
    rows = {
        f"k = {k}": shares(pairs[gamma][i].learned_all for gamma in gammas)
        for i, k in enumerate((s.k, s.small_k))
    }
    curves(panels[4], gammas, rows, "(e) networks that fit and learn f*", ("γ", "share"))
    arrays |= {"gammas": np.array(gammas), "learned": np.array([*rows.values()])}
    return Exhibit(tuple(claims), figure, arrays)
