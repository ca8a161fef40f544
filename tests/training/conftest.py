"""A second way to train: plain numpy, written from the definitions, one path as a list."""

from collections.abc import Callable

import numpy as np
import pytest

from tacit.values import Dataset

Path = list[tuple[np.ndarray, np.ndarray]]


def loss_and_slopes(kind: str, q: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """L and dL/dq_i."""
    n = len(q)
    if kind == "logistic":
        return np.logaddexp(0, -q).sum() / n, -np.exp(-np.logaddexp(0, q)) / n
    if kind == "exponential:sum":
        return np.exp(-q).sum(), -np.exp(-q)
    confidence = float(kind.partition(":")[2])
    room = np.where(y > 0, confidence, 1.0) - q
    size = np.array([(y == label).sum() for label in y])
    return (np.maximum(room, 0) / size).sum(), -1.0 * (room > 0) / size


def gradients(W, a, X, y, alpha, kind) -> tuple[np.ndarray, np.ndarray]:
    """∂L/∂W and ∂L/∂a, neuron by neuron."""
    Z = X @ W.T
    f = np.where(Z > 0, Z, alpha * Z) @ a
    _, slopes = loss_and_slopes(kind, y * f, y)
    dW, da = np.zeros_like(W), np.zeros_like(a)
    for k in range(len(a)):
        for i in range(len(y)):
            mask = 1.0 if Z[i, k] > 0 else alpha
            dW[k] += slopes[i] * y[i] * a[k] * mask * X[i]
            da[k] += slopes[i] * y[i] * mask * Z[i, k]
    return dW, da


@pytest.fixture
def numpy_path() -> Callable[..., Path]:
    """The weights (W, a) of a two-layer net after 0, 1, 2, … epochs."""

    def run(
        W: np.ndarray,
        a: np.ndarray,
        data: Dataset,
        epochs: int,
        lr: float,
        alpha: float = 0.0,
        loss: str = "logistic",
        rule: str = "gd",
        batch: int | None = None,
        seed: int = 0,
        first_only: bool = False,
    ) -> Path:
        W, a, path = W.copy(), a.copy(), [(W, a)]
        moments = [np.zeros_like(p) for p in (W, W, a, a)]
        step = 0
        for epoch in range(epochs):
            order = np.arange(data.n)
            if batch is not None:
                rows = np.tile(np.arange(data.n, dtype=np.int32), (64, 1))
                chapter = np.random.default_rng([seed, epoch // 64]).permuted(rows, axis=1)
                order = chapter[epoch % 64]
            for begin in range(0, data.n, batch or data.n):
                rows = order[begin : begin + (batch or data.n)]
                dW, da = gradients(W, a, data.X[rows], data.y[rows], alpha, loss)
                if first_only:
                    da = np.zeros_like(a)
                step += 1
                if rule == "adam":
                    changes = []
                    for j, g in enumerate((dW, da)):
                        m, v = moments[2 * j], moments[2 * j + 1]
                        moments[2 * j] = m = 0.9 * m + 0.1 * g
                        moments[2 * j + 1] = v = 0.999 * v + 0.001 * g**2
                        m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
                        changes.append(m_hat / (np.sqrt(v_hat) + 1e-8))
                    dW, da = changes
                W, a = W - lr * dW, a - lr * da
            path.append((W, a))
        return path

    return run
