"""lyu2021 Theorem A.7: what it promises of three points, and what happens there."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacit.certificates import optimum
from tacit.flow import Limit
from tacit.models import Leaky
from tacit.papers.beyond.drawing import draw_promise, draw_shares
from tacit.papers.beyond.figures import PAPER
from tacit.papers.beyond.figures.deep_limit import deep_limit
from tacit.papers.lyu2021.scaled_margin import scaled_margin
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, Whose, ours, paper
from tacit.reproduction.claims import at_most, near, probability_at_least, true
from tacit.theorems import Case, theorem
from tacit.values import Dataset, Setting

ASSUMPTIONS = ("A.2", "A.3", "A.5")
"""Assumptions on the data; A.6 follows from App. I.2.1: the points are orthogonally separable."""


@dataclass(frozen=True)
class Principal(Settings):
    alpha: float = paper(0.5, "lyu2021 Fig. 1")
    width: int = ours(6, "the theorem allows any")
    scales: tuple[float, ...] = ours(
        (1e-6, 1e-20, 1e-40), "σ_init of the balanced Gaussian start; the theorem: small enough"
    )
    length: float = ours(2.0, "of the first point on the right, in units of α²")
    lengths: tuple[float, ...] = ours(
        (0.3, 0.5, 0.7, 0.85, 1.15, 1.3, 1.6, 2.0, 2.5, 3.0, 3.5, 3.9),
        "of the first point on the left, in units of α²; A.5 holds for less than α⁻²",
    )
    runs: int = ours(8, "initialisations at each scale, and a quarter of it at each length")
    seconds: float = ours(60.0, "for one flow, after which its limit is left open")
    tolerance: float = ours(1e-6, "of margins, as a share")


class Ends(NamedTuple):
    """Flows from several starts: their signs, and the margins of their limits."""

    both_signs: np.ndarray
    margin: np.ndarray
    """NaN where a limit is not told."""
    limits: list[Limit]


@PAPER.artefact(
    "principal",
    "lyu2021 Theorem A.7",
    Principal,
    {"scales": (1e-6, 1e-20), "lengths": (0.5, 2.0, 3.0), "runs": 4},
)
def principal(s: Principal, tell: Tell) -> Exhibit:
    """Theorem A.7 as printed: what it promises of three points, and what happens there

    The points (ℓ, 0) and (2, −2) are positive, (0, 1) is negative; all are divided by 3. Up to
    ℓ = 1 all of Assumptions 3.2, A.2, A.3, A.5 and A.6 hold, so one neuron ½φ(w⁺·x) of margin ½γ⁺
    should be the limit from every small start with a positive neuron. On the left the margins of
    limits (dots) over ℓ: they are ½γ⁺ only up to ℓ = α², where A.5 at the multipliers of w⁺, our
    condition, ends; beyond, they are the widest of all, which is certified. On the right the
    reason: the share of the negative neurons in ‖θ‖² falls while the network leaves zero, by the
    more the smaller the start (Lemma G.5), but then grows until it is that of the best network.
    """
    leaky = Setting(activation=Leaky(s.alpha))
    promised, widest, upper = np.zeros((3, len(s.lengths)))
    holds, condition = np.zeros((2, len(s.lengths)), dtype=bool)
    reached = np.zeros((len(s.lengths), max(s.runs // 4, 1)))
    for k, factor in enumerate(s.lengths):
        tell(f"ℓ = {factor:g} α²")
        data = points(factor * s.alpha**2)
        promised[k] = scaled_margin(data.X, data.y, s.alpha).margin_bounds.lower / 2
        widest[k], upper[k] = optimum(data, leaky).margin_bounds
        holds[k], condition[k] = _assumed(data, s)
        ends = _ends(s, data, s.scales[0], reached.shape[1])
        reached[k] = np.where(ends.both_signs, ends.margin, np.nan)
    tell("the scales of the start")
    data = points(s.length * s.alpha**2)
    ends_of = {scale: _ends(s, data, scale, s.runs) for scale in s.scales}
    positive = deep_limit(_setting(s, 1e-6), data, s.seed, s.seconds, _positive(data, s))
    one = scaled_margin(data.X, data.y, s.alpha).margin_bounds.lower / 2
    best = optimum(data, leaky).margin_bounds.lower
    figure, ((left, right),) = new_figure(1, 2, size=(12, 4.8))
    draw_promise(left, np.array(s.lengths), promised, widest, reached)
    paths = [_shares(ends.limits[0]) for ends in ends_of.values()]
    draw_shares(right, paths, s.scales)
    saved = {"promised": promised, "widest": widest, "upper": upper, "reached": reached}
    saved |= {f"share_{scale:g}": path for scale, path in zip(s.scales, paths, strict=True)}
    saved |= {"margins": np.array([ends.margin for ends in ends_of.values()])}
    margins = np.concatenate([ends.margin for ends in ends_of.values()])
    both = np.concatenate([ends.both_signs for ends in ends_of.values()])
    return Exhibit(
        (
            *_promise(s, holds, margins, one),
            _best("both_signs", s, margins[both], best),
            near(
                "positive",
                "from a start with a_k > 0 for all k, of probability 2^(−m), the limit is the "
                "promised one: its margin over ½γ⁺",
                (positive.margin or np.nan) / one,
                1.0,
                s.tolerance,
                "½γ⁺ (Thm A.7)",
            ),
            *_over_lengths(s, condition, promised, upper, reached),
        ),
        figure,
        saved,
    )


def _promise(s: Principal, holds: np.ndarray, margins: np.ndarray, one: float) -> list[Claim]:
    kept = int((np.abs(margins / one - 1) <= s.tolerance).sum())
    text = "the limit has margin ½γ⁺ from every start with a positive neuron: share of starts"
    promise = probability_at_least("promise", text, kept, len(margins), 1 - 2.0**-s.width)
    if not promise.holds:
        why = "A.5 speaks of some multipliers and the proof of Theorem G.11 of those of w⁺. With "
        why += "these a negative neuron grows faster than the positive ones, however small it is."
        promise = replace(
            promise, paper=f"{promise.paper} (Thm A.7)", finding=why, whose=str(Whose.PAPER)
        )
    words = "Assumptions 3.2, A.2, A.3, A.5 hold, and A.6 by App. I.2.1, at every length below α⁻²"
    inside = np.array(s.lengths) * s.alpha**2 < 1
    said = f"at {int(holds[inside].sum())} of {int(inside.sum())}"
    return [
        true("assumed", words, bool(holds[inside].all()), said, "the hypotheses of Thm A.7"),
        promise,
    ]


def _best(id: str, s: Principal, margins: np.ndarray, best: float) -> Claim:
    text = "from starts with neurons of both signs the limit has the widest margin of all, at "
    text += "every scale: largest shortfall"
    return at_most(id, text, float((1 - margins / best).max(initial=0.0)), s.tolerance)


def _over_lengths(
    s: Principal,
    condition: np.ndarray,
    promised: np.ndarray,
    upper: np.ndarray,
    reached: np.ndarray,
) -> list[Claim]:
    factors = np.array(s.lengths)
    agrees = (
        "our condition, A.5 at the multipliers of w⁺, holds exactly for ℓ < α²: lengths where not"
    )
    kept = "where it holds, limits from both signs have margin ½γ⁺: largest relative difference"
    off = np.abs(reached / promised[:, None] - 1)[condition]
    lost = "where it fails, they have the widest margin instead: largest shortfall"
    short = (1 - reached / upper[:, None])[~condition]
    return [
        at_most("condition", agrees, float((condition != (factors < 1)).sum()), 0),
        at_most("kept", kept, float(np.nanmax(off, initial=0.0)), s.tolerance),
        at_most("overtaken", lost, float(np.nanmax(short, initial=0.0)), s.tolerance),
    ]


def points(length: float) -> Dataset:
    """(ℓ, 0) and (2, −2), positive, and (0, 1), negative; over 3."""
    X = np.array([[length, 0.0], [0.0, 1.0], [2.0, -2.0]]) / 3
    return Dataset(X, np.array([1, -1, 1]))


def _assumed(data: Dataset, s: Principal) -> tuple[bool, bool]:
    """Whether the printed assumptions hold, and our condition."""
    checks = theorem("lyu2021:thmA.7").hypotheses(Case(data, _setting(s, 1e-6)))
    known = {check.name: check.holds is True for check in checks}
    names = ["linearly_separable", *(f"lyu2021:assumption{one}" for one in ASSUMPTIONS)]
    return all(known[name] for name in names), known["weaker_at_multipliers"]


def _setting(s: Principal, scale: float) -> Setting:
    init = f"balanced_gaussian:{scale}"
    return Setting(activation=Leaky(s.alpha), width=s.width, init=init, rule="flow")


def _positive(data: Dataset, s: Principal) -> tuple[np.ndarray, np.ndarray]:
    W = 1e-6 * np.random.default_rng(s.seed).normal(size=(s.width, data.d))
    return W, np.linalg.norm(W, axis=1)


def _ends(s: Principal, data: Dataset, scale: float, runs: int) -> Ends:
    seeds = range(s.seed, s.seed + runs)
    limits = [deep_limit(_setting(s, scale), data, seed, s.seconds) for seed in seeds]
    signs = [limit.path.moments[0].state.a for limit in limits]
    both = np.array([(a > 0).any() and (a < 0).any() for a in signs])
    margins = [np.nan if limit.margin is None else limit.margin for limit in limits]
    return Ends(both, np.array(margins), limits)


def _shares(limit: Limit) -> np.ndarray:
    """(‖θ‖, the share of the neurons with a < 0 in ‖θ‖²) at every moment of the path."""
    rows = []
    for moment in limit.path.moments:
        W, a = moment.state.W, moment.state.a
        squares = (W**2).sum(axis=1) + a**2
        rows.append((np.sqrt(squares.sum()), squares[a < 0].sum() / squares.sum()))
    return np.array(rows)
