"""What tests of the papers' statements share: flows, verdicts, single hypotheses, changed data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.explanation.observation import observe
from tacit.flow import limit
from tacit.theorems import Case, Check, Observation, Verdict, judge, theorem
from tacit.values import Dataset, Setting


def flow_of(case: Case, seed: int = 0) -> Observation:
    """The gradient flow from the case's start, or from a random one."""
    return observe(limit(case.data, case.setting, seed=seed, start=case.start))


def judged(id: str, case: Case, run: Observation | None = None) -> Verdict:
    """The verdict on a theorem, `lyu2021:thm4.3`."""
    return judge(theorem(id), case, run)


def hypothesis(id: str, case: Case, name: str, run: Observation | None = None) -> Check:
    """One hypothesis of a theorem by its name."""
    return next(check for check in theorem(id).hypotheses(case, run) if check.name == name)


def with_data(case: Case, X: np.ndarray, y: np.ndarray) -> Case:
    """The case with other points."""
    return replace(case, data=Dataset(X, y), _properties={})


def flow_setting(
    activation: str = "leaky:0.5", width: int = 4, init: str | None = "balanced:1e-3"
) -> Setting:
    """Gradient flow on both layers."""
    return Setting(activation=activation, width=width, init=init, rule="flow")


def up_to(run: Observation, log10_loss: float) -> Observation:
    """The run as if it had ended when the loss was that large; its limit is not known then."""
    early = [m for m in run.path if m.log_loss >= log10_loss * np.log(10)]
    return Observation(tuple(early or run.path[:1]), None, run.outcome, events=run.events)
