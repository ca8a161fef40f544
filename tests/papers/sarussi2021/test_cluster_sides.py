"""Lemma C.1, Propositions C.1 and C.2: random clusters, the cone's edge, too small an r."""

import numpy as np
import pytest

from tacit.papers.sarussi2021.statements import cluster_sides
from tacit.papers.sarussi2021.statements.cluster_sides import directions
from tacit.papers.sarussi2021.statements.linear_boundary import clusters
from tacit.theorems import Case, Network, judge, theorem
from tacit.values import Dataset, Setting

IDS = ("lemmaC.1", "propC.1", "propC.2")


def clustered(seed, spread=0.3, alpha=0.2, k=3):
    rng = np.random.default_rng(seed)
    W = np.repeat(rng.normal(size=(2, 3)), k, axis=0) + spread * rng.normal(size=(2 * k, 3))
    setting = Setting(activation=f"leaky:{alpha}", train="first", width=2 * k)
    data = Dataset(rng.normal(size=(10, 3)), np.repeat([1, -1], 5))
    return Case(data, setting, Network(W, np.repeat([1.0, -1.0], k), alpha))


@pytest.mark.parametrize("number", IDS)
@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_random_neurons(number, seed):
    verdict = judge(theorem(f"sarussi2021:{number}"), clustered(seed))
    assert verdict.status == "confirmed", verdict.words


def test_with_half_the_radius_a_neuron_is_on_the_wrong_side(monkeypatch):
    monkeypatch.setattr(cluster_sides, "OPEN", 0.5)
    one, case = theorem("sarussi2021:lemmaC.1"), clustered(1)
    assert one.residual(one.predict(case), case, None) > 0.01


def test_the_edges_are_as_far_as_the_lemma_allows():
    network = clustered(2, spread=0.1).start
    groups = clusters(network)
    x = directions(network, np.eye(3))
    assert np.allclose(np.linalg.norm(x, axis=1), 1)
    assert np.abs(np.abs(x @ groups.w) - groups.radius).min() < 1e-6


def test_every_direction_of_theorem_5_1_belongs_to_one_of_the_propositions():
    """Corollary C.1."""
    means = np.repeat([[2.0, 0.0, 0.0], [1.8, 0.6, 0.1]], 3, axis=0)
    noise = 0.1 * np.random.default_rng(3).normal(size=means.shape)
    network = Network(means + noise, np.repeat([1.0, -1.0], 3), 0.2)
    groups, x = clusters(network), directions(network, np.eye(3))
    far = np.abs(x @ groups.normal) >= 2 * groups.radius * (1 + 1e-8)
    first, second = (theorem(f"sarussi2021:prop{n}").where(groups, x) for n in ("C.1", "C.2"))
    assert far.any() and (first | second)[far].all() and not (first & second).any()
    assert first[~far].any()  # Proposition C.1 speaks of others, too
