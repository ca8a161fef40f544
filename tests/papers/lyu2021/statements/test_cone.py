"""Lemmas G.1 and G.2: early pulls that separate the data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from statement_checks import flow_setting, judged
from tacit.data import load
from tacit.geometry import check
from tacit.theorems import Case, theorem
from tacit.values import Dataset


def gaps(case):
    """By how much A.2 holds for every point, over max‖x‖²; from its definition."""
    Z, alpha = case.data.y[:, None] * case.data.X, case.alpha
    gram = Z @ Z.T
    against = np.maximum(-gram, 0).sum(axis=1)
    return (gram.sum(axis=1) - (1 - alpha) / alpha * against) / len(Z) / np.diag(gram).max()


@pytest.mark.parametrize("seed", range(6))
def test_a_principal_direction_gives_the_slack_it_promises(seed):
    rng = np.random.default_rng(seed)
    d = 2 + seed % 3
    X = rng.normal(size=(10, d)) * rng.uniform(0.02, 0.2)
    y = np.where(rng.uniform(size=10) < 0.5, 1, -1)
    X[:, 0] = y * rng.uniform(0.8, 1.2, 10)
    case = Case(Dataset(X, y), flow_setting(f"leaky:{rng.uniform(0.2, 0.9)}"))
    verdict = judged("lyu2021:lemmaG.1", case)
    assert verdict.status in ("confirmed", "agrees", "not applicable")
    weaker = case.data_check("lyu2021:assumptionA.2", "A.2")
    if case.data_check("lyu2021:assumptionA.1", "A.1").holds:
        assert weaker.holds
    assert gaps(case).min() == pytest.approx(weaker.slack, abs=1e-12)


@pytest.mark.parametrize(
    ("spec", "alpha"),
    [("linear:n=7,d=2,margin=0.3,seed=0", 0.4)]
    + [(f"linear:n=8,d=3,margin=0.1,seed={seed}", 0.6) for seed in range(3)],
)
def test_the_smallest_product_on_the_cone_by_all_corners_and_by_linear_programs(spec, alpha):
    data = load(spec)
    case = Case(data, flow_setting(f"leaky:{alpha}"))
    Z = data.y[:, None] * data.X
    corners = np.array(list(itertools.product([alpha, 1.0], repeat=data.n)))
    brute = (corners @ Z @ Z.T).min() / data.n
    programs = min(linprog(Z @ z, bounds=[(alpha, 1.0)] * data.n).fun / data.n for z in Z)
    scale = np.linalg.norm(Z, axis=1).max() ** 2
    slack = theorem("lyu2021:lemmaG.2").predict(case).values["slack"]
    assert brute == pytest.approx(programs, abs=1e-9)
    assert alpha * slack * scale == pytest.approx(brute, abs=1e-9)
    assert judged("lyu2021:lemmaG.2", case).status == "confirmed"


def test_the_equivalence_at_the_very_threshold():
    """A.2 just holds and just fails: so do the cones."""
    data = load("linear:n=12,d=2,margin=0.5,seed=0")
    threshold = float(
        check(data, properties="lyu2021:assumptionA.2", activation="leaky:0.5")
        .properties["lyu2021:assumptionA.2"]
        .note.rpartition("> ")[2]
    )
    for factor, good in ((1.01, True), (0.99, False)):
        case = Case(data, flow_setting(f"leaky:{factor * threshold}"))
        said = theorem("lyu2021:lemmaG.2").predict(case)
        assert (said.values["slack"] > 0) is good
        assert judged("lyu2021:lemmaG.2", case).status == "confirmed"
