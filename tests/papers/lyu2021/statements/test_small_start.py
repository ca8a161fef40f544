"""Lemma 5.2 on runs of the flow: the slope of its error, its rate, its room."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from statement_checks import flow_of, hypothesis, judged
from tacit.numerics.embedding import embedding, integrated
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import (
    embedding_of,
    symmetrised,
)
from tacit.theorems import Network, Observation, PathPoint, theorem


def test_lemma_5_2_has_slope_3_on_the_run_too() -> None:
    case = symmetric_case("n=10,d=3,seed=6", 0.3, 5, 1e-10, 2)
    known = embedding_of(case, case.start)
    run = flow_of(case)
    assert judged("lyu2021:lemma5.2", case, run).status == "confirmed"
    sizes, errors = [], []
    for moment in run.path[1:]:
        grown = known.rate * case.data.n * math.exp(min(moment.time, 9.0))
        r = known.size * math.exp(min(grown, 99.0))
        if 0.01 < r < 0.2:
            off = moment.network.W - r * np.outer(known.b, known.direction)
            sizes.append(r)
            errors.append(np.linalg.norm(off, axis=1).max())
    assert len(sizes) >= 3
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(3, abs=0.1)
    known = (*symmetrised(case), case.alpha, case.start.W, case.start.a)
    errors = [integrated(*known, r).error for r in (0.02, 0.04)]
    assert math.log2(errors[1] / errors[0]) == pytest.approx(3, abs=0.05)


def test_lemma_5_2_refutes_the_printed_rate() -> None:
    """Neurons that grow like e^((1+α)/2 ‖µ‖t) are beyond the bound."""
    one, case = theorem("lyu2021:lemma5.2"), symmetric_case()
    said = one.predict(case)
    ideal = one.ideal(said, case)
    early = [PathPoint(m.time - math.log(2), m.log_loss, m.network) for m in ideal.path]
    early.append(ideal.path[-1])
    assert one.residual(said, case, ideal) == 0
    assert one.residual(said, case, Observation(tuple(early))) > 1


def test_the_embedding_does_not_depend_on_the_last_bits_of_the_data() -> None:
    case = symmetric_case("n=10,d=3,seed=6", 0.3, 5)
    mine = embedding_of(case, case.start)
    other = embedding(*symmetrised(case), case.alpha, case.start.W, case.start.a)
    assert (mine.size, mine.good) == (other.size, other.good)
    assert mine.rate == pytest.approx(other.rate, rel=1e-14)
    np.testing.assert_allclose(mine.b, other.b, rtol=1e-12)


def test_lemma_5_2_needs_room_for_r() -> None:
    """√m ‖θ₀‖_M ≤ (√λ₀/2)³."""
    case = symmetric_case()
    known = embedding_of(case, case.start)
    for factor, holds in ((0.999, True), (1.001, False)):
        scale = factor * (math.sqrt(known.rate) / 2) ** 3 / known.size
        start = Network(scale * case.start.W, scale * case.start.a, case.alpha)
        assert (
            hypothesis("lyu2021:lemma5.2", replace(case, start=start), "room_for_r").holds is holds
        )
