"""Is the limit the best network there is?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tacit.certificates import optimum, two_layer_kkt
from tacit.data import load
from tacit.flow.path_measures import along
from tacit.numerics.max_margin import max_margin
from tacit.papers.beyond.drawing import draw_verdicts
from tacit.papers.beyond.figures import PAPER
from tacit.papers.beyond.figures.deep_limit import deep_limit
from tacit.papers.beyond.figures.published_settings import MOST_STARTS, PublishedSettings
from tacit.papers.lyu2021.statements.left_example import printed_network
from tacit.papers.wang2022.statements.limits import three_against_one
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, Whose, ours
from tacit.reproduction.claims import at_least, at_most, explained, near
from tacit.values import Dataset, Network, Setting


@dataclass(frozen=True)
class Global(PublishedSettings):
    lyu_tiny: float = ours(1e-6, "small enough for lyu2021 Thm 6.2, A.7; 0.001 often is not")
    lyu_width: int = ours(20, "of the networks of lyu2021 Fig. 2; the paper gives none")
    sarussi_n: int = ours(100, "sarussi2021 Fig. 4 gives none")
    runs: int = ours(5, "initialisations whose flow is followed, for each data set")
    tolerance: float = ours(1e-6, "margins up to this share below the widest count as the widest")
    seconds: float = ours(60.0, "for one flow, and for one optimum, after which bounds are given")


class MarginRow(NamedTuple):
    """A data set, what a paper says of the limit there, and the networks to follow."""

    key: str
    title: str
    says: str
    widest: bool
    """Whether it says that the limit has the widest margin, or that it has not."""
    data: Dataset
    setting: Setting
    start: tuple[np.ndarray, np.ndarray] | None = None
    stays: bool = False
    """The start is itself the network in question: nothing is followed."""


class RowResult(NamedTuple):
    """Networks of a row that fit the data, beside the widest margin of all."""

    row: MarginRow
    margin: np.ndarray
    shortfall: np.ndarray
    """The share of the widest margin that is missing."""
    verdicts: np.ndarray
    """`certified`, `suboptimal`, or `undecided`."""


@PAPER.artefact(
    "global",
    "every max-margin statement of the papers' experiments",
    Global,
    {"phuong_n": 60, "phuong_d": 8, "width": 40, "runs": 1},
)
def global_(s: Global, tell: Tell) -> Exhibit:
    """Is the limit the best network there is? A certified optimum beside every claim

    A row is a data set of a paper with what the paper says of it, a dot the limit of one network:
    by what share its margin is below the widest margin of all networks of any width. That widest
    margin has a proof (lower and upper bound agree); left of the dashed line there is no gap.
    Hollow dots are paths whose limit cannot be told yet: their margin never falls, so the gap
    can only be smaller than drawn.
    """
    rows = rows_of(s)
    results: dict[str, RowResult] = {}
    data: dict[str, np.ndarray] = {}
    labels: list[str] = []
    for row in rows:
        tell(row.title)
        best = optimum(row.data, row.setting, seconds=s.seconds)
        lower, upper = best.margin_bounds
        ends = [end for end in ends_of(row, s) if end.fits]
        known = np.array([end.known for end in ends], dtype=bool)
        margin = np.array([end.margin for end in ends])
        shortfall, below = 1 - margin / upper, margin < (1 - s.tolerance) * lower
        verdicts = np.where(below & known, "suboptimal", "undecided")
        verdicts = np.where(shortfall <= s.tolerance, "certified", verdicts)
        results[row.key] = RowResult(row, margin, shortfall, verdicts)
        reached = f"{margin.min():.5g}" if len(margin) else "none"
        bounds = f"{lower:.5g} {best.status}" if best.gap < 1e-6 else f"{lower:.5g} … {upper:.5g}"
        labels.append(f"{reached} of {bounds}")
        data |= {f"{row.key}_margin": margin, f"{row.key}_widest": np.array([lower, upper])}
        data |= {f"{row.key}_verdict": verdicts}
    figure, ((ax,),) = new_figure(size=(12.5, 0.55 * len(rows) + 1.3))
    names = [f"{row.title}\n{row.says}" for row in rows]
    every = list(results.values())
    pairs = [(one.shortfall, one.verdicts) for one in every]
    draw_verdicts(ax, pairs, names, labels, s.tolerance)
    together = [one for one in every if one.row.key not in ("right", "thm2")]
    claims = (
        shortfall_claim("widest", [one for one in together if one.row.widest], s),
        shortfall_claim("not_widest", [one for one in together if not one.row.widest], s),
        right_claim(results["right"], s),
        _counterexample_claim(results["thm2"], s),
        _svm_claim(results["table"], s),
    )
    return Exhibit(claims, figure, data)


def shortfall_claim(id: str, results: Sequence[RowResult], s: Global) -> Claim:
    """Judge data sets of which the papers say the same by the network that is furthest from it."""
    one = results[0].row
    says = one.says if len(results) == 1 else "each as its row says"
    where = one.title if len(results) == 1 else f"{len(results)} data sets"
    if one.widest:
        worst = max(float(each.shortfall.max()) if len(each.margin) else 1.0 for each in results)
        text = f"{where}: every limit that fits the data has the widest margin of all networks"
        return at_most(id, f"{text}, largest gap", worst, s.tolerance, f"global ({says})")
    least = min(float(each.shortfall.min()) if len(each.margin) else 0.0 for each in results)
    text = f"{where}: every limit has a margin that is not the widest, smallest gap"
    claim = at_least(id, text, least, s.tolerance, f"not global ({says})")
    told = all((each.verdicts != "undecided").all() for each in results)
    return replace(claim, holds=claim.holds and told)


def right_claim(result: RowResult, s: Global) -> Claim:
    """Judge lyu2021's own scale, from which the flow leaves the linear classifier late.

    The paper stops its descent at a finite loss and says nothing of the flow from that scale.
    """
    half = result.row.data.parameters["eps"] / 2
    text = f"{result.row.title}: some flow leaves the linear classifier, long after every point "
    text += "has its label (its margin, which never falls, passes ε/2): largest margin over ε/2"
    most = float(result.margin.max(initial=0.0)) / half
    return at_least("right", text, most, 1 + s.tolerance)


def _counterexample_claim(result: RowResult, s: Global) -> Claim:
    """Judge the data of wang2022's Theorem 2 with three classes."""
    claim = shortfall_claim("thm2", [result], s)
    if claim.holds or not (result.verdicts == "suboptimal").any():
        return claim
    why = "With K ≥ 3 one class against the rest is not orthogonally separable, so Theorem 4 does "
    why += "not apply: each neuron turns to its own point and stays (margin 1/6, against "
    why += "1/(2(1+1/cos 50°)) = 0.1956 of one neuron for both)."
    return explained(claim, why, Whose.PAPER)


def _svm_claim(result: RowResult, s: Global) -> Claim:
    """Compare the max-margin separator of Table 1's set, as the network that it is, with limits."""
    row = result.row
    gamma = max_margin(row.data.y[:, None] * row.data.X).margin_bounds.upper
    share = float((1 + s.lyu_alpha) / 4 * gamma / result.margin.min(initial=math.inf))
    text = f"{row.title}: the limit is the SVM's separator (Fig. 4); its margin (1+α)γ/4 over the "
    claim = near("table_svm", f"{text}limit's", share, 1.0, s.tolerance, "converges to it")
    why = "On data that is not symmetric (Thm 4.2) the SVM's separator is not a KKT direction, at "
    why += "any n of Table 1 (lyu2021 Fig. 4); neurons that are not opposite have a wider margin."
    return explained(claim, why, Whose.PAPER, share < 1 - s.tolerance and len(result.margin) > 0)


class End(NamedTuple):
    """Where a network ends."""

    fits: bool
    known: bool
    """Whether the limit is known."""
    margin: float
    """That of the limit; where it is not known, the smoothed margin so far, which never falls."""


def ends_of(row: MarginRow, s: Global) -> list[End]:
    """Where the networks of a row end; where none of them fits, also the next, until one does."""
    if row.stays:
        assert row.start is not None
        kkt = two_layer_kkt(row.data, Network(*row.start, row.setting.alpha))
        return [End(kkt.feasibility == 0, kkt.holds(s.tolerance), kkt.margin)]
    ends: list[End] = []
    runs, most = (1, 1) if row.start else (s.runs, MOST_STARTS)
    for run in range(max(runs, most)):
        if run >= runs and any(end.fits for end in ends):
            break
        limit = deep_limit(row.setting, row.data, s.seed + run, s.seconds, row.start)
        if limit.margin is not None:
            ends.append(End(True, True, limit.margin))
        else:
            measures = along(limit.path)
            until = measures.falls[0] if measures.falls else len(measures.margin)
            margin = float(measures.smoothed_margin[until - 1])
            ends.append(End(limit.outcome == "undecided" and margin > 0, False, margin))
    return ends


def rows_of(s: Global) -> list[MarginRow]:
    """What the papers say of the margins on their data sets, with their networks."""
    leaky = Setting(activation=f"leaky:{s.lyu_alpha}", width=s.lyu_width, init=f"he:{s.lyu_factor}")
    tiny, wide = leaky.replace(init=f"he:{s.lyu_tiny}"), leaky.replace(width=s.width)
    wang = Setting(width=s.wang_width, init=f"balanced:{s.wang_norm}", loss="logistic:sum")
    uniform = Setting(width=s.width, init=f"uniform:{s.phuong_factor}")
    first = Setting(train="first", width=s.width, init=f"gaussian:{s.sarussi_std}")
    first = first.replace(activation=f"leaky:{s.sarussi_alpha}")
    left, right = (load(f"lyu2021_{side}:alpha={s.lyu_alpha}") for side in ("left", "right"))
    middle = load("lyu2021_middle")
    orthogonal = load(f"orthogonal:n={s.phuong_n},d={s.phuong_d},seed={s.seed}")
    gaussian = load(f"lyu2021_appJ:n={s.lyu_n},d={s.lyu_d},seed={s.seed}")
    two = load(f"gaussians:n={s.sarussi_n},d=2,seed={s.seed}")
    kkt, (classes, three) = printed_network(s.lyu_alpha), three_against_one()
    printed, start = (kkt.W, kkt.a), (three.W, three.a)
    not_global = "KKT, not global"
    fig1, he, tiny_he = "lyu2021 Fig. 1", f"{s.lyu_factor:g} × He", f"{s.lyu_tiny:g} × He"
    by_hand = f"{fig1} left, the network of App. I.1.1"
    table, own = f"lyu2021 Table 1, n = {s.lyu_n}", "wang2022 Thm 2, unit vectors at 180°, ±50°"
    return [
        MarginRow(
            "phuong", "phuong2021 Fig. 1", "Thm 1; global by lyu2021 H.2", True, orthogonal, uniform
        ),
        MarginRow("left", f"{fig1} left", "Thm 4.3: global", True, left, leaky),
        MarginRow("left_kkt", by_hand, not_global, False, left, leaky, printed, stays=True),
        MarginRow(
            "middle", f"{fig1} middle, {tiny_he}", f"Thm A.7: {not_global}", False, middle, tiny
        ),
        MarginRow(
            "right", f"{fig1} right, {he}", "no paper: leaves the linear one", False, right, leaky
        ),
        MarginRow(
            "right_tiny", f"{fig1} right, {tiny_he}", f"Thm 6.2: {not_global}", False, right, tiny
        ),
        MarginRow("table", table, "App. J: max margin", True, gaussian, wide),
        MarginRow("sarussi", "sarussi2021 Fig. 4", "Thm 6.2: the program (7)", True, two, first),
        MarginRow("f1", "wang2022 F.1", "Thm 4: global", True, load("wang2022_f1"), wang),
        MarginRow("f2", "wang2022 F.2", "Prop 5: global", True, load("wang2022_f2"), wang),
        MarginRow(
            "thm2",
            own,
            "Thm 2: global",
            True,
            classes.one_vs_rest(0),
            wang.replace(width=3),
            start,
        ),
    ]
