"""Probe along training: when it looks, what it writes, and that training goes on as it would."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from helpers import refused
from tacit.probing import along_training, measuring, stationarity
from tacit.probing.differentiable import Differentiable
from tacit.probing.examples import Examples

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


class Clock:
    """A clock of our own, on which a look takes 1, its residual 10 more, and a step 1."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.real = 0.0, (along_training.probed_on, measuring.support_of)
        monkeypatch.setattr(along_training, "probed_on", self.looking)
        monkeypatch.setattr(measuring, "support_of", self.supported)
        for module in (along_training, measuring):
            monkeypatch.setattr(module, "perf_counter", lambda: self.now)

    def looking(self, *args: Any, **options: Any) -> Any:
        self.now += 1.0
        return self.real[0](*args, **options)

    def supported(self, *args: Any) -> Any:
        *rest, patience = args
        if patience < 10.0:
            return None
        self.now += 10.0
        return self.real[1](*rest)


@pytest.mark.parametrize("overhead", [0.05, 0.2])
def test_it_keeps_to_its_share_of_the_time(
    monkeypatch: pytest.MonkeyPatch, overhead: float
) -> None:
    """At every moment, but for the first look; the examples are fitted half way."""
    clock = Clock(monkeypatch)
    log = tacit.Probe(X, Y, overhead=overhead)
    for k in range(4000):
        clock.now += 1.0
        log((linear, np.array([1.0, 0.0]) if k < 2000 else np.array([1.0, 1.0])))
        spent = sum(row["seconds"] for row in log.records)
        first = log.records[0]["seconds"]
        assert spent - first <= overhead * (clock.now - spent)
    assert 0.8 * overhead < spent / (clock.now - spent) <= overhead
    residuals = [row["residual"] for row in log.records if row["step"] >= 2000]
    seen = ~np.isnan(residuals)
    assert seen.sum() >= 7 and seen[np.argmax(seen) :].all()


def test_a_residual_is_not_dearer_than_it_was_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first time, in new memory, a gradient takes 5; in blocks it is computed again, for 1."""
    now, seen = [0.0], set[float]()

    class Slow(Differentiable):
        size = 3
        outputs = along = combination = times = dense_layers = breaking = None  # type: ignore[assignment]

        def gradients(self, X: Any, C: np.ndarray) -> np.ndarray:
            now[0] += sum(1.0 if x in seen else 5.0 for x in X[:, 0])
            seen.update(X[:, 0])
            return np.ones((len(X), self.size))

    monkeypatch.setattr(stationarity, "perf_counter", lambda: now[0])
    examples = Examples(np.arange(40.0)[:, None], np.ones(40))
    for block in (40, 20, 8, 3):
        work = stationarity._Work(Slow(), examples, np.arange(40), np.ones((40, 1)), 8)
        seen.clear()
        expected = work.seconds(block)
        seen.clear()
        begun = now[0]
        work.gram(block, np.ones(3))
        assert now[0] - begun <= expected <= 4 * (now[0] - begun)


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


@contextmanager
def quietly() -> Iterator[None]:
    """Without the warnings of libraries about their own insides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.long
def test_in_lightning_with_tensorboard(tmp_path: Path) -> None:
    """The weights are those of training without it, and TensorBoard reads what was seen."""
    with quietly():
        import lightning
        import torch
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        from torch.utils.tensorboard import SummaryWriter

        class Module(lightning.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.net = torch.nn.Linear(2, 1, bias=False)

            def forward(self, x: Any) -> Any:
                return self.net(x)

            def training_step(self, batch: Any, index: int) -> Any:
                return torch.nn.functional.softplus(-batch[1] * self(batch[0])[:, 0]).mean()

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), 0.5)

        def trained(callbacks: list[Any]) -> Any:
            torch.manual_seed(0)
            module = Module()
            examples = torch.utils.data.TensorDataset(torch.tensor(X).float(), torch.tensor(Y))
            lightning.Trainer(
                max_epochs=6,
                callbacks=callbacks,
                accelerator="cpu",
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
            ).fit(module, torch.utils.data.DataLoader(examples, batch_size=3))
            return module.net.weight.detach().clone()

        writer = SummaryWriter(str(tmp_path))
        log = tacit.Probe(torch.tensor(X).float(), Y, every=2, writer=writer)
        assert torch.equal(trained([log.lightning()]), trained([]))
        writer.close()
        board = EventAccumulator(str(tmp_path))
        board.Reload()
    seen = [(event.step, event.value) for event in board.Scalars("tacit/log_loss")]
    assert [step for step, _ in seen] == [1, 3, 5]  # Lightning has counted the step by then
    assert [value for _, value in seen] == pytest.approx([row["log_loss"] for row in log.records])


@pytest.mark.long
def test_weights_and_biases_keeps_what_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_SILENT", "true")
    with quietly():
        import wandb

        with wandb.init(project="tacit", dir=tmp_path, mode="offline") as run:
            log = tacit.Probe(X, Y, every=1, writer=run)
            for k in (1.0, 1.5):
                log((linear, np.array([1.0, k])))
            summary = dict(run.summary)
    last = log.records[-1]
    assert summary["tacit/step"] == 1 and summary["tacit/margin"] == last["margin"]
    assert summary["tacit/residual"] == last["residual"]
