"""Kinds of XORD points: their probabilities against the generator, and what the theorems say."""

from itertools import product

import numpy as np
import pytest

from tacit.data import load
from tacit.data.clusters import cluster_centres
from tacit.data.xor import PATTERNS, f_star, is_diverse, pattern_sets
from tacit.data.xord_kinds import DECOYS, KINDS, LABELS, POINTS, kind_probabilities
from tacit.papers.brutzkus2019.statements.samples import smallest_missed
from tacit.papers.brutzkus2019.statements.smallest_networks import MISSED
from tacit.values import BadInput


def test_each_kind_has_a_point():
    assert len(KINDS) == 15 and len(np.unique(KINDS, axis=0)) == 15
    assert (pattern_sets(POINTS) == KINDS).all()
    assert {tuple(kind) for kind in KINDS[DECOYS]} == {tuple(kind) for kind in MISSED}


@pytest.mark.parametrize("d", [4, 5])
def test_uniform_points_by_counting_all(d):
    X = np.array([np.ravel(point) for point in product(PATTERNS, repeat=d)])
    y = f_star(X)
    p = kind_probabilities(d, 0.3, 0.8, "uniform")
    for kind, label, said in zip(KINDS, LABELS, p, strict=True):
        diverse = is_diverse(X, y)
        here = (pattern_sets(X) == kind).all(axis=1)
        of = (y == label) & (diverse == diverse[here][0])
        share = {(1, True): 0.3, (1, False): 0.7, (-1, True): 0.8, (-1, False): 0.2}
        assert said == pytest.approx(share[label, diverse[here][0]] * here.sum() / of.sum())


@pytest.mark.parametrize("others", ["uniform", "kinds", "one_missing", "both_positive"])
def test_the_generator_draws_from_them(others):
    data = load(f"xord:n=40000,d=6,p_plus=0.5,p_minus=0.9,others={others}")
    p = kind_probabilities(6, 0.5, 0.9, others)
    counted = np.array([(pattern_sets(data.X) == kind).all(axis=1).sum() for kind in KINDS])
    assert np.abs(counted / 20000 - p).max() < 0.015


def test_the_rarest_kind_that_small_networks_miss():
    p = kind_probabilities(5, 0.98, 0.9, "uniform") / 2
    assert p[DECOYS].min() == pytest.approx(smallest_missed(5, 0.98, 0.9))
    p = kind_probabilities(9, 0.92, 0.92, "one_missing") / 2
    assert p[DECOYS].min() == pytest.approx(0.02)  # p* = (1 − p₊)/4 after Theorem 6.5


@pytest.mark.parametrize("others", ["uniform", "kinds", "one_missing", "both_positive"])
def test_probabilities_add_up(others):
    p = kind_probabilities(300, 0.5, 0.9, others)
    assert p[LABELS > 0].sum() == pytest.approx(1) and p[LABELS < 0].sum() == pytest.approx(1)
    assert (p >= 0).all()


def test_what_there_is_not():
    for bad in ((3, 0.5, 0.5, "uniform"), (7, 1.5, 0.5, "uniform"), (7, 0.5, 0.5, "none")):
        with pytest.raises(BadInput):
            kind_probabilities(*bad)
    with pytest.raises(BadInput, match="centres"):
        cluster_centres(np.eye(3), 4)


def test_centres_of_clear_groups():
    rng = np.random.default_rng(0)
    true = 10 * np.array([[1.0, 0], [0, 1], [-1, -1]])
    points = np.repeat(true, 20, axis=0) + 0.1 * rng.standard_normal((60, 2))
    centres = cluster_centres(points, 3, seed=1)
    far = np.linalg.norm(centres[:, None] - true[None], axis=2)
    assert (far.min(axis=0) < 0.2).all()
