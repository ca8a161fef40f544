"""What the convolutional network can compute: Remark 4.1 and the note on k = 2 in §4."""

from dataclasses import replace
from typing import final

import numpy as np

from tacit.data import load
from tacit.data.xor import PATTERNS, f_star, pattern_sets
from tacit.data.xord_kinds import KINDS, LABELS
from tacit.papers.brutzkus2019.statements.cases import half_width, xord_case
from tacit.papers.brutzkus2019.statements.hypotheses import conv_network
from tacit.papers.brutzkus2019.statements.kinds import misclassified, outputs_by_kind
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses import two_classes, yes_or_no
from tacit.values import Check, Dataset, Network

CORNERS = ((0, 1), (2, 1), (2, 3), (0, 3))
"""Neighbouring patterns: every filter has its two largest w·p at one of these pairs."""


def features(kinds: np.ndarray) -> np.ndarray:
    """Eight numbers of which every output is a linear combination.

    Between neighbouring patterns p and p′ a filter contributes max(s 1[p], t 1[p′]) with s, t ≥ 0,
    which is min(s, t) 1[p or p′] + (s − t)₊ 1[p] + (t − s)₊ 1[p′].
    """
    pairs = [kinds[:, i] | kinds[:, j] for i, j in CORNERS]
    return np.column_stack([kinds, *pairs]).astype(float)


def by_patches(network: Network, X: np.ndarray) -> np.ndarray:
    """N_W of each point, patch after patch as (2) is written."""
    patches = X.reshape(len(X), -1, 2)
    return np.maximum(patches @ network.W.T, 0).max(axis=1) @ network.a  # (2)


def pairs_of_signs(case: Case, place: str) -> Check:
    """The points lie in {±1}^{2d}."""
    X = case.data.X
    if X.shape[1] % 2:
        return yes_or_no("patterns", False, place, f"points of {X.shape[1]} coordinates, not pairs")
    off = float(np.abs(np.abs(X) - 1).max())
    return Check("patterns", off == 0, -off, place, "distance from pairs of coordinates ±1")


def labels_of_f(case: Case, place: str) -> Check:
    """The labels y = f*(x)."""
    if not pairs_of_signs(case, place).holds or not case.data.binary:
        return yes_or_no(
            "xord_labels", False, place, "not XORD points: pairs of coordinates ±1, labels ±1"
        )
    other = float((f_star(case.data.X) != case.data.y).mean())
    return Check("xord_labels", other == 0, -other, place, "share of labels that are not f*")


@final
class SmallCapacity(Theorem):
    """Remark 4.1 (and App. C.1). The network (2) sees of a point only which of the four patterns it
    contains: N_W(x) = N_W(z) for all W if P_x = P_z. There are 15 such sets, so for every k its VC
    dimension is at most 15.

    More is true: all outputs are linear combinations of eight fixed functions of P_x, and with
    k ≥ 8 all linear combinations are outputs. So the VC dimension is at most 8 (4 for d = 1), the
    rank of these functions on the kinds of points, and wide networks reach it.
    """

    id = "brutzkus2019:rem4.1"
    source = Source("brutzkus2019", "Remark 4.1")
    summary = "However wide, the convolutional network tells at most 15 kinds of XORD points apart."
    needs = "data"
    tolerance = 1e-12

    def example(self) -> Case:
        return xord_case(20, 0.1, data="xord:n=60,d=7")

    def counterexample(self) -> tuple[Case, str]:
        return replace(self.example(), data=load("linear:n=20,d=4")), "patterns"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*conv_network(case), pairs_of_signs(case, "§4"))

    def predict(self, case: Case) -> Prediction:
        here = KINDS[KINDS.sum(axis=1) <= case.data.d // 2]
        kinds = len(np.unique(pattern_sets(case.data.X), axis=0))
        sharper = int(np.linalg.matrix_rank(features(here)))
        words = (
            f"The {case.data.n} points are of {kinds} kinds and points of one kind get one output; "
            f"there are {len(here)} kinds, so the VC dimension is at most {len(here)} for any "
            f"width, and in fact at most {sharper}."
        )
        return Prediction(words, {"kinds": kinds, "vc_at_most": len(here), "sharper": sharper})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """Outputs patch by patch against outputs by kind, and against eight features."""
        rng = np.random.default_rng(0)
        kinds = pattern_sets(case.data.X)
        basis = features(kinds)
        worst = 0.0
        for _ in range(10):
            network = Network(rng.standard_normal((8, 2)), np.repeat([1.0, -1.0], 4))
            f = by_patches(network, case.data.X)
            rest = f - basis @ np.linalg.lstsq(basis, f, rcond=None)[0]
            apart = max(np.abs(f - outputs_by_kind(network, kinds)).max(), np.abs(rest).max())
            worst = max(worst, float(apart) / float(np.abs(network.W).sum()))
        return worst

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            f"On ten random networks, outputs of points with the same patterns differ by at most "
            f"{residual:.1e} of the size of the network."
        )


@final
class TwoOfEach(Theorem):
    """§4, Learning Setup. The network (2) with k = 2 and w = 3p₁, 3p₃, u = p₂, p₄ satisfies
    sign N_W(x) = f*(x) for all x ∈ {±1}^{2d}; with k = 1 no network does.

    With k = 1 a point of p₁ alone and one of p₃ alone would need w·p₁ > 0 and −w·p₁ > 0.
    """

    id = "brutzkus2019:sec4"
    source = Source("brutzkus2019", "§4, Learning Setup")
    summary = "Four filters suffice for every XORD point, two do not."
    needs = "data"
    tolerance = 0.0

    def example(self) -> Case:
        return xord_case(2, 0.1, data="xord:n=40,d=5")

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        y = case.data.y.copy()
        y[0] = -y[0]
        return replace(case, data=Dataset(case.data.X, y), _properties={}), "xord_labels"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (*conv_network(case), two_classes(case, "§4"), labels_of_f(case, "(3)"))

    def predict(self, case: Case) -> Prediction:
        k = half_width(case)
        if k >= 2:
            words = f"A network with k = {k} can have the sign of f* at every point there is."
        else:
            words = "No network with k = 1 has the sign of f* at every point there is."
        return Prediction(words, {"k": k, "realisable": k >= 2})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The share of points that the paper's network (k ≥ 2) has wrong, among the data and all
        kinds; for k = 1 whether one of many networks has them all right."""
        here = KINDS.sum(axis=1) <= case.data.d // 2
        kinds, labels = KINDS[here], LABELS[here]
        if prediction.values["realisable"]:
            network = paper_network()
            mine = case.data.y * by_patches(network, case.data.X) <= 0
            return float(np.concatenate([mine, misclassified(network, kinds, labels)]).mean())
        return float(fewest_errors(kinds, labels) == 0)

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if prediction.values["realisable"]:
            return f"The paper's network is wrong on {residual:.0%} of the points and kinds."
        how_many = "has" if residual else "none has"
        return f"Of many networks with two filters {how_many} all kinds of points right."


def paper_network() -> Network:
    """w = 3p₁, 3p₃ and u = p₂, p₄ (§4)."""
    sizes = np.array([3, 3, 1, 1])[:, None]
    return Network(sizes * PATTERNS[[0, 2, 1, 3]], np.array([1.0, 1.0, -1.0, -1.0]))


def fewest_errors(kinds: np.ndarray, labels: np.ndarray, turns: int = 48) -> int:
    """The fewest errors with k = 1, over 48 directions of w and of u and nine ratios of lengths."""
    turn = 2 * np.pi * (np.arange(turns) + 0.31) / turns
    z = np.maximum(np.column_stack([np.cos(turn), np.sin(turn)]) @ PATTERNS.T, 0)
    one = np.where(kinds[:, None, :], z, 0).max(axis=2)  # kinds × directions
    ratios = 2.0 ** np.arange(-4, 5)
    f = one[:, :, None, None] - ratios * one[:, None, :, None]
    return int((labels[:, None, None, None] * f <= 0).sum(axis=0).min())
