"""Margin, KKT residual and clusters while a network trains: `tacit.Probe`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from tacit.messages import count
from tacit.probing.examples import Examples, examples_of
from tacit.probing.measuring import probed_on
from tacit.probing.probed import Probed
from tacit.values import BadInput, Result
from tacit.values.jsonable import plain
from tacit.values.optional import optional_import

SAMPLE = 1000
"""Examples that are looked at each time, by default."""
COLUMNS = (
    *("step", "log_loss", "errors", "q_min", "margin", "smoothed_margin", "residual"),
    *("support", "clusters", "dead", "seconds"),
)
WRITTEN = COLUMNS[1:-1]
CANDIDATES = 256
"""Pairs of an example and a class that may carry λ; fewer than in `probe` make a look cheap."""
SURE = 0.75
"""The share of the time left that a first look with a residual is judged to need, or less: the
estimate was a fifth too low where 416 MB of memory are touched for the first time."""
MOST_SAVED = 10**7


@dataclass(eq=False, repr=False)
class Probe(Result):
    """Probe a network while it trains, in any loop: call it after every step.

    It looks at the same examples each time: at the first call, and then whenever a look as dear as
    the last one fits into 5 % of the time that training itself has taken since then. The KKT
    residual, the dearest part, is left out (NaN) until there is time for it, judged by some of its
    gradients.

    Parameters
    ----------
    X, y : arrays or tensors
        The training examples and their labels, as `tacit.probe` takes them.
    every : int, optional
        Look every so many calls, whatever it takes; by default as often as `overhead` allows.
    overhead : float, default 0.05
        The time that looking may take, as a share of the time of training without it.
    most : int, default 1000
        Examples that are looked at, spread evenly; all where there are fewer.
    writer : optional
        A TensorBoard `SummaryWriter` (it has `add_scalar`), or a run of Weights & Biases (it has
        `log`): numbers go there too, under `tacit/…`.

    Attributes
    ----------
    records : list of dict
        What was seen, a row for each look.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X, y = np.array([[1.0, 0.5], [-2.0, 1.0]]), [1, -1]
    >>> log = tacit.Probe(X, y, every=5)
    >>> for step in range(11):
    ...     w = np.array([1.0 + step, 1.0])
    ...     look = log((lambda w, x: w @ x, w))
    >>> [int(row["step"]) for row in log.records]
    [0, 5, 10]
    """

    X: Any
    y: Any
    every: int | None = None
    overhead: float = 0.05
    most: int = SAMPLE
    writer: Any = None
    records: list[dict[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.every is not None and self.every < 1:
            raise BadInput(f"`every={self.every}` must be at least 1")
        if not 0 < self.overhead < 1:
            raise BadInput(f"`overhead={self.overhead}` must be between 0 and 1")
        if self.most < 1:
            raise BadInput(f"`most={self.most}` must be at least 1")
        known = ("add_scalar", "log")
        if self.writer is not None and not any(hasattr(self.writer, name) for name in known):
            raise BadInput("`writer` has neither add_scalar (TensorBoard) nor log (W&B)")
        begun = perf_counter()
        whole = examples_of(self.X, self.y)
        rows = slice(None, None, -(-len(whole) // self.most))
        self._examples = Examples(whole.X[rows], whole.y[rows])
        self._calls = 0
        self._begun = math.nan
        self._spent = perf_counter() - begun
        self._expected = 0.0
        self._with_residual = False

    def __call__(self, model: Any, step: int | None = None) -> Probed | None:
        """Look at the model if it is time to; what was seen, or None.

        Parameters
        ----------
        model : torch.nn.Module, Equinox module, or (f, params)
            As `tacit.probe` takes it. It may be in training mode; nothing of it is changed.
        step : int, optional
            The number of the step; by default the number of calls before this one.
        """
        call, self._calls = self._calls, self._calls + 1
        step = call if step is None else step
        if self.every is not None:
            return self.look(model, step) if call % self.every == 0 else None
        if call == 0:
            self._begun = perf_counter() - self._spent
        left = self._left
        return self._look(model, step, left) if call == 0 or left >= self._expected else None

    def look(self, model: Any, step: int) -> Probed:
        """Look at the model now.

        Parameters
        ----------
        model : torch.nn.Module, Equinox module, or (f, params)
            As `tacit.probe` takes it.
        step : int
            The number of the step.
        """
        return self._look(model, step, math.inf)

    @property
    def _left(self) -> float:
        """Seconds that a look may take now, so that all take `overhead` of the rest of the time."""
        training = perf_counter() - self._begun - self._spent
        return self.overhead * training - self._spent

    def _look(self, model: Any, step: int, left: float) -> Probed:
        begun = perf_counter()
        # What the last look with a residual took is known; before one, its gradients tell.
        patience = math.inf if self._with_residual else SURE * left
        probed = probed_on(model, self._examples, most_points=CANDIDATES, patience=patience)
        row = _row(step, probed)
        self.records.append(row)
        self._write(row)
        row["seconds"] = taken = perf_counter() - begun
        self._spent += taken
        # A look without the residual would be due again before there is ever time for one with it.
        left_out = probed.support is None and not probed.errors
        self._with_residual = probed.support is not None
        self._expected = max(2 * self._expected, taken) if left_out else taken
        return probed

    def _write(self, row: dict[str, float]) -> None:
        values = {f"tacit/{name}": row[name] for name in WRITTEN if not math.isnan(row[name])}
        if hasattr(self.writer, "add_scalar"):
            for name, value in values.items():
                self.writer.add_scalar(name, value, int(row["step"]))
        elif self.writer is not None:
            self.writer.log({**values, "tacit/step": row["step"]})

    def lightning(self) -> Any:
        """A callback for `lightning.Trainer(callbacks=[…])` that calls this after every batch."""
        try:
            kind = import_module("lightning.pytorch").Callback
        except ImportError:
            kind = optional_import("pytorch_lightning", "lightning()").Callback

        def on_train_batch_end(callback: Any, trainer: Any, module: Any, *rest: Any) -> None:
            self(module, trainer.global_step)

        return type("TacitProbe", (kind,), {"on_train_batch_end": on_train_batch_end})()

    def to_dict(self) -> dict[str, Any]:
        """The records, and what was asked for."""
        return plain({"records": self.records, "every": self.every, "overhead": self.overhead})

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame, a row for each look."""
        pandas = optional_import("pandas", "to_frame")
        return pandas.DataFrame(self.records, columns=list(COLUMNS))

    def _lines(self) -> list[str]:
        if not self.records:
            return [f"Probe of {count(len(self._examples), 'example')}: nothing was seen yet"]
        last = self.records[-1]
        spent = sum(row["seconds"] for row in self.records)
        return [
            f"Probe of {count(len(self._examples), 'example')}: "
            f"{count(len(self.records), 'look')}, {spent:.2f} s",
            f"step {last['step']:g}: log loss {last['log_loss']:.4g}, {last['errors']:g} errors, "
            f"margin {last['margin']:.4g}, KKT residual {last['residual']:.3g}, "
            f"{last['clusters']:g} clusters",
        ]

    def to_saved(self) -> dict[str, Any]:
        """What `load` needs: the records, without the examples and the writer."""
        about = {"every": self.every, "overhead": self.overhead, "examples": len(self._examples)}
        rows = [[repr(row[name]) for name in COLUMNS] for row in self.records]
        return {**about, "rows": rows}  # as texts, since JSON has no NaN

    @classmethod
    def from_saved(cls, form: Any) -> Probe:
        """The records again; it cannot look any more."""
        n = int(form["examples"])
        if not 1 <= n <= MOST_SAVED:
            raise BadInput("its number of examples is not right")
        made = cls(np.zeros((n, 1)), np.ones(n), form["every"], form["overhead"], max(n, 1))
        made.records = [dict(zip(COLUMNS, map(float, row), strict=True)) for row in form["rows"]]
        return made


def _row(step: int, probed: Probed) -> dict[str, float]:
    support, hidden = probed.support, probed.layers[:-1]
    values = (
        *(step, probed.log_loss, probed.errors, probed.q_min, probed.margin),
        *(probed.smoothed_margin, probed.residual),
        math.nan if support is None else len(support.points),
        sum(layer.clusters or 0 for layer in hidden),
        sum(layer.dead or 0 for layer in hidden),
        0.0,
    )
    return dict(zip(COLUMNS, map(float, values), strict=True))
