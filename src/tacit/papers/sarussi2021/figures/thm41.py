"""Theorem 4.1: SGD reaches every loss within a number of updates that is known beforehand."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.data import load
from tacit.papers.sarussi2021.figures import PAPER
from tacit.papers.sarussi2021.figures.trained_networks import (
    APART,
    TrainedSettings,
    log_spaced_epochs,
    measured,
    member_seeds,
    sgd,
)
from tacit.papers.sarussi2021.statements.risk import Constants, constants
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Tell, ours
from tacit.reproduction.claims import STATED, at_most, near
from tacit.theorems import Case
from tacit.training import train_many
from tacit.values import Dataset


@dataclass(frozen=True)
class Thm41(TrainedSettings):
    width: int = ours(20, "where it is not varied")
    v: float = ours(1.0, "only v·start and v²·lr matter")
    start: float = ours(1.0, "where it is not varied")
    lr: float = ours(0.01, "where it is not varied")
    widths: tuple[int, ...] = ours((2, 20, 200), "the theorem holds for every width,")
    starts: tuple[float, ...] = ours((1e-3, 1.0, 30.0), "every scale of the start")
    lrs: tuple[float, ...] = ours((1e-3, 1e-2, 1e-1), "and every step size")
    n: int = ours(40, "the bound grows like n⁴")
    d: int = ours(10, "of the data")
    margin: float = ours(0.5, "of the teacher")
    smallest: float = ours(1e-3, "the smallest loss ε that is waited for")
    epochs: int = ours(20000, "every run reaches it by then")
    runs: int = ours(3, APART)


QUICK = {"epochs": 2000, "smallest": 1e-2, "runs": 1}


def updates_needed(
    s: Thm41, data: Dataset, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Constants]:
    """The updates of the slowest run for each loss ε, M(n, ε), and what M is made of."""
    setting, at = sgd(s, s.start, s.lr), (0, *log_spaced_epochs(s.epochs, 60))
    many = train_many(data, setting, s.epochs, member_seeds(s, s.runs), at=at)
    below = np.exp(measured(many, data, "log_loss"))[:, :, None] < targets
    updates = np.where(below.any(axis=1), s.n * many.at[below.argmax(axis=1)], np.inf)
    R_0 = float(np.linalg.norm(many.weights["W"][0], axis=-1).max())
    known = constants(Case(data, setting))
    bound = np.array([known.updates(float(epsilon), R_0) for epsilon in targets])  # (26)
    return np.maximum(updates.max(axis=0), 1), bound, known


@PAPER.artefact("thm41", "Theorem 4.1, §4", Thm41, QUICK)
def thm41(s: Thm41, tell: Tell) -> Exhibit:
    """SGD reaches every loss ε, long before the M(n, ε) updates of Theorem 4.1.

    Solid lines: after how many updates the mean loss was below ε, the slowest of the runs. Dashed
    in the same colour: M(n, ε), the right side of (26) plus n, computed before training from the
    data, the initial weights and the step size. Each panel varies one of these; M hardly depends
    on the start. M ~ n⁴/ε² is a worst case: SGD needs less by seven orders of magnitude here, so
    that the claim on the bound could only fail if the bound were wrong by as much. This lies in the
    theorem; the exponents of M are claims of their own.
    """
    data = load(f"linear:n={s.n},d={s.d},margin={s.margin},seed={s.seed}")
    targets = np.geomspace(0.5, s.smallest, 25)
    arrays, ratios, late = {"epsilon": targets}, [0.0], 0
    figure, axes = new_figure(1, 3, size=(13.5, 4.4), sharey=True)
    panels: dict[str, tuple[float, ...]] = {"lr": s.lrs, "start": s.starts, "width": s.widths}
    for ax, (key, values) in zip(axes[0], panels.items(), strict=True):
        name = {"lr": "step size"}.get(key, key)
        for j, value in enumerate(values):
            tell(f"{name} {value:g}")
            varied: dict[str, Any] = {key: value}
            slowest, bound, known = updates_needed(replace(s, **varied), data, targets)
            reached = np.isfinite(slowest)
            late += int((~reached).sum())
            ratios += (slowest / bound)[reached].tolist()
            ax.plot(targets[reached], slowest[reached], c=f"C{j}", label=f"{value:g}")
            ax.plot(targets, bound, c=f"C{j}", ls="--")
            arrays |= {f"updates_{key}_{value:g}": slowest, f"bound_{key}_{value:g}": bound}
        ax.plot([], [], c="0.3", ls="--", label="M(n, ε)")
        ax.set(xscale="log", yscale="log", xlabel="mean loss ε", title=f"{name} is varied")
        ax.invert_xaxis()
        ax.legend(fontsize=8, loc="center right", title=name)
    axes[0, 0].set_ylabel("updates until the loss is below ε")
    small, large = np.geomspace(1e-7, 1e-6, 9), np.geomspace(1e6, 1e7, 9).round().astype(int)
    by_epsilon = _exponent(1 / small, np.array([known.updates(e, 1.0) for e in small]))
    by_n = _exponent(large, np.array([replace(known, n=n).updates(1e-3, 1.0) for n in large]))
    claims = (
        at_most("reached", "losses ε that SGD did not reach", float(late), 0.0, "reached"),
        at_most("bound", "updates of SGD relative to M(n, ε), largest", max(ratios), 1.0, STATED),
        near("epsilon", "M(n, ε) grows like (1/ε)^p: p for small ε", by_epsilon, 2.0, 0.01),
        near("n", "M(n, ε) grows like n^p: p for large n", by_n, 4.0, 0.01),
    )
    return Exhibit(claims, figure, arrays)


def _exponent(x: np.ndarray, values: np.ndarray) -> float:
    """The exponent p of values ~ x^p."""
    return float(np.polyfit(np.log(x), np.log(values), 1)[0])
