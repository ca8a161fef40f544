"""The max-margin problem as a convex program, its dual, and the numbers of Appendix F."""

import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from tacit.data import load
from tacit.messages import count
from tacit.numerics.arrangements import TooManyCells, cells, cover
from tacit.numerics.restricted import Groups, restricted_program
from tacit.papers.wang2022.statements.hypotheses import network_checks
from tacit.papers.wang2022.statements.outputs import binary_problems
from tacit.papers.wang2022.statements.widest_margin import network_fits, optimum_of
from tacit.theorems import Case, Estimate, Observation, Prediction, Source, Theorem
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import by_slack, two_classes, yes_or_no
from tacit.values import Check, Dataset, Network, Setting

MOST_CELLS = 200
"""Cells up to which (14) is written out."""


class Primal(NamedTuple):
    """A solution of (14)."""

    value: float
    """Σ‖u‖, scaled so that the smallest margin is 1: a bound of the optimum from above."""
    neurons: np.ndarray
    signs: np.ndarray


def written_out(data: Dataset) -> Primal | None:
    """Solve (14) with every cell written out; None when there are too many."""
    if cover(data.n, np.linalg.matrix_rank(data.X)) > MOST_CELLS:
        return None
    try:
        patterns = cells(data.X, MOST_CELLS)
    except TooManyCells:
        return None
    sign = np.repeat([1, -1], len(patterns))
    pattern = np.vstack([patterns, patterns])
    groups = Groups(sign, pattern, np.ones(pattern.shape, dtype=bool))
    longest = float(np.linalg.norm(data.X, axis=1).max())
    unit = math.ldexp(1.0, math.frexp(longest)[1])  # a power of two: nothing is rounded
    X = data.X / unit
    program = restricted_program(X, data.y.astype(float), 0.0, groups, precision=1e-12)  # (14)
    if program is None:
        return None
    q = Network(program.V, sign).margins(X, data.y)
    if not q.min() > 0:
        return Primal(math.inf, program.V, sign)
    V = program.V / q.min() / unit
    sizes = np.linalg.norm(V, axis=1)
    # An interior point leaves remainders of neurons that the optimum does not have.
    kept = sizes > 1e-6 * sizes.sum()
    return Primal(float(sizes.sum()), V[kept], sign[kept])


class _Convex(Theorem):
    """Propositions 1 and 2 differ in the number of outputs."""

    needs = "data"
    tolerance = 1e-6
    invariances = frozenset({"rotation"})

    def predict(self, case: Case) -> Prediction:
        best = optimum_of(case.data)
        if best is None:
            return Prediction("The network with the widest margin solves a convex program.")
        neurons = sum(network.width for network in best.networks)
        lower, upper = best.objective_bounds
        words = (
            f"The convex program and its dual have the value {upper:.6g}, so the widest "
            f"margin is {best.margin:.6g}; {count(neurons, 'neuron')} can have it."
        )
        if best.status != "certified":
            words = (
                f"The value of the convex program is between {lower:.6g} and "
                f"{upper:.6g}; so is that of its dual."
            )
        values = {"lower": lower, "upper": upper, "margin": best.margin}
        return Prediction(words, values)

    def residual(
        self, prediction: Prediction, case: Case, run: Observation | None
    ) -> Estimate | None:
        """Primal over all cells against the dual bound, which is proved by itself.

        Where the bounds of the optimum are apart, so may be primal and dual: that is the error. So
        is what the solver misses of the upper bound, which a network reaches.
        """
        if "lower" not in prediction.values:
            return None
        total = 0.0
        for data in binary_problems(case.data):
            primal = written_out(data)
            if primal is None:
                return None
            total += primal.value
        lower, upper = prediction.values["lower"], prediction.values["upper"]
        reason = f"the optimum is only known to be between {lower:.6g} and {upper:.6g}"
        return Estimate(abs(total - lower) / total, (max(total, upper) - lower) / total, reason)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            "The convex program with all sets of points that a neuron can see written out, and its "
            f"dual, have the same value up to {residual:.1e} of it."
        )


class Proposition1(_Convex):
    """K classes: the max-margin problem (5) is equivalent to a convex program.

    min Σ_k Σ_j ‖u_jk‖ + ‖u'_jk‖ such that diag(y_k) Σ_j D_j X (u_jk − u'_jk) ≥ 1 and u_jk, u'_jk
    in the cell of D_j (7). Its dual is max tr(ΛᵀY) such that diag(y_k)λ_k ≥ 0 and
    |λ_kᵀ(Xw)₊| ≤ 1 for all ‖w‖ ≤ 1 (8); both have the same value. The classes do not interact.
    """

    id = "wang2022:prop1"
    source = Source("wang2022", "Proposition 1")
    summary = (
        "The network with the widest margin, for any number of classes, solves a convex program."
    )

    def example(self) -> Case:
        return Case(load("orthogonal_classes:n=6,d=2,classes=3,seed=1"), Setting())

    def counterexample(self) -> tuple[Case, str]:
        return Case(_contradiction(("a", "b", "c"), [0, 1, 2, 0]), Setting()), "network_fits"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        checks = network_checks(case, "§2")
        return (*checks, network_fits(case, "(5)"))


class Proposition2(_Convex):
    """Two classes: min ½(‖W‖² + ‖a‖²) such that y_i f(x_i) ≥ 1 (13) is a convex program.

    min Σ_j ‖u_j‖ + ‖u'_j‖ such that Y Σ_j D_j X (u'_j − u_j) ≥ 1, with u_j, u'_j in the cell of
    D_j (14). Its dual is max yᵀλ such that Yλ ≥ 0, max_{‖u‖≤1} |λᵀ(Xu)₊| ≤ 1 (15); there is no gap.
    """

    id = "wang2022:prop2"
    source = Source("wang2022", "Proposition 2")
    summary = "The network with the widest margin solves a convex program."

    def example(self) -> Case:
        return Case(load("linear:n=6,d=2,seed=3"), Setting())

    def counterexample(self) -> tuple[Case, str]:
        return Case(_contradiction((), [1, 1, -1, -1]), Setting()), "network_fits"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        checks = network_checks(case, "§1.2")
        return (two_classes(case, "§3"), *checks, network_fits(case, "(13)"))


def _contradiction(classes: tuple[str, ...], y: list[int]) -> Dataset:
    """The last point is the second again, with another label."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 1.0]])
    return Dataset(X, np.array(y), "contradiction", classes)


class _Numbers(Theorem):
    """Optimal neurons that the paper prints.

    The residual may be the root of what (14) is solved to, 1e-12: the value is flat around them.
    """

    needs = "data"
    tolerance = 1e-6
    dataset: ClassVar[str]

    def example(self) -> Case:
        return Case(load(self.dataset), Setting())

    def counterexample(self) -> tuple[Case, str]:
        X = load(self.dataset).X
        return Case(Dataset(X + [[0.01, 0.0], [0.0, 0.0]], load(self.dataset).y), Setting()), "data"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        data, own = case.data, load(self.dataset)
        place = self.source.place.partition(",")[0]
        same = data.X.shape == own.X.shape and bool((data.y == own.y).all()) and data.binary
        if same:
            far = float(np.abs(data.X - own.X).max())
            note = f"an entry differs by {far:.2g} from the two points of {place}"
            check = by_slack("data", -far, self.source.place, note)
        else:
            check = yes_or_no("data", False, self.source.place, f"not the two points of {place}")
        return (*network_checks(case, "§1.2"), check)

    def predict(self, case: Case) -> Prediction:
        V, sign = self.neurons(case.data)
        text = " and ".join(f"({v[0]:.4f}, {v[1]:.4f})" for v in V)
        words = f"The optimal {'neurons are' if len(V) > 1 else 'neuron is'} {text}."
        sizes = np.linalg.norm(V, axis=1)
        directions = zip(sign.tolist(), V / sizes[:, None], strict=True)
        return Prediction(words, {"neurons": V, "sign": sign}, tuple(directions))

    @staticmethod
    @abstractmethod
    def neurons(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        """The neurons in closed form: |a_k| w_k and the sign of a_k."""

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The distance from the solution of (14) over all cells."""
        solved = written_out(case.data)
        if solved is None or len(solved.neurons) != len(prediction.values["sign"]):
            return None if solved is None else 1.0
        order = np.argsort(-solved.signs)
        off = np.linalg.norm(solved.neurons[order] - prediction.values["neurons"], axis=1)
        same = bool((solved.signs[order] == prediction.values["sign"]).all())
        size = np.linalg.norm(prediction.values["neurons"], axis=1)
        return float((off / size).max()) if same else 1.0

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Solving the convex program gives these neurons up to {residual:.1e} of them."


def _solved(dataset: str) -> np.ndarray:
    """The neurons of (14), those with a > 0 first."""
    solved = written_out(load(dataset))
    assert solved is not None
    return solved.neurons[np.argsort(-solved.signs)]


def _first_entry() -> Evidence:
    u = float(_solved("wang2022_f1")[0, 0])
    words = f"Solving (14) over all cells gives {u:.4f}."
    return Evidence("corrected" if abs(u - 0.5606) < abs(u - 0.58) else "printed", words)


class Equation128(_Numbers):
    """(128): for the two points of App. F.1, y = (1, −1), the optimal neurons of (14) are

    (0.5606, −0.1597) with a > 0 and (−0.2300, 0.6607) with a < 0: x_i/‖x_i‖², since the data is
    orthogonally separable and each class has one point.
    """

    id = "wang2022:eq128"
    source = Source("wang2022", "App. F.1, (128)")
    summary = (
        "For the two points of App. F.1 the optimal neurons are the points, each divided by the "
        "square of its length."
    )
    dataset = "wang2022_f1"
    errata = (Erratum("u = (0.58, −0.16) in (128)", "u = (0.5606, −0.1597)", _first_entry),)

    @staticmethod
    def neurons(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        return data.X / (data.X**2).sum(axis=1)[:, None], np.array([1, -1])


def _is_spike_free() -> Evidence:
    check = Case(load("wang2022_f2"), Setting()).data_check("spike_free", "Definition 2")
    words = f"Spike-free is {str(check.holds).lower()} with slack {check.slack:.1e}: {check.note}."
    return Evidence("corrected" if check.holds else "printed", words)


class Equation130(_Numbers):
    """(130): for the two points of App. F.2, y = (1, 1), the optimal neuron of (14) is

    (0.4386, 0.5881), the solution of Xu = 1. The data is spike-free. Printed is (0.43, 0.59), which
    may come from more digits of X than are printed: entries that round to these allow 0.4349.
    """

    id = "wang2022:eq130"
    source = Source("wang2022", "App. F.2, (130)")
    summary = "For the two points of App. F.2 one neuron is optimal, with margin 1 on both."
    dataset = "wang2022_f2"
    errata = (
        Erratum(
            "“a non-spike-free dataset” (text of F.2, Fig. 8 to 10)",
            "the data is spike-free, as the heading of F.2 says",
            _is_spike_free,
        ),
    )

    @staticmethod
    def neurons(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        return np.linalg.solve(data.X, np.ones(2))[None], np.array([1])
