"""Figure 8: as Figure 4, with 7×7 filters."""

from dataclasses import dataclass

from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.fig7 import Fig7
from tacit.papers.brutzkus2019.figures.image_filters import QUICK_IMAGES, compare_filters
from tacit.reproduction.artefact import Exhibit, Tell, paper


@dataclass(frozen=True)
class Fig8(Fig7):
    filter: int = paper(7, "App. H")


QUICK = {**QUICK_IMAGES, "n": 200, "sizes": (200,), "channels": 30, "epochs": 20}


@PAPER.artefact("fig8", "Figure 8, App. H", Fig8, QUICK, images=True)
def fig8(s: Fig8, tell: Tell) -> Exhibit:
    """MNIST, 7×7 filters: the same as Figure 4

    With 2,000 training images on the left.
    """
    return compare_filters(s, tell)
