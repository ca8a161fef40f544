"""Pictures that no paper could make: they need the exact limit, or a certified optimum.

The settings are those of the papers' own experiments. Where a claim is ours and not a paper's, its
`paper` value is what the theorem that it rests on says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from tacit.certificates import optimum, two_layer_kkt
from tacit.data import load
from tacit.flow import Limit, find
from tacit.flow.approach import fitted_rate
from tacit.flow.path_measures import along
from tacit.flow.rate import predicted_rate
from tacit.measures import plane
from tacit.models import parse_activation
from tacit.numerics.max_margin import max_margin
from tacit.papers.beyond.drawing import (
    draw_depths,
    draw_flow,
    draw_lost,
    draw_lost_over_H,
    draw_map,
    draw_runs,
    draw_threshold,
    draw_transition,
    draw_verdicts,
)
from tacit.papers.lyu2021.statements.left_example import printed_network
from tacit.papers.wang2022.statements.limits import three_against_one
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Paper, Result, Settings, Tell, ours, paper
from tacit.reproduction.claims import (
    at_least,
    at_most,
    mean_interval,
    near,
    probability_at_least,
    true,
)
from tacit.training import Many, train_many
from tacit.values import Dataset, Setting

PAPER = Paper("beyond")

LN10 = math.log(10)
DEEP = -1e60
"""log₁₀ L to which paths are followed that do not tell their limit at first."""
SEPARATED = math.log10(math.log(2))
"""log₁₀ of the summed loss below which every point has its label."""


@dataclass(frozen=True)
class Sets(Settings):
    """The papers' data and networks that `exact` and `global` share."""

    width: int = paper(100, "phuong2021 §5.1, lyu2021 App. J, sarussi2021 Fig. 4 and 8")
    phuong_n: int = paper(500, "phuong2021 §5.1")
    phuong_d: int = paper(20, "phuong2021 §5.1")
    phuong_factor: float = paper(0.05, "phuong2021 §5.1, on weights drawn as PyTorch does")
    lyu_n: int = paper(10, "lyu2021 Table 1, first row")
    lyu_d: int = paper(50, "lyu2021 App. J")
    lyu_factor: float = paper(0.001, "lyu2021 App. I.1.3 and J, on He's initialisation")
    lyu_alpha: float = ours(0.5, "α of lyu2021 Fig. 1; Table 1 gives none")
    sarussi_alpha: float = ours(0.5, "sarussi2021 gives none")
    sarussi_std: float = ours(1e-3, "the small scale of sarussi2021 Fig. 1; Fig. 4, 8 give none")
    wang_width: int = paper(10, "wang2022 App. F.1")
    wang_norm: float = ours(1e-3, "‖w_k‖ = |a_k| at the start; wang2022 gives none")


@dataclass(frozen=True)
class Exact(Sets):
    phuong_epochs: int = paper(500, "phuong2021 §5.1")
    phuong_batch: int = paper(50, "phuong2021 §5.1")
    phuong_lr: float = paper(0.1, "phuong2021 §5.1")
    lyu_lr: float = paper(0.01, "lyu2021 App. J, before it is raised; we keep it")
    lyu_epochs: int = ours(20000, "the paper gives none")
    sarussi_n: int = paper(400, "sarussi2021 Fig. 8")
    sarussi_d: int = paper(50, "sarussi2021 Fig. 8")
    sarussi_lr: float = paper(1e-3, "sarussi2021 Fig. 8")
    sarussi_epochs: int = ours(100, "the paper gives none")
    wang_epochs: int = paper(10000, "wang2022 App. F.1, the last iteration drawn")
    wang_lr: float = ours(0.1, "the paper gives none")
    runs: int = ours(10, "initialisations that are trained")
    depth: float = ours(1e8, "log₁₀(1/L) of the flow; at 1e5 some slopes are not settled yet")


@dataclass(frozen=True)
class Phase(Settings):
    width: int = paper(100, "sarussi2021 Fig. 1")
    small: float = paper(0.001, "sarussi2021 Fig. 1")
    large: float = paper(30.0, "sarussi2021 Fig. 1")
    lr: float = paper(1e-3, "sarussi2021 Fig. 8, at 100 neurons; times 100/m with m neurons")
    n: int = ours(100, "points of two Gaussians in the plane; the paper gives no number")
    alpha: float = ours(0.1, "slope of the leaky ReLU; the paper gives none")
    widths: tuple[int, ...] = ours((2, 4, 10, 20, 40, 100, 200, 400), "the paper has 100 only")
    scales: int = ours(19, "initial standard deviations, equally spaced in the logarithm")
    runs: int = ours(20, "initialisations for each width and scale")
    loss: float = ours(1e-3, "at which runs end; below (ln 2)/n, so that every point is fitted")
    epochs: int = ours(5000, "after which runs end anyway")
    wide: int = ours(20, "width from which on the slope over the width is fitted")
    flow_width: int = ours(20, "of the networks whose flow is followed to its limit")
    flow_scales: tuple[float, ...] = ours((0.3, 1.0, 3.0, 10.0, 30.0), "their initial scales")
    flow_runs: int = ours(3, "their number, for each scale")
    flow_depth: float = ours(1e4, "log₁₀(1/L) to which it is followed at least")


@dataclass(frozen=True)
class Global(Sets):
    lyu_tiny: float = ours(1e-6, "small enough for lyu2021 Thm 6.2, A.7; 0.001 often is not")
    lyu_width: int = ours(20, "of the networks of lyu2021 Fig. 2; the paper gives none")
    sarussi_n: int = ours(100, "sarussi2021 Fig. 4 gives none")
    runs: int = ours(5, "initialisations whose flow is followed, for each data set")
    tolerance: float = ours(1e-6, "margins up to this share below the widest count as the widest")
    seconds: float = ours(60.0, "for one flow, and for one optimum, after which bounds are given")


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


class Experiment(NamedTuple):
    """A training run of a paper."""

    key: str
    title: str
    data: Dataset
    setting: Setting
    epochs: int


QUICK_EXACT = {
    "phuong_n": 100,
    "phuong_d": 10,
    "sarussi_n": 80,
    "sarussi_d": 10,
    "lyu_epochs": 2000,
    "wang_epochs": 3000,
}


@PAPER.artefact(
    "exact",
    "phuong2021 Fig. 1, lyu2021 Table 1, sarussi2021 Fig. 8, wang2022 Fig. 3",
    Exact,
    {**QUICK_EXACT, "width": 20, "runs": 2},
)
def exact(s: Exact, tell: Tell) -> Result:
    """How far the papers' training runs were from the limit that they show

    Columns are experiments. Top: the angle between the weights of every run and the limit of
    gradient flow, which is known exactly, over the paper's own epochs. Middle: the normalised
    margin of the same runs as a share of the widest margin of all networks; no run can pass 1, and
    1 is certified. Bottom: the flow from the first run's start, followed to losses that no run
    reaches, with the runs' last epochs as dots: the angle falls like a power of log(1/L), so most
    of the way remains when training ends.

    The power is predicted from the limit: 1 with a fixed output layer; with both layers trained ½,
    or less where some error of the weights grows too, only slower than the weights.
    """
    seeds = tuple(range(s.seed, s.seed + s.runs))
    experiments = _experiments(s)
    figure, axes = new_figure(3, len(experiments), size=(4.1 * len(experiments), 9.6))
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    away, shares = 0, [0.0]
    for one, (top, middle, bottom) in zip(experiments, axes.T, strict=True):
        tell(f"{one.title}: the limit")
        limit = _first_limit(one, seeds, -s.depth)
        tell(f"{one.title}: training")
        at = np.unique(np.geomspace(1, one.epochs, 30).astype(int))
        many = train_many(one.setting, one.data, one.epochs, seeds, at=at.tolist())
        log10_loss, margin = _losses_and_margins(many, one.data)
        fits = margin[-1] > 0
        if limit.certificate is None or not fits.any():
            text = f"{one.title}: the flow has a limit, and a run fits the data"
            seen = f"{limit.outcome}, {fits.sum()} of {s.runs}"
            claims.append(true(f"{one.key}_limit", text, False, seen, "converged"))
            continue
        angle = np.array([_angles(many, t, limit) for t in range(len(many.at))])[:, fits]
        log10_loss, share = log10_loss[:, fits], margin[:, fits] / limit.certificate.upper
        late = log10_loss[:-1] < SEPARATED
        away += int(((late & (angle[1:] > angle[:-1])).any(axis=0) | ~late.any(axis=0)).sum())
        shares.append(float(share.max()))
        r = predicted_rate(limit)
        text = f"{one.title}: the flow's angle falls like log(1/L)^−r with the r that the limit "
        text += "predicts, up to 0.02"
        claims.append(
            near(f"{one.key}_slope", text, fitted_rate(limit.approach) or math.nan, r, 0.02)
        )
        draw_runs(top, middle, bottom, many.at, log10_loss, angle, share)
        draw_flow(bottom, limit.approach, r)
        left = f"{int(fits.sum())} of {s.runs} runs fit the data, {angle[-1].mean():.2g} rad left"
        top.set_title(f"{one.title}\n{left}", fontsize=10)
        data |= {f"{one.key}_epochs": many.at, f"{one.key}_angle": angle, f"{one.key}_share": share}
        data |= {f"{one.key}_log10_loss": log10_loss, f"{one.key}_flow": limit.approach}
    names = ("angle to the limit (rad)", "margin / widest", "angle to the limit (rad)")
    for row, name in zip(axes, names, strict=True):
        row[0].set_ylabel(name)
        row[0].legend(fontsize=8, loc="best")
    text = "runs that fit the data and do not come nearer to the limit, at each epoch that was "
    text += "kept, once every point has its label"
    claims.append(at_most("nearer", text, away, 0, "0 (lyu2021 Thm 3.1: angle → 0)"))
    text = "no run at any epoch has a margin above the certified bound of all networks: largest "
    claims.append(at_most("margin", f"{text}share of it", max(shares), 1 + 1e-12))
    return Result(tuple(claims), figure, data)


def _experiments(s: Exact) -> list[Experiment]:
    phuong = Setting(width=s.width, init=f"uniform:{s.phuong_factor}", rule="sgd", lr=s.phuong_lr)
    phuong = replace(phuong, batch=s.phuong_batch)
    lyu = Setting(width=s.width, init=f"he:{s.lyu_factor}", rule="gd", lr=s.lyu_lr)
    lyu = replace(lyu, activation=f"leaky:{s.lyu_alpha}")
    sarussi = Setting(width=s.width, init=f"gaussian:{s.sarussi_std}", rule="sgd", lr=s.sarussi_lr)
    sarussi = replace(sarussi, activation=f"leaky:{s.sarussi_alpha}", train="first", batch=1)
    wang = Setting(width=s.wang_width, init=f"balanced:{s.wang_norm}", rule="gd", lr=s.wang_lr)
    wang = replace(wang, loss="logistic:sum")
    sets = [
        f"orthogonal:n={s.phuong_n},d={s.phuong_d},seed={s.seed}",
        f"lyu2021_appJ:n={s.lyu_n},d={s.lyu_d},seed={s.seed}",
        f"gaussians:n={s.sarussi_n},d={s.sarussi_d},seed={s.seed}",
        "wang2022_f1",
    ]
    orthogonal, gaussian, two, f1 = (load(name) for name in sets)
    table = f"lyu2021 Table 1, n = {s.lyu_n}"
    return [
        Experiment("phuong", "phuong2021 Fig. 1", orthogonal, phuong, s.phuong_epochs),
        Experiment("lyu", table, gaussian, lyu, s.lyu_epochs),
        Experiment("sarussi", "sarussi2021 Fig. 8", two, sarussi, s.sarussi_epochs),
        Experiment("wang", "wang2022 Fig. 3", f1, wang, s.wang_epochs),
    ]


def _first_limit(experiment: Experiment, seeds: Sequence[int], log10_loss: float) -> Limit:
    """The limit from the first start that leads to one: all that do lead to the same function."""
    for seed in seeds:
        limit = find(experiment.setting, experiment.data, seed, log10_loss)
        if limit.outcome == "converged":
            break
    return limit


def _losses_and_margins(many: Many, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """T × members: log₁₀ of the sum of the losses, and q_min/‖θ‖^L."""
    q = np.array([data.y * many.outputs(data.X, t) for t in range(len(many.at))])
    log_losses = np.where(q > 30, -q, np.log(np.logaddexp(0, -np.minimum(q, 30))))
    log_loss = logsumexp(log_losses, axis=-1)
    trained = ["W", "a"] if "a" in many.model.trained(many.model.shapes(data.d, 2)) else ["W"]
    square = sum((many.weights[part] ** 2).reshape(*q.shape[:2], -1).sum(-1) for part in trained)
    return log_loss / LN10, q.min(axis=-1) / np.sqrt(square) ** len(trained)


def _angles(many: Many, t: int, limit: Limit) -> list[float]:
    """Of every run, the angle between its weights and the nearest with the limit's function.

    With both layers trained the limit says what a group weighs and not how its neurons share it.
    """
    found = []
    for i in range(many.size):
        W, a = (many.member(i, t)[part] for part in ("W", "a"))
        if limit.setting.train == "first":
            assert limit.W is not None
            along, length = float((W * limit.W).sum()), np.linalg.norm(W)
            whole = float(np.linalg.norm(limit.W))
        else:
            towards = np.array([W @ g.direction + g.sign * a for g in limit.groups])
            same = np.array([g.sign * a > 0 for g in limit.groups])
            towards = np.where(same, np.maximum(towards, 0), 0)
            towards *= towards == towards.max(axis=0)  # a neuron is in the group it is nearest to
            weights = np.array([g.weight for g in limit.groups])
            along = float(np.sqrt(weights) @ np.linalg.norm(towards, axis=1))
            length, whole = (
                np.hypot(np.linalg.norm(W), np.linalg.norm(a)),
                math.sqrt(2 * weights.sum()),
            )
        found.append(math.acos(min(along / float(length * whole), 1.0)))
    return found


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """Of the logarithms, by least squares; NaN where there is nothing to fit."""
    if len(np.unique(x)) < 2:
        return math.nan
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


QUICK_FLOWS = {"flow_width": 8, "flow_scales": (3.0, 30.0), "flow_runs": 1}


@PAPER.artefact(
    "phase",
    "sarussi2021 Fig. 1, over all scales and widths",
    Phase,
    {"widths": (2, 20, 100), "scales": 9, "runs": 5, **QUICK_FLOWS},
)
def phase(s: Phase, tell: Tell) -> Result:
    """Where small initialisation ends: linear and bent boundaries over scale and width

    Sarussi et al. show two points of this map, 0.001 and 30 at width 100. Top left: the share of
    training points outside the region in which the clustering of the neurons makes the boundary
    linear (Theorem 5.1). Top right: by how many degrees the boundary really bends; in the plane it
    consists of rays from 0. The black line is where the first point leaves the region. Bottom left:
    that scale for each width, times the initial cluster radius at scale 1: neurons keep what is
    orthogonal to their common growth, and the growth of each is shared by all, so it falls like one
    over the width.

    Bottom right: the map is a picture of one loss only. Along gradient flow the weights grow like
    log(1/L) while the clusters keep their radius, so from any scale the boundary becomes linear, at
    a depth proportional to the scale; the paper's 30 is a matter of when training stops.
    """
    points = load(f"gaussians:n={s.n},d=2,seed={s.seed}")
    scales = np.geomspace(s.small, s.large, s.scales)
    shape = (len(s.widths), s.scales, s.runs)
    outside, bend, slack, fitted = (np.zeros(shape) for _ in range(4))
    radius = np.zeros((len(s.widths), s.runs))
    for k, m in enumerate(s.widths):
        tell(f"width {m}")
        draws = [np.random.default_rng([s.seed, m, run]) for run in range(s.runs)]
        start = np.array([draw.standard_normal((m, 2)) for draw in draws])
        W = (scales[:, None, None, None] * start).reshape(-1, m, 2)
        a = np.tile(np.repeat([1.0, -1.0], m // 2), (len(W), 1))
        setting = Setting(train="first", width=m, rule="sgd", lr=s.lr * 100 / m)
        setting = replace(setting, activation=f"leaky:{s.alpha}", stop=(f"loss:{s.loss}",))
        begin = {"W": W, "a": a}
        many = train_many(setting, points, s.epochs, range(len(W)), start_at=begin)
        room = _room(many.last["W"], points.X)
        outside[k] = (room < 1).mean(axis=1).reshape(shape[1:])
        slack[k] = room.min(axis=1).reshape(shape[1:])
        labels = np.where(many.outputs(plane.circle()) > 0, 1, -1)
        bend[k] = np.reshape([plane.bend(row) for row in labels], shape[1:])
        fitted[k] = (points.y * many.outputs(points.X) > 0).all(axis=1).reshape(shape[1:])
        radius[k] = _two_clusters(start)[1]
    transition = np.array([[_crossing(scales, row) for row in one.T] for one in slack])
    inside = np.isfinite(transition) & (transition > 0)
    size = np.where(inside, np.where(inside, transition, 0) * radius, np.nan)
    flow_depth, flow_groups = _flows(s, points, tell)
    figure, axes = new_figure(2, 2, size=(11.5, 8.6))
    draw_map(axes[0, 0], s, scales, outside.mean(axis=2), transition, "share outside", 1.0)
    draw_map(axes[0, 1], s, scales, np.median(bend, axis=2), transition, "degrees", 30.0)
    axes[0, 0].set_title("share of points outside the linear region, mean")
    axes[0, 1].set_title("bend of the boundary, median")
    kept = np.isfinite(size).all(axis=1)
    ends = np.exp([mean_interval(row) for row in np.log(size[kept])])
    title = f"transition scale × radius at scale 1, mean loss {s.loss:g}"
    middle = np.exp(np.log(size[kept]).mean(axis=1))
    draw_transition(axes[1, 0], np.array(s.widths)[kept], middle, ends, title)
    draw_depths(axes[1, 1], s, flow_depth)
    found = {"outside": outside, "bend": bend, "slack": slack, "fitted": fitted, "scales": scales}
    found |= {"transition": transition, "initial_radius": radius, "flow_depth": flow_depth}
    found |= {"flow_groups": flow_groups, "widths": np.array(s.widths)}
    return Result(_phase_claims(s, found, size), figure, found)


def _phase_claims(s: Phase, found: dict[str, np.ndarray], size: np.ndarray) -> tuple[Claim, ...]:
    """Of the width nearest to the paper's and its two scales; of all widths; of the flow."""
    widths, bend, depth = found["widths"], found["bend"], found["flow_depth"]
    own = int(np.abs(widths - s.width).argmin())
    at = f"{widths[own]} neurons"
    inside = f"scale {s.small:g}, {at}: share of points outside the linear region, worst run"
    bent = f"scale {s.large:g}, {at}: share of runs whose boundary bends by more than 1 degree"
    bends = int((bend[own, -1] > 1).sum())
    leaves = found["transition"][own]
    log_scale = np.log10(leaves[np.isfinite(leaves) & (leaves > 0)])
    scale = 10 ** float(log_scale.mean()) if len(log_scale) else "none"
    low, high = (10**end for end in mean_interval(log_scale))
    first = f"{at}: a first point leaves the linear region at a scale between the paper's two"
    span, between = f"{s.small:g} … {s.large:g}", s.small < low and high < s.large
    two = "2 neurons: the boundary is a line at every scale, largest bend in degrees (Cor. 6.1)"
    wide = widths >= s.wide
    slopes = np.array([_slope(widths[wide], row) for row in size[wide].T if np.isfinite(row).all()])
    ends = mean_interval(slopes)
    falls = "that scale, times the initial cluster radius at scale 1, falls like one over the "
    falls += "width: mean slope of the logarithms"
    slope = float(slopes.mean()) if len(slopes) else "none in range"
    one_over = bool(len(slopes) > 1 and ends[0] <= -1 <= ends[1])
    line = f"followed to its limit, the flow of {s.flow_width} neurons ends with one direction for "
    line += "each sign, a line, from every scale: most directions of one sign"
    deep = "the depth log(1/L) at which the flow's boundary becomes linear is proportional to the "
    deep += "scale: slope over the logarithms, up to 0.1"
    seen = np.isfinite(depth).all(axis=1)
    proportion = _slope(np.repeat(np.array(s.flow_scales)[seen], s.flow_runs), depth[seen].ravel())
    return (
        at_least("fitted", "share of runs that fit every point", found["fitted"].mean(), 1.0),
        at_most("small_linear", inside, found["outside"][own, 0].max(), 0.0),
        probability_at_least("large_bent", bent, bends, s.runs, 0.95),
        Claim("between", first, span, scale, bool(between), (low, high)),
        at_most("two_neurons", two, bend[widths == 2].max(initial=0.0), 0.01),
        Claim("width_slope", falls, -1.0, slope, one_over, ends),
        at_most("limit_linear", line, found["flow_groups"].max(), 1.0, "1 (Thm 6.1)"),
        near("depth_slope", deep, proportion, 1.0, 0.1),
    )


def _two_clusters(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w̄ − ū and r of Theorem 5.1, of members × m × d; the first half of the neurons are w."""
    halves = np.stack(np.split(W, 2, axis=1))
    means = halves.mean(axis=2)
    r = np.linalg.norm(halves - means[:, :, None], axis=3).max(axis=(0, 2))
    return means[0] - means[1], r


def _room(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Members × points: |(w̄−ū)·x| / 2r‖x‖; from 1 on the boundary is linear by Theorem 5.1."""
    normal, r = _two_clusters(W)
    return np.abs(normal @ X.T) / np.maximum(2 * np.outer(r, np.linalg.norm(X, axis=1)), 1e-300)


def _crossing(scales: np.ndarray, slack: np.ndarray) -> float:
    """Where it first falls below 1: 0 if from the start, inf if never."""
    below = np.flatnonzero(slack < 1)
    if len(below) == 0 or below[0] == 0:
        return math.inf if len(below) == 0 else 0.0
    j = below[0]
    part = math.log(slack[j - 1]) / math.log(slack[j - 1] / slack[j])
    return float(scales[j - 1] * (scales[j] / scales[j - 1]) ** part)


def _flows(s: Phase, points: Dataset, tell: Tell) -> tuple[np.ndarray, np.ndarray]:
    """Scales × runs: log₁₀(1/L) at which all points come into the linear region, for good; and the
    larger number of directions of one sign at the limit (inf where it was not told)."""
    depth = np.full((len(s.flow_scales), s.flow_runs), math.inf)
    groups = np.full(depth.shape, math.inf)
    for j, scale in enumerate(s.flow_scales):
        tell(f"flow from scale {scale:g}")
        for run in range(s.flow_runs):
            setting = Setting(train="first", width=s.flow_width, init=f"gaussian:{scale}")
            setting = replace(setting, activation=f"leaky:{s.alpha}")
            limit = find(setting, points, s.seed + run, -s.flow_depth)
            if limit.outcome == "converged":
                groups[j, run] = max(sum(g.sign == k for g in limit.groups) for k in (1, -1))
            moments = [moment for moment in limit.path.moments if moment.log_L < -1e-3]
            room = _room(np.array([moment.state.W for moment in moments]), points.X).min(axis=1)
            depths = -np.array([moment.log_L for moment in moments]) / LN10
            edge = _crossing(1 / depths[::-1], room[::-1])
            depth[j, run] = max(1 / edge, depths[0]) if edge > 0 else math.inf
    return depth, groups


class Row(NamedTuple):
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


class Verdict(NamedTuple):
    """Networks of a row that fit the data, beside the widest margin of all."""

    row: Row
    margin: np.ndarray
    gap: np.ndarray
    """The share of the widest margin that is missing."""
    words: np.ndarray
    """`certified`, `suboptimal`, or `undecided`."""


@PAPER.artefact(
    "global",
    "every max-margin statement of the papers' experiments",
    Global,
    {"phuong_n": 60, "phuong_d": 8, "width": 40, "runs": 1},
)
def global_(s: Global, tell: Tell) -> Result:
    """Is the limit the best network there is? A certified optimum beside every claim

    A row is a data set of a paper with what the paper says of it, a dot the limit of one network:
    by what share its margin is below the widest margin of all networks of any width. That widest
    margin has a proof (lower and upper bound agree); left of the dashed line there is no gap.
    Hollow dots are paths whose limit cannot be told yet: their margin never falls, so the gap
    can only be smaller than drawn.
    """
    rows = _rows(s)
    found: dict[str, Verdict] = {}
    data: dict[str, np.ndarray] = {}
    labels: list[str] = []
    for row in rows:
        tell(row.title)
        alpha, train = parse_activation(row.setting.activation), row.setting.train or "both"
        best = optimum(row.data, alpha, train, row.setting.width, seconds=s.seconds)
        lower, upper = best.margin
        ends = [end for end in _ends(row, s) if end.fits]
        told, margin = np.array([end.told for end in ends]), np.array([end.margin for end in ends])
        gap, below = 1 - margin / upper, margin < (1 - s.tolerance) * lower
        words = np.where(below & (told > 0), "suboptimal", "undecided")
        words = np.where(gap <= s.tolerance, "certified", words)
        found[row.key] = Verdict(row, margin, gap, words)
        reached = f"{margin.min():.5g}" if len(margin) else "none"
        bounds = f"{lower:.5g} {best.status}" if best.gap < 1e-6 else f"{lower:.5g} … {upper:.5g}"
        labels.append(f"{reached} of {bounds}")
        data |= {f"{row.key}_margin": margin, f"{row.key}_widest": np.array([lower, upper])}
        data |= {f"{row.key}_verdict": words}
    figure, ((ax,),) = new_figure(size=(12.5, 0.55 * len(rows) + 1.3))
    names = [f"{row.title}\n{row.says}" for row in rows]
    every = list(found.values())
    gaps, verdicts = [one.gap for one in every], [one.words for one in every]
    draw_verdicts(ax, gaps, verdicts, names, labels, s.tolerance)
    together = [one for one in every if one.row.key not in ("right", "thm2")]
    claims = (
        _gap_claim("widest", [one for one in together if one.row.widest], s),
        _gap_claim("not_widest", [one for one in together if not one.row.widest], s),
        _right_claim(found["right"], s),
        _counterexample_claim(found["thm2"], s),
        _svm_claim(found["table"], s),
    )
    return Result(claims, figure, data)


def _gap_claim(id: str, found: Sequence[Verdict], s: Global) -> Claim:
    """Of data sets of which the papers say the same: the network that is furthest from it."""
    one = found[0].row
    says = one.says if len(found) == 1 else "each as its row says"
    where = one.title if len(found) == 1 else f"{len(found)} data sets"
    if one.widest:
        worst = max(float(each.gap.max()) if len(each.gap) else 1.0 for each in found)
        text = f"{where}: every limit that fits the data has the widest margin of all networks"
        return at_most(id, f"{text}, largest gap", worst, s.tolerance, f"0 ({says})")
    least = min(float(each.gap.min()) if len(each.gap) else 0.0 for each in found)
    text = f"{where}: every limit has a margin that is not the widest, smallest gap"
    claim = at_least(id, text, least, s.tolerance, f"> 0 ({says})")
    told = all((each.words != "undecided").all() for each in found)
    return replace(claim, holds=claim.holds and told)


def _right_claim(found: Verdict, s: Global) -> Claim:
    """Of lyu2021's own scale, from which the flow leaves the linear classifier late."""
    claim, half = _gap_claim("right", [found], s), found.row.data.parameters["eps"] / 2
    left = found.margin > (1 + s.tolerance) * half
    if claim.holds or not left.any():
        return claim
    why = f"In {left.sum()} of {len(left)} runs the margin, which never falls, passes the ε/2 of "
    why += "the linear classifier: from this scale, with H, K, ε as in App. A.2 (the paper gives "
    why += "none), the flow leaves it, long after every point has its label."
    return replace(claim, finding=why)


def _counterexample_claim(found: Verdict, s: Global) -> Claim:
    claim = _gap_claim("thm2", [found], s)
    if claim.holds or not (found.words == "suboptimal").any():
        return claim
    why = "With K ≥ 3 one class against the rest is not orthogonally separable, so Theorem 4 does "
    return replace(claim, finding=f"{why}not apply: each neuron turns to its own point and stays.")


def _svm_claim(found: Verdict, s: Global) -> Claim:
    """Of Table 1's set: the max-margin separator, as the network that it is, against the limits."""
    row = found.row
    separator = max_margin(row.data.y[:, None] * row.data.X)
    share = float((1 + s.lyu_alpha) / 4 * separator.upper / found.margin.min(initial=math.inf))
    text = f"{row.title}: the limit is the SVM's separator (Fig. 4); its margin (1+α)γ/4 over the "
    claim = near("table_svm", f"{text}limit's", share, 1.0, s.tolerance)
    if share >= 1 - s.tolerance or not len(found.margin):
        return claim
    why = "Two neurons that are not opposite have a wider margin than the SVM's separator; only "
    return replace(claim, finding=f"{why}on symmetric data (Thm 4.2) is the best network linear.")


class End(NamedTuple):
    """Where a network ends."""

    fits: bool
    told: bool
    margin: float
    """Of the limit; where that is not told, the smoothed margin so far, which never falls."""


def _followed(
    setting: Setting,
    data: Dataset,
    seed: int,
    seconds: float,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Limit:
    """The limit, or where it is not told, the path as far down as it can be followed."""
    limit = find(setting, data, seed, seconds=seconds, start=start)
    if limit.outcome == "undecided":
        limit = find(setting, data, seed, DEEP, seconds, start=start)
    return limit


def _ends(row: Row, s: Global) -> list[End]:
    alpha = parse_activation(row.setting.activation)
    if row.stays:
        assert row.start is not None
        kkt = two_layer_kkt(*row.start, row.data.X, row.data.y, alpha)
        return [End(kkt.feasibility == 0, kkt.holds(s.tolerance), kkt.margin)]
    ends = []
    for run in range(1 if row.start else s.runs):
        limit = _followed(row.setting, row.data, s.seed + run, s.seconds, row.start)
        if limit.margin is not None:
            ends.append(End(True, True, limit.margin))
        else:
            measures = along(limit.path)
            until = measures.falls[0] if measures.falls else len(measures.margin)
            margin = float(measures.smoothed_margin[until - 1])
            ends.append(End(limit.outcome == "undecided" and margin > 0, False, margin))
    return ends


def _rows(s: Global) -> list[Row]:
    leaky = Setting(activation=f"leaky:{s.lyu_alpha}", width=s.lyu_width, init=f"he:{s.lyu_factor}")
    wang = Setting(width=s.wang_width, init=f"balanced:{s.wang_norm}", loss="logistic:sum")
    uniform = Setting(width=s.width, init=f"uniform:{s.phuong_factor}")
    first = Setting(train="first", width=s.width, init=f"gaussian:{s.sarussi_std}")
    first = replace(first, activation=f"leaky:{s.sarussi_alpha}")
    tiny, wide = replace(leaky, init=f"he:{s.lyu_tiny}"), replace(leaky, width=s.width)
    left, right = (load(f"lyu2021_{side}:alpha={s.lyu_alpha}") for side in ("left", "right"))
    middle = load("lyu2021_middle")
    orthogonal = load(f"orthogonal:n={s.phuong_n},d={s.phuong_d},seed={s.seed}")
    gaussian = load(f"lyu2021_appJ:n={s.lyu_n},d={s.lyu_d},seed={s.seed}")
    two = load(f"gaussians:n={s.sarussi_n},d=2,seed={s.seed}")
    kkt, (classes, three) = printed_network(s.lyu_alpha), three_against_one()
    printed, start = (kkt.W, kkt.a), (three.W, three.a)
    fig1, own = "lyu2021 Fig. 1", "wang2022 Thm 2, unit vectors at 180°, ±50°"
    tiny_he = f"{s.lyu_tiny:g} × He"
    at, below = f"{fig1} right, {s.lyu_factor:g} × He", f"{fig1} right, {tiny_he}"
    table, says = f"lyu2021 Table 1, n = {s.lyu_n}", "Thm 1; global by lyu2021 H.2"
    by_hand, no = f"{fig1} left, the network of App. I.1.1", "KKT, not global"
    program, one = "Thm 6.2: the program (7)", classes.one_vs_rest(0)
    return [
        Row("phuong", "phuong2021 Fig. 1", says, True, orthogonal, uniform),
        Row("left", f"{fig1} left", "Thm 4.3: global", True, left, leaky),
        Row("left_kkt", by_hand, no, False, left, leaky, printed, stays=True),
        Row("middle", f"{fig1} middle, {tiny_he}", f"Thm A.7: {no}", False, middle, tiny),
        Row("right", at, "Fig. 2: linear, not global", False, right, leaky),
        Row("right_tiny", below, f"Thm 6.2: {no}", False, right, tiny),
        Row("table", table, "App. J: max margin", True, gaussian, wide),
        Row("sarussi", "sarussi2021 Fig. 4", program, True, two, first),
        Row("f1", "wang2022 F.1", "Thm 4: global", True, load("wang2022_f1"), wang),
        Row("f2", "wang2022 F.2", "Prop 5: global", True, load("wang2022_f2"), wang),
        Row("thm2", own, "Thm 2: global", True, one, replace(wang, width=3), start),
    ]


QUICK_OTHERS = {"eps_factors": (0.2, 0.8), "alphas": (0.2, 0.8)}


@PAPER.artefact(
    "hinted",
    "lyu2021 Theorem 6.2, Definition 6.1",
    Hinted,
    {"K_factors": (0.5, 1.01, 3.0), "H_values": 3, "runs": 1, **QUICK_OTHERS},
)
def hinted(s: Hinted, tell: Tell) -> Result:
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
    plain = _with_hints(s, s.alpha)
    most = 2 * plain.parameters["eps"]  # αγ: by itself the generator takes half of it
    shape = (len(s.eps_factors), len(s.K_factors))
    lower, upper, linear = (np.zeros(shape) for _ in range(3))
    reached = np.full((*shape, s.runs), np.nan)
    for j, eps_factor in enumerate(s.eps_factors):
        tell(f"ε = {eps_factor:g} αγ")
        for k, K_factor in enumerate(s.K_factors):
            eps = eps_factor * most
            data = _with_hints(s, s.alpha, eps=eps, K=K_factor * eps * start)
            linear[j, k] = eps / 2
            lower[j, k], upper[j, k] = optimum(data, s.alpha).margin
            reached[j, k] = _reached(s, data)
    bound, half = plain.parameters["H"] / 1.1, plain.parameters["eps"] / 2
    H = np.geomspace(half, 3 * bound, s.H_values)
    H_lower, H_upper = np.zeros(len(H)), np.zeros(len(H))
    H_reached = np.zeros((len(H), s.runs))
    for j, length in enumerate(H):
        tell(f"H = {length:.3g}")
        data = _with_hints(s, s.alpha, H=float(length))
        H_lower[j], H_upper[j] = optimum(data, s.alpha).margin
        H_reached[j] = _reached(s, data)
    H_linear = np.minimum(H / 2, half)
    tell("the threshold of K")
    threshold = np.array([_threshold(s, alpha) for alpha in s.alphas])
    figure, ((left, middle, right),) = new_figure(1, 3, size=(17, 4.8))
    draw_lost(left, s, 1 - linear / lower, 1 - reached / lower[:, :, None])
    draw_threshold(middle, s, threshold)
    unit = 2 * half
    draw_lost_over_H(right, H / unit, bound / unit, H_linear / H_lower, H_reached, H_lower)
    found = {"lower": lower, "upper": upper, "linear": linear, "reached": reached, "H": H}
    found |= {"H_bound": np.array(bound), "H_lower": H_lower, "H_upper": H_upper}
    found |= {"H_linear": H_linear, "H_reached": H_reached, "threshold": threshold}
    return Result((*_K_claims(s, found), *_H_claims(s, found)), figure, found)


def _K_claims(s: Hinted, found: dict[str, np.ndarray]) -> list[Claim]:
    lower, upper, linear, reached = (found[k] for k in ("lower", "upper", "linear", "reached"))
    factors, alphas = np.array(s.K_factors), np.array(s.alphas)
    lost = 1 - linear / lower
    any_K = "whatever K > 0 is, the linear classifier loses margin: smallest share lost"
    always = at_least("any_K", any_K, float(lost.min()), s.tolerance, "> 0 (App. A.2)")
    if not always.holds and (factors < 1).any():
        why = "For K < ε√((3+α)/(1−α)) the multipliers 1/(2ε) of the two hints are dual feasible, "
        why += "so the linear classifier has the widest margin of all."
        always = replace(always, finding=why)
    below = "for K below ε√((3+α)/(1−α)) nothing is lost: largest share, by the upper bound"
    nothing = float((1 - linear / upper)[:, factors < 1].max(initial=0.0))
    beyond = "for K beyond it margin is lost: smallest share, by the lower bound"
    least = float(lost[:, factors > 1].min(initial=1.0))
    begins = "the K at which the loss begins, found with certified optima, is ε√((3+α)/(1−α)) for "
    begins += "every slope α: largest relative difference"
    off = float(np.abs(found["threshold"] / np.sqrt((3 + alphas) / (1 - alphas)) - 1).max())
    flow = "with H as in App. A.2 the flow ends at the linear classifier ½φ(w*·x), for every K, ε"
    ended = np.abs(reached / linear[:, :, None] - 1) <= s.tolerance
    return [
        always,
        at_most("below", below, nothing, s.tolerance, "0 (erratum to App. A.2)"),
        at_least("beyond", beyond, least, s.tolerance, "> 0 (Thm 6.2)"),
        at_most("threshold", begins, off, 1e-4),
        probability_at_least("flow", flow, int(ended.sum()), ended.size, 1 - 2.0**-s.width),
    ]


def _H_claims(s: Hinted, found: dict[str, np.ndarray]) -> list[Claim]:
    H, bound, half = found["H"], float(found["H_bound"]), found["H_linear"]
    below = "with H below ε nothing is lost, the first hint is then the nearest point: largest "
    below += "share, by the upper bound"
    lost = float((1 - half / found["H_upper"])[H < 2 * half.max()].max(initial=0.0))
    enough = "the bound of App. A.2 suffices: the largest H with a limit other than the linear "
    enough += "classifier, as a share of it"
    linear = np.abs(found["H_reached"] / half[:, None] - 1) <= s.tolerance
    other = float(H[~linear.all(axis=1)].max(initial=0.0)) / bound
    return [
        at_most("H_below", below, lost, s.tolerance, "0 (App. A.2 asks for H > ε)"),
        at_most("H_enough", enough, other, 1.0, "≤ 1 (Thm 6.2)"),
    ]


def _with_hints(s: Hinted, alpha: float, **constants: float) -> Dataset:
    given = "".join(f",{name}={value!r}" for name, value in constants.items())
    return load(f"hinted:n={s.n},d={s.d},alpha={alpha},seed={s.seed}{given}")


def _reached(s: Hinted, data: Dataset) -> list[float]:
    """The margins of the limits from several starts; NaN where a limit is not told."""
    init = f"balanced_gaussian:{s.scale}"
    setting = Setting(activation=f"leaky:{s.alpha}", width=s.width, init=init)
    limits = [_followed(setting, data, s.seed + run, s.seconds) for run in range(s.runs)]
    return [math.nan if limit.margin is None else limit.margin for limit in limits]


def _threshold(s: Hinted, alpha: float) -> float:
    """K/ε from which on a network with a wider margin than ε/2 is known, by bisection."""
    eps = _with_hints(s, alpha).parameters["eps"]
    ends = [0.1, 100.0]
    while ends[1] / ends[0] > 1 + 1e-5:
        middle = math.sqrt(ends[0] * ends[1])
        best = optimum(_with_hints(s, alpha, eps=eps, K=middle * eps), alpha).margin[0]
        ends[int(best > eps / 2 * (1 + 1e-9))] = middle
    return math.sqrt(ends[0] * ends[1])
