"""How the parameters move (App. A.2): their equations of motion, and the balance of the layers."""

import math
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from tacit.geometry.position import MOST_SUBSETS
from tacit.models.losses import Exponential
from tacit.numerics.float64 import EPS
from tacit.papers.phuong2021.statements.examples import FLOW, cones, initial_network, run_through
from tacit.papers.phuong2021.statements.hypotheses import network_and_rule
from tacit.papers.phuong2021.statements.sectors import Hyperplanes, hyperplanes_of, pulls, sectors
from tacit.theorems import Case, Estimate, Observation, PathPoint, Prediction, Source, Theorem
from tacit.theorems.asking import seconds_left
from tacit.theorems.errata import Erratum, Evidence
from tacit.theorems.hypotheses import (
    balanced,
    both_layers,
    exponential_tail,
    flow,
    neuron_sizes,
    two_classes,
    two_layer,
    undecided,
    yes_or_no,
)
from tacit.values import Check, Dataset, Network

LATEST = 6.0
"""log t up to which the equations are integrated; later on nothing but the scale changes."""
MOST = 16
"""Pieces of a path that are integrated, spread over it."""
MOST_STEPS, MOST_OPERATIONS = 3000, 1e9
"""Velocities that are computed for all pieces together, and multiplications in them."""


HIDDEN = 1e-6
"""Rounding errors of the outputs from which on they hide what pulls on the neurons."""
FEW_SUBSETS = 300_000
"""Subsets of min(n, d) points up to which general position is checked here."""


class _TooLong(Exception):
    """The integration of a piece takes more than its share of steps."""


def _footnote() -> Evidence:
    """Footnote 4 for k = d + 2."""
    points = np.vstack([np.zeros(2), cones(2).X[:3]])
    flat = int(np.linalg.matrix_rank(points[1:] - points[0]))
    words = (
        f"Four points of the plane (0 is one) lie on a {flat}-dimensional plane, k − 2 = 2, as any "
        "four do: with k unbounded nothing is in general position."
    )
    return Evidence("corrected" if flat <= 2 else "printed", words)


class LemmaA3(Theorem):
    """The equations of motion. If the points and 0 are in general position, then for almost all t

        a_k' = −Σ ℓ_i' ρ(w_k·x_i),   (45)
        w_k' = −Σ ℓ_i' 1{w_k·x_i > 0} a_k P_k x_i,   (46)

    where P_k projects onto the activation hyperplanes w·x_i = 0 that w_k is on.

    The residual integrates these equations from moments of the run to the next ones, where no
    neuron meets a hyperplane in between, and is the largest relative distance from what the run
    has. It takes 16 such pieces at most, spread over the path, and leaves out those that need too
    many steps, so that it takes a second or so on large data. Its tolerance is that of runs: a step
    of the flow may be off by 1e-4 where the loss is small.
    """

    id = "phuong2021:lemmaA.3"
    source = Source("phuong2021", "Lemma A.3")
    summary = (
        "Gradient flow moves a neuron along the sum of the points it sees, within the activation "
        "hyperplanes it is on."
    )
    needs = "path"
    tolerance = 1e-3
    invariances = frozenset({"order", "rotation"})
    errata = (
        Erratum(
            "General position: no k of the points lie on a (k − 2)-dimensional hyperplane, for all "
            "k ≥ 2 (footnote 4).",
            "The same for 2 ≤ k ≤ d + 1; with 0 among the points, any d of them are independent.",
            _footnote,
        ),
    )

    def example(self) -> Case:
        X = [[1.0, 0.3], [0.2, 1.0], [-0.8, 0.5], [0.5, -1.0], [-1.0, -0.4]]
        data = Dataset(np.array(X), np.array([1, -1, 1, 1, -1]), name="five points")
        return Case(data, FLOW, initial_network(data, size=1e-2))

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        X = np.vstack([case.data.X, 2 * case.data.X[:1]])
        data = Dataset(X, np.append(case.data.y, 1), name="six points, two of them parallel")
        return Case(data, case.setting, case.start), "general_position"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        return (
            two_classes(case, "§2"),
            *network_and_rule(case),
            exponential_tail(case, "§2 (3)"),
            _general_position(case),
        )

    def predict(self, case: Case) -> Prediction:
        words = (
            "Every neuron moves along the sum of the points it sees, each weighted by how badly it "
            "is fitted, and stays on the hyperplanes w·x_i = 0 that hold it"
        )
        if case.start is None:
            return Prediction(f"{words}.")
        dW, da = velocity(case, case.start)
        fastest = float(np.hypot(np.linalg.norm(dW, axis=1), da).max())
        words += f"; at the start the fastest has the speed {fastest:.3g}"
        return Prediction(f"{words}.", {"dW": dW, "da": da})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        pieces = _pieces(case, run) if run is not None else []
        if run is None or not pieces:
            return None
        operations = 3.0 * case.data.X.size * len(run.start.a)
        steps = int(min(MOST_STEPS, MOST_OPERATIONS / operations) / len(pieces))
        distances = [_off(case, one, other, steps) for one, other in pieces]
        return max((off for off in distances if off is not None), default=None)

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        first = case.given_start
        times = [0.0, 0.1, 0.2]
        nets = [first] + [integrated(case, first, time) for time in times[1:]]
        moments = [
            PathPoint(math.log(t) if t else -math.inf, 0.0, net)
            for t, net in zip(times, nets, strict=True)
        ]
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            "From moments of the run, these equations of motion lead to its weights at the next "
            f"moment, up to {residual:.1e} of their size."
        )


def _general_position(case: Case) -> Check:
    """General position as `tacit check` decides it, unless that takes many seconds."""
    name, place = "general_position", "Lemma A.3"
    n, k = case.data.n, min(case.data.n, case.data.d)
    subsets = math.comb(n, k)
    if FEW_SUBSETS < subsets <= MOST_SUBSETS:
        note = f"not checked: there are {subsets:,} subsets of {k} points (`tacit check` does)"
        return undecided(name, place, note)
    return case.data_check(name, place)


def velocity(
    case: Case,
    network: Network,
    signs: np.ndarray | None = None,
    hyperplanes: Hyperplanes | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(46) and (45), for the sum of the losses; in the sectors of the network unless given."""
    X, y = case.data.X, case.data.y
    if signs is None:
        signs = sectors(network.W, X)
    seen = np.where(signs > 0, network.W @ X.T, 0.0)
    q = y * (network.a @ seen)
    slope = np.exp(-q) if isinstance(case.setting.loss, Exponential) else expit(-q)
    c = slope * y  # −ℓ_i'
    return network.a[:, None] * pulls(signs, X, c, hyperplanes), seen @ c


def integrated(case: Case, network: Network, time: float, steps: float = math.inf) -> Network:
    """The network after a time, by integrating (45) and (46) within the sectors that it is in."""
    shape, size = network.W.shape, network.W.size
    signs = sectors(network.W, case.data.X)
    hyperplanes = hyperplanes_of(signs, case.data.X)
    taken = 0

    def rhs(_: float, theta: np.ndarray) -> np.ndarray:
        nonlocal taken
        taken += 1
        if taken > steps:
            raise _TooLong
        seconds_left()
        moved = Network(theta[:size].reshape(shape), theta[size:])
        return np.append(*velocity(case, moved, signs, hyperplanes))

    theta = np.append(network.W, network.a)
    small = 1e-12 * float(np.abs(theta).max())
    # A general integrator that shares nothing with the flow's own, since the two are compared.
    end = solve_ivp(rhs, (0, time), theta, "DOP853", rtol=1e-10, atol=small).y[:, -1]
    return Network(end[:size].reshape(shape), end[size:])


def _pieces(case: Case, run: Observation) -> list[tuple[PathPoint, PathPoint]]:
    """Neighbouring moments between which every neuron stays in its sector."""
    busy = {time for time, _, _ in run.events}
    pieces = []
    longest = float(np.linalg.norm(case.data.X, axis=1).max())
    for one, other in pairwise(run.path):
        if other.time > LATEST or other.time in busy:
            continue
        net = one.network
        if EPS * (net.width + net.d) * net.weights.sum() * longest > HIDDEN:
            continue
        signs = [sectors(moment.network.W, case.data.X) for moment in (one, other)]
        if (signs[0] == signs[1]).all():
            pieces.append((one, other))
    return pieces[:: 1 + len(pieces) // MOST]


def _off(case: Case, one: PathPoint, other: PathPoint, steps: int) -> float | None:
    """The relative distance of the integrated network from the run's; None if it takes too long."""
    try:
        there = integrated(case, one.network, math.exp(other.time) - math.exp(one.time), steps)
    except _TooLong:
        return None
    expected = other.network
    apart = Network(there.W - expected.W, there.a - expected.a)
    return apart.norm / expected.norm


def _growth() -> Evidence:
    """One wrong neuron: a = −3, w = 3x, ‖x‖ = 1, y = 1."""
    data = Dataset(np.array([[1.0, 0.0]]), np.array([1]))
    network = Network(np.array([[3.0, 0.0]]), np.array([-3.0]))
    da = float(velocity(Case(data, FLOW), network)[1][0])
    rate = 2 * da / -3.0  # of log a²
    words = (
        f"A neuron with a = −3 and w = 3x on one point of length 1 has (log a²)' = {rate:.4f}; the "
        "printed bounds are −1 and 1, with the factor 2 they are −2 and 2."
    )
    return Evidence("corrected" if -2 <= rate < -1 else "printed", words)


class LemmaA4(Theorem):
    """A balanced network stays balanced, and no output weight changes its sign:

        a_k(t) = sign(a_k(0)) ‖w_k(t)‖   (57)

    for gradient flow on a loss with bounded ℓ'. Since (‖w_k‖²)' = (a_k²)' by Euler's identity (58),
    this holds for Leaky ReLU as well.

    The residual is the largest |a_k − sign(a_k(0))‖w_k‖|/‖(w_k, a_k)‖ along the path; its error is
    that of neurons that shrink until their digits are lost.
    """

    id = "phuong2021:lemmaA.4"
    source = Source("phuong2021", "Lemma A.4")
    summary = "The two layers of a neuron stay equally large, and its sign never changes."
    needs = "path"
    tolerance = 1e-9
    invariances = frozenset({"order", "scale", "rotation"})
    errata = (
        Erratum(
            "(58) lacks a factor 2, and a_k² lies between a_k(0)² exp(∓nBVt), B and V bounds of "
            "|ℓ'| and ‖x_i‖.",
            "It lies between a_k(0)² exp(∓2nBVt).",
            _growth,
        ),
    )

    def example(self) -> Case:
        data = cones(2)
        return Case(data, FLOW, initial_network(data))

    def counterexample(self) -> tuple[Case, str]:
        data = cones(2)
        start = initial_network(data)
        return Case(data, FLOW, Network(start.W, 0.5 * start.a)), "balanced"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        loss = case.setting.loss
        bounded = not isinstance(loss, Exponential)
        return (
            two_layer(case, "§2 (2)"),
            both_layers(case, "§2 (4)"),
            flow(case, "§2 (4)"),
            yes_or_no("bounded_slope", bounded, "Lemma A.4", f"the loss is {loss}"),
            balanced(case, "Lemma A.4"),
        )

    def predict(self, case: Case) -> Prediction:
        words = "Every neuron keeps |a| = ‖w‖ and the sign of a"
        if case.start is None:
            return Prediction(f"{words}.")
        signs = np.sign(case.start.a)
        many = int((signs > 0).sum()), int((signs < 0).sum())
        words += f"; {many[0]} are positive and {many[1]} negative"
        return Prediction(f"{words}.", {"signs": signs})

    def residual(
        self, prediction: Prediction, case: Case, run: Observation | None
    ) -> Estimate | None:
        if run is None:
            return None
        signs, worst, sure = np.sign(run.start.a), 0.0, 0.0
        for moment, lost in zip(run.path, run.lost_digits(), strict=True):
            off = _imbalance(moment.network, signs)
            worst, sure = (
                max(worst, off.max()),
                max(sure, float((off - lost)[lost < 1].max(initial=0.0))),
            )
        return Estimate(worst, worst - sure, "a neuron shrank until its digits were lost")

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        W, a = case.given_start.W, case.given_start.a
        return run_through(case.given_start, Network(3 * W, 3 * a), Network(0.1 * W, 0.1 * a))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return f"Along the path a and ±‖w‖ of a neuron differ by at most {residual:.1e}, relative."


def _imbalance(network: Network, signs: np.ndarray) -> np.ndarray:
    """|a_k − sign·‖w_k‖|, relative to the size of the neuron."""
    off = np.abs(network.a - signs * np.linalg.norm(network.W, axis=1))
    sizes = neuron_sizes(network)
    return np.divide(off, sizes, out=np.zeros_like(off), where=sizes > 0)
