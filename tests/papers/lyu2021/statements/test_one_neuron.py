"""Lemma A.4 on other data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from statement_checks import judged
from tacit import Setting, load
from tacit.theorems import Case, theorem


@pytest.mark.parametrize("alpha, call", [(0.1, "n=8,d=2,seed=5"), (0.6, "n=30,d=6,seed=6")])
def test_lemma_A_4_on_other_data(alpha: float, call: str) -> None:
    setting = Setting(activation=f"leaky:{alpha}", width=1, rule="flow")
    case = Case(load(f"linear:{call}"), setting)
    verdict = judged("lyu2021:lemmaA.4", case)
    assert verdict.status == "confirmed"
    one = theorem("lyu2021:lemmaA.4")
    said = verdict.prediction
    turned = replace(said, values=said.values | {"w": np.roll(said.values["w"], 1)})
    assert one.residual(turned, case, None) > 1e-3
    if case.data.d == 2:  # no direction of the circle is better
        angles = np.linspace(0, 2 * np.pi, 100_001)
        w = np.column_stack([np.cos(angles), np.sin(angles)])
        t = case.data.X @ w.T
        best = (case.data.y[:, None] * np.maximum(t, alpha * t)).min(axis=0).max() / 2
        assert best == pytest.approx(said.values["margin"], rel=1e-4)


@pytest.mark.parametrize("alpha", [1e-8, 1e-12, 1e-15, 1e-30])
def test_lemma_A_4_with_a_slope_near_0(alpha: float) -> None:
    """The constraints of the two classes are of very different lengths."""
    setting = Setting(activation=f"leaky:{alpha}", width=1, rule="flow")
    for seed in range(20):
        verdict = judged("lyu2021:lemmaA.4", Case(load(f"linear:n=5,d=2,seed={seed}"), setting))
        assert verdict.status in ("confirmed", "open"), verdict
