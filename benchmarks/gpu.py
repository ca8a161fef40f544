"""Many runs at once on a GPU: `train_many` beside the straightforward batched version.

    python -m benchmarks.gpu [RUNS [STEPS]]     # also without a GPU, to try it with few runs

Each run has its own data (n=100, d=20), 100 neurons, both layers trained by full-batch gradient
descent in float64. The straightforward version is one einsum over all runs in every step, with the
gradient written by hand; every step goes through the device's memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.kernels import difference
from benchmarks.text import seconds, table, times
from tacit import Dataset, Setting
from tacit._jax import jax, jnp
from tacit.models import TwoLayer
from tacit.models.initialisations import initial_weights
from tacit.training import train_many
from tacit.training.backends import cuda
from tacit.training.rules import parse_descent

N, D, M = 100, 20, 100
RUNS, STEPS = 10_000, 1000
SETTING = Setting(width=M, init="gaussian:0.1", lr=0.1)
FLOPS = 4 * N * M * (D + 1)
"""Of one step of one run: X Wᵀ and Sᵀ X are 2NDM each, the outputs and the gradient of a 2NM."""
ALONE = 8
"""Runs that the processor does too."""
OURS = "ours, on the device"
FLOOR = {"H200": 0.28}
"""Seconds of RUNS × STEPS at 30 TFLOP/s, near what this GPU can do without its matrix units."""


def data_sets(runs: int) -> list[Dataset]:
    """Gaussian points with the labels of a random linear teacher, for each run its own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((runs, N, D))
    y = np.where(np.einsum("rnd,rd->rn", X, rng.standard_normal((runs, D))) > 0, 1, -1)
    return [Dataset(*one) for one in zip(X, y, strict=True)]


def begin(runs: int) -> dict[str, np.ndarray]:
    """The initial weights that `train_many` has for seeds 0, 1, …"""
    drawn = [initial_weights(TwoLayer(), D, M, SETTING.init, seed) for seed in range(runs)]
    return {part: np.stack([one[part] for one in drawn]) for part in ("W", "a")}


@jax.jit
def straightforward(
    W: jax.Array, a: jax.Array, X: jax.Array, y: jax.Array, lr: float, steps: int
) -> dict[str, jax.Array]:
    """All runs, one step after the other; mean logistic loss."""

    def step(_: int, weights: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        W, a = weights
        Z = jnp.einsum("rnd,rmd->rnm", X, W)
        H = jnp.where(Z > 0, Z, 0.0)
        f = jnp.einsum("rnm,rm->rn", H, a)
        g = -y * jax.nn.sigmoid(-y * f) / X.shape[1]
        S = jnp.where(Z > 0, g[:, :, None] * a[:, None, :], 0.0)
        da = jnp.einsum("rn,rnm->rm", g, H)
        return W - lr * jnp.einsum("rnm,rnd->rmd", S, X), a - lr * da

    W, a = jax.lax.fori_loop(0, steps, step, (W, a))
    return {"W": W, "a": a}


def timed(work: Callable[[], dict[str, np.ndarray]]) -> tuple[dict[str, np.ndarray], float, float]:
    """The result, the seconds of the first call and of the faster of two later ones."""
    spent = []
    for _ in range(3):
        begun = time.perf_counter()
        result = work()
        spent.append(time.perf_counter() - begun)
    return result, spent[0], min(spent[1:])


def compare(runs: int = RUNS, steps: int = STEPS) -> str:
    """Both versions as a table, on whatever device JAX has."""
    data, weights = data_sets(runs), begin(runs)
    start = [jnp.asarray(weights[part]) for part in ("W", "a")]
    X = jnp.asarray(np.stack([one.X for one in data]))
    y = jnp.asarray(np.stack([one.y for one in data]), X.dtype)

    def peer() -> dict[str, np.ndarray]:
        return jax.block_until_ready(straightforward(*start, X, y, SETTING.lr, steps))

    def ours() -> dict[str, np.ndarray]:
        return train_many(data, SETTING, steps, range(runs)).last

    versions = {"straightforward, batched einsum": peer}
    begun = time.perf_counter()
    step = cuda.kernel(parse_descent(SETTING, N), N, D, M)
    compiled = time.perf_counter() - begun
    if step is not None:
        which, numbers = jnp.arange(runs, dtype=jnp.int32), jnp.array([SETTING.lr, float(steps)])

        def kernel() -> dict[str, np.ndarray]:
            weights = jax.block_until_ready(step(X, y / N, which, *start, numbers))
            return dict(zip(("W", "a"), weights, strict=True))

        versions[OURS] = kernel
    versions["ours, train_many with drawing weights and all copying"] = ours
    device = jax.devices()[0]
    floors = [least for name, least in FLOOR.items() if name in device.device_kind]
    floor = floors[0] * runs * steps / (RUNS * STEPS) if floors else None
    rows: list[Sequence[str]] = []
    reference: dict[str, np.ndarray] = {}
    straight = apart = 0.0
    for name, work in versions.items():
        weights, first, later = timed(work)
        weights = {part: np.asarray(array) for part, array in weights.items()}
        reference, straight = reference or weights, straight or later
        apart = max(apart, difference(weights, reference))
        rows.append(
            (
                name,
                seconds(later),
                seconds(max(first - later, 0) + compiled * (name == OURS)),
                f"{FLOPS * runs * steps / later / 1e12:.3g}",
                times(straight / later),
                "" if floor is None else f"{floor / later:.0%}",
            )
        )
    alone = min(ALONE, runs)
    processor = on_processor(data[:alone], steps)
    far = difference({part: array[:alone] for part, array in weights.items()}, processor)
    return (
        f"{runs:,} runs (n={N} d={D} m={M}, both layers, own data) × {steps:,} steps of gd, "
        f"float64, on {device.device_kind}. Weights at the end differ by {apart:.0e} between the "
        f"versions and by {far:.0e} from those of the processor (first {alone} runs), relative to "
        "the largest.\n\n"
        + table(("version", "time", "compilation", "TFLOP/s", "faster", "of the floor"), rows)
    )


def on_processor(data: Sequence[Dataset], steps: int) -> dict[str, np.ndarray]:
    """The same training on the processor."""
    with jax.default_device(jax.devices("cpu")[0]):
        setting = replace(SETTING, stop=("log10_loss:-1e9",))  # never reached: keeps the kernel out
        return train_many(data, setting, steps, range(len(data)), batched=False).last


def section(say: Callable[[str], None]) -> str:
    """The comparison where there is a GPU."""
    if all(device.platform == "cpu" for device in jax.devices()):
        return "## GPU\n\nNo GPU here: left out."
    say("gpu")
    return f"## GPU\n\n{compare()}"


if __name__ == "__main__":
    print(compare(*map(int, sys.argv[1:])))
