"""Bounds of where gradient flow ends, against definitions in many digits and brute force."""

import math
import sys
from decimal import Decimal, localcontext

import clarabel
import numpy as np
import pytest

from tacit import Dataset, Network, Setting, limit, load
from tacit.certificates.proved_end import (
    ANGLES,
    _checked_trap,
    optimal_directions,
    out_of_play,
    proved_end,
    smoothed,
    trapped_end,
)
from tacit.flow import proof
from tacit.numerics import trapping
from tacit.numerics.trapping import trap_multipliers


def in_many_digits(data: Dataset, network: Network, tail: str) -> Decimal:
    """ℓ⁻¹(Σ ℓ(q_i)) by its definition."""
    with localcontext() as context:
        context.prec = 80
        total = Decimal(0)
        for x, label in zip(data.X.tolist(), data.y.tolist(), strict=True):
            f = Decimal(0)
            for w, a in zip(network.W.tolist(), network.a.tolist(), strict=True):
                t = sum((Decimal(p) * Decimal(q) for p, q in zip(w, x, strict=True)), Decimal(0))
                f += Decimal(a) * max(t, Decimal(network.alpha) * t)
            decay = (-int(label) * f).exp()
            total += decay if tail == "exponential" else (1 + decay).ln()
        return -(total.ln() if tail == "exponential" else (total.exp() - 1).ln())


@pytest.mark.parametrize("tail", ["logistic", "exponential"])
@pytest.mark.parametrize("scale", [0.5, 3.0, 30.0])
def test_the_smoothed_margin_is_bounded_from_below_and_sharply(tail, scale, rng) -> None:
    X = rng.standard_normal((6, 3))
    network = Network(rng.standard_normal((5, 3)), rng.standard_normal(5), 0.3)
    y = np.where(network.outputs(X) > 0, 1, -1)
    data, network = Dataset(X, y), Network(scale * network.W, network.a, 0.3)
    exact = in_many_digits(data, network, tail)
    bound, _ = smoothed(data, network, tail)
    assert Decimal(bound) <= exact
    if exact > 3:  # a bound for logistic losses is e^(−q) off
        off = 1e-13 if tail == "exponential" else float((-exact).exp())
        assert Decimal(bound) >= exact - Decimal(off) * (1 + abs(exact))


CASES = {
    "plane": ("orthogonal:n=40,d=2", {}),
    "xor": ("xor", {}),
    "leaky": ("symmetric:n=20,d=3", {"activation": "leaky:0.3"}),
    "exponential": ("orthogonal:n=20,d=4", {"loss": "exponential"}),
    "first layer": ("gaussians:n=20,d=2", {"train": "first", "activation": "leaky:0.3"}),
    "first layer, a dead neuron": ("orthogonal:n=40,d=4", {"train": "first"}),
    "more dimensions than points": ("orthogonal:n=6,d=20", {}),
}


@pytest.fixture(params=CASES, scope="module")
def end(request):
    call, kind = CASES[request.param]
    return limit(call, Setting(width=50, **kind))


def test_these_limits_are_proved(end) -> None:
    assert end.outcome == "proved" and end.proved.margin_bounds.gap < 1e-8
    lower, upper = end.proved.margin_bounds
    assert lower <= end.margin <= upper * (1 + 1e-15)
    assert end.proved.angle == ANGLES[0] and 0.9999 < end.proved.share < 1
    assert {sign for sign, _ in end.proved.directions} >= {g.sign for g in end.groups}


def test_far_from_the_optimal_directions_the_dual_function_is_low(end, rng) -> None:
    data, proved = end.data, end.proved
    for sign in (1, -1):
        middle = np.array([u for s, u in proved.directions if s == sign]).reshape(-1, data.d)
        c = sign * proved.dual * data.y

        def values(U, c=c):
            t = U @ data.X.T
            return np.maximum(t, end.setting.alpha * t) @ c

        peak = values(middle).max() if len(middle) else 1.0
        U = np.vstack(
            [
                rng.standard_normal((4000, data.d)),
                *(
                    m + s * rng.standard_normal((1000, data.d))
                    for m in middle
                    for s in (0.005, 0.05)
                ),
            ]
        )
        U /= np.linalg.norm(U, axis=1)[:, None]
        far = (U @ middle.T <= np.cos(proved.angle)).all(axis=1)
        assert values(U).max() <= peak * (1 + 1e-9)
        level = proved.levels[0 if sign > 0 else 1]
        assert values(U[far]).max(initial=0) <= level <= peak * (1 - 1e-6)


def test_what_is_proved_early_holds_later(end) -> None:
    """The same bounds from a moment half way: later moments and the limit stay inside of them."""
    moments, train = end.path.moments, end.setting.train
    networks = [Network(m.state.W, m.state.a, end.setting.alpha) for m in moments]
    tail = "exponential" if "exp" in str(end.setting.loss) else "logistic"
    bounds = [
        proved_end(end.data, network, train, tail, end.certificate, end.groups)
        for network in networks[len(networks) // 2 :: 5]
    ]
    known = [one.margin_bounds for one in bounds if one is not None]
    assert known[-1].upper == pytest.approx(end.proved.margin_bounds.upper, rel=1e-9)
    for early, late in zip(known[:-1], known[1:], strict=True):
        assert early.lower <= late.lower * (1 + 1e-6) <= late.upper * (1 + 1e-6)
    weights = end.proved.network.weights
    near = np.zeros(len(weights), dtype=bool)
    for sign, u in end.proved.directions:
        cosine = end.proved.network.W @ u
        lengths = np.linalg.norm(end.proved.network.W, axis=1)
        near |= (np.sign(end.proved.network.a) == sign) & (
            cosine >= np.cos(end.proved.angle) * lengths
        )
    assert weights[near].sum() >= end.proved.share * weights.sum()


def test_order_and_unit_of_the_points_do_not_matter(rng) -> None:
    data = load("gaussians:n=16,d=3")
    first = limit(data, Setting(width=20, init="balanced:1e-4"))
    order = rng.permutation(data.n)
    moved = limit(Dataset(data.X[order], data.y[order]), Setting(width=20))
    larger = limit(Dataset(1e8 * data.X, data.y), Setting(width=20))
    assert first.outcome == moved.outcome == larger.outcome == "proved"
    for other, unit in ((moved, 1.0), (larger, 1e8)):
        for theirs, ours in zip(
            other.proved.margin_bounds, first.proved.margin_bounds, strict=True
        ):
            assert theirs == pytest.approx(unit * ours, rel=1e-8)


def test_a_limit_that_is_not_global_has_wide_bounds_where_neurons_die_out() -> None:
    end = limit("linear:n=20,d=2", Setting(width=100))
    lower, upper = end.proved.margin_bounds
    assert end.outcome == "converged" and end.proved.share is None and not end.proved.trap
    assert lower <= end.margin < 0.9999 * upper


@pytest.mark.parametrize("call", ["linear:n=6,d=2", "lyu2021_right"])
def test_neurons_of_a_sign_that_is_better_nowhere_may_die_out(call: str, rng) -> None:
    """Random networks: any neurons of the free sign, and the sides that the others keep."""
    leaky = {"activation": "leaky:0.5", "init": "balanced_gaussian:1e-8"}
    end = limit(call, Setting(width=12, **(leaky if call == "lyu2021_right" else {})))
    network, data, free = end.proved.network, end.data, end.proved.trap[0].tree["sign"]
    assert end.outcome == "proved" and end.proved.margin_bounds.gap < 1e-8
    assert end.certificate.optimality == "suboptimal"
    heavy = any(group.sign == free for group in end.groups)  # then free neurons have weight to lose
    assert end.proved.share is None if heavy else 0.999999 < end.proved.share < 1
    ends = [group.direction for group in end.groups if group.sign != free]
    assert all(max(u @ v for v in ends) > 1 - 1e-9 for _, u in end.proved.directions)
    assert {s for s, _ in end.proved.directions} == (set() if heavy else {-free})
    assert f"{'positive' if free < 0 else 'negative'} outputs keep" in end.proved.sentence
    loose = np.sign(network.a) == free
    assert (network.a[loose] ** 2 >= (network.W[loose] ** 2).sum(axis=1) * (1 - 1e-15)).all()
    up = np.sign(network.a)[:, None] * data.y > 0
    sides, sizes = np.sign(network.W @ data.X.T), np.sqrt(network.weights)
    inside, best = 0, 0.0
    for size in np.geomspace(1e-6, 10, 2000):
        W = network.W / sizes[:, None] + size * rng.standard_normal(network.W.shape)
        W *= (sizes * np.exp(size * rng.standard_normal(len(sizes))))[:, None]
        a = np.sign(network.a) * np.linalg.norm(W, axis=1)
        if ((np.sign(W @ data.X.T) == sides) | ~up)[~loose].all():
            inside += 1
            best = max(best, Network(W, a, network.alpha).margin(data.X, data.y))
    assert 100 < inside and 0.9 * end.margin < best
    assert best <= end.proved.margin_bounds.upper * (1 + 1e-12)


def test_a_limit_that_is_not_global_is_proved_where_no_neuron_can_leave_its_pattern() -> None:
    turns = np.deg2rad([180, 50, -50])
    data = Dataset(np.column_stack([np.cos(turns), np.sin(turns)]), np.array([1, -1, -1]))
    starts = np.deg2rad([180, 60, -60])
    W = 1e-3 * np.column_stack([np.cos(starts), np.sin(starts)])
    end = limit(data, start=Network(W, 1e-3 * np.array([1.0, -1.0, -1.0])))
    lower, upper = end.proved.margin_bounds
    assert end.outcome == "proved" and end.certificate.optimality == "suboptimal"
    assert lower == pytest.approx(1 / 6, rel=1e-6) and lower <= end.margin <= upper * (1 + 1e-15)
    assert end.certificate.margin_bounds.lower == pytest.approx(0.1956, abs=5e-5)
    assert len(end.proved.trap) == 4 and end.proved.share == 1
    for sign, u in end.proved.directions:
        near = [group.direction @ u for group in end.groups if group.sign == sign]
        assert max(near) > 1 - 1e-9


@pytest.mark.parametrize("activation", ["relu", "leaky:0.3"])
def test_with_the_sides_of_a_trap_no_network_has_a_wider_margin(activation: str, rng) -> None:
    end = limit("linear:n=12,d=4,seed=2", Setting(width=12, activation=activation))
    assert end.outcome == "proved" and end.proved.trap
    network, data = end.proved.network, end.data
    up = np.sign(network.a)[:, None] * data.y > 0
    sides = np.sign(network.W @ data.X.T)
    lengths = np.linalg.norm(network.W, axis=1)[:, None]
    inside = 0
    for size in np.geomspace(1e-6, 1, 300):
        W = network.W + size * lengths * rng.standard_normal(network.W.shape)
        a = network.a * (1 + size * rng.standard_normal(len(network.a)))
        if ((np.sign(W @ data.X.T) == sides) | ~up).all() and (a * network.a > 0).all():
            inside += 1
            margin = Network(W, a, network.alpha).margin(data.X, data.y)
            assert margin <= end.proved.margin_bounds.upper * (1 + 1e-12)
    assert 20 < inside < 300


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("linear:n=20,d=2", {"width": 60}),
        ("linear:n=12,d=4,seed=2", {"width": 12}),
        ("linear:n=12,d=4,seed=2", {"width": 12, "activation": "leaky:0.3"}),
        ("linear:n=6,d=2", {"width": 12}),
    ],
)
def test_what_is_given_up_early_cannot_be_proved(call: str, kind: dict, monkeypatch) -> None:
    """All that is known of spare neurons, against the whole search."""
    asked = []

    def watched(*arguments):
        asked.append(arguments[:4])
        return trapped_end(*arguments)

    monkeypatch.setattr(proof, "trapped_end", watched)
    for seed in range(3):
        limit(call, Setting(**kind), seed=seed)
    early = [trapped_end(*arguments) is not None for arguments in asked]
    monkeypatch.setattr(trapping, "_one_is_spare", lambda *_: False)
    assert early == [trapped_end(*arguments) is not None for arguments in asked]


def test_multipliers_of_a_trap_are_found_in_the_span_of_the_points(rng, monkeypatch) -> None:
    """With d coordinates for every neuron, 40 points in 4000 dimensions took minutes."""
    sizes, limits = [], []

    def solver(P, cost, A, *more):
        settings = more[-1]
        sizes.append(A.shape)
        limits.append(settings.time_limit)
        return real(P, cost, A, *more)

    real = clarabel.DefaultSolver
    monkeypatch.setattr(clarabel, "DefaultSolver", solver)
    monkeypatch.setattr(trapping, "_one_is_spare", lambda *_: False)
    X, y = rng.normal(size=(6, 6)), np.array([1, -1, 1, -1, 1, -1])
    W, a = rng.normal(size=(4, 6)), np.array([1.0, -1.0, 1.0, -1.0])
    wide = np.linalg.qr(rng.normal(size=(400, 6)))[0].T
    few = trap_multipliers(X, y, 0.3, W, a, np.ones(6), np.inf, 60)
    many = trap_multipliers(X @ wide, y, 0.3, W @ wide, a, np.ones(6), np.inf, 60)
    assert len(few) == len(many) == 5 and sizes[:4] == sizes[4:]
    for one, other in zip(few, many, strict=True):
        np.testing.assert_allclose(one.dual, other.dual, atol=1e-4)  # a solver's digits
    assert max(limits) <= 60  # and the solver knows when it has to end


def test_nothing_is_proved_before_the_data_is_fitted() -> None:
    end = limit("xor", Setting(width=20))
    start = Network(end.path.moments[0].state.W, end.path.moments[0].state.a)
    assert proved_end(end.data, start, "both", "logistic", end.certificate, end.groups) is None


def test_a_neuron_out_of_play_never_helps(rng) -> None:
    """Descent from random networks: who is said to be out of play adds to no margin, ever."""
    told = 0
    for _ in range(40):
        X, y = rng.standard_normal((4, 2)), np.array([1, 1, -1, -1])
        W, a = rng.standard_normal((12, 2)), rng.choice([-1.0, 1.0], 12)
        W[:4] -= (W[:4] * X).sum(axis=1)[:, None] / (X**2).sum(axis=1)[:, None] * X  # on a kink
        out = out_of_play(Dataset(X, y), Network(W, a))
        told += len(out)
        for _ in range(300):
            t = W @ X.T
            parts = np.maximum(t, 0) * a[:, None] * y
            assert all(parts[k].max() <= 1e-12 for k in out)
            slopes = 1 / (1 + np.exp(np.clip(parts.sum(axis=0), -50, 50)))
            W = W + 0.05 * (a[:, None] * (t > 0) * (slopes * y)) @ X
    assert told > 20


def test_a_second_peak_of_the_dual_function_is_an_optimal_direction_too() -> None:
    """Four neurons fit XOR; a network that starts with one of a kind names the others as well."""
    end = limit("xor", Setting(width=20))
    few = optimal_directions(end.proved, end.data, {1: 1.0, -1: 1.0}, end.groups[:1], 0.01)
    assert len(few) == 4 == len(end.groups)


def test_the_exact_check_keeps_to_its_time(monkeypatch) -> None:
    """It had none: of 40 seconds `limit linear:n=1000,d=2` took 64."""
    asked = []

    def watched(*arguments):
        asked.append(arguments[:-1])
        return _checked_trap(*arguments)

    monkeypatch.setattr(sys.modules[trapped_end.__module__], "_checked_trap", watched)
    limit("linear:n=12,d=4,seed=2", Setting(width=12), seed=1)
    assert any(_checked_trap(*arguments, math.inf) is not None for arguments in asked)
    assert all(_checked_trap(*arguments, 0.0) is None for arguments in asked)
