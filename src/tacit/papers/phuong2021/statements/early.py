"""The early phase: extremal directions, and where neurons are when it ends (§4.1, §4.2)."""

import math
from functools import lru_cache

import numpy as np

from tacit.messages import count
from tacit.numerics.extremal_directions import Extremal, extremal_directions, lemma_2
from tacit.papers.phuong2021.statements.examples import (
    FLOW,
    cones,
    flipped,
    initial_network,
    run_through,
)
from tacit.papers.phuong2021.statements.hypotheses import (
    both_classes,
    network_and_rule,
    orthogonally_separable,
)
from tacit.papers.phuong2021.statements.max_margin_vectors import unit
from tacit.papers.phuong2021.statements.sectors import ON_HYPERPLANE, cosines, pulls, sectors
from tacit.theorems import Case, Observation, Prediction, Source, Theorem
from tacit.theorems.hypotheses.checks import by_slack, needs_a_run, undecided, unquantified
from tacit.theorems.hypotheses.setting import logistic, relu, two_classes
from tacit.theorems.hypotheses.start import balanced, small_start
from tacit.values import Check, Dataset, Network

HALF = 0.5
"""−y ℓ'(0) of the logistic loss."""
NEAR_ZERO = 0.2
"""Ours: the early phase lasts while no |f(x_i)| is larger, so that ℓ' is within 10% of ℓ'(0)."""
ALIGNED = 0.1
"""Ours: a neuron has turned when it is that near (in rad) to ±g(w), as extremal directions are."""
COINCIDENCE = 1e-6
"""Directions that are so near to an activation hyperplane (a cosine) are on it by coincidence."""
MOST_ENTRIES = 10**6
"""Entries of X up to which the sectors are searched for."""


class Lemma2(Theorem):
    """Orthogonally separable data has one positive and one negative extremal sector.

    These contain the strict local maximum and minimum on the unit sphere of

        G(w) = −Σ ℓ_i'(0) ρ(w·x_i).   (12)

    The positive sector has the sign 1 at positive points; at a negative point −1 if x_j·x_i < 0 for
    some positive x_i, and 0 if x_j is orthogonal to all of them (13). The negative sector is the
    same with the classes exchanged (14). Since P_w x_i = x_i for the points that it is active on,
    Lemma A.1 gives the directions too: those of the sum of the positive and of the negative points.

    Of the setting of Theorem 1 the proof uses orthogonal separability only.

    The residual compares the closed form with the extremal directions of a search that knows
    nothing of it: the largest angle, share of wrong signs, and surplus of directions.
    """

    id = "phuong2021:lemma2"
    source = Source("phuong2021", "Lemma 2")
    summary = "Neurons near zero are drawn to two sectors only: one for each class."
    needs = "data"
    tolerance = 1e-7
    invariances = frozenset({"rotation"})

    def example(self) -> Case:
        return Case(cones(3), FLOW)

    def counterexample(self) -> tuple[Case, str]:
        return Case(flipped(cones(3)), FLOW), "orthogonally_separable"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (both_classes(case, "§2"), relu(case, "§2 (2)"), orthogonally_separable(case))

    def predict(self, case: Case) -> Prediction:
        X, y = case.data.X, case.data.y
        two = lemma_2(X, y)
        assert two is not None, "the data is orthogonally separable"
        means = [unit(X[y == label].sum(axis=0)) for label in (1, -1)]
        zeros = int((two[0] == 0).sum() + (two[1] == 0).sum())
        many = [count(int((y == label).sum()), "point") for label in (1, -1)]
        words = (
            f"Near zero, neurons with a > 0 turn to the mean of the positive class ({many[0]}), "
            f"those with a < 0 to that of the negative class ({many[1]}), "
            f"{_degrees(*means):.0f}° apart, on the activation hyperplanes of "
            f"{count(zeros, 'point')}."
        )
        values = {"positive_sector": two[0], "negative_sector": two[1]}
        return Prediction(words, values, ((1, means[0]), (-1, means[1])))

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float:
        extremal = all_directions(case.data)
        sides = (extremal.positive, extremal.negative)
        off = 0.0
        for items, key, (_, direction) in zip(
            sides, ("positive_sector", "negative_sector"), prediction.directions, strict=True
        ):
            off = max(off, abs(len(items) - 1.0))
            for item in items:
                wrong = float((item.sector != prediction.values[key]).mean())
                angle = float(np.linalg.norm(item.direction - direction))
                off = max(off, wrong, angle)
        return off

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual >= 1:
            return f"The number of extremal directions of one sign is off by {residual:.0f}."
        return f"A search finds these two extremal directions and no other, to {residual:.0e}."


class Lemma1(Theorem):
    """At some time every neuron is dead or in an extremal sector of its sign (Maennel et al.).

    Let a two-layer ReLU network be balanced at initialisation and trained by gradient flow on a
    loss with Lipschitz ℓ'. For almost all data and initial weights that are small enough there is
    a time T at which every neuron has w·x_i ≤ 0 for all i (and never moves again), or a > 0 and w
    in a positive extremal sector, or a < 0 and w in a negative one.

    How small is small enough depends on data and weights. Our reading: it was if the neurons have
    turned, to `ALIGNED` rad, before the outputs grow; that is told by a run only. A neuron that
    still lingers where it would rest but for the least push (a < 0 at a maximum of G, a > 0 at a
    minimum) has not turned. The exceptions of "almost all" are data whose pulls cancel: there G is
    flat, and neurons that see points stay where they are.

    The residual is the share of neurons that do none of this, at the moment of the run where it is
    least. Where extremal sectors may be missing from the list (more than three dimensions, unless
    Lemma 2 names them) only a residual of 0 is told.
    """

    id = "phuong2021:lemma1"
    source = Source("phuong2021", "Lemma 1")
    summary = "Small networks start by sorting every neuron into an extremal sector, or it dies."
    needs = "path"
    tolerance = 0.0
    invariances = frozenset({"order", "scale", "rotation"})

    def example(self) -> Case:
        X = [[1.0, 0.3], [0.2, 1.0], [-0.8, 0.5], [0.5, -1.0], [-1.0, -0.4]]
        data = Dataset(np.array(X), np.array([1, -1, 1, 1, -1]), name="five points")
        return Case(data, FLOW.replace(init="balanced:1e-12"))

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        return Case(case.data, case.setting, initial_network(case.data, size=2.0)), "small_start"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§2"),
            *network_and_rule(case),
            logistic(case, "§2 (3)"),
            balanced(case, "§2"),
            small_start(case, "Lemma 1"),
            almost_all_data(case, run),
            by_slack("dimensions", case.data.d - 2, "Lemma 1", "on a line neurons shrink for ever"),
            has_turned(case, run),
        )

    def predict(self, case: Case) -> Prediction:
        if case.data.X.size > MOST_ENTRIES:
            words = "Early on every neuron dies or comes to an extremal sector of its sign."
            return Prediction(words)
        positive, negative, complete = all_sectors(case.data)
        known = "" if complete else "at least "
        words = (
            "Early on every neuron dies, or comes to an extremal sector of its sign; there "
            f"{'is' if len(positive) == 1 else 'are'} {known}{len(positive)} for a > 0 and "
            f"{known}{len(negative)} for a < 0."
        )
        values = {"positive": positive, "negative": negative, "complete": complete}
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        if run is None or not prediction.values:
            return None
        least = min(float((~self._sorted(prediction, case, m.network)).mean()) for m in run.path)
        return least if least == 0 or prediction.values["complete"] else None

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        extremal = all_directions(case.data)
        W = np.array([item.direction for item in extremal.items])
        a = np.array([float(item.sign) for item in extremal.items])
        return run_through(Network(W, a))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual > 0:
            return f"At the best moment {residual:.0%} of the neurons are in none of the sectors."
        return "There is a moment at which every neuron is dead or in an extremal sector."

    @staticmethod
    def _sorted(prediction: Prediction, case: Case, network: Network) -> np.ndarray:
        """m flags: neurons that meet one of the three conditions."""
        mine = sectors(network.W, case.data.X)
        done = np.asarray((mine <= 0).all(axis=1))
        for key, sign in (("positive", 1), ("negative", -1)):
            for sector in prediction.values[key]:
                done |= (network.a * sign > 0) & (mine == sector).all(axis=1)
        return done


@unquantified
def has_turned(case: Case, run: Observation | None) -> Check:
    """At the end of the early phase g(w) = C w for every neuron, nearly (Lemma A.1)."""
    name, place = "turned_in_time", "Lemma 1; Lemma A.1"
    if run is None:
        return needs_a_run(name, place)
    X, end = case.data.X, _end_of_the_early_phase(case, run)
    if end is None:
        return Check(name, False, -1.0, place, "the outputs are large from the start")
    signs, g, moves = _pulled(case, end)
    w = end.W[moves] / np.linalg.norm(end.W[moves], axis=1, keepdims=True)
    along = (g[moves] * w).sum(axis=1)
    across = np.linalg.norm(g[moves] - along[:, None] * w, axis=1)
    # NumPy before 2.4 has no rank of no rows.
    ranks = [np.linalg.matrix_rank(X[row == 0]) if (row == 0).any() else 0 for row in signs[moves]]
    free = X.shape[1] - np.array(ranks)
    turned = np.arctan2(across, np.sign(end.a[moves]) * along)  # g = C w, C of the sign of a
    angle = float(np.where(free > 1, turned, 0.0).max(initial=0.0))
    note = (
        f"when the outputs grow, a neuron is up to {angle:.2g} rad from where it turns to; up to "
        f"{ALIGNED:g} we call the initial weights small enough, beyond it is not known"
    )
    return Check(name, True if angle <= ALIGNED else None, ALIGNED - angle, place, note)


def almost_all_data(case: Case, run: Observation | None) -> Check:
    """The data is none of the exceptions that we know of; the slack is that of the first.

    G must be flat nowhere where a point is seen: not on one ray (the slack is the smallest
    ‖Σ y_i x_i‖/Σ‖x_i‖ over its points), nor where a neuron of the run is. Neurons must be drawn
    onto the activation hyperplanes of the extremal sectors: those of points that are orthogonal to
    all that a sector sees are approached for ever. So is the direction that a neuron turns to, if
    it lies on the hyperplane of another point by coincidence.
    """
    name, place = "almost_all_data", "Lemma 1, almost all data"
    lengths = np.linalg.norm(case.data.X, axis=1)
    rows = lengths > 0
    _, ray = np.unique(
        (case.data.X[rows].T / lengths[rows]).round(9).T, axis=0, return_inverse=True
    )
    sums = np.bincount(ray.ravel(), lengths[rows] * case.data.y[rows])
    slack = float((np.abs(sums) / np.bincount(ray.ravel(), lengths[rows])).min(initial=1.0))
    end = None if run is None else _end_of_the_early_phase(case, run)
    if end is not None and slack > ON_HYPERPLANE:
        signs, g, moves = _pulled(case, end)
        stuck = int(((signs > 0).any(axis=1) & ~moves).sum())
        if stuck:
            note = f"{count(stuck, 'neuron')} with points in sight whose pulls cancel"
            return undecided(name, place, note)
        on = (np.abs(cosines(g, case.data.X)) <= COINCIDENCE) & (signs != 0)
        tied = int((on & moves[:, None] & (lengths > 0)).any(axis=1).sum())
        if tied:
            note = f"{count(tied, 'neuron')} turning to a direction on the hyperplane of a point"
            return undecided(name, place, note)
    if slack > ON_HYPERPLANE and _has_loose_hyperplane(case):
        note = "an extremal sector is on the hyperplane of a point that is orthogonal to its pull"
        return undecided(name, place, note)
    slack -= ON_HYPERPLANE
    note = "" if slack > 0 else "points on one ray with different labels cancel each other"
    return by_slack(name, slack, place, note)


def _has_loose_hyperplane(case: Case) -> bool:
    """Whether some extremal sector is on a hyperplane that nothing draws a neuron onto."""
    X, y = case.data.X, case.data.y
    if not case.data.binary or X.size > MOST_ENTRIES:
        return False
    lengths = np.linalg.norm(X, axis=1)
    for sector in np.vstack(all_sectors(case.data)[:2]):
        on = (sector == 0) & (lengths > 0)
        g = ((sector > 0) * y) @ X
        if (np.abs(X[on] @ g) <= ON_HYPERPLANE * lengths[on] * np.linalg.norm(g)).any():
            return True
    return False


def _end_of_the_early_phase(case: Case, run: Observation) -> Network | None:
    """The last network with small outputs."""
    end = None
    for moment in run.path:
        if np.abs(moment.network.outputs(case.data.X)).max() > NEAR_ZERO:
            break
        end = moment.network
    return end


def _pulled(case: Case, network: Network) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sectors, pulls g(w) and which of these are not 0."""
    X = case.data.X
    signs = sectors(network.W, X)
    g = pulls(signs, X, HALF * case.data.y)
    # Sums that cancel out leave rounding errors, which pull nowhere.
    least = 1e-12 * HALF * float(np.linalg.norm(X, axis=1).sum())
    return signs, g, np.linalg.norm(g, axis=1) > least


@lru_cache(maxsize=16)
def all_directions(data: Dataset) -> Extremal:
    """The extremal directions of G at small weights, for all statements that ask for them."""
    return extremal_directions(data.X, HALF * data.y)


@lru_cache(maxsize=16)
def all_sectors(data: Dataset) -> tuple[np.ndarray, np.ndarray, bool]:
    """The positive and the negative extremal sectors as rows, and whether these are all."""
    two = lemma_2(data.X, data.y)
    if two is not None:
        return two[0][None], two[1][None], True
    extremal = all_directions(data)
    none = np.zeros((0, data.n), dtype=np.int8)
    sides = [
        np.array([item.sector for item in items], dtype=np.int8) if items else none
        for items in (extremal.positive, extremal.negative)
    ]
    return sides[0], sides[1], extremal.complete


def _degrees(v: np.ndarray, w: np.ndarray) -> float:
    return math.degrees(math.acos(float(np.clip(v @ w, -1, 1))))
