"""Lemmas 5.3 and 5.4: many neurons that move like two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from statement_checks import flow_of, judged
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.embedding import (
    embed,
)
from tacit.theorems import Network, theorem


def test_lemma_5_3_the_flows_of_2_and_of_m_neurons_are_the_same() -> None:
    case = theorem("lyu2021:lemma5.3").example()
    said = theorem("lyu2021:lemma5.3").predict(case).values
    two = replace(
        case,
        setting=replace(case.setting, width=2),
        start=Network(said["W"], said["a"], case.alpha),
    )
    many, few = flow_of(case), flow_of(two)
    assert len(many.path) == len(few.path)
    for one, other in zip(many.path, few.path, strict=True):
        assert one.log_loss == pytest.approx(other.log_loss, rel=1e-9)
        wanted = embed(case.start.a, other.network)
        off = Network(one.network.W - wanted.W, one.network.a - wanted.a)
        assert off.norm < 1e-9 * wanted.norm


def test_lemma_5_3_notices_a_neuron_that_leaves() -> None:
    case = theorem("lyu2021:lemma5.3").example()
    run = flow_of(case)
    last = run.path[-1]
    W = last.network.W.copy()
    W[2] *= 1 + 1e-6
    moments = (*run.path[:-1], last._replace(network=replace(last.network, W=W)))
    assert judged("lyu2021:lemma5.3", case, replace(run, path=moments)).status == "refuted"


def test_lemma_5_4_errors_shrink_with_the_start() -> None:
    one = theorem("lyu2021:lemma5.4")
    sizes, errors = [1e-3, 1e-4, 1e-5], []
    for size in sizes:
        case = symmetric_case("n=10,d=3,seed=4", 0.2, 6, size, 2)
        errors.append(one.residual(one.predict(case), case, flow_of(case)))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(1, abs=0.2)
    case = symmetric_case("n=10,d=3,seed=4", 0.2, 6, 1e-7, 2)
    assert judged("lyu2021:lemma5.4", case, flow_of(case)).status == "confirmed"
