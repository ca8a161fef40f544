"""The benchmarks compare the same work: peers and `train_many` end at the same weights."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers import rest_long
from tacit import Setting, load
from tacit.numerics.convex_program import convex_optimum
from tacit.training import train_many

sys.path.append(str(Path(__file__).parent.parent))
from benchmarks import gpu, growth, kernels, pricing, real_data, solvers, text, works  # noqa: E402

CASES = {
    "sgd, batches, the last one smaller": (
        Setting(width=10, init="uniform:0.5", rule="sgd", batch=7),
        ["orthogonal:n=40,d=5", "orthogonal:n=40,d=5,seed=1"],
    ),
    "sgd, one example a step": (
        Setting(width=9, init="balanced:0.3", rule="sgd"),
        ["gaussians:n=30,d=6"],
    ),
    "sgd in blocks, first layer": (
        Setting(width=12, train="first", init="gaussian:0.1", rule="sgd", lr=1e-3),
        ["gaussians:n=70,d=60"],
    ),
    "sgd in blocks, both layers": (
        Setting(width=12, init="balanced:0.1", rule="sgd", lr=1e-3),
        ["gaussians:n=70,d=60"],
    ),
    "gd": (Setting(width=30, init="balanced:0.5"), ["gaussians:n=25,d=8"] * 2),
    "gd, batched": (Setting(width=4, init="balanced:0.5"), ["xor"] * 3),
    "max-pooling, few filters": (
        Setting(model="conv_max_pool", width=4, init="gaussian:0.01", lr=1e-2, loss="hinge"),
        [f"xord:n=12,d=7,p_plus=0.5,p_minus=0.9,seed={seed}" for seed in range(3)],
    ),
    "max-pooling, many filters": (
        Setting(model="conv_max_pool", width=22, init="gaussian:0.01", lr=1e-2, loss="hinge"),
        [f"xord:n=12,d=7,p_plus=0.5,p_minus=0.9,seed={seed}" for seed in range(3)],
    ),
}


@pytest.mark.parametrize("name", rest_long(CASES, list(CASES)[::3]))
def test_the_c_kernel_does_the_same_work(name: str) -> None:
    setting, calls = CASES[name]
    data, epochs = [load(call) for call in calls], 66  # beyond the first 64 orders
    seeds = range(3, 3 + len(data))
    begun = train_many(data, setting, 0, seeds).last
    ours = train_many(data, setting, epochs, seeds).last
    try:
        kernel = kernels.prepare(setting, data, epochs, seeds)
    except kernels.NoCompiler:  # the one reason there may be
        assert shutil.which(os.environ.get("CC") or "cc") is None
        return
    theirs = kernel()
    assert kernels.difference(begun, theirs) > 1e-3  # else there was nothing to compare
    assert kernels.difference(ours, theirs) < 1e-12


def test_without_a_compiler_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    kernels.compiled.cache_clear()
    with pytest.raises(kernels.NoCompiler, match="no-such-compiler"):
        kernels.compiled()
    kernels.compiled.cache_clear()


def test_the_batched_version_does_the_same_work() -> None:
    runs, steps = 3, 40
    data, begun = gpu.data_sets(runs), gpu.begin(runs)
    X, y = np.stack([one.X for one in data]), np.stack([one.y for one in data]).astype(float)
    lr = gpu.SETTING.lr
    trained = gpu.straightforward(begun["W"], begun["a"], X, y, lr, steps)
    theirs = {part: np.asarray(array) for part, array in trained.items()}
    ours = train_many(data, gpu.SETTING, steps, range(runs)).last
    assert kernels.difference(begun, theirs) > 1e-3
    assert kernels.difference(ours, theirs) < 1e-12


def test_solvers_have_one_problem() -> None:
    X, y = works.xor_like(8, 2)
    best = convex_optimum(X, y)
    assert solvers.all_cells(X, y) == pytest.approx(best.objective_bounds.upper, rel=1e-6)
    *_, margin = solvers.soft_min_ascent(X, y, neurons=100, iterations=4000)
    assert 0.95 < margin * 2 * best.objective_bounds.upper < 1 + 1e-9


def test_svc_is_asked_for_a_separator_through_0() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3)) + 0.2
    y = np.sign(X @ [1.0, 2.0, -1.0])
    best = solvers.max_margin(y[:, None] * X)
    w = solvers.by_svc(X, y)
    assert w @ best.direction == pytest.approx(1, abs=1e-2)


def test_the_exponent_is_that_of_a_power_law() -> None:
    sizes = np.array([10, 20, 40, 80])
    slope, error = growth.line(np.log(sizes), np.log(3e-3 * sizes**1.7))
    assert slope == pytest.approx(1.7) and error < 1e-10
    slope, error = growth.line(np.array([0.0, 1, 2]), np.array([0.0, 1, 1]))
    assert (slope, error) == pytest.approx((0.5, np.sqrt(1 / 12)))  # by hand


def test_tables_have_a_row_for_every_line() -> None:
    lines = text.table(("a", "b"), [("x", "1"), ("long name", "2.5 s")]).splitlines()
    assert len({len(line) for line in lines}) == 1 and len(lines) == 4
    assert "cores" in text.machine()


def test_pricing_is_closed() -> None:
    """SCIP's columns are dashes where it is not installed."""
    name, points, *_, gap = pricing.row("xor", real_data.gaussian(20, 4, "xor"))[:5]
    assert name == "xor" and 4 < int(points) <= 20 and float(gap) < 1e-8


def test_of_many_limits_it_is_told_how_they_end() -> None:
    name, count, ends, *_ = real_data.decided_row("planes", real_data.planar, range(2), 30.0)
    assert (name, count) == ("planes", "2")
    assert sum(int(part.split()[0]) for part in ends.split(", ")) == 2
    data, setting = real_data.ordinary(7001)
    assert data.d == 3 and (data.X[:, 2] == 1).all() and 10 <= setting.width <= 50


def test_data_that_is_not_here_is_said(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    assert real_data.limit_row(real_data.LIMITS[-1])[1] == "no data here"
