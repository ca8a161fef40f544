"""The one network value: its forward pass, margins, groups, and files that are not understood."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.values import BadInput, Network


def random_network(rng: np.random.Generator, alpha: float = 0.0) -> Network:
    return Network(rng.standard_normal((5, 3)), rng.standard_normal(5), alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_outputs_are_the_sum_over_neurons(alpha: float) -> None:
    rng = np.random.default_rng(0)
    net, X = random_network(rng, alpha), rng.standard_normal((7, 3))
    for x, f in zip(X, net.outputs(X), strict=True):
        z = [float(w @ x) for w in net.W]
        by_hand = sum(a * (s if s > 0 else alpha * s) for a, s in zip(net.a, z, strict=True))
        assert f == pytest.approx(by_hand, abs=1e-13)


def test_the_margin_does_not_depend_on_the_scale() -> None:
    rng = np.random.default_rng(1)
    net, X, y = random_network(rng), rng.standard_normal((7, 3)), np.array([1, -1, 1, 1, -1, 1, -1])
    twice = Network(2 * net.W, 2 * net.a)
    assert twice.margin(X, y) == pytest.approx(net.margin(X, y))
    assert Network(2 * net.W, net.a).margin(X, y, "first") == pytest.approx(
        net.margin(X, y, "first")
    )


def test_groups_join_neurons_of_one_sign_and_direction() -> None:
    W = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    net = Network(W, np.array([1.0, 2.0, -1.0, 1.0, 1.0]))
    groups = net.groups(np.array([[1.0, 0.0], [-1.0, 1.0]]))
    assert [(g.sign, g.members.tolist(), g.weight) for g in groups] == [
        (1, [0, 1], 5.0),
        (-1, [2], 3.0),
        (1, [3], 1.0),
    ]
    assert groups[0].pattern is not None and groups[0].pattern.tolist() == [1, -1]
    X = np.random.default_rng(2).standard_normal((9, 2))
    f = sum(g.sign * np.maximum(X @ (g.weight * g.direction), 0) for g in groups)
    assert np.allclose(f, net.outputs(X))


def test_a_file_gives_the_network_back(tmp_path) -> None:
    net = random_network(np.random.default_rng(3), 0.25)
    net.save(tmp_path / "net.npz")
    again = Network.load(tmp_path / "net.npz")
    assert (again.W == net.W).all() and (again.a == net.a).all() and again.alpha == 0.25
    with pytest.raises(BadInput, match="alpha = 0.25, not 0"):
        Network.load(tmp_path / "net.npz", alpha=0.0)


def test_arrays_that_are_not_understood_are_refused(tmp_path) -> None:
    np.savez(tmp_path / "net.npz", W=np.ones((2, 3)), a=np.ones(2), b=np.ones(2))
    with pytest.raises(BadInput, match="not understood: b"):
        Network.load(tmp_path / "net.npz")


def test_shapes_are_checked() -> None:
    assert Network(np.ones((2, 3)), np.ones((1, 2))).a.shape == (2,)
    with pytest.raises(BadInput, match=r"\(2, 3\).*\(3,\)"):
        Network(np.ones((2, 3)), np.ones(3))
    with pytest.raises(BadInput, match="α = 1"):
        Network(np.ones((2, 3)), np.ones(2), 1.0)


def test_the_repr_is_one_line_and_the_arrays_are_read_only() -> None:
    net = Network(np.ones((200, 30)), np.ones(200))
    assert "\n" not in repr(net) and len(repr(net)) < 100
    with pytest.raises(ValueError, match="read-only"):
        net.W[0, 0] = 2
