"""The attacks themselves: what they check with is right, they see what is wrong, and a slice."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent.parent))
from soak import descent  # noqa: E402
from soak.campaigns import CAMPAIGNS  # noqa: E402
from soak.case import Answer, Case, Failure, run_case  # noqa: E402
from soak.exact_networks import bound_in_plane, size  # noqa: E402
from soak.linear_program import best_network  # noqa: E402
from soak.runner import Tally, table  # noqa: E402

XOR = np.array([[1.0, 1], [-1, 1], [-1, -1], [1, -1]]), np.array([1, -1, 1, -1])
SLICE = {
    "optimum": 40,
    "first_layer": 10,
    "limit": 4,
    "explain": 4,
    "extremes": 4,
    "check": 40,
    "proofs": 5,
    "files": 60,
    "interrupts": 4,
    "sweeps": 1,
}
"""Cases of every campaign in `make test-long`."""


@pytest.mark.long
@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_a_slice_of_every_campaign(campaign: str) -> None:
    outcomes = {seed: run_case(campaign, seed) for seed in range(SLICE[campaign])}
    failures = {seed: outcome for seed, outcome in outcomes.items() if outcome.failure}
    assert not failures


def test_every_campaign_is_in_the_slice() -> None:
    files = (Path(__file__).parent.parent / "soak" / "campaigns").glob("*.py")
    assert set(SLICE) == set(CAMPAIGNS) == {path.stem for path in files} - {"__init__"}


def test_a_case_is_always_the_same() -> None:
    first, second = (run_case("check", 3) for _ in range(2))
    assert first == second and first.failure is None and len(first.commands) >= 1


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_our_own_bounds_meet(alpha: float, rng: np.random.Generator) -> None:
    """XOR has a neuron for each point; the one of the opposite point takes α of it away."""
    X, y = XOR
    best = best_network(X, y, alpha, rng)
    assert best is not None
    upper = size(best.W, best.a, X, y, alpha)
    lower = bound_in_plane(best.dual, X, y, alpha)
    assert (lower, upper) == pytest.approx((2 * np.sqrt(2) / (1 - alpha),) * 2, rel=1e-9)


@pytest.mark.parametrize("shrunk", [2.0**1023, 2.0**-1022])
def test_our_own_bounds_meet_for_numbers_of_every_size(
    shrunk: float, rng: np.random.Generator
) -> None:
    """One point 600 decades from the others, whose length squared overflows or underflows."""
    X, y = np.array([[1.0, 1], [-1, 1], [-1, -1], [shrunk, -shrunk]]), XOR[1]
    best = best_network(X, y, 0.0, rng)
    assert best is not None
    upper = size(best.W, best.a, X, y, 0.0)
    lower = bound_in_plane(best.dual, X, y, 0.0)
    assert lower == pytest.approx(upper, rel=1e-5)
    assert best_network(X * [[0], [1], [1], [1]], y, 0.0, rng) is None


def test_what_does_not_fit_has_no_size() -> None:
    X, y = XOR
    assert size(np.array([[1.0, 1.0]]), np.array([1.0]), X, y, 0.0) == np.inf


def test_a_false_bound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Case.as_json

    def boast(self: Case, *words: object, codes: tuple[int, ...] = (0,)) -> dict:
        answer = honest(self, *words, codes=codes)
        return answer | {"lower": answer["upper"] * 1.02, "upper": answer["upper"] * 1.03}

    assert run_case("optimum", 0).failure is None
    monkeypatch.setattr(Case, "as_json", boast)
    assert "is reached" in str(run_case("optimum", 0).failure)


@pytest.mark.parametrize(
    "code, err, words",
    [
        (70, "tacit: this is a mistake in tacit", "exit code 70"),
        (0, "Traceback (most recent call last):", "Traceback"),
        (0, "x.py:1: RuntimeWarning: overflow", "Warning"),
        (2, "something is wrong", "without a reason"),
    ],
)
def test_a_disorderly_end_is_seen(code: int, err: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=words):
        Case("files", 0, tmp_path).judge(Answer(code, "", err), (0, 1, 2))


def test_descent_finds_the_separator() -> None:
    """One neuron on one point: it turns to the point, and stays balanced."""
    X, y = np.array([[3.0, 4.0]]), np.array([1])
    W, a = np.array([[0.01, 0.0]]), np.array([0.01])
    try:
        end = descent.descend(X, y, W, a, 0.0, True, False, np.array([-40.0]), 1e-3, 10**6)
    except descent.NoCompiler:
        assert shutil.which(os.environ.get("CC") or "cc") is None
        return
    assert end.log_L <= -40 and len(end.kept) == 1
    direction = end.W[0] / np.linalg.norm(end.W[0])
    assert direction == pytest.approx([0.6, 0.8], abs=1e-2)
    assert np.linalg.norm(end.W) == pytest.approx(abs(end.a[0]), rel=1e-2)


def test_the_table_names_a_case_that_failed() -> None:
    lines = table([Tally("check", 7, 1.0), Tally("limit", 1200, 9.0, [5, 8])]).splitlines()
    assert len({len(line) for line in lines}) == 1 and len(lines) == 4
    assert "1,200" in lines[3] and "python -m soak limit --seed 5" in lines[3]
