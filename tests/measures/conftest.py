"""Networks at one moment, to be measured."""

from collections.abc import Callable

import numpy as np
import pytest

from tacit.measures import Snapshot
from tacit.models import TwoLayer
from tacit.models.losses import Logistic, Loss
from tacit.values import Dataset

Look = Callable[..., Snapshot]


@pytest.fixture
def look() -> Look:
    """A two-layer net with these weights on these points; labels +1 unless given."""

    def make(
        W: object,
        a: object,
        X: object = ((1.0, 0.0),),
        y: object = None,
        alpha: float = 0.3,
        train: str = "both",
        loss: Loss | None = None,
        test: Dataset | None = None,
    ) -> Snapshot:
        X = np.array(X, dtype=float)
        data = Dataset(X, np.ones(len(X), dtype=int) if y is None else np.asarray(y), test=test)
        params = {"W": np.array(W, dtype=float), "a": np.array(a, dtype=float)}
        return Snapshot(TwoLayer(alpha, train), loss or Logistic(), params, data)

    return make
