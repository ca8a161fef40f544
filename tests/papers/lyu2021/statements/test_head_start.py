"""Theorem B.19: one neuron with a head start is enough."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import flow_of, flow_setting, hypothesis, judged
from tacit.data import load
from tacit.papers.lyu2021.statements.head_start import head_starts
from tacit.theorems import Case, Network


def best_separator_by_sampling(w, Z, rng):
    """max of w·u over unit u with Z u ≥ 0, by brute force in the plane."""
    angles = np.linspace(-np.pi, np.pi, 200_001)
    U = np.column_stack([np.cos(angles), np.sin(angles)])
    inside = (U @ Z.T >= 0).all(axis=1)
    return float((U[inside] @ w).max())


def test_the_best_separator_for_a_neuron_is_found(rng):
    data = load("linear:n=10,d=2,margin=0.3,seed=1")
    case, Z = Case(data, flow_setting()), data.y[:, None] * data.X
    W, a = rng.normal(size=(12, 2)), rng.normal(size=12) * 1.5
    for k, start in enumerate(head_starts(Network(W, a, case.alpha), case)):
        best = best_separator_by_sampling(np.sign(a[k]) * W[k], Z, rng)
        want = best**2 - max(W[k] @ W[k] - a[k] ** 2, 0)
        if best <= 0:
            assert start == -1
        else:
            assert start * (W[k] @ W[k] + a[k] ** 2) == pytest.approx(want, abs=1e-4)


@pytest.mark.parametrize("seed", rest_long([11, 12, 13], [11]))
def test_one_neuron_with_a_head_start_is_enough(seed):
    """Unseen data, unbalanced neurons of any kind."""
    rng = np.random.default_rng(seed)
    data = load(f"linear:n=12,d=3,margin=0.3,seed={seed}")
    start = Network(0.3 * rng.normal(size=(4, 3)), 0.3 * rng.normal(size=4), 0.5)
    case = Case(data, flow_setting(init=None), start)
    verdict = judged("lyu2021:thmB.19", case, flow_of(case))
    assert verdict.status in ("confirmed", "not applicable")
    assert (verdict.status == "confirmed") == (head_starts(start, case).max() > 0)


def test_an_output_weight_that_is_too_small_is_no_head_start():
    data = load("linear:n=12,d=3,margin=0.3,seed=3")
    case = Case(data, flow_setting(init=None))
    along = case.view.separator.direction
    w = along + 3 * np.linalg.svd(along[None])[2][1]  # far outside the cone of separators
    threshold = math.sqrt(
        w @ w - head_starts(Network(w[None], np.array([9.0]), case.alpha), case)[0] * (w @ w + 81)
    )
    for factor, good in ((1.01, True), (0.99, False)):
        start = Network(w[None], np.array([factor * threshold]), case.alpha)
        head_start = hypothesis(
            "lyu2021:thmB.19", dataclasses.replace(case, start=start), "head_start"
        )
        assert head_start.holds is good
