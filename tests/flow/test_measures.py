"""Measures along the path against their definitions, and what the exact flow must keep."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from helpers import rest_long
from tacit import Setting, load
from tacit.flow import limit
from tacit.flow.follow import follow
from tacit.flow.path import Moment, Path
from tacit.flow.path_measures import along


@cache
def a_path(both: bool, kind: str, seed: int = 2, alpha: float = 0.3, end: float = -60.0) -> Path:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(6, 3)), np.array([1, -1, 1, -1, 1, 1])
    W = 0.1 * rng.normal(size=(8, 3))
    a = 0.1 * rng.normal(size=8) if both else np.where(np.arange(8) % 2, 1.0, -1.0)
    return follow(X, y, alpha, W, a, both, kind, log_L_end=end, seconds=60)


def inverse(total: float, loss) -> float:
    """ℓ⁻¹ by bisection."""
    low, high = -50.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) > total else (low, middle)
    return low


@pytest.mark.parametrize(
    "both, kind",
    rest_long(
        [(both, kind) for both in (True, False) for kind in ("logistic", "exponential")],
        [(True, "logistic"), (False, "exponential")],
    ),
)
def test_every_measure_is_its_definition(both: bool, kind: str) -> None:
    path = a_path(both, kind)
    measured = along(path, kind)
    planes, degree = path.last.state.planes, 2 if both else 1

    def loss(q):
        return np.exp(-q) if kind == "exponential" else np.log1p(np.exp(-q))

    for i in range(0, len(path.moments), 7):
        W, a = path.moments[i].state.W, path.moments[i].state.a
        t = planes.X @ W.T
        q = planes.y * (np.maximum(t, planes.alpha * t) @ a)
        norm = math.sqrt((W**2).sum() + ((a**2).sum() if both else 0.0))
        total = float(loss(q).sum())
        assert measured.norm[i] == pytest.approx(norm, rel=1e-14)
        assert measured.log10_loss[i] == pytest.approx(math.log10(total), rel=1e-8, abs=1e-12)
        assert measured.margin[i] == pytest.approx(q.min() / norm**degree, rel=1e-9, abs=1e-14)
        smooth = inverse(total, loss) / norm**degree
        assert measured.smoothed_margin[i] == pytest.approx(smooth, rel=1e-8, abs=1e-12)
    assert (measured.smoothed_margin <= measured.margin + measured.rounding).all()
    first = measured.separation
    assert first is not None and measured.smoothed_margin[first] > 0
    assert (measured.smoothed_margin[:first] <= 0).all() and (
        measured.smoothed_margin[first:] > 0
    ).all()
    assert measured.log10_time[0] == -math.inf and (np.diff(measured.log10_time[1:]) >= 0).all()


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(
    "seed, alpha", rest_long([(2, 0.0), (2, 0.3), (5, 0.0), (5, 0.3)], [(5, 0.0)])
)
def test_the_smoothed_margin_never_falls(both: bool, seed: int, alpha: float) -> None:
    path = a_path(both, "logistic", seed, alpha, end=-3000.0)
    measured = along(path)
    assert measured.separation is not None and measured.falls == []


def test_margins_are_right_where_losses_have_no_float() -> None:
    """At log L = −1e8: γ − γ̃ is at most log(n)/‖θ‖², and far below what is told apart here."""
    path = a_path(True, "logistic")
    state = path.last.state.copy()
    scale = math.sqrt(1e8 / float(state.outputs().min()))
    state.W, state.a = state.W * scale, state.a * scale
    q = state.outputs()
    log_L = float(-q.min() + np.log(np.exp(q.min() - q).sum()))
    measured = along(replace(path, moments=[Moment(0.0, 1e8, log_L, state)]))
    assert log_L == pytest.approx(-1e8, rel=1e-7)
    assert measured.smoothed_margin[0] == pytest.approx(-log_L / measured.norm[0] ** 2, rel=1e-14)
    gap = measured.margin[0] - measured.smoothed_margin[0]
    assert (
        -measured.rounding[0] <= gap <= math.log(6) / measured.norm[0] ** 2 + measured.rounding[0]
    )


def test_a_path_that_goes_back_is_seen() -> None:
    path = a_path(True, "logistic")
    count = len(path.moments)
    back = [*path.moments, path.moments[-5]]
    measured = along(replace(path, moments=back))
    assert measured.falls == [count]
    unseparated = along(replace(path, moments=path.moments[:3]))
    assert unseparated.separation is None and unseparated.falls == []


def test_a_path_that_goes_on_past_its_goal_never_loses_margin():
    """Here an extrapolated step once let the loss rise by millions in log space."""
    setting = Setting(activation="leaky:0.5", width=20, init="he:0.001")
    end = limit(load("lyu2021_right:alpha=0.5"), setting, seed=0, seconds=60)
    assert end.log10_loss < -1e7
    assert len(along(end.path).falls) == 0
