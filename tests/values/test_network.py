"""The one network value: its forward pass, margins, groups, and files that are not understood."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.values import BadInput, Network, network


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


W, A, B = np.arange(6.0).reshape(2, 3), np.array([1.0, -2.0]), np.array([0.5, 3.0])
LAYERS = {
    "PyTorch": {"fc1.weight": W, "fc1.bias": B, "fc2.weight": A[None], "fc2.bias": np.zeros(1)},
    "Sequential": {"10.weight": A[None], "2.weight": W, "2.bias": B},
    "names out of order": {"hidden.weight": W, "hidden.bias": B, "a.weight": A[None]},
    "Keras": {"dense.kernel": W.T, "dense.bias": B, "out.kernel": A[:, None]},
    "numbers": {"W1": W, "b1": B, "W2": A[None], "b2": np.zeros(())},
    "letters": {"W": W, "a": A[None], "b": B[:, None]},
    "the other way round": {"W": W.T, "a": A[:, None], "b": B},
}


@pytest.mark.parametrize("arrays", LAYERS.values(), ids=LAYERS.keys())
def test_layers_by_other_names_are_the_same_network(tmp_path, arrays) -> None:
    np.savez(tmp_path / "net.npz", **arrays)
    net = Network.load(tmp_path / "net.npz", bias=2.0)
    X = np.random.default_rng(4).standard_normal((5, 3))
    outputs = np.maximum(X @ W.T + B, 0) @ A
    assert np.allclose(net.outputs(np.column_stack([X, np.full(5, 2.0)])), outputs, rtol=1e-14)
    for absent in (None, 0.0):
        with pytest.raises(BadInput, match="biases of the neurons.*`bias=1`"):
            Network.load(tmp_path / "net.npz", bias=absent)


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"W": W, "a": A, "gain": B}, "not understood: gain"),
        ({"W": W, "a": A, "b": np.ones(3)}, "shapes do not fit"),
        ({"W": W, "a": A, "b": np.array(0.5)}, "bias of the output, 0.5"),
        ({"W": W}, "no array 'a'"),
        ({"W": A[None], "a": W}, "shapes do not fit"),
        ({"W": W, "a": A, "alpha": np.zeros(2)}, "alpha must be one number"),
        ({"fc1.weight": W, "fc2.weight": np.ones((4, 2)), "fc3.weight": np.ones((1, 4))}, "no two"),
        ({"fc1.weight": W, "fc2.weight": np.ones((2, 2))}, "shapes do not fit"),
        ({"fc1.weight": W, "fc1.kernel": W, "fc2.weight": A[None]}, "not understood: fc1.kernel"),
        ({"fc1.weight": W, "fc2.weight": A[None], "fc3.bias": B}, "not understood: bias of fc3"),
        ({"W": W, "a": np.array(["x", "y"])}, "not real numbers"),
    ],
)
def test_arrays_that_are_not_understood_are_refused(tmp_path, arrays, message) -> None:
    np.savez(tmp_path / "net.npz", **arrays)
    with pytest.raises(BadInput, match=message) as error:
        Network.load(tmp_path / "net.npz")
    assert "\n" not in str(error.value)


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


def test_outputs_of_wide_networks_are_added_up_in_blocks(monkeypatch, rng) -> None:
    net, X = Network(rng.normal(size=(50, 3)), rng.normal(size=50), 0.1), rng.normal(size=(7, 3))
    z = X @ net.W.T
    monkeypatch.setattr(network, "NEURONS", 8)
    monkeypatch.setattr(network, "PRODUCTS", 30)  # three points at a time
    assert net.outputs(X) == pytest.approx(np.maximum(z, 0.1 * z) @ net.a, rel=1e-12)
    assert net.outputs(X[0]) == pytest.approx(net.outputs(X)[0], rel=1e-12)
    assert not Network(np.zeros((0, 3)), np.zeros(0)).outputs(X).any()
