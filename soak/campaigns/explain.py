"""`tacit explain` on random, degenerate, rescaled and nearly tied data.

The theorems are true, so every `refuted` is ours; so is every warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from soak.case import Case
from soak.point_sets import points, write_csv


def attack(case: Case) -> None:
    X, y = points(case.rng, most=8)
    write_csv(Path("points.csv"), X, y)
    activation = case.pick("relu", "relu", "leaky:0.3", "leaky:0.7")
    words = ["explain", "points.csv", "--activation", activation, "--seconds", 30, "--out", "why"]
    words += ["--width", case.pick(2, 4, 6, 20, 100), "--seed", int(case.rng.integers(1000))]
    words += ["--loss", case.pick("logistic", "logistic", "exponential")]
    if case.rng.random() < 0.2:
        words += ["--train", "first", "--init", case.pick("gaussian:1e-4", "gaussian:1e-2")]
    else:
        sizes = ("balanced:1e-4", "balanced:1e-2", "balanced:1e-6", "gaussian:1e-3")
        words += ["--init", case.pick(*sizes)]
    none_is_refuted(case, words)


def none_is_refuted(case: Case, words: Sequence[object]) -> None:
    """Run the command, which writes a report to `why`."""
    result = case.as_json(*words, codes=(0, 1))
    refuted = [one["id"] for one in result["theorems"] if one["verdict"] == "refuted"]
    case.need(not refuted, f"refuted: {', '.join(refuted)}")
    report = Path("why/report.html").read_text("utf-8")
    case.need(report.rstrip().endswith("</html>"), "the report is cut off")
