"""Figure 3: on a decoy set of XORD both networks fit, only the wide one learns f*."""

from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.decoy_pair import (
    QUICK_DECOY,
    Decoy,
    draw_and_judge,
    train_pair,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell


@PAPER.artefact("fig3", "Figure 3, §5", Decoy, QUICK_DECOY)
def fig3(s: Decoy, tell: Tell) -> Exhibit:
    """XORD on a decoy set: both networks fit it, only the wide one learns f*

    Six positive and six negative points, all diverse: one positive and one negative pattern are
    enough to fit them. The filters w (blue) and u (red) of a wide network on the left, at the
    start and at the end; of a small one on the right. Dotted rays point to the four patterns. The
    wide network that is shown is the first, by its seed, that learned f*; the small one is the
    first that fits all points and has not.
    """
    large, small = train_pair(s, "xord_decoy", s.gamma, tell)
    figure, (panels,) = new_figure(1, 4, size=(16, 4.5))
    claims, arrays = draw_and_judge(s, large, small, panels)
    return Exhibit(claims, figure, arrays)
