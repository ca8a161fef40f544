"""App. I.1.1: symmetric data with a KKT direction that is not the best one."""

import math
from typing import final

import numpy as np

from tacit.certificates import optimum, two_layer_kkt
from tacit.data.figure_sets import lyu2021_left
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.papers.lyu2021.statements.hypotheses import at_least
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import both_layers, by_slack, two_classes, two_layer
from tacit.values import Check, Network, Setting

SAME = 1e-9
"""Points that differ from the paper's by this share of their size are the paper's."""


def angle(alpha: float) -> float:
    """β of the data for this slope."""
    return float(lyu2021_left(alpha).parameters["beta"])


def printed_network(alpha: float) -> Network:
    """The KKT direction with three neurons."""
    beta = angle(alpha)
    a = np.array([1.0, 1.0, -1.0]) / math.sqrt(1 + alpha)
    a[:2] /= math.sqrt(2 * math.cos(beta))
    unit = np.array([[math.cos(beta), math.sin(beta)], [math.cos(beta), -math.sin(beta)], [-1, 0]])
    return Network(np.abs(a)[:, None] * unit, a, alpha)


def printed_multipliers(alpha: float) -> np.ndarray:
    """λ of the six points, for q_min = 1."""
    beta = angle(alpha)
    side = math.sin(beta) ** 2 / (math.cos(beta) * (1 - alpha))
    return np.array([side, 0, side, 0, 1 - 2 * alpha * side, 0])


def stationarity(alpha: float, mask: float) -> float:
    """max ‖w_k − Σ λ_i y_i a_k h_ki x_i‖ with h = mask at the two kinks, w_1·x_3 = w_2·x_1 = 0."""
    data, net, lam = lyu2021_left(alpha), printed_network(alpha), printed_multipliers(alpha)
    h = np.where(net.W @ data.X.T > 0, 1.0, alpha)
    h[0, 2] = h[1, 0] = mask
    sums = net.a[:, None] * ((h * lam * data.y) @ data.X)
    return float(np.linalg.norm(net.W - sums, axis=1).max())


def _mask_at_the_kinks() -> Evidence:
    off = {h: stationarity(0.5, h) for h in (0.5, 0.75, 1.0)}
    right = off[0.5] < 1e-12 < min(off[0.75], off[1.0])
    return Evidence(
        "corrected" if right else "printed",
        f"For α = ½ the first KKT condition is violated by {off[0.5]:.1e} with h = α at the two "
        f"kinks, by {off[0.75]:.2g} with h = ¾ and by {off[1.0]:.2g} with h = 1.",
    )


@final
class ExampleI11(Theorem):
    """App. I.1.1: a KKT-margin direction of symmetric data that is no global one.

    For 0 ≤ α < 1 let β solve (2 sin²β + cos β)α² − (1 + cos β)α + cos 2β = 0, and let the data be
    (1, cot β), (1, 0), (1, −cot β) with label 1 and their opposites with label −1. Then the neurons

        w_1, w_2 = a_1 (cos β, ± sin β),  a_1 = a_2 = (2(1+α) cos β)^(−½),
        w_3 = |a_3| (−1, 0),              a_3 = −(1+α)^(−½)

    are along a KKT-margin direction of margin (1+α) cos β / (2 + 2 cos β). The best networks are
    linear (Theorem 4.2), of margin (1+α)/4: 0.2071 against 0.25 for α = 0, 0.3561 against 0.375
    for α = ½.
    """

    id = "lyu2021:exI.1.1"
    source = Source("lyu2021", "App. I.1.1")
    summary = (
        "Six points on which a network of three neurons satisfies every max-margin condition, "
        "bends its boundary, and is not the best."
    )
    needs = "data"
    tolerance = 1e-7
    errata = (
        Erratum(
            "the KKT point is given without its subgradients at w_1·x_3 = w_2·x_1 = 0",
            "it is one with h = α there, and with no other h for the printed λ",
            _mask_at_the_kinks,
        ),
    )

    def example(self) -> Case:
        return Case(lyu2021_left(0.5), flow_setting("leaky:0.5", 3))

    def counterexample(self) -> tuple[Case, str]:
        """The data for another slope."""
        return Case(lyu2021_left(0.25), flow_setting("leaky:0.5", 3)), "six_points"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "App. I.1.1"),
            two_layer(case, "App. I.1.1"),
            both_layers(case, "App. I.1.1"),
            _six_points(case),
            at_least(3, case, "App. I.1.1"),
        )

    def predict(self, case: Case) -> Prediction:
        cosine = math.cos(angle(case.alpha))
        margin, best = (1 + case.alpha) * cosine / (2 + 2 * cosine), (1 + case.alpha) / 4
        return Prediction(
            f"There is a KKT direction of margin {margin:.4f}; the best networks have {best:.4f}.",
            {"margin": margin, "best": best},
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float:
        """KKT residual of the network, and relative differences of the two margins: the network's
        own, and that of the convex program."""
        net, data = printed_network(case.alpha), case.data
        kkt = two_layer_kkt(data, net)
        own = net.margin(data.X, data.y) / prediction.values["margin"]
        best = optimum(data, Setting(activation=case.setting.activation))
        low, high = (m / prediction.values["best"] for m in best.margin_bounds)
        parts = kkt.stationarity, kkt.complementarity, kkt.feasibility
        return float(max(*parts, abs(own - 1), 1 - high, low - 1))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        own, best = prediction.values["margin"], prediction.values["best"]
        return f"The KKT conditions and the margins {own:.4f}, {best:.4f} hold to {residual:.1e}."


def _six_points(case: Case) -> Check:
    """The points are those of the example, in any order."""
    wanted, given = lyu2021_left(case.alpha), case.data
    far = 1.0
    if given.X.shape == wanted.X.shape and given.binary:
        rows = [np.column_stack([d.X, d.y]) for d in (wanted, given)]
        rows = [one[np.lexsort((one[:, 1], one[:, 2]))] for one in rows]
        far = float(np.abs(rows[0] - rows[1]).max() / np.abs(wanted.X).max())
    note = f"a coordinate is {far:.2g} (relative) away from the paper's points for this α"
    return by_slack("six_points", SAME - far, "App. I.1.1", note)
