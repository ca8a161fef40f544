"""Known KKT points, invariances, slopes, and what is refused."""

import tracemalloc

import numpy as np
import pytest

from helpers import kkt_of, refused
from tacit.certificates import two_layer_kkt
from tacit.certificates.margin_gradients import Allowance
from tacit.data import load
from tacit.numerics.boxed_nnls import Combination, nonnegative
from tacit.numerics.max_margin import max_margin
from tacit.values import Dataset, Network

ALPHAS = [0.0, 0.1, 0.3, 0.5, 0.8, 0.99]


def residuals(kkt):
    return np.array([kkt.stationarity, kkt.complementarity, kkt.feasibility])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_both_kkt_points_of_lyu2021_are_certified_and_one_has_the_smaller_margin(
    bent, straight, alpha
):
    curved, linear = kkt_of(*bent(alpha)), kkt_of(*straight(alpha))
    assert curved.holds(1e-12) and linear.holds(1e-12)
    assert linear.margin == pytest.approx((1 + alpha) / 4, rel=1e-14)
    assert curved.margin < linear.margin
    assert curved.balance < 1e-15 and linear.balance < 1e-15
    assert linear.boundary == 0 and linear.subdifferential.startswith("gradient")
    assert curved.boundary == 4
    assert "2 pairs" in curved.subdifferential and "every mask is α or 1" in curved.subdifferential
    np.testing.assert_allclose([curved.masks[0, 2], curved.masks[1, 0]], alpha, atol=1e-12)


def test_margins_as_printed(bent):
    assert kkt_of(*bent(0.0)).margin == pytest.approx((np.sqrt(2) - 1) / 2, rel=1e-14)
    assert round(kkt_of(*bent(0.5)).margin, 4) == 0.3561


@pytest.mark.parametrize("alpha", ALPHAS[:-1])
def test_the_multipliers_are_those_of_lyu2021(bent, alpha):
    case = bent(alpha)
    cot = case.X[0, 1]
    ratio = 1 / np.hypot(1, cot) / cot  # sin²β / cos β
    ends = ratio / (1 - alpha)
    lam = [ends, 0, ends, 0, 1 - 2 * alpha * ends, 0]
    np.testing.assert_allclose(kkt_of(*case).multipliers, lam, atol=1e-12)


def test_a_mask_strictly_between_is_found_and_said():
    W, a = np.array([[1.0, 0], [0, -1]]), np.ones(2)
    X, y = np.array([[1, 0.5], [0, -1]]), np.ones(2)
    kkt = kkt_of(W, a, X, y, 0.0)  # w_1 = x_1 + h x_2 with h = ½, and w_2 = x_2
    assert kkt.holds(1e-14)
    np.testing.assert_allclose(kkt.multipliers, [1, 1])
    assert kkt.masks[0, 1] == pytest.approx(0.5)
    assert "1 pair on the boundary; 1 mask strictly between" in kkt.subdifferential
    assert kkt_of(W, a, X, y, 0.6).stationarity > 0.01  # no mask in [0.6, 1] will do


def test_orthogonally_separable_data_two_max_margin_neurons():
    data = load("orthogonal:n=60,d=8,seed=3")
    W, a = np.zeros((3, data.d)), np.zeros(3)  # the third neuron is dead
    for k, label in enumerate((1, -1)):
        found = max_margin(data.X[data.y == label])
        size = found.margin**-0.5
        W[k], a[k] = size * found.direction, label * size
    assert kkt_of(W, a, data.X, data.y, 0.0).holds(1e-10)
    assert not kkt_of(W * [[1], [1.01], [1]], a, data.X, data.y, 0.0).holds(1e-4)


@pytest.mark.parametrize("v", [0.3, 1.0, -7.0])
def test_first_layer_alone_one_group(rng, v):
    X = rng.standard_normal((40, 5)) + [4, 0, 0, 0, 0]
    w = max_margin(X).direction
    y = np.full(40, np.sign(v))
    kkt = kkt_of(np.tile(w, (6, 1)), np.full(6, v), X, y, 0.2, "first")
    assert kkt.holds(1e-10)
    assert kkt.margin == pytest.approx(np.sqrt(6) * abs(v) * max_margin(X).margin)
    assert np.isnan(kkt.balance)
    unequal = kkt_of(np.outer([1, 2, 1], w), np.full(3, v), X, y, 0.2, "first")
    assert unequal.stationarity > 0.1


def test_dead_neurons_of_a_fixed_output_layer_cost_nothing_for_relu_only(rng):
    X = rng.standard_normal((40, 5)) + [4, 0, 0, 0, 0]
    W = np.vstack([max_margin(X).direction, np.zeros((3, 5))])
    a = np.array([1.0, 1, -1, 2])
    relu = kkt_of(W, a, X, np.ones(40), 0.0, "first")
    assert relu.holds(1e-10) and relu.boundary == 3 * 40
    leaky = kkt_of(W, a, X, np.ones(40), 0.1, "first")
    assert leaky.stationarity > 0.1  # 0 is no mixture of the points with slopes ≥ 0.1


def split(case, k):
    """Neuron k as two parallel ones that make the same function with the same norm."""
    cos, sin = np.cos(0.4), np.sin(0.4)
    W = np.vstack([case.W, sin * case.W[k]])
    a = np.append(case.a, sin * case.a[k])
    W[k], a[k] = cos * case.W[k], cos * case.a[k]
    return case._replace(W=W, a=a)


def rotated(case, rng):
    Q = np.linalg.qr(rng.standard_normal((case.X.shape[1],) * 2))[0]
    return case._replace(W=case.W @ Q, X=case.X @ Q)


def test_what_does_not_change_the_problem_does_not_change_the_residuals(
    bent, straight, random_case, rng
):
    cases = [bent(0.0), bent(0.4), straight(0.4)] + [random_case(rng) for _ in range(12)]
    for case in cases:
        neurons, points = rng.permutation(len(case.a)), rng.permutation(len(case.y))
        same = [
            case._replace(W=case.W[neurons], a=case.a[neurons]),
            case._replace(X=case.X[points], y=case.y[points]),
            case._replace(W=-case.W, X=-case.X),
            case._replace(a=-case.a, y=-case.y),
            rotated(case, rng),
            split(case, 0),
        ]
        for c in (3.0, 1e-8, 1e8, 1e-100, 1e100):
            scaled_a = case.a * (1 if case.train == "first" else c)
            same += [case._replace(W=c * case.W, a=scaled_a), case._replace(X=c * case.X)]
            if case.train == "first":
                same.append(case._replace(a=c * case.a))
        expected = residuals(kkt_of(*case))
        for other in same:
            np.testing.assert_allclose(residuals(kkt_of(*other)), expected, atol=1e-12)


@pytest.mark.parametrize("length", [1e-8, 1e-160])
def test_points_of_very_different_lengths(length):
    size = np.array([1.0, length])
    W = np.diag(size**-0.5)  # q_i = a_i w_i x_i = 1 with a_i = |w_i|
    kkt = kkt_of(W, size**-0.5, np.diag(size), np.ones(2), 0.0)
    assert kkt.holds(1e-12)
    assert kkt.multipliers[1] == pytest.approx(1 / length)
    if length > 1e-16:  # else the first neuron is nothing beside the second
        assert kkt.multipliers[0] == pytest.approx(1)


@pytest.mark.parametrize("train", ["both", "first"])
def test_residuals_grow_linearly_with_the_distance(straight, rng, train):
    W, a, X, y, alpha, _ = straight(0.3)
    dW, da = rng.standard_normal(W.shape), rng.standard_normal(a.shape) * (train == "both")
    sizes = 10.0 ** -np.arange(3, 9)
    found = [kkt_of(W + e * dW, a + e * da, X, y, alpha, train) for e in sizes]
    slopes = np.array([np.hypot(kkt.stationarity, kkt.complementarity) for kkt in found]) / sizes
    assert slopes.min() > 0.1
    np.testing.assert_allclose(slopes, slopes[-1], rtol=0.02)


def test_near_a_kink_the_tolerance_decides(bent, rng):
    W, a, X, y, alpha, _ = bent(0.3)
    dW = rng.standard_normal(W.shape)
    dW[3] = 0
    for e in 10.0 ** -np.arange(3, 9):
        kkt = kkt_of(W + e * dW, a, X, y, alpha, boundary=10 * e)
        assert kkt.boundary == 4 and kkt.stationarity < 10 * e
        assert kkt_of(W + e * dW, a, X, y, alpha, boundary=0).stationarity > 0.05


def test_random_networks_are_no_kkt_points(rng):
    for train in ("both", "first"):
        X = rng.standard_normal((30, 4))
        W, a = rng.standard_normal((10, 4)), rng.standard_normal(10)
        y = np.where(np.maximum(X @ W.T, 0) @ a > 0, 1, -1)
        kkt = kkt_of(W, a, X, y, 0.0, train)
        assert kkt.feasibility == 0 and kkt.margin > 0
        assert kkt.stationarity > 0.1 and not kkt.holds(0.05)
        wrong = kkt_of(W, a, X, -y, 0.0, train)
        assert wrong.feasibility > 0 and wrong.margin <= 0 and not wrong.holds(10.0)


def test_a_point_at_zero_is_never_feasible(straight):
    W, a, X, y, alpha, _ = straight(0.3)
    kkt = kkt_of(W, a, np.vstack([X, [0, 0]]), np.append(y, 1), alpha)
    assert kkt.feasibility > 0 and kkt.margin == 0 and not kkt.holds(1.0)


@pytest.mark.parametrize("alpha", [1e-15, 1e-40, 1e-300])
def test_an_output_that_the_slope_makes_small_is_a_margin(alpha):
    X, y = np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([-1, -1])
    kkt = two_layer_kkt(X, y, Network([[-1.0, 0.0]], [1.0], alpha))
    assert kkt.feasibility == 0 and kkt.margin == pytest.approx(alpha / 2, rel=1e-12)


def test_an_output_that_is_only_rounding_is_no_margin(bent, rng):
    X, y = np.array([[1.0, -1], [2, 2]]), np.ones(2)
    case = bent(0.2)._replace(W=np.array([[1.0, 1]]), a=np.ones(1), X=X, y=y)
    for _ in range(20):
        kkt = kkt_of(*rotated(case, rng))
        assert kkt.feasibility > 0 and kkt.margin == 0
        assert kkt.multipliers.max() < 10  # none that would make something of 1e-17


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e150])
def test_signs_are_those_of_products_however_long_the_layers_are(size, rng):
    """‖θ‖² is beyond what 1/q_min can hold: no KKT point, but a network that fits."""
    X = rng.standard_normal((9, 3))
    W, a = rng.standard_normal((6, 3)), rng.standard_normal(6)
    sizes = np.where(np.arange(6) < 3, size, 1.0)
    y = np.where(np.maximum(X @ W.T, 0) @ a > 0, 1, -1)
    layers = W * sizes[:, None], a / sizes
    X *= 10.0 ** np.linspace(0, -250, 9)[:, None]
    kkt = kkt_of(*layers, X, y, 0.0)
    assert kkt.feasibility == 0 and kkt.margin > 0 and kkt.stationarity > 0.1
    for i in range(9):
        other = np.where(np.arange(9) == i, -y, y)
        assert kkt_of(*layers, X, other, 0.0).feasibility > 0


@pytest.mark.parametrize(
    "change, words",
    [
        ({"W": [[1.0, np.nan]]}, ("W", "nan", "[0, 1]")),
        ({"a": [np.inf]}, ("a holds inf",)),
        ({"X": [[1.0, -np.inf]]}, ("X", "-inf")),
        ({"W": [["one", "two"]]}, ("W", "numbers")),
        ({"W": [1.0, 2.0]}, ("(m, d)",)),
        ({"W": [[1.0]]}, ("(1, 1)", "(1, 2)")),
        ({"X": np.zeros((0, 2)), "y": []}, ("(0, 2)", "at least 1")),
        ({"a": [1.0, 1.0]}, ("a has shape (2,)", "W has shape (1, 2)")),
        ({"y": [1, 1]}, ("y has shape (2,)",)),
        ({"y": [2]}, ("−1 or +1",)),
        ({"alpha": 1.0}, ("α = 1.0", "[0, 1)")),
        ({"alpha": np.nan}, ("α = nan",)),
        ({"train": "frist"}, ("did you mean 'first'?",)),
        ({"boundary": -1.0}, ("boundary = -1.0",)),
        ({"W": [[0.0, 0.0]], "a": [0.0]}, ("zero", "direction")),
    ],
)
def test_bad_input_is_refused_in_one_line(change, words):
    good = {"W": [[1.0, 2.0]], "a": [1.0], "X": [[1.0, 1.0]], "y": [1], "alpha": 0.0}
    kkt_of(**good)
    refused(lambda: kkt_of(**{**good, **change}), *words)


def test_the_same_question_is_answered_once() -> None:
    """By identity: other data, or another network of the same weights, is another question."""
    data, net = load("xor"), Network(np.eye(2), np.ones(2))
    first = two_layer_kkt(data, net)
    assert two_layer_kkt(data, net) is first
    assert two_layer_kkt(data, net, boundary=1e-3) is not first
    assert two_layer_kkt(load("xor"), net) is not first
    assert two_layer_kkt(data, Network(np.eye(2), np.ones(2))) is not first


@pytest.mark.parametrize("train", ["both", "first"])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("d", [2, 12])
def test_a_wide_network_has_the_residuals_of_a_narrow_one(monkeypatch, alpha, train, d) -> None:
    """By blocks and with reduced rows; some neurons are on hyperplanes, dead or parallel."""
    rng = np.random.default_rng(d)
    X, y = rng.normal(size=(7, d)), rng.choice([-1, 1], 7)
    W, a = rng.normal(size=(60, d)), rng.normal(size=60)
    W[:2], W[2:5, 1], W[2:5, 0] = 0, -X[0, 0], X[0, 1]
    W[2:5, 2:] = 0
    shared = (0.3 * X * y[:, None]).sum(axis=0)
    W[5:40], a[5:40] = 1e-3 * W[5:40] + shared, np.linalg.norm(shared)
    narrow = kkt_of(W, a, X, y, alpha, train=train)
    monkeypatch.setattr("tacit.certificates.kkt_two_layer.UNREDUCED", 0)
    monkeypatch.setattr("tacit.certificates.margin_gradients.ENTRIES", 40)
    wide = kkt_of(W, a, X, y, alpha, train=train)
    assert narrow.boundary > 10 and wide.boundary == narrow.boundary
    np.testing.assert_allclose(residuals(wide), residuals(narrow), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(wide.multipliers, narrow.multipliers, rtol=1e-7, atol=1e-10)
    assert (wide.margin, wide.subdifferential) == (
        pytest.approx(narrow.margin, rel=1e-13),
        narrow.subdifferential,
    )


def test_no_array_of_a_wide_network_has_a_float_for_every_neuron_and_point(
    monkeypatch,
) -> None:
    monkeypatch.setattr("tacit.certificates.margin_gradients.ENTRIES", 2**15)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.choice([-1, 1], 30)
    net = Network(rng.normal(size=(160_000, 2)), rng.normal(size=160_000))
    tracemalloc.start()
    try:
        kkt = two_layer_kkt(X, y, net)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert kkt.stationarity < 1
    assert peak < 8 * len(X) * net.width


def test_what_would_take_too_long_is_refused_with_an_estimate(monkeypatch) -> None:
    monkeypatch.setattr("tacit.certificates.kkt_two_layer.UNREDUCED", 0)
    monkeypatch.setattr("tacit.certificates.margin_gradients.SPEED", 1.0)
    net = Network([[1.0, 0.1 * k] for k in range(1, 6)], np.ones(5))
    refused(lambda: two_layer_kkt("xor", net, seconds=3), "5 neurons on 4 points", "3.0 s are left")


def test_so_are_the_masks_of_many_neurons_on_hyperplanes(monkeypatch) -> None:
    """Those of 100,000 neurons on 60 points took minutes, whatever the seconds."""
    net = Network([[1.0, -1.0], [1.0, 2.0]], np.ones(2))  # one of them on hyperplanes of XOR
    two_layer_kkt("xor", net, seconds=3)
    monkeypatch.setattr("tacit.certificates.margin_gradients.SPEED", 1.0)
    on = Network([[1.0, -1.0], [2.0, 2.0]], np.ones(2))
    refused(lambda: two_layer_kkt("xor", on, seconds=3), "2 neurons on 4 points", "3.0 s are left")


def test_what_masks_cost_is_known_round_by_round(rng) -> None:
    """It was thought to be 20 reductions of all columns: 34 s where 0.5 s are enough."""
    two_layer_kkt(*on_hyperplanes(rng, 500, 50, 200), seconds=0.0)


@pytest.mark.parametrize(
    ("n", "d", "m", "unreduced"), [(200, 20, 100, 2**22), (300, 40, 20, 2**22), (400, 3, 2000, 0)]
)
def test_operations_are_estimated_within_a_factor_of_three(
    n: int, d: int, m: int, unreduced: int, monkeypatch, rng
) -> None:
    """Against those of the QR factorisations that are made, which are most of the work."""
    announced, made = [0.0], [0.0]

    def qr(A, **more):
        rows, columns = max(A.shape), min(A.shape)
        made.append(2.0 * rows * columns**2 - 2 / 3 * columns**3)
        return factored(A, **more)

    factored = np.linalg.qr
    monkeypatch.setattr("numpy.linalg.qr", qr)
    monkeypatch.setattr("tacit.certificates.kkt_two_layer.UNREDUCED", unreduced)
    monkeypatch.setattr(Allowance, "take", lambda self, operations: announced.append(operations))
    two_layer_kkt(*on_hyperplanes(rng, n, d, m))
    assert sum(made) / 3 < sum(announced) < 3 * sum(made)


@pytest.mark.parametrize(("n", "d", "m"), [(40, 6, 12), (60, 20, 10), (200, 20, 60)])
def test_masks_that_are_held_or_between_are_those_that_corners_lead_to(
    n: int, d: int, m: int, monkeypatch, rng
) -> None:
    """Two routes to the shortest residual: rays at corners, and an active set of masks."""
    X, y, net = on_hyperplanes(rng, n, d, m)
    net = Network(net.W + 0.5 * net.a[:, None] * (y @ X), net.a)  # so that multipliers are needed
    on = rng.choice(n, (m, d // 2))
    W = np.array([w - np.linalg.pinv(X[i]) @ (X[i] @ w) for w, i in zip(net.W, on, strict=True)])
    corners = two_layer_kkt(X, y, Network(W, net.a))

    def between_alone(columns, target, first, spend, likely) -> Combination:
        points, rays = likely()
        weights = nonnegative(columns.matrix(points, rays), target)
        return Combination(points, rays, weights)

    monkeypatch.setattr("tacit.certificates.kkt_two_layer.nnls_over_rays", between_alone)
    between = two_layer_kkt(X, y, Network(W, net.a))
    assert corners.boundary > m
    assert between.residual == pytest.approx(corners.residual, rel=1e-9)
    # A residual that is the shortest up to 1e-9 tells λ up to about the root of it.
    assert np.allclose(between.multipliers, corners.multipliers, rtol=0, atol=1e-6)


def on_hyperplanes(
    rng: np.random.Generator, n: int, d: int, m: int
) -> tuple[np.ndarray, np.ndarray, Network]:
    """Separable points, and neurons of which every second is orthogonal to three of them."""
    X, W, w = (rng.standard_normal(shape) for shape in ((n, d), (m, d), d))
    for k in range(0, m, 2):
        on = X[rng.choice(n, min(3, d - 1), replace=False)]
        W[k] -= np.linalg.pinv(on) @ (on @ W[k])
    return X, np.where(X @ w > 0, 1, -1), Network(W, rng.standard_normal(m))


def test_neurons_that_are_shared_out_change_nothing() -> None:
    """A neuron as aligned ones with the same joint norm is the same point of the same problem."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 3))
    X[:3, 2] = 0.0
    W = np.vstack([rng.standard_normal((4, 3)), [0, 0, 1.0], [0, 0, -2.0], np.zeros((2, 3))])
    a = np.array([1.0, -1.5, 0.7, -0.4, 1.0, -2.0, 0.3, -0.2])
    data = Dataset(X, np.sign(Network(W, a).outputs(X) + 1e-3).astype(int))
    part = rng.uniform(0.1, 1.0, (3, len(a)))
    part /= np.linalg.norm(part, axis=0)
    shared = Network((part[:, :, None] * W).reshape(-1, 3), (part * a).ravel())
    whole, split = (two_layer_kkt(data, net) for net in (Network(W, a), shared))
    assert whole.boundary == 2 * 3 + 2 * 12 and split.boundary == 3 * whole.boundary
    assert split.stationarity == pytest.approx(whole.stationarity, rel=1e-9)
    np.testing.assert_allclose(split.multipliers, whole.multipliers, atol=1e-9)
    assert split.margin == pytest.approx(whole.margin, rel=1e-12)
