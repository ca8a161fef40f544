"""Figure 7: as Figure 4, with 4×4 filters."""

from dataclasses import dataclass

from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.image_filters import (
    QUICK_IMAGES,
    ImageFilters,
    compare_filters,
)
from tacit.reproduction.artefact import Exhibit, Tell, ours, paper


@dataclass(frozen=True)
class Fig7(ImageFilters):
    filter: int = paper(4, "App. H")
    n: int = paper(2000, "App. H")
    sizes: tuple[int, ...] = ours((500, 1000, 2000), "App. H names only 2000")


@PAPER.artefact("fig7", "Figure 7, App. H", Fig7, QUICK_IMAGES, images=True)
def fig7(s: Fig7, tell: Tell) -> Exhibit:
    """MNIST, 4×4 filters: the same as Figure 4

    With 2,000 training images on the left.
    """
    return compare_filters(s, tell)
