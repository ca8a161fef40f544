"""Many two-layer networks on a GPU: each stays on one multiprocessor for all its steps.

Step by step, batched products read and write every network's activations in device memory, which
takes several times as long as the arithmetic. The kernel in `two_layer.cu` keeps a network's data
and weights in shared memory instead. It is compiled for the sizes at hand when it is first needed
(a fraction of a second), and each network's bits do not depend on what is trained beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from tacit._jax import jax, jnp
from tacit.models import TwoLayer
from tacit.models.losses import Exponential, Logistic
from tacit.training import stopping as stops
from tacit.training.backends.job import Job, Trained
from tacit.training.backends.nvrtc import compile_cuda
from tacit.training.rules import Descent

MOST_COORDINATES = 32
"""With more, a warp's part of the weights would not fit into its registers."""
MOST_NEURONS = 512
"""16 warps of 32 neurons each."""
MOST_SHARED = 200 << 10
"""Bytes of shared memory that a network may take."""
LARGEST = 1e100
"""Weights beyond this are on their way out of float64."""

Step: TypeAlias = "Callable[..., tuple[jax.Array, jax.Array]]"


def suits(job: Job) -> bool:
    """Whether a GPU runs full-batch gradient descent of small two-layer networks, no stop rules."""
    return job.for_gpu and kernel(job.descent, *job.sizes) is not None


def train(job: Job, members: np.ndarray, trained: Trained) -> None:
    """Train all networks of the job, each on one multiprocessor."""
    step = kernel(job.descent, *job.sizes)
    assert step is not None and len(members) == len(job.sets)
    train_by(step, job, trained)


def train_by(step: Step, job: Job, trained: Trained) -> None:
    """Train all networks by this kernel; no stop rule is looked at."""
    assert job.descent.loss is not None
    members = {id(data): i for i, data in enumerate(job.sets)}  # one for each data set
    place = {key: k for k, key in enumerate(members)}
    X, y = job.stacked(members.values())
    signed = y * jax.vmap(job.descent.loss.weights)(y)
    which = jnp.asarray([place[id(data)] for data in job.sets], jnp.int32)
    W, a = jnp.asarray(job.start["W"]), jnp.asarray(job.start["a"])
    all_W, all_a = trained.weights["W"], trained.weights["a"]
    for t, moment in enumerate(job.moments):
        steps = moment - (job.moments[t - 1] if t else 0)
        W, a = step(X, signed, which, W, a, jnp.array([job.lr, float(steps)]))
        all_W[t], all_a[t] = W, a
        job.tell(len(job.sets) * (t + 1) // len(job.moments), len(job.sets))
    sizes = np.maximum(np.abs(all_W[-1]).max(axis=(1, 2)), np.abs(all_a[-1]).max(axis=1))
    trained.epochs[:] = job.moments[-1]
    trained.status[:] = np.where(sizes < LARGEST, stops.RUNNING, stops.DIVERGED)  # NaN is not less


def kernel(descent: Descent, n: int, d: int, m: int) -> Step | None:
    """What trains networks of this size; None where this training is not for it.

    It is called with X (sets × n × d), the labels times their loss coefficients (sets × n), the
    number of each network's data set, W (networks × m × d), a (networks × m), and the array of
    step size and number of steps; it returns the new W and a.
    """
    model, loss = descent.model, descent.loss
    if not isinstance(model, TwoLayer) or not isinstance(loss, Logistic | Exponential):
        return None
    if descent.rule != "gd" or descent.scaled or descent.stop.any:
        return None
    if d > MOST_COORDINATES or m > MOST_NEURONS or shared_bytes(n, d, m) > MOST_SHARED:
        return None
    return _compiled(model, isinstance(loss, Exponential), n, d, m)


def warps(m: int) -> int:
    """A warp takes at most 32 neurons; their number is a power of two."""
    return 1 << max(0, (m - 1) // 32).bit_length()


def shared_bytes(n: int, d: int, m: int) -> int:
    """What the kernel's arrays take: X, W, y, g, f in doubles, and a byte of active neurons."""
    blocks, w = -(-n // 8), warps(m)
    points, neurons, row = 8 * blocks, 16 * w * -(-m // (16 * w)), 8 * ((d + 3) // 8) + 4
    doubles = points * row + 8 + neurons * row + 8 + 2 * points + w * points
    return 8 * doubles + 32 * w * blocks


@cache
def _compiled(model: TwoLayer, exponential: bool, n: int, d: int, m: int) -> Step | None:
    try:
        capability = float(getattr(jax.devices()[0], "compute_capability", 0))
    except ValueError:  # AMD's are names
        return None
    if capability < 8.0:  # no tensor cores for doubles
        return None
    # So many warps at once find their registers; more coordinates take more of these.
    resident = max(1, (16 if d <= 20 else 10) // warps(m))
    sizes = {"N": n, "D": d, "M": m, "WARPS": warps(m), "RESIDENT": resident}
    kind = {"ALPHA": model.alpha, "BOTH": int(model.train == "both"), "LOSS": int(exponential)}
    # Later GPUs run code for 9.0 as well, which more versions of the compiler can make.
    ptx = compile_cuda(
        Path(__file__).with_name("two_layer.cu").read_text("utf-8"),
        [
            f"--gpu-architecture=compute_{round(10 * min(capability, 9.0))}",
            *(f"-D{name}={value!r}" for name, value in (sizes | kind).items()),
        ],
    )
    if ptx is None:
        return None
    step = jax.jit(partial(_call, ptx, 32 * warps(m), shared_bytes(n, d, m)))
    try:  # whether this JAX takes the kernel is known only when it has
        zeros = jnp.zeros((1, n, d)), jnp.zeros((1, n)), jnp.zeros(1, jnp.int32)
        jax.block_until_ready(step(*zeros, jnp.zeros((1, m, d)), jnp.zeros((1, m)), jnp.zeros(2)))
    except jax.errors.JaxRuntimeError:
        return None
    return step


def _call(ptx: str, threads: int, shared: int, *arrays: jax.Array) -> tuple[jax.Array, jax.Array]:
    W, a = arrays[3:5]
    one = np.int32(1)
    results = jax.ffi.ffi_call(
        "__gpu$xla.gpu.ptx",
        tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in (W, a)),
        custom_call_api_version=4,
    )(
        *arrays,
        name="train",
        kernel_type="ptx",
        kernel_data=ptx,
        grid_x=np.int32(len(W)),
        grid_y=one,
        grid_z=one,
        block_x=np.int32(threads),
        block_y=one,
        block_z=one,
        shared_mem_bytes=np.int32(shared),
        output_indices=(np.int32(len(arrays)), np.int32(len(arrays) + 1)),
    )
    return results[0], results[1]
