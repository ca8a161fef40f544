"""The cells of an arrangement, against linear programs over all sign vectors and against counts."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from helpers import refused
from proofs.proof_texts import signs_of, text_of
from tacit.proofs import arrangement
from tacit.proofs.arrangement import cells, lines_of, most_cells
from tacit.proofs.exact import Budget, whole
from tacit.values import BadInput


def cells_of(X: np.ndarray) -> set[str]:
    signs = [text_of(signs) for signs in signs_of(np.asarray(X, dtype=float))]
    assert len(set(signs)) == len(signs)
    return set(signs)


def exists(signs: tuple[int, ...], X: np.ndarray) -> bool:
    """Is there u with x_i·u of these signs? (A linear program on small whole numbers.)"""
    A = -np.array(signs)[:, None] * X
    return linprog(np.zeros(X.shape[1]), A, -np.ones(len(X)), bounds=(None, None)).status == 0


def by_brute_force(X: np.ndarray) -> set[str]:
    zero = ~X.any(axis=1)
    options = [(0,) if z else (-1, 1) for z in zero]
    return {
        text_of(np.array(signs))
        for signs in product(*options)
        if zero.all() or exists(tuple(np.array(signs)[~zero]), X[~zero])
    }


def by_ranks(X: np.ndarray) -> int:
    """The number of cells from the ranks of all subsets of the lines (Zaslavsky, Whitney)."""
    lines = {tuple(row * np.sign(row[row != 0][0]) / np.gcd.reduce(row)) for row in X if row.any()}
    subsets = (s for k in range(len(lines) + 1) for s in combinations(sorted(lines), k))
    return sum((-1) ** (len(s) - (np.linalg.matrix_rank(np.array(s)) if s else 0)) for s in subsets)


small = st.tuples(st.integers(1, 6), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(-2, 2))
)


@settings(max_examples=100, deadline=None)
@given(small)
def test_all_sign_vectors(X: np.ndarray) -> None:
    assert cells_of(X) == by_brute_force(X)


@settings(deadline=None)
@given(
    st.tuples(st.integers(5, 9), st.integers(2, 5)).flatmap(
        lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 2))
    )
)
def test_the_number_of_cells_of_special_position(X: np.ndarray) -> None:
    assert len(cells_of(X)) == by_ranks(X)


@pytest.mark.parametrize(
    "n, d, number", [(40, 3, 1562), (100, 3, 9902), (30, 4, 8180), (12, 9, 3962), (15, 15, 2**15)]
)
def test_general_position(n: int, d: int, number: int, rng: np.random.Generator) -> None:
    X = rng.normal(size=(n, d))
    all_cells = cells_of(X)
    assert len(all_cells) == number == most_cells(n, d)
    for u in rng.normal(size=(300, d)):
        assert text_of(np.sign(X @ u).astype(int)) in all_cells


def test_less_than_full_rank(rng: np.random.Generator) -> None:
    flat = np.round(8 * rng.normal(size=(9, 2))) @ np.round(8 * rng.normal(size=(2, 5)))
    assert cells_of(flat) == cells_of(flat[:, :2])
    assert len(cells_of(flat)) == 18


def test_parallel_opposite_and_zero_rows() -> None:
    X = np.array([[1, 2, 0], [0, 0, 0], [-3, -6, 0], [0.5, 1, 0], [0, 1, 1]])
    assert cells_of(X) == {"+0-++", "+0-+-", "-0+-+", "-0+--"}
    assert cells_of(np.zeros((2, 3))) == {"00"}


def test_one_bit_off_a_plane() -> None:
    """Three rows in a plane have 6 cells; one bit off it, all 8."""
    X = np.array([[0.1, 0.7, 0.3], [0.4, -0.2, 0.6], [0.1 + 0.4, 0.7 - 0.2, 0.3 + 0.6]])
    X = np.round(X * 2**40) / 2**40
    X[2] = X[0] + X[1]
    assert len(cells_of(X)) == 6
    X[2, 1] = np.nextafter(X[2, 1], 1)
    assert len(cells_of(X)) == 8


def test_sizes_of_rows_and_columns_do_not_matter(rng: np.random.Generator) -> None:
    X = rng.normal(size=(12, 3))
    rows = 2.0 ** rng.integers(-900, 900, (12, 1))
    columns = 2.0 ** np.array([[0, -60, 70]])
    assert cells_of(X * columns * rows) == cells_of(X)
    extreme = np.array([[1e-300, 1e300, 1.0], [1e300, 1e-300, -1.0], [1, 1, 1e300], [1, -1, 1]])
    assert len(cells_of(extreme)) == 14


def test_signs_that_contradict_each_other() -> None:
    lines = lines_of(whole(np.array([[1.0, 1.0], [-2.0, -2.0], [0.0, 0.0], [1.0, 0.0]]))[0])
    assert lines.mask("+-0+") == 3 and lines.mask("-+0+") == 2
    for signs in ("++0+", "--0+", "+-++", "0-0+"):
        assert lines.mask(signs) is None


def test_too_much_is_refused_before_it_is_begun(rng: np.random.Generator) -> None:
    for n, d in ((60, 10), (3000, 3), (300, 300), (60_000, 2)):
        lines = lines_of(whole(np.round(1e6 * rng.normal(size=(n, d))))[0])
        refused(lambda lines=lines: cells(lines, Budget(), "problems[7]"), "problems[7]", "at most")


def test_the_budget(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = lines_of(whole(rng.normal(size=(10, 3)))[0])
    with pytest.raises(BadInput, match="at most"):
        cells(lines, Budget(100), "here")
    monkeypatch.setattr(arrangement, "MOST_FACES", 100)
    with pytest.raises(BadInput, match="10 lines of rank 3"):
        cells(lines, Budget(), "here")
