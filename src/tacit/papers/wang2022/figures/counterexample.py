"""Ours: three points on which Theorem 2 fails."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.certificates import optimum
from tacit.flow import Limit
from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.flows import is_compared, kkt_residual, limit_of, seed_of
from tacit.papers.wang2022.figures.one_against_the_rest import (
    by_theorem_2,
    draw_classes,
    suboptimal,
)
from tacit.papers.wang2022.figures.two_points import EXACT, property_of
from tacit.papers.wang2022.rectified_ellipsoid import on_circle
from tacit.plot import new_figure
from tacit.plot.plane import MINUS, PLUS
from tacit.reproduction.artefact import Exhibit, Settings, Tell, ours
from tacit.reproduction.claims import NOT_STATED, at_least, at_most, near, probability_at_most
from tacit.values import Dataset, Network


@dataclass(frozen=True)
class Counterexample(Settings):
    angle: float = ours(50.0, "degrees; the points are at 180° and ± this, one class each")
    start: float = ours(60.0, "degrees; neurons start at 180° with a > 0 and at ± this with a < 0")
    scale: float = ours(1e-3, "‖w‖ = |a| of a neuron at the start")
    runs: int = ours(40, "random initialisations of the same problem")
    width: int = ours(10, "neurons of the random networks")


@PAPER.artefact("thm2", "Theorem 2, §2.1", Counterexample, quick={"runs": 8})
def thm2(s: Counterexample, tell: Tell) -> Exhibit:
    """Theorem 2 fails for three classes: a limit of the flow that is not the optimum

    Three points at mutually obtuse angles, one class each. For the output of the first class the
    other two have one label, and the best network sees both with one neuron. Two neurons that each
    see one of them do so for ever, which costs more. Some random starts end this way, too. (With
    points beyond ±60° two neurons are the optimum, and nothing is missed.)
    """
    points = on_circle(np.radians([180.0, s.angle, -s.angle]))
    classes = Dataset(points, np.arange(3), "three directions", ("0", "1", "2"))
    data = classes.one_vs_rest(0)
    W = s.scale * on_circle(np.radians([180.0, s.start, -s.start]))
    a = s.scale * np.array([1.0, -1.0, -1.0])
    tell("the flow from the chosen start")
    limit = limit_of(data, 3, s.scale, start=Network(W, a))
    ends = []
    for i in range(s.runs):
        tell(f"random start {i + 1} of {s.runs}")
        ends.append(limit_of(data, s.width, s.scale, seed_of(s, i)))
    compared = [one for one in ends if is_compared(one)]
    missed, count = len(suboptimal(compared)), max(len(compared), 1)
    best, margin = optimum(data), limit.margin or 0.0
    widest = best.margin
    alone, shared = 1 / 6, 1 / (2 + 2 / math.cos(math.radians(s.angle)))
    slack = property_of(classes, "orthogonally_separable").slack or 0.0
    said = "The limit has the widest margin (Theorem 2)"
    text = "A random start that fits the data misses the widest margin; probability"
    claims = (
        at_least(
            "separable",
            "The three classes are orthogonally separable; slack",
            slack,
            0.0,
            "assumed",
        ),
        near("limit", "Margin of the limit, in closed form 1/6", margin, alone, EXACT, NOT_STATED),
        near(
            "best", "Widest margin, in closed form", widest, max(alone, shared), EXACT, NOT_STATED
        ),
        at_most("gap", "Gap of the widest margin's certificate", best.gap, EXACT),
        at_most("kkt", "The limit is a KKT point; residual", kkt_residual(limit), 1e-6),
        by_theorem_2(
            at_least("thm2", said, margin, widest * (1 - 1e-6), "global optimum"), [limit]
        ),
        by_theorem_2(
            probability_at_most("random", text, missed, count, 0.0, "almost never (Theorem 2)"),
            compared,
        ),
    )
    figure, (row,) = new_figure(1, 3, (15, 5.6))
    draw_classes(row[0], classes, limit)
    depth, path = _margins(limit)
    row[1].plot(depth, path, c="black", label="the flow")
    for level, name, style in ((shared, "both negative points", "--"), (alone, "each point", ":")):
        row[1].axhline(level, ls=style, c=PLUS, label=f"a neuron for {name}: {level:.4f}")
    row[1].set(title="margin along the flow", xlabel="log₁₀(1/loss)", ylabel="q_min / ‖θ‖²")
    row[1].set(xscale="log")
    row[1].legend(fontsize=8)
    margins = np.array([one.margin for one in compared], dtype=float)
    ends_at = 0.98 * min(alone, shared), 1.02 * max(alone, shared)
    row[2].hist(margins, bins=np.linspace(*ends_at, 30), color=MINUS)
    row[2].set(xlabel="margin of the limit", ylabel="networks")
    row[2].set_title(f"limits of {len(compared)} random starts, {s.width} neurons")
    missing = len(ends) - len(compared)
    words = f"{missing} of {len(ends)} random starts have no limit, or one not compared in time"
    numbers = {"log10_loss": -depth, "margin": path, "random_margins": margins}
    return Exhibit(claims, figure, numbers, (f"{words}; not counted",) if missing else ())


def _margins(limit: Limit) -> tuple[np.ndarray, np.ndarray]:
    """log₁₀(1/loss) and the normalised margin, from where all points are on their side."""
    states = [(-one.log_L / math.log(10), one.state) for one in limit.path.moments]
    sizes = [(depth, z.outputs().min(), (z.W**2).sum() + (z.a**2).sum()) for depth, z in states]
    rows = [(depth, low / size) for depth, low, size in sizes if low > 0 and depth > 0]
    margins = np.array(rows).reshape(-1, 2)
    return margins[:, 0], margins[:, 1]
