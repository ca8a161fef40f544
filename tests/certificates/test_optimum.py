"""The best network of a data set, the known answers, and its proof as a file."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from helpers import refused
from tacit import Dataset, Setting
from tacit.certificates import Optimum, certify, optimum, proof_of
from tacit.data import load
from tacit.models import Leaky
from tacit.proofs import subsets, verify
from tacit.values import BadInput, Network


def margins(best: Optimum) -> list[np.ndarray]:
    return [part.network.margins(best.data.X, part.y) for part in best.per_class]


def test_the_numbers_of_wang2022() -> None:
    """(128) and (130); the 0.58 of the text does not solve its own problem."""
    best = optimum(load("wang2022_f1"))
    one = best.network
    V = one.W * np.abs(one.a)[:, None]
    order = np.argsort(-one.a)
    expected = [[0.5605762, -0.1596793], [-0.2300088, 0.6606636]]
    np.testing.assert_allclose(V[order], expected, atol=5e-7)
    assert best.status == "certified" and np.sign(one.a[order]).tolist() == [1, -1]
    two = optimum(load("wang2022_f2")).network
    np.testing.assert_allclose(two.W * two.a[:, None], [[0.4385528, 0.5880594]], atol=5e-7)


def test_the_reference_problem() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    best = optimum(Dataset(X, np.sign(X[:, 0] * X[:, 1]).astype(int)))
    assert best.status == "certified" and best.gap <= 1e-9
    lower, upper = best.objective_bounds
    assert lower <= 32.0701209 * (1 + 1e-8) and upper >= 32.0701209 * (1 - 1e-8)
    assert best.network.width <= 40
    assert margins(best)[0].min() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("apart", [1e-4, 1e-5])
def test_points_that_nearly_coincide_with_different_labels(apart: float) -> None:
    """λ is some 1e5 there and cancels: floats alone would leave a gap of 2e-8."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 2))
    X[1] = X[0] + apart * rng.standard_normal(2)
    best = optimum(Dataset(X, np.where(np.arange(20) % 2, 1, -1)))
    assert best.status == "certified" and best.gap < 1e-9
    proved, shown = proof_of(best)[1].objective_bounds, best.objective_bounds
    assert proved and proved.gap < 1e-9
    assert shown.lower <= proved.upper and proved.lower <= shown.upper


def test_a_bounded_answer_says_what_would_help(rng: np.random.Generator) -> None:
    X = rng.standard_normal((10, 3))
    y = np.where(np.arange(10) % 2, 1, -1)
    assert optimum(Dataset(X, y)).what_would_help == ""
    assert "time was over" in optimum(Dataset(X, y), seconds=0.0).what_would_help
    one = Network(np.ones((1, 3)), np.ones(1))
    refused(lambda: optimum(Dataset(X, y), seconds=-1.0), "`seconds=-1` must not be negative")
    refused(lambda: certify(Dataset(X, y), one, seconds=math.nan), "`seconds=nan`")
    X[1] = X[0] + 1e-8 * rng.standard_normal(3)
    close = optimum(Dataset(X, y))
    assert close.status == "bounded" and "no digits" in close.what_would_help


def test_what_would_help_is_said_of_a_point_whose_square_overflows() -> None:
    """A warning of an overflow came to the terminal."""
    X = np.array([[1, 0.5], [-0.5, 1e308], [-1, -0.25], [0.5, -2]])
    best = optimum(Dataset(X, np.array([1, 1, -1, -1])))
    assert best.status == "bounded"
    assert best.what_would_help


def test_orthogonally_separable_data_needs_two_neurons() -> None:
    """wang2022 Prop. 4 at the size of phuong2021 Fig. 1; w₊ and w₋ are the max-margin vectors."""
    from tacit.numerics.max_margin import max_margin

    data = load("orthogonal:n=500,d=20")
    best = optimum(data)
    assert best.status == "certified" and best.network.width == 2
    expected = sum(1 / max_margin(data.X[data.y == label]).margin_bounds.lower for label in (1, -1))
    assert best.objective_bounds.upper == pytest.approx(expected, rel=1e-8)


def test_three_classes_are_three_problems() -> None:
    data = load("orthogonal_classes:n=12,d=4")
    leaky = Setting(activation="leaky:0.2")
    best = optimum(data, leaky)
    bounds = [optimum(data.one_vs_rest(k), leaky).objective_bounds for k in range(3)]
    assert best.objective_bounds == pytest.approx(np.sum(bounds, axis=0))
    refused(lambda: best.network, "3 classes", "`networks`")
    assert min(q.min() for q in margins(best)) == pytest.approx(1, abs=1e-9)


def test_one_sign_only() -> None:
    """One neuron is the best positive net of linear data; ReLU cannot do without the other sign."""
    X, y = np.array([[2.0, 0.0], [-1.0, 0.0]]), np.array([1, -1])
    best = optimum(Dataset(X, y), Setting(activation="leaky:0.5"), signs=(1,))
    assert best.objective_bounds.upper == pytest.approx(2.0) and (best.network.a > 0).all()
    assert optimum(Dataset(X, y), signs=(1,)).status == "infeasible"


def test_a_fixed_output_layer_is_bounded_and_sometimes_certified() -> None:
    """Groups of 5 units cannot be halved: the bound is not reached, and nothing else is claimed."""
    even, odd = (optimum(load("xor"), Setting(train="first", width=w)) for w in (4, 10))
    assert even.status == "certified" and even.objective_bounds.upper == pytest.approx(np.sqrt(2))
    assert odd.status == "bounded" and 0.001 < odd.gap < 0.05
    for best in (even, odd):
        W, a = best.network.W, best.network.a
        assert np.linalg.norm(W) == pytest.approx(best.objective_bounds.upper, rel=1e-9)
        assert set(np.abs(a)) == {1.0} and (a > 0).sum() <= best.units
        assert margins(best)[0].min() == pytest.approx(1, abs=1e-9)


def test_what_is_refused() -> None:
    data = load("xor")
    refused(lambda: optimum(data, Setting(train="first", width=3)), "`width=3`", "even")
    refused(lambda: optimum(data, Setting(train="first"), signs=(1,)), "`signs`")
    refused(lambda: optimum(data, Setting(model="residual:3")), "two_layer", "residual:3")


@pytest.mark.parametrize("train", ["both", "first"])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_network_reaches_what_is_claimed(alpha: float, train: str, tmp_path: Path) -> None:
    """Its smallest margin is 1, its norm the upper bound, and so is what a file gives back."""
    data = load("gaussians:n=20,d=3")
    best = optimum(data, Setting(activation=Leaky(alpha), train=train, width=8))
    best.network.save(tmp_path / "best.npz")
    network = Network.load(tmp_path / "best.npz")
    assert network.alpha == alpha
    assert network.margins(data.X, data.y).min() == pytest.approx(1, abs=1e-9)
    size = network.weights.sum() if train == "both" else np.linalg.norm(network.W)
    assert size == pytest.approx(best.objective_bounds.upper, rel=1e-9)
    assert network.margin(data.X, data.y, train) == pytest.approx(best.margin, rel=1e-9)
    best.save(tmp_path / "best.json")
    saved = json.loads((tmp_path / "best.json").read_text())
    assert saved.pop("saved")["type"] == "Optimum"  # with which it is loaded again
    assert saved == best.to_dict()
    assert 2 <= len(repr(best).splitlines()) <= 5


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
    best = optimum(load(call), Setting(activation=Leaky(alpha), train=train, width=8))
    raw, verification = proof_of(best)
    (tmp_path / "proof").write_bytes(raw)
    again = verify(tmp_path / "proof")
    assert again.verified and again.exact_bounds == verification.exact_bounds
    assert again.objective_bounds == pytest.approx(best.objective_bounds, rel=1e-12)
    assert again.exact_bounds[0] <= again.exact_bounds[1]


def test_random_proofs(rng: np.random.Generator) -> None:
    for n, d in ((10, 2), (15, 3), (9, 4)):
        data = Dataset(rng.normal(size=(n, d)), rng.choice([-1, 1], n))
        best = optimum(data, Setting(activation="leaky:0.1"))
        _, verification = proof_of(best)
        lower, upper = verification.exact_bounds
        gap = float((upper - lower) / upper)
        assert verification.verified and gap == pytest.approx(best.gap, abs=1e-12)


def test_a_proof_in_no_time_proves_less(rng: np.random.Generator) -> None:
    """Neither trees nor cells are begun; sets of points are always there."""
    data = Dataset(rng.normal(size=(12, 3)), rng.choice([-1, 1], 12))
    best = optimum(data)
    lower, upper = best.objective_bounds
    full, hasty = proof_of(best)[1], proof_of(best, 0.0)[1]
    assert full.cells > 0 and hasty.verified and (hasty.cells, hasty.nodes) == (0, 0)
    assert full.objective_bounds == pytest.approx((lower, upper), rel=1e-9)
    assert hasty.objective_bounds.lower < 0.99 * lower
    assert hasty.objective_bounds.upper == pytest.approx(upper, rel=1e-12)


def test_no_time_is_left_for_many_sets(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three classes took six searches of 20,000 sets each, five seconds after the deadline."""
    labels = np.arange(36) % 3
    data = Dataset(rng.normal(size=(36, 8)), labels, classes=("a", "b", "c"))
    best = optimum(data, seconds=0.5)
    decided = []
    decide = subsets._decide
    monkeypatch.setattr(subsets, "_decide", lambda *a: decided.append(a) or decide(*a))
    raw, hasty = proof_of(best, 0.0)
    assert hasty.verified and 0 < len(decided) <= 6
    monkeypatch.setattr(subsets, "_decide", decide)
    again = verify(raw, sets=50)  # more sets prove no less
    assert again.verified and again.exact_bounds[0] >= hasty.objective_bounds.lower > 0


def test_a_proof_that_takes_longer_than_it_may_is_refused() -> None:
    raw, _ = proof_of(optimum(load("wang2022_f1")))
    with pytest.raises(BadInput, match="longer than the time that is left"):
        verify(raw, seconds=0.0)


def test_an_infeasible_problem_is_proved_with_fractions() -> None:
    X = [[0.1, 0.3], [-0.2, -0.6], [0.7, 0.2], [-0.7, -0.2], [-1.1, -0.8], [1.1, 0.8]]
    data = Dataset(X, [1, -1, 1, -1, 1, -1])
    best = optimum(data)
    assert best.status == "infeasible" and best.margin_bounds == (0.0, 0.0)
    raw, verification = proof_of(best)
    assert verification.verified and verification.infeasible
    assert verification.exact_bounds is None and verification.objective_bounds is None


def test_a_forged_proof_is_rejected() -> None:
    raw, _ = proof_of(optimum(load("wang2022_f1")))
    text = raw.decode()
    assert not verify(text.replace("1.65", "1.66").encode()).verified
    lower = json.loads(text)["lower"]
    assert not verify(text.replace(repr(lower), repr(lower * 1.1)).encode()).verified


def test_digits_with_no_time_at_all_are_only_bounded() -> None:
    """64 dimensions, one digit against the rest: no network is found before the time is up."""
    best = optimum(load("digits:n=300").one_vs_rest(0), seconds=0.05)
    assert best.status in ("bounded", "certified")
    assert best.objective_bounds.lower <= best.objective_bounds.upper


def test_the_neurons_shown_reach_the_upper_bound(rng) -> None:
    """In fractions; points that are close and have different labels multiply rounding errors."""
    for _ in range(2):
        X = rng.standard_normal((6, 2))
        X[1] = X[0] + 1e-5 * rng.standard_normal(2)
        y = np.array([1, -1, 1, -1, 1, -1])
        best = optimum(Dataset(X, y))
        W, a = best.network.W.tolist(), best.network.a.tolist()
        responses = [
            [max(sum(Fraction(v) * Fraction(t) for v, t in zip(w, x, strict=True)), 0) for w in W]
            for x in X.tolist()
        ]
        f = [sum(Fraction(s) * r for s, r in zip(a, row, strict=True)) for row in responses]
        margin = min(label * value for label, value in zip(y.tolist(), f, strict=True))
        size = sum(abs(s) * math.hypot(*w) for s, w in zip(a, W, strict=True))
        assert size / margin <= best.objective_bounds.upper * (1 + 1e-15)
        assert margin == pytest.approx(1.0, abs=1e-6)


def test_rows_of_very_different_lengths_are_proved_as_they_are_shown() -> None:
    """The file proved 2 % of what was certified: cells below a share of Σ|λ| got no multipliers."""
    X = [
        [-488.84368808181688, -1303.5860612808008],
        [4.4424113778145007e-05, 4.9107154990484987e-05],
        [0.023456938105283081, 0.035381433856520976],
        [0.02521870363416422, -0.01803033474636434],
        [1.8528790790107026, -1.1453081877575668],
    ]
    best = optimum(Dataset(X, [-1, -1, 1, 1, -1]), Setting(activation="leaky:0.9"))
    proved = proof_of(best)[1].objective_bounds
    assert best.status == "certified" and proved is not None
    assert proved == pytest.approx(best.objective_bounds, rel=1e-9)


def test_a_fixed_output_layer_of_a_billion_units_is_refused_at_once() -> None:
    setting = Setting(train="first", width=10**9)
    refused(lambda: optimum(load("xor"), setting), "2,000,000,000 weights", "choose it smaller")
