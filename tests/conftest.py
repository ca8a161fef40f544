"""What every test shares: float64 in JAX, one source of randomness, reports without pictures."""

from __future__ import annotations

import gc
import signal
from importlib import import_module

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import tacit._jax  # noqa: F401  (switches float64 on)

SEED = 20210607

# No test measures time, on a busy machine neither.
settings.register_profile("tacit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tacit")

# In the background of a shell Ctrl-C is ignored, and so it would be by every process started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    """What is collected stays until the end: to look for garbage in it would take a third."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def patience() -> None:
    """What a statement says must not depend on how busy the machine is that tests it."""
    papers = "tacit.papers"
    import_module(f"{papers}.wang2022.statements.widest_margin").SECONDS = 60.0
    import_module(f"{papers}.lyu2021.geometry.one_sided").MOST_SECONDS = 60.0


@pytest.fixture
def rng() -> np.random.Generator:
    """Fresh for every test; what is printed here is shown when the test fails."""
    print(f"rng: default_rng({SEED})")
    return np.random.default_rng(SEED)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the pictures of a report play no part, they are empty: drawing takes a second."""
    names = ("boundary", "neurons", "turning", "margins", "loss", "distance")
    drawn = dict.fromkeys(names, b'<svg xmlns="http://www.w3.org/2000/svg"/>')
    home = import_module("tacit.explanation.report.page")
    monkeypatch.setattr(home, "explanation_pictures", lambda part: drawn)
