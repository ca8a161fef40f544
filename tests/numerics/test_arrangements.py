"""Cells and faces against brute force, exact judges and counts that mathematicians know."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from helpers import refused
from tacit.numerics import _packed_signs, _vertices, arrangements
from tacit.numerics.arrangements import TooManyCells, cells, cover, faces

Judge = Callable[[np.ndarray], bool]
Signs = list[tuple[int, ...]]


def small(most_rows: int, most_columns: int) -> st.SearchStrategy[np.ndarray]:
    """Matrices of few small integers: most are degenerate in some way."""
    shapes = st.tuples(st.integers(1, most_rows), st.integers(1, most_columns))
    return shapes.flatmap(lambda s: arrays(np.float64, s, elements=st.integers(-2, 2)))


def as_list(signs: np.ndarray) -> Signs:
    assert signs.dtype == np.int8
    return [tuple(row) for row in signs.tolist()]


def judged_cells(X: np.ndarray, judge: Judge) -> Signs:
    """Every sign vector that some w has, by Gordan's theorem in rational arithmetic."""
    used = X.any(axis=1)
    options = [(-1, 1) if is_used else (0,) for is_used in used]
    all_signs = [np.array(signs) for signs in product(*options)]
    return [tuple(s.tolist()) for s in all_signs if not used.any() or judge((s[:, None] * X)[used])]


def programmed_faces(X: np.ndarray) -> Signs:
    """Every sign vector for which a linear program finds a w, with room to spare."""
    return [signs for signs in product((-1, 0, 1), repeat=len(X)) if _has_point(X, signs)]


def _has_point(X: np.ndarray, signs: tuple[int, ...]) -> bool:
    s, d = np.array(signs), X.shape[1]
    if not s.any():
        return True
    A = np.column_stack([X, np.zeros(len(X))])
    strict = -s[s != 0, None] * A[s != 0]
    strict[:, d] = 1  # s_i x_i·w ≥ t, and t as large as can be
    equal = {"A_eq": A[s == 0], "b_eq": np.zeros((s == 0).sum())} if (s == 0).any() else {}
    cost = -np.eye(d + 1)[d]
    program = linprog(cost, A_ub=strict, b_ub=np.zeros(len(strict)), bounds=(-1, 1), **equal)
    return program.status == 0 and -program.fun > 1e-7


def faces_in_space(X: np.ndarray) -> Signs:
    """All faces of rows that span R³: the signs of sums of up to three rays, in fractions."""
    rows = [tuple(map(Fraction, row)) for row in X.tolist()]
    rays = []
    for (a, b, c), (d, e, f) in combinations(rows, 2):
        ray = (b * f - c * e, c * d - a * f, a * e - b * d)
        if any(ray):
            rays += [ray, tuple(-value for value in ray)]
    seen = set()
    for k in range(4):
        for some in combinations(set(rays), k):
            w = [sum(values, Fraction(0)) for values in zip(*some, strict=True)] or [
                Fraction(0)
            ] * 3
            values = [sum(x * y for x, y in zip(row, w, strict=True)) for row in rows]
            seen.add(tuple((value > 0) - (value < 0) for value in values))
    return sorted(seen)


def spans_space(X: np.ndarray) -> bool:
    for rows in combinations(X.tolist(), 3):
        (a, b, c), (d, e, f), (g, h, i) = [map(Fraction, row) for row in rows]
        if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g):
            return True
    return False


def most_faces(n: int, d: int) -> int:
    return 1 + sum(math.comb(n, k) * cover(n - k, d - k) for k in range(d))


def make_blocks_small(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    for module, name in [(_vertices, "BLOCK"), (arrangements, "BLOCK"), (_packed_signs, "WAIT")]:
        monkeypatch.setattr(module, name, size)


def assert_well_formed(signs: np.ndarray) -> None:
    """In order, each once, and with every vector its negative."""
    listed = as_list(signs)
    assert listed == sorted(set(listed))
    assert np.array_equal(signs, -signs[::-1])


@given(n=st.integers(1, 40), d=st.integers(1, 12))
def test_covers_count_obeys_its_recursion(n: int, d: int) -> None:
    """A new hyperplane cuts the cells of its own arrangement, of one dimension less, in two."""
    assert cover(n + 1, d + 1) == cover(n, d + 1) + cover(n, d)
    assert cover(n, 1) == 2
    assert cover(1, d) == 2
    assert cover(n, n + d) == 2**n


@given(n=st.integers(1, 13), d=st.integers(1, 6), seed=st.integers(0, 2**32))
@settings(deadline=None)
def test_general_position_has_covers_count(n: int, d: int, seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((n, d))
    signs = cells(X)
    assert len(signs) == cover(n, d)
    assert_well_formed(signs)
    assert np.abs(signs).min() == 1


@given(n=st.integers(1, 9), d=st.integers(1, 4), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=50)
def test_general_position_has_all_its_faces(n: int, d: int, seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((n, d))
    signs = faces(X)
    r = min(n, d)
    assert len(signs) == most_faces(n, r)
    assert_well_formed(signs)
    assert np.array_equal(signs[signs.all(axis=1)], cells(X))
    zeros = (signs == 0).sum(axis=1)
    for k in range(r):  # faces of codimension k lie on k hyperplanes
        assert (zeros == k).sum() == math.comb(n, k) * cover(n - k, r - k)


@pytest.mark.parametrize(("n", "d"), [(60, 4), (100, 3), (130, 2), (15, 14), (14, 20)])
def test_larger_general_position(rng: np.random.Generator, n: int, d: int) -> None:
    signs = cells(rng.standard_normal((n, d)))
    assert len(signs) == cover(n, d)
    assert_well_formed(signs)


def test_more_faces_than_fit_one_word(rng: np.random.Generator) -> None:
    signs = faces(rng.standard_normal((40, 3)))
    assert len(signs) == most_faces(40, 3)
    assert_well_formed(signs)


@given(X=small(6, 4))
@settings(deadline=None, max_examples=300)
def test_degenerate_cells_by_an_exact_judge(separable_exactly: Judge, X: np.ndarray) -> None:
    assert as_list(cells(X)) == judged_cells(X, separable_exactly)


@given(X=small(4, 4))
@settings(deadline=None, max_examples=25)
def test_degenerate_faces_by_linear_programs(X: np.ndarray) -> None:
    assert as_list(faces(X)) == programmed_faces(X)


@given(
    X=arrays(np.float64, (5, 3), elements=st.integers(-2, 2)),
    kind=st.sampled_from(["integers", "rounded", "nudged"]),
    seed=st.integers(0, 2**32),
)
@settings(deadline=None, max_examples=40)
def test_what_floats_cannot_tell(X: np.ndarray, kind: str, seed: int) -> None:
    """Points that lie on planes exactly, or only up to the last bits of their coordinates."""
    rng = np.random.default_rng(seed)
    if kind == "rounded":
        X = X @ rng.standard_normal((3, 3))
    elif kind == "nudged":
        X = X * (1 + 2.0**-52 * rng.integers(-1, 2, X.shape))
    assume(spans_space(X))
    expected = faces_in_space(X)
    assert as_list(faces(X)) == expected
    full = int(X.any(axis=1).sum())
    assert as_list(cells(X)) == [signs for signs in expected if sum(map(abs, signs)) == full]


def test_the_last_bit_counts(separable_exactly: Judge) -> None:
    """Three vectors in one plane have 6 cells; one bit of one coordinate gives all 8."""
    flat = np.array([[1.0, 3, 5], [2, -1, 7], [3, 2, 12]])
    assert len(cells(flat)) == 6
    for i, j in product(range(3), repeat=2):
        bent = flat.copy()
        bent[i, j] = np.nextafter(bent[i, j], np.inf)
        assert as_list(cells(bent)) == judged_cells(bent, separable_exactly)
        assert len(cells(bent)) == 8


def test_many_points_near_planes(rng: np.random.Generator, separable_exactly: Judge) -> None:
    """Combinations of two vectors, rounded: the planes they nearly share are not theirs."""
    for _ in range(3):
        X = rng.integers(-3, 4, (7, 2)) @ rng.standard_normal((2, 4))
        X = X[X.any(axis=1)]
        assert as_list(cells(X)) == judged_cells(X, separable_exactly)
        assert np.linalg.matrix_rank(X) == 2


@pytest.mark.parametrize("lines", [1, 2, 7])
def test_in_the_plane_every_line_adds_two_cells(rng: np.random.Generator, lines: int) -> None:
    """Multiples of a row, negative ones too, and rows of zeros add none."""
    directions = rng.integers(1, 100, (lines, 2)) / [1.0, 101.0] + np.arange(lines)[:, None]
    which, factor = rng.integers(0, lines, 30), rng.choice([-2.0, 0.0, 0.25, 1.0, 8.0], 30)
    X = np.vstack([directions, factor[:, None] * directions[which]])
    signs = cells(X)
    assert len(signs) == 2 * lines
    assert_well_formed(signs)
    expected = np.sign(factor) * signs[:, which]
    assert np.array_equal(signs[:, lines:], expected)
    assert len(faces(X)) == (4 * lines + 1 if lines > 1 else 3)


@pytest.mark.parametrize(("d", "count"), [(1, 2), (2, 4), (3, 14), (4, 104), (5, 1882)])
def test_threshold_functions(d: int, count: int) -> None:
    """The cells of the cube's corners are the threshold functions of d − 1 bits (OEIS A000609)."""
    corners = np.array(list(product((-1.0, 1.0), repeat=d)))
    assert len(cells(corners)) == count
    with_bias = np.array([(*bits, 1.0) for bits in product((0.0, 1.0), repeat=d - 1)])
    assert len(cells(with_bias)) == count


@pytest.mark.parametrize(("d", "weak_orders"), [(2, 3), (3, 13), (4, 75), (5, 541)])
def test_orders(d: int, weak_orders: int) -> None:
    """The cells of e_i − e_j are the orders of d things, the faces the orders with ties."""
    eye = np.eye(d)
    X = np.array([eye[i] - eye[j] for i, j in combinations(range(d), 2)])
    assert len(cells(X)) == math.factorial(d)
    assert len(faces(X)) == weak_orders
    signed = np.vstack([X, np.abs(X), eye])
    assert len(cells(signed)) == 2**d * math.factorial(d)


def test_points_in_a_subspace(rng: np.random.Generator) -> None:
    """Rank, not the number of coordinates, decides; repeated and zero columns are welcome."""
    Y = rng.integers(-50, 50, (20, 3)).astype(float)
    X = Y @ rng.integers(-3, 4, (3, 7)) @ np.diag([1, 1, 1, 0, 1, 1, 1])
    assert np.array_equal(cells(X), cells(Y))
    assert np.array_equal(faces(X), faces(Y))


def test_coplanar_points_among_others(rng: np.random.Generator) -> None:
    """Two planes of points, and points apart."""
    X = rng.standard_normal((14, 3))
    X[:5, 2] = 0
    X[5:10, 0] = 0
    lost = math.comb(4, 2)  # on each side of 0, where 5 great circles meet in one point
    assert len(cells(X)) == cover(14, 3) - 2 * 2 * lost


@pytest.mark.parametrize("X", [np.zeros((3, 2)), np.zeros((1, 1))])
def test_rows_of_zeros_only(X: np.ndarray) -> None:
    assert as_list(cells(X)) == as_list(faces(X)) == [(0,) * len(X)]


def test_one_row_and_one_column() -> None:
    assert as_list(cells(np.array([[0.0, -3.0]]))) == [(-1,), (1,)]
    assert as_list(faces(np.array([[0.0, -3.0]]))) == [(-1,), (0,), (1,)]
    assert as_list(cells(np.array([[2.0], [-1e-300], [0.0]]))) == [(-1, 1, 0), (1, -1, 0)]


def test_every_cell_has_a_witness(rng: np.random.Generator, separable_exactly: Judge) -> None:
    X = rng.standard_normal((12, 4))
    for signs in cells(X):
        assert separable_exactly(signs[:, None] * X)


@pytest.mark.parametrize("degenerate", [False, True])
def test_lengths_order_and_coordinates_play_no_part(
    rng: np.random.Generator, degenerate: bool
) -> None:
    X = rng.integers(-2, 3, (12, 3)).astype(float) if degenerate else rng.standard_normal((12, 3))
    signs = cells(X)
    long = 2.0 ** rng.integers(-600, 600, (12, 1))
    assert np.array_equal(cells(long * X), signs)
    assert np.array_equal(cells(X * 2.0 ** rng.integers(-300, 300, 3)), signs)
    assert np.array_equal(cells(X[:, [2, 0, 1]] * [1, -1, 1]), signs)
    order = rng.permutation(12)
    assert set(as_list(cells(X[order]))) == set(as_list(signs[:, order]))
    if degenerate:
        X = X @ np.array([[1.0, 2, 0], [0, 1, 5], [1, 0, 1]])  # regular, and nothing is rounded
        assert np.array_equal(cells(X), signs)
    else:
        assert len(cells(X @ np.linalg.qr(rng.standard_normal((3, 3)))[0])) == len(signs)


def test_entries_of_all_sizes(rng: np.random.Generator, separable_exactly: Judge) -> None:
    """One row may hold numbers that no common scale can hold as floats."""
    X = rng.standard_normal((6, 3)) * 10.0 ** rng.uniform(-300, 300, (6, 3))
    X[0] = [5e-324, 1e308, 0]
    X[1] = [5e-324, 1e308, 5e-324]
    assert as_list(cells(X)) == judged_cells(X, separable_exactly)


@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("find", [cells, faces])
def test_floats_and_blocks_change_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, find: Callable, degenerate: bool
) -> None:
    """With floats that decide nothing, or a few vertices at a time, the answer is the same."""
    X = rng.standard_normal((11, 4))
    if degenerate:
        X = np.round(X)
    expected = find(X)
    inverses = _vertices._inverses
    with monkeypatch.context() as patch:
        patch.setattr(_vertices, "_inverses", lambda B: (inverses(B)[0], np.full(len(B), np.inf)))
        assert np.array_equal(find(X), expected)
    make_blocks_small(monkeypatch, 50)
    assert np.array_equal(find(X), expected)


def test_the_float_bound_holds(rng: np.random.Generator) -> None:
    """x Y is within the bound of x B⁻¹, in fractions, for bases near and far from singular."""
    bases = [np.diag([0.75, 0.7])]  # here B times the rounded Y is rounded to the identity
    for size in 10.0 ** -np.arange(0, 15.0):
        B = rng.uniform(-1, 1, (2, 2))
        bases.append(np.array([B[0], B[0] * 0.75 + size * B[1] / 4]))
    Y, error = _vertices._inverses(np.array(bases))
    assert error[0] < 1e-13
    for B, computed, bound in zip(bases, np.ones(2) @ Y, error.tolist(), strict=True):
        (a, b), (c, d) = [map(Fraction, row) for row in B.tolist()]
        exact = [(d - c) / (a * d - b * c), (a - b) / (a * d - b * c)]
        for value, true in zip(computed.tolist(), exact, strict=True):
            assert bound == np.inf or abs(Fraction(value) - true) <= Fraction(bound)


@pytest.mark.parametrize("bits", [1, 5, 9, 12, 15, 18, 21, 24, 27, 30, 45])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_integers_of_any_size(rng: np.random.Generator, bits: int, d: int) -> None:
    """Cells do not change with the coordinates, however large the integers that these take."""
    X = rng.integers(-2, 3, (10, d))
    M = rng.integers(-(2**bits), 2**bits, (d, d)) * 2 + np.eye(d, dtype=int)  # odd determinant
    assert np.array_equal(cells((X @ M).astype(float)), cells(X.astype(float)))


def test_refusal_comes_before_the_memory(rng: np.random.Generator) -> None:
    X = rng.standard_normal((60, 12))
    tracemalloc.start()
    line = refused(lambda: cells(X), "60 points", "rank 12", "GiB", f"{cover(60, 12):,}")
    refused(lambda: faces(X), "fewer points")
    refused(lambda: faces(X[:, :5]), "faces", f"{most_faces(60, 5):,}")
    refused(lambda: cells(np.broadcast_to(1.0, (10**5, 100))), "as integers")
    wide = np.repeat(rng.standard_normal((150, 150)), 2, axis=1)  # its rank would take long
    refused(lambda: cells(wide), "10^45 cells", "rank 150")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "3,000,000" in line
    assert peak < 2**24
    with pytest.raises(TooManyCells):
        cells(X[:10, :3], most=cover(10, 3) - 1)
    assert len(cells(X[:10, :3], most=cover(10, 3))) == cover(10, 3)
    assert len(cells(np.repeat(X[:4], 1000, axis=0))) == 16  # repeated points cost little


@pytest.mark.parametrize(
    ("find", "n", "d", "degenerate"),
    [(cells, 60, 4, False), (cells, 17, 17, False), (cells, 32, 4, True), (faces, 30, 4, False)],
)
def test_the_estimate_of_memory_holds(
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    find: Callable,
    n: int,
    d: int,
    degenerate: bool,
) -> None:
    X = rng.integers(-2, 3, (n, d)).astype(float) if degenerate else rng.standard_normal((n, d))
    make_blocks_small(monkeypatch, 2**12)  # so that it is not their size that is measured
    estimates = []
    needed = arrangements._bytes_needed
    monkeypatch.setattr(
        arrangements, "_bytes_needed", lambda *a: estimates.append(needed(*a)) or estimates[-1]
    )
    find(X[:d])  # what is imported late is not memory of the algorithm
    tracemalloc.start()
    find(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= estimates[-1]


def test_bad_input_is_refused() -> None:
    for find in (cells, faces):
        refused(lambda find=find: find(np.array([[1.0, np.nan]])), "nan at row 0, column 1")
        refused(lambda find=find: find(np.zeros(3)), "shape (3,)")
        refused(lambda find=find: find(np.zeros((0, 3))), "at least 1")
