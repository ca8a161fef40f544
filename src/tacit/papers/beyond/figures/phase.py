"""Linear and bent boundaries over the initial scale and the width."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.data import load
from tacit.flow import binary_limit
from tacit.measures import plane
from tacit.papers.beyond.drawing import draw_depths, draw_map, draw_transition
from tacit.papers.beyond.figures import PAPER
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, Whose, ours, paper
from tacit.reproduction.claims import (
    NOT_STATED,
    at_least,
    at_most,
    explained,
    mean_interval,
    near,
    probability_at_least,
)
from tacit.training import train_many
from tacit.values import Dataset, Setting


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


QUICK_FLOWS = {"flow_width": 8, "flow_scales": (3.0, 30.0), "flow_runs": 1}


@PAPER.artefact(
    "phase",
    "sarussi2021 Fig. 1, over all scales and widths",
    Phase,
    {"widths": (2, 20, 100), "scales": 9, "runs": 5, **QUICK_FLOWS},
)
def phase(s: Phase, tell: Tell) -> Exhibit:
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
    data = _trained(s, points, tell)
    data["flow_depth"], data["flow_groups"] = _flows(s, points, tell)
    transition = data["transition"]
    inside = np.isfinite(transition) & (transition > 0)
    size = np.where(inside, np.where(inside, transition, 0) * data["initial_radius"], np.nan)
    return Exhibit(_claims(s, data, size), _figure(s, data, size), data)


def _trained(s: Phase, points: Dataset, tell: Tell) -> dict[str, np.ndarray]:
    """Networks of all widths from all scales: what is seen of them by width, scale and run."""
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
        setting = setting.replace(activation=f"leaky:{s.alpha}", stop=(f"loss:{s.loss}",))
        begin = {"W": W, "a": a}
        many = train_many(points, setting, s.epochs, range(len(W)), start_at=begin)
        room = _room(many.last["W"], points.X)
        outside[k] = (room < 1).mean(axis=1).reshape(shape[1:])
        slack[k] = room.min(axis=1).reshape(shape[1:])
        labels = np.where(many.outputs(plane.circle()) > 0, 1, -1)
        bend[k] = np.reshape([plane.bend(row) for row in labels], shape[1:])
        fitted[k] = (points.y * many.outputs(points.X) > 0).all(axis=1).reshape(shape[1:])
        radius[k] = _two_clusters(start)[1]
    transition = np.array([[first_crossing(scales, row) for row in one.T] for one in slack])
    return {
        "outside": outside,
        "bend": bend,
        "slack": slack,
        "fitted": fitted,
        "scales": scales,
        "transition": transition,
        "initial_radius": radius,
        "widths": np.array(s.widths),
    }


def _figure(s: Phase, data: dict[str, np.ndarray], size: np.ndarray) -> Any:
    figure, ((share, bend), (radius, depth)) = new_figure(2, 2, size=(11.5, 8.6))
    for ax, values, name, most in (
        (share, data["outside"].mean(axis=2), "share outside", 1.0),
        (bend, np.median(data["bend"], axis=2), "degrees", 30.0),
    ):
        own = s.width, s.small, s.large
        draw_map(ax, data["scales"], s.widths, values, name, most, data["transition"], *own)
    share.set_title("share of points outside the linear region, mean")
    bend.set_title("bend of the boundary, median")
    kept = np.isfinite(size).all(axis=1)
    ends = np.exp([mean_interval(row) for row in np.log(size[kept])])
    middle = np.exp(np.log(size[kept]).mean(axis=1))
    draw_transition(radius, data["widths"][kept], middle, ends)
    radius.set_title(f"transition scale × radius at scale 1, mean loss {s.loss:g}")
    draw_depths(depth, s.flow_scales, data["flow_depth"])
    depth.set_title(f"depth at which the flow's boundary is linear, {s.flow_width} neurons")
    return figure


def _claims(s: Phase, data: dict[str, np.ndarray], size: np.ndarray) -> tuple[Claim, ...]:
    """Claims on the width nearest to the paper's and its two scales; on all widths; on the flow."""
    widths, bend, depth = data["widths"], data["bend"], data["flow_depth"]
    own = int(np.abs(widths - s.width).argmin())
    at = f"{widths[own]} neurons"
    inside = f"scale {s.small:g}, {at}: share of points outside the linear region, worst run"
    bent = f"scale {s.large:g}, {at}: share of runs whose boundary bends by more than 1 degree"
    bends = int((bend[own, -1] > 1).sum())
    leaves = data["transition"][own]
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
    groups = data["flow_groups"]
    several, untold = int((np.isfinite(groups) & (groups > 1)).sum()), int(np.isinf(groups).sum())
    why = (
        f"Of {groups.size} flows {several} end with several directions of one sign, which Theorem "
    )
    why += (
        f"6.1 allows where neurons do not agree on all points, and {untold} branched or were not "
    )
    why += "followed to a limit. That it is one direction from every scale is a claim of ours."
    return (
        at_least("fitted", "share of runs that fit every point", data["fitted"].mean(), 1.0),
        at_most("small_linear", inside, data["outside"][own, 0].max(), 0.0, "linear (Fig. 1b)"),
        probability_at_least("large_bent", bent, bends, s.runs, 0.95, "not linear (Fig. 1a)"),
        Claim("between", first, NOT_STATED, scale, bool(between), (low, high), criterion=span),
        at_most("two_neurons", two, bend[widths == 2].max(initial=0.0), 0.01, "linear (Cor. 6.1)"),
        Claim("width_slope", falls, NOT_STATED, slope, one_over, ends, criterion="−1"),
        explained(
            at_most("limit_linear", line, data["flow_groups"].max(), 1.0, "clustered (Thm 6.1)"),
            why,
            Whose.OURS,
            several + untold > 0,
        ),
        explained(
            near("depth_slope", deep, proportion, 1.0, 0.1, NOT_STATED),
            why,
            Whose.OURS,
            several + untold > 0,
        ),
    )


def _two_clusters(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w̄ − ū and r of Theorem 5.1 for members × m × d; the first half of the neurons are w."""
    halves = np.stack(np.split(W, 2, axis=1))
    means = halves.mean(axis=2)
    r = np.linalg.norm(halves - means[:, :, None], axis=3).max(axis=(0, 2))
    return means[0] - means[1], r


def _room(W: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Members × points: |(w̄−ū)·x| / 2r‖x‖; from 1 on the boundary is linear by Theorem 5.1."""
    normal, r = _two_clusters(W)
    return np.abs(normal @ X.T) / np.maximum(2 * np.outer(r, np.linalg.norm(X, axis=1)), 1e-300)


def first_crossing(scales: np.ndarray, slack: np.ndarray) -> float:
    """The scale at which the slack first falls below 1: 0 if from the start, inf if never."""
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
            setting = setting.replace(activation=f"leaky:{s.alpha}")
            limit = binary_limit(points, setting, seed=s.seed + run, log10_loss=-s.flow_depth)
            if limit.outcome.settled:
                groups[j, run] = max(sum(g.sign == k for g in limit.groups) for k in (1, -1))
            moments = [moment for moment in limit.path.moments if moment.log_L < -1e-3]
            room = _room(np.array([moment.state.W for moment in moments]), points.X).min(axis=1)
            depths = -np.array([moment.log_L for moment in moments]) / math.log(10)
            edge = first_crossing(1 / depths[::-1], room[::-1])
            depth[j, run] = max(1 / edge, depths[0]) if edge > 0 else math.inf
    return depth, groups


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of the logarithms, by least squares; NaN where there is nothing to fit."""
    if len(np.unique(x)) < 2:
        return math.nan
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
