"""Theorems A.7 and A.10: one neuron survives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from statement_checks import flow_of, hypothesis, judged
from tacit import Dataset, Setting
from tacit.papers.lyu2021.statements.cases import hinted_case
from tacit.papers.lyu2021.statements.early_pulls import pulls
from tacit.theorems import Case, Network, theorem


def principal(lengths: np.ndarray, y: np.ndarray) -> Dataset:
    """Points along one direction, and a little across."""
    across = 0.05 * np.sin(np.arange(1, len(y) + 1))
    return Dataset(np.column_stack([y * lengths, across]), y)


@pytest.mark.parametrize("sign", [1, -1])
def test_theorems_A_7_and_A_10_without_hints(sign: int) -> None:
    """The classes change places, and so do the theorems."""
    y = np.array([1, 1, 1, 1, -1, -1])
    data = principal(np.array([0.5, 3.0, 4.0, 5.0, 2.2, 2.4]), y)
    data = Dataset(data.X, sign * data.y)
    case = replace(hinted_case(size=1e-9), data=data, _properties={})
    setting = replace(case.setting, activation="leaky:0.3")
    start = replace(case.start, a=sign * case.start.a, alpha=0.3)
    case = replace(case, setting=setting, start=start)
    holds, other = ("A.7", "A.10") if sign > 0 else ("A.10", "A.7")
    verdict = judged(f"lyu2021:thm{holds}", case, flow_of(case))
    assert verdict.status == "confirmed", verdict.words
    assert judged(f"lyu2021:thm{other}", case).status == "not applicable"


def test_a_start_of_1e_9_is_not_small_where_the_signs_grow_alike() -> None:
    """σ^κ counts, κ = 1 − ‖µ⁻‖/‖µ⁺‖ = 0.0008: negative neurons are still there at the end."""
    X = [[0.73, 0.33], [0.59, -0.08], [0.91, 0.1], [-0.57, -0.27], [-0.67, -0.1], [-1.0, 0.37]]
    W = 1e-9 * np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -1.0]])
    start = Network(W, np.linalg.norm(W, axis=1) * [1, -1, 1], 0.8)
    setting = Setting(activation="leaky:0.8", width=3, init="balanced_gaussian:1e-9", rule="flow")
    case = Case(Dataset(np.array(X), np.array([1, 1, 1, -1, -1, -1])), setting, start)
    check = hypothesis("lyu2021:thmA.7", case, "negative_stay_small")
    assert check.holds is None and "κ = 0.0008" in check.note
    one = theorem("lyu2021:thmA.7")
    residual = one.residual(one.predict(case), case, flow_of(case))
    assert residual is not None and residual > 0.1


def test_a_neuron_on_the_ray_shrinks() -> None:
    """−µ⁻ for a > 0: it stays there, and the hypothesis knows."""
    case = hinted_case()
    ray = pulls(case).minus / np.linalg.norm(pulls(case).minus)
    for sign, holds in ((-1, False), (1, True)):
        W = case.start.W.copy()
        W[0] = sign * np.linalg.norm(W[0]) * ray
        near = replace(case, start=replace(case.start, W=W))
        assert hypothesis("lyu2021:thmA.7", near, "off_the_ray").holds is holds
