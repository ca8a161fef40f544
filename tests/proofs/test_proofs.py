"""True proofs are verified, and the brackets are those of known or recomputed optima."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tacit.proofs
from proofs.proof_texts import (
    changed,
    claimed,
    content,
    judge,
    multipliers,
    one_point,
    problem,
    rejected,
    reloaded,
    solved,
    three_classes,
)
from tacit.proofs import float_above, float_below, peaks, verify, write_proof
from tacit.proofs.exact import Budget
from tacit.proofs.peaks import cell_peaks, subset_peaks
from tacit.proofs.reading import parse
from tacit.proofs.subsets import largest_subset

PACKAGE = Path(tacit.proofs.__file__).parent


def labels(n: int) -> np.ndarray:
    return np.where(np.arange(n) % 2 == 0, 1, -1)


def heights(X: np.ndarray, y: np.ndarray, dual: np.ndarray, alpha: float, u: np.ndarray) -> tuple:
    """The largest s Σ λ_i y_i φ(u·x_i) over the directions u, for s = 1 and −1."""
    t = (u / np.linalg.norm(u, axis=1, keepdims=True)) @ X.T
    values = np.maximum(t, alpha * t) @ (dual * y)
    return values.max(), (-values).max()


def orthants(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Points with y_i x_i in the positive orthant."""
    y = np.where(rng.random(n) < 0.5, 1, -1)
    return rng.random((n, d)) * y[:, None], y


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.3])
def test_one_point(alpha: float, tmp_path: Path) -> None:
    verification = judge(one_point(alpha), tmp_path)
    assert verification.verified and verification.reason == "" and not verification.infeasible
    lower, upper = verification.exact_bounds
    assert lower == upper == Fraction(1, 5)  # 3, 4, 5: no rounding at all
    assert (verification.n, verification.d, verification.cells) == (1, 2, 2)
    assert verification.alpha == alpha and verification.train == "both"
    assert verification.X.tolist() == [[3, 4]] and [y.tolist() for y in verification.y] == [[1]]


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_one_point_first_layer(alpha: float, units: int, tmp_path: Path) -> None:
    """‖W‖_F = 1 / (v √k ‖x‖ √(1 + α²)): all units share the work, negative ones by α."""
    entries = one_point(alpha) | {"train": "first", "output_weight": 0.5, "units": units}
    neurons = [([3, 4], 0.5)] * units + [([-3 * alpha, -4 * alpha], -0.5)] * units
    entries["problems"][0]["neurons"] = problem([1], neurons, [1])["neurons"]
    verification = judge(entries, tmp_path)
    optimum = 1 / (0.5 * np.sqrt(units) * 5 * np.sqrt(1 + alpha**2))
    assert (
        verification.verified and verification.output_weight == 0.5 and verification.units == units
    )
    lower, upper = verification.exact_bounds
    assert float(lower) == pytest.approx(optimum, rel=1e-15)
    assert float(upper) == pytest.approx(optimum, rel=1e-15)
    rejected({**entries, "units": units - 1}, tmp_path, "units" if units == 1 else "positive")
    entries["problems"][0]["neurons"][0]["a"] = 0.5000000000000001
    rejected(entries, tmp_path, "problems[0].neurons[0].a", "0.5 or -0.5")


def wang2022(alpha: float, method: str) -> dict:
    X, y = np.array([[1.65, -0.47], [-0.47, 1.35]]), np.array([1, -1])
    norms = np.linalg.norm(X, axis=1)
    dual = 1 / norms
    push = multipliers(X, y, dual, alpha) if method == "cells" else []
    neurons = [(X[0] / norms[0] ** 2, 1), (X[1] / norms[1] ** 2, -1)]
    return content(X, [problem(y, neurons, dual, push, method)], alpha)


@pytest.mark.parametrize("method", ["cells", "subsets"])
def test_wang2022(method: str, tmp_path: Path) -> None:
    """Two points with x₁·x₂ < 0: one neuron along each, so the optimum is 1/‖x₁‖ + 1/‖x₂‖."""
    entries = wang2022(0.0, method)
    optimum = sum(1 / np.linalg.norm(x) for x in np.array(entries["X"]))
    verification = judge(claimed(entries, tmp_path), tmp_path)
    assert verification.verified and verification.cells == (4 if method == "cells" else 0)
    lower, upper = verification.exact_bounds
    assert lower <= upper <= lower * (1 + Fraction(1, 10**14))
    assert float(lower) == pytest.approx(optimum, rel=1e-14)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("n, d", [(6, 2), (9, 2), (7, 3), (10, 3)])
def test_random_problems(
    n: int, d: int, alpha: float, tmp_path: Path, rng: np.random.Generator
) -> None:
    X, y = rng.normal(size=(n, d)), labels(n)
    entries = claimed(solved(X, y, alpha), tmp_path)
    verification = judge(entries, tmp_path)
    assert verification.verified
    lower, upper = verification.exact_bounds
    assert 0 < lower <= upper <= lower * (1 + Fraction(1, 10**5))
    assert entries["lower"] == float_below(lower)
    assert entries["upper"] == float_above(upper)
    dual = np.array(entries["problems"][0]["dual"])
    plus, minus = heights(X, y, dual, alpha, rng.normal(size=(20000, d)))
    (proved,) = parse(write_proof(entries)).problems
    bound = cell_peaks(X, alpha, proved, Budget())
    assert 0.97 * float(bound.plus) < plus**2 <= float(bound.plus)
    assert 0.97 * float(bound.minus) < minus**2 <= float(bound.minus)


def test_cells_in_small_portions(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest norm is found in whichever portion it is."""
    for _ in range(5):
        X, y, dual = rng.normal(size=(7, 3)), labels(7), rng.random(7)
        push = multipliers(X, y, dual, 0.3)
        (given,) = parse(write_proof(content(X, [problem(y, [], dual, push)], 0.3))).problems
        peaks_at_once = cell_peaks(X, 0.3, given, Budget())
        with monkeypatch.context() as patch:
            patch.setattr(peaks, "_BLOCK", 24)
            assert cell_peaks(X, 0.3, given, Budget()) == peaks_at_once


def test_degenerate_data(tmp_path: Path, rng: np.random.Generator) -> None:
    """Equal, parallel, opposite and coplanar points, of rank 2 in three columns."""
    plane = np.array([[1, 2], [1, 2], [2, 4], [-1, -2], [0, 1], [3, 1], [-1, 1]])
    X, y = plane @ np.array([[1, 0, 1], [0, 1, 1]]), np.array([1, 1, 1, -1, 1, -1, -1])
    verification = judge(solved(X.astype(float), y, 0.3), tmp_path)
    assert verification.verified
    lower, upper = verification.exact_bounds
    assert upper <= lower * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize("alpha", [0.0, 0.001, 0.5])
def test_acute_is_above_what_is_sampled(alpha: float, rng: np.random.Generator) -> None:
    for n, d in ((5, 2), (8, 3), (20, 6)):
        X, y = orthants(rng, n, d)
        dual = rng.random(n) * (rng.random(n) < 0.8)
        dual[0] = 1
        entries = content(X, [problem(y, [], dual, method="subsets")], alpha)
        (given,) = parse(write_proof(entries)).problems
        bound = subset_peaks(X, alpha, given, Budget())
        u = np.concatenate([rng.normal(size=(5000, d)), rng.random((5000, d))])
        plus, minus = heights(X, y, dual, alpha, np.concatenate([u, -u]))
        assert plus**2 <= bound.plus and minus**2 <= bound.minus
        h = np.where(y > 0, 1, alpha)
        assert float(bound.plus) == pytest.approx(np.sum(((dual * h * y) @ X) ** 2), rel=1e-12)
        h = np.where(y < 0, 1, alpha)
        assert float(bound.minus) == pytest.approx(np.sum(((dual * h * y) @ X) ** 2), rel=1e-12)
        if d <= 3:  # the exact maximum over cells is no higher
            push = multipliers(X, y, dual, alpha)
            entries = content(X, [problem(y, [], dual, push)], alpha)
            (given,) = parse(write_proof(entries)).problems
            sharp = cell_peaks(X, alpha, given, Budget())
            most = max(bound.plus, bound.minus) * (1 + Fraction(1, 10**9))
            assert max(sharp.plus, sharp.minus) <= most


def test_the_largest_subset_against_all_subsets(rng: np.random.Generator) -> None:
    """Exactly the longest sum, and never less when the search is cut short."""
    for _ in range(60):
        n, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        terms = rng.integers(-5, 6, (n, d)).astype(object)
        chosen = np.array(list(product((0, 1), repeat=n)), dtype=object)
        longest = max((chosen @ terms * (chosen @ terms)).sum(axis=1))
        assert largest_subset(terms, Budget(), "") == longest


def test_a_search_that_is_cut_short_stays_above(rng: np.random.Generator) -> None:
    """The more sets, the sharper: what is claimed after few is proved by who looks at more."""
    for _ in range(20):
        terms = rng.integers(-5, 6, (8, 3)).astype(object)
        chosen = np.array(list(product((0, 1), repeat=8)), dtype=object)
        longest = max((chosen @ terms * (chosen @ terms)).sum(axis=1))
        bounds = [largest_subset(terms, Budget(sets=most), "") for most in range(300, 0, -1)]
        assert bounds[0] == longest and bounds == sorted(bounds)


@pytest.mark.long
def test_many_points_at_acute_angles(tmp_path: Path, rng: np.random.Generator) -> None:
    X, y = orthants(rng, 500, 20)
    neurons = [(np.ones(20), 1), (-np.ones(20), -1)]
    entries = content(X, [problem(y, neurons, rng.random(500), method="subsets")], 0.1)
    verification = judge(entries, tmp_path)
    lower, upper = verification.exact_bounds
    assert verification.verified and 0 < lower < upper


def test_three_classes(tmp_path: Path) -> None:
    entries = claimed(three_classes(), tmp_path)
    verification = judge(entries, tmp_path)
    assert verification.verified and verification.classes == ("a", "b", "c")
    assert [y.tolist() for y in verification.y] == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    lower, upper = verification.exact_bounds
    assert float(lower) == pytest.approx(3 * (1 + np.sqrt(2)), rel=1e-15)
    assert upper <= lower * (1 + Fraction(1, 10**15))
    rejected(changed(entries, "problems.1.y", [1, -1, -1]), tmp_path, "row 0", "2 problems")
    rejected(
        {**entries, "problems": entries["problems"][:2]}, tmp_path, "problems has the length 2"
    )
    rejected({**entries, "classes": None}, tmp_path, "problems has the length 3; it must have 1")


def test_three_classes_first_layer(tmp_path: Path) -> None:
    """Squared norms add up. With one unit of each sign ‖W‖² is 1 + 2 for each class."""
    entries = three_classes() | {"train": "first", "output_weight": 1.0, "units": 1}
    for given in entries["problems"]:
        given["dual"] = [1.0] * 3
    verification = judge(entries, tmp_path)
    assert verification.verified
    lower, upper = verification.exact_bounds
    assert float(lower) == pytest.approx(3, rel=1e-15)
    assert float(upper) == pytest.approx(3, rel=1e-15)


def test_extreme_sizes(tmp_path: Path, rng: np.random.Generator) -> None:
    entries = content([[3e-300, 4e300]], [problem([1], [([0, 1e-300], 1e-10)], [1e-200])], 1e-9)
    verification = judge(entries, tmp_path)
    assert verification.verified
    lower, upper = verification.exact_bounds
    assert lower / Fraction(0.25e-300) == pytest.approx(1)
    entries = solved(rng.normal(size=(8, 3)), labels(8), 0.3)
    before = judge(entries, tmp_path).exact_bounds
    scaled = content(1e-280 * np.array(entries["X"]), entries["problems"], 0.3)
    verification = judge(scaled, tmp_path)
    assert verification.verified
    for bound, bound_before in zip(verification.exact_bounds, before, strict=True):
        assert bound / bound_before == pytest.approx(1e280, rel=1e-12)


def test_a_wider_claim_is_fine_and_a_narrower_one_is_not(tmp_path: Path) -> None:
    entries = claimed(wang2022(0.3, "cells"), tmp_path)
    for key, outwards in (("lower", -1), ("upper", 1)):
        wider = entries | {key: entries[key] + outwards * 0.1}
        assert judge(wider, tmp_path).verified
        narrower = entries | {key: float(np.nextafter(entries[key], -outwards * np.inf))}
        rejected(narrower, tmp_path, key, "claimed", "proved", repr(entries[key]))


def test_proofs_are_written_the_same_way_each_time(tmp_path: Path) -> None:
    entries = claimed(one_point(0.1), tmp_path)
    raw = write_proof(entries)
    assert write_proof(dict(reversed(entries.items()))) == raw
    assert write_proof(reloaded(raw)) == raw
    assert {"format": "tacit proof 1", **entries} == reloaded(raw)
    with pytest.raises(KeyError, match="alpha"):
        write_proof({key: value for key, value in entries.items() if key != "alpha"})
    with pytest.raises(ValueError):
        write_proof({**entries, "lower": float("nan")})


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_nothing_of_the_solvers_is_used(path: Path) -> None:
    """Neither a solver nor a value that is made of other packages, such as Setting."""
    allowed = {"files", "messages", "values", "proofs"}
    values = {"BadInput", "Dataset", "Interval", "Result"}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module != "tacit"
            names = [node.module]
            if node.module == "tacit.values":
                assert {alias.name for alias in node.names} <= values
        for name in names:
            top, *rest = name.split(".")
            assert top not in ("scipy", "importlib", "clarabel", "daqp", "jax", "sklearn")
            assert top != "tacit" or rest[0] in allowed, f"{path} imports {name}"


def test_a_string_is_a_path_too(tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    path.write_bytes(write_proof(one_point()))
    assert verify(str(path)).verified
