"""Points in groups: k-means."""

import numpy as np

from tacit.messages import require

STARTS = 10
"""Random starts of k-means; the best end counts."""


def cluster_centres(points: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    """The k centres (k × d) that k-means finds for the rows of `points`."""
    from sklearn.cluster import KMeans

    require(1 <= k <= len(points), f"{k} centres of {len(points)} points: 1 … {len(points)}")
    fit = KMeans(k, n_init=STARTS, random_state=seed).fit(np.asarray(points, dtype=np.float64))
    return np.asarray(fit.cluster_centers_)
