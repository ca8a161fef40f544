"""Theorem 5.5: from anywhere on the right sides, and at the edge of its hypotheses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers import rest_long
from statement_checks import flow_of, hypothesis, judged
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.symmetric import separator
from tacit.theorems import Network, theorem


@pytest.mark.parametrize("seed", rest_long([1, 2, 3], [1]))
def test_theorem_5_5_from_anywhere_on_the_right_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = symmetric_case(f"n=8,d=3,seed={seed}", 0.1 * seed, 2)
    W = rng.normal(size=(2, 3)) * 10.0 ** rng.uniform(-2, 0.5)
    W *= (np.sign(W @ separator(case)) * [1, -1])[:, None]
    a = np.linalg.norm(W, axis=1) * [1, -1]
    case = replace(case, start=Network(W, a, case.alpha))
    verdict = judged("lyu2021:thm5.5", case, flow_of(case))
    assert verdict.status == "confirmed" and verdict.residual < 1e-8


def test_theorem_5_5_at_the_edge_of_its_hypotheses() -> None:
    case = theorem("lyu2021:thm5.5").example()
    w, a = separator(case), case.start.a
    across = np.array([-w[1], w[0]])
    for tilt, holds in ((1e-6, True), (-1e-6, False)):
        W = np.array([across + tilt * w, -w])
        W *= (np.abs(a) / np.linalg.norm(W, axis=1))[:, None]
        check = hypothesis(
            "lyu2021:thm5.5", replace(case, start=Network(W, a, case.alpha)), "right_sides"
        )
        assert check.holds is holds and check.slack == pytest.approx(tilt, rel=1e-3)
    other = replace(case, start=replace(case.start, a=1.001 * a))
    assert hypothesis("lyu2021:thm5.5", other, "balanced").slack == pytest.approx(-0.001, rel=1e-3)
    other = replace(case, start=replace(case.start, a=np.abs(a)))
    assert hypothesis("lyu2021:thm5.5", other, "both_signs").holds is False
