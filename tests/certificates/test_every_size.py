"""Data of every size: no warning, no crash, and bounds that are in order and true."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit import Dataset, Setting
from tacit.certificates import Optimum, optimum
from tacit.models import Leaky

POWERS = [-320, -308, -300, -160, -8, 0, 8, 150, 160, 300, 307]


def true_margin(best: Optimum) -> Fraction:
    """min y_i f(x_i) of the first problem's network, exactly."""
    (part,) = best.per_class
    alpha = Fraction(best.network.alpha)
    margins = []
    for x, label in zip(best.data.X, part.y, strict=True):
        output = Fraction(0)
        for w, a in zip(best.network.W, best.network.a, strict=True):
            t = sum(Fraction(float(u)) * Fraction(float(v)) for u, v in zip(w, x, strict=True))
            output += Fraction(float(a)) * max(t, alpha * t)
        margins.append(int(label) * output)
    return min(margins)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("train", ["both", "first"])
def test_any_size(train: str, mixed: bool, rng: np.random.Generator) -> None:
    seen = set()
    for _ in range(40):
        n, d = rng.integers(1, 5, 2)
        size = rng.choice(POWERS, size=(n, d) if mixed else 1)
        X = rng.normal(size=(n, d)) * 10.0**size
        X[rng.random((n, d)) < 0.2] = 0
        y, alpha = rng.choice([-1, 1], n), float(rng.choice([0.0, 0.5]))
        best = optimum(Dataset(X, y), Setting(activation=Leaky(alpha), train=train, width=4))
        seen.add(best.status)
        if best.status == "infeasible":
            continue
        assert 0 <= best.objective_bounds.lower <= best.objective_bounds.upper
        assert np.isfinite(best.network.W).all() and np.isfinite(best.network.a).all()
        assert (best.per_class[0].dual >= 0).all()
        if best.network.width:
            assert true_margin(best) > Fraction(999, 1000)
    assert seen >= {"certified", "infeasible"}


@pytest.mark.parametrize("d", [2, 3])
def test_of_subnormal_points_the_margin_is_not_0(d: int) -> None:
    """They are separable, so 0 is no bound; who watches the search is told infinity in silence."""
    X = np.diag([1e-320, 5e-324, 0.0])[:2, :d]
    told = []
    best = optimum(Dataset(X, np.array([1, -1])), progress=lambda *bounds: told.append(bounds))
    assert told and best.status == "bounded" and best.margin_bounds.upper > 0
