"""Gradient flow from random starts, followed until its end is known."""

import numpy as np

from tacit.flow import Limit, Outcome, binary_limit, initial_network
from tacit.flow.follow import Flow, begin
from tacit.values import Dataset, Network, Setting

EXACT = 1e-6
"""Relative differences up to this are those of the solvers and of the flow's arithmetic."""


def flow_setting(alpha: float, width: int, init: str) -> Setting:
    """Gradient flow of a Leaky ReLU network with both layers trained."""
    return Setting(activation=f"leaky:{alpha}", width=width, init=init, rule="flow")


def begin_flow(setting: Setting, data: Dataset, seed: int) -> Flow:
    """The flow from random initial weights, to be run to any loss."""
    start = initial_network(data, setting, seed)
    return begin(data.X, data.y, setting.alpha, start.W, start.a, True, "logistic")


def end_of_flow(setting: Setting, data: Dataset, seed: int) -> Limit:
    """The end of the flow; where it is undecided, the flow is followed further down once more."""
    end = binary_limit(data, setting, seed=seed)
    return end if is_decided(end) else binary_limit(data, setting, seed=seed, log10_loss=-1e7)


def is_decided(end: Limit) -> bool:
    """Whether it is known what becomes of the flow."""
    return end.outcome is not Outcome.UNDECIDED


def not_counted(decided: np.ndarray) -> tuple[str, ...]:
    """What a reader must know of flows whose end was not found."""
    left = int((~decided).sum())
    words = f"{left} of {decided.size} flows had no end in the time given; not counted"
    return (words,) if left else ()


def ends_at(end: Limit, network: Network) -> bool:
    """Whether the limit is the function of that network, both at unit norm."""
    if end.network is None:
        return False
    X = np.random.default_rng(0).standard_normal((200, network.d))
    reached, expected = (one.outputs(X) / one.norm**2 for one in (end.network, network))
    return bool(np.abs(reached - expected).max() <= EXACT * np.abs(expected).max())
