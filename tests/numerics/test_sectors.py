"""Extremal directions against grids, searches, perturbations in fractions, and Lemma 2."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import refused, rest_long
from tacit.data.loading import load
from tacit.numerics import _sector_climb, _sector_faces
from tacit.numerics import extremal_directions as sectors
from tacit.numerics._sector_climb import met as met_from
from tacit.numerics.extremal_directions import Direction, Extremal, extremal_directions, lemma_2

Vector = tuple[Fraction, ...]


def G(X: np.ndarray, c: np.ndarray, alpha: float, W: np.ndarray) -> np.ndarray:
    """For every row of W."""
    t = W @ X.T
    return np.maximum(t, alpha * t) @ c


def directions(items: list[Direction]) -> np.ndarray:
    return np.array([item.direction for item in items])


def assert_consistent(extremal: Extremal, X: np.ndarray, c: np.ndarray, alpha: float) -> None:
    """Units, values, signs and order are what they are said to be; no direction comes twice."""
    for items in (extremal.positive, extremal.negative):
        W = directions(items)
        for item in items:
            assert np.linalg.norm(item.direction) == pytest.approx(1, abs=1e-14)
            scale = np.abs(c) @ np.linalg.norm(X, axis=1)
            value = G(X, c, alpha, item.direction[None])[0]
            assert item.value == pytest.approx(value, rel=1e-12, abs=1e-13 * scale)
            t = X @ item.direction / np.maximum(np.linalg.norm(X, axis=1), 1e-300)
            assert (np.sign(t)[item.sector != 0] == item.sector[item.sector != 0]).all()
            assert np.abs(t[item.sector == 0]).max(initial=0) < 1e-12
            assert item.sector.dtype == np.int8
        if len(items) > 1:
            assert ((W @ W.T)[~np.eye(len(W), dtype=bool)] < 1 - 1e-15).all()
            values = np.array([item.sign * item.value for item in items])
            assert (np.diff(values) <= 0).all()


def same(one: list[Direction], other: list[Direction]) -> bool:
    """The same directions up to rounding, in any order."""
    if len(one) != len(other):
        return False
    cosines = directions(one) @ directions(other).T if one else np.ones((1, 1))
    return bool((cosines.max(axis=0) > 1 - 1e-12).all() and (cosines.max(axis=1) > 1 - 1e-12).all())


# --- The plane -----------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.3, -1.0])
@pytest.mark.parametrize("seed", rest_long(range(6), [0, 1, 2]))
def test_all_of_the_plane_on_a_grid(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    X, c = rng.normal(size=(n, 2)), rng.normal(size=n)
    extremal = extremal_directions(X, c, alpha)
    assert extremal.complete and not any(item.doubtful for item in extremal.items)
    assert_consistent(extremal, X, c, alpha)
    angles = 2 * np.pi * np.arange(400_000) / 400_000
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    for sign, items in ((1, extremal.positive), (-1, extremal.negative)):
        values = sign * G(X, c, alpha, W)
        before, after = np.roll(values, 1), np.roll(values, -1)
        top = (values >= before) & (values > after) | (values > before) & (values >= after)
        peaks = W[top & (values != 0)]
        near = (peaks @ directions(items).T > np.cos(1e-4)) if items else np.zeros((len(peaks), 1))
        assert near.any(axis=1).all()
        assert len(items) == 0 or near.any(axis=0).all()


def strict_maximum(X: list[Vector], c: Vector, alpha: Fraction, w: Vector) -> bool:
    """G(w)/|w| exceeds what is there on both sides, a little away; in fractions."""
    before = _height(X, c, alpha, w)
    step = Fraction(1, 2**60)
    sides = [(w[0] - s * step * w[1], w[1] + s * step * w[0]) for s in (1, -1)]
    return all(before > _height(X, c, alpha, v) for v in sides)


def _height(X: list[Vector], c: Vector, alpha: Fraction, w: Vector) -> Fraction:
    """The square of G(w)/|w|, with the sign of G(w)."""
    t = [x[0] * w[0] + x[1] * w[1] for x in X]
    value = sum((k * max(z, alpha * z) for k, z in zip(c, t, strict=True)), Fraction(0))
    return value * abs(value) / (w[0] ** 2 + w[1] ** 2)


def candidates(X: list[Vector], c: Vector, alpha: Fraction) -> list[Vector]:
    """What is at a right angle to a point, and all gradients of any choice of slopes."""
    lines = [(-s * x[1], s * x[0]) for x in X if any(x) for s in (1, -1)]
    slopes = product(*[(k, alpha * k) for k in c])
    sums = [tuple(sum(k * x[j] for k, x in zip(m, X, strict=True)) for j in (0, 1)) for m in slopes]
    return [w for w in lines + sums if any(w)]


@given(
    X=st.integers(1, 5).flatmap(lambda n: arrays(np.float64, (n, 2), elements=st.integers(-2, 2))),
    seed=st.integers(0, 999),
    alpha=st.sampled_from([0.0, 0.5, 1.0, -0.5]),
)
@settings(deadline=None, max_examples=150)
def test_whole_numbers_in_the_plane(X: np.ndarray, seed: int, alpha: float) -> None:
    """Duplicates, opposites, zero rows, right angles, weights 0: exactly as in fractions."""
    c = np.random.default_rng(seed).integers(-2, 3, len(X)).astype(float)
    extremal = extremal_directions(X, c, alpha)
    assert extremal.complete
    assert_consistent(extremal, X, c, alpha)
    rows = [tuple(map(Fraction, row)) for row in X.tolist()]
    for sign, items in ((1, extremal.positive), (-1, extremal.negative)):
        k = tuple(Fraction(sign * value) for value in c.tolist())
        every = [w for w in candidates(rows, k, Fraction(alpha))]
        tops = [w for w in every if strict_maximum(rows, k, Fraction(alpha), w)]
        expected = {
            tuple((z > 0) - (z < 0) for z in (x[0] * w[0] + x[1] * w[1] for x in rows))
            for w in tops
        }
        if np.linalg.matrix_rank(X) == 2:  # then a sector has one at most
            assert sorted(tuple(item.sector.tolist()) for item in items) == sorted(expected)
        W = np.array([[float(v) for v in w] for w in tops]).reshape(-1, 2)
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        for item in items:
            assert (W @ item.direction).max(initial=-1) > 1 - 1e-14
        for w in W:
            assert (directions(items).reshape(-1, 2) @ w).max(initial=-1) > 1 - 1e-14


def test_a_maximum_below_zero() -> None:
    """Three points around 0 that all push away: G < 0, largest at right angles to points."""
    X = np.array([[1.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]])
    extremal = extremal_directions(X, -np.ones(3))
    where = sorted(item.sector.tolist() for item in extremal.positive)
    assert where == [[-1, 0, 1], [-1, 1, 0], [1, -1, 0], [1, 0, -1]]
    assert all(item.value < 0 for item in extremal.positive)
    deeper = extremal_directions(np.column_stack([X, np.zeros(3)]), -np.ones(3))
    # From each of them a way leads up, out of the plane, to where no point is active.
    assert [np.abs(item.direction).tolist() for item in deeper.positive] == 2 * [[0, 0, 1]]
    assert all(item.value == 0 and not item.sector.any() for item in deeper.positive)
    assert extremal_directions(np.column_stack([X, np.zeros((3, 2))]), -np.ones(3)).positive == []
    assert same(
        [Direction(v.direction[:2], 0.0, -1, v.sector, False) for v in deeper.negative],
        extremal.negative,
    )


# --- Space ---------------------------------------------------------------------------------------


def searched(
    X: np.ndarray, c: np.ndarray, alpha: float, starts: int, rng: np.random.Generator
) -> np.ndarray:
    """Ends of many searches that take the best of random steps, shorter and shorter."""
    W = rng.normal(size=(starts, 3))
    W /= np.linalg.norm(W, axis=1)[:, None]
    for k in range(400):
        steps = 0.3 * 0.95**k * rng.normal(size=(24, starts, 3))
        tries = np.concatenate([W[None], W + steps])
        tries /= np.linalg.norm(tries, axis=2)[:, :, None]
        best = G(X, c, alpha, tries.reshape(-1, 3)).reshape(25, starts).argmax(axis=0)
        W = tries[best, np.arange(starts)]
    return W


@pytest.mark.parametrize("alpha", [0.0, 0.4])
@pytest.mark.parametrize(("seed", "n"), [(0, 4), (1, 6), (2, 9), (3, 14)])
def test_space_against_searches(seed: int, n: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    X, c = rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 2, n)
    extremal = extremal_directions(X, c, alpha)
    assert extremal.complete
    assert_consistent(extremal, X, c, alpha)
    for sign, items in ((1, extremal.positive), (-1, extremal.negative)):
        ends = searched(X, sign * c, alpha, 100, rng)
        ends = ends[G(X, sign * c, alpha, ends) != 0]  # the region where no point is active
        if len(ends):  # on a ridge a search makes little headway
            cosines = ends @ directions(items).T
            assert cosines.max(axis=1).min() > np.cos(0.02)
            values = np.array([sign * item.value for item in items])[cosines.argmax(axis=1)]
            assert (G(X, sign * c, alpha, ends) <= values + 1e-13).all()
        for item in items:
            for size in (1e-3, 1e-5):
                around = item.direction + size * rng.normal(size=(2000, 3))
                around /= np.linalg.norm(around, axis=1)[:, None]
                values = sign * G(X, c, alpha, around)
                assert (values < sign * item.value + 1e-13).all()
                assert np.median(values) < sign * item.value


@given(
    X=st.integers(2, 5).flatmap(lambda n: arrays(np.float64, (n, 3), elements=st.integers(-2, 2))),
    seed=st.integers(0, 999),
    alpha=st.sampled_from([0.0, 0.5]),
)
@settings(deadline=None, max_examples=60)
def test_whole_numbers_in_space(X: np.ndarray, seed: int, alpha: float) -> None:
    """Each found direction is above all small steps, and no step from a start leads past them."""
    rng = np.random.default_rng(seed)
    c = rng.choice([-1.0, 1.0], len(X))
    extremal = extremal_directions(X, c, alpha)
    assert extremal.complete
    assert_consistent(extremal, X, c, alpha)
    steps = np.array([v for v in product((-2, -1, 0, 1, 2), repeat=3) if any(v)], dtype=float)
    for item in extremal.items:
        tangent = steps - (steps @ item.direction)[:, None] * item.direction
        tangent = tangent[np.linalg.norm(tangent, axis=1) > 1e-9]
        around = item.direction + 1e-4 * tangent
        around /= np.linalg.norm(around, axis=1)[:, None]
        assert (item.sign * G(X, c, alpha, around) < item.sign * item.value - 1e-11).all()
    met = met_from(X, c, alpha, seed, 12) if X.any() else extremal
    for item in met.items:
        listed = extremal.positive if item.sign > 0 else extremal.negative
        assert item.doubtful or (directions(listed) @ item.direction).max() > 1 - 1e-12


def test_rank_below_the_dimension(rng: np.random.Generator) -> None:
    """A plane in space, exactly and by a rotation in ten dimensions; a line; one point."""
    flat, c = rng.normal(size=(7, 2)), rng.choice([-1.0, 1.0], 7)
    exact = extremal_directions(np.column_stack([flat, np.zeros(7)]), c)
    assert exact.complete and exact.items
    turn = np.linalg.qr(rng.normal(size=(10, 10)))[0][:2]
    rotated = extremal_directions(flat @ turn, c)
    assert rotated.complete and not any(item.doubtful for item in rotated.items)
    for one, other in zip(exact.items, rotated.items, strict=True):
        assert np.allclose(one.direction[:2] @ turn, other.direction, atol=1e-12)
        assert (one.sector == other.sector).all() and one.sign == other.sign
        assert one.value == pytest.approx(other.value, rel=1e-12)
    rounded = extremal_directions(flat @ np.linalg.qr(rng.normal(size=(3, 3)))[0][:2], c)
    assert [item.value for item in rounded.items] == pytest.approx([v.value for v in exact.items])
    plane = extremal_directions(np.array([[1.0, 2, 3], [3, 2, 1], [4, 4, 4]]), np.array([1, 1, -1]))
    assert plane.complete
    line = extremal_directions(
        np.array([[1.0, 2, 2], [-2, -4, -4], [3, 6, 6]]), np.array([1, 1, 2])
    )
    assert [item.sector.tolist() for item in line.positive] == [[1, -1, 1], [-1, 1, -1]]
    assert [item.value for item in line.positive] == pytest.approx([21, 6])
    assert line.negative == []
    point = extremal_directions(np.array([[3.0, 4.0]]), np.array([-2.0]))
    assert [(item.sign, item.value) for item in point.items] == [(-1, pytest.approx(-10))]
    for k in (1, 2):  # the same with one dimension as with more
        number = extremal_directions(np.eye(2)[:, :k] * [[2.0], [0.0]], np.array([1.0, 1.0]))
        assert [(item.sign, item.value) for item in number.items] == [(1, 2.0)]


def test_nothing_to_find() -> None:
    X = np.array([[1.0, 2.0, 0.5], [1.0, 2.0, 0.5]])
    for points, c in ((X, [0, 0]), (np.zeros((2, 3)), [1, -1]), (X, [1, -1])):
        extremal = extremal_directions(points, np.array(c))
        assert extremal.items == [] and extremal.complete
    assert extremal_directions(X, np.array([2, -1])).negative == []


# --- Invariances ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_permutation_rotation_and_scale(rng: np.random.Generator, alpha: float) -> None:
    X, c = rng.normal(size=(15, 3)), rng.choice([-1.0, 1.0], 15)
    X[4] = 2 * X[9]
    X[5] = -X[10]
    plain = extremal_directions(X, c, alpha)
    assert len(plain.items) >= 2
    order = rng.permutation(15)
    mixed = extremal_directions(X[order], c[order], alpha)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    turned = extremal_directions(X @ turn, c, alpha)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotated = extremal_directions(X[6:] @ rotation, c[6:], alpha)
    part = extremal_directions(X[6:], c[6:], alpha)
    flipped = extremal_directions(X, -c, alpha)
    for k, item in enumerate(plain.items):
        assert np.allclose(mixed.items[k].direction, item.direction, atol=1e-14)
        assert (mixed.items[k].sector == item.sector[order]).all()
        assert np.allclose(turned.items[k].direction, item.direction @ turn, atol=1e-14)
        assert (turned.items[k].sector == item.sector).all()
    for one, other in zip(part.items, rotated.items, strict=True):
        assert np.allclose(one.direction @ rotation, other.direction, atol=1e-12)
        assert (one.sector == other.sector).all()
    assert same(flipped.positive, plain.negative) and same(flipped.negative, plain.positive)


@pytest.mark.parametrize("factor", [1e-8, 1e8, 2.0**-1000, 2.0**1000])
def test_scale(rng: np.random.Generator, factor: float) -> None:
    exactly = np.frexp(factor)[0] == 0.5  # in more dimensions rounding may lead elsewhere
    for d in (2, 3, 6) if exactly else (2, 3):
        X, c = rng.normal(size=(10, d)), rng.choice([-1.0, 1.0], 10)
        plain, scaled = extremal_directions(X, c), extremal_directions(factor * X, c)
        assert plain.complete == scaled.complete == (d <= 3)
        for one, other in zip(plain.items, scaled.items, strict=True):
            assert np.allclose(one.direction, other.direction, atol=1e-12)
            assert (one.sector == other.sector).all()
            assert other.value == pytest.approx(factor * one.value, rel=1e-12)


def test_lengths_of_rows_are_weights(rng: np.random.Generator) -> None:
    """c_i φ(w·x_i) is the same when a positive factor moves from c_i to x_i."""
    X, c = rng.normal(size=(9, 3)), rng.normal(size=9)
    factor = 2.0 ** rng.integers(-300, 300, 9)
    plain = extremal_directions(X, c)
    moved = extremal_directions(X * factor[:, None], c / factor)
    for one, other in zip(plain.items, moved.items, strict=True):
        assert np.allclose(one.direction, other.direction, atol=1e-14)
        assert (one.sector == other.sector).all()


def test_a_repeated_point_is_a_heavier_point(rng: np.random.Generator) -> None:
    X, c = rng.normal(size=(8, 3)), rng.choice([-1.0, 1.0], 8)
    twice = extremal_directions(np.vstack([X, X]), np.concatenate([0.25 * c, 0.75 * c]))
    plain = extremal_directions(X, c)
    assert same(plain.positive, twice.positive) and same(plain.negative, twice.negative)


# --- Many dimensions, many points ----------------------------------------------------------------


def test_going_up_meets_only_maxima(rng: np.random.Generator) -> None:
    X, c = rng.normal(size=(25, 3)), rng.choice([-1.0, 1.0], 25)
    every, met = extremal_directions(X, c), met_from(X, c, 0.0, 0, 100)
    assert every.complete and not met.complete
    assert len(met.items) >= 0.6 * sum(item.sign * item.value > 0 for item in every.items)
    assert_consistent(met, X, c, 0.0)
    for item in met.items:
        other = max(
            (o for o in every.items if o.sign == item.sign),
            key=lambda o: float(o.direction @ item.direction),
        )
        assert np.allclose(other.direction, item.direction, atol=1e-9)
        assert (other.sector == item.sector).all() and not item.doubtful


def test_many_dimensions(rng: np.random.Generator) -> None:
    X, c = rng.normal(size=(40, 8)), rng.choice([-1.0, 1.0], 40)
    extremal = extremal_directions(X, c, 0.2, seed=1)
    assert not extremal.complete and len(extremal.positive) > 1 and len(extremal.negative) > 1
    assert_consistent(extremal, X, c, 0.2)
    again = extremal_directions(X, c, 0.2, seed=1)
    assert (directions(extremal.items) == directions(again.items)).all()
    for item in extremal.items:
        around = item.direction + 1e-4 * rng.normal(size=(5000, 8))
        around /= np.linalg.norm(around, axis=1)[:, None]
        assert (item.sign * G(X, c, 0.2, around) < item.sign * item.value).all()


def test_too_many_sectors(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    X, c = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], 20)
    for module in (_sector_faces, _sector_climb):
        few = replace(module.EXTREMAL, most_signs=2000, large=10)
        monkeypatch.setattr(module, "EXTREMAL", few)
    extremal = extremal_directions(X, c)
    assert extremal.items and not extremal.complete
    monkeypatch.undo()
    every = extremal_directions(X, c)
    for item in extremal.items:
        assert max(float(o.direction @ item.direction) for o in every.items) > 1 - 1e-12


# --- Lemma 2 -------------------------------------------------------------------------------------


def assert_lemma_2(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    closed = lemma_2(X, y)
    assert closed is not None
    extremal = extremal_directions(X, y)
    assert len(extremal.positive) == len(extremal.negative) == 1
    assert (extremal.positive[0].sector == closed[0]).all()
    assert (extremal.negative[0].sector == closed[1]).all()
    return closed


@pytest.mark.parametrize("d", [2, 3, 12])
@pytest.mark.parametrize("seed", range(4))
def test_orthogonally_separable_data_has_two(d: int, seed: int) -> None:
    data = load(f"orthogonal:n=40,d={d},seed={seed}")
    plus, minus = assert_lemma_2(data.X, data.y)
    assert (plus == data.y).all() and (minus == -data.y).all()


def test_orthogonally_separable_data_in_a_plane_of_many_dimensions(
    rng: np.random.Generator,
) -> None:
    """There are directions in which no point is active; they do not count, and not as doubtful."""
    for d in (2, 3):
        data = load(f"orthogonal:n=30,d={d}")
        X = data.X @ np.linalg.qr(rng.normal(size=(6, 6)))[0][:d]
        extremal = extremal_directions(X, data.y)
        assert extremal.complete and [item.doubtful for item in extremal.items] == [False, False]
        assert (extremal.positive[0].sector == data.y).all()
        assert (extremal.negative[0].sector == -data.y).all()


@pytest.mark.parametrize("pad", [0, 1, 3])
@pytest.mark.parametrize("scale", [1.0, 2.0**40])
def test_right_angles_between_classes(pad: int, scale: float) -> None:
    X = np.array([[1.0, 2], [2, 4], [-2, 1], [-4, 2], [-3, 1]])
    X = scale * np.column_stack([X, np.zeros((5, pad))])
    plus, minus = assert_lemma_2(X, np.array([1, 1, -1, -1, -1]))
    assert plus.tolist() == [1, 1, 0, 0, -1]
    assert minus.tolist() == [-1, -1, 1, 1, 1]


def test_products_floats_cannot_tell() -> None:
    """3·0.1 and 0.3 differ by less than a rounding error of the sum; underflow; many sizes."""
    y = np.array([1, -1])
    a = np.array([[3.0, 1.0], [0.1, -0.3]])  # 3·0.1 − 0.3 > 0, as floats are rational numbers
    assert Fraction(3) * Fraction(0.1) > Fraction(0.3)
    assert lemma_2(a, y) is None
    assert lemma_2(a * [[1], [-1]], y)[0].tolist() == [1, -1]
    tiny = np.array([[1e-200, 1.0], [-1e-200, 0.0]])
    assert lemma_2(tiny, y)[0].tolist() == [1, -1]
    assert_lemma_2(tiny, y)
    lost = np.array([[1.0, 1e-300], [1e-300, -1.0]])
    assert lemma_2(lost, y)[0].tolist() == [1, 0]
    assert_lemma_2(lost, y)


def test_not_orthogonally_separable(rng: np.random.Generator) -> None:
    assert lemma_2(rng.normal(size=(9, 3)), rng.choice([-1, 1], 9)) is None
    assert lemma_2(np.eye(3), np.array([1, 1, -1])) is None  # a right angle within a class
    assert lemma_2(np.array([[1.0, 0], [0, 0]]), np.array([1, -1])) is None  # a zero row
    assert lemma_2(np.ones((3, 2)), np.ones(3)) is None  # one class
    refused(lambda: lemma_2(np.eye(2), np.array([0, 1])), "−1 or +1")


def test_blocks(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    data = load("orthogonal:n=30,d=4")
    whole = lemma_2(data.X, data.y)
    X, c = rng.normal(size=(12, 3)), rng.choice([-1.0, 1.0], 12)
    plain = extremal_directions(X, c)
    for module in (sectors, _sector_faces):
        monkeypatch.setattr(module, "EXTREMAL", replace(module.EXTREMAL, block=40))
    parts = lemma_2(data.X, data.y)
    assert whole is not None and parts is not None
    assert (whole[0] == parts[0]).all() and (whole[1] == parts[1]).all()
    assert same(plain.items, extremal_directions(X, c).items)


def test_bad_input_is_refused() -> None:
    refused(lambda: extremal_directions(np.ones(3), np.ones(3)), "shape (3,)")
    refused(lambda: extremal_directions(np.ones((3, 2)), np.ones(2)), "(n, d)")
    refused(lambda: extremal_directions(np.full((1, 1), np.nan), np.ones(1)), "finite")
    refused(lambda: extremal_directions(np.ones((1, 1)), np.ones(1), 1.5), "alpha=1.5")


def test_large_data_has_fewer_starts(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    monkeypatch.setattr(sectors, "met", lambda *_: given.append(_[-1]))
    for shape in ((100, 10), (1000, 20), (1000, 500)):
        extremal_directions(rng.normal(size=shape), np.ones(shape[0]))
    assert given == [40, 10, 2]
