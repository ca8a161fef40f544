"""The distinct examples of many small data sets, for networks that are batched together."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from tacit._jax import jnp
from tacit.models import ConvMaxPool
from tacit.models.losses import Loss
from tacit.training.rules import Descent
from tacit.values import Dataset

MOST_TERMS = 64
"""Above this many products or patches per step, all written out, compiling takes too long."""

Example = tuple[int, ...]
"""The numbers of its distinct patches."""


class Pool(NamedTuple):
    """The distinct examples of an ensemble's data sets."""

    patches: np.ndarray
    """U × p, distinct."""
    examples: tuple[Example, ...]
    labels: np.ndarray
    weights: np.ndarray
    """K examples × members: the loss coefficients of a member's data, 0 where it has no such."""


def pool(descent: Descent, sets: Sequence[Dataset]) -> Pool | None:
    """The pool of these data sets; None where they have too many different examples."""
    model, loss = descent.model, descent.loss
    assert loss is not None
    size = model.patch if isinstance(model, ConvMaxPool) else sets[0].d
    distinct = list({id(data): data for data in sets}.values())
    patches: set[tuple[float, ...]] = set()
    examples: dict[tuple[frozenset, int], dict[int, float]] = {}
    terms = 0

    @cache
    def rows_of(point: bytes) -> frozenset[tuple[float, ...]]:
        return frozenset(map(tuple, np.frombuffer(point).reshape(-1, size).tolist()))

    for i, data in enumerate(distinct):
        labels = tuple(data.y.tolist())
        for x, y, c in zip(data.X, labels, _coefficients(loss, labels), strict=True):
            rows = rows_of((x + 0.0).tobytes())  # −0 becomes 0
            if (rows, y) not in examples:
                examples[rows, y] = {}
                patches |= rows
                terms += len(rows)
            weights = examples[rows, y]
            weights[i] = weights.get(i, 0.0) + c
            if len(patches) * size > MOST_TERMS or terms > MOST_TERMS:
                return None
    # In an order of their own, so that sums do not depend on what else is in the pool.
    number = {row: u for u, row in enumerate(sorted(patches))}
    keys = {key: (tuple(sorted(number[row] for row in key[0])), key[1]) for key in examples}
    ordered = sorted(keys, key=keys.__getitem__)
    table = np.zeros((len(ordered), len(distinct)))
    for k, key in enumerate(ordered):
        for i, weight in examples[key].items():
            table[k, i] = weight
    column = {id(data): i for i, data in enumerate(distinct)}
    return Pool(
        np.array(list(number)),
        tuple(keys[key][0] for key in ordered),
        np.array([float(y) for _, y in ordered]),
        table[:, [column[id(data)] for data in sets]],
    )


@lru_cache
def _coefficients(loss: Loss, labels: tuple[int, ...]) -> list[float]:
    return np.asarray(loss.weights(jnp.array(labels))).tolist()


def exact(data: Dataset) -> bool:
    """Whether products with the entries of X are exact, because these are 0 and ±1."""
    return bool(np.isin(data.X, (-1.0, 0.0, 1.0)).all())
