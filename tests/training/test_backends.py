"""The backends train the same networks, and each job gets the right ones."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import rest_long
from tacit import Dataset, Setting, load
from tacit._jax import jax, jnp
from tacit.models.initialisations import initial_weights
from tacit.training import backends, train_many
from tacit.training import stopping as stops
from tacit.training.backends import cuda, one_by_one, side_by_side
from tacit.training.backends.job import Job, Trained
from tacit.training.backends.nvrtc import compile_cuda
from tacit.training.backends.pools import pool
from tacit.training.rules import parse_descent

TWO_LAYER = Setting(width=10, init="he:0.5")
CASES = {
    "gd": TWO_LAYER,
    "first": replace(TWO_LAYER, train="first", init="gaussian:0.1", activation="leaky:0.2"),
    "sgd": replace(TWO_LAYER, rule="sgd", batch=7),
    "adam": replace(TWO_LAYER, rule="adam", lr=0.01),
    "stops": replace(TWO_LAYER, stop=("loss:0.3", "no_improvement:3"), lr=0.5),
    "diverges": replace(TWO_LAYER, loss="exponential:sum", lr=100.0),
}


def job(setting, call, runs=5, moments=(0, 3, 70)):
    sets = [load(call.format(seed)) for seed in range(runs)]
    descent = parse_descent(setting, sets[0].n)
    drawn = [
        initial_weights(descent.model, data.d, setting.width, setting.init, seed)
        for seed, data in enumerate(sets)
    ]
    start = {part: np.stack([one[part] for one in drawn]) for part in drawn[0]}
    return Job(descent, setting.lr, sets, range(runs), start, moments, lambda done, of: None, 2)


def by(backend, job):
    """What all networks come to, trained in this way."""
    trained = Trained.nothing_of(job)
    backend.train(job, job.all, trained)
    return trained


def by_kernel(step, job):
    """The same by a kernel of the GPU."""
    trained = Trained.nothing_of(job)
    cuda.train_by(step, job, trained)
    return trained


def assert_same(ours, theirs, tolerance):
    for part, array in theirs.weights.items():
        np.testing.assert_allclose(ours.weights[part], array, rtol=tolerance, atol=tolerance)
    assert ours.epochs.tolist() == theirs.epochs.tolist()
    assert ours.status.tolist() == theirs.status.tolist()


@pytest.mark.parametrize("name", rest_long(CASES, ["sgd", "stops"]))
def test_side_by_side_as_alone(name):
    given = job(CASES[name], "gaussians:n=30,d=4,seed={}")
    trained = by(side_by_side, given)
    assert_same(trained, by(one_by_one, given), 1e-12)
    if name == "stops":
        assert {stops.REACHED_LOSS} <= set(trained.status.tolist())
    if name == "diverges":
        assert set(trained.status.tolist()) == {stops.DIVERGED}


def test_side_by_side_in_parts(monkeypatch):
    given = job(CASES["sgd"], "gaussians:n=30,d=4,seed={}")
    whole = by(side_by_side, given)
    advance_all = side_by_side.advance_all
    each = 30 * 4 + (10 * 4 + 10) + 64 * 30 + 7 * 10  # data, weights, orders, activations
    parts = []

    def counted(descent, states, X, *rest):
        parts.append(len(X))
        return advance_all(descent, states, X, *rest)

    monkeypatch.setattr(side_by_side, "MOST_NUMBERS", 2 * each)
    monkeypatch.setattr(side_by_side, "advance_all", counted)
    assert_same(by(side_by_side, given), whole, 1e-12)
    assert parts[:: len(given.moments)] == [2, 2, 1]


def test_convolutions_side_by_side():
    setting = Setting(model="conv_max_pool", width=4, init="gaussian:0.1", loss="hinge", lr=0.01)
    given = job(setting, "xord:n=6,d=4,seed={}")
    assert_same(by(side_by_side, given), by(one_by_one, given), 1e-12)


def by_products(descent):
    """What the GPU's kernel computes, written down from its contract."""

    def step(X, signed, which, W, a, numbers):
        X, signed, W, a = (np.asarray(array) for array in (X, signed, W, a))
        X, c = X[np.asarray(which)], signed[np.asarray(which)]
        lr, steps = np.asarray(numbers)
        for _ in range(int(steps)):
            Z = np.einsum("rnd,rmd->rnm", X, W)
            phi = np.where(Z > 0, Z, descent.model.alpha * Z)
            margin = np.sign(c) * np.einsum("rnm,rm->rn", phi, a)
            g = -c / (1 + np.exp(margin))
            S = np.where(Z > 0, 1, descent.model.alpha) * g[..., None]
            V = np.einsum("rnm,rnd->rmd", S, X)
            change = np.sum(W * V, axis=2)
            W = W - lr * a[..., None] * V
            if descent.model.train == "both":
                a = a - lr * change
        return jnp.asarray(W), jnp.asarray(a)

    return step


@pytest.mark.parametrize("name", rest_long(["gd", "first"], ["gd"]))
def test_what_the_kernel_is_given_and_gives(name):
    given = job(CASES[name], "gaussians:n=30,d=4,seed={}")
    sets = [*given.sets[:2], *given.sets[:2], given.sets[0]]  # data sets that are shared
    given = replace(given, sets=sets)
    assert_same(by_kernel(by_products(given.descent), given), by(one_by_one, given), 1e-12)


def test_what_leaves_float64_on_the_gpu_is_trained_again_alone():
    given = job(CASES["gd"], "gaussians:n=30,d=4,seed={}")

    def breaks(X, signed, which, W, a, numbers):
        return W.at[1].set(jnp.nan), a.at[3].set(1e200)

    assert by_kernel(breaks, given).left.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("setting", "n", "d", "m"),
    [
        (replace(TWO_LAYER, rule="sgd", batch=3), 10, 4, 10),
        (replace(TWO_LAYER, stop=("zero_error",)), 10, 4, 10),
        (replace(TWO_LAYER, step="scaled"), 10, 4, 10),
        (replace(TWO_LAYER, loss="hinge"), 10, 4, 10),
        (TWO_LAYER, 10, 33, 10),
        (TWO_LAYER, 10, 4, 513),
        (TWO_LAYER, 100_000, 4, 10),
        (Setting(model="conv_max_pool", width=4, loss="hinge"), 10, 4, 4),
    ],
)
def test_trainings_that_are_not_for_the_kernel(setting, n, d, m):
    assert cuda.kernel(parse_descent(setting, n), n, d, m) is None


def test_room_that_the_kernel_needs():
    # X 104 × 20, W 128 × 20, 8 spare numbers each, y, g and 4 × f of 104, 13 × 128 bytes.
    assert cuda.shared_bytes(100, 20, 100) == 8 * (2080 + 8 + 2560 + 8 + 6 * 104) + 13 * 128
    assert [cuda.warps(m) for m in (1, 32, 33, 64, 65, 100, 512)] == [1, 1, 2, 2, 4, 4, 16]


def test_no_compiler_no_kernel(monkeypatch):
    monkeypatch.setattr("tacit.training.backends.nvrtc._library", lambda: None)
    assert compile_cuda("", []) is None


def test_no_gpu_no_kernel(monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda: [SimpleNamespace(platform="cpu")])
    cuda._compiled.cache_clear()
    assert cuda.kernel(parse_descent(TWO_LAYER, 10), 10, 4, 10) is None


@pytest.mark.parametrize("capability", ["gfx90a", "7.5"])
def test_gpus_that_the_kernel_is_not_for(capability, monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda: [SimpleNamespace(compute_capability=capability)])
    monkeypatch.setattr(cuda, "compile_cuda", lambda *_: pytest.fail("compiled"))
    cuda._compiled.cache_clear()
    assert cuda.kernel(parse_descent(TWO_LAYER, 10), 10, 4, 10) is None
    cuda._compiled.cache_clear()


@pytest.mark.parametrize("train", rest_long(["both", "first"], ["both"]))
def test_batches_do_not_depend_on_the_other_data(train):
    """Bit for bit, where products are exact; other data sets go together one by one."""
    rng = np.random.default_rng(0)
    signs = [Dataset(rng.integers(-1, 2, (3, 2)) * 1.0, np.array([1, -1, 1])) for _ in range(5)]
    reals = [Dataset(rng.standard_normal((3, 2)), np.array([1, -1, 1])) for _ in range(5)]
    setting = Setting(width=6, train=train, init="gaussian:0.3", lr=0.3)
    for sets, batched in ((signs, True), (reals, False)):
        whole = train_many(sets, setting, 200, range(5))
        for i, data in enumerate(sets):
            one = train_many(data, setting, 200, [i], batched=batched)
            for part, array in one.last.items():
                np.testing.assert_array_equal(array[0], whole.last[part][i])


def test_batched_and_others_in_one_ensemble():
    """Data too large for a batch beside data that is not: each as it is alone."""
    setting = Setting(width=6, init="he:0.3")
    sets = [load("xor"), load("gaussians:n=60,d=2"), load("lyu2021_left"), load("xor")]
    whole = train_many(sets, setting, 50, range(4))
    for i, data in enumerate(sets):
        one = train_many(data, setting, 50, [i], batched=i in (0, 3))
        np.testing.assert_array_equal(one.last["W"][0], whole.last["W"][i])


def test_exact_data_too_large_for_one_pool():
    """A batch for each data set, with the same bits."""
    rng = np.random.default_rng(1)
    signs = [Dataset(rng.integers(-1, 2, (9, 5)) * 1.0, rng.choice([-1, 1], 9)) for _ in range(3)]
    setting = Setting(width=6, init="gaussian:0.3", lr=0.3)
    descent = parse_descent(setting, 9)
    assert pool(descent, signs) is None and all(pool(descent, [one]) for one in signs)
    whole = train_many(signs, setting, 100, range(3))
    for i, data in enumerate(signs):
        one = train_many(data, setting, 100, [i])
        np.testing.assert_array_equal(one.last["W"][0], whole.last["W"][i])


class Way:
    """A backend that notes its calls, and diverges on some networks."""

    def __init__(self, suits, diverges=()):
        self.suits = lambda job: suits
        self.diverges, self.given = diverges, None

    def train(self, job, members, trained):
        self.given = members.tolist()
        trained.status[members] = stops.RUNNING
        trained.status[list(self.diverges)] = stops.DIVERGED


def test_the_first_of_each_kind_that_suits_and_what_diverges_goes_on(monkeypatch):
    fast, careful = [Way(False), Way(True, (1, 3)), Way(True)], [Way(False), Way(True), Way(True)]
    monkeypatch.setattr(backends, "FAST", fast)
    monkeypatch.setattr(backends, "CAREFUL", careful)
    given = job(CASES["gd"], "gaussians:n=30,d=4,seed={}")
    assert backends.train(given).left.size == 0
    assert [way.given for way in (*fast, *careful)] == [
        None, [0, 1, 2, 3, 4], None, None, [1, 3], None
    ]  # fmt: skip
