"""Following the flow again: from smaller weights, with smaller steps, on data that is nearly it."""

import math
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from tacit.explanation.observation import observe, observe_path
from tacit.flow.ending import binary_limit
from tacit.flow.exponential_tail import tail_of
from tacit.flow.follow import begin
from tacit.flow.path import Path, PathEnd
from tacit.flow.state import OutOfTime
from tacit.flow.tolerances import PATH, SMALLER_STEPS, PathTolerances
from tacit.theorems import Case, Observation
from tacit.values import Dataset, Network

MOVED = 1e-6
"""The share of its length by which a point is moved: what is tied, or nearly so, is not after."""
LEAST_SECONDS = 0.05
"""A run that has no more time than this is not begun."""


@dataclass
class OtherRuns:
    """Runs of other cases than the one that is explained; each is made when it is asked for."""

    case: Case
    """What is explained, with initial weights."""
    log10_loss: float
    """How far paths are followed."""
    deadline: float
    """The moment of `perf_counter` at which the last run has ended; then `OutOfTime` is raised."""
    interrupted: bool = False
    """Whether a KeyboardInterrupt ended a run; then no other is begun."""
    _made: dict[str, tuple[Case, Observation]] = field(default_factory=dict, repr=False)

    def scaled(self, factor: float, early: bool = False) -> tuple[Case, Observation]:
        """The same initial directions, and weights that are `factor` times as large.

        With `early`, the path ends when the loss has begun to fall.
        """
        start = self.case.given_start
        a = factor * start.a if self.case.both else start.a
        case = replace(self.case, start=replace(start, W=factor * start.W, a=a))
        return self._run(f"scaled:{factor}", case, early=early)

    def with_smaller_steps(self) -> tuple[Case, Observation]:
        """The same case, with smaller errors of each step."""
        return self._run("steps", self.case, SMALLER_STEPS)

    def turned(self) -> tuple[Case, Observation]:
        """Smaller steps, other coordinates, and the neurons in another order."""
        return self._run("turned", in_other_coordinates(self.case), SMALLER_STEPS)

    def moved(self) -> tuple[Case, Observation]:
        """Every point a little beside its place."""
        return self._run("moved", beside(self.case))

    def _run(
        self, name: str, case: Case, errors: PathTolerances = PATH, early: bool = False
    ) -> tuple[Case, Observation]:
        if name not in self._made:
            self._made[name] = case, self._follow(case, errors, early)
        return self._made[name]

    def _follow(self, case: Case, errors: PathTolerances, early: bool) -> Observation:
        data = case.data
        parts = [data] if data.binary else [data.one_vs_rest(k) for k in range(len(data.classes))]
        members = []
        for k, part in enumerate(parts):
            left = (self.deadline - perf_counter()) / (len(parts) - k)
            if left < LEAST_SECONDS or self.interrupted:
                raise OutOfTime
            if early:
                path = _early_path(replace(case, data=part), left)
                run = observe_path(path, case.alpha)
            else:
                end = binary_limit(
                    part,
                    case.setting,
                    log10_loss=self.log10_loss,
                    seconds=left,
                    start=case.start,
                    errors=errors,
                )
                path, run = end.path, observe(end)
            self.interrupted = path.end is PathEnd.INTERRUPTED
            if path.out_of_time or self.interrupted:
                raise OutOfTime
            members.append(run)
        return members[0] if data.binary else Observation((), members=tuple(members))


def _early_path(case: Case, seconds: float) -> Path:
    """The path until the loss is a hundredth of what it was, or it ends."""
    start, kind = case.given_start, tail_of(case.setting.loss)
    flow = begin(case.data.X, case.data.y, case.alpha, start.W, start.a, case.both, kind)
    return flow.run(flow.moments[0].log_L - math.log(100), seconds)


def in_other_coordinates(case: Case) -> Case:
    """Data and weights turned by one rotation, and the neurons in another order."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((case.data.d, case.data.d)))[0]
    start = case.start
    if start is not None:
        order = rng.permutation(start.width)
        start = Network(start.W[order] @ Q, start.a[order], start.alpha)
    return _with_points(case, case.data.X @ Q, start)


def beside(case: Case) -> Case:
    """The case with every point moved by `MOVED` of its length, in a direction of its own."""
    X = case.data.X
    steps = np.random.default_rng(0).standard_normal(X.shape)
    lengths = np.linalg.norm(X, axis=1) / math.sqrt(X.shape[1])
    return _with_points(case, X + MOVED * lengths[:, None] * steps, case.start)


def _with_points(case: Case, X: np.ndarray, start: Network | None) -> Case:
    old = case.data
    return Case(Dataset(X, old.y, old.name, old.classes), case.setting, start)
