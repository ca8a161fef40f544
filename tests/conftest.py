"""What every test shares: float64 in JAX, and one source of randomness."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import tacit._jax  # noqa: F401  (switches float64 on)

SEED = 20210607

# In the background of a shell Ctrl-C is ignored, and so it would be by every process started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng() -> np.random.Generator:
    """Fresh for every test; what is printed here is shown when the test fails."""
    print(f"rng: default_rng({SEED})")
    return np.random.default_rng(SEED)
