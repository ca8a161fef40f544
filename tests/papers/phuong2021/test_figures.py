"""The figures of phuong2021: what must fail when spoiled, and numbers by a second route."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import rest_long
from tacit.measures.layer import Layer
from tacit.models import SixConv
from tacit.models.initialisations import initial_weights
from tacit.papers.phuong2021.figures import PAPER
from tacit.papers.phuong2021.figures.class_similarity import (
    Fig3,
    Similarity,
    _sampled,
    claims_of_similarity,
    share_as_in_1,
)
from tacit.papers.phuong2021.figures.image_network import (
    BLOCK,
    ImageSettings,
    features,
    zeros_and_ones,
)
from tacit.papers.phuong2021.figures.survival import signs_alive
from tacit.papers.phuong2021.figures.synthetic import drop_claim, zero_claim
from tacit.values import BadInput, Dataset

FIG1 = PAPER["fig1"]


def fig1(**changes):
    result = FIG1.make(FIG1.choose(True, **changes), lambda words: None)
    return {claim.id: claim for claim in result.claims}


@pytest.mark.parametrize(
    "changes",
    rest_long([{"seed": 7}, {"width": 200}, {"factor": 0.01}, {"batch": 25}], [{"factor": 0.01}]),
    ids=str,
)
def test_what_should_not_matter_does_not(changes):
    claims = fig1(runs=3, epochs=300, **changes)
    left = claims.pop("zero")  # what the start leaves does depend on it
    assert all(claim.holds for claim in claims.values()) and (left.holds or left.finding)


def test_a_large_start_has_neither_rank_two_nor_rays_nor_correlations():
    claims = fig1(runs=2, epochs=300, factor=1.0)
    assert {id for id, claim in claims.items() if not claim.holds} == {
        "rank",
        "zero",
        "rays",
        "correlations",
    }
    assert not claims["zero"].finding


def test_without_training_nothing_has_grown():
    claims = fig1(runs=2, epochs=0)
    assert claims["rank"].ours == 0
    assert not claims["rays"].holds


def layer(rng, signs=40):
    """Rows on two rays, 140° apart in a plane of R⁶, and what they are told apart by."""
    plane = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    sign = np.where(np.arange(signs) % 2 == 0, 1.0, -1.0)
    angle = np.radians(np.where(sign > 0, 20, 160))
    rows = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(0.5, 2, (signs, 1))
    return Layer(1e-3 * rng.normal(size=(signs, 6)), rows @ plane, sign), plane


def test_a_layer_made_of_two_rays(rng):
    made, plane = layer(rng)
    assert made.rank == 2
    assert made.off_rays == pytest.approx(0, abs=1e-6)
    assert np.allclose(made.lengths, np.linalg.norm(made.after, axis=1))
    ends = np.array([plane.T @ [np.cos(t), np.sin(t)] for t in np.radians([20, 160])])
    assert np.allclose(np.where(made.sign > 0, *made.cosines(ends)), 1)
    # Rows of one length, turned by ±6° in the plane: each is 6° off.
    angle = np.radians(np.where(made.sign > 0, 20, 160) + 6 * np.repeat([1, -1, -1, 1], 10))
    rows = np.column_stack([np.cos(angle), np.sin(angle)])
    assert replace(made, after=rows @ plane).off_rays == pytest.approx(6, abs=1e-6)


def test_rank_counts_what_training_added(rng):
    before = rng.normal(size=(30, 12))
    added = 50 * rng.normal(size=(30, 3)) @ rng.normal(size=(3, 12))
    assert Layer(before, before + added, np.ones(30)).rank == 3  # Weyl: at most 3


def test_what_the_start_left_is_told_from_what_has_grown(rng):
    made, _ = layer(rng)
    assert zero_claim("zero", [made]).holds
    before = 0.3 * rng.normal(size=made.before.shape)
    left = replace(made, before=before, after=made.after + 0.9 * before)
    assert left.rank == 2
    claim = zero_claim("zero", [left])
    assert not claim.holds and "left" in claim.finding
    grown = zero_claim("zero", [replace(left, before=0.1 * before)])
    assert not grown.holds and not grown.finding


def test_a_layer_of_rank_three_is_not_one_of_rank_two(rng):
    made, plane = layer(rng)
    assert drop_claim("drop", {"W1": [made]}).holds
    third = np.linalg.qr(np.vstack([plane, rng.normal(size=6)]).T)[0][:, 2]
    more = made.after + np.outer(rng.normal(size=len(made.after)), third)
    claim = drop_claim("drop", {"W1": [made], "W2": [replace(made, after=more)]})
    assert not claim.holds and not claim.finding  # the third has grown: it is not what was left


def network_with(violated, after):
    """What is measured on a network some of whose sampled pairs are not as in (1)."""
    different = np.full(20, -1.0)
    different[:violated] = 1.0
    products = [[np.zeros(20)] * 3, [different, np.ones(20), np.ones(20)]]
    return Similarity(products, [0.0, 1.0], [0.6, 1.0], 0.5, after, 0.0, ())


def test_one_pair_that_is_not_as_in_1_is_enough():
    for violated, after, wrong in (
        (0, 1.0, []),
        (0, 0.999, ["all_pairs"]),
        (1, 0.999, ["separable", "all_pairs"]),
    ):
        networks = [network_with(0, 1.0), network_with(violated, after)]
        claims = claims_of_similarity(Fig3(pairs=20), networks)
        assert [claim.id for claim in claims if not claim.holds] == wrong
        assert all(claim.finding for claim in claims if not claim.holds)


def test_sampled_pairs_are_of_different_images(rng):
    zeros, ones = np.arange(5), np.arange(5, 9)
    i, j = _sampled(zeros, zeros, 2000, rng)
    assert (i != j).all() and {*i} == {*j} == {*zeros}
    assert len({*zip(i.tolist(), j.tolist(), strict=True)}) == 20
    i, j = _sampled(zeros, ones, 2000, rng)
    assert {*i} == {*zeros} and {*j} == {*ones}


def test_survival_by_brute_force(rng):
    data = Dataset(rng.normal(size=(5, 3)), np.array([1, 1, -1, -1, 1]))
    W, a = rng.normal(size=(4, 6, 3)), rng.normal(size=(4, 6))
    signs = signs_alive(W, a, data)
    for k in range(4):
        for column, sign in enumerate((1, -1)):
            alive = any(
                a[k, j] * sign > 0 and any(W[k, j] @ x > 0 for x in data.X[data.y == sign])
                for j in range(6)
            )
            assert signs[k, column] == alive


def test_shares_of_the_pair_by_enumeration():
    """Of a neuron: which sign, and does it see the point of its sign; all four are as likely."""
    kinds = np.array(np.meshgrid(*[range(4)] * 3)).reshape(3, -1)  # 0, 1: a > 0; 1, 3: it sees it
    both = ((kinds == 1).any(axis=0) & (kinds == 3).any(axis=0)).mean()
    none = (~((kinds == 1) | (kinds == 3)).any(axis=0)).mean()
    assert none == 2.0**-3
    assert both == 1 - 2 * 0.75**3 + 0.5**3


def test_pairs_as_in_1_by_brute_force(rng):
    F, y = rng.normal(size=(40, 3)), rng.choice([-1, 1], 40)
    F[:, 0] += 0.8 * y
    good = [(F[i] @ F[j] > 0) == (y[i] == y[j]) for i in range(40) for j in range(40) if i != j]
    assert share_as_in_1(F, y) == pytest.approx(np.mean(good), abs=1e-12)


@pytest.mark.long
def test_features_do_not_depend_on_the_blocks(rng):
    model = SixConv(4)
    weights = initial_weights(model, 16, 8, "uniform:1", 0)
    X = rng.normal(size=(BLOCK + 3, 16))
    blocks = [np.asarray(layers[-1]) for layers in features(model, weights, X)]
    assert [len(block) for block in blocks] == [BLOCK, 3]
    (otherwise,) = features(model, weights, X[3:])
    assert np.allclose(np.concatenate(blocks)[3:], otherwise[-1], atol=1e-6)


def test_without_mnist_there_is_a_stand_in_only_where_it_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="MNIST is not here"):
        zeros_and_ones(ImageSettings())
    data, departures = zeros_and_ones(ImageSettings(n=256, stand_in=True))
    assert (data.n, data.d) == (256, 64)
    assert "scikit-learn's digits" in departures[0]
    assert data.X.mean() == pytest.approx(0, abs=1e-12)
    assert data.X.std() == pytest.approx(1)
