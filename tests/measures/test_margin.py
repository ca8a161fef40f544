"""Loss, errors and margins against their definitions, one point at a time."""

import math

import numpy as np
import pytest

from tacit.measures import NotDefined, Snapshot, measure_all
from tacit.measures.margin import margin, q_min, smoothed_margin
from tacit.models import ConvMaxPool, Residual
from tacit.models.losses import Exponential, Hinge, Logistic
from tacit.values import Dataset


def output(W, a, alpha, x) -> float:
    f = 0.0
    for w_k, a_k in zip(W, a, strict=True):
        z = sum(u * v for u, v in zip(w_k, x, strict=True))
        f += a_k * (z if z > 0 else alpha * z)
    return f


@pytest.fixture
def network(rng):
    W, a, X = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=(9, 3))
    return W, a, X, np.where(np.arange(9) % 2, 1, -1)


def test_loss_errors_and_margins_by_loops(look, network, rng) -> None:
    W, a, X, y = network
    other = Dataset(rng.normal(size=(7, 3)), np.where(np.arange(7) % 3, 1, -1))
    values = measure_all(look(W, a, X, y, test=other))
    q = [y_i * output(W, a, 0.3, x) for x, y_i in zip(X, y, strict=True)]
    norm = math.sqrt(sum(v * v for v in [*W.ravel(), *a]))
    loss = sum(math.log(1 + math.exp(-q_i)) for q_i in q) / 9
    wrong = [y_i * output(W, a, 0.3, x) <= 0 for x, y_i in zip(other.X, other.y, strict=True)]
    assert values["log_loss"] == pytest.approx(math.log(loss), rel=1e-13)
    assert values["train_error"] == sum(q_i <= 0 for q_i in q) / 9
    assert values["test_error"] == sum(wrong) / 7
    assert values["q_min"] == pytest.approx(min(q), rel=1e-13)
    assert values["norm"] == pytest.approx(norm, rel=1e-13)
    assert values["margin"] == pytest.approx(min(q) / norm**2, rel=1e-13)
    smoothed = -math.log(math.expm1(9 * loss))  # sarussi2021 (5): ℓ⁻¹(n L)
    assert values["smoothed_margin"] == pytest.approx(smoothed / norm**2, rel=1e-12)


def test_with_a_fixed_output_layer_only_the_first_counts(look, network) -> None:
    W, a, X, y = network
    s = look(W, a, X, y, train="first")
    assert s.norm == pytest.approx(np.linalg.norm(W), rel=1e-14)
    assert margin(s) == pytest.approx(q_min(s) / np.linalg.norm(W), rel=1e-14)


@pytest.mark.parametrize("train, L", [("both", 2), ("first", 1)])
@pytest.mark.parametrize("loss", [Logistic("sum"), Exponential("mean")], ids=str)
def test_margins_do_not_change_with_the_scale(look, rng, train, L, loss) -> None:
    """Scaling the trained weights scales q by c^L; the smoothed margin tends to the margin."""
    W, a, X = rng.normal(size=(6, 2)), rng.normal(size=6), rng.normal(size=(5, 2))
    y = np.sign([output(W, a, 0.3, x) for x in X]).astype(int)  # all points are right
    small, *others = [
        look(c * W, (c if train == "both" else 1) * a, X, y, train=train, loss=loss)
        for c in (1.0, 30.0, 1e3)
    ]
    for s in others:
        assert margin(s) == pytest.approx(margin(small), rel=1e-12)
    gaps = [margin(s) - smoothed_margin(s) for s in (small, *others)]
    assert gaps[0] > gaps[1] >= gaps[2] >= 0
    # Where ℓ(q) = e^(−q), at most log n apart before division by ‖θ‖^L.
    assert all(g * s.norm**L <= math.log(5) for g, s in zip(gaps[1:], others, strict=True))


def test_where_the_loss_underflows_margins_are_right(look) -> None:
    X, y = [[1.0, 0.0], [0.0, 1.0]], [1, -1]
    s = look([[1e3, 0.0], [0.0, 1.5e3]], [1e3, -1e3], X, y, alpha=0.0)
    assert s.log_loss == pytest.approx(-1e6 - math.log(2), rel=1e-15)
    assert smoothed_margin(s) == pytest.approx(1e6 / s.norm**2, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e150])
def test_norm_and_margin_where_squares_leave_float64(look, scale) -> None:
    s = look([[3 * scale, 0.0]], [4 * scale], [[1 / scale, 0.0]])
    values = measure_all(s)
    assert values["norm"] == pytest.approx(5 * scale, rel=1e-14)
    assert values["margin"] == pytest.approx(12 / 25 / scale, rel=1e-14)


def test_a_zero_network_has_no_margin_and_every_point_wrong(look) -> None:
    values = measure_all(look(np.zeros((2, 2)), np.zeros(2), [[1.0, 2.0], [3.0, 4.0]], [1, -1]))
    assert values["train_error"] == 1 and values["q_min"] == 0 and values["norm"] == 0
    assert math.isnan(values["margin"]) and math.isnan(values["smoothed_margin"])
    assert values["log_loss"] == pytest.approx(math.log(math.log(2)), rel=1e-15)


def test_an_output_that_is_no_number_counts_as_an_error(look) -> None:
    s = look([[1e308, 0.0], [1e308, 0.0]], [1.0, -1.0], [[10.0, 0.0]])  # inf − inf
    assert measure_all(s)["train_error"] == 1


def test_the_hinge_loss_has_a_margin_but_no_smoothed_one(look) -> None:
    s = look([[2.0, 0.0]], [2.0], loss=Hinge())
    assert margin(s) == pytest.approx(0.5)
    with pytest.raises(NotDefined):
        smoothed_margin(s)
    assert measure_all(s)["log_loss"] == -math.inf  # every point is past its confidence


def test_what_is_not_homogeneous_has_no_margin() -> None:
    data = Dataset(np.eye(2), [1, -1])
    weights = {"W1": np.eye(2), "W2": np.eye(2), "W3": np.ones((1, 2))}
    values = measure_all(Snapshot(Residual(3), Logistic(), weights, data))
    assert "q_min" in values and "margin" not in values and "smoothed_margin" not in values


def test_what_is_measured_depends_on_the_setting_and_not_on_the_weights(look, rng) -> None:
    """So that all members of an ensemble, at all times, have the same measures."""
    X, y = rng.normal(size=(4, 2)), [1, -1, 1, -1]
    names = [
        list(measure_all(look(rng.normal(size=(3, 2)), a, X, y)))
        for a in ([1, -1, 1], [1, 1, 1], [-1, -1, -1], [0, 0, 0])
    ]
    assert all(one == names[0] for one in names)
    pooled = Snapshot(
        ConvMaxPool(2), Logistic(), {"W": np.ones((2, 2)), "a": np.array([1.0, -1])}, Dataset(X, y)
    )
    assert "cluster_angle" in measure_all(pooled)  # one patch: the neurons see the whole input
    wide = Dataset(np.hstack([X, X]), y)
    assert "cluster_angle" not in measure_all(
        Snapshot(pooled.model, Logistic(), pooled.params, wide)
    )


def test_a_dataset_of_one_point(look) -> None:
    values = measure_all(look([[1.0, 1.0]], [1.0], [[2.0, 0.0]], [1]))
    assert values["q_min"] == 2
    assert all(
        np.isfinite(value).all() for name, value in values.items() if name[:9] != "par_ratio"
    )
