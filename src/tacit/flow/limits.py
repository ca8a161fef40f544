"""What `limit` returns: where gradient flow ends, with the evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tacit.certificates.certificate import Certificate, worst_of
from tacit.certificates.kkt import KKT
from tacit.certificates.proved_end import ProvedEnd
from tacit.flow.early import Early, early
from tacit.flow.embedding import embedding
from tacit.flow.exponential_tail import tail_of
from tacit.flow.path import Path, PathEnd
from tacit.flow.path_measures import Measures, along
from tacit.messages import count, printable
from tacit.numerics.float64 import LN10
from tacit.proofs import Verification
from tacit.values import BadInput, Dataset, Group, Network, Outcome, Result, Setting
from tacit.values.jsonable import plain

ROUNDING = 1e-12
"""Angles (rad) and entries of unit vectors up to this are round-off."""
EVENT_NOUNS = {"cross": "crossing", "die": "death"}
"""Words for kinds of events, where the kind itself is no noun."""


@dataclass(frozen=True, eq=False, repr=False)
class Limit(Result):
    """Where gradient flow of one network on binary data ends.

    Only the outcomes `proved` and `converged` claim a limit; with any other `groups` is empty, and
    `network`, `kkt`, `certificate` and `proved` are None.

    Attributes
    ----------
    setting, data, seed : Setting, Dataset, int
        What was asked for.
    outcome : Outcome
        What became of the path.
    reason : str
        One sentence: the evidence for the outcome.
    path : Path
        The moments and events of the flow.
    groups : tuple of Group
        Neurons that end in one direction; their weights are those of `network`.
    network : Network or None
        The limit as a network of the same neurons, scaled so that the smallest margin is 1.
    kkt : KKT or None
        Residuals of the KKT conditions at the limit.
    certificate : Certificate or None
        Where the limit's margin stands among those of all networks.
    proved : ProvedEnd or None
        Between which bounds the margin can only end, and where the weight.
    approach : array of shape (T, 2)
        log₁₀ loss, and the angle between the path's weights there and those of the limit.
    fitted_rate : float or None
        r of the fit angle ~ log(1/L)^(−r) over the late path.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import tacit
    >>> tacit.limit("xor", tacit.Setting(width=20)).network.width
    20
    """

    setting: Setting
    data: Dataset
    seed: int
    outcome: Outcome
    reason: str
    path: Path
    groups: tuple[Group, ...]
    network: Network | None
    kkt: KKT | None
    certificate: Certificate | None
    proved: ProvedEnd | None
    approach: np.ndarray
    fitted_rate: float | None
    seconds: float

    @property
    def margin(self) -> float | None:
        """The normalised margin q_min/‖θ‖^L of the limit."""
        return self.kkt.margin if self.kkt is not None else None

    @property
    def log10_loss(self) -> float:
        """log₁₀ of the loss (sum over the samples) down to which the path was followed.

        Where that is below −10²⁵¹, which floating point soon cannot hold, `log10_depth` has it.
        """
        return self.path.last.log_L / LN10

    @property
    def log10_depth(self) -> float | None:
        """log₁₀ of log₁₀(1/loss) there, at any depth; None while the loss is above 1."""
        return self.path.last.log10_depth if self.path.last.log_L < 0 else None

    @property
    def rate(self) -> float | None:
        """The fitted rate; None where the path has arrived, up to round-off."""
        late = self.approach[-1:, 1]
        return self.fitted_rate if late.size and late[0] > ROUNDING else None

    @property
    def interrupted(self) -> bool:
        """Whether a KeyboardInterrupt ended the path."""
        return self.path.end == PathEnd.INTERRUPTED

    @property
    def each(self) -> tuple[Limit, ...]:
        """One limit per network: this one."""
        return (self,)

    @property
    def worst(self) -> Limit:
        """The limit that a summary speaks of: this one."""
        return self

    @property
    def last_network(self) -> Network:
        """The network at the end of the path, which is not rescaled."""
        state = self.path.last.state
        return Network(state.W, state.a, self.setting.alpha)

    @property
    def events(self) -> dict[str, int]:
        """The number of events of each kind along the path."""
        return dict(sorted(Counter(event.what for event in self.path.events).items()))

    @property
    def test_error(self) -> float | None:
        """The share of test points that the limit does not give their label."""
        if self.data.test is None or self.network is None:
            return None
        return self.network.error(self.data.test.X, self.data.test.y)

    @cached_property
    def measures(self) -> Measures:
        """Loss, time and margins along the path."""
        return along(self.path, tail_of(self.setting.loss))

    @cached_property
    def early_phase(self) -> Early | None:
        """The early phase of the path; None when the initial outputs are too large for one."""
        return early(self.path, tail_of(self.setting.loss))

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit limit --json`."""
        setting, kkt, best, proved = self.setting, self.kkt, self.certificate, self.proved
        result = {
            "name": self.data.name,
            "n": self.data.n,
            "d": self.data.d,
            "activation": str(setting.activation),
            "train": setting.train,
            "width": setting.width,
            "init": str(setting.initialisation),
            "output_weight": setting.output_weight if setting.train == "first" else None,
            "loss": str(setting.loss),
            "seed": self.seed,
            "outcome": str(self.outcome),
            "reason": self.reason,
            "log10_loss": self.log10_loss,
            "log10_depth": self.log10_depth,
            "log10_time": self.path.last.log_t / LN10,
            "margin": self.margin,
            "groups": [group.to_dict() for group in self.groups],
            "kkt": None
            if kkt is None
            else {
                "stationarity": kkt.stationarity,
                "feasibility": kkt.feasibility,
                "complementarity": kkt.complementarity,
            },
            "optimal_margin": best.margin_bounds.lower if best else None,
            "optimal_margin_upper": best.margin_bounds.upper if best else None,
            "optimality": str(best.optimality) if best else None,
            "gap": best.shortfall if best else None,
            "proved_margin": list(proved.margin_bounds) if proved else None,
            "proved_angle": proved.angle if proved else None,
            "proved_share": proved.share if proved else None,
            "proved_log10_loss": proved.log10_loss if proved else None,
            "path_to_limit": self.approach,
            "rate": self.rate,
            "events": self.events,
            "early": self._early_as_dict(),
            "smoothed_margin_falls": len(self.measures.falls),
            "steps": self.path.steps,
            "drift": self.path.drift,
            "seconds": self.seconds,
        }
        if self.data.test is not None:
            result["test_error"] = self.test_error
        return plain(result)

    def _early_as_dict(self) -> dict[str, Any] | None:
        """The early phase, with what lyu2021 Lemma 5.2 says of symmetric data; else None."""
        if self.early_phase is None:
            return None
        try:
            known = embedding(self.path.moments[0].state, tail_of(self.setting.loss))
        except BadInput:
            lemma = None
        else:
            lemma = {"growth_rate": known.rate, "good": known.good, "b": known.b}
        return {**self.early_phase.to_dict(), "embedding": lemma}

    def to_frame(self) -> Any:
        """A pandas DataFrame of the way to the limit, with the columns log10_loss and angle."""
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError:
            raise BadInput("to_frame needs pandas; install it, or use to_dict()") from None
        return pandas.DataFrame(self.approach, columns=["log10_loss", "angle"])

    def proof(self, seconds: float = math.inf) -> tuple[bytes, Verification]:
        """The bytes of a file that proves `proved`, for `tacit verify`, and what they prove.

        After about so many seconds it proves less.
        """
        from tacit.certificates import limit_proof_of

        tail = tail_of(self.setting.loss)
        return limit_proof_of(self.data, self.setting, tail, [self.proved], seconds)

    def save(self, path: str | FilePath, force: bool = False) -> None:
        """Write a folder with the limit and the path, which `load` and `tacit certify` take.

        Parameters
        ----------
        path : str or Path
            The folder.
        force : bool, default False
            Replace a folder that `save` has written before.
        """
        from tacit.flow.limit_folder import save

        save(self, path, force)

    @classmethod
    def load(cls, path: str | FilePath) -> Any:
        """Read a folder that `save` has written; anything that is not exactly one is refused.

        Parameters
        ----------
        path : str or Path
            The folder.

        Returns
        -------
        Limit, or Limits for more than two classes
            The same `to_dict()`, network and pictures; of a long path at most 400 moments.
        """
        from tacit.flow.limit_folder import load

        return load(path)

    def _lines(self) -> list[str]:
        s = self.setting
        lines = [
            f"Limit of gradient flow on {printable(self.data.name)}: {self.outcome}",
            f"{s.activation}, width {s.width}, {layers_text(s)} trained, seed {self.seed}",
            self.reason or self.outcome.sentence,
        ]
        if self.outcome is Outcome.PROVED and self.proved is not None:
            lines[-1] = f"Proved: {self.proved.brief}."
        if self.certificate is not None:
            directions = count(len(self.groups), "direction")
            lines.append(f"{directions} of neurons, normalised margin {self.margin:.6g}")
            lines.append(self.certificate.verdict)
        return lines


@dataclass(frozen=True, eq=False, repr=False)
class Limits(Result):
    """Where the networks end that separate each class from the rest.

    Iterating gives the limits in the order of the classes.

    Attributes
    ----------
    data : Dataset
        All classes.
    each : tuple of Limit
        One limit per class; those of the last classes are missing after an interrupt.
    interrupted : bool
        Whether a KeyboardInterrupt ended the search.

    Examples
    --------
    >>> import tacit
    >>> len(tacit.limit("orthogonal_classes:n=6,d=3", tacit.Setting(width=6)))
    3
    """

    data: Dataset
    each: tuple[Limit, ...]
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.each)

    def __getitem__(self, k: int) -> Limit:
        return self.each[k]

    @property
    def worst(self) -> Limit:
        """The limit that a summary speaks of; see `index_of_worst`."""
        return self.each[index_of_worst(self.each)]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit limit --json`: the worst network, and all of them in `networks`."""
        networks = [
            one.to_dict() | {"class": label}
            for one, label in zip(self.each, self.data.classes, strict=False)
        ]
        return {
            **networks[index_of_worst(self.each)],
            "classes": list(self.data.classes),
            "networks": networks,
            "name": self.data.name,
            "seconds": sum(one.seconds for one in self.each),
        }

    def save(self, path: str | FilePath, force: bool = False) -> None:
        """Write a folder with the limits and paths; see `Limit.save`."""
        from tacit.flow.limit_folder import save

        save(self, path, force)

    def proof(self, seconds: float = math.inf) -> tuple[bytes, Verification]:
        """The bytes of a file that proves what is proved of each network; see `Limit.proof`."""
        from tacit.certificates import limit_proof_of

        setting = self.each[0].setting
        ends = [one.proved for one in self.each]
        return limit_proof_of(self.data, setting, tail_of(setting.loss), ends, seconds)

    load = Limit.load

    def _lines(self) -> list[str]:
        outcomes = Counter(str(one.outcome) for one in self.each)
        said = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items())
        classes = count(len(self.data.classes), "class", "classes")
        label = self.data.classes[index_of_worst(self.each)]
        _, setting, *rest = self.worst._lines()
        return [
            f"Limits of gradient flow on {printable(self.data.name)}, {classes}: {said}",
            setting,
            f"{printable(label)} against the rest: {rest[0]}",
            *rest[1:],
        ]


def layers_text(setting: Setting) -> str:
    """The layers that are trained, in words."""
    return "both layers" if setting.train == "both" else "first layer"


def index_of_worst(limits: Sequence[Limit]) -> int:
    """The first that did not converge, else the one that may be furthest below the optimum."""
    for k, one in enumerate(limits):
        if not one.outcome.settled:
            return k
    certificates = [one.certificate for one in limits]
    if None in certificates:
        return certificates.index(None)
    return worst_of([one for one in certificates if one is not None])
