"""Descent comes as near to the flow as its steps are small: slopes, and both times of both losses.

Where activation hyperplanes are met with the first layer only, nothing is asked: over these step
sizes, which step meets a hyperplane first adds noise of the size of the distance. The distances of
stochastic descent are means over seeds.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from helpers import refused, rest_long
from tacit.data import load
from tacit.flow.descent_comparison import compare
from tacit.values import Dataset, Setting

ONE_CLASS = Dataset(np.array([[1.0, 0.2], [0.8, -0.3], [0.5, 0.4]]), np.array([1, 1, 1]))
LRS = (0.04, 0.02, 0.01, 0.005)


def xor() -> Dataset:
    X = np.random.default_rng(0).normal(size=(6, 2))
    return Dataset(X, np.sign(X[:, 0] * X[:, 1]).astype(int))


@pytest.mark.parametrize(
    "loss, train",
    rest_long(
        product(["logistic", "logistic:sum", "exponential"], ["both", "first"]),
        [("logistic:sum", "both"), ("exponential", "first")],
    ),
)
def test_slope_1_without_events(loss: str, train: str) -> None:
    init = "balanced:0.3" if train == "both" else "gaussian:0.3"
    setting = Setting(width=2, activation="leaky:0.5", init=init, loss=loss, train=train)
    seed = 16 if train == "both" else 17  # none of whose neurons meets a hyperplane
    unit = 1 if loss.endswith("sum") else 3  # so that all go equally far per step
    comparison = compare(setting, ONE_CLASS, seed, 2 * unit * np.array(LRS), time=5.0 * unit)
    assert comparison.path.events == [] and len(comparison.times) >= 4
    assert comparison.slope == pytest.approx(1, abs=0.1)
    assert (np.diff(comparison.distances) < 0).all() and comparison.distances[-1] < 1e-2
    assert comparison.times[-1] <= 5.0 * unit < 2 * comparison.times[-1]


@pytest.mark.parametrize("activation", ["relu", "leaky:0.3"])
def test_slope_about_1_where_neurons_slide(activation: str) -> None:
    setting = Setting(width=8, init="balanced:0.2", activation=activation)
    comparison = compare(setting, xor(), lrs=LRS, time=20.0)
    assert {"cross", "slide", "release"} <= {event.what for event in comparison.path.events}
    assert comparison.slope == pytest.approx(1, abs=0.2) and comparison.distances[-1] < 1e-3


@pytest.mark.parametrize(
    "loss, batch",
    rest_long(
        [("logistic", 1), ("logistic", 5), ("logistic:sum", 1), ("logistic:sum", 5)],
        [("logistic:sum", 5)],
    ),
)
def test_stochastic_descent_comes_near_too(loss: str, batch: int) -> None:
    """Batches of the sum move by b/n of an epoch's time, of the mean by 1/b of n: equal steps."""
    data = load("orthogonal:n=10,d=3")
    setting = Setting(width=6, init="balanced:0.01", loss=loss, rule="sgd", batch=batch)
    mean = loss == "logistic"
    lrs = np.array(LRS) / (4 if mean else 4 * batch)  # of one size per batch
    time = 10.0 if mean else 1.0
    runs = [compare(setting, data, seed, tuple(lrs), time).distances for seed in range(6)]
    typical = np.exp(np.mean(np.log(runs), axis=0))  # the order of the examples is chance
    slope = np.polyfit(np.log(lrs), np.log(typical), 1)[0]
    assert slope == pytest.approx(1, abs=0.15) and typical[-1] < 5e-3


def test_mean_and_sum_are_the_same_descent_in_other_times() -> None:
    data, setting = xor(), Setting(width=5, init="balanced:0.2", activation="leaky:0.3")
    mean = compare(setting, data, lrs=(0.06,), time=6.0)
    total = compare(replace(setting, loss="logistic:sum"), data, lrs=(0.01,), time=1.0)
    np.testing.assert_allclose(mean.times, 6 * total.times, rtol=1e-12)
    np.testing.assert_allclose(mean.apart, total.apart, rtol=1e-6)
    assert mean.slope is None


def test_what_has_no_time_of_the_flow_is_refused() -> None:
    data, setting = xor(), Setting(width=3)
    refused(lambda: compare(replace(setting, rule="adam"), data), "gd and sgd")
    refused(lambda: compare(replace(setting, step="scaled"), data), "constant steps")
    refused(lambda: compare(replace(setting, loss="hinge"), data), "hinge")
    refused(lambda: compare(replace(setting, rule="sgd", batch=4), data), "divide")
    refused(lambda: compare(setting, data, lrs=()), "step size")
    refused(lambda: compare(setting, data, time=-1.0), "time=-1.0")
    refused(lambda: compare(setting, data, lrs=(2.0,), time=1.0), "time=1.0")
