"""The assumptions of lyu2021 against their definitions, and the paper's data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.data import generate
from tacit.geometry import check
from tacit.geometry.predicate import View, predicates
from tacit.papers.lyu2021.geometry import assumptions as lyu2021
from tacit.values import Check, Dataset

ALPHAS = (0.1, 0.5, 0.9)


def assumption(number: str, data: Dataset, alpha: float = 0.5) -> Check:
    return predicates()[f"lyu2021:assumption{number}"](View(data, alpha, unlimited=True))


def whole_numbers() -> st.SearchStrategy[Dataset]:
    def of(shape: tuple[int, int]) -> st.SearchStrategy[Dataset]:
        y = st.lists(st.sampled_from([-1, 1]), min_size=shape[0], max_size=shape[0])
        X = arrays(np.float64, shape, elements=st.integers(-3, 3))
        return st.builds(lambda X, y: Dataset(X, np.array(y)), X, y)

    return st.tuples(st.integers(1, 6), st.integers(1, 3)).flatmap(of)


def exact_rows(data: Dataset) -> list[list[Fraction]]:
    """y_i x_i."""
    return [[y * Fraction(v) for v in x] for x, y in zip(data.X.tolist(), data.y, strict=True)]


def dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def total(rows: list[list[Fraction]]) -> list[Fraction]:
    return [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]


def A_2(data: Dataset, alpha: Fraction) -> Fraction:
    """n times the smallest left side minus right side of Assumption A.2."""
    rows = exact_rows(data)
    return min(
        dot(total(rows), z) - (1 - alpha) / alpha * sum(max(-dot(z, other), 0) for other in rows)
        for z in rows
    )


def A_3(data: Dataset, alpha: Fraction) -> Fraction:
    """n²(‖µ⁺‖² − ‖µ⁻‖²), from (6)."""
    rows = exact_rows(data)
    plus, minus = (
        total(
            [[(1 if y == s else alpha) * v for v in z] for z, y in zip(rows, data.y, strict=True)]
        )
        for s in (1, -1)
    )
    return dot(plus, plus) - dot(minus, minus)


@given(whole_numbers())
def test_4_5_is_decided_exactly(data: Dataset) -> None:
    rows = exact_rows(data)
    finding = assumption("4.5", data)
    assert finding.holds == all(dot(total(rows), z) != 0 for z in rows)


@given(data=whole_numbers(), alpha=st.sampled_from([0.125, 0.5, 0.75]))
def test_A_2_against_its_definition(data: Dataset, alpha: float) -> None:
    assume(data.X.any())
    truth = A_2(data, Fraction(alpha))
    finding = assumption("A.2", data, alpha)
    largest = max(dot(z, z) for z in exact_rows(data))
    assert finding.slack == pytest.approx(float(truth / data.n / largest), abs=1e-13)
    assert finding.holds == (truth > 0)


@given(data=whole_numbers(), alpha=st.sampled_from([0.0, 0.1, 0.5]))
def test_A_3_and_A_8_are_decided_exactly(data: Dataset, alpha: float) -> None:
    assume(data.X.any())
    truth = A_3(data, Fraction(alpha))
    assert assumption("A.3", data, alpha).holds == (truth > 0)
    assert assumption("A.8", data, alpha).holds == (truth < 0)


def test_slacks_of_norms_and_cosines(rng: np.random.Generator) -> None:
    for alpha in ALPHAS:
        X, y = rng.normal(size=(20, 4)), rng.choice([-1, 1], 20)
        data = Dataset(X, y)
        mu = (y[:, None] * X).mean(axis=0)
        cosines = np.abs(X @ mu) / np.linalg.norm(X, axis=1) / np.linalg.norm(mu)
        assert assumption("4.5", data).slack == pytest.approx(cosines.min(), rel=1e-9)
        leaky = np.where(y == 1, 1, alpha), np.where(y == 1, alpha, 1)
        plus, minus = (np.linalg.norm((c * y) @ X) / 20 for c in leaky)
        slack = (plus - minus) / np.linalg.norm(X, axis=1).max()
        assert assumption("A.3", data, alpha).slack == pytest.approx(slack, rel=1e-9)
        assert assumption("A.8", data, alpha).slack == pytest.approx(-slack, rel=1e-9)


DIRECTIONS = 40_000


def by_all_directions(data: Dataset, alpha: float) -> float:
    """The largest slack of A.1 over many directions of the plane."""
    angles = np.linspace(0, 2 * np.pi, DIRECTIONS)
    w = np.column_stack([np.cos(angles), np.sin(angles)])
    along = data.X @ w.T
    across = np.abs(data.X @ np.column_stack([-w[:, 1], w[:, 0]]).T)
    gamma = (data.y[:, None] * along).min(axis=0)
    mu = (data.y[:, None] * data.X).mean(axis=0)
    slack = alpha * (w @ mu) * gamma - across.mean(axis=0) * across.max(axis=0)
    return float(np.where(gamma > 0, slack, -np.inf).max())


def narrow(rng: np.random.Generator, width: float, d: int = 2) -> Dataset:
    """Points around ±e₁."""
    y = rng.choice([-1, 1], 8)
    X = width * rng.normal(size=(8, d))
    X[:, 0] = y * rng.uniform(0.5, 1.5, 8)
    return Dataset(X, y)


def test_A_1_against_all_directions(rng: np.random.Generator) -> None:
    seen = []
    for width in (0.01, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0):
        for alpha in ALPHAS:
            data = narrow(rng, width)
            finding, best = assumption("A.1", data, alpha), by_all_directions(data, alpha)
            seen.append(finding.holds)
            if finding.holds:
                assert best > 0
                largest = (np.linalg.norm(data.X, axis=1) ** 2).max()
                # Turning w by an angle changes each of the four factors by that times ‖x‖.
                assert finding.slack * largest <= best + 4 * largest * np.pi / DIRECTIONS
            elif finding.holds is False:
                assert best <= 0
    assert {True, False} <= set(seen)


@settings(max_examples=300)
@given(
    seed=st.integers(0, 2**32),
    width=st.floats(0.0, 1.0),
    d=st.integers(1, 4),
    alpha=st.floats(0.01, 0.99),
)
def test_A_1_implies_A_2(seed: int, width: float, d: int, alpha: float) -> None:
    """Lemma G.1."""
    data = narrow(np.random.default_rng(seed), width, d)
    if assumption("A.1", data, alpha).holds:
        assert assumption("A.2", data, alpha).holds is True


def test_A_1_of_points_close_to_its_direction() -> None:
    """The only direction looked at is e₁; ‖Px‖ of two points is tiny, and counts."""
    c = 1e-9
    data = Dataset([[1.0, 0.25], [1.0, -0.25], [1.0, c], [1.0, -c]], np.ones(4))
    finding = assumption("A.1", data, 0.5)
    exact = 0.5 - (0.25 + c) / 2 * 0.25
    assert finding.holds is True
    assert finding.slack * (1 + 0.25**2) == pytest.approx(exact, rel=1e-14)
    assert assumption("A.1", Dataset([[1.0], [2.0], [-1.0]], [1, 1, -1])).holds is True


def test_A_2_names_the_slopes_for_which_it_holds(rng: np.random.Generator) -> None:
    data = narrow(rng, 0.6)
    note = assumption("A.2", data).note
    threshold = float(note.rpartition(">")[2])
    assert 0 < threshold < 1
    assert assumption("A.2", data, threshold * 1.01).holds is True
    assert assumption("A.2", data, threshold * 0.99).holds is False


def test_relu_has_no_slope() -> None:
    data = generate("hinted")
    for number in ("A.1", "A.2"):
        assert assumption(number, data, 0.0).holds is None
    assert "needs α > 0" in assumption("A.2", data, 0.0).note


@pytest.mark.parametrize("alpha", ALPHAS)
def test_hinted_data(alpha: float) -> None:
    """App. A.2: the hints make A.1, A.2 and A.3 hold."""
    for call in ("hinted:n=10,d=3", "hinted:seed=3", "lyu2021_right"):
        data = generate(f"{call}{',' if ':' in call else ':'}alpha={alpha}")
        for number in ("A.1", "A.2", "A.3", "4.5"):
            assert assumption(number, data, alpha).holds is True, (call, number)
        assert assumption("A.8", data, alpha).holds is False


def test_fig_1_middle() -> None:
    properties = check(generate("lyu2021_middle"), activation="leaky:0.5").properties
    assert properties["lyu2021:assumptionA.2"].holds is True
    assert properties["lyu2021:assumptionA.3"].holds is True


def test_symmetric_data_has_equal_norms() -> None:
    for call in ("symmetric:n=30,d=4", "lyu2021_left"):
        data = generate(call)
        for number in ("A.3", "A.8"):
            finding = assumption(number, data)
            assert finding.holds is False and "decided exactly" in finding.note
    for number in ("A.3", "A.8"):  # and so has any data when the network is linear
        assert assumption(number, generate("hinted"), 1.0).holds is False


def test_ties_of_large_data_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lyu2021, "MOST_EXACT_ENTRIES", 10)
    data = generate("symmetric:n=30,d=4")
    assert assumption("A.3", data).holds is None
    tie = [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]  # at the zero row
    finding = assumption("A.2", Dataset(tie, np.ones(3)))
    assert finding.holds is None and "rounding" in finding.note
    assert assumption("4.5", generate("xor")).holds is False  # still small enough
    assert assumption("4.5", Dataset(np.vstack([np.eye(4), -np.eye(4)]), np.ones(8))).holds is None


def test_sums_that_cancel() -> None:
    """µ is tiny and not zero; floating point may call it zero or not, depending on the order."""
    tiny = 2.0**-70
    for order in ([0, 1, 2], [0, 2, 1], [2, 0, 1]):
        data = Dataset(np.array([[1.0], [-1.0], [tiny]])[order], np.ones(3))
        assert assumption("4.5", data).holds is True
    data = Dataset([[1.0], [-1.0], [tiny], [-tiny]], np.ones(4))
    assert assumption("4.5", data).holds is False
