"""Where the flow ends on orthogonally separable data: Theorem 4, and what is left of Theorem 2."""

import math
from dataclasses import replace

import numpy as np

from tacit.certificates import certify, optimum
from tacit.data import load
from tacit.numerics.class_margin import class_margin
from tacit.papers.wang2022.statements.gradients import matching_slacks
from tacit.papers.wang2022.statements.hypotheses import FLOW, balanced_network, flow_checks
from tacit.papers.wang2022.statements.limit_points import WITHOUT_LIMIT, ended_at, margin_of
from tacit.papers.wang2022.statements.outputs import (
    binary_problems,
    runs_of_outputs,
    starts_of_outputs,
)
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses.checks import by_slack, needs_a_run, undecided
from tacit.theorems.hypotheses.setting import two_classes
from tacit.theorems.hypotheses.start import small_start
from tacit.values import Check, Dataset, Network


def both_match(case: Case, run: Observation | None, place: str) -> Check:
    """For each label s some neuron has sign(yᵀ(Xw)₊) = sign(a) = s at the start (9)."""
    name, starts = "matching_neurons", starts_of_outputs(case, run)
    if starts is None and not case.data.binary:  # a case has one network at most
        return needs_a_run(name, place)
    if starts is None:
        return undecided(name, place, "the initial weights have not been drawn")
    slack = math.inf
    for data, start in starts:
        match = matching_slacks(start, data)
        for label in np.unique(data.y):
            slack = min(slack, float(match[np.sign(start.a) == label].max(initial=-1.0)))
    note = (
        "over the labels, the best neuron's a·yᵀ(Xw)₊ over its largest value; −1 without a neuron"
    )
    return by_slack(name, slack, place, note, strict=True)


class _GlobalLimit(Theorem):
    """The limit is the best network: one neuron w₊ with a > 0, and one w₋ with a < 0.

    w_± are the shortest vectors with w·x ≥ 1 on the class's points. The residual is the share of
    the widest margin, 1/(2(‖w₊‖ + ‖w₋‖)), that the limit misses.
    """

    needs = "limit"
    proof_covers_it = True
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})
    several_classes = True

    def example(self) -> Case:
        data = load("orthogonal:n=12,d=3,seed=0")
        W = 1e-4 * np.array([[2.0, 1.0, 1.0], [-1.0, -2.0, -1.0], [1.0, 1.0, -1.0], [0.3, -1, 0.2]])
        return Case(data, FLOW, balanced_network(W, [1, -1, 1, -1]))

    def predict(self, case: Case) -> Prediction:
        vectors = [(s, class_margin(case.data.X, case.data.y, s).w) for s in (1, -1)]
        neurons = [(s, w) for s, w in vectors if w is not None and w.any()]
        if any(w is None for _, w in vectors):
            return Prediction("The limit has the widest margin of all networks.")
        total = sum(float(np.linalg.norm(w)) for _, w in neurons)
        words = (
            f"The limit has the widest margin of all networks, {1 / (2 * total):.6g}: its neurons "
            f"point along the max-margin vector of {'each' if len(neurons) > 1 else 'the'} class."
        )
        directions = tuple((s, w / np.linalg.norm(w)) for s, w in neurons)
        values = {"margin": 1 / (2 * total), "neurons": np.array([w for _, w in neurons])}
        return Prediction(words, values, directions)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        outputs = None if run is None else runs_of_outputs(case.data, run)
        if not outputs or any(one.outcome in WITHOUT_LIMIT for _, one in outputs):
            return None
        if "margin" not in prediction.values:
            return None
        worst = min(margin_of(one.end, data) for data, one in outputs)
        return abs(1 - worst / prediction.values["margin"])

    def ideal(self, prediction: Prediction, case: Case) -> Observation | None:
        V = prediction.values["neurons"]
        roots = np.sqrt(np.linalg.norm(V, axis=1))
        signs = np.array([s for s, _ in prediction.directions])
        return ended_at(Network(V / roots[:, None], signs * roots))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        widest = prediction.values["margin"]
        return f"The margin of the limit is {(1 - residual) * widest:.6g}, the widest {widest:.6g}."


def _one_sign_only() -> Evidence:
    status = optimum(load("wang2022_f1"), signs=(1,)).status
    words = (
        "Weights that all start with a > 0, an open set of probability 2^(−m), keep their sign "
        f"(Lemma 1); on App. F.1 the problem is {status} for networks with a > 0."
    )
    return Evidence("corrected" if status == "infeasible" else "printed", words)


class Theorem4(_GlobalLimit):
    """Orthogonally separable data, gradient flow on the logistic loss, ‖w_k‖ = |a_k| small.

    If for s = 1 and s = −1 there is a neuron with sign(yᵀ(Xw_k)₊) = sign(a_k) = s at the start (9),
    θ(t)/‖θ(t)‖ converges to a global optimum of the max-margin problem (2). (Of data with one class
    the other s is not asked for.) The optimum has the function φ(w₊·x) − φ(w₋·x).
    """

    id = "wang2022:thm4"
    source = Source("wang2022", "Theorem 4")
    summary = (
        "On orthogonally separable data, gradient flow from small weights ends at the widest "
        "margin of all networks."
    )
    errata = (
        Erratum(
            "for almost all initialisations that are sufficiently close to zero",
            "if at the start one neuron of each sign satisfies (9)",
            _one_sign_only,
        ),
    )

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = Network(case.given_start.W, np.abs(case.given_start.a))
        return Case(case.data, case.setting, start), "matching_neurons"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§3"),
            *flow_checks(case, "§4"),
            small_start(case, "Theorem 4"),
            case.data_check("orthogonally_separable", "§3.1"),
            both_match(case, run, "(9)"),
        )


def three_against_one() -> tuple[Dataset, Network]:
    """Unit vectors at 180°, 50° and −50°, one class each, first against the rest; and a start."""
    angles = np.radians([180.0, 50.0, -50.0])
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    data = Dataset(X, np.arange(3), "three directions", ("180", "50", "-50"))
    turned = np.radians([180.0, 60.0, -60.0])
    W = 1e-3 * np.column_stack([np.cos(turned), np.sin(turned)])
    return data, Network(W, 1e-3 * np.array([1.0, -1.0, -1.0]))


def _three_classes() -> Evidence:
    """Neuron k sees point k only, and so it does everywhere between its start and that point."""
    classes, start = three_against_one()
    data = classes.one_vs_rest(0)
    separable = Case(classes, FLOW).data_check("orthogonally_separable", "§2.1").holds
    alone = np.eye(3, dtype=bool)
    stays = ((start.W @ data.X.T > 0) == alone).all() and ((data.X @ data.X.T > 0) == alone).all()
    # Each neuron turns to its own point, and the margins grow alike: the limit is known.
    certificate = certify(data, Network(data.X, data.y.astype(float)))
    words = (
        f"Unit vectors at 180°, 50°, −50°, the first against the rest: from neurons at 180°, ±60° "
        f"the flow ends at margin {certificate.margin:.4f}, "
        f"the widest is {certificate.margin_bounds.lower:.4f}."
    )
    fails = separable and stays and certificate.is_kkt and certificate.optimality == "suboptimal"
    return Evidence("corrected" if fails else "printed", words)


class Theorem2(_GlobalLimit):
    """K classes with x·x' > 0 within a class and ≤ 0 between classes; the rest as in Theorem 4.

    The flow of every output converges to a global optimum of its problem, class k against the rest,
    if that problem is orthogonally separable too. For K = 2 it is. For K ≥ 3 it never is: two of
    the other classes have obtuse angles and one label. Then all that holds is Theorem 3. Binary
    data is the case K = 2; a run is one run, or `members`, one for each output.
    """

    id = "wang2022:thm2"
    source = Source("wang2022", "Theorem 2")
    summary = (
        "With two orthogonally separable classes every output of the network ends at its widest "
        "margin; with three or more the printed theorem fails."
    )
    errata = (
        Erratum(
            "orthogonally separable data of K classes: the flow converges to the global optimum",
            "for K = 2; for K ≥ 3 only if the dual variable is feasible (Theorem 3), as no class "
            "against the rest is orthogonally separable",
            _three_classes,
        ),
    )

    def counterexample(self) -> tuple[Case, str]:
        return Case(three_against_one()[0], FLOW), "one_against_the_rest"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            *flow_checks(case, "§2"),
            small_start(case, "Theorem 2"),
            case.data_check("orthogonally_separable", "§2.1"),
            one_against_the_rest(case, "App. E.3"),
            both_match(case, run, "(9)"),
        )


def one_against_the_rest(case: Case, place: str) -> Check:
    """Every output's problem is orthogonally separable, as the proof of Theorem 2 needs.

    With three classes it never is: two of them would need acute angles against the third and obtuse
    ones against each other.
    """
    name = "one_against_the_rest"
    if case.data.binary:
        return replace(case.data_check("orthogonally_separable", place), name=name)
    checks = [
        Case(data, case.setting).data_check("orthogonally_separable", place)
        for data in binary_problems(case.data)
    ]
    slack = min([check.slack for check in checks if check.slack is not None], default=-1.0)
    note = f"{len(case.data.classes)} classes: two of the rest have obtuse angles and one label"
    return Check(name, False, slack, place, note)
