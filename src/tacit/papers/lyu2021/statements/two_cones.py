"""Small neurons on data with a principal direction: two cones, two rates, one survivor (App. G)."""

import math
from dataclasses import replace
from typing import NamedTuple, final

import numpy as np

from tacit.numerics.arrangements import TooManyCells, cells
from tacit.papers.lyu2021.statements.early_pulls import off_the_ray, pulls, start_checks
from tacit.papers.lyu2021.statements.embedding import distance, largest
from tacit.papers.lyu2021.statements.hypotheses import flow_checks, network_checks, started
from tacit.papers.lyu2021.statements.linear_phase import INTEGRATION_ERROR, mean_time, short_points
from tacit.papers.lyu2021.statements.one_sided import three_points
from tacit.theorems import (
    Case,
    Erratum,
    Evidence,
    Observation,
    PathPoint,
    Prediction,
    Source,
    Theorem,
)
from tacit.theorems.hypotheses import balanced, small_start
from tacit.values import Check, Network

EARLY = 0.1
"""√m ‖θ‖_M up to which weights are small: our reading of √ε in the proof of Lemma G.4."""
WINDOW = (0.3, 1.0)
"""Sizes of the one-neuron network at which Lemma G.8 is looked at."""
NEAR = 2e-2
"""Our reading of the limit in Lemma G.8: up to this share the network is the embedded neuron."""
SEED_SIZE, STEP = 1e-5, 0.02
"""Size from which a single neuron is integrated, and the step in units of 1/λ⁺."""
MOST_CELLS = 20_000
A_2, A_3 = "lyu2021:assumptionA.2", "lyu2021:assumptionA.3"


def narrowest(case: Case) -> float | None:
    """δ, the least ⟨w, y_i x_i⟩ over points and unit w in K (§G.2); None where it is out of reach.

    ⟨w, z⟩/‖w‖ is quasi-concave, so it is least at a vertex Σ h_j y_j x_j of K; the masks h of these
    are 1 and α on the two sides of a direction.
    """
    Z = case.data.y[:, None] * case.data.X
    try:
        signs = cells(Z, MOST_CELLS)
    except TooManyCells:
        return None
    vertices = np.where(signs > 0, 1.0, case.alpha) @ Z
    lengths = np.linalg.norm(vertices, axis=1)
    return float((vertices @ Z.T / np.where(lengths > 0, lengths, 1.0)[:, None]).min())


def outside(network: Network, case: Case, delta: float) -> float:
    """How far the worst neuron is from its cone, sgn(a_k) C_{δ/3}, as a cosine times max‖x_i‖."""
    Z = case.data.y[:, None] * case.data.X
    lengths = np.linalg.norm(network.W, axis=1)
    if not lengths.all():
        return math.inf
    along = np.sign(network.a)[:, None] * (network.W @ Z.T) / lengths[:, None]
    return float(delta / 3 - along.min())


def _early(run: Observation) -> list[PathPoint]:
    m = len(run.start.a)
    return [p for p in run.path if math.sqrt(m) * largest(p.network) <= EARLY]


def _checks(case: Case) -> tuple[Check, ...]:
    """Of Lemma G.4, before its conditions on the start."""
    return (
        *network_checks(case),
        *flow_checks(case),
        short_points(case),
        case.data_check(A_2, "Assumption A.2"),
    )


def _rays() -> Evidence:
    """∇G at ±µ⁻, from its definition: a neuron with a > 0 moves along it."""
    case = three_points()
    X, y = case.data.X, case.data.y
    cosines = []
    for sign in (1, -1):
        w = sign * pulls(case).minus
        g = (y * np.where(X @ w > 0, 1.0, case.alpha)) @ X
        cosines.append(float(g @ w / np.linalg.norm(g) / np.linalg.norm(w)))
    words = (
        f"cos(w, ∇G(w)) is {cosines[0]:.6f} at w = µ⁻ and {cosines[1]:.6f} at w = −µ⁻: a neuron "
        "with a > 0 shrinks towards 0 for ever on the second ray only."
    )
    corrected = abs(cosines[1] + 1) < 1e-9 and cosines[0] > 0
    return Evidence("corrected" if corrected else "printed", words)


class _TwoCones(Theorem):
    """A statement about the path from a small start, where the data has a principal direction."""

    needs = "path"
    invariances = frozenset({"order", "rotation"})

    def example(self) -> Case:
        case, rng = three_points(), np.random.default_rng(4)
        W = 1e-12 * rng.normal(size=(8, 2))
        a = np.resize([1.0, -1.0], 8) * np.linalg.norm(W, axis=1)
        setting = case.setting.replace(width=8, init="balanced_gaussian:1e-12")
        return Case(case.data, setting, Network(W, a, case.alpha))


@final
class LemmaG4(_TwoCones):
    """Lemma G.4: every small neuron comes to the right side of all points, while it is still small.

    Under A.2, if |ā_k| = ‖w̄_k‖ ≠ 0 and no w̄_k is on the ray −λµ⁻ (ā_k > 0) or λµ⁺ (ā_k < 0), there
    are T₀ and σ_max such that for all σ < σ_max the flow from σθ̄ has at T₀

        w_k in C_{δ/3} where ā_k > 0,   w_k in −C_{δ/3} where ā_k < 0,   Aσ ≤ ‖w_k‖ ≤ Bσ,

    where C_c = {w : y_i⟨w, x_i⟩ ≥ c‖w‖ for all i} and δ is the largest c with K in C_c. The proof
    has A = e^(−T₀) min‖w̄_k‖, B = e^(T₀) max‖w̄_k‖, as ‖w_k(t)‖ is between e^(∓t)‖w_k(0)‖.

    "Small" is read as √m‖θ‖_M ≤ 0.1: some moment until then must be such a T₀.
    """

    id = "lyu2021:lemmaG.4"
    source = Source("lyu2021", "Lemma G.4")
    summary = (
        "Where the data has a principal direction, every small neuron turns to its side of all "
        "points before it has grown."
    )
    tolerance = 1e-9
    errata = (
        Erratum(
            "Lemmas G.3, G.4: w̄_k ≠ λµ⁻ where ā_k > 0, and w̄_k ≠ −λµ⁺ where ā_k < 0",
            "w̄_k ≠ −λµ⁻ where ā_k > 0, and w̄_k ≠ λµ⁺ where ā_k < 0, as the proof has it",
            _rays,
        ),
    )

    def counterexample(self) -> tuple[Case, str]:
        """The first neuron shrinks to 0 for ever."""
        case = self.example()
        W, ray = case.given_start.W.copy(), -pulls(case).minus
        W[0] = ray * np.linalg.norm(W[0]) / np.linalg.norm(ray)
        return replace(case, start=replace(case.given_start, W=W)), "off_the_ray"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Lemma G.4"
        return (
            *_checks(case),
            balanced(case, place),
            off_the_ray(case, place),
            small_start(case, place),
        )

    def predict(self, case: Case) -> Prediction:
        delta = narrowest(case)
        words = "While all weights are still small, every neuron comes to its side of all points"
        return Prediction(
            f"{words}." if delta is None else f"{words}, by {delta / 3:.3g} ‖w_k‖ or more.",
            {} if delta is None else {"delta": delta},
        )

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """How far the neurons are from their cones at the best early moment, and by how much
        ln‖w_k‖ has changed more than t by then."""
        assert run is not None
        early = _early(run)
        if not prediction.values or (len(early) == len(run.path) and run.limit is None):
            return None
        return min(
            max(outside(p.network, case, prediction.values["delta"]), _grown(run, p, case), 0.0)
            for p in early or run.path[:1]
        )

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        start, both = case.given_start, pulls(case)
        rays = np.where((start.a > 0)[:, None], both.plus, -both.minus)
        rays *= (np.abs(start.a) / np.linalg.norm(rays, axis=1))[:, None]
        grown = Network(rays / largest(start), start.a / largest(start), case.alpha)
        return Observation(
            (
                PathPoint(-math.inf, 0.0, start),
                PathPoint(0.0, 0.0, replace(start, W=rays)),
                PathPoint(3.0, 0.0, grown),
            )
        )

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "While the weights are small, all neurons come to their sides of all points."
        return f"When the weights cease to be small, a neuron is {residual:.1e} off its cone."


def _grown(run: Observation, moment: PathPoint, case: Case) -> float:
    """By how much |ln(‖w_k(t)‖/‖w_k(0)‖)| exceeds t (63)."""
    before, after = (np.linalg.norm(net.W, axis=1) for net in (run.start, moment.network))
    if not (before.all() and after.all()):
        return math.inf
    change = float(np.abs(np.log(after / before)).max())
    return change - mean_time(moment, case) - INTEGRATION_ERROR


class Departure(NamedTuple):
    """The network at T₀, and what Lemma G.5 says of it from then on."""

    begins: int
    """T₀ is the time of this moment of the path."""
    rates: np.ndarray
    """λ⁺ = ½‖µ⁺‖ for neurons with a_k > 0, λ⁻ = ½‖µ⁻‖ for the others."""
    directions: np.ndarray
    """µ̄⁺ or µ̄⁻."""
    sizes: np.ndarray
    """(⟨w_k, µ̄^±⟩ + a_k)/2 at T₀."""

    def after(self, time: float, alpha: float) -> Network:
        """e^(λ^± time) times the part of each neuron along (µ̄^±, 1)."""
        grown = np.exp(self.rates * time) * self.sizes
        return Network(grown[:, None] * self.directions, grown, alpha)


def departure(run: Observation, case: Case, delta: float) -> Departure | None:
    """T₀ of the run: the first early moment at which every neuron is in its cone."""
    both = pulls(case)
    for index, moment in enumerate(run.path[: len(_early(run))]):
        if outside(moment.network, case, delta) <= INTEGRATION_ERROR:
            net = moment.network
            drift = np.where((net.a > 0)[:, None], both.plus, both.minus)
            lengths = np.linalg.norm(drift, axis=1)
            along = drift / lengths[:, None]
            sizes = ((net.W * along).sum(axis=1) + net.a) / 2
            return Departure(index, lengths / 2, along, sizes)
    return None


def _rate() -> Evidence:
    """−∂L/∂a of the mean loss at a tiny neuron along µ̄⁺, by a difference quotient."""
    case = three_points()
    X, y, mu = case.data.X, case.data.y, pulls(case).plus
    size = float(np.linalg.norm(mu))
    z = 1e-4 * X @ mu / size
    phi = np.maximum(z, case.alpha * z)
    loss = [np.logaddexp(0, -y * a * phi).mean() for a in (-1e-4, 1e-4)]
    measured = float((loss[0] - loss[1]) / 2e-8)
    words = f"The rate is {measured:.4f}; ½‖µ⁺‖ is {size / 2:.4f} and ‖µ⁺‖ is {size:.4f}."
    nearer = abs(measured - size / 2) < 1e-3 * size
    return Evidence("corrected" if nearer else "printed", words)


@final
class LemmaG5(_TwoCones):
    """Lemma G.5: positive neurons grow along µ⁺, negative ones along µ⁻, and slower.

    Under A.2 and A.3, with the conditions of Lemma G.4 on the start and its T₀,
    T₁(σ, r) = ln(r/(√mσ))/λ⁺, κ = 1 − ‖µ⁻‖/‖µ⁺‖ and λ⁺ = ½‖µ⁺‖: at T₀ + T₁ the neurons are

        (w_k, a_k) = r b̄_k (µ̄⁺, 1) + Δ where ā_k > 0,   r^(1−κ) b̄_k (µ̄⁻, 1) + Δ where ā_k < 0,

    with ‖Δ‖_M ≤ C₂r³, |b̄_k| in [Ā, B̄] where ā_k > 0 and in σ^κ [Ā, B̄] where ā_k < 0.

    The constants are not named; the proof has b̄_k = (⟨w_k(T₀), µ̄^±⟩ + a_k(T₀))/(2(√mσ)^(1 or 1−κ)),
    and with e^(λ⁺t) = r/(√mσ) the error after T₀ is at most

        ‖Δ‖_M ≤ (4m‖θ(T₀)‖³_M/λ⁺) e^(3λ⁺t) + √2‖θ(T₀)‖_M   while 4m‖θ(T₀)‖²_M e^(2λ⁺t) ≤ λ⁺,

    and |⟨w_k(T₀), µ̄^±⟩ + a_k(T₀)| is between ‖w_k(T₀)‖ and twice that. This is checked, for the
    first T₀ on the path.
    """

    id = "lyu2021:lemmaG.5"
    source = Source("lyu2021", "Lemma G.5")
    summary = (
        "Where the data has a principal direction, small positive neurons grow along one direction "
        "and negative ones along another, at two rates that the data tells."
    )
    tolerance = 1e-6
    errata = (
        Erratum(
            "λ₀⁺ = ‖µ⁺‖ in T₁, and G(w) = ⟨w, µ⁺⟩ on C",
            "λ₀⁺ = ½‖µ⁺‖ and G(w) = ½⟨w, µ⁺⟩, because −ℓ'(0) = ½",
            _rate,
        ),
    )

    def counterexample(self) -> tuple[Case, str]:
        """With all labels flipped ‖µ⁻‖ is the larger one."""
        case = self.example()
        data = replace(case.data, y=-case.data.y)
        return replace(case, data=data, _properties={}), A_3

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Lemma G.4"
        return (
            *_checks(case),
            case.data_check(A_3, "Assumption A.3"),
            balanced(case, place),
            off_the_ray(case, place),
            small_start(case, place),
        )

    def predict(self, case: Case) -> Prediction:
        plus, minus = (float(np.linalg.norm(mu)) for mu in pulls(case))
        values: dict[str, object] = {"rates": [plus / 2, minus / 2]}
        values["kappa"] = 1 - minus / plus if plus > 0 else 0.0
        if (delta := narrowest(case)) is not None and minus > 0:
            values["delta"] = delta
        words = (
            f"Once on their sides, positive neurons grow like e^({plus / 2:.4g} t) along µ⁺ and "
            f"negative ones like e^({minus / 2:.4g} t) along µ⁻ (time of the mean loss)."
        )
        return Prediction(words, values)

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest share by which the error exceeds its bound, or a |b̄_k| its range."""
        assert run is not None
        if "delta" not in prediction.values:
            return None
        known = departure(run, case, prediction.values["delta"])
        if known is None:
            return 1.0 if len(_early(run)) < len(run.path) else None
        begin, rate = run.path[known.begins], prediction.values["rates"][0]
        m, size = len(run.start.a), largest(begin.network)
        share = 2 * np.abs(known.sizes) / np.linalg.norm(begin.network.W, axis=1)
        worst = max(float(share.max()) - 2, 1 - float(share.min()), 0.0)
        for moment in run.path[known.begins :]:
            time = mean_time(moment, case) - mean_time(begin, case)
            if 2 * rate * time > math.log(rate / (4 * m * size**2)):
                break
            wanted = known.after(time, case.alpha)
            bound = 4 * m * size**3 / rate * math.exp(3 * rate * time) + math.sqrt(2) * size
            bound += INTEGRATION_ERROR * largest(wanted)
            worst = max(worst, distance(moment.network, wanted) / bound - 1)
        return worst

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        begin = LemmaG4().ideal(prediction, case).path[1]
        run = Observation((begin,))
        known = departure(run, case, prediction.values["delta"])
        assert known is not None
        moments = [begin]
        for time in (10.0, 50.0):
            log_t = math.log((time + mean_time(begin, case)) / case.data.n)
            moments.append(PathPoint(log_t, 0.0, known.after(time, case.alpha)))
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        if residual <= self.tolerance:
            return "Both signs grow along their directions, as fast as they should."
        return f"The error of the growth exceeds its bound by {residual:.1e} of it."


@final
class LemmaG8(_TwoCones):
    """Lemma G.8: as the start shrinks, m neurons come to move like one.

    With b̄ and T₀ of Lemma G.5, T₁₂(σ) = T₀ + ln(1/(√mσ))/λ⁺, and scales σ_j → 0 for which
    b̂ = lim b̄(σ_j) exists: with probability 1 − 2^(−m) (some ā_k > 0) b̂₊ > 0 and b̂₋ = 0, the limit
    θ̃(t) = lim φ(rθ̂, ln(1/r)/λ⁺ + t) as r → 0 of the neuron that leaves zero along
    θ̂ = b̂₊(µ̄⁺, 1) exists, and θ_j(T₁₂(σ_j) + t) → π_b̂(θ̃(t)) for all t ≥ 0.

    The single neuron is integrated on its own from a small size, and the network is compared with
    it where it has a size between 0.3 and 1, with b̄ from the weights at T₀ of the run. For one σ
    the limit is read as: up to 2 %.
    """

    id = "lyu2021:lemmaG.8"
    source = Source("lyu2021", "Lemma G.8")
    summary = (
        "Where the data pulls harder on positive neurons, a network that leaves a very small start "
        "moves like a single neuron."
    )
    tolerance = NEAR

    def counterexample(self) -> tuple[Case, str]:
        case = self.example()
        start = replace(case.given_start, a=-np.abs(case.given_start.a))
        return replace(case, start=start), "some_positive"

    def hypotheses(self, case: Case, run: Observation | None = None) -> tuple[Check, ...]:
        case, place = started(case, run), "Lemma G.8"
        return (
            *_checks(case),
            case.data_check(A_3, "Assumption A.3"),
            *start_checks(case, 1, run, place),
        )

    def predict(self, case: Case) -> Prediction:
        said = LemmaG5().predict(case)
        words = "The network comes to move like one neuron that leaves zero along µ⁺."
        return Prediction(words, {**said.values, "probability": 1 - 2.0**-case.setting.width})

    def residual(self, prediction: Prediction, case: Case, run: Observation | None) -> float | None:
        """The largest ‖θ − π_b̂(θ̃)‖_M/‖π_b̂(θ̃)‖_M over the moments in the window."""
        assert run is not None
        if "delta" not in prediction.values:
            return None
        known = departure(run, case, prediction.values["delta"])
        if known is None or not (known.sizes > 0).any():
            return 1.0 if len(_early(run)) < len(run.path) else None
        begin, rate = run.path[known.begins], prediction.values["rates"][0]
        worst = None
        for moment in run.path[known.begins :]:
            time = mean_time(moment, case) - mean_time(begin, case)
            log_size = math.log(_total(known)) + rate * time
            if math.log(WINDOW[0]) <= log_size <= math.log(WINDOW[1]):
                wanted = _embedded_neuron(case, known, log_size)
                off = distance(moment.network, wanted) / largest(wanted)
                worst = max(worst or 0.0, off)
        return worst

    def ideal(self, prediction: Prediction, case: Case) -> Observation:
        begin = LemmaG4().ideal(prediction, case).path[1]
        known = departure(Observation((begin,)), case, prediction.values["delta"])
        assert known is not None
        moments, rate = [begin], prediction.values["rates"][0]
        for size in (0.4, 0.9):
            time = (math.log(size) - math.log(_total(known))) / rate + mean_time(begin, case)
            network = _embedded_neuron(case, known, math.log(size))
            moments.append(PathPoint(math.log(time / case.data.n), 0.0, network))
        return Observation(tuple(moments))

    def verdict(self, residual: float, prediction: Prediction, run: Observation | None) -> str:
        return (
            f"While its weights grow to size one, the network is within {residual:.1e} (relative) "
            "of a single neuron, whose path was computed on its own."
        )


def _total(known: Departure) -> float:
    """The size at T₀ of the neuron that those with a_k > 0 are copies of."""
    return float(np.linalg.norm(known.sizes[known.sizes > 0]))


def _embedded_neuron(case: Case, known: Departure, log_size: float) -> Network:
    """π_b̂(θ̃) where the linear flow has the size e^(log_size)."""
    first = int(np.argmax(known.sizes))
    w, a = single_neuron(case, known.directions[first], log_size)
    share = np.where(known.sizes > 0, known.sizes, 0.0) / _total(known)
    return Network(np.outer(share, w), share * a, case.alpha)


def single_neuron(case: Case, direction: np.ndarray, log_size: float) -> tuple[np.ndarray, float]:
    """One neuron of the flow on the mean loss, which leaves zero along (direction, 1).

    It is at e^(λ⁺t)(direction, 1) while it is small; Runge and Kutta's rule from there.
    """
    X, y, alpha = case.data.X, case.data.y, case.alpha
    rate = float(np.linalg.norm(pulls(case).plus)) / 2
    time = (log_size - math.log(SEED_SIZE)) / rate
    steps = max(math.ceil(rate * time / STEP), 1)
    h = time / steps

    def velocity(v: np.ndarray) -> np.ndarray:
        z = X @ v[:-1]
        slopes = np.where(z > 0, 1.0, alpha)
        p = y / (1 + np.exp(y * v[-1] * slopes * z)) / len(y)
        return np.append(v[-1] * (p * slopes) @ X, p @ (slopes * z))

    v = SEED_SIZE * np.append(direction, 1.0)
    for _ in range(steps):
        k1 = velocity(v)
        k2 = velocity(v + h / 2 * k1)
        k3 = velocity(v + h / 2 * k2)
        v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(v + h * k3))
    return v[:-1], float(v[-1])
