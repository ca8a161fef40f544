"""Certificates of given weights: the known KKT points that are not the best, and those that are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers import refused
from tacit import Dataset, Setting
from tacit.certificates import (
    certificate,
    certificates_to_dict,
    certify,
    optimum,
    two_layer_kkt,
    worst_of,
)
from tacit.data import load
from tacit.models import Leaky
from tacit.numerics.convex_program import bracket
from tacit.numerics.neurons import Neurons
from tacit.values import Interval, Network


def bent(alpha: float) -> tuple[Dataset, Network]:
    """The KKT point of lyu2021 I.1.1 with a bent boundary, and its data."""
    data = load(f"lyu2021_left:alpha={alpha}")
    beta = np.arctan(1 / np.abs(data.X[:, 1]).max())
    a = (2 * (1 + alpha) * np.cos(beta)) ** -0.5
    third = (1 + alpha) ** -0.5
    W = [
        [a * np.cos(beta), a * np.sin(beta)],
        [a * np.cos(beta), -a * np.sin(beta)],
        [-third, 0.0],
    ]
    return data, Network(W, [a, a, -third], alpha)


@pytest.mark.parametrize(
    "alpha, own, best", [(0.0, 0.2071068, 0.25), (0.5, 0.3561, 0.375), (0.2, None, 0.3)]
)
def test_a_kkt_point_that_is_not_the_best(alpha: float, own: float | None, best: float) -> None:
    """The network brings its own α: nothing else says that it is leaky."""
    certificate = certify(*bent(alpha))
    assert max(certificate.kkt.stationarity, certificate.kkt.complementarity) <= 1e-12
    assert certificate.is_kkt and certificate.optimality == "suboptimal"
    if own is not None:
        assert certificate.margin == pytest.approx(own, abs=5e-5)
    lower, upper = certificate.margin_bounds
    assert lower <= best * (1 + 1e-12) and upper >= best * (1 - 1e-12)
    assert upper - lower <= 1e-8 and certificate.shortfall > 0.01
    assert "not the global optimum" in certificate.verdict
    assert len(repr(certificate).splitlines()) <= 5 and "<b>" in certificate._repr_html_()


def test_another_slope_is_another_network() -> None:
    """The best leaky network, taken for a ReLU network, is not even a KKT point."""
    data = load("gaussians:n=20,d=3")
    network = optimum(data, Setting(activation="leaky:0.5")).network
    assert certify(data, network).optimality == "certified"
    assert not certify(data, replace(network, alpha=0.0)).is_kkt


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_linear_solution_is_the_best_on_symmetric_data(alpha: float) -> None:
    """lyu2021 Thm. 4.2."""
    data = load(f"lyu2021_left:alpha={alpha}")
    certificate = certify(data, Network([[1, 0], [-1, 0]], [1, -1], alpha))
    assert certificate.is_kkt and certificate.optimality == "certified"
    assert certificate.shortfall < 1e-9 and "global optimum" in certificate.verdict


def test_what_the_solver_finds_is_certified_by_its_own_kkt_multipliers(
    rng: np.random.Generator,
) -> None:
    """wang2022 Thm. 3: the optimum's λ is dual feasible, so no second search is needed."""
    X = rng.normal(size=(12, 3))
    data = Dataset(X, np.sign(X[:, 0] * X[:, 1]).astype(int))
    for alpha in (0.0, 0.4):
        best = optimum(data, Setting(activation=Leaky(alpha)))
        certificate = certify(data, best.network)
        assert certificate.is_kkt and certificate.optimality == "certified"
        assert certificate.margin == pytest.approx(best.margin, rel=1e-9)


def test_scale_and_splitting_change_nothing() -> None:
    data, network = bent(0.0)
    W, a = network.W, network.a
    reference = certify(data, network)
    doubled = Network(np.vstack([W, W[:1]]) * 1e4, np.append(a, a[0]) * 1e4)
    other = certify(Dataset(data.X * 1e-8, data.y), doubled)
    assert other.optimality == reference.optimality
    halves = Network(
        np.vstack([W[0] * 0.6, W[0] * 0.8, W[1:]]) * 3,
        np.concatenate([[0.6 * a[0], 0.8 * a[0]], a[1:]]) * 3,
    )
    split = certify(Dataset(data.X * 1e8, data.y), halves)
    assert split.is_kkt and split.shortfall == pytest.approx(reference.shortfall, rel=1e-6)


def test_networks_that_are_nothing(rng: np.random.Generator) -> None:
    data, network = bent(0.0)
    wrong = certify(data, replace(network, a=-network.a))
    assert not wrong.is_kkt and wrong.margin < 0 and "label" in wrong.verdict
    moved = network.W + 0.1 * rng.normal(size=network.W.shape)
    other = certify(data, replace(network, W=moved))
    assert not other.is_kkt and other.optimality == "suboptimal"
    assert 0 < other.margin < other.margin_bounds.lower


def test_no_network_fits() -> None:
    data = Dataset([[1.0, 0.0], [2.0, 0.0]], [1, -1])
    certificate = certify(data, Network([[1.0, 0.0]], [1.0]))
    assert not certificate.is_kkt and certificate.margin_bounds.upper == 0.0


def test_first_layer_only() -> None:
    """One neuron of each sign: PAR (sarussi2021 (7)), certified by the relaxed program."""
    data = load("gaussians:n=40,d=3")
    setting = Setting(activation="leaky:0.3", train="first", width=4, output_weight=0.5)
    best = optimum(data, setting)
    assert best.status == "certified"
    certificate = certify(data, best.network, train="first")
    assert certificate.is_kkt and certificate.optimality == "certified"
    moved = replace(best.network, W=best.network.W * [[1], [1], [2], [2]])
    other = certify(data, moved, train="first")
    assert not other.is_kkt and other.optimality == "suboptimal"


def test_what_is_refused() -> None:
    data, network = bent(0.0)
    refused(lambda: certify(data, network, tolerance=1e-15), "`tolerance=1e-15`")
    three = load("orthogonal_classes:n=6,d=4")
    refused(lambda: certify(three, network), "3 classes", "`labels='")
    refused(lambda: certify(data.with_bias(1.0), network), "(3, 2)", "(m, 3)")


def test_the_worst_of_several() -> None:
    """No KKT point comes before every KKT point; among these, what lacks most does."""
    data, network = bent(0.0)
    best = certify(data, optimum(data).network)
    bent_one = certify(data, network)
    wrong = certify(data, replace(network, a=-network.a))
    assert worst_of([best, bent_one]) == 1 and worst_of([wrong, bent_one, best]) == 0
    far = replace(best, margin_bounds=Interval(0.25, 1.0))
    assert worst_of([bent_one, far]) == 1
    entries = certificates_to_dict([best, bent_one])
    assert entries["gap"] == bent_one.shortfall and len(entries["networks"]) == 2
    assert "seconds" in entries and "seconds" not in entries["networks"][0]
    assert "networks" not in certificates_to_dict([best])


def test_the_order_of_arguments_is_said() -> None:
    data, network = bent(0.0)
    refused(lambda: certify(network, data), "data comes first, then the network")
    refused(lambda: certify(data, (network.W, network.a)), "`network` must be a Network")
    assert certify(data.X, data.y, network).margin == certify(data, network).margin


def test_its_own_proof_and_the_search_share_the_time(monkeypatch) -> None:
    """The weights' own multipliers prove an optimum; where that takes too long, it is cut."""
    data, given = load("orthogonal:n=10,d=2"), []
    best = optimum(data).network

    def noted(*args, seconds, **more):
        given.append(seconds)
        return bracket(*args, seconds=seconds, **more)

    monkeypatch.setattr("tacit.certificates.certificate.bracket", noted)
    assert certify(data, best, seconds=600.0).optimality == "certified"
    assert 0 < given[0] <= 600


def test_a_search_that_is_cut_keeps_what_the_own_multipliers_prove(monkeypatch) -> None:
    data, network = bent(0.0)
    kkt = two_layer_kkt(data, network)
    own = bracket(data.X, data.y, 0.0, Neurons.of(network), kkt.multipliers)
    cut = replace(own, objective_bounds=Interval(1e-3, np.inf), dual=np.zeros(data.n))
    monkeypatch.setattr(certificate, "convex_optimum", lambda *_, **__: cut)
    found = certify(data, network)
    assert found.margin_bounds.upper == pytest.approx(0.5 / own.objective_bounds.lower, rel=1e-12)
    assert np.array_equal(found.dual, own.dual)
    assert found.margin_bounds.lower == found.margin and found.optimality == "bounded"
