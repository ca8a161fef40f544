"""What `probe` asks of a network, whichever library it is written in; arrays are float64."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tacit.messages import printable
from tacit.values import BadInput

IN_TRAINING = ("InvalidRngError", "ModifyScopeVariableError")
"""What Flax raises of modules with dropout or batch normalisation as they train."""
AS_EVALUATED = "give it as it evaluates, (lambda v, x: module.apply(v, x, train=False), variables)"


@dataclass(frozen=True, eq=False)
class DenseLayer:
    """A matrix between two layers of units, and what its units do on the examples."""

    name: str
    W: np.ndarray
    """One unit in each row."""
    bias: np.ndarray | None = None
    alive: np.ndarray | None = None
    """Whether a unit is active on some example; None where that is not known."""
    agreement: float = float("nan")
    """The share of (two units, example) in which both are active or neither is."""


class Differentiable(ABC):
    """A network with parameters, ready to be differentiated; the user's own stays as it is.

    `X` is always a batch of b examples; outputs have the shape (b, K), with K = 1 for one number.
    Gradients are rows with the entries of all parameters, in the order of `parameters`.
    """

    name: str
    parameters: dict[str, np.ndarray]
    """What counts as trained, by name."""
    precision: float = float(np.finfo(np.float64).eps)
    """Rounding error of one operation."""
    notes: tuple[str, ...] = ()
    """What a person should know of how it was evaluated, a sentence each."""

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(array.size for array in self.parameters.values())

    @property
    def theta(self) -> np.ndarray:
        """All parameters in one vector."""
        return np.concatenate([array.ravel() for array in self.parameters.values()])

    @abstractmethod
    def outputs(self, X: Any) -> np.ndarray:
        """f(x) of each example."""

    @abstractmethod
    def along(self, X: Any, names: Collection[str]) -> np.ndarray:
        """The derivative of each output along the parameters of these names: θ_names · ∂f."""

    @abstractmethod
    def gradients(self, X: Any, C: np.ndarray) -> np.ndarray:
        """The gradient of c_i·f(x_i) for each example, in rows."""

    @abstractmethod
    def combination(self, X: Any, C: np.ndarray) -> np.ndarray:
        """The gradient of Σ_i c_i·f(x_i)."""

    @abstractmethod
    def times(self, factors: Mapping[str, float]) -> Self:
        """The same network with the parameters of these names multiplied by that."""

    def without(self, names: Collection[str]) -> Self:
        """The same network with the parameters of these names set to 0."""
        return self.times(dict.fromkeys(names, 0.0))

    @abstractmethod
    def dense_layers(self, batches: Iterator[Any]) -> list[DenseLayer]:
        """Its matrices in the order in which they are used."""

    @abstractmethod
    def breaking(self, X: Any, tolerance: float) -> list[str]:
        """Which operations break Euler's identity by more than this, in words."""


def as_rows(outputs: Any, b: int) -> np.ndarray:
    """Outputs of b examples as an array of shape (b, K); BadInput for any other shape."""
    values = np.asarray(outputs, dtype=np.float64)
    if values.shape == (b,):
        return values[:, None]
    if values.ndim != 2 or len(values) != b or values.shape[1] == 0:
        raise BadInput(
            f"the model gives an array of shape {values.shape} for {b} examples; one number or one "
            "score per class is needed for each, (n,), (n, 1) or (n, K)"
        )
    return values


@contextmanager
def running(X: Any) -> Iterator[None]:
    """Whatever somebody's model raises becomes one line."""
    try:
        with warnings.catch_warnings():  # of libraries about their own insides
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            yield
    except BadInput:
        raise
    except Exception as error:  # any library may be in there
        reason = printable(str(error).strip().partition("\n")[0])[:300] or "no reason given"
        shape = tuple(getattr(X, "shape", ()))
        kind = type(error).__name__
        hint = f"; {AS_EVALUATED}" if kind in IN_TRAINING else ""
        raise BadInput(
            f"the model fails on a batch of shape {shape}: {kind}: {reason}{hint}"
        ) from error
