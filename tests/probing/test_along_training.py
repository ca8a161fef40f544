"""Probe along training: when it looks, what it writes, and that training goes on as it would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from helpers import refused
from tacit.probing import along_training

X = np.array([[1.0, 0.5], [-2.0, 1.0], [0.5, 2.0]])
Y = np.array([1, -1, 1])


def linear(w: Any, x: Any) -> Any:
    return w @ x


def test_it_looks_every_so_many_calls() -> None:
    log = tacit.Probe(X, Y, every=3)
    looks = [log((linear, np.array([1.0, 1.0 + k]))) for k in range(7)]
    assert [look is not None for look in looks] == [True, False, False] * 2 + [True]
    assert list(log.to_frame()["step"]) == [0, 3, 6]
    assert log.records[1]["margin"] == tacit.probe((linear, np.array([1.0, 4.0])), X, Y).margin


def test_it_keeps_to_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock of our own a step takes 1 and a look 10: at 5 % there is one in 200."""
    clock, real = [0.0], along_training.probed_on

    def slow(*args: Any, **options: Any) -> Any:
        clock[0] += 10.0
        return real(*args, **options)

    monkeypatch.setattr(along_training, "probed_on", slow)
    monkeypatch.setattr(along_training, "perf_counter", lambda: clock[0])
    log = tacit.Probe(X, Y)
    for _ in range(600):
        clock[0] += 1.0
        log((linear, np.array([1.0, 0.0])))
    spent = sum(row["seconds"] for row in log.records)
    assert len(log.records) == 4 and spent <= 0.05 * clock[0] + 10


def test_writers_get_their_numbers() -> None:
    class Board:
        def __init__(self) -> None:
            self.seen: list[tuple[str, float, int]] = []

        def add_scalar(self, name: str, value: float, step: int) -> None:
            self.seen.append((name, value, step))

    class Run:
        def __init__(self) -> None:
            self.seen: list[dict[str, float]] = []

        def log(self, values: dict[str, float]) -> None:
            self.seen.append(values)

    board, run = Board(), Run()
    for writer in (board, run):
        tacit.Probe(X, Y, every=1, writer=writer)((linear, np.array([-1.0, 0.0])), step=7)
    assert {name: value for name, value, _ in board.seen}.items() <= run.seen[0].items()
    assert run.seen[0]["tacit/step"] == 7 and {step for *_, step in board.seen} == {7}
    assert "tacit/margin" in run.seen[0] and "tacit/residual" not in run.seen[0]  # not fitted
    refused(lambda: tacit.Probe(X, Y, writer=3), "add_scalar")


def test_a_sample_is_looked_at() -> None:
    log = tacit.Probe(np.ones((100, 2)), np.ones(100), every=1, most=7)
    look = log((linear, np.ones(2)))
    assert look is not None and look.n == 7
    refused(lambda: tacit.Probe(X, Y, every=0), "`every=0`")
    refused(lambda: tacit.Probe(X, Y, overhead=1.0), "`overhead=1.0`")
    refused(lambda: tacit.Probe(X, Y[:2]), "shape")


def test_in_an_optax_loop() -> None:
    """The path is that of the loop alone, and the margin rises in it."""
    import optax

    from tacit._jax import jax, jnp

    def loss(params: Any) -> Any:
        return jnp.logaddexp(0, -Y * (X @ params)).mean()

    def trained(log: Any) -> Any:
        rule = optax.sgd(1.0)
        params = jnp.array([0.1, 0.0])
        state = rule.init(params)
        for _ in range(40):
            updates, state = rule.update(jax.grad(loss)(params), state)
            params = optax.apply_updates(params, updates)
            if log is not None:
                log((linear, params))
        return params

    log = tacit.Probe(X, Y, every=10)
    assert np.array_equal(trained(log), trained(None))
    margins = [row["margin"] for row in log.records]
    assert len(margins) == 4 and margins == sorted(margins)


@pytest.mark.long
def test_in_a_pytorch_loop() -> None:
    import torch

    def trained(log: Any) -> Any:
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(2, 8, bias=False),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.2),
            torch.nn.Linear(8, 1, bias=False),
        )
        rule = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(30):
            rule.zero_grad()
            q = torch.tensor(Y)[:, None] * model(torch.tensor(X).float())
            torch.nn.functional.softplus(-q).mean().backward()
            rule.step()
            if log is not None:
                log(model)
        return torch.cat([p.detach().ravel() for p in model.parameters()])

    log = tacit.Probe(torch.tensor(X).float(), Y, every=10)
    assert torch.equal(trained(log), trained(None)) and len(log.records) == 3


@pytest.mark.long
def test_as_a_lightning_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lightning calls hooks of its own class by name; a stand-in for it is enough to see that."""
    import sys
    import types

    class Callback:
        pass

    home = types.ModuleType("lightning.pytorch")
    home.Callback = Callback  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lightning", types.ModuleType("lightning"))
    monkeypatch.setitem(sys.modules, "lightning.pytorch", home)
    log = tacit.Probe(X, Y, every=1)
    callback = log.lightning()
    assert isinstance(callback, Callback)
    trainer = types.SimpleNamespace(global_step=12)
    callback.on_train_batch_end(trainer, (linear, np.ones(2)), None, None, 0)
    assert log.records[0]["step"] == 12
