"""The verb `probe`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from tacit.certificates import certify
from tacit.messages import printable
from tacit.models.losses import Logistic
from tacit.probing.differentiable import Differentiable
from tacit.probing.examples import Examples, Margins, examples_of, margins_of
from tacit.probing.homogeneity import measured
from tacit.probing.layers import measured_layers
from tacit.probing.probed import Probed
from tacit.probing.stationarity import MOST_POINTS, support_of
from tacit.probing.two_layers import recognised
from tacit.values import BadInput, Dataset
from tacit.values.arguments import check_kinds

MOST_CERTIFIED = 2**24
"""Neurons by points by dimensions up to which a two-layer network is certified at once."""
LARGEST_FLOAT32 = 3.4e38
SAME, ROUNDINGS = 1e-9, 1e4
"""Outputs that differ by this share, or by so many rounding errors, are the same."""


def probe(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    tau: float = math.inf,
    memory: float = 2e9,
    seconds: float = 10.0,
) -> Probed:
    """Probe a trained network: homogeneity, margin, KKT residual, support examples, layers.

    Parameters
    ----------
    model : torch.nn.Module, Equinox module, or (f, params)
        The network. In JAX, f(params, x) takes one example or f(params, X) a batch; a Flax module
        goes with its variables, `(module, variables)`. It gives one number for each example (two
        classes) or one score per class. Nothing of it is changed: PyTorch modules are copied, and
        probed in evaluation mode and float64.
    X : array or tensor of shape (n, …), or Dataset
        The training examples.
    y : array of shape (n,)
        The labels: two values for one output (the larger is +1), else 0, …, K − 1.
    tau : float, optional
        Only margins up to (1 + tau) times the smallest may get a multiplier λ, and at most the
        2,000 smallest; what they came to is in the result.
    memory : float, default 2e9
        Bytes that gradients may take, estimated before they are computed.
    seconds : float, default 10
        How long the widest margin may be looked for where the network has two layers; 0 for not at
        all.

    Returns
    -------
    Probed

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X, y = np.array([[1.0, 0.5], [-2.0, 1.0]]), [1, -1]
    >>> net = tacit.probe((lambda params, x: params["w"] @ x, {"w": np.array([1.0, 0.0])}), X, y)
    >>> net.homogeneity.degree, net.margin
    (1.0, 1.0)
    """
    check_kinds(probe, {"tau": tau, "memory": memory, "seconds": seconds})
    if not tau >= 0:
        raise BadInput(f"`tau={tau}` must be 0 or more")
    if not memory > 0:
        raise BadInput(f"`memory={memory}` must be positive; it counts bytes")
    if not seconds >= 0:
        raise BadInput(f"`seconds={seconds}` must be 0 or more")
    if isinstance(X, Dataset) and y is None:
        X, y = X.X, X.y
    if y is None:
        raise BadInput("`y` is missing: probe(model, X, y) needs the labels of the examples")
    return probed_on(model, examples_of(X, y), tau, memory, seconds)


def probed_on(
    model: Any,
    examples: Examples,
    tau: float = math.inf,
    memory: float = 2e9,
    seconds: float = 0.0,
    most_points: int = MOST_POINTS,
    patience: float = math.inf,
) -> Probed:
    """What `probe` says of examples that were looked through; at most so many may carry λ.

    Without λ where that would take longer than `patience` seconds in all.
    """
    started = perf_counter()
    network = differentiable(model, examples)
    outputs = examples.mapped(network.outputs)
    margins = margins_of(outputs, examples.y)
    _check_repeats(network, examples.sample(16))
    homogeneity = measured(network, examples, outputs)
    notes = list(network.notes)
    if np.abs(outputs).max() > LARGEST_FLOAT32:
        notes.append("its outputs are too large for float32, so training in that cannot go on")
    q = margins.q.min(axis=1)
    degree = homogeneity.degree if homogeneity.holds and homogeneity.degree > 0 else None
    support = None
    if q.min() > 0:
        rest = patience - (perf_counter() - started)
        support = support_of(network, examples, margins, degree, tau, memory, most_points, rest)
    layers = network.dense_layers(examples.batches())
    two, data, why_not = recognised(network, examples, margins.labels, outputs, layers)
    certificate = None
    if two is not None and data is not None and seconds > 0:
        if two.width * data.n * data.d <= MOST_CERTIFIED:
            certificate = certify(data, two, seconds=seconds)
        else:
            notes.append("its size is large for a certificate; certify(seconds=…) tries it")
    norm = float(np.linalg.norm(network.theta))
    log_loss, smoothed = _loss_and_smoothed(margins)
    by_norm = float("nan") if degree is None else _normalised(1.0, norm, degree)
    return Probed(
        name=printable(network.name),
        classes=margins.classes,
        parameters=network.size,
        norm=norm,
        homogeneity=homogeneity,
        q=q,
        log_loss=log_loss,
        margin=float(q.min()) * by_norm,
        smoothed_margin=smoothed * by_norm,
        support=support,
        layers=measured_layers(layers),
        network=two,
        why_not_two_layer=why_not,
        certificate=certificate,
        notes=tuple(notes),
        seconds=perf_counter() - started,
        data=data,
    )


def differentiable(model: Any, examples: Examples) -> Differentiable:
    """The network by the library that its type comes from, which is imported only then."""
    homes = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    first = examples.X[:1]
    if "torch" in homes:
        from tacit.probing.torch_model import TorchModel

        return TorchModel(model, first)
    if isinstance(model, tuple) or homes & {"equinox", "flax"}:
        from tacit.probing.jax_model import JaxModel

        return JaxModel(model, first)
    kind = f"of the type {type(model).__name__}"
    if isinstance(model, type):
        kind = f"a class; make a network of it, {model.__name__}(…), or"
    elif isinstance(model, Mapping):
        kind = f"{kind}, weights without a network; load them into theirs, and"
    else:
        kind += ";"
    raise BadInput(
        f"`model` is {kind} give a torch.nn.Module, an Equinox module, or (f, params) with a JAX "
        "function f(params, x)"
    )


def _check_repeats(network: Differentiable, X: Any) -> None:
    """BadInput where f(x) is not a function of x."""
    f = network.outputs(X)
    if not np.array_equal(f, network.outputs(X), equal_nan=True):
        raise BadInput("the model gives other outputs when asked again; it must not be random")
    error = np.abs(f[::2] - network.outputs(X[::2])).max() / max(np.abs(f).max(), 1e-300)
    if error > SAME + ROUNDINGS * network.precision:
        raise BadInput(
            "the model's output for an example depends on the others in its batch, as with batch "
            "normalisation without running statistics; it must be a function of the example"
        )


def _normalised(q: float, norm: float, degree: float) -> float:
    """q/‖θ‖^L, where ‖θ‖^L itself may be too large for a float."""
    return math.copysign(math.exp(math.log(abs(q)) - degree * math.log(norm)), q) if q else 0.0


def _loss_and_smoothed(margins: Margins) -> tuple[float, float]:
    """log of the mean cross-entropy; the margin at which one example alone would have the sum."""
    q = margins.soft
    with np.errstate(divide="ignore"):
        each = np.where(q > 40, -q, np.log(np.logaddexp(0.0, -np.minimum(q, 40.0))))
    log_loss = float(np.logaddexp.reduce(each)) - math.log(len(q))
    return log_loss, float(Logistic("mean").margin_of_log_total(log_loss, len(q)))
