"""The two of very many points that are farthest apart, without a matrix of all distances."""

import numpy as np

SWEEPS = 10
"""Looks for the row farthest from one, then from that one, …, before all pairs are compared."""
MOST_PAIRS, MOST_AT_ONCE = 400_000_000, 4_000_000
"""Pairs of neurons that are compared, and distances that are held at a time."""


def farthest_pair(points: np.ndarray) -> tuple[int, int] | None:
    """The two rows that are farthest apart; None where it would take too long to say.

    Distances are accurate also when all of them are tiny, since the mean is taken off. Rows that
    are too near to it to be farther from any other than the best pair so far are left out.
    """
    points = points - points.mean(axis=0)
    square = (points**2).sum(axis=1)
    best, pair, i = -1.0, (0, 0), int(square.argmax())
    for _ in range(SWEEPS):
        # ‖p‖² + ‖q‖² − 2p·q by one product; the centring above keeps its cancellation small.
        distance = square + square[i] - 2 * points @ points[i]
        j = int(distance.argmax())
        if distance[j] <= best:
            break
        best, pair, i = float(distance[j]), (i, j), j
    # No row is farther from another than its own distance to the mean and the largest one.
    reach = np.sqrt(square) + np.sqrt(square.max())
    # The share 1e-9 is far above rounding, so that the farthest row cannot be lost by it.
    rows = np.flatnonzero(reach >= (1 - 1e-9) * np.sqrt(max(best, 0.0)))
    if len(rows) ** 2 > MOST_PAIRS:
        return None
    few = points[rows]
    block = max(1, MOST_AT_ONCE // len(rows))
    for start in range(0, len(rows), block):
        some = slice(start, start + block)
        distances = square[rows[some], None] + square[rows] - 2 * few[some] @ few.T
        k, j = np.unravel_index(distances.argmax(), distances.shape)
        if distances[k, j] > best:
            best, pair = float(distances[k, j]), (int(rows[start + k]), int(rows[j]))
    return pair
