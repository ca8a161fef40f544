"""SGD drives the loss to zero, and how soon: Theorem 4.1 and the recursions of its proof."""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from tacit.data import load
from tacit.models.initialisations import Gaussian
from tacit.papers.sarussi2021.statements.hypotheses import data_checks, network_checks, units
from tacit.theorems import Case, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import by_slack, logistic, undecided, yes_or_no
from tacit.values import Check, Network, Setting

EPS = float(np.finfo(float).eps)
RARELY = 0.01
"""A Gaussian start may exceed the R₀ that is predicted for it with this probability."""


@dataclass(frozen=True)
class Constants:
    """What M(n, ε) is made of. `w_star` is ‖w*‖ of the shortest w* with y_i w*·x_i ≥ 1."""

    n: int
    k: int
    v: float
    alpha: float
    eta: float
    R_x: float
    w_star: float

    def growth(self) -> float:
        """What ‖W‖² gains in an update, at most."""
        return 2 * self.k * (self.eta * self.v * self.R_x) ** 2 + 2 * self.eta  # (15)

    def updates(self, epsilon: float, R_0: float) -> float:
        """M(n, ε): the right side of (26), plus n. Infinite for ε = 0."""
        n, k, v, alpha, eta = self.n, self.k, self.v, self.alpha, self.eta
        if epsilon <= 0:
            return math.inf
        s = 1 + (1 + 2 * (v * self.R_x) ** 2 * eta * k * n) / epsilon  # 1 + 1/ε₀
        z = self.w_star * n * s
        first = (self.R_x**2 + 1 / (k * eta * v**2)) * z**2 / alpha**2
        inner = R_0 * (8 * (k * eta * v * self.R_x) ** 2 + 8 * k * eta)
        second = math.sqrt(inner) * z**1.5 / (2 * k * (eta * v * alpha) ** 1.5)
        third = 2 * R_0 * z / (eta * v * alpha)
        return first + second + third + n  # (26)


def constants(case: Case) -> Constants:
    """Read the constants of Theorem 4.1 off a case; ‖w*‖ is one over the data's margin."""
    k, v = units(case)
    longest = float(np.linalg.norm(case.data.X, axis=1).max())
    lower = case.view.separator.margin_bounds.lower
    w_star = 1 / lower if lower > 0 else math.inf  # not known to be separable
    return Constants(case.data.n, k, v, case.alpha, case.setting.lr, longest, w_star)


def _one_update_too_many() -> Evidence:
    """(24) goes from W_t to W_{t+s}, s ≤ n, over updates (i_e−1)n+1, …, i_e n, of epoch i_e."""
    n, epoch = 5, 3
    first, last = (epoch - 1) * n, epoch * n  # t*_i − 1 of the point sampled first; the last update
    steps = [end - first for end in (last + 1, last)]
    words = (
        f"With n = {n}, i_e = {epoch} the point sampled first has t* − 1 = {first}: (24) must "
        f"reach {steps[0]} updates for T* = {last + 1} and {steps[1]} for T* = {last}; it holds "
        f"for {n}, and update {last + 1} is of the next epoch, where (11) says nothing."
    )
    return Evidence("corrected" if steps[0] > n == steps[1] else "printed", words)


@final
class RiskConverges(Theorem):
    """SGD with batches of one, each epoch without replacement, any η > 0, logistic loss, linearly
    separable data, ‖w_0⁽ⁱ⁾‖, ‖u_0⁽ⁱ⁾‖ ≤ R₀: for every ε > 0 there is t ≤ M(n, ε) with
    L_S(W_t) < ε, where M(n, ε) is (26) plus n, O(n⁴/ε²).

    (26) follows from its derivation; we take the shortest w*, which makes M smallest. A run that
    first goes below L at time t shows that t ≤ M(n, ε) for ε just above L. One that is recorded now
    and then shows it too where its records do; a late record alone refutes nothing.
    """

    id = "sarussi2021:thm4.1"
    source = Source("sarussi2021", "Theorem 4.1")
    summary = (
        "SGD on linearly separable data brings the loss of a Leaky ReLU network below any ε, "
        "within a number of updates that is known beforehand."
    )
    needs = "descent"
    tolerance = 0.0
    invariances = frozenset({"order", "rotation"})
    errata = (
        Erratum(
            "T* = i_e n + 1, before (25)",
            "T* = i_e n, the end of epoch i_e as the outline of the proof has it",
            _one_update_too_many,
        ),
    )

    def example(self) -> Case:
        return _example()

    def counterexample(self) -> tuple[Case, str]:
        case = _example()
        return Case(case.data, replace(case.setting, batch=2), case.start), "one_at_a_time"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*_sgd_checks(case), _bounded_start(case))

    def predict(self, case: Case) -> Prediction:
        known, R_0 = constants(case), largest_start(case)
        if known.w_star == math.inf:
            return Prediction("If the data is linearly separable, SGD reaches every mean loss ε.")
        values = {"R_x": known.R_x, "w_star": known.w_star}
        if R_0 is None:
            words = "SGD reaches every mean loss ε; within how many updates, the start will tell."
            return Prediction(words, values)
        late = math.log(2) / known.n
        bounds = {"R_0": R_0, "late": late}
        bounds |= {"updates_late": known.updates(late, R_0), "updates": known.updates(0.01, R_0)}
        words = (
            f"SGD brings the mean loss below (ln 2)/n = {late:.3g} within "
            f"{bounds['updates_late']:.2g} updates and below 0.01 within {bounds['updates']:.2g}."
        )
        return Prediction(words, values | bounds)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """max log(t/M(n, ε)) over the ε that the run was at or above until after time t."""
        if run is None or not run.path:
            return None
        known, R_0 = constants(case), _longest(run.start)
        times = [moment.time for moment in run.path]
        losses = [_mean_loss(case, moment.network) for moment in run.path]
        before = np.minimum.accumulate([math.inf, *losses])
        lowest = [j for j, loss in enumerate(losses) if loss < before[j]]
        worst = 0.0
        for j, then in zip(lowest, [*lowest[1:], len(losses) - 1], strict=True):
            bound = known.updates(losses[j], R_0)
            if times[then] > bound:
                if max(np.diff(times[j : then + 1]), default=0.0) > 1:
                    return None  # it may have been below in between
                worst = max(worst, math.log(times[then] / bound))
        return worst

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """Below each loss after half of the time that the theorem allows."""
        k, v = units(case)
        known, a = constants(case), np.repeat([v, -v], k)
        w = case.view.separator.direction / (v * k)
        networks = [case.start or Network(0 * np.repeat([w, w], k, axis=0), a, case.alpha)]
        networks += [Network(c * np.repeat([w, -w], k, axis=0), a, case.alpha) for c in (5.0, 10.0)]
        R_0, time, moments = _longest(networks[0]), 0.0, []
        for network in networks:
            loss = _mean_loss(case, network)
            moments.append(PathPoint(time, math.log(known.n * loss), network))
            time = float(math.floor(known.updates(loss, R_0) / 2))
        return Observation(tuple(moments), outcome="done")

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual > 0:
            return f"A loss was reached {math.exp(residual):.3g} times later than M(n, ε) allows."
        assert run is not None
        steps = run.path[-1].time
        return f"Every loss of the {steps:,.0f} updates was reached in time, M(n, ε) or sooner."


@final
class Recursions(Theorem):
    """With F(W) = Σ w⁽ʲ⁾·w* − Σ u⁽ʲ⁾·w* and G(W) = ‖W‖, an update on (x_t, y_t) with
    q = y_t N(x_t) obeys G² ≤ G₋² + 2η|ℓ'(q)|q + 2kη²v²R_x²|ℓ'(q)|² (13) and
    F ≥ F₋ + 2kηvα|ℓ'(q)| (14), where |ℓ'(q)| = 1 − e^(−ℓ(q)) (16). So ‖W‖² gains at most
    2kη²v²R_x² + 2η in an update (15), and F at least 2kηvα(1 − e^(−ε₀)) in an epoch with a loss
    above ε₀ (17), (18).

    Of two moments one update apart, some example must explain the change by (13) and (14); of
    others, G² may have grown by (15) for each update and F may not have fallen.
    """

    id = "sarussi2021:eq18"
    source = Source("sarussi2021", "Eq. 13–18")
    summary = (
        "In every update of SGD the weights grow at most by a known length, and their product "
        "with the separator grows at least by a known amount."
    )
    needs = "descent"
    tolerance = 1e-9
    invariances = frozenset({"order", "rotation"})

    def example(self) -> Case:
        return _example()

    def counterexample(self) -> tuple[Case, str]:
        case = _example()
        return Case(case.data, replace(case.setting, rule="adam"), case.start), "sgd"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return _sgd_checks(case)

    def predict(self, case: Case) -> Prediction:
        known = constants(case)
        least = 2 * known.k * known.eta * known.v * known.alpha
        words = (
            f"In every update ‖W‖² grows by at most {known.growth():.3g}, and the product with the "
            f"separator by at least {least:.3g} |ℓ'|."
        )
        return Prediction(words, {"growth": known.growth(), "progress": least})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or len(run.path) < 2:
            return None
        known = constants(case)
        if known.w_star == math.inf:
            return None
        steps = zip(run.path, run.path[1:], strict=False)
        return max(0.0, *(self._excess(case, known, *step) for step in steps))

    def _excess(self, case: Case, known: Constants, one: PathPoint, other: PathPoint) -> float:
        least = 2 * known.k * known.eta * known.v * known.alpha
        W, after = one.network.W, other.network.W
        rounding = 4 * EPS * float(np.linalg.norm(np.vstack([W, after])))  # of the weights
        grown = float(np.sum((after - W) * (after + W))) - rounding * float(np.linalg.norm(after))
        risen = _along(case, known, other.network) - _along(case, known, one.network)
        risen += rounding * known.w_star * math.sqrt(2 * known.k)
        updates = other.time - one.time
        if updates != 1:
            most = max(updates, 1) * known.growth()
            return max(grown / most - 1, -risen / least)  # (15), (17)
        q = one.network.margins(case.data.X, case.data.y)
        slope = -np.expm1(-np.logaddexp(0, -q))  # (16)
        allowed = 2 * known.eta * slope * q + (known.growth() - 2 * known.eta) * slope**2
        too_long = (grown - allowed) / known.growth()  # (13)
        too_little = slope - risen / least  # (14)
        return float(np.maximum(too_long, too_little).min())

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """Two epochs, by the update rule of App. B."""
        k, v = units(case)
        W = np.zeros((2 * k, case.data.d)) if case.start is None else case.start.W
        a, n = np.repeat([v, -v], k), case.data.n
        moments = [_moment(case, 0, W, a)]
        for t in range(2 * n):
            W = _updated(W, a, case.data.X[t % n], int(case.data.y[t % n]), case)
            moments.append(_moment(case, t + 1, W, a))
        return Observation(tuple(moments), outcome="done")

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "Every recorded step obeys the recursions."
        return f"A step breaks them by {residual:.2g} of what it may do."


def largest_start(case: Case) -> float | None:
    """R₀; before the weights are drawn, one that few Gaussian starts exceed."""
    if case.start is not None:
        return _longest(case.start)
    init = case.setting.initialisation
    if not isinstance(init, Gaussian):
        return None
    from scipy.stats import chi2

    # ‖w‖²/σ² is χ² with d degrees of freedom, for each of the m neurons.
    return init.sigma * math.sqrt(chi2.isf(RARELY / case.setting.width, case.data.d))


def _sgd_checks(case: Case) -> tuple[Check, ...]:
    rule, batch, step = case.setting.rule, case.setting.batch or 1, case.setting.step
    return (
        *network_checks(case),
        *data_checks(case),
        logistic(case, "§3"),
        yes_or_no("sgd", rule == "sgd", "§3", f"the rule is {rule}"),
        by_slack("one_at_a_time", 1 - batch, "§3", f"batches of {batch}"),
        yes_or_no("constant_step", step == "constant", "§3", f"the step is {step}"),
    )


def _bounded_start(case: Case) -> Check:
    R_0 = largest_start(case)
    if R_0 is None:
        return undecided("bounded_start", "§4", "the initial weights have not been drawn")
    drawn = "" if case.start is not None else f" (with probability {1 - RARELY:.0%})"
    return by_slack("bounded_start", 0.0, "§4", f"R₀ = {R_0:.3g}{drawn}; any R₀ will do")


def _example() -> Case:
    data = load("gaussians:n=10,d=3,seed=0")
    rng = np.random.default_rng(0)
    setting = Setting(
        activation="leaky:0.3", train="first", width=6, init="gaussian:0.1", rule="sgd", lr=0.1
    )
    start = Network(0.1 * rng.standard_normal((6, 3)), np.repeat([1.0, -1], 3), 0.3)
    return Case(data, setting, start)


def _longest(network: Network) -> float:
    return float(np.linalg.norm(network.W, axis=1).max())


def _mean_loss(case: Case, network: Network) -> float:
    q = network.margins(case.data.X, case.data.y)
    return float(np.logaddexp(0, -q).mean())  # (2)


def _along(case: Case, known: Constants, network: Network) -> float:
    """The sum F(W) of the recursions."""
    return float(np.sign(network.a) @ network.W @ case.view.separator.direction) * known.w_star


def _moment(case: Case, time: float, W: np.ndarray, a: np.ndarray) -> PathPoint:
    network = Network(W, a, case.alpha)
    return PathPoint(time, math.log(case.data.n * _mean_loss(case, network)), network)


def _updated(W: np.ndarray, a: np.ndarray, x: np.ndarray, y: int, case: Case) -> np.ndarray:
    """One update of SGD on (x, y); σ'(0) = α."""
    slope = 1 / (1 + math.exp(y * Network(W, a, case.alpha).outputs(x[None])[0]))
    active = np.where(W @ x > 0, 1.0, case.alpha)
    return W + case.setting.lr * y * slope * np.outer(a * active, x)
