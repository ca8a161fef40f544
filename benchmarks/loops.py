"""The PyTorch loops: what a researcher writes.

One network after the other, autograd, one step at a time.
"""

from __future__ import annotations

import torch

from benchmarks.works import Work
from tacit.models import ConvMaxPool

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def loop(work: Work, seed: int, epochs: int) -> None:
    """Train network `seed` for so many epochs."""
    (conv_max_pool if isinstance(work.setting.model, ConvMaxPool) else two_layer)(
        work, seed, epochs
    )


def two_layer(work: Work, seed: int, epochs: int) -> None:
    """SGD or gd on a two-layer net; the output layer is trained or not."""
    data, s = work.data[seed], work.setting
    X, y = torch.tensor(data.X), torch.tensor(data.y, dtype=torch.float64)
    hidden = torch.nn.Linear(data.d, s.width, bias=False)
    out = torch.nn.Linear(s.width, 1, bias=False)
    out.weight.requires_grad_(s.train != "first")
    moved = [p for p in (hidden.weight, out.weight) if p.requires_grad]
    optimizer = torch.optim.SGD(moved, lr=s.lr)

    def step(points: torch.Tensor, labels: torch.Tensor) -> None:
        f = out(torch.relu(hidden(points)))[:, 0]
        loss = torch.nn.functional.softplus(-labels * f).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(epochs):
        if s.rule == "gd":
            step(X, y)
            continue
        for rows in torch.randperm(data.n).split(s.batch or 1):
            step(X[rows], y[rows])


def conv_max_pool(work: Work, seed: int, epochs: int) -> None:
    """Gradient descent on brutzkus2019's network."""
    data, s = work.data[seed], work.setting
    X, y = torch.tensor(data.X).reshape(data.n, -1, 2), torch.tensor(data.y, dtype=torch.float64)
    W = (1e-3 * torch.randn(s.width, 2)).requires_grad_()
    optimizer = torch.optim.SGD([W], lr=s.lr)
    half = s.width // 2
    for _ in range(epochs):
        z = torch.relu(X @ W.T).amax(dim=1)
        f = z[:, :half].sum(dim=1) - z[:, half:].sum(dim=1)
        loss = torch.relu(1 - y * f).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
