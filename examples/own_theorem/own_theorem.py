"""A theorem of one's own: where gradient flow ends on two points with opposite labels."""

from typing import final

import numpy as np

from tacit import Dataset, Setting
from tacit.theorems import Case, Check, Network, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems import hypotheses as usual


@final
class ObtusePair(Theorem):
    """Let x₊, x₋ ≠ 0 have labels +1, −1 and x₊·x₋ ≤ 0. If gradient flow of a ReLU network, from
    balanced weights of any size, fits both, its margin becomes 1/(2/‖x₊‖ + 2/‖x₋‖), the widest.

    Proof: a balanced a_k keeps its sign. Where a_k > 0, w_k is never pulled away from x₊, and x₋
    pushes it until it sees x₋ no more; then it grows along x₊ alone. Where a_k < 0, likewise.
    """

    id = "mine2026:thm1"
    source = Source("mine2026", "Theorem 1")
    summary = "On two opposite points at no acute angle, each point ends with neurons of its own."
    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return _case([[1.0, 0.5], [-2.0, 1.0]])

    def counterexample(self) -> tuple[Case, str]:
        return _case([[1.0, 0.5], [-0.2, 1.0]]), "obtuse_pair"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        network = (usual.two_layer, usual.relu, usual.both_layers, usual.balanced)
        checks = [ask(case, "§1") for ask in (*network, usual.exponential_tail, usual.flow)]
        X, sizes = case.data.X, np.linalg.norm(case.data.X, axis=1)
        pair = sorted(case.data.y) == [-1, 1] and sizes.all()
        slack = -(X[0] @ X[1]) / sizes.prod() if pair else -1.0
        note = "two points with labels ±1; the slack is minus the cosine of their angle"
        checks.append(usual.by_slack("obtuse_pair", slack, "Theorem 1", note))
        return (*checks, usual.reaches_the_limit(run, "Theorem 1"))

    def predict(self, case: Case) -> Prediction:
        sizes = np.linalg.norm(case.data.X, axis=1)
        margin = float(1 / (2 / sizes).sum())
        words = f"Neurons end at the point they see, and the margin becomes {margin:.4g}."
        ends = zip(case.data.y.tolist(), case.data.X / sizes[:, None], strict=True)
        return Prediction(words, {"margin": margin}, tuple(ends))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        assert run is not None  # because of `needs`
        margin = run.end.margin(case.data.X, case.data.y)
        return abs(1 - margin / prediction.values["margin"])

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        root = np.linalg.norm(case.data.X, axis=1) ** -0.5
        end = Network(root[:, None] ** 3 * case.data.X, root * case.data.y)
        return Observation((PathPoint(0.0, 0.0, end),), end)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The margin differs from the one that is promised by {residual:.0e} of it."


def _case(X: list[list[float]]) -> Case:
    setting = Setting(width=20, init="balanced:1", rule="flow")
    return Case(Dataset(np.array(X), np.array([1, -1])), setting)
