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

from tacit._types import Dataset, Setting
from tacit.certificates import optimum, two_layer_kkt
from tacit.data import load
from tacit.limit import Limit, find
from tacit.limit.measures import along
from tacit.limit.rate import predicted_rate
from tacit.models import parse_activation
from tacit.papers.base import Claim, Paper, Result, Settings, Tell, ours, paper
from tacit.papers.claims import (
    at_least,
    at_most,
    mean_interval,
    near,
    probability_at_least,
    true,
)
from tacit.plots import new_figure
from tacit.plots.gaps import (
    draw_depths,
    draw_flow,
    draw_lost,
    draw_lost_map,
    draw_lost_over_H,
    draw_map,
    draw_runs,
    draw_threshold,
    draw_transition,
    draw_verdicts,
)
from tacit.solvers.max_margin import max_margin
from tacit.theorems.lyu2021.left_example import printed_network
from tacit.theorems.wang2022.limits import three_against_one
from tacit.train import Many, train_many

PAPER = Paper("beyond")

LN10 = math.log(10)
DEEP = -1e60
"""log₁₀ L to which paths are followed that do not tell their limit at first."""
SEPARATED = math.log10(math.log(2))
"""log₁₀ of the summed loss below which every point has its label."""


@dataclass(frozen=True)
class Exact(Settings):
    width: int = paper(100, "phuong2021 §5.1, lyu2021 App. J, sarussi2021 Fig. 8")
    phuong_n: int = paper(500, "phuong2021 §5.1")
    phuong_d: int = paper(20, "phuong2021 §5.1")
    phuong_epochs: int = paper(500, "phuong2021 §5.1")
    phuong_batch: int = paper(50, "phuong2021 §5.1")
    phuong_lr: float = paper(0.1, "phuong2021 §5.1")
    phuong_factor: float = paper(0.05, "phuong2021 §5.1, on weights drawn as PyTorch does")
    lyu_n: int = paper(10, "lyu2021 Table 1, first row")
    lyu_d: int = paper(50, "lyu2021 App. J")
    lyu_factor: float = paper(0.001, "lyu2021 App. J, on He's initialisation")
    lyu_lr: float = paper(0.01, "lyu2021 App. J, before it is raised; we keep it")
    lyu_epochs: int = ours(20000, "the paper gives none")
    lyu_alpha: float = ours(0.5, "α of lyu2021 Fig. 1; Table 1 gives none")
    sarussi_n: int = paper(400, "sarussi2021 Fig. 8")
    sarussi_d: int = paper(50, "sarussi2021 Fig. 8")
    sarussi_lr: float = paper(1e-3, "sarussi2021 Fig. 8")
    sarussi_std: float = ours(1e-3, "the small scale of sarussi2021 Fig. 1; Fig. 8 gives none")
    sarussi_epochs: int = ours(100, "the paper gives none")
    sarussi_alpha: float = ours(0.5, "the paper gives none")
    wang_width: int = paper(10, "wang2022 App. F.1")
    wang_epochs: int = paper(10000, "wang2022 App. F.1, the last iteration drawn")
    wang_lr: float = ours(0.1, "the paper gives none")
    wang_norm: float = ours(1e-3, "‖w_k‖ = |a_k| at the start; the paper gives none")
    runs: int = ours(10, "initialisations that are trained")
    depth: float = ours(1e5, "log₁₀(1/L) to which the flow is followed")


class Experiment(NamedTuple):
    """A training run of a paper."""

    key: str
    title: str
    data: Dataset
    setting: Setting
    epochs: int


@PAPER.artefact(
    "exact",
    "phuong2021 Fig. 1, lyu2021 Table 1, sarussi2021 Fig. 8, wang2022 Fig. 3",
    Exact,
    quick={
        "phuong_n": 100,
        "phuong_d": 10,
        "sarussi_n": 80,
        "sarussi_d": 10,
        "lyu_epochs": 5000,
        "width": 20,
        "runs": 2,
    },
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
        draw_runs(top, middle, bottom, many.at, log10_loss, angle, share)
        draw_flow(bottom, limit.approach, predicted_rate(limit))
        top.set_title(f"{one.title}\n{int(fits.sum())} of {s.runs} runs fit the data")
        claims += _exact_claims(one, limit, log10_loss, angle, share)
        data |= {f"{one.key}_epochs": many.at, f"{one.key}_angle": angle, f"{one.key}_share": share}
        data |= {f"{one.key}_log10_loss": log10_loss, f"{one.key}_flow": limit.approach}
    for row, name in zip(
        axes, ("angle to the limit (rad)", "margin / widest", "angle"), strict=True
    ):
        row[0].set_ylabel(name)
        row[0].legend(fontsize=8, loc="best")
    return Result(tuple(claims), figure, data)


def _exact_claims(
    one: Experiment, limit: Limit, log10_loss: np.ndarray, angle: np.ndarray, share: np.ndarray
) -> list[Claim]:
    late = log10_loss[:-1] < SEPARATED
    rises = np.where(late, angle[1:] / angle[:-1], 0.0)
    left = f"{angle[-1].mean():.3g} rad left, {angle[0].mean():.3g} after the first epoch"
    return [
        true(
            f"{one.key}_nearer",
            f"{one.title}: once every point has its label, every run comes nearer to the limit at "
            f"each epoch that was kept; after all {one.epochs}",
            bool(late.any() and rises.max() <= 1),
            left,
            "→ 0 (lyu2021 Thm 3.1)",
        ),
        at_most(
            f"{one.key}_margin",
            f"{one.title}: no run at any epoch has a margin above the certified bound of the "
            "widest of all, largest share of it",
            float(share.max()),
            1 + 1e-12,
        ),
        near(
            f"{one.key}_slope",
            f"{one.title}: the flow's angle falls like log(1/L)^−r with the r that the limit "
            "predicts, up to 0.02",
            _late_slope(limit.approach),
            predicted_rate(limit),
            0.02,
        ),
    ]


def _experiments(s: Exact) -> list[Experiment]:
    lyu = f"lyu2021_appJ:n={s.lyu_n},d={s.lyu_d},seed={s.seed}"
    sarussi = f"gaussians:n={s.sarussi_n},d={s.sarussi_d},seed={s.seed}"
    small = Setting(width=s.width)
    return [
        Experiment(
            "phuong",
            "phuong2021 Fig. 1",
            load(f"orthogonal:n={s.phuong_n},d={s.phuong_d},seed={s.seed}"),
            replace(
                small,
                init=f"uniform:{s.phuong_factor}",
                rule="sgd",
                batch=s.phuong_batch,
                lr=s.phuong_lr,
            ),
            s.phuong_epochs,
        ),
        Experiment(
            "lyu",
            f"lyu2021 Table 1, n = {s.lyu_n}",
            load(lyu),
            replace(
                small,
                activation=f"leaky:{s.lyu_alpha}",
                init=f"he:{s.lyu_factor}",
                rule="gd",
                lr=s.lyu_lr,
            ),
            s.lyu_epochs,
        ),
        Experiment(
            "sarussi",
            "sarussi2021 Fig. 8",
            load(sarussi),
            replace(
                small,
                activation=f"leaky:{s.sarussi_alpha}",
                train="first",
                init=f"gaussian:{s.sarussi_std}",
                rule="sgd",
                batch=1,
                lr=s.sarussi_lr,
            ),
            s.sarussi_epochs,
        ),
        Experiment(
            "wang",
            "wang2022 Fig. 3",
            load("wang2022_f1"),
            Setting(
                width=s.wang_width,
                init=f"balanced:{s.wang_norm}",
                loss="logistic:sum",
                rule="gd",
                lr=s.wang_lr,
            ),
            s.wang_epochs,
        ),
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


def _late_slope(approach: np.ndarray) -> float:
    """r of the fit angle ~ log(1/L)^(−r) over the last factor of ten of log(1/L)."""
    depth, angle = -approach[:, 0], approach[:, 1]
    late = depth >= depth[-1] / 10
    return -_slope(depth[late], angle[late])


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """Of the logarithms, by least squares; NaN where there is nothing to fit."""
    if len(np.unique(x)) < 2:
        return math.nan
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


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


@PAPER.artefact(
    "phase",
    "sarussi2021 Fig. 1, over all scales and widths",
    Phase,
    quick={
        "widths": (2, 20, 100),
        "scales": 10,
        "runs": 6,
        "flow_width": 10,
        "flow_scales": (3.0, 30.0),
        "flow_runs": 1,
    },
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
        a = np.repeat([1.0, -1.0], m // 2)
        setting = Setting(
            activation=f"leaky:{s.alpha}",
            train="first",
            width=m,
            rule="sgd",
            lr=s.lr * 100 / m,
            stop=(f"loss:{s.loss}",),
        )
        many = train_many(
            setting,
            points,
            s.epochs,
            range(len(W)),
            start_at={"W": W, "a": np.tile(a, (len(W), 1))},
        )
        room = _room(many.last["W"], points.X)
        outside[k] = (room < 1).mean(axis=1).reshape(shape[1:])
        slack[k] = room.min(axis=1).reshape(shape[1:])
        bend[k] = _bends(many.outputs(CIRCLE)).reshape(shape[1:])
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
    data = {
        "widths": np.array(s.widths),
        "scales": scales,
        "outside": outside,
        "bend": bend,
        "slack": slack,
        "fitted": fitted,
        "transition": transition,
        "initial_radius": radius,
        "flow_depth": flow_depth,
        "flow_groups": flow_groups,
    }
    claims = _phase_claims(s, outside, bend, fitted, transition, size, flow_depth, flow_groups)
    return Result(claims, figure, data)


def _phase_claims(
    s: Phase,
    outside: np.ndarray,
    bend: np.ndarray,
    fitted: np.ndarray,
    transition: np.ndarray,
    size: np.ndarray,
    flow_depth: np.ndarray,
    flow_groups: np.ndarray,
) -> tuple[Claim, ...]:
    """Of the width nearest to the paper's and its two scales; of all widths; of the flow."""
    widths = np.array(s.widths)
    own = int(np.abs(widths - s.width).argmin())
    at = f"{widths[own]} neurons"
    wide = widths >= s.wide
    slopes = np.array([_slope(widths[wide], row) for row in size[wide].T if np.isfinite(row).all()])
    slope_ends = mean_interval(slopes)
    log_scale = np.log10(transition[own][np.isfinite(transition[own]) & (transition[own] > 0)])
    scale = 10 ** float(log_scale.mean()) if len(log_scale) else "none"
    ends = [10**end for end in mean_interval(log_scale)]
    seen = np.isfinite(flow_depth).all(axis=1)
    flow_scales = np.repeat(np.array(s.flow_scales)[seen], s.flow_runs)
    return (
        at_least("fitted", "share of runs that fit every point", fitted.mean(), 1.0),
        at_most(
            "small_linear",
            f"scale {s.small:g}, {at}: share of points outside the linear region, worst run",
            outside[own, 0].max(),
            0.0,
        ),
        at_most(
            "small_straight",
            f"scale {s.small:g}, {at}: the boundary bends by at most 1 degree in every run",
            bend[own, 0].max(),
            1.0,
        ),
        probability_at_least(
            "large_bent",
            f"scale {s.large:g}, {at}: share of runs whose boundary bends by more than 1 degree",
            int((bend[own, -1] > 1).sum()),
            s.runs,
            0.95,
        ),
        replace(
            true(
                "between",
                f"{at}: the scale at which a first point leaves the linear region is between the "
                "paper's two",
                s.small < ends[0] and ends[1] < s.large,
                scale,
                f"{s.small:g} … {s.large:g}",
            ),
            interval=(ends[0], ends[1]),
        ),
        at_most(
            "two_neurons",
            "2 neurons: the boundary is a line at every scale, largest bend in degrees (Cor. 6.1)",
            bend[widths == 2].max(initial=0.0),
            0.01,
        ),
        Claim(
            "width_slope",
            "that scale, times the initial cluster radius at scale 1, falls like one over the "
            "width: mean slope of the logarithms",
            -1.0,
            float(slopes.mean()) if len(slopes) else "none in range",
            bool(len(slopes) > 1 and slope_ends[0] <= -1 <= slope_ends[1]),
            slope_ends,
        ),
        at_most(
            "limit_linear",
            f"followed to its limit, the flow of {s.flow_width} neurons ends with one direction "
            "for each sign, a line, from every scale: most directions of one sign",
            flow_groups.max(),
            1.0,
            "1 (Thm 6.1)",
        ),
        near(
            "depth_slope",
            "the depth log(1/L) at which the flow's boundary becomes linear is proportional to the "
            "scale: slope over the logarithms, up to 0.1",
            _slope(flow_scales, flow_depth[seen].ravel()),
            1.0,
            0.1,
        ),
    )


CIRCLE = np.column_stack([f(2 * np.pi * np.arange(7200) / 7200) for f in (np.cos, np.sin)])
"""Directions of the plane."""


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


def _bends(f: np.ndarray) -> np.ndarray:
    """By how many degrees the boundary is no line, from outputs on the circle; 180 where f has more
    or fewer zeros than two."""
    step, found = 360 / f.shape[1], np.full(len(f), 180.0)
    for i, values in enumerate(f):
        after = np.roll(values, -1)
        before = np.flatnonzero((values > 0) != (after > 0))
        if len(before) == 2:
            zeros = step * (before + values[before] / (values[before] - after[before]))
            found[i] = abs(zeros[1] - zeros[0] - 180)
    return found


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
            setting = Setting(
                activation=f"leaky:{s.alpha}",
                train="first",
                width=s.flow_width,
                init=f"gaussian:{scale}",
            )
            limit = find(setting, points, s.seed + run, -s.flow_depth)
            if limit.outcome == "converged":
                groups[j, run] = max(sum(g.sign == k for g in limit.groups) for k in (1, -1))
            moments = [moment for moment in limit.path.moments if moment.log_L < -1e-3]
            room = _room(np.array([moment.state.W for moment in moments]), points.X).min(axis=1)
            depths = -np.array([moment.log_L for moment in moments]) / LN10
            edge = _crossing(1 / depths[::-1], room[::-1])
            depth[j, run] = max(1 / edge, depths[0]) if edge > 0 else math.inf
    return depth, groups


@dataclass(frozen=True)
class Global(Settings):
    phuong_n: int = paper(500, "phuong2021 §5.1")
    phuong_d: int = paper(20, "phuong2021 §5.1")
    phuong_factor: float = paper(0.05, "phuong2021 §5.1, on weights drawn as PyTorch does")
    width: int = paper(100, "phuong2021 §5.1, lyu2021 App. J, sarussi2021 Fig. 4")
    lyu_alpha: float = paper(0.5, "lyu2021 Fig. 1")
    lyu_factor: float = paper(0.001, "lyu2021 App. I.1.3 and J, on He's initialisation")
    lyu_tiny: float = ours(1e-6, "a scale that is small enough for lyu2021 Theorem 6.2")
    lyu_width: int = ours(20, "of the networks of lyu2021 Fig. 2; the paper gives none")
    table_n: int = paper(10, "lyu2021 Table 1, first row")
    table_d: int = paper(50, "lyu2021 App. J")
    sarussi_n: int = ours(100, "sarussi2021 Fig. 4 gives none")
    sarussi_alpha: float = ours(0.5, "sarussi2021 Fig. 4 gives none")
    sarussi_std: float = ours(1e-3, "the small scale of sarussi2021 Fig. 1; Fig. 4 gives none")
    wang_width: int = paper(10, "wang2022 App. F.1")
    wang_norm: float = ours(1e-3, "‖w_k‖ = |a_k| at the start; wang2022 gives none")
    runs: int = ours(5, "initialisations whose flow is followed, for each data set")
    tolerance: float = ours(1e-6, "margins up to this share below the widest count as the widest")
    seconds: float = ours(60.0, "for one flow, and for one optimum, after which bounds are given")


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


@PAPER.artefact(
    "global",
    "every max-margin statement of the papers' experiments",
    Global,
    quick={"phuong_n": 60, "phuong_d": 8, "width": 40, "runs": 1},
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
    figure, ((ax,),) = new_figure(size=(12.5, 0.55 * len(rows) + 1.3))
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    labels: list[str] = []
    gaps: list[np.ndarray] = []
    words: list[np.ndarray] = []
    for row in rows:
        tell(row.title)
        alpha, train = parse_activation(row.setting.activation), row.setting.train or "both"
        best = optimum(row.data, alpha, train, row.setting.width, seconds=s.seconds)
        ends = _ends(row, s)
        lower, upper = best.margin
        told = np.array([end.told for end in ends if end.fits], dtype=bool)
        margin = np.array([end.margin for end in ends if end.fits])
        gap = 1 - margin / upper
        certified, wider = gap <= s.tolerance, margin < (1 - s.tolerance) * lower
        verdicts = np.where(
            certified, "certified", np.where(told & wider, "suboptimal", "undecided")
        )
        gaps.append(gap)
        words.append(verdicts)
        claims.append(_row_claim(row, s, margin, gap, verdicts))
        reached = f"{margin.min():.5g}" if len(margin) else "none"
        bounds = f"{lower:.5g} {best.status}" if best.gap < 1e-6 else f"{lower:.5g} … {upper:.5g}"
        labels.append(f"{reached} of {bounds}")
        data |= {f"{row.key}_margin": margin, f"{row.key}_widest": np.array([lower, upper])}
        data |= {f"{row.key}_verdict": verdicts}
    claims.append(_svm_claim(rows[[row.key for row in rows].index("table")], s, data))
    names = [f"{row.title}\n{row.says}" for row in rows]
    draw_verdicts(ax, gaps, words, names, labels, s.tolerance)
    return Result(tuple(claims), figure, data)


def _row_claim(
    row: Row, s: Global, margin: np.ndarray, gap: np.ndarray, verdicts: np.ndarray
) -> Claim:
    told = verdicts != "undecided"
    if row.widest:
        worst = float(gap.max()) if len(gap) else 1.0
        text = f"{row.title}: every limit that fits the data has the widest margin of all networks"
        claim = at_most(row.key, f"{text}, largest gap", worst, s.tolerance, f"0 ({row.says})")
    else:
        least = float(gap.min()) if len(gap) else 0.0
        text = f"{row.title}: every limit has a margin that is not the widest, smallest gap"
        claim = at_least(row.key, text, least, s.tolerance, f"> 0 ({row.says})")
        claim = replace(claim, holds=claim.holds and bool(told.all()))
    if row.key == "thm2" and (verdicts == "suboptimal").any():
        finding = (
            "With K ≥ 3 one class against the rest is not orthogonally separable, so Theorem 4 "
            "does not apply: each neuron turns to its own point and stays there."
        )
        claim = replace(claim, finding=finding)
    left = margin > (1 + s.tolerance) * row.data.parameters.get("eps", math.inf) / 2
    if row.key == "right" and not claim.holds and left.any():
        finding = (
            f"In {left.sum()} of {len(left)} runs the margin, which never falls, passes the ε/2 of "
            "the linear classifier: from this scale, with H, K, ε as in App. A.2 (the paper gives "
            "none), the flow leaves it, long after every point has its label."
        )
        claim = replace(claim, finding=finding)
    return claim


def _svm_claim(row: Row, s: Global, data: dict[str, np.ndarray]) -> Claim:
    """Of Table 1's set: the max-margin separator, as the network that it is, against the limits."""
    separator = max_margin(row.data.y[:, None] * row.data.X)
    linear = (1 + s.lyu_alpha) / 4 * separator.upper
    share = linear / data["table_margin"].min(initial=math.inf)
    claim = near(
        "table_svm",
        f"{row.title}: the limit is the SVM's separator; its margin (1+α)γ/4 over the limit's",
        float(share),
        1.0,
        s.tolerance,
    )
    if share < 1 - s.tolerance:
        finding = (
            "Two neurons that are not opposite have a wider margin than the SVM's separator; only "
            "on symmetric data (Thm 4.2) is the best network linear in x."
        )
        claim = replace(claim, finding=finding)
    return claim


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
    figure = {
        side: load(f"lyu2021_{side}" + (f":alpha={s.lyu_alpha}" if side != "middle" else ""))
        for side in ("left", "middle", "right")
    }
    kkt = printed_network(s.lyu_alpha)
    classes, three = three_against_one()
    return [
        Row(
            "phuong",
            "phuong2021 Fig. 1",
            "Thm 1; global by lyu2021 H.2",
            True,
            load(f"orthogonal:n={s.phuong_n},d={s.phuong_d},seed={s.seed}"),
            Setting(width=s.width, init=f"uniform:{s.phuong_factor}"),
        ),
        Row("left", "lyu2021 Fig. 1 left", "Thm 4.3: global", True, figure["left"], leaky),
        Row(
            "left_kkt",
            "lyu2021 Fig. 1 left, the network of App. I.1.1",
            "KKT, not global",
            False,
            figure["left"],
            leaky,
            (kkt.W, kkt.a),
            True,
        ),
        Row(
            "middle",
            "lyu2021 Fig. 1 middle",
            "Thm A.7: KKT, not global",
            False,
            figure["middle"],
            leaky,
        ),
        Row(
            "right",
            f"lyu2021 Fig. 1 right, {s.lyu_factor:g} × He",
            "Fig. 2: linear, not global",
            False,
            figure["right"],
            leaky,
        ),
        Row(
            "right_tiny",
            f"lyu2021 Fig. 1 right, {s.lyu_tiny:g} × He",
            "Thm 6.2: KKT, not global",
            False,
            figure["right"],
            replace(leaky, init=f"he:{s.lyu_tiny}"),
        ),
        Row(
            "table",
            f"lyu2021 Table 1, n = {s.table_n}",
            "App. J: max margin",
            True,
            load(f"lyu2021_appJ:n={s.table_n},d={s.table_d},seed={s.seed}"),
            replace(leaky, width=s.width),
        ),
        Row(
            "sarussi",
            "sarussi2021 Fig. 4",
            "Thm 6.2: the program (7)",
            True,
            load(f"gaussians:n={s.sarussi_n},d=2,seed={s.seed}"),
            Setting(
                activation=f"leaky:{s.sarussi_alpha}",
                train="first",
                width=s.width,
                init=f"gaussian:{s.sarussi_std}",
            ),
        ),
        Row("f1", "wang2022 F.1", "Thm 4: global", True, load("wang2022_f1"), wang),
        Row("f2", "wang2022 F.2", "Prop 5: global", True, load("wang2022_f2"), wang),
        Row(
            "thm2",
            "wang2022 Thm 2, unit vectors at 180°, ±50°",
            "Thm 2: global",
            True,
            classes.one_vs_rest(0),
            replace(wang, width=3),
            (three.W, three.a),
        ),
    ]


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


@PAPER.artefact(
    "hinted",
    "lyu2021 Theorem 6.2, Definition 6.1",
    Hinted,
    quick={
        "K_factors": (0.5, 0.99, 1.01, 3.0),
        "eps_factors": (0.2, 0.8),
        "H_values": 4,
        "alphas": (0.2, 0.8),
        "runs": 1,
    },
)
def hinted(s: Hinted, tell: Tell) -> Result:
    """What three hints cost: the margin that gradient flow loses, over H, K and ε

    Data with the three hints (Hw*, 1), (εw* ± Kw⊥, 1) in front. Top left: the lost share of the
    margin, 1 − reached/widest, over K, for each ε; lines are certified optima against the linear
    classifier's ε/2, dots are limits of gradient flow. Nothing is lost up to K = ε√((3+α)/(1−α)),
    which the paper does not say. Top right: the same as a map. Bottom left: that threshold, found
    by bisection with certified optima for other slopes α. Bottom right: H must exceed ε for a loss,
    and the bound that the paper's proof gives leads the flow to the linear classifier; for smaller
    H it may go there or not.
    """
    unit = math.sqrt((3 + s.alpha) / (1 - s.alpha))
    plain = _with_hints(s, s.alpha)
    most = 2 * plain.parameters["eps"]  # αγ: by itself the generator takes half of it
    shape = (len(s.eps_factors), len(s.K_factors))
    lower, upper, linear = (np.zeros(shape) for _ in range(3))
    reached = np.full((*shape, s.runs), np.nan)
    for j, eps_factor in enumerate(s.eps_factors):
        tell(f"ε = {eps_factor:g} αγ")
        for k, K_factor in enumerate(s.K_factors):
            eps = eps_factor * most
            data = _with_hints(s, s.alpha, eps=eps, K=K_factor * eps * unit)
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
    figure, axes = new_figure(2, 2, size=(11.5, 8.6))
    draw_lost(axes[0, 0], s, 1 - linear / lower, 1 - reached / lower[:, :, None])
    draw_lost_map(axes[0, 1], s, 1 - linear / lower)
    draw_threshold(axes[1, 0], s, threshold)
    draw_lost_over_H(
        axes[1, 1], H / (2 * half), bound / (2 * half), H_linear / H_lower, H_reached, H_lower
    )
    numbers = {
        "lower": lower,
        "upper": upper,
        "linear": linear,
        "reached": reached,
        "H": H,
        "H_bound": np.array(bound),
        "H_lower": H_lower,
        "H_upper": H_upper,
        "H_linear": H_linear,
        "H_reached": H_reached,
        "threshold": threshold,
    }
    return Result((*_K_claims(s, numbers), *_H_claims(s, numbers)), figure, numbers)


def _K_claims(s: Hinted, found: dict[str, np.ndarray]) -> list[Claim]:
    lower, upper, linear, reached = (found[k] for k in ("lower", "upper", "linear", "reached"))
    factors, alphas = np.array(s.K_factors), np.array(s.alphas)
    lost = 1 - linear / lower
    predicted = np.sqrt((3 + alphas) / (1 - alphas))
    ended = np.abs(reached / linear[:, :, None] - 1) <= s.tolerance
    any_K = at_least(
        "any_K",
        "whatever K > 0 is, the linear classifier loses margin: smallest share lost",
        float(lost.min()),
        s.tolerance,
        "> 0 (App. A.2)",
    )
    if not any_K.holds and (factors < 1).any():
        why = "For K < ε√((3+α)/(1−α)) the multipliers 1/(2ε) of the two hints are dual feasible, "
        any_K = replace(
            any_K, finding=why + "so the linear classifier has the widest margin of all."
        )
    return [
        any_K,
        at_most(
            "below",
            "for K below ε√((3+α)/(1−α)) nothing is lost: largest share, by the upper bound",
            float((1 - linear / upper)[:, factors < 1].max(initial=0.0)),
            s.tolerance,
            "0 (erratum to App. A.2)",
        ),
        at_least(
            "beyond",
            "for K beyond it margin is lost: smallest share, by the lower bound",
            float(lost[:, factors > 1].min(initial=1.0)),
            s.tolerance,
            "> 0 (Thm 6.2)",
        ),
        at_most(
            "threshold",
            "the K at which the loss begins, found with certified optima, is ε√((3+α)/(1−α)) for "
            "every slope α: largest relative difference",
            float(np.abs(found["threshold"] / predicted - 1).max()),
            1e-4,
        ),
        probability_at_least(
            "flow",
            "with H as in App. A.2 the flow ends at the linear classifier ½φ(w*·x), for every K "
            "and ε",
            int(ended.sum()),
            ended.size,
            1 - 2.0**-s.width,
        ),
    ]


def _H_claims(s: Hinted, found: dict[str, np.ndarray]) -> list[Claim]:
    H, bound, reached = found["H"], float(found["H_bound"]), found["H_reached"]
    linear = np.abs(reached / found["H_linear"][:, None] - 1) <= s.tolerance
    other = H[~linear.all(axis=1)].max(initial=0.0)
    below, lost = H < 2 * found["H_linear"].max(), 1 - reached / found["H_lower"][:, None]
    return [
        at_most(
            "H_below",
            "with H below ε nothing is lost, the first hint is then the nearest point: largest "
            "share, by the upper bound",
            float((1 - found["H_linear"] / found["H_upper"])[below].max(initial=0.0)),
            s.tolerance,
            "H > ε (App. A.2)",
        ),
        at_least(
            "H_beyond",
            "with H beyond the bound of App. A.2 every limit loses margin: smallest share",
            float(np.nan_to_num(lost[H > bound]).min(initial=1.0)),
            s.tolerance,
            "> 0 (Thm 6.2)",
        ),
        at_most(
            "H_enough",
            "the bound of App. A.2 suffices: the largest H with a limit other than the linear "
            "classifier, as a share of it",
            float(other / bound),
            1.0,
        ),
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
