"""A run: what was trained on what, what was measured on the way, and the weights at its end.

On disk it is a folder with `run.json` (setting and results) and `arrays.npz` (data, weights,
measures), written whole or not at all, and read without trusting it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from tacit._jax import jnp
from tacit.files import npz_bytes, write_folder
from tacit.messages import count, printable
from tacit.models import model_text
from tacit.training.rules import parse_descent
from tacit.values import BadInput, Dataset, Network, Result, Setting
from tacit.values.jsonable import plain
from tacit.values.optional import optional_import

FORMAT = 1
"""The number of the layout of run folders; others are refused."""


@dataclass(frozen=True, eq=False, repr=False)
class Run(Result):
    """What training gave: the networks of an ensemble, one entry of every array for each.

    Attributes
    ----------
    setting, data : Setting, Dataset
        What was trained, and on what.
    members : tuple of (int, int or None)
        (seed, class): the class a member separates from the rest, None for binary data. Of K
        classes, K members in a row have one seed.
    epochs : array of shape (T,)
        The epochs at which measures were taken.
    measures : dict of str to array
        Name → T × members (× length, for vectors).
    state : dict of str to array
        Everything training needs to go on; `params.W` and so on are the weights.
    outcomes : tuple of str
        How each member ended.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import tacit
    >>> tacit.train("xor", tacit.Setting(width=4), epochs=5).epoch
    5
    """

    setting: Setting
    data: Dataset
    members: tuple[tuple[int, int | None], ...]
    epochs: np.ndarray
    measures: dict[str, np.ndarray]
    state: dict[str, np.ndarray]
    outcomes: tuple[str, ...]
    seconds: float

    @property
    def epoch(self) -> int:
        return int(self.epochs[-1])

    @property
    def params(self) -> dict[str, np.ndarray]:
        """Part → members × its shape."""
        start = "params."
        return {k[len(start) :]: v for k, v in self.state.items() if k.startswith(start)}

    @property
    def networks(self) -> tuple[Network, ...]:
        """The two-layer networks at the end, one for each member."""
        if not self.setting.two_layer:
            raise BadInput(f"{model_text(self.setting.model)} is no two-layer network")
        W, a, alpha = self.params["W"], self.params["a"], self.setting.alpha
        return tuple(Network(W[i], a[i], alpha) for i in range(len(self.members)))

    @property
    def network(self) -> Network:
        """The first two-layer network."""
        return self.networks[0]

    @property
    def train_error(self) -> list[float]:
        """The error of each member; of K classes, by the largest output, for each seed."""
        return self._error("train_error", self.data)

    @property
    def test_error(self) -> list[float] | None:
        return self._error("test_error", self.data.test) if self.data.test else None

    def _error(self, name: str, data: Dataset | None) -> list[float]:
        if self.data.binary or data is None:
            return [float(v) for v in self.measures[name][-1]]
        outputs = self._outputs(data).reshape(-1, len(self.data.classes), data.n)
        own = np.arange(len(self.data.classes))[:, None] == data.y
        return [
            float(
                np.mean(
                    f.max(axis=0, where=own, initial=-np.inf)
                    <= f.max(axis=0, where=~own, initial=-np.inf)
                )
            )
            for f in outputs
        ]  # a tie is an error, as it is for two classes

    def _outputs(self, data: Dataset) -> np.ndarray:
        model = parse_descent(self.setting, self.data.n).model
        parts, X = self.params, jnp.asarray(data.X)
        return np.stack(
            [
                np.asarray(model({k: jnp.asarray(v[i]) for k, v in parts.items()}, X))
                for i in range(len(self.members))
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for one member, lists for an ensemble; what is not finite is None."""

        def one_or_all(values: list[Any]) -> Any:
            return values[0] if len(values) == 1 else values

        log_loss = self.measures["log_loss"][-1]
        with np.errstate(over="ignore", under="ignore"):
            loss = np.exp(log_loss)
        result = {
            "name": self.data.name,
            "n": self.data.n,
            "d": self.data.d,
            "loss": one_or_all(loss.tolist()),
            "log10_loss": one_or_all((log_loss / math.log(10)).tolist()),
            "train_error": one_or_all(self.train_error),
            "epochs": self.epoch,
            "outcome": one_or_all(list(self.outcomes)),
            "remarks": remarks(self),
            "seconds": self.seconds,
            "setting": self.setting.to_dict(),
            "seeds": [seed for seed, _ in self.members],
            "measures": {
                "epoch": self.epochs.tolist(),
                **{name: _squeeze(values).tolist() for name, values in self.measures.items()},
            },
        }
        if self.test_error is not None:
            result["test_error"] = one_or_all(self.test_error)
        if not self.data.binary:
            result["classes"] = [self.data.classes[k] for _, k in self.members if k is not None]
        return plain(result)

    def to_frame(self) -> Any:
        """The measures as a pandas DataFrame: a row for every epoch and member."""
        frames = []
        pandas = optional_import("pandas", "to_frame")
        for i, (seed, k) in enumerate(self.members):
            columns = {name: v[:, i] for name, v in self.measures.items() if v.ndim == 2}
            about: dict[str, Any] = {"seed": seed} if k is None else {"seed": seed, "class": k}
            frames.append(pandas.DataFrame({**about, "epoch": self.epochs, **columns}))
        return pandas.concat(frames, ignore_index=True)

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write a run folder, whole or not at all; an older run is replaced only with `force`."""
        save(self, path, force)

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Read a run folder; anything that is not exactly one is refused with what is wrong."""
        from tacit.training.run_reading import load

        return load(path)

    def _lines(self) -> list[str]:
        networks = count(len(self.members), "network")
        loss = self.measures["log_loss"][-1].max() / math.log(10)
        return [
            f"Run: {networks} on {printable(self.data.name)}, epoch {self.epoch}",
            f"{self.setting!r}",
            f"largest log₁₀ loss {loss:.4g}, largest training error {max(self.train_error):.3g}",
            f"ended: {', '.join(dict.fromkeys(self.outcomes))}; {self.seconds:.1f} s",
        ]


def _squeeze(values: np.ndarray) -> np.ndarray:
    return values[:, 0] if values.shape[1] == 1 else values


def remarks(run: Run) -> list[str]:
    """What a person should know about the end of the run, as sentences."""
    dead = run.measures.get("dead_neurons")
    if dead is None or run.setting.alpha != 0:
        return []  # a Leaky ReLU answers on both sides
    said = []
    for when, at_start in ((" from the start", True), ("", False)):
        which = (dead[-1] == run.setting.width) & ((dead[0] == run.setting.width) == at_start)
        seeds = [seed for (seed, _), chosen in zip(run.members, which, strict=True) if chosen]
        if seeds:
            named = ", ".join(map(str, dict.fromkeys(seeds)))
            advice = (
                "" if at_start else " A smaller step size, or data of a smaller scale, may help."
            )
            said.append(
                f"Dead network{when} (seed {named}): no neuron is active on any training point, "
                f"so no gradient moves it.{advice}"
            )
    return said


def save(run: Run, path: str | Path, force: bool = False) -> None:
    """Write the folder; an older run is replaced only with `force`."""
    arrays = {"epochs": run.epochs, **data_arrays(run.data)}
    arrays |= {f"state.{name}": array for name, array in run.state.items()}
    arrays |= {f"measure.{name}": array for name, array in run.measures.items()}
    packed = npz_bytes(arrays)
    about = {
        "tacit": tacit.__version__,
        "format": FORMAT,
        "setting": run.setting.to_dict(),
        "data": about_data(run.data),
        "members": run.members,
        "outcomes": run.outcomes,
        "seconds": run.seconds,
        "summary": {k: v for k, v in run.to_dict().items() if k not in ("setting", "measures")},
    }
    text = json.dumps(plain(about), indent=1, allow_nan=False)
    write_folder(path, {"run.json": text.encode(), "arrays.npz": packed}, force)


def about_data(data: Dataset) -> dict[str, Any]:
    """What the JSON of a folder says of its data."""
    return {
        "name": data.name,
        "classes": data.classes,
        "columns": data.columns,
        "names": list(data.names.items()),
        "parameters": data.parameters,
        **({} if data.test is None else {"test": about_data(data.test)}),
    }


def data_arrays(data: Dataset) -> dict[str, np.ndarray]:
    """The points of a folder's data."""
    arrays = {"X": data.X, "y": data.y}
    if data.test is not None:
        arrays |= {"test_X": data.test.X, "test_y": data.test.y}
    return arrays
