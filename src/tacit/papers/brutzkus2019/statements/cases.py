"""The settings of §3.1 and §6.1 as cases, and initial weights for them."""

import math

import numpy as np

from tacit.data import load
from tacit.theorems import Case
from tacit.values import Network, Setting


def half_width(case: Case) -> int:
    """k: the paper counts channels, 2k of them; that is our width."""
    return case.setting.width // 2


def xor_case(k: int, c: float, seed: int | None = None) -> Case:
    """The setting of §3.1 with η = c/k and the largest initial weights that are allowed."""
    return _case("xor", Setting(train="first", loss="hinge"), k, c, seed)


def xord_case(
    k: int, c: float, gamma: float = 8.0, seed: int | None = None, data: str = "xord_decoy"
) -> Case:
    """The setting of §6.1, likewise; γ is the confidence of the hinge loss (4)."""
    return _case(data, Setting(model="conv_max_pool", loss=f"hinge:{gamma!r}"), k, c, seed)


def even_start(case: Case) -> Network:
    """Small neurons whose directions are spread evenly."""
    k = half_width(case)
    turn = 2 * np.pi * (np.arange(k) + 0.37) / k
    W = 0.1 * case.setting.lr * np.column_stack([np.cos(turn), np.sin(turn)])
    return Network(np.vstack([W, W]), np.repeat([1.0, -1.0], k))


def random_start(k: int, sigma: float, seed: int) -> Network:
    """2k neurons with IID Gaussian weights."""
    W = sigma * np.random.default_rng(seed).standard_normal((2 * k, 2))
    return Network(W, np.repeat([1.0, -1.0], k))


def _case(data: str, network: Setting, k: int, c: float, seed: int | None) -> Case:
    eta = c / k
    sigma = eta / (16 * math.sqrt(k))
    setting = network.replace(width=2 * k, init=f"gaussian:{sigma!r}", rule="gd", lr=eta)
    return Case(load(data), setting, None if seed is None else random_start(k, sigma, seed))
