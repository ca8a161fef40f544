"""What holds for every predicate, whatever the data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margin_checks import any_points
from tacit.data import generate
from tacit.geometry import check, predicates
from tacit.geometry import predicate as base
from tacit.models import Leaky
from tacit.values import BadInput, Check, Dataset

PROPERTIES = list(predicates())

ODD: dict[str, tuple[object, object]] = {
    "one point": ([[3.0, 4.0]], [1]),
    "one negative point in one dimension": ([[2.0]], [-1]),
    "one zero point": ([[0.0, 0.0]], [1]),
    "all points zero": (np.zeros((5, 3)), [1, 1, -1, -1, -1]),
    "a zero row": ([[1.0, 2.0], [0.0, 0.0], [-1.0, 1.0]], [1, -1, -1]),
    "the same point with both labels": ([[1.0, 2.0], [1.0, 2.0]], [1, -1]),
    "one class": ([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]], [1, 1, 1]),
    "the other class": ([[1.0, 2.0], [-2.0, 1.0]], [-1, -1]),
    "collinear": ([[1.0, 1.0], [2.0, 2.0], [-3.0, -3.0]], [1, 1, -1]),
    "in a plane": ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 0.0]], [1, 1, -1]),
    "fewer points than dimensions": (np.eye(3, 8), [1, -1, 1]),
    "wide": (np.ones((2, 200)), [1, -1]),
    "minus zero": ([[0.0, 1.0], [-0.0, -1.0]], [1, -1]),
    "huge": (np.full((3, 4), 1.7e308), [1, 1, -1]),
    "tiny": ([[5e-324, 0.0], [0.0, -5e-324]], [1, -1]),
    "subnormal": ([[3e-310, 1e-309], [-2e-310, 4e-320]], [1, -1]),
    "a row that is lost next to another": ([[1e300, 1e300], [-1e-300, 2e-300]], [1, -1]),
    "entries that are lost in their row": ([[1e300, 1e-300], [-1e300, 1e-300]], [1, -1]),
    "all magnitudes": (10.0 ** np.linspace(-300, 300, 21).reshape(7, 3), [1, -1, 1, 1, -1, 1, 1]),
    "repeated": (np.repeat([[1.0, 0.3], [0.2, -1.0]], 1000, axis=0), np.repeat([1, -1], 1000)),
}


def assert_consistent(one: Check) -> None:
    assert one.error >= 0
    if one.holds is None:
        assert one.note
    elif one.holds:
        assert one.slack is not None and one.slack >= -one.error
    else:
        assert one.slack is not None and one.slack <= one.error


def test_names_are_stable() -> None:
    assert set(predicates()) >= {"linearly_separable", "orthogonally_separable", "symmetric"}
    for chosen in predicates().values():
        assert chosen.summary.endswith(".") or ";" in chosen.summary
        assert chosen.place.split()[0][-4:].isdigit()  # a paper and its year


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("name", ODD)
def test_odd_data(name: str, alpha: float) -> None:
    X, y = ODD[name]
    geometry = check(Dataset(np.array(X), np.array(y)), activation=Leaky(alpha))
    assert list(geometry.properties) == PROPERTIES
    for one in geometry.properties.values():
        assert_consistent(one)
    assert geometry.remarks == [line for line in geometry.remarks if line.endswith(".")]
    json.dumps(geometry.facts)


@settings(max_examples=50, deadline=None)
@given(X=any_points, seed=st.integers(0, 99))
def test_any_floats(X: np.ndarray, seed: int) -> None:
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    for one in check(Dataset(X, y), activation="leaky:0.5").properties.values():
        assert_consistent(one)


def test_scale_changes_no_answer(rng: np.random.Generator) -> None:
    """Slacks are relative, except for margins, which have the data's unit."""
    X, y = rng.normal(size=(12, 3)), rng.choice([-1, 1], 12)
    X *= np.sign(X @ np.ones(3) * y)[:, None]
    plain = check(Dataset(X, y), activation="leaky:0.5")
    for k in (-900, -27, 27, 900):
        scaled = check(Dataset(np.ldexp(X, k), y), activation="leaky:0.5")
        for name, one in plain.properties.items():
            margins = ("linearly_separable", "sarussi2021:assumption4")
            unit = 2.0**k if name in margins else 1.0
            other = scaled.properties[name]
            assert other.holds == one.holds
            assert other.slack == (one.slack if one.slack is None else one.slack * unit)


def test_order_of_points_and_coordinates(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(15, 3)), rng.choice([-1, 1], 15)
    X[7] = 2 * X[3]
    order, columns = rng.permutation(15), rng.permutation(3)
    plain = check(Dataset(X, y), activation="leaky:0.5").properties
    moved = Dataset(X[order][:, columns], y[order])
    for name, one in check(moved, activation="leaky:0.5").properties.items():
        assert one.holds == plain[name].holds
        # How much the best direction misses by comes from a fit that stops at 1e-3.
        rel = 1e-3 if name == "linearly_separable" else 1e-9
        if one.slack is not None:
            assert one.slack == pytest.approx(plain[name].slack, rel=rel, abs=1e-12)


def test_flipped_labels(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(15, 3)), rng.choice([-1, 1], 15)
    plain, flipped = (check(Dataset(X, s * y), activation="leaky:0.5").properties for s in (1, -1))
    swapped = {"positive": "negative", "negative": "positive", "A.3": "A.8", "A.8": "A.3"}
    for name, one in plain.items():
        word = next((w for w in swapped if w in name), "")
        other = flipped[name.replace(word, swapped[word]) if word else name]
        assert (other.holds, other.slack) == (one.holds, pytest.approx(one.slack))


def test_three_classes() -> None:
    data = generate("orthogonal_classes:classes=3")
    geometry = check(data, activation="leaky:0.5")
    for one in geometry.properties.values():
        assert_consistent(one)
    assert geometry.properties["orthogonally_separable"].holds
    assert geometry.properties["linearly_separable"].holds
    assert geometry.margin_bounds is not None and geometry.max_margin_direction is None
    speaks_of_two = [name for name in PROPERTIES if "2021:" in name or "support" in name]
    for name in [*speaks_of_two, "symmetric"]:
        assert geometry.properties[name].holds is None
        assert "`labels=" in geometry.properties[name].note


def test_named_properties_only(rng: np.random.Generator) -> None:
    data = Dataset(rng.normal(size=(5, 2)), np.ones(5))
    geometry = check(data, properties=["symmetric"])
    assert list(geometry.properties) == ["symmetric"]
    assert geometry.margin_bounds is None and geometry.max_margin_direction is None
    with pytest.raises(BadInput, match="unknown property 'symetric'.*symmetric"):
        check(data, properties="symetric")


def test_what_takes_long_is_left_out_unless_asked_for(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.abs(rng.normal(size=(30, 3)))
    data = Dataset(X * np.repeat([1, -1], 15)[:, None], np.repeat([1, -1], 15))
    whole = check(data, activation="leaky:0.5").properties
    monkeypatch.setattr(base, "MOST_OPERATIONS", 1000)
    left_out = check(data, activation="leaky:0.5").properties
    costly = {"orthogonally_separable", "general_position", "lyu2021:assumptionA.2"}
    costly |= {"sarussi2021:assumption4"}
    for name in PROPERTIES:
        if name in costly:
            assert left_out[name].holds is None
            assert f"`properties='{name}'`" in left_out[name].note
            assert (
                check(data, properties=name, activation="leaky:0.5").properties[name] == whole[name]
            )
        elif name != "lyu2021:assumptionA.1":  # which may lean on A.2
            assert left_out[name] == whole[name]
