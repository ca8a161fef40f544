"""Plain facts about data, and the diversity of XORD points."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.data import generate
from tacit.geometry import check
from tacit.geometry.facts import facts, remarks
from tacit.values import Check, Dataset


@given(
    X=st.tuples(st.integers(1, 12), st.integers(1, 2)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, -0.0, 1.0, -1.0]))
    ),
    seed=st.integers(0, 99),
)
def test_counts(X: np.ndarray, seed: int) -> None:
    y = np.random.default_rng(seed).choice([-1, 1], len(X))
    known = facts(Dataset(X, y))
    points = [tuple(row) for row in (X + 0.0).tolist()]
    labels = {point: {int(y[i]) for i, p in enumerate(points) if p == point} for point in points}
    assert known["n_repeated"] == len(points) - len(set(points))
    assert known["n_contradictions"] == sum(len(of) == 2 for of in labels.values())
    assert known["zero_rows"] == [i for i, p in enumerate(points) if not any(p)]
    assert known["one_class"] == (len(set(y.tolist())) == 1)
    assert known["class_sizes"] == {f"{k:+d}": v for k, v in Counter(y.tolist()).items()}
    for group in known["contradictions"]:
        assert len({points[i] for i in group}) == 1 and len({y[i] for i in group}) == 2


def test_norms_of_any_size() -> None:
    X = np.array([[3e200, 4e200], [3e-200, 4e-200], [0.0, 5e-324]])
    known = facts(Dataset(X, [1, 1, -1]))
    assert known["largest_norm"] == pytest.approx(5e200)
    assert known["smallest_norm"] == 5e-324
    assert known["n_zero_rows"] == 0
    assert facts(Dataset(X[1:2], [1]))["smallest_norm"] == pytest.approx(5e-200)


def test_long_lists_are_cut_and_say_so() -> None:
    """2,000 times the same point, once with the other label; 50 zero rows; 30 contradictions."""
    X = np.vstack([np.tile([1.0, 2.0], (2000, 1)), np.zeros((50, 2))])
    y = np.ones(2050)
    y[1990] = -1
    known = facts(Dataset(X, y))
    assert (known["n_zero_rows"], len(known["zero_rows"])) == (50, 20)
    assert known["n_repeated"] == 1999 + 49
    [group] = known["contradictions"]
    assert len(group) == 20 and 1990 in group and group == sorted(group)
    assert any("and 30 more" in line for line in remarks(known))
    X = np.repeat(np.arange(1.0, 31.0)[:, None], 2, axis=0)
    known = facts(Dataset(X, np.tile([1, -1], 30)))
    assert (known["n_contradictions"], len(known["contradictions"])) == (30, 20)
    assert any("and 10 more points" in line for line in remarks(known))


def test_remarks() -> None:
    assert remarks(facts(generate("linear"))) == []
    said = " ".join(remarks(facts(Dataset([[0.0, 0.0], [0.0, 0.0]], [1, 1]))))
    assert "one class" in said and "Zero rows: 0, 1." in said and "1 point repeats" in said
    said = " ".join(remarks(facts(Dataset([[1.0], [2.0], [1.0]], [1, 1, -1]))))
    assert "different labels, in rows 0, 2:" in said


def test_names_of_classes() -> None:
    data = Dataset(np.eye(4), [0, 2, 2, 0], classes=("cat", "dog", "owl"))
    assert facts(data)["class_sizes"] == {"cat": 2, "owl": 2}


def test_large_data(rng: np.random.Generator) -> None:
    X = rng.normal(size=(100_000, 5))
    X[77_777] = X[5]
    known = facts(Dataset(X, np.sign(X[:, 0])))
    assert known["n_repeated"] == 1 and known["n_contradictions"] == 0


def diverse(data: Dataset) -> Check:
    return check(data, properties="xord_diverse").properties["xord_diverse"]


def patterns(x: np.ndarray) -> set[tuple[float, float]]:
    return {(float(x[2 * j]), float(x[2 * j + 1])) for j in range(len(x) // 2)}


@pytest.mark.parametrize("seed", range(5))
def test_xord_diversity(seed: int) -> None:
    """Definition 4.2: all four patterns, or (1, −1) and (−1, 1) for a negative point."""
    data = generate(f"xord:n=40,d=5,p_plus=0.5,p_minus=0.5,seed={seed}")
    count = sum(
        len(patterns(x)) == (4 if y > 0 else 2) for x, y in zip(data.X, data.y, strict=True)
    )
    finding = diverse(data)
    assert finding.holds is False
    assert finding.slack == pytest.approx((count - 40) / 40)


def test_xord_decoys() -> None:
    finding = diverse(generate("xord_decoy"))
    assert finding.holds is True and finding.slack == 0
    finding = diverse(generate("xord_appD"))  # its last point is not diverse
    assert finding.holds is False and finding.slack == pytest.approx(-1 / 12)


def test_diversity_speaks_of_xord_only() -> None:
    decoy = generate("xord_decoy")
    for other in (
        generate("linear"),
        Dataset(decoy.X[:, :-1], decoy.y),
        Dataset(decoy.X, -decoy.y),
        Dataset(decoy.X, decoy.y > 0, classes=("a", "b", "c")),
    ):
        finding = diverse(other)
        assert finding.holds is None and "XORD" in finding.note
