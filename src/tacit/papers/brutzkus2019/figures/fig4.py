"""Figure 4: on MNIST 3×3 filters of a large network cluster."""

from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.image_filters import (
    QUICK_IMAGES,
    ImageFilters,
    compare_filters,
)
from tacit.reproduction.artefact import Exhibit, Tell


@PAPER.artefact("fig4", "Figure 4, §7", ImageFilters, QUICK_IMAGES, images=True)
def fig4(s: ImageFilters, tell: Tell) -> Exhibit:
    """MNIST, 3×3 filters: the filters of a large network gather, and four centres are enough

    On the left, the angle of every filter of the large network to the closest of the centres that
    k-means finds for the filters (all of length 1), after training and at the start. On the right,
    test errors over the size of the training set: the small network trained as usual (the best of
    several learning rates and initial scales), the small network whose filters are the centres of
    the large one's filters and stay there, and the large network; in grey, with the centres of
    filters of length 1 instead. Bars are 99% intervals of the averages.
    """
    return compare_filters(s, tell)
