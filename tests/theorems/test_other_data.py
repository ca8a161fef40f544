"""Theorems are asked about any data; what does not fit them fails or stays open, nothing raises."""

from functools import cache

import numpy as np
import pytest

from helpers import rest_long
from tacit.explanation.observation import observe
from tacit.explanation.predictions import initial_neurons
from tacit.flow import limit
from tacit.theorems import Case, applies, judge, theorem, theorems
from tacit.values import Dataset, Setting

ALL = sorted(theorems())
NORMAL = np.random.default_rng(0).standard_normal((6, 3))
SIX = np.array([1, 1, 1, -1, -1, -1])
DATA = {
    "one point": Dataset(np.array([[3.0, 4.0]]), np.array([1])),
    "one class": Dataset(NORMAL[:, :2], np.ones(6)),
    "one dimension": Dataset(np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, -1])),
    "three dimensions": Dataset(NORMAL, SIX),
    "a zero row": Dataset(np.array([[0.0, 0.0], [1, 2], [-1, 1]]), np.array([1, 1, -1])),
    "only zeros": Dataset(np.zeros((3, 2)), np.array([1, 1, -1])),
    "a contradiction": Dataset(np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([1, -1, 1])),
    "huge": Dataset(1e40 * NORMAL, SIX),
    "tiny": Dataset(1e-40 * NORMAL, SIX),
    "three classes": Dataset(NORMAL, np.array([0, 0, 1, 1, 2, 2]), classes=("a", "b", "c")),
}
SETTINGS = {
    "relu": Setting(width=4, init="balanced:1e-3", rule="flow"),
    "leaky": Setting(activation="leaky:0.5", width=4, init="balanced:1e-3", rule="flow"),
    "one layer": Setting(activation="leaky:0.3", train="first", width=4, rule="flow"),
    "hinge": Setting(train="first", width=4, loss="hinge", init="gaussian:1e-3"),
    "filters": Setting(model="conv_max_pool", width=4, loss="hinge:8", init="gaussian:1e-3"),
}


@cache
def case(data, setting):
    if setting == "filters" and DATA[data].d % 2:
        return Case(DATA[data], SETTINGS[setting])  # such points have no patches
    start = initial_neurons(DATA[data], SETTINGS[setting], seed=0)
    return Case(DATA[data], SETTINGS[setting], start)


@cache
def run(data):
    return observe(limit(DATA[data], SETTINGS["relu"]))


PAIRS = [(data, setting) for data in DATA for setting in SETTINGS]
QUICK = [(d, s) for d, s in PAIRS if s == "relu" or d in ("three dimensions", "only zeros")]


@pytest.mark.parametrize("data, setting", rest_long(PAIRS, QUICK))
def test_before_a_run(data, setting):
    for id in ALL:
        _sound(judge(theorem(id), case(data, setting)))
        _sound(judge(theorem(id), Case(DATA[data], SETTINGS[setting])))


RUN = [name for name in DATA if name != "three classes"]


@pytest.mark.parametrize("data", rest_long(RUN, [name for name in RUN if name != "tiny"]))
def test_after_a_run(data):
    for id in ALL:
        verdict = judge(theorem(id), case(data, "relu"), run(data))
        _sound(verdict)
        assert verdict.status != "refuted", (id, verdict.residual, verdict.words)


def _sound(verdict):
    said = verdict.theorem.id, verdict.words
    assert verdict.hypotheses, said
    for check in verdict.hypotheses:
        assert check.holds in (True, False, None) and isinstance(check.holds, bool | None), said
        assert check.holds is not None or check.note, (said, check.name)
        assert check.slack is None or not np.isnan(check.slack), (said, check.name)
    assert (verdict.prediction is None) == (applies(verdict.hypotheses) is False), said
    assert verdict.words.endswith(".") and verdict.words.isprintable(), said
