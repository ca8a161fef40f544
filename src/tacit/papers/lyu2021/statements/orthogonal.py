"""Orthogonally separable data and ReLU: every KKT point is the same function, and the best one."""

from typing import final

import numpy as np

from tacit.data import load
from tacit.numerics.class_margin import class_margin
from tacit.papers.lyu2021.statements.cases import flow_setting
from tacit.papers.lyu2021.statements.hypotheses import kkt_direction
from tacit.papers.lyu2021.statements.run_ends import ended
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import both_layers, relu, two_classes, two_layer
from tacit.values import Check, Dataset, Network

ALIVE = 1e-9
"""A neuron with a smaller share of its sign's total Σ|a_j|‖w_j‖ has died out."""


def minimisers(case: Case) -> dict[int, np.ndarray]:
    """w⁺ and w⁻ of (Q): the shortest w with w·x_i ≥ 1 for the points of that sign."""
    w = {sign: class_margin(case.data.X, case.data.y, sign).w for sign in (1, -1)}
    return {sign: np.zeros(case.data.d) if one is None else one for sign, one in w.items()}


def _to_unit_margin(network: Network, case: Case) -> Network | None:
    """The network scaled to q_min = 1, so that it can satisfy the constraints of (P) exactly."""
    smallest = float(network.margins(case.data.X, case.data.y).min())
    if smallest <= 0:
        return None
    scale = smallest**-0.5
    return Network(scale * network.W, scale * network.a, case.alpha)


def _along(network: Network, prediction: Prediction) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of the living neurons, the signs of their a, and their angles to w⁺ or w⁻."""
    sizes, weights = np.linalg.norm(network.W, axis=1), network.weights
    named = dict(prediction.directions)
    rows, signs, angles = [], [], []
    for sign in (1, -1):
        mine = np.flatnonzero(np.sign(network.a) == sign)
        mine = mine[weights[mine] > ALIVE * weights[mine].sum()]
        target = named.get(sign, np.zeros(network.W.shape[1]))
        chord = np.linalg.norm(network.W[mine] / sizes[mine, None] - target, axis=1)
        rows.append(mine)
        signs.append(np.full(len(mine), sign))
        angles.append(2 * np.arcsin(np.minimum(chord / 2, 1)))
    return np.concatenate(rows), np.concatenate(signs), np.concatenate(angles)


def _on_two_points() -> tuple[Case, Network, dict[int, np.ndarray]]:
    """x = (2, 0) positive and (0, ½) negative, and the KKT point with two neurons."""
    data = Dataset(np.array([[2.0, 0.0], [0.0, 0.5]]), np.array([1, -1]))
    case = Case(data, flow_setting("relu", 2))
    w = minimisers(case)
    a = np.sqrt([np.linalg.norm(w[1]), np.linalg.norm(w[-1])])
    return case, Network(np.array([w[1] / a[0], w[-1] / a[1]]), a * [1, -1]), w


def _sign_of_the_function() -> Evidence:
    case, net, w = _on_two_points()
    X, y = case.data.X, case.data.y
    plus, minus = np.maximum(X @ w[1], 0), np.maximum(X @ w[-1], 0)
    f = net.outputs(X)
    printed, corrected = np.abs(f - (plus + minus)).max(), np.abs(f - (plus - minus)).max()
    return Evidence(
        "corrected" if corrected < 1e-12 < printed else "printed",
        f"On the points (2, 0) and (0, ½) with y = {y.tolist()} the KKT network has the outputs "
        f"{np.round(f, 12).tolist()}; the sum of the two terms is off by {printed:.2g}, their "
        f"difference by {corrected:.1e}.",
    )


def _size_of_the_kkt_point() -> Evidence:
    case, net, w = _on_two_points()
    q = net.margins(case.data.X, case.data.y)
    square = net.norm**2
    sizes = float(np.linalg.norm(w[1]) + np.linalg.norm(w[-1]))
    return Evidence(
        "corrected" if abs(square - 2 * sizes) < 1e-12 * square else "printed",
        f"On the points (2, 0) and (0, ½) the KKT network with q_min = {q.min():g}"
        f" has ‖θ‖² = {square:g}, while ‖w⁺‖ + ‖w⁻‖ = {sizes:g}.",
    )


def _sign_of_the_neuron() -> Evidence:
    case, net, _ = _on_two_points()
    x = case.data.X[1]
    printed, corrected = (float(net.a[1] ** 2 * net.W[1] / a @ x) for a in (net.a[1], -net.a[1]))
    return Evidence(
        "corrected" if printed < 1 <= corrected + 1e-12 else "printed",
        f"For the neuron with a < 0 of the KKT network on (2, 0) and (0, ½), (Σa²)·w/a has the "
        f"product {printed:g} with the negative point, where (Q) asks for at least 1; (Σa²)·w/|a| "
        f"has {corrected:g}.",
    )


class _OrthogonallySeparable(Theorem):
    """What Theorem H.2 and Lemma H.3 share."""

    needs = "limit"
    tolerance = 1e-6
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        return Case(load("orthogonal:n=24,d=3,seed=0"), flow_setting("relu", 12, "balanced:1e-3"))

    def counterexample(self) -> tuple[Case, str]:
        """Separable, but not orthogonally: some points of different classes have an acute angle."""
        data = load("linear:n=12,d=3,margin=0.3,seed=0")
        return Case(data, self.example().setting), "orthogonally_separable"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "Definition H.1"),
            two_layer(case, "Appendix H"),
            relu(case, "Appendix H"),
            both_layers(case, "Appendix H"),
            case.data_check("orthogonally_separable", "Definition H.1"),
            kkt_direction(case, run, self.source.place),
        )

    def predict(self, case: Case) -> Prediction:
        w = minimisers(case)
        size = {sign: float(np.linalg.norm(w[sign])) for sign in w}
        margin = 0.5 / (size[1] + size[-1])
        return Prediction(
            f"All neurons that do not die out end along w⁺ if a > 0 and along w⁻ if a < 0, the "
            f"max-margin directions of the two classes; the margin is {margin:.4g}, the widest "
            "there is.",
            {"w_plus": w[1], "w_minus": w[-1], "margin": margin},
            tuple((sign, w[sign] / size[sign]) for sign in (1, -1) if size[sign] > 0),
        )

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        """Neurons of either sign in turn, of different lengths."""
        signs = (-1.0) ** np.arange(case.setting.width)
        share = 1.0 + np.arange(case.setting.width)
        W = np.zeros((len(signs), case.data.d))
        a = np.zeros(len(signs))
        for sign, name in ((1, "w_plus"), (-1, "w_minus")):
            w = prediction.values[name]
            mine, size = signs == sign, np.linalg.norm(w)
            a[mine] = sign * np.sqrt(size * share[mine] / share[mine].sum())
            W[mine] = np.outer(np.abs(a[mine]), w / size) if size > 0 else 0.0
        return ended(Network(W, a, case.alpha))


@final
class TheoremH2(_OrthogonallySeparable):
    """Theorem H.2: on orthogonally separable data all KKT points are one function.

    For ReLU, both layers and orthogonally separable data, every KKT-margin direction θ is a
    global-max-margin direction, and all of them are the same function: scaled to q_min = 1,

        f_θ(x) = φ(w⁺·x) − φ(w⁻·x),   w^± = argmin ‖w‖ s.t. w·x_i ≥ 1 for all i with y_i = ±1,

    of margin 1/(2‖w⁺‖ + 2‖w⁻‖). With Theorem 3.1 gradient flow ends there whenever it fits.
    """

    id = "lyu2021:thmH.2"
    proof_covers_it = True
    source = Source("lyu2021", "Theorem H.2")
    summary = (
        "On orthogonally separable data the flow has one place to go: "
        "one max-margin neuron for each class, and no network has a wider margin."
    )
    errata = (
        Erratum(
            "f_θ(x) = φ(⟨x, w⁺⟩) + φ(⟨x, w⁻⟩) (proof of Theorem H.2)",
            "f_θ(x) = φ(⟨x, w⁺⟩) − φ(⟨x, w⁻⟩)",
            _sign_of_the_function,
        ),
        Erratum(
            "‖θ‖² = 2 Σ|a_i|² = ‖w⁻‖ + ‖w⁺‖ (proof of Theorem H.2)",
            "‖θ‖² = 2 Σ|a_i|² = 2‖w⁻‖ + 2‖w⁺‖",
            _size_of_the_kkt_point,
        ),
    )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The network as a function: how its neurons, by weight |a_k|‖w_k‖, miss w⁺ and w⁻."""
        assert run is not None
        network = _to_unit_margin(run.end, case)
        if network is None:
            return 1.0
        weights = network.weights
        rows, signs, angles = _along(network, prediction)
        wanted = {1: prediction.values["w_plus"], -1: prediction.values["w_minus"]}
        total = sum(np.linalg.norm(w) for w in wanted.values())
        turned = float(weights[rows] @ angles)
        longer = sum(
            abs(weights[rows[signs == sign]].sum() - np.linalg.norm(w))
            for sign, w in wanted.items()
        )
        return float((turned + longer) / total)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        assert run is not None
        rows, _, angles = _along(run.end, prediction)
        m = len(run.end.a)
        if len(rows) == 0:
            return "No neuron is left."
        who = f"All {m} neurons" if len(rows) == m else f"{len(rows)} of {m} neurons"
        rest = "" if len(rows) == m else "; the others have died out"
        return f"{who} end within {angles.max():.0e} rad of w⁺ or w⁻{rest}."


@final
class LemmaH3(_OrthogonallySeparable):
    """Lemma H.3: what every single neuron of a KKT point is.

    For ReLU and orthogonally separable data, if θ satisfies the KKT conditions of (P), with
    q_min = 1, then for every neuron with a_k ≠ 0: |a_k| = ‖w_k‖, and

        (Σ_{j: a_j a_k > 0} a_j²) w_k / |a_k|

    is the shortest w with w·x_i ≥ 1 for all i with y_i = sgn(a_k).   (Q)
    """

    id = "lyu2021:lemmaH.3"
    source = Source("lyu2021", "Lemma H.3")
    summary = (
        "On orthogonally separable data every neuron of a KKT point is a copy of its class's "
        "max-margin vector, and the copies share its length."
    )
    errata = (
        Erratum(
            "(Σ a_j²) w_k / a_k is the minimiser of (Q), also for a_k < 0 (Lemma H.3 and (69))",
            "(Σ a_j²) w_k / |a_k| is",
            _sign_of_the_neuron,
        ),
    )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest relative distance of a living neuron from w^±, or of |a_k| from ‖w_k‖."""
        assert run is not None
        network = _to_unit_margin(run.end, case)
        if network is None:
            return 1.0
        rows, signs, _ = _along(network, prediction)
        worst = 0.0
        for sign, name in ((1, "w_plus"), (-1, "w_minus")):
            mine, w = rows[signs == sign], prediction.values[name]
            W, a = network.W[mine], np.abs(network.a[mine])
            if len(mine) == 0 or not w.any():
                worst = max(worst, float(len(mine) > 0 or w.any()))
                continue
            copies = (a**2).sum() * W / a[:, None]
            sizes = np.linalg.norm(W, axis=1)
            far = np.linalg.norm(copies - w, axis=1).max() / np.linalg.norm(w)
            worst = max(worst, float(far), float((np.abs(a - sizes) / sizes).max()))
        return worst

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Every living neuron is a copy of w⁺ or w⁻ up to {residual:.0e} of its length."
