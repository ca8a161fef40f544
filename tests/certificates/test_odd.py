"""Data of every size: no warning, no crash, and bounds that are in order and true."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit import Dataset
from tacit.certificates import Best, optimum

POWERS = [-320, -308, -300, -160, -8, 0, 8, 150, 160, 300, 307]


def true_margin(best: Best) -> Fraction:
    """min y_i f(x_i) of the first problem's network, exactly."""
    problem = best.problems[0]
    alpha = Fraction(best.alpha)
    margins = []
    for x, label in zip(best.data.X, problem.y, strict=True):
        output = Fraction(0)
        for w, a in zip(problem.W, problem.a, strict=True):
            t = sum(Fraction(float(u)) * Fraction(float(v)) for u, v in zip(w, x, strict=True))
            output += Fraction(float(a)) * max(t, alpha * t)
        margins.append(int(label) * output)
    return min(margins)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("train", ["both", "first"])
def test_any_size(train: str, mixed: bool, rng: np.random.Generator) -> None:
    found = set()
    for _ in range(40):
        n, d = rng.integers(1, 5, 2)
        size = rng.choice(POWERS, size=(n, d) if mixed else 1)
        X = rng.normal(size=(n, d)) * 10.0**size
        X[rng.random((n, d)) < 0.2] = 0
        best = optimum(Dataset(X, rng.choice([-1, 1], n)), float(rng.choice([0.0, 0.5])), train, 4)
        found.add(best.status)
        if best.status == "infeasible":
            continue
        assert 0 <= best.lower <= best.upper
        for problem in best.problems:
            assert np.isfinite(problem.W).all() and np.isfinite(problem.a).all()
            assert (problem.dual >= 0).all()
        if len(best.problems[0].a):
            assert true_margin(best) > Fraction(999, 1000)
    assert found >= {"certified", "infeasible"}
