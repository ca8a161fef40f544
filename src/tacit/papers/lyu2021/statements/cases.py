"""Cases that examples of several theorems start from."""

from dataclasses import replace

import numpy as np

from tacit.data import load
from tacit.theorems import Case
from tacit.values import Network, Setting


def flow_setting(activation: str, width: int, init: str | None = None) -> Setting:
    """Gradient flow on both layers."""
    return Setting(activation=activation, train="both", width=width, init=init, rule="flow")


def symmetric_case(
    call: str = "n=8,d=2", alpha: float = 0.5, width: int = 4, size: float = 1e-6, seed: int = 1
) -> Case:
    """Symmetric data with points in the unit ball, and a Gaussian start of that size."""
    data = load(f"symmetric:{call}")
    data = replace(data, X=data.X / np.linalg.norm(data.X, axis=1).max())
    rng = np.random.default_rng(seed)
    W, a = size * rng.normal(size=(width, data.d)), size * rng.normal(size=width)
    setting = flow_setting(f"leaky:{alpha}", width, f"gaussian:{size:g}")
    return Case(data, setting, Network(W, a, alpha))


def hinted_case(call: str = "n=4,d=2", alpha: float = 0.5, size: float = 1e-8) -> Case:
    """Hinted data, and a balanced start of three neurons of both signs."""
    data = load(f"hinted:{call},alpha={alpha}")
    W = size * np.random.default_rng(0).normal(size=(3, data.d))
    a = np.array([1.0, -1.0, 1.0]) * np.linalg.norm(W, axis=1)
    setting = flow_setting(f"leaky:{alpha}", 3, f"balanced_gaussian:{size:g}")
    return Case(data, setting, Network(W, a, alpha))
