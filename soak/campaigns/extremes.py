"""`tacit explain` of a few points far from ordinary settings.

Slopes near 0 and 1, points and initial weights of any size, few neurons, losses down to 10^(−1e5).
As in `explain`, every `refuted` is ours; so is every warning.
"""

from __future__ import annotations

from pathlib import Path

from soak.campaigns.explain import none_is_refuted
from soak.case import Case
from soak.point_sets import points, write_csv


def attack(case: Case) -> None:
    rng = case.rng
    X, y = points(rng, most=6, dimensions=(1, 2, 2, 3, 4), decades=40)
    if rng.random() < 0.2:  # what the points pull cancels
        X[-1] = -y[-1] * (y[:-1] @ X[:-1])
    write_csv(Path("points.csv"), X, y)
    small = 10.0 ** rng.uniform(-18, -1)
    slope = case.pick(0.0, 0.5, 1e-4, 1e-15, small, 1 - small)
    size = 10.0 ** (rng.uniform(-40, 40) if rng.random() < 0.4 else rng.uniform(-8, 0))
    words = ["explain", "points.csv", "--seconds", 20, "--out", "why"]
    words += ["--activation", f"leaky:{slope!r}" if 0 < slope < 1 else "relu"]
    words += ["--loss", case.pick("logistic", "logistic", "exponential")]
    words += ["--seed", int(rng.integers(1000)), "--log10-loss", -(10.0 ** rng.uniform(0.7, 5))]
    if rng.random() < 0.3:
        words += ["--train", "first", "--width", case.pick(2, 2, 4, 10, 50)]
        words += ["--init", f"gaussian:{size!r}", "--output-weight", case.pick(1.0, 1e-3, 1e8)]
    else:
        words += ["--width", case.pick(1, 2, 3, 4, 20, 50)]
        words += ["--init", f"{case.pick('balanced', 'gaussian')}:{size!r}"]
    none_is_refuted(case, words)
