"""The figures of brutzkus2019: claims that fail where they must, and other routes to the same."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.data import load
from tacit.data.xord_kinds import LABELS, POINTS, kind_probabilities
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.fig1 import all_choices, one_choice, same_share
from tacit.papers.brutzkus2019.figures.image_filters import draw_and_judge, train_images
from tacit.papers.brutzkus2019.figures.plane_networks import train_decoy
from tacit.papers.brutzkus2019.figures.seeds import network_seeds
from tacit.papers.brutzkus2019.figures.xord_runs import XordEnds, train_xord
from tacit.papers.brutzkus2019.statements.descent import descend
from tacit.papers.brutzkus2019.statements.kinds import DIVERSE, DIVERSE_LABELS
from tacit.papers.brutzkus2019.statements.smallest_networks import decoyed
from tacit.theorems import Network
from tacit.values import BadInput


def claims(name, **changes):
    artefact = PAPER.artefacts[name]
    made = artefact.make(artefact.choose(quick=True, **changes), lambda words: None)
    return {claim.id: claim for claim in made.claims}, made


@pytest.mark.parametrize("seed", [1, 2])
def test_small_networks_fail_for_any_seed(seed):
    claimed, _ = claims("fig2", seed=seed, runs=150)
    assert all(claim.holds for claim in claimed.values())


def test_a_large_start_does_not_cluster():
    claimed, _ = claims("fig2", sigma_share=1e4, runs=50)
    assert not claimed["clustered"].holds


def test_what_is_said_of_wide_networks_is_false_of_small_ones():
    claimed, _ = claims("fig3", k=2, large_runs=60, runs=60)
    assert not claimed["large"].holds and not claimed["small"].holds


@pytest.mark.long
@pytest.mark.long
def test_wide_networks_fail_more_often_where_fewer_points_are_diverse():
    """With p₊ = p₋ = 0.5 two samples suffice for one half at most, and not for 1 − δ."""
    one = {"p": (0.5,), "delta": (0.1,), "epsilon": (0.125,), "bound": (3,), "sizes": (2,)}
    said, _ = claims("thm65", **one, large_runs=40)
    assert said["star_50"].holds
    assert said["m1_50"].holds and said["m1_50"].ours < 0.6


@pytest.mark.long
def test_the_order_of_confidences_matters():
    claimed, _ = claims("fig5", gammas=(5.0, 1.0), runs=40, channels=(8, 20))
    assert not claimed["better"].holds


def test_a_count_that_is_not_the_papers_is_told():
    few, many = np.arange(100) < 70, np.arange(100) < 92  # the paper has 94 of 100
    claim = same_share([8], [few])
    assert not claim.holds and claim.whose == "open"
    assert same_share([8], [many]).holds
    s = PAPER.artefacts["fig1"].choose(quick=True)
    chosen = all_choices(s)[0]
    right = np.arange(100) < 62
    assert one_choice(s, chosen, 8, np.array([right, many])).holds  # 62 and 94 of 100
    assert not one_choice(s, chosen, 8, np.array([right, few])).holds  # one of the two is enough


def test_every_combination_of_what_is_open_is_tried():
    s = PAPER.artefacts["fig1"].choose(quick=False)
    choices = all_choices(s)
    assert len(set(choices)) == len(choices) == (3 + 3) * 3 * 2  # only `uniform` depends on d
    p = [kind_probabilities(d, 0.5, 0.9, "kinds") for d in s.ds]
    assert all((one == p[0]).all() for one in p)


def test_an_output_of_0_is_an_error_or_the_label_minus_1():
    signs = np.array([np.where(LABELS > 0, 1.0, 0.0), np.zeros(15)])
    ends = XordEnds(signs, np.ones((2, 15), bool), np.full(15, 0.1))
    assert ends.fits("neither").tolist() == [False, False]
    assert ends.fits("negative").tolist() == [True, False]
    positive = (LABELS > 0).sum() * 0.05
    assert ends.test_error("negative") == pytest.approx([0, positive])


@pytest.mark.parametrize(
    "error, holds, open_",
    [
        (3.5, True, False),
        (5, False, False),
        (10.2, False, True),
        (12, False, False),
    ],
)
def test_nearly_as_good_is_judged_at_the_worst_size(error, holds, open_):
    s = PAPER.artefacts["fig4"].choose(quick=True, sizes=(100, 200))
    rows = {"small": (10.0, 9.0, 11.0), "large": (2.0, np.nan, np.nan)}
    rows["unit"] = rows["small"]
    angles = {"trained": np.linspace(5, 20, 40), "random": np.linspace(30, 60, 40)}
    both = {k: np.array([v, v]) for k, v in rows.items()}
    both["clusters"] = np.array([(e, e - 0.5, e + 0.5) for e in (2.5, error)])
    made = draw_and_judge(s, both, angles, ())
    better, nearly = made.claims[2:]
    assert nearly.holds == holds and bool(nearly.finding) != holds
    assert better.holds == (error < 10) and bool(better.finding) != better.holds
    assert better.finding.startswith("Not decided") == open_
    made = draw_and_judge(replace(s, filter=7), both, angles, ())
    assert [claim.id for claim in made.claims[2:]] == ["better"]  # the paper says it of 3×3 only


def test_training_is_that_of_the_proof():
    """Gradient descent on all points against (7) and (8) on one point of each label."""
    ends = train_decoy(load("xord_decoy"), 3, 1 / 41, 8.0, 10000, [3, 4, 5])
    start, end = ends.many.weights["W"]
    for i, a in enumerate(ends.many.weights["a"][0]):
        goals = np.array([8.0, 1.0])
        eta = 1 / 41 / 3
        path = descend(Network(start[i], a), DIVERSE, DIVERSE_LABELS, goals, eta, 10000)
        np.testing.assert_allclose(end[i], path[-1].W, atol=1e-9)
        assert bool(ends.decoyed[i]) == decoyed(path[-1], 8.0)
        assert bool(ends.fits[i]) == (len(path) - 1 == ends.many.epochs[i])


def test_the_exact_test_error_is_that_of_a_large_sample():
    artefact = PAPER.artefacts["fig1"]
    s = artefact.choose(quick=True, runs=6)
    exact = train_xord(s, 4, 5.0, 7, "uniform", 6, lambda words: None).test_error("neither")
    p = kind_probabilities(7, s.p_plus, s.p_minus, "uniform")
    sample = load(f"xord:n=20000,d=7,p_plus={s.p_plus},p_minus={s.p_minus},seed=5")
    rng = np.random.default_rng([s.seed, 4])
    rows = np.hstack([rng.choice(15, (6, 6), p=np.where(LABELS == y, p, 0)) for y in (1, -1)])
    for i, seed in enumerate(network_seeds(s, 6)):
        start = np.random.default_rng(seed).standard_normal((4, 2)) * s.sigma
        one = _plain_descent(start, POINTS[rows[i]], LABELS[rows[i]], 0.01, s)
        wrong = (sample.y * _outputs(one, sample.X) <= 0).mean()
        assert wrong == pytest.approx(exact[i], abs=0.015)


def _outputs(W, X):
    z = np.maximum(np.einsum("ncp,mp->nmc", X.reshape(len(X), -1, 2), W), 0).max(axis=2)
    return z[:, :2].sum(axis=1) - z[:, 2:].sum(axis=1)


def _plain_descent(W, X, y, lr, s):
    """(4) by the definition: no kinds, no library, stopped as App. A says."""
    best, stale = np.inf, 0
    patches = X.reshape(len(X), -1, 2)
    for _ in range(s.iterations):
        goal = np.where(y > 0, 5.0, 1.0)
        active = (goal - y * _outputs(W, X) > 0) * y / 6
        z = np.einsum("ncp,mp->nmc", patches, W)
        first = z.argmax(axis=2)
        winner = patches[np.arange(len(X))[:, None], first]
        on = np.take_along_axis(z, first[:, :, None], axis=2)[:, :, 0] > 0
        sign = np.array([1, 1, -1, -1])
        W = W + lr * np.einsum("n,nm,m,nmp->mp", active, on, sign, winner)
        loss = (np.maximum(goal - y * _outputs(W, X), 0) / 6).sum()
        best, stale = (loss, 0) if loss < best else (best, stale + 1)
        if stale == s.patience:
            break
    return W


TINY = {"n": 60, "sizes": (60,), "channels": 8, "epochs": 3, "runs": 2, "test": 200}


@pytest.mark.long
def test_without_mnist_quickly_with_the_stand_in(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    _, made = claims("fig4", **TINY)
    assert "scikit-learn" in " ".join(made.departures)


def test_without_mnist_and_without_a_stand_in_it_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="MNIST is not here"):
        claims("fig4", **TINY, stand_in=False)


def test_centres_stay_the_filters():
    s = PAPER.artefacts["fig4"].choose(quick=True, **TINY)
    data = load("digits:n=60,test=200")
    centres = np.random.default_rng(0).standard_normal((4, 9))
    many = train_images(s, data, 4, 0.01, 0.05, [1, 2], centres)
    np.testing.assert_array_equal(many.last["W"], np.float32([centres, centres]))
    free = train_images(s, data, 4, 0.01, 0.05, [1, 2])
    before, after = free.weights["V"]
    assert np.abs(many.last["V"] - before).min(axis=(1, 2)).max() < np.abs(after - before).max()
    assert not np.allclose(many.last["V"], before) and not np.allclose(many.last["b"], 0)
