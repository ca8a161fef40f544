"""Balance and rank against their definitions."""

import numpy as np
import pytest

from tacit.measures import NotDefined, Snapshot
from tacit.measures.rank import SHOWN, balance, effective_rank, singular_values
from tacit.models import ConvMaxPool, Residual, SixConv
from tacit.models.losses import Logistic
from tacit.values import Dataset


def test_balance_is_the_worst_neuron(look) -> None:
    s = look([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]], [5.0, -2.0, 2.5])
    assert balance(s) == pytest.approx(3.0)
    with pytest.raises(NotDefined):
        balance(look([[3.0, 4.0], [1.0, 0.0]], [1.0, -1.0], train="first"))


@pytest.mark.parametrize("m, d", [(1, 1), (3, 7), (30, 12)])
def test_singular_values_are_roots_of_the_eigenvalues(look, rng, m, d) -> None:
    W = rng.normal(size=(m, d))
    values = singular_values(look(W, np.ones(m), np.ones((1, d))))
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(W @ W.T)[::-1], 0))[: min(m, d)]
    assert values.shape == (SHOWN,)
    np.testing.assert_allclose(values[: min(m, d)], roots[:SHOWN], rtol=1e-9)
    assert not values[min(m, d) :].any()


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_effective_rank_is_between_one_and_the_rank(look, rng, rank) -> None:
    W = rng.normal(size=(8, rank)) @ rng.normal(size=(rank, 6))
    effective = effective_rank(look(W, np.ones(8), np.ones((1, 6))))
    assert 1 <= effective * (1 + 1e-14) and effective <= rank * (1 + 1e-14)
    spread = singular_values(look(W, np.ones(8), np.ones((1, 6)))) ** 2
    assert effective == pytest.approx(spread.sum() / spread[0], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e200])
def test_effective_rank_of_any_scale(look, rng, scale) -> None:
    W = rng.normal(size=(5, 3))
    plain, scaled = look(W, np.ones(5), np.eye(3)), look(scale * W, np.ones(5), np.eye(3))
    assert effective_rank(scaled) == pytest.approx(effective_rank(plain), rel=1e-12)


def test_a_wide_layer_is_decomposed_once(look, rng, monkeypatch) -> None:
    """Twice for each epoch that is recorded was most of the time in 2,000 dimensions."""
    s, made = look(rng.normal(size=(9, 7)), np.ones(9), np.eye(7)), []
    svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *a, **k: made.append(1) or svd(*a, **k))
    effective, values = effective_rank(s), singular_values(s)
    assert len(made) == 1
    assert effective == pytest.approx((values**2).sum() / values[0] ** 2, rel=1e-12)


def test_equal_singular_values_have_full_rank(look) -> None:
    assert effective_rank(look(np.eye(4), np.ones(4), np.eye(4))) == pytest.approx(4)
    assert effective_rank(look(np.zeros((2, 3)), np.ones(2), np.eye(3))) == 0


def test_the_first_layer_of_other_networks(rng) -> None:
    data = Dataset(rng.normal(size=(3, 4)), [1, -1, 1])
    W1 = rng.normal(size=(2, 4))
    deep = {"W1": W1, "W2": np.eye(2), "W3": np.ones((1, 2))}
    values = singular_values(Snapshot(Residual(3), Logistic(), deep, data))
    np.testing.assert_allclose(values[:2], np.linalg.svd(W1)[1])
    pooled = {"W": rng.normal(size=(2, 2)), "a": np.array([1.0, -1.0])}
    s = Snapshot(ConvMaxPool(2), Logistic(), pooled, data)
    np.testing.assert_allclose(singular_values(s)[:2], np.linalg.svd(pooled["W"])[1])
    images = {"W1": np.zeros((32, 1, 3, 3))}
    with pytest.raises(NotDefined):
        singular_values(Snapshot(SixConv(2), Logistic(), images, data))
