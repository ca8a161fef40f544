"""No data and no start is too strange to be judged."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from statement_checks import flow_setting
from tacit.data import load
from tacit.papers.lyu2021.statements.run_ends import ended
from tacit.theorems import Case, Network, judge, theorem
from tacit.values import Dataset

HERE = (
    "lemmaB.9 thmB.19 thmE.4 lemmaF.3 lemmaG.1 lemmaG.2 thmG.9 thmG.11 thmH.2 lemmaH.3 exI.1.1 "
    "lemmaI.2.1"
)


@pytest.mark.parametrize("number", HERE.split())
def test_no_data_and_no_start_is_too_strange_to_be_judged(number, rng):
    for data in (
        load("orthogonal_classes:n=9,d=3,classes=3"),
        load("xor"),
        load("wang2022_f2"),
        Dataset(np.zeros((2, 2)), np.array([1, -1])),
        Dataset(np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, -1])),
    ):
        W = rng.normal(size=(2, data.d))
        for alpha, size in itertools.product((0.0, 0.5), (None, 1.0, 0.0)):
            some, none = (Network(s * W, s * np.array([1.0, -1.0]), alpha) for s in (1.0, 0.0))
            start = {None: None, 1.0: some, 0.0: none}[size]
            case = Case(data, flow_setting(f"leaky:{alpha}" if alpha else "relu", width=2), start)
            for run in (None, ended(some), ended(none)):
                verdict = judge(theorem(f"lyu2021:{number}"), case, run)
                slacks = [c.slack for c in verdict.hypotheses if c.slack is not None]
                assert np.isfinite([*slacks, verdict.residual or 0.0]).all()
