"""probe of PyTorch modules, beside gradients from plain loops of autograd; nothing is changed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tacit
from helpers import refused

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def torch() -> Any:
    import torch

    torch.manual_seed(0)
    return torch


def mlp(torch: Any, sizes: tuple[int, ...], bias: bool | str = False) -> Any:
    layers: list[Any] = []
    for k, (into, out) in enumerate(zip(sizes, sizes[1:], strict=False)):
        with_bias = k == 0 if bias == "first" else bool(bias)
        layers += [torch.nn.Linear(into, out, bias=with_bias), torch.nn.LeakyReLU(0.1)]
    return torch.nn.Sequential(*layers[:-1])


def cnn(torch: Any) -> Any:
    nn = torch.nn
    parts = [nn.Conv2d(1, 4, 3, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    return nn.Sequential(
        *parts, nn.Linear(36, 8, bias=False), nn.ReLU(), nn.Linear(8, 3, bias=False)
    )


def images(torch: Any, n: int = 20) -> Any:
    return torch.rand(n, 1, 8, 8, generator=torch.Generator().manual_seed(1))


def points(torch: Any, n: int = 30) -> Any:
    return torch.randn(n, 5, generator=torch.Generator().manual_seed(2))


def by_hand(torch: Any, model: Any, X: Any, y: np.ndarray, support: Any) -> tuple[float, float]:
    """Stationarity and complementarity at the λ that probe found, from autograd in a loop."""
    import copy

    model = copy.deepcopy(model).double().eval()
    params = list(model.parameters())
    theta = torch.cat([p.detach().ravel() for p in params])
    norm = float(theta.norm())
    degree = len(params)
    total = torch.zeros_like(theta)
    f = model(X.double()).detach()
    own = f[torch.arange(len(y)), torch.as_tensor(y)][:, None] - f if f.shape[1] > 1 else None
    smallest = float(
        (own + torch.where(own == 0, torch.inf, 0.0)).min()
        if own is not None
        else (torch.as_tensor(y)[:, None] * f).min()
    )
    slack = 0.0
    for i, k, lam in zip(support.points, support.rivals, support.multipliers, strict=True):
        out = model(X[i : i + 1].double())[0]
        q = out[0] * int(y[i]) if k < 0 else out[int(y[i])] - out[int(k)]
        gradient = torch.cat([g.ravel() for g in torch.autograd.grad(q, params)])
        total += float(lam) * gradient / norm ** (degree - 1)
        slack += degree * float(lam) * (q.item() - smallest) / norm**degree
    return float((theta / norm - total).norm()), slack


@pytest.mark.parametrize("kind", ["mlp", "deep", "cnn"])
def test_the_residual_is_that_of_a_loop(torch: Any, kind: str) -> None:
    if kind == "cnn":
        model, X = cnn(torch), images(torch)
    else:
        model, X = mlp(torch, (5, 20, 1) if kind == "mlp" else (5, 9, 8, 7, 4)), points(torch)
    f = model(X).detach().numpy()
    y = f.argmax(1) if f.shape[1] > 1 else np.where(f[:, 0] > 0, 1, -1)
    probed = tacit.probe(model, X, y, seconds=0)
    assert probed.homogeneity.holds
    assert probed.homogeneity.degree == len(list(model.parameters()))
    support = probed.support
    assert support is not None
    stationarity, slack = by_hand(torch, model, X, y, support)
    assert support.stationarity == pytest.approx(stationarity, rel=1e-9)
    assert support.complementarity == pytest.approx(slack, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("depth", range(2, 7))
def test_the_degree_is_the_depth(torch: Any, depth: int) -> None:
    model = mlp(torch, (5, *(8,) * (depth - 1), 2), "first")
    probed = tacit.probe(model, points(torch), np.arange(30) % 2)
    assert probed.homogeneity.holds and probed.homogeneity.degree == depth


def test_jax_and_torch_agree(torch: Any) -> None:
    from tacit._jax import jax

    model, X = mlp(torch, (5, 9, 7, 1), "first"), points(torch)
    f = model(X).detach().numpy()[:, 0]
    W, b, V, a = (p.detach().double().numpy() for p in model.parameters())

    def g(p: Any, x: Any) -> Any:
        x = jax.nn.leaky_relu(p[0] @ x + p[1], 0.1)
        return (p[3] @ jax.nn.leaky_relu(p[2] @ x, 0.1))[0]

    y = np.where(f > 0, 1, -1)
    one = tacit.probe(model, X, y)
    other = tacit.probe((g, [W, b, V, a]), X.numpy(), y)
    assert one.residual == pytest.approx(other.residual, rel=1e-6)
    assert one.margin == pytest.approx(other.margin, rel=1e-9)
    for mine, theirs in zip(one.layers, other.layers, strict=True):
        assert (mine.dead, mine.clusters) == (theirs.dead, theirs.clusters)
        assert mine.agreement == pytest.approx(theirs.agreement, nan_ok=True)
        assert mine.balance == pytest.approx(theirs.balance, nan_ok=True)


def test_a_two_layer_network_is_certified(torch: Any) -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(5, 8), torch.nn.LeakyReLU(0.25), torch.nn.Linear(8, 1, bias=False)
    )
    X = points(torch)
    y = np.where(model(X).detach().numpy()[:, 0] > 0, 1, 0)
    probed = tacit.probe(model, X, y)
    assert probed.network is not None and probed.network.alpha == 0.25
    assert probed.certificate is not None and probed.support is not None
    kkt = probed.certificate.kkt
    assert probed.support.stationarity == pytest.approx(kkt.stationarity, rel=1e-6)
    assert probed.margin == pytest.approx(kkt.margin, rel=1e-9)


def test_an_output_bias_is_refused_with_its_reason(torch: Any) -> None:
    model = mlp(torch, (5, 8, 1), True)
    probed = tacit.probe(model, points(torch), np.arange(30) % 2)
    assert probed.network is None and "the output has a bias" in probed.why_not_two_layer
    assert [r.partition(" (")[0] for r in probed.homogeneity.reasons] == ["bias in layer 2"]


def test_what_breaks_homogeneity_is_named(torch: Any) -> None:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc1, self.norm = nn.Linear(5, 8), nn.LayerNorm(8)
            self.act, self.fc2 = nn.GELU(), nn.Linear(8, 2, bias=False)

        def forward(self, x: Any) -> Any:
            return self.fc2(self.act(self.norm(self.fc1(x))))

    probed = tacit.probe(Net(), points(torch), np.arange(30) % 2)
    assert probed.homogeneity.reasons[:2] == ("LayerNorm in norm", "GELU in act")
    probed = tacit.probe(mlp(torch, (5, 8, 8, 2), True), points(torch), np.arange(30) % 2)
    reasons = [one.partition(" (")[0] for one in probed.homogeneity.reasons]
    assert reasons == ["bias in layer 2", "bias in layer 4"]


def test_functions_that_break_homogeneity_are_named(torch: Any) -> None:
    nn, F = torch.nn, torch.nn.functional
    mixed = "(of values of degrees 0 and 1)"

    class Net(nn.Module):
        def __init__(self, phi: Any) -> None:
            super().__init__()
            self.fc1, self.phi, self.fc2 = nn.Linear(5, 8), phi, nn.Linear(8, 2, bias=False)

        def forward(self, x: Any) -> Any:
            return self.fc2(self.phi(self.fc1(x)))

    def constant_beside(z: Any) -> Any:
        return torch.cat([z[:, :7], torch.ones(len(z), 1, dtype=z.dtype)], 1)

    for phi, reasons in (
        (torch.tanh, ["tanh"]),
        (lambda z: z.sigmoid(), ["sigmoid"]),
        (F.gelu, ["gelu"]),
        (F.softplus, ["softplus"]),
        (lambda z: F.layer_norm(z, (8,)), ["layer_norm"]),
        (lambda z: F.relu(z) + 1, [f"add {mixed}"]),
        (lambda z: 1 - z, [f"sub {mixed}"]),
        (lambda z: z.add_(1.0), [f"add {mixed}"]),
        (constant_beside, [f"cat {mixed}"]),
        (F.relu6, ["relu6"]),  # which no unit reaches here
        (lambda z: torch.sin(torch.tanh(z)), ["tanh", "sin"]),
        (lambda z: F.dropout(F.leaky_relu(z), training=False), []),
        (lambda z: z * F.normalize(z), []),
    ):
        homogeneity = tacit.probe(Net(phi), points(torch), np.arange(30) % 2).homogeneity
        assert list(homogeneity.reasons) == [f"the operation {one}" for one in reasons]
        assert homogeneity.holds == (not reasons)


def test_a_transformer_is_taken_apart(torch: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
            self.out = torch.nn.Linear(6, 2, bias=False)

        def forward(self, x: Any) -> Any:
            return self.out(self.layer(x).sum(dim=1))

    X = torch.randn(20, 3, 6, generator=torch.Generator().manual_seed(0))
    reasons = tacit.probe(Net(), X, np.arange(20) % 2).homogeneity.reasons
    assert {"LayerNorm in layer.norm1", "LayerNorm in layer.norm2"} <= set(reasons)
    assert any("the operation add in layer (of values of degrees 0" in one for one in reasons)


def test_what_has_no_forward_derivative(torch: Any) -> None:
    class Rectify(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, z: Any) -> Any:
            ctx.save_for_backward(z)
            return z.clamp(min=0)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * (ctx.saved_tensors[0] > 0)

    class Own(torch.nn.Module):
        def forward(self, z: Any) -> Any:
            return Rectify.apply(z)

    model, X = mlp(torch, (5, 9, 1)), points(torch)
    model[1] = torch.nn.ReLU()
    y = np.where(model(X).detach().numpy()[:, 0] > 0, 1, -1)
    usual = tacit.probe(model, X, y)
    model[1] = Own()
    probed = tacit.probe(model, X, y)
    assert probed.homogeneity.degree == 2 and probed.homogeneity.holds
    assert probed.residual == pytest.approx(usual.residual, rel=1e-9)
    model.append(torch.nn.Tanh())
    (reason,) = tacit.probe(model, X, y).homogeneity.reasons
    assert reason == "perhaps something in 1 that has no forward derivative"


def state(model: Any) -> tuple[Any, ...]:
    """All that a probe could have left behind in a module."""
    return (
        {k: v.clone() for k, v in model.state_dict().items()},
        [
            (p.requires_grad, None if p.grad is None else p.grad.clone(), p.dtype, id(p))
            for p in model.parameters()
        ],
        [(m.training, list(m._forward_hooks), list(m._forward_pre_hooks)) for m in model.modules()],
    )


def same(one: Any, other: Any) -> bool:
    import torch

    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return all(same(a, b) for a, b in zip(one, other, strict=True))
    return one == other


def trained_once(torch: Any) -> Any:
    nn = torch.nn
    parts = [nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2)]
    model = nn.Sequential(*parts)
    model.train()
    model(points(torch)).sum().backward()
    model[0].register_forward_hook(lambda *args: None)
    return model


def test_nothing_is_changed(torch: Any) -> None:
    model = trained_once(torch)
    before, random = state(model), torch.random.get_rng_state()
    probed = tacit.probe(model, points(torch), np.arange(30) % 2)
    assert same(before, state(model)) and torch.equal(random, torch.random.get_rng_state())
    assert any("training mode" in note and "Dropout in 3" in note for note in probed.notes)


def test_nothing_is_changed_by_an_interrupt(torch: Any) -> None:
    """At any call of the model, also while its operations are asked what breaks homogeneity."""
    left = [0]

    class Interrupted(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            return torch.tanh(x)

    model = torch.nn.Sequential(trained_once(torch), Interrupted())
    model.train()
    before, X, y = state(model), points(torch), np.arange(30) % 2
    tacit.probe(model, X, y)
    calls = -left[0]
    assert calls > 15
    for call in range(1, calls + 1, 3):
        left[0] = call
        with pytest.raises(KeyboardInterrupt):
            tacit.probe(model, X, y)
        assert same(before, state(model))
        assert torch.autograd.forward_ad._current_level == -1
        assert torch.overrides._get_current_function_mode() is None


def test_a_random_model_is_refused(torch: Any) -> None:
    class Noise(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(5, 2)
            self.calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return self.fc(x) + self.calls

    refused(lambda: tacit.probe(Noise(), points(torch), np.arange(30) % 2), "must not be random")


def test_bad_models_are_one_line(torch: Any) -> None:
    nn, X, y = torch.nn, points(torch), np.arange(30) % 2
    refused(lambda: tacit.probe(nn.ReLU(), X, y), "no parameters")
    refused(lambda: tacit.probe(nn.LazyLinear(3), X, y), "no shape yet")
    refused(lambda: tacit.probe(nn.Linear(4, 2), X, y), "fails on a batch of shape")
    refused(lambda: tacit.probe(nn.Linear(5, 2, device="meta"), X, y), "parameter weight", "meta")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of PyTorch about TorchScript
        script = torch.jit.script(nn.Linear(5, 2))
    refused(lambda: tacit.probe(script, X, y), "ScriptModule")
    refused(lambda: tacit.probe(nn.Linear(5, 2), X, y + 1), "from 0 to 1", "1, 2")
    refused(
        lambda: tacit.probe(nn.LSTM(5, 2), X, y),
        "tuple",
    )
    broken = nn.Linear(5, 2)
    broken.weight.data[0, 0] = torch.nan
    refused(lambda: tacit.probe(broken, X, y), "parameter weight", "NaN")
    wide = nn.Conv1d(5, 2, 1)
    refused(lambda: tacit.probe(wide, X[:, :, None].repeat(1, 1, 3), y), "shape (30, 2, 3)")


def test_bad_examples_are_one_line(torch: Any) -> None:
    model, X, y = mlp(torch, (5, 9, 2)), points(torch), np.arange(30) % 2
    refused(lambda: tacit.probe(model, X.to_sparse(), y), "sparse", "to_dense()")
    refused(lambda: tacit.probe(model, DataLoaderLike(), y), "`X` must be an array or a tensor")
    refused(lambda: tacit.probe(model, X, np.where(y == 1, np.nan, 0)), "`y` holds NaN")
    refused(lambda: tacit.probe(model, X, [None] * 30), "`y` holds object")
    refused(lambda: tacit.probe(model.state_dict(), X, y), "weights without a network")
    refused(lambda: tacit.probe(torch.nn.Linear, X, y), "a class", "Linear(…)")
    refused(lambda: tacit.probe(model, X, y, memory=np.nan), "`memory=nan`")
    refused(lambda: tacit.probe(model, X, y, seconds=-1), "`seconds=-1`")
    classes = tacit.probe(model, X, y)
    np.testing.assert_array_equal(tacit.probe(model, X, y == 1).q, classes.q)
    one = mlp(torch, (5, 9, 1))
    texts = np.array(["no", "yes"], dtype=object)[y]
    np.testing.assert_array_equal(tacit.probe(one, X, texts).q, tacit.probe(one, X, y).q)


class DataLoaderLike:
    """It has a length and no shape."""

    def __len__(self) -> int:
        return 30


def test_a_batch_that_is_mixed_is_refused(torch: Any) -> None:
    nn = torch.nn
    norm = nn.BatchNorm1d(8, track_running_stats=False)
    model = nn.Sequential(nn.Linear(5, 8), norm, nn.ReLU(), nn.Linear(8, 2))
    refused(lambda: tacit.probe(model, points(torch), np.arange(30) % 2), "the others in its batch")


def test_outputs_of_zero_have_no_degree(torch: Any) -> None:
    model = mlp(torch, (5, 9, 2))
    model[0].weight.data.zero_()
    probed = tacit.probe(model, points(torch), np.arange(30) % 2)
    assert "its outputs are all 0" in repr(probed) and np.isnan(probed.margin)


def test_weights_too_large_for_float32(torch: Any) -> None:
    model, X = mlp(torch, (5, 9, 7, 1)), points(torch)
    y = np.where(model(X).detach().numpy()[:, 0] > 0, 1, -1)
    usual = tacit.probe(model, X, y)
    for p in model.parameters():
        p.data *= 2.0**50  # exactly, so that every weight keeps its digits
    large = tacit.probe(model, X, y)
    assert not torch.isfinite(model(X)).all() and any("float32" in one for one in large.notes)
    assert large.margin == pytest.approx(usual.margin, rel=1e-5)
    assert large.residual == pytest.approx(usual.residual, rel=1e-4)


def test_what_vmap_cannot_do_is_done_in_a_loop(torch: Any) -> None:
    class Branching(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(5, 1, bias=False)

        def forward(self, x: Any) -> Any:
            if float(x.sum()) > 1e9:  # vmap has no numbers
                return 2 * self.fc(x)
            return self.fc(x)

    model, X = Branching(), points(torch)
    y = np.where(model(X).detach().numpy()[:, 0] > 0, 1, -1)
    probed, plain = tacit.probe(model, X, y), tacit.probe(model.fc, X, y)
    assert probed.residual == pytest.approx(plain.residual, rel=1e-9)


def test_a_wrapped_and_a_half_precision_model(torch: Any) -> None:
    model, X = mlp(torch, (5, 9, 2)), points(torch)
    y = np.arange(30) % 2
    wrapped = torch.nn.DataParallel(model)
    assert tacit.probe(wrapped, X, y).name == "Sequential"
    half = tacit.probe(mlp(torch, (5, 9, 2)).bfloat16(), X.bfloat16(), y)
    assert half.homogeneity.holds


def test_equinox_and_flax(torch: Any) -> None:
    import equinox as eqx
    import flax.linen as nn
    import jax

    X = points(torch).numpy()
    y = np.where(X[:, 0] > 0, 1, 0)
    model = eqx.nn.MLP(5, 2, 8, 2, use_bias=False, use_final_bias=False, key=jax.random.key(0))
    probed = tacit.probe(model, X, y)
    assert probed.homogeneity.degree == 3 and probed.name == "MLP" and len(probed.layers) == 3
    model = eqx.nn.MLP(5, 2, 8, 2, key=jax.random.key(0))
    assert "bias in layers.1" in repr(tacit.probe(model, X, y).homogeneity)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.relu(nn.Dense(8)(x.reshape((x.shape[0], -1))))
            return nn.Dense(1, use_bias=False)(x)

    net = Net()
    variables = net.init(jax.random.key(0), X)
    probed = tacit.probe((net, variables), X, y)
    assert probed.homogeneity.degree == 2 and probed.network is not None and probed.network.d == 6


def test_flax_modules_as_they_train_and_evaluate(torch: Any) -> None:
    import flax.linen as nn
    import jax
    from flax import nnx

    X, y = points(torch).numpy(), np.arange(30) % 2

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any, train: bool = True) -> Any:
            x = nn.Dense(8, use_bias=False)(x)
            x = nn.BatchNorm(use_running_average=not train, use_bias=False)(x)
            x = nn.Dropout(0.5, deterministic=not train)(nn.relu(x))
            return nn.Dense(2, use_bias=False)(x)

    net = Net()
    variables = net.init(jax.random.key(0), X, train=False)
    refused(lambda: tacit.probe((net, variables), X, y), "train=False")
    probed = tacit.probe((lambda v, x: net.apply(v, x, train=False), variables), X, y)
    assert probed.homogeneity.degree == 3  # two matrices and the scales between them
    assert probed.parameters == 5 * 8 + 8 + 8 * 2

    class Two(nnx.Module):
        def __init__(self) -> None:
            self.one = nnx.Linear(5, 8, rngs=nnx.Rngs(0))
            self.two = nnx.Linear(8, 1, use_bias=False, rngs=nnx.Rngs(1))

        def __call__(self, x: Any) -> Any:
            return self.two(nnx.relu(self.one(x)))

    probed = tacit.probe(Two(), X, y)
    assert probed.network is not None and probed.network.d == 6
