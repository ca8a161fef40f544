"""Is a network homogeneous in its parameters? Euler's identity, measured on every example.

f is homogeneous of degree L, f(cθ) = c^L f(θ), if and only if θ·∂f = L f for all θ. Where that
fails, parameters that look like biases are set to 0, all but one at a time, to see which break it;
where they are not all, every operation on the way to the output is asked.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from tacit.messages import count
from tacit.probing.differentiable import Differentiable
from tacit.probing.examples import Examples

EULER = 1e-6
"""Largest relative error of Euler's identity of a homogeneous network."""
ROUNDINGS = 1e5
"""Rounding errors that it may have beside that; it matters in single precision."""
SAMPLE = 256
"""Examples on which parameters are looked at one by one."""
FACTORS = (0.01, 100.0)
"""Multiples of θ at which f is compared: a ReLU6 that nothing saturates breaks nothing nearby."""
MOST_NAMED = 4
_BIAS = re.compile(r"(.*[^a-z])?(bias|beta|shift|b\d*)", re.IGNORECASE)
_WEIGHT = re.compile(r"weight|kernel|scale|gamma", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ParameterGroup:
    """One tensor of parameters, and its part in Euler's identity."""

    name: str
    size: int
    norm: float
    degree: float
    """p·∂f as a multiple of f, on the mean; 1 for each matrix of a homogeneous network."""
    error: float
    """The largest difference from that multiple, relative to the outputs."""


@dataclass(frozen=True, eq=False, repr=False)
class Homogeneity:
    """Whether f(cθ) = c^degree f(θ), as Euler's identity θ·∂f = degree·f says it.

    Attributes
    ----------
    holds : bool
        Whether the identity holds on every example, up to rounding.
    degree : float
        The degree; where the identity fails, the multiple of f that is nearest to θ·∂f.
    error : float
        The largest error on an example, relative to its output (or the median one, if that is
        larger).
    worst : int
        The example with that error, counted from 0.
    reasons : tuple of str
        What breaks the identity.
    groups : tuple of ParameterGroup
        Every tensor and its part in the identity.
    """

    holds: bool
    degree: float
    error: float
    worst: int
    reasons: tuple[str, ...]
    groups: tuple[ParameterGroup, ...]

    def __repr__(self) -> str:
        if self.holds and np.isnan(self.degree):
            return "its outputs are all 0, so it has no degree"
        if self.holds:
            return (
                f"homogeneous of degree {self.degree:g} (Euler's identity up to {self.error:.1e})"
            )
        more = len(self.reasons) - MOST_NAMED
        named = "; ".join(self.reasons[:MOST_NAMED]) + (f"; {more} more" if more > 0 else "")
        return f"not homogeneous: {named}"

    @property
    def advice(self) -> str:
        """What would make the network homogeneous, in one sentence."""
        if self.holds:
            return ""
        if all(reason.startswith("bias in") for reason in self.reasons):
            return (
                "build these layers with bias=False; the bias of the first layer may stay, it is a "
                "weight of a constant coordinate"
            )
        return (
            "keep linear, convolutional, ReLU, Leaky ReLU and pooling layers, without biases after "
            "the first one, and leave out what is named"
        )


def measured(model: Differentiable, examples: Examples, outputs: np.ndarray) -> Homogeneity:
    """Euler's identity on every example, and what breaks it."""
    slopes = examples.mapped(lambda X: model.along(X, model.parameters))
    degree, errors = _identity(outputs, slopes)
    worst = int(np.argmax(errors))
    tolerance = EULER + ROUNDINGS * model.precision
    holds = bool(errors[worst] <= tolerance)
    few = examples.sample(SAMPLE)
    f = model.outputs(few)
    groups = []
    for name, array in model.parameters.items():
        part, off = _identity(f, model.along(few, {name}))
        groups.append(
            ParameterGroup(name, array.size, float(np.linalg.norm(array)), part, float(off.max()))
        )
    if holds:
        reasons = _reasons_far_off(model, few, degree, tolerance)
    else:
        reasons = _reasons(model, few, tolerance)
    return Homogeneity(
        not reasons, degree, float(errors[worst]), worst, tuple(reasons), tuple(groups)
    )


def _identity(f: np.ndarray, slopes: np.ndarray) -> tuple[float, np.ndarray]:
    """The degree and the error of each example; a degree that is a whole number is one."""
    scale = float(np.abs(f).max())
    if not scale > 0:
        return float("nan"), np.where(np.abs(slopes).max(axis=1) > 0, np.inf, 0.0)
    f, slopes = f / scale, slopes / scale
    degree = float((slopes * f).sum() / (f * f).sum())
    if abs(degree - round(degree)) < EULER * max(1.0, abs(degree)):
        degree = float(round(degree))
    size = np.abs(f).max(axis=1)
    size = max(abs(degree), 1.0) * np.maximum(size, np.median(size))
    return degree, np.abs(slopes - degree * f).max(axis=1) / np.maximum(size, 1e-300)


def _reasons_far_off(
    model: Differentiable, X: object, degree: float, tolerance: float
) -> list[str]:
    """What breaks f(cθ) = c^L f(θ) far off, where the identity holds nearby."""
    f = model.outputs(X)
    for c in FACTORS:
        scaled = model.times(dict.fromkeys(model.parameters, c))
        with np.errstate(over="ignore", invalid="ignore"):
            g = scaled.outputs(X) / c**degree
            error = float(np.abs(g - f).max()) / max(float(np.abs(f).max()), 1e-300)
        if np.isfinite(error) and error > tolerance:
            return scaled.breaking(X, tolerance) or [f"f(cθ) is not c^{degree:g} f(θ) at c = {c:g}"]
    return []


def _error(model: Differentiable, X: object, without: Collection[str]) -> float:
    """The largest error with these parameters at 0; 0 where nothing is left of the outputs."""
    rest = model.without(without)
    f = rest.outputs(X)
    return float(_identity(f, rest.along(X, rest.parameters))[1].max()) if f.any() else 0.0


def looks_like_bias(name: str, array: np.ndarray) -> bool:
    """By its name, or since it is a vector that is not called a weight or a scale."""
    last = name.rpartition(".")[2]
    return bool(_BIAS.fullmatch(last)) or (array.ndim == 1 and not _WEIGHT.search(last))


def _reasons(model: Differentiable, X: object, tolerance: float) -> list[str]:
    biases = {
        name
        for name, array in model.parameters.items()
        if array.any() and looks_like_bias(name, array) and not _essential(model, X, name)
    }
    if _error(model, X, biases) > tolerance:
        parts = model.without(biases).breaking(X, tolerance)
        if not parts:
            return [f"something unseen, with {count(len(biases), 'bias', 'biases')} at 0"]
        with_biases = [part for part in model.breaking(X, tolerance) if part not in parts]
        return parts + [f"perhaps {part} with its bias" for part in with_biases]
    alone = {name: _error(model, X, biases - {name}) for name in model.parameters if name in biases}
    broken = {name: off for name, off in alone.items() if off > tolerance}
    breaking = [f"bias in {_layer(name)} ({off:.1%} alone)" for name, off in broken.items()]
    return breaking or [f"biases together ({', '.join(alone)})"]


def _layer(name: str) -> str:
    """The layer that a parameter belongs to, by its name."""
    stem = name.rpartition(".")[0] or name
    return f"layer {stem}" if stem.isdigit() else stem


def _essential(model: Differentiable, X: object, name: str) -> bool:
    """Whether the outputs vanish without it: then it is a weight."""
    return not model.without({name}).outputs(X).any()
