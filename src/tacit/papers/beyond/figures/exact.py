"""How far the papers' training runs were from the limit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from tacit.data import load
from tacit.flow import Limit, binary_limit
from tacit.flow.rate import predicted_rate
from tacit.papers.beyond.drawing import draw_flow, draw_runs
from tacit.papers.beyond.figures import PAPER
from tacit.papers.beyond.figures.published_settings import MOST_STARTS, PublishedSettings
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours, paper
from tacit.reproduction.claims import NOT_STATED, at_most, near, true
from tacit.training import Many, train_many
from tacit.values import Dataset, Setting

SEPARATED = math.log10(math.log(2))
"""log₁₀ of the summed loss below which every point has its label."""


@dataclass(frozen=True)
class Exact(PublishedSettings):
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
def exact(s: Exact, tell: Tell) -> Exhibit:
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
    experiments = _experiments(s)
    figure, axes = new_figure(3, len(experiments), size=(4.1 * len(experiments), 9.6))
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    away, shares = 0, [0.0]
    for one, (top, middle, bottom) in zip(experiments, axes.T, strict=True):
        tell(f"{one.title}: the limit")
        limit, seeds = _first_limit(one, s, -s.depth)
        tell(f"{one.title}: training")
        at = np.unique(np.geomspace(1, one.epochs, 30).astype(int))
        many = train_many(one.data, one.setting, one.epochs, seeds, at=at.tolist())
        log10_loss, margin = losses_and_margins(many, one.data)
        fits = margin[-1] > 0
        if limit.certificate is None or not fits.any():
            text = f"{one.title}: the flow has a limit, and a run fits the data"
            seen = f"{limit.outcome}, {fits.sum()} of {s.runs}"
            claims.append(true(f"{one.key}_limit", text, False, seen, "converged"))
            continue
        angle = np.array([angles_to(limit, many, t) for t in range(len(many.at))])[:, fits]
        log10_loss, share = (
            log10_loss[:, fits],
            margin[:, fits] / limit.certificate.margin_bounds.upper,
        )
        late = log10_loss[:-1] < SEPARATED
        away += int(((late & (angle[1:] > angle[:-1])).any(axis=0) | ~late.any(axis=0)).sum())
        shares.append(float(share.max()))
        r = predicted_rate(limit)
        text = f"{one.title}: the flow's angle falls like log(1/L)^−r with the r that the limit "
        text += "predicts, up to 0.02"
        rate = limit.fitted_rate or math.nan
        claims.append(near(f"{one.key}_slope", text, rate, r, 0.02, NOT_STATED))
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
    claims.append(at_most("nearer", text, away, 0, "→ 0 (lyu2021 Thm 3.1)"))
    text = "no run at any epoch has a margin above the certified bound of all networks: largest "
    claims.append(at_most("margin", f"{text}share of it", max(shares), 1 + 1e-12))
    return Exhibit(tuple(claims), figure, data)


def _experiments(s: Exact) -> list[Experiment]:
    phuong = Setting(width=s.width, init=f"uniform:{s.phuong_factor}", rule="sgd", lr=s.phuong_lr)
    phuong = phuong.replace(batch=s.phuong_batch)
    lyu = Setting(width=s.width, init=f"he:{s.lyu_factor}", rule="gd", lr=s.lyu_lr)
    lyu = lyu.replace(activation=f"leaky:{s.lyu_alpha}")
    sarussi = Setting(width=s.width, init=f"gaussian:{s.sarussi_std}", rule="sgd", lr=s.sarussi_lr)
    sarussi = sarussi.replace(activation=f"leaky:{s.sarussi_alpha}", train="first", batch=1)
    wang = Setting(width=s.wang_width, init=f"balanced:{s.wang_norm}", rule="gd", lr=s.wang_lr)
    wang = wang.replace(loss="logistic:sum")
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


def _first_limit(
    experiment: Experiment, s: Exact, log10_loss: float
) -> tuple[Limit, Sequence[int]]:
    """The limit from the first start that leads to one: all that do lead to the same function.

    And the seeds of the runs: those of the figure, or later ones where none of these leads to one.
    """
    for seed in range(s.seed, s.seed + max(s.runs, MOST_STARTS)):
        limit = binary_limit(experiment.data, experiment.setting, seed=seed, log10_loss=log10_loss)
        if limit.outcome.settled:
            break
    first = s.seed if seed < s.seed + s.runs or not limit.outcome.settled else seed
    return limit, range(first, first + s.runs)


def losses_and_margins(many: Many, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """T × members: log₁₀ of the sum of the losses, and q_min/‖θ‖^L."""
    q = np.array([data.y * many.outputs(data.X, t) for t in range(len(many.at))])
    log_losses = np.where(q > 30, -q, np.log(np.logaddexp(0, -np.minimum(q, 30))))
    log_loss = logsumexp(log_losses, axis=-1)
    trained = ["W", "a"] if "a" in many.model.trained(many.model.shapes(data.d, 2)) else ["W"]
    square = sum((many.weights[part] ** 2).reshape(*q.shape[:2], -1).sum(-1) for part in trained)
    return log_loss / math.log(10), q.min(axis=-1) / np.sqrt(square) ** len(trained)


def angles_to(limit: Limit, many: Many, t: int) -> list[float]:
    """The angle between the weights of every run and the nearest with the limit's function.

    With both layers trained the limit says what a group weighs and not how its neurons share it.
    """
    angles = []
    for i in range(many.size):
        W, a = (many.member(i, t)[part] for part in ("W", "a"))
        if limit.setting.train == "first":
            assert limit.network is not None
            along = float((W * limit.network.W).sum())
            length, whole = (float(np.linalg.norm(rows)) for rows in (W, limit.network.W))
        else:
            towards = np.array([W @ g.direction + g.sign * a for g in limit.groups])
            same = np.array([g.sign * a > 0 for g in limit.groups])
            towards = np.where(same, np.maximum(towards, 0), 0)
            towards *= towards == towards.max(axis=0)  # a neuron is in the group it is nearest to
            weights = np.array([g.weight for g in limit.groups])
            along = float(np.sqrt(weights) @ np.linalg.norm(towards, axis=1))
            length = math.hypot(np.linalg.norm(W), np.linalg.norm(a))
            whole = math.sqrt(2 * weights.sum())
        angles.append(math.acos(min(along / (length * whole), 1.0)))
    return angles
