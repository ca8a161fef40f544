"""The best network of a data set, the known answers, and its proof as a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers import refused
from tacit import Dataset
from tacit.certificates import Best, optimum, proof_of
from tacit.data import load
from tacit.proofs import verify, verify_bytes


def margins(best: Best) -> list[np.ndarray]:
    out = []
    for problem in best.problems:
        t = best.data.X @ problem.W.T
        out.append(problem.y * (np.maximum(t, best.alpha * t) @ problem.a))
    return out


def test_the_numbers_of_wang2022() -> None:
    """(128) and (130); the 0.58 of the text does not solve its own problem."""
    one = optimum(load("wang2022_f1")).problems[0]
    V = one.W * np.abs(one.a)[:, None]
    order = np.argsort(-one.a)
    expected = [[0.5605762, -0.1596793], [-0.2300088, 0.6606636]]
    np.testing.assert_allclose(V[order], expected, atol=5e-7)
    assert one.status == "certified" and np.sign(one.a[order]).tolist() == [1, -1]
    two = optimum(load("wang2022_f2")).problems[0]
    np.testing.assert_allclose(two.W * two.a[:, None], [[0.4385528, 0.5880594]], atol=5e-7)


def test_the_reference_problem() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    best = optimum(Dataset(X, np.sign(X[:, 0] * X[:, 1]).astype(int)))
    assert best.status == "certified" and best.gap <= 1e-9
    assert best.lower <= 32.0701209 * (1 + 1e-8) and best.upper >= 32.0701209 * (1 - 1e-8)
    assert len(best.problems[0].a) <= 40
    assert margins(best)[0].min() == pytest.approx(1, abs=1e-9)


def test_orthogonally_separable_data_needs_two_neurons() -> None:
    """wang2022 Prop. 4 at the size of phuong2021 Fig. 1; w₊ and w₋ are the max-margin vectors."""
    from tacit.numerics.max_margin import max_margin

    data = load("orthogonal:n=500,d=20")
    best = optimum(data)
    assert best.status == "certified" and len(best.problems[0].a) == 2
    expected = sum(1 / max_margin(data.X[data.y == label]).lower for label in (1, -1))
    assert best.upper == pytest.approx(expected, rel=1e-8)


def test_three_classes_are_three_problems() -> None:
    data = load("orthogonal_classes:n=12,d=4")
    best = optimum(data, 0.2)
    parts = [optimum(data.one_vs_rest(k), 0.2) for k in range(3)]
    assert best.upper == pytest.approx(sum(part.upper for part in parts))
    assert best.lower == pytest.approx(sum(part.lower for part in parts))
    assert min(q.min() for q in margins(best)) == pytest.approx(1, abs=1e-9)


def test_one_sign_only() -> None:
    """One neuron is the best positive net of linear data; ReLU cannot do without the other sign."""
    X, y = np.array([[2.0, 0.0], [-1.0, 0.0]]), np.array([1, -1])
    best = optimum(Dataset(X, y), 0.5, signs=(1,))
    assert best.upper == pytest.approx(2.0) and (best.problems[0].a > 0).all()
    assert optimum(Dataset(X, y), 0.0, signs=(1,)).status == "infeasible"


def test_a_fixed_output_layer_is_bounded_and_sometimes_certified() -> None:
    """Groups of 5 units cannot be halved: the bound is not reached, and nothing else is claimed."""
    even, odd = (optimum(load("xor"), 0.0, "first", width=w) for w in (4, 10))
    assert even.status == "certified" and even.upper == pytest.approx(np.sqrt(2))
    assert odd.status == "bounded" and 0.001 < odd.gap < 0.05
    for best in (even, odd):
        problem = best.problems[0]
        assert np.linalg.norm(problem.W) == pytest.approx(best.upper, rel=1e-9)
        assert set(np.abs(problem.a)) == {1.0} and (problem.a > 0).sum() <= best.units
        assert margins(best)[0].min() == pytest.approx(1, abs=1e-9)


def test_what_is_refused() -> None:
    data = load("xor")
    refused(lambda: optimum(data, 0.0, "first", width=3), "--width 3", "even")
    refused(lambda: optimum(data, 0.0, "first", output_weight=0.0), "--output-weight", "positive")
    refused(lambda: optimum(data, 0.0, "first", signs=(1,)), "--signs")


CALLS = [
    "xor",
    "wang2022_f1",
    "lyu2021_left:alpha=0.3",
    "orthogonal:n=60,d=12",
    "gaussians:n=30,d=8",
]


@pytest.mark.parametrize("train", ["both", "first"])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("call", CALLS)
def test_proofs_hold_in_exact_arithmetic(call: str, alpha: float, train: str, tmp_path: Path):
    best = optimum(load(call), alpha, train, width=8)
    raw, verdict = proof_of(best)
    (tmp_path / "proof").write_bytes(raw)
    again = verify(tmp_path / "proof")
    assert again.verified and again.lower == verdict.lower and again.upper == verdict.upper
    assert float(again.upper) == pytest.approx(best.upper, rel=1e-12)
    assert float(again.lower) == pytest.approx(best.lower, rel=1e-12)
    assert again.lower <= again.upper


def test_random_proofs(rng: np.random.Generator) -> None:
    for n, d in ((10, 2), (15, 3), (9, 4)):
        data = Dataset(rng.normal(size=(n, d)), rng.choice([-1, 1], n))
        best = optimum(data, 0.1)
        _, verdict = proof_of(best)
        gap = float((verdict.upper - verdict.lower) / verdict.upper)
        assert verdict.verified and gap == pytest.approx(best.gap, abs=1e-12)


def test_an_infeasible_problem_is_proved_with_fractions() -> None:
    X = [[0.1, 0.3], [-0.2, -0.6], [0.7, 0.2], [-0.7, -0.2], [-1.1, -0.8], [1.1, 0.8]]
    data = Dataset(X, [1, -1, 1, -1, 1, -1])
    best = optimum(data)
    assert best.status == "infeasible" and best.margin == (0.0, 0.0)
    raw, verdict = proof_of(best)
    assert verdict.verified and verdict.infeasible and verdict.lower is None


def test_a_forged_proof_is_rejected() -> None:
    raw, _ = proof_of(optimum(load("wang2022_f1")))
    text = raw.decode()
    assert not verify_bytes(text.replace("1.65", "1.66").encode()).verified
    lower = json.loads(text)["lower"]
    assert not verify_bytes(text.replace(repr(lower), repr(lower * 1.1)).encode()).verified


def test_digits_with_no_time_at_all_are_only_bounded() -> None:
    """64 dimensions, one digit against the rest: no network is found before the time is up."""
    found = optimum(load("digits:n=300").one_vs_rest(0), seconds=0.05)
    assert found.status in ("bounded", "certified")
    assert found.lower <= found.upper
