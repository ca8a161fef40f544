"""What three hints cost: the margin that gradient flow loses."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.certificates import optimum
from tacit.data import load
from tacit.models import Leaky
from tacit.papers.beyond.drawing import draw_lost, draw_lost_over_H, draw_threshold
from tacit.papers.beyond.figures import PAPER
from tacit.papers.beyond.figures.deep_limit import deep_limit
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, Whose, ours, paper
from tacit.reproduction.claims import NOT_STATED, at_least, at_most, explained, probability_at_least
from tacit.values import Dataset, Setting


@dataclass(frozen=True)
class Hinted(Settings):
    alpha: float = paper(0.5, "lyu2021 Fig. 1")
    n: int = ours(10, "points behind the hints; the theorem allows any")
    d: int = ours(2, "their dimension; the theorem allows any")
    width: int = ours(20, "of the networks whose flow is followed; the theorem allows any")
    scale: float = ours(
        1e-9, "σ_init of the balanced Gaussian start; the theorem says: small enough"
    )
    K_factors: tuple[float, ...] = ours(
        (0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 1.01, 1.05, 1.15, 1.4, 2.0, 3.0, 5.0, 10.0),
        "K in units of ε√((3+α)/(1−α))",
    )
    eps_factors: tuple[float, ...] = ours((0.05, 0.2, 0.4, 0.6, 0.8, 0.95), "ε in units of αγ")
    H_values: int = ours(14, "values of H, from ε/2 to three times the bound of App. A.2")
    alphas: tuple[float, ...] = ours(
        (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9), "for the threshold of K"
    )
    runs: int = ours(2, "initialisations for each H, and for each K and ε")
    seconds: float = ours(60.0, "for one flow, after which its limit is left open")
    tolerance: float = ours(1e-6, "of margins, as a share")


QUICK_OTHERS = {"eps_factors": (0.2, 0.8), "alphas": (0.2, 0.8)}


@PAPER.artefact(
    "hinted",
    "lyu2021 Theorem 6.2, Definition 6.1",
    Hinted,
    {"K_factors": (0.5, 1.01, 3.0), "H_values": 3, "runs": 1, **QUICK_OTHERS},
)
def hinted(s: Hinted, tell: Tell) -> Exhibit:
    """What three hints cost: the margin that gradient flow loses, over H, K and ε

    Data with the three hints (Hw*, 1), (εw* ± Kw⊥, 1) in front. On the left, the lost share of the
    margin, 1 − reached/widest, over K, for each ε; lines are certified optima against the linear
    classifier's ε/2, dots are limits of gradient flow. Nothing is lost up to K = ε√((3+α)/(1−α)),
    which the paper does not say. In the middle that threshold, found by bisection with certified
    optima for other slopes α. On the right, H must exceed ε for a loss, and the bound that the
    paper's proof gives leads the flow to the linear classifier; for smaller H it may go there or
    not.
    """
    start = math.sqrt((3 + s.alpha) / (1 - s.alpha))
    plain, leaky = _with_hints(s, s.alpha), Setting(activation=Leaky(s.alpha))
    most = 2 * plain.parameters["eps"]  # αγ: by itself the generator takes half of it
    shape = (len(s.eps_factors), len(s.K_factors))
    lower, upper, linear = (np.zeros(shape) for _ in range(3))
    reached = np.full((*shape, s.runs), np.nan)
    for j, eps_factor in enumerate(s.eps_factors):
        tell(f"ε = {eps_factor:g} αγ")
        for k, K_factor in enumerate(s.K_factors):
            eps = eps_factor * most
            points = _with_hints(s, s.alpha, eps=eps, K=K_factor * eps * start)
            linear[j, k] = eps / 2
            lower[j, k], upper[j, k] = optimum(points, leaky).margin_bounds
            reached[j, k] = _reached(s, points)
    bound, half = plain.parameters["H"] / 1.1, plain.parameters["eps"] / 2
    H = np.geomspace(half, 3 * bound, s.H_values)
    H_lower, H_upper = np.zeros(len(H)), np.zeros(len(H))
    H_reached = np.zeros((len(H), s.runs))
    for j, length in enumerate(H):
        tell(f"H = {length:.3g}")
        points = _with_hints(s, s.alpha, H=float(length))
        H_lower[j], H_upper[j] = optimum(points, leaky).margin_bounds
        H_reached[j] = _reached(s, points)
    H_linear = np.minimum(H / 2, half)
    tell("the threshold of K")
    threshold = np.array([threshold_of_K(s, alpha) for alpha in s.alphas])
    figure, ((left, middle, right),) = new_figure(1, 3, size=(17, 4.8))
    lost, by_flow = 1 - linear / lower, 1 - reached / lower[:, :, None]
    draw_lost(left, s.K_factors, s.eps_factors, lost, by_flow)
    draw_threshold(middle, s.alphas, threshold)
    unit = 2 * half
    draw_lost_over_H(right, H / unit, bound / unit, H_linear / H_lower, H_reached, H_lower)
    data = {"lower": lower, "upper": upper, "linear": linear, "reached": reached, "H": H}
    data |= {"H_bound": np.array(bound), "H_lower": H_lower, "H_upper": H_upper}
    data |= {"H_linear": H_linear, "H_reached": H_reached, "threshold": threshold}
    return Exhibit((*_K_claims(s, data), *_H_claims(s, data)), figure, data)


def _K_claims(s: Hinted, data: dict[str, np.ndarray]) -> list[Claim]:
    lower, upper, linear, reached = (data[k] for k in ("lower", "upper", "linear", "reached"))
    factors, alphas = np.array(s.K_factors), np.array(s.alphas)
    lost = 1 - linear / lower
    any_K = "K > 0, as App. A.2 chooses it, is enough for the suboptimal margin that Theorem 6.2 "
    any_K += "ends with: smallest share lost"
    always = at_least("any_K", any_K, float(lost.min()), s.tolerance, "suboptimal, K > 0")
    why = "For K ≤ ε√((3+α)/(1−α)) the multipliers 1/(2ε) of the two hints are dual feasible, so "
    why += "½φ(w*·x) has the widest margin of all. Theorem 6.2 asks for a “sufficiently large” K "
    why += "and stands; App. A.2 chooses its K for the convergence and does not argue the last "
    why += "sentence, for which K > 0 is too little."
    always = explained(always, why, Whose.PAPER, bool((factors < 1).any()))
    below = "for K below ε√((3+α)/(1−α)) nothing is lost: largest share, by the upper bound"
    nothing = float((1 - linear / upper)[:, factors < 1].max(initial=0.0))
    beyond = "for K beyond it margin is lost: smallest share, by the lower bound"
    least = float(lost[:, factors > 1].min(initial=1.0))
    begins = "the K at which the loss begins, found with certified optima, is ε√((3+α)/(1−α)) for "
    begins += "every slope α: largest relative difference"
    off = float(np.abs(data["threshold"] / np.sqrt((3 + alphas) / (1 - alphas)) - 1).max())
    flow = "with H as in App. A.2 the flow ends at the linear classifier ½φ(w*·x), for every K, ε"
    ended = np.abs(reached / linear[:, :, None] - 1) <= s.tolerance
    return [
        always,
        at_most("below", below, nothing, s.tolerance, NOT_STATED),
        at_least("beyond", beyond, least, s.tolerance, "suboptimal, K large (Thm 6.2)"),
        at_most("threshold", begins, off, 1e-4),
        probability_at_least("flow", flow, int(ended.sum()), ended.size, 1 - 2.0**-s.width),
    ]


def _H_claims(s: Hinted, data: dict[str, np.ndarray]) -> list[Claim]:
    H, bound, half = data["H"], float(data["H_bound"]), data["H_linear"]
    below = "with H below ε nothing is lost, the first hint is then the nearest point: largest "
    below += "share, by the upper bound"
    lost = float((1 - half / data["H_upper"])[H < 2 * half.max()].max(initial=0.0))
    enough = "the bound of App. A.2 suffices: the largest H with a limit other than the linear "
    enough += "classifier, as a share of it"
    linear = np.abs(data["H_reached"] / half[:, None] - 1) <= s.tolerance
    other = float(H[~linear.all(axis=1)].max(initial=0.0)) / bound
    return [
        at_most("H_below", below, lost, s.tolerance, NOT_STATED),
        at_most("H_enough", enough, other, 1.0, "enough (App. A.2)"),
    ]


def _with_hints(s: Hinted, alpha: float, **constants: float) -> Dataset:
    given = "".join(f",{name}={value!r}" for name, value in constants.items())
    return load(f"hinted:n={s.n},d={s.d},alpha={alpha},seed={s.seed}{given}")


def _reached(s: Hinted, data: Dataset) -> list[float]:
    """The margins of the limits from several starts; NaN where a limit is not told."""
    init = f"balanced_gaussian:{s.scale}"
    setting = Setting(activation=f"leaky:{s.alpha}", width=s.width, init=init)
    limits = [deep_limit(setting, data, s.seed + run, s.seconds) for run in range(s.runs)]
    return [math.nan if limit.margin is None else limit.margin for limit in limits]


def threshold_of_K(s: Hinted, alpha: float) -> float:
    """K/ε from which on a network with a wider margin than ε/2 is known, by bisection."""
    eps = _with_hints(s, alpha).parameters["eps"]
    ends, leaky = [0.1, 100.0], Setting(activation=Leaky(alpha))
    while ends[1] / ends[0] > 1 + 1e-5:
        middle = math.sqrt(ends[0] * ends[1])
        best = optimum(_with_hints(s, alpha, eps=eps, K=middle * eps), leaky).margin
        ends[int(best > eps / 2 * (1 + 1e-9))] = middle
    return math.sqrt(ends[0] * ends[1])
