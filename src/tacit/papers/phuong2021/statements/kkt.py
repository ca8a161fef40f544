"""Lemma C.1: what the network of Theorem 1 ends as is a KKT point of the max-margin problem."""

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.numerics.class_margin import class_margin
from tacit.papers.phuong2021.statements.examples import FLOW, cones, flipped
from tacit.papers.phuong2021.statements.hypotheses import both_classes, orthogonally_separable
from tacit.papers.phuong2021.statements.max_margin_vectors import max_margin_vectors
from tacit.papers.phuong2021.statements.sectors import ON_HYPERPLANE, cosines
from tacit.theorems import Case, Erratum, Evidence, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import both_layers, by_slack, relu, two_layer
from tacit.values import Check, Network


def _signs() -> Evidence:
    data = cones(3)
    _, minus = max_margin_vectors(data)
    products = (data.y * (data.X @ minus))[data.y < 0]
    largest = float(products.max())
    words = (
        f"On ten points in R³ y_i w₋·x_i is at most {largest:.3g} for the negative points, and "
        f"w₋·x_i at least {-largest:.3g}."
    )
    return Evidence("corrected" if largest < 0 else "printed", words)


class LemmaC1(Theorem):
    """For orthogonally separable data the network

        W = u w₊ᵀ + z w₋ᵀ,   a = ‖w₊‖u − ‖w₋‖z,   (75), (76)

    with u, z ≥ 0, u_k z_k = 0, ‖u‖ = ‖w₊‖^(−½) and ‖z‖ = ‖w₋‖^(−½) is a KKT point of

        min ½‖θ‖²  subject to  y_i f(x_i) ≥ 1,   (77)

    with the multipliers λ_i = α_i/‖w₊‖ or α_i/‖w₋‖, where w₊ = Σ α_i x_i, and w₋ likewise (89).

    The residual is the larger of two: how far θ is from Σ λ_i ∂q_i with these multipliers, and what
    the KKT certificate, which looks for multipliers of its own, says.
    """

    id = "phuong2021:lemmaC.1"
    source = Source("phuong2021", "Lemma C.1")
    summary = "The two max-margin neurons are a KKT point of the network's max-margin problem."
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})
    errata = (
        Erratum(
            "(80): y_i w₋·x_i > 0 for the negative points.",
            "w₋·x_i > 0 for the negative points, so y_i w₋·x_i < 0.",
            _signs,
        ),
    )

    def example(self) -> Case:
        return Case(cones(3), FLOW)

    def counterexample(self) -> tuple[Case, str]:
        return Case(flipped(cones(3)), FLOW), "orthogonally_separable"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        width = case.setting.width
        return (
            both_classes(case, "Lemma C.1"),
            two_layer(case, "§2 (2)"),
            relu(case, "§2 (2)"),
            both_layers(case, "(77)"),
            by_slack("two_neurons", width - 2, "Lemma C.1", f"the width is {width}"),
            orthogonally_separable(case),
        )

    def predict(self, case: Case) -> Prediction:
        X, y, width = case.data.X, case.data.y, case.setting.width
        W, a = np.zeros((width, case.data.d)), np.zeros(width)
        multipliers = np.zeros(case.data.n)
        for label in (1, -1):
            separator = class_margin(X, y, label)
            assert separator.w is not None
            length = float(np.linalg.norm(separator.w))
            rows = np.arange(width) % 2 == (label < 0)
            share = 1.0 + np.arange(rows.sum())
            share *= length**-0.5 / np.linalg.norm(share)
            W[rows], a[rows] = np.outer(share, separator.w), label * length * share  # (75), (76)
            lam = separator.multipliers  # along w; α is a multiple of it
            multipliers += lam / np.linalg.norm(lam @ X)  # α_i/‖w‖ (89)
        network = Network(W, a)
        q, margin = network.margins(X, y), 1 / network.norm**2
        words = f"The network of w₊ and w₋ is a KKT point with the margin {margin:.4g} of ‖θ‖² = 1."
        values = {"W": W, "a": a, "multipliers": multipliers, "smallest_q": float(q.min())}
        return Prediction(words, values | {"margin": margin})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float:
        X, y = case.data.X, case.data.y
        said = prediction.values
        network = Network(said["W"], said["a"])
        kkt = two_layer_kkt(case.data, network)
        certificate = max(kkt.stationarity, kkt.complementarity, kkt.feasibility)
        return max(certificate, _off(network, X, y, said["multipliers"]))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"The KKT conditions are met to {residual:.1e}, by the paper's multipliers too."


def _off(network: Network, X: np.ndarray, y: np.ndarray, multipliers: np.ndarray) -> float:
    """The largest violation of the conditions of the proof, relative to ‖θ‖ or to 1."""
    W, a = network.W, network.a
    seen = cosines(W, X) > ON_HYPERPLANE
    c = multipliers * y
    dW, da = a[:, None] * ((seen * c) @ X), np.maximum(W @ X.T, 0.0) @ c  # (90)
    apart = np.hypot(np.linalg.norm(dW - W), np.linalg.norm(da - a))
    stationarity = apart / network.norm
    q = network.margins(X, y)
    slackness = float(multipliers @ np.abs(q - 1)) / float(multipliers.sum())
    return float(max(stationarity, slackness, 1 - q.min()))
