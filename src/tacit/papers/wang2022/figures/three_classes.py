"""Ours: gradient flow on three classes, each output against its own optimum."""

from dataclasses import dataclass

import numpy as np

from tacit.certificates import optimum
from tacit.data import load
from tacit.flow import Limit
from tacit.papers.wang2022.figures import PAPER
from tacit.papers.wang2022.figures.flows import is_compared, kkt_residual, limit_of, seed_of
from tacit.papers.wang2022.figures.one_against_the_rest import by_theorem_2, draw_classes
from tacit.papers.wang2022.figures.two_points import property_of
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Settings, Tell, ours
from tacit.reproduction.claims import at_least, at_most


@dataclass(frozen=True)
class ThreeClasses(Settings):
    n: int = ours(12, "the paper has no data of three classes")
    d: int = ours(2, "so that it can be drawn")
    sets: int = ours(8, "independent data sets, each with an initialisation of its own")
    width: int = ours(20, "neurons of each output")
    scale: float = ours(1e-4, "‖w‖ = |a| of a neuron at the start")
    depth: float = ours(1e5, "log₁₀(1/loss) to which the flow is followed at least")


@PAPER.artefact("three_classes", "Theorem 2, §2.1", ThreeClasses, quick={"sets": 2})
def three_classes(s: ThreeClasses, tell: Tell) -> Exhibit:
    """Three orthogonally separable classes: how far each output's limit is from its optimum

    Every class against the rest is a problem of its own. The flow is followed to its limit, and the
    limit's margin is compared with certified bounds of the widest one; Theorem 2 says that they are
    the same. Left the output that misses most, with its learned neurons (lines) and the optimal
    ones (stars); right the certified share of the widest margin that every output misses.
    """
    recipe = f"orthogonal_classes:n={s.n},d={s.d},classes=3,seed="
    sets = [load(f"{recipe}{seed_of(s, i)}") for i in range(s.sets)]
    compared: list[tuple[int, int, Limit, float]] = []
    for i, k in np.ndindex(s.sets, 3):
        tell(f"data set {i + 1} of {s.sets}, class {k} against the rest")
        problem = sets[i].one_vs_rest(k)
        limit = limit_of(problem, s.width, s.scale, seed_of(s, i), -s.depth)
        if limit.certificate is not None and is_compared(limit):
            compared.append((i, k, limit, limit.certificate.shortfall))
    limits = [limit for *_, limit, _ in compared]
    shortfalls = np.array([shortfall for *_, shortfall in compared])
    slack = min(property_of(data, "orthogonally_separable").slack or 0.0 for data in sets)
    residual = max(map(kkt_residual, limits), default=0.0)
    largest, text = float(shortfalls.max(initial=0)), "Every output ends at its widest margin; gap"
    claims = (
        at_least(
            "separable", "The classes are orthogonally separable; slack", slack, 0.0, "assumed"
        ),
        at_most("kkt", "Every limit is a KKT point; largest residual", residual, 1e-6, "KKT point"),
        at_most(
            "program", "(7) and (8) agree; relative gap", optimum(sets[0]).gap, 1e-6, "they agree"
        ),
        by_theorem_2(at_most("thm2", text, largest, 1e-6, "global optimum (Theorem 2)"), limits),
    )
    figure, ((left, right),) = new_figure(1, 2, (11, 5.6))
    if compared:
        i, k, worst, shortfall = compared[int(shortfalls.argmax())]
        draw_classes(left, sets[i], worst)
        left.set_title(f"data set {i}, class {k} against the rest: {shortfall:.2%} missed")
    for k, marker in enumerate("osD"):
        mine = np.array([(i, shortfall) for i, c, _, shortfall in compared if c == k]).reshape(
            -1, 2
        )
        right.plot(*mine.T, marker, mfc="none", ms=10 - 3 * k, label=f"class {k} against the rest")
    right.set(title="share of the widest margin that is missed", xlabel="data set")
    right.set(ylabel="1 − margin / widest margin", xticks=range(s.sets))
    right.legend(fontsize=8)
    data = {
        "set": np.array([i for i, *_ in compared]),
        "class": np.array([k for _, k, *_ in compared]),
        "margin": np.array([one.margin for one in limits], dtype=float),
        "gap": shortfalls,
    }
    missing = 3 * s.sets - len(compared)
    words = f"{missing} of {3 * s.sets} outputs have no limit, or one not compared in time"
    return Exhibit(claims, figure, data, (f"{words}; not counted",) if missing else ())
