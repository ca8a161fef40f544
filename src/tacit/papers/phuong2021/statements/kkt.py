"""Lemma C.1: what the network of Theorem 1 ends as is a KKT point of the max-margin problem."""

from __future__ import annotations

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.numerics.class_margin import class_margin
from tacit.papers.phuong2021.statements import _common as common
from tacit.theorems.shared_hypotheses import both_layers, by_slack, relu, two_layer
from tacit.theorems.theorem import (
    Case,
    Erratum,
    Evidence,
    Network,
    Prediction,
    Run,
    Source,
    Theorem,
)
from tacit.values import Check


def _signs() -> Evidence:
    data = common.cones(3)
    _, minus = common.max_margin_vectors(data)
    products = (data.y * (data.X @ minus))[data.y < 0]
    found = float(products.max())
    words = (
        f"On ten points in R³ y_i w₋·x_i is at most {found:.3g} for the negative points, and "
        f"w₋·x_i at least {float(-products.max()):.3g}."
    )
    return Evidence("corrected" if found < 0 else "printed", words)


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
    errata = (
        Erratum(
            "(80): y_i w₋·x_i > 0 for the negative points.",
            "w₋·x_i > 0 for the negative points, so y_i w₋·x_i < 0.",
            _signs,
        ),
    )

    def example(self) -> Case:
        return Case(common.cones(3), common.FLOW)

    def counterexample(self) -> tuple[Case, str]:
        return Case(common.flipped(common.cones(3)), common.FLOW), "orthogonally_separable"

    def hypotheses(self, case: Case, run: Run | None = None) -> tuple[Check, ...]:
        width = case.setting.width
        return (
            common.both_classes(case, "Lemma C.1"),
            two_layer(case, "§2 (2)"),
            relu(case, "§2 (2)"),
            both_layers(case, "(77)"),
            by_slack("two_neurons", width - 2, "Lemma C.1", f"the width is {width}"),
            common.orthogonally_separable(case),
        )

    def predict(self, case: Case) -> Prediction:
        X, y, width = case.data.X, case.data.y, case.setting.width
        W, a = np.zeros((width, case.data.d)), np.zeros(width)
        multipliers = np.zeros(case.data.n)
        for label in (1, -1):
            found = class_margin(X, y, label)
            assert found.w is not None
            length = float(np.linalg.norm(found.w))
            rows = np.arange(width) % 2 == (label < 0)
            share = 1.0 + np.arange(rows.sum())
            share *= length**-0.5 / np.linalg.norm(share)
            W[rows], a[rows] = np.outer(share, found.w), label * length * share  # (75), (76)
            lam = found.multipliers  # along w; α is a multiple of it
            multipliers += lam / np.linalg.norm(lam @ X)  # α_i/‖w‖ (89)
        q = y * (np.maximum(X @ W.T, 0.0) @ a)
        size = float((W**2).sum() + (a**2).sum())
        words = (
            f"The network of w₊ and w₋ is a KKT point with the margin {1 / size:.4g} of ‖θ‖² = 1."
        )
        values = {"W": W, "a": a, "multipliers": multipliers, "smallest_q": float(q.min())}
        return Prediction(words, values | {"margin": 1 / size})

    def residual(self, prediction: Prediction, case: Case, run: Run | None) -> float:
        X, y = case.data.X, case.data.y
        said = prediction.values
        network = Network(said["W"], said["a"])
        found = two_layer_kkt(network.W, network.a, X, y, 0.0)
        certificate = max(found.stationarity, found.complementarity, found.feasibility)
        return max(certificate, _off(network, X, y, said["multipliers"]))

    def verdict(self, residual: float, prediction: Prediction, run: Run | None) -> str:
        return f"The KKT conditions are met to {residual:.1e}, by the paper's multipliers too."


def _off(network: Network, X: np.ndarray, y: np.ndarray, multipliers: np.ndarray) -> float:
    """The largest violation of the conditions of the proof, relative to ‖θ‖ or to 1."""
    W, a = network
    seen = W @ X.T > common.WALL * np.linalg.norm(W, axis=1)[:, None]
    c = multipliers * y
    dW, da = a[:, None] * ((seen * c) @ X), np.maximum(W @ X.T, 0.0) @ c  # (90)
    apart = np.hypot(np.linalg.norm(dW - W), np.linalg.norm(da - a))
    stationarity = apart / np.hypot(np.linalg.norm(W), np.linalg.norm(a))
    q = y * (np.maximum(X @ W.T, 0.0) @ a)
    slackness = float(multipliers @ np.abs(q - 1)) / float(multipliers.sum())
    return float(max(stationarity, slackness, 1 - q.min()))
