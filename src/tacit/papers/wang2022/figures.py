"""wang2022, The convex geometry of backpropagation: its figures, numbers and a counterexample.

Figures 1 to 10 show two points in the plane: a neuron u of length 1 is a point on the circle, and
what it sees of the data, (Xu)₊, is a point of the plane too. Two artefacts are ours: runs with
three classes, on which the paper has a theorem and no experiment, and why that theorem fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tacit.certificates import certify, optimum
from tacit.data import load
from tacit.flow import Limit, find
from tacit.geometry import check
from tacit.papers.wang2022 import drawing as draw
from tacit.papers.wang2022 import rectified_ellipsoid as q
from tacit.papers.wang2022.statements.extreme import own_gradients
from tacit.plot import new_figure
from tacit.plot.plane import MINUS, PLUS
from tacit.reproduction.artefact import Claim, Paper, Result, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most, near, probability_at_most, true
from tacit.training import train_many
from tacit.training.many import Many
from tacit.values import BadInput, Check, Dataset, Setting

PAPER = Paper("wang2022")
DEEP = -1e5
"""log₁₀ loss to which flows are followed; what is open at larger losses is told there."""
EXACT = 1e-9
"""What two exact computations of one number may differ by."""


@dataclass(frozen=True)
class Plane(Settings):
    data: str = paper("wang2022_f1", "App. F.1")
    directions: int = ours(200_000, "directions u of brute-force maxima, which are off by 1e-10")
    outline: int = ours(720, "points on every outline that is drawn")


@dataclass(frozen=True)
class SecondPlane(Plane):
    data: str = paper("wang2022_f2", "App. F.2")


@dataclass(frozen=True)
class Trained(Plane):
    width: int = paper(10, "App. F.1")
    iterations: tuple[int, ...] = paper((1, 10, 100, 1000, 10_000), "App. F.1")
    scale: float = ours(1e-4, "‖w‖ = |a| of a neuron at the start; the theorems want it small")
    lr: float = ours(0.1, "step size of gradient descent; not stated")
    runs: int = ours(1, "the initialisation that is drawn")
    angle: float = ours(0.02, "rad; neurons so near an optimal neuron have converged to it")
    faint: float = ours(1e-6, "neurons with a smaller share of Σ|a|‖w‖ play no part")


@dataclass(frozen=True)
class Repeated(Trained):
    runs: int = ours(4, "independent initialisations; Figure 7 has four panels")


@dataclass(frozen=True)
class SecondRepeated(Repeated):
    data: str = paper("wang2022_f2", "App. F.2")
    angle: float = ours(0.15, "rad; the angle falls like 1/log(1/loss) here, 0.02 is out of reach")


@PAPER.artefact("fig1", "Figure 1, §2.2", Plane)
def fig1(s: Plane, tell: Tell) -> Result:
    """The rectified ellipsoid and its spikes

    Purple is what neurons of length at most 1 can see of the two points: the part of an ellipse
    where both are seen, and on each axis what is seen of one point alone. The points are at an
    obtuse angle, so more is seen of a point by a neuron that does not see the other: there are
    spikes. Triangles are the best and the worst u of each cell for the optimal λ; the optimal
    neurons (stars) sit on the tips of the spikes.
    """
    return _panels(s, tell, (_extreme_points,))


@PAPER.artefact("fig2", "Figure 2, §2.2, App. F.1", Plane)
def fig2(s: Plane, tell: Tell) -> Result:
    """The absolute polar set of the rectified ellipsoid

    Purple are all λ that the dual problem (15) allows, but for their signs. The tips of the two
    spikes alone allow the dashed rectangle, the ellipsoid before it is rectified the dotted
    ellipse; the paper says that the rectangle is the whole set. (It is, because the points are more
    than 120° apart; between 90° and 120° two corners would be cut off.) The dual optimum is the
    corner that lies furthest in the direction of y.
    """
    return _panels(s, tell, (_polar_set,))


@PAPER.artefact("fig3", "Figure 3, §2.2", Trained)
def fig3(s: Trained, tell: Tell) -> Result:
    """What the neurons see on their way

    Ten neurons, gradient descent: (Xw)₊ of the normalised neurons; dots at iterations 1, 10, … grow
    with time. Neurons that learn end on the tips of the spikes; the others see nothing and end
    at 0.
    """
    return _panels(s, tell, (_images,))


@PAPER.artefact("fig4", "Figure 4, §2.2", Trained)
def fig4(s: Trained, tell: Tell) -> Result:
    """The directions of the neurons on their way

    The same run as in Figure 3. Between the dashed lines the same points are seen. Neurons that see
    nothing from the start stay where they are; those that learn turn to the optimal neuron of their
    sign.
    """
    return _panels(s, tell, (_directions,))


@PAPER.artefact("fig5", "Figure 5, §2.2, App. F.1", Trained)
def fig5(s: Trained, tell: Tell) -> Result:
    """Figures 1 to 4 together: gradient descent on an orthogonally separable data set

    The claims are the main ones of the four figures.
    """
    result = _panels(s, tell, (_extreme_points, _polar_set, _images, _directions))
    kept = ("spikes", "tips", "rectangle", "dual", "images", "angle", "neither", "unmoved")
    return replace(result, claims=tuple(one for one in result.claims if one.id in kept))


@PAPER.artefact("fig6", "Figure 6, App. F.1", Plane)
def fig6(s: Plane, tell: Tell) -> Result:
    """The ellipsoid and the rectified ellipsoid of an orthogonally separable data set

    Left {Xu}, right {(Xu)₊} on top of it. The spikes leave the ellipsoid: no z of length at most 1
    has Xz there, so the data is not spike-free.
    """
    result, scene = _ellipsoids(s, tell)
    slack = _slack(scene.data, "orthogonally_separable")
    text = "Some (Xu)₊ needs a z longer than 1: the data is not spike-free; longest z"
    claims = (
        at_least("spikes", text, scene.longest, 1 + EXACT, "> 1"),
        at_least("separable", "The data is orthogonally separable; slack", slack, 0.0),
    )
    return replace(result, claims=(*result.claims, *claims))


@PAPER.artefact("fig7", "Figure 7, App. F.1", Repeated)
def fig7(s: Repeated, tell: Tell) -> Result:
    """Independent initialisations on the orthogonally separable data set

    As Figure 4, from several random starts. A start that has no neuron for one of the points, and
    gets none on the way, never fits it.
    """
    scene, many = _scene(s), _train(s, tell)
    columns = math.ceil(s.runs / 2)
    figure, rows = new_figure(2, columns, (5.2 * columns, 10.6))
    for i, ax in enumerate(rows.flat):
        if i < s.runs:
            _draw_directions(ax, scene, many, i, s)
            ax.set_title(f"initialisation {i + 1}")
        else:
            ax.set_axis_off()
    flow, departures = _flow_claim(scene, s, tell)
    claims = (*_way_claims(scene, many, s), _moves_not(scene, many), *flow)
    return Result(claims, figure, _way_data(scene, many), departures)


@PAPER.artefact("fig8", "Figure 8, App. F.2", SecondPlane)
def fig8(s: SecondPlane, tell: Tell) -> Result:
    """The ellipsoid and the rectified ellipsoid of the second data set

    The two points are at an acute angle. What is seen of one point alone is within the ellipse, so
    there are no spikes: the data is spike-free. The heading of App. F.2 says so, its text and its
    captions say the opposite.
    """
    result, scene = _ellipsoids(s, tell)
    free = scene.longest <= 1 + EXACT
    found = "spike-free" if free else "not spike-free"
    said = "The data is spike-free (heading of App. F.2)"
    heading = true("heading", said, free, found, "spike-free")
    said = "The data is not spike-free (text and captions of App. F.2)"
    caption = true("caption", said, not free, found, "not spike-free")
    if free:
        why = (
            "The heading is right: every (Xu)₊ is Xz with ‖z‖ ≤ 1, because the points are at an "
            "acute angle. The text and the captions have a misprint."
        )
        caption = replace(caption, finding=why)
    return replace(result, claims=(*result.claims, heading, caption))


@PAPER.artefact("fig9", "Figure 9, App. F.2", SecondPlane)
def fig9(s: SecondPlane, tell: Tell) -> Result:
    """The rectified ellipsoid of the second data set and its extreme points

    Both labels are +1 and one neuron is optimal (star). It is on the round part of the outline: it
    sees both points. The extreme points of the other cells are at the corners and worth less.
    """
    return _panels(s, tell, (_only_extreme_point,))


@PAPER.artefact("fig10", "Figure 10, App. F.2", SecondRepeated)
def fig10(s: SecondRepeated, tell: Tell) -> Result:
    """Independent initialisations on the second data set, with neurons that are stuck

    Above the directions of the neurons, below what they see. All neurons that learn go to the one
    optimal neuron. A neuron with a < 0 can only do harm: it turns away until it sees nothing, and
    stays there, as does one that sees nothing from the start. These are the spurious stationary
    points: nothing moves them, and the network of these neurons alone fits nothing.
    """
    scene, many = _scene(s), _train(s, tell)
    figure, rows = new_figure(2, s.runs, (4.8 * s.runs, 10.6))
    for i in range(s.runs):
        _draw_directions(rows[0, i], scene, many, i, s)
        _draw_images(rows[1, i], scene, many, i, s)
        rows[0, i].set_title(f"initialisation {i + 1}: directions")
        rows[1, i].set_title(f"initialisation {i + 1}: what is seen")
    flow, departures = _flow_claim(scene, s, tell)
    claims = (
        *_way_claims(scene, many, s),
        _falls(scene, many, s),
        _on_the_round_part(scene),
        *_stuck_claims(scene, many, s),
        *flow,
    )
    return Result(claims, figure, _way_data(scene, many), departures)


@dataclass(frozen=True)
class Numbers(Settings):
    tolerance: float = ours(0.005, "the paper prints two digits")


PRINTED = {
    "wang2022_f1": np.array([[0.58, -0.16], [-0.23, 0.66]]),  # (128)
    "wang2022_f2": np.array([[0.43, 0.59]]),  # (130)
}
MISPRINTS = {
    "wang2022_f1:0.58": "The neuron is x₁/‖x₁‖² = (0.5606, −0.1597). A misprint, or an error of "
    "the scan; 0.58 is its length.",
    "wang2022_f2:0.43": "The neuron is X⁻¹(1, 1) = (0.4386, 0.5881), and 0.4386 rounds to 0.44.",
}


@PAPER.artefact("numbers", "(128) and (130), App. F", Numbers)
def numbers(s: Numbers, tell: Tell) -> Result:
    """The optimal neurons of the two small data sets

    Crosses with arms as long as rounding to two digits allows are what is printed; black crosses
    are the certified solution of (14).
    """
    claims: list[Claim] = []
    data: dict[str, np.ndarray] = {}
    off = gap = 0.0
    figure, (row,) = new_figure(1, 2)
    for ax, (name, printed) in zip(row, PRINTED.items(), strict=True):
        tell(f"solving (14) on {name}")
        place, points = f"F.{name[-1]}", load(name)
        best = optimum(points)
        found, _ = _neurons(best.problems[0].W, best.problems[0].a)
        # Every point has a neuron of its own where the angle is obtuse, else they share one.
        closed = points.X / (points.X**2).sum(axis=1)[:, None]
        if len(printed) == 1:
            closed = np.linalg.solve(points.X, np.ones(2))[None]
        away = float(np.abs(found - closed).max())
        off, gap = max(off, away), max(gap, best.gap)
        for k, c in np.ndindex(printed.shape):
            id, text = f"{name}:{printed[k, c]:g}", f"{place}: entry {c + 1} of neuron {k + 1}"
            claim = near(id, text, float(found[k, c]), float(printed[k, c]), s.tolerance)
            if not claim.holds and away <= EXACT:
                claim = replace(claim, finding=MISPRINTS.get(id, ""))
            claims.append(claim)
        data |= {f"{name}_ours": found, f"{name}_printed": printed}
        ax.errorbar(*printed.T, s.tolerance, s.tolerance, "s", c=PLUS, mfc="none", label="printed")
        ax.plot(*found.T, "x", c="black", ms=9, label="ours, certified")
        for neuron in found:
            words = f"({neuron[0]:.4f}, {neuron[1]:.4f})"
            ax.annotate(words, neuron, (0, 12), textcoords="offset points", ha="center", size=8)
        ax.set(title=f"App. {place}: optimal neurons", xlabel="u₁", ylabel="u₂")
        ax.margins(0.35)
        ax.legend(loc="upper right", fontsize=8)
    text = "All neurons have their closed form; largest difference of an entry"
    claims.append(at_most("closed", text, off, EXACT))
    claims.append(at_most("gap", "Both optima are certified; larger relative gap", gap, EXACT))
    return Result(tuple(claims), figure, data)


@dataclass(frozen=True)
class ThreeClasses(Settings):
    n: int = ours(12, "the paper has no data of three classes")
    d: int = ours(2, "so that it can be drawn")
    sets: int = ours(8, "independent data sets, each with an initialisation of its own")
    width: int = ours(20, "neurons of each output")
    scale: float = ours(1e-4, "‖w‖ = |a| of a neuron at the start")
    depth: float = ours(1e5, "log₁₀(1/loss) to which the flow is followed at least")


@PAPER.artefact("three_classes", "Theorem 2, §2.1", ThreeClasses, quick={"sets": 2})
def three_classes(s: ThreeClasses, tell: Tell) -> Result:
    """Three orthogonally separable classes: how far each output's limit is from its optimum

    Every class against the rest is a problem of its own. The flow is followed to its limit, and the
    limit's margin is compared with certified bounds of the widest one; Theorem 2 says that they are
    the same. Left the output that misses most, with its learned neurons (lines) and the optimal
    ones (stars); right the certified share of the widest margin that every output misses.
    """
    recipe = f"orthogonal_classes:n={s.n},d={s.d},classes=3,seed="
    sets = [load(f"{recipe}{_seed(s, i)}") for i in range(s.sets)]
    told: list[tuple[int, int, Limit, float]] = []
    for i, k in np.ndindex(s.sets, 3):
        tell(f"data set {i + 1} of {s.sets}, class {k} against the rest")
        flow, problem = _flow(s.width, s.scale), sets[i].one_vs_rest(k)
        limit = find(flow, problem, seed=_seed(s, i), log10_loss=-s.depth)
        if limit.certificate is not None and _known(limit):
            told.append((i, k, limit, limit.certificate.gap))
    limits, gaps = [one for *_, one, _ in told], np.array([gap for *_, gap in told])
    slack = min(_slack(data, "orthogonally_separable") for data in sets)
    residual = max(map(_residual, limits), default=0.0)
    largest, text = float(gaps.max(initial=0)), "Every output ends at its widest margin; gap"
    claims = (
        at_least("separable", "The classes are orthogonally separable; slack", slack, 0.0),
        at_most("kkt", "Every limit is a KKT point; largest residual", residual, 1e-6),
        at_most("program", "(7) and (8) agree; relative gap", optimum(sets[0]).gap, 1e-6),
        _theorem2(at_most("thm2", text, largest, 1e-6, "0 (Theorem 2)"), limits),
    )
    figure, (left, right) = _pair()
    if told:
        i, k, worst, gap = told[int(gaps.argmax())]
        _draw_classes(left, sets[i], worst)
        left.set_title(f"data set {i}, class {k} against the rest: {gap:.2%} missed")
    for k, marker in enumerate("osD"):
        mine = np.array([(i, gap) for i, c, _, gap in told if c == k]).reshape(-1, 2)
        right.plot(*mine.T, marker, mfc="none", ms=10 - 3 * k, label=f"class {k} against the rest")
    right.set(title="share of the widest margin that is missed", xlabel="data set")
    right.set(ylabel="1 − margin / widest margin", xticks=range(s.sets))
    right.legend(fontsize=8)
    data = {
        "set": np.array([i for i, *_ in told]),
        "class": np.array([k for _, k, *_ in told]),
        "margin": np.array([one.margin for one in limits], dtype=float),
        "gap": gaps,
    }
    left = 3 * s.sets - len(told)
    words = (
        f"{left} of {3 * s.sets} outputs have no limit, or one not compared in time; not counted"
    )
    return Result(claims, figure, data, (words,) if left else ())


@dataclass(frozen=True)
class Counterexample(Settings):
    angle: float = ours(50.0, "degrees; the points are at 180° and ± this, one class each")
    start: float = ours(60.0, "degrees; neurons start at 180° with a > 0 and at ± this with a < 0")
    scale: float = ours(1e-3, "‖w‖ = |a| of a neuron at the start")
    runs: int = ours(40, "random initialisations of the same problem")
    width: int = ours(10, "neurons of the random networks")


@PAPER.artefact("thm2", "Theorem 2, §2.1", Counterexample, quick={"runs": 8})
def thm2(s: Counterexample, tell: Tell) -> Result:
    """Theorem 2 fails for three classes: a limit of the flow that is not the optimum

    Three points at mutually obtuse angles, one class each. For the output of the first class the
    other two have one label, and the best network sees both with one neuron. Two neurons that each
    see one of them do so for ever, which costs more. Some random starts end this way, too. (With
    points beyond ±60° two neurons are the optimum, and nothing is missed.)
    """
    points = q.on_circle(np.radians([180.0, s.angle, -s.angle]))
    classes = Dataset(points, np.arange(3), "three directions", ("0", "1", "2"))
    data = classes.one_vs_rest(0)
    W = s.scale * q.on_circle(np.radians([180.0, s.start, -s.start]))
    tell("the flow from the chosen start")
    a = s.scale * np.array([1.0, -1.0, -1.0])
    limit = find(_flow(3, s.scale), data, log10_loss=DEEP, start=(W, a))
    ends = []
    for i in range(s.runs):
        tell(f"random start {i + 1} of {s.runs}")
        ends.append(find(_flow(s.width, s.scale), data, _seed(s, i), DEEP))
    told = [one for one in ends if _known(one)]
    missed, count = len(_missed(told)), max(len(told), 1)
    best, margin = optimum(data), limit.margin or 0.0
    widest = best.margin[0]
    alone, shared = 1 / 6, 1 / (2 + 2 / math.cos(math.radians(s.angle)))
    slack = _slack(classes, "orthogonally_separable")
    said = "The limit has the widest margin (Theorem 2)"
    text = "A random start that fits the data misses the widest margin; probability"
    claims = (
        at_least("separable", "The three classes are orthogonally separable; slack", slack, 0.0),
        near("limit", "Margin of the limit, in closed form 1/6", margin, alone, EXACT),
        near("best", "Widest margin, in closed form", widest, max(alone, shared), EXACT),
        at_most("gap", "Gap of the widest margin's certificate", best.gap, EXACT),
        at_most("kkt", "The limit is a KKT point; residual", _residual(limit), 1e-6),
        _theorem2(at_least("thm2", said, margin, widest * (1 - 1e-6), widest), [limit]),
        _theorem2(probability_at_most("random", text, missed, count, 0.0), told),
    )
    figure, (row,) = new_figure(1, 3, (15, 5.6))
    _draw_classes(row[0], classes, limit)
    depth, way = _margins(limit)
    row[1].plot(depth, way, c="black", label="the flow")
    for level, name, style in ((shared, "both negative points", "--"), (alone, "each point", ":")):
        row[1].axhline(level, ls=style, c=PLUS, label=f"a neuron for {name}: {level:.4f}")
    row[1].set(title="margin along the flow", xlabel="log₁₀(1/loss)", ylabel="q_min / ‖θ‖²")
    row[1].set(xscale="log")
    row[1].legend(fontsize=8)
    margins = np.array([one.margin for one in told], dtype=float)
    ends_at = 0.98 * min(alone, shared), 1.02 * max(alone, shared)
    row[2].hist(margins, bins=np.linspace(*ends_at, 30), color=MINUS)
    row[2].set(xlabel="margin of the limit", ylabel="networks")
    row[2].set_title(f"limits of {len(told)} random starts, {s.width} neurons")
    left = len(ends) - len(told)
    words = f"{left} of {len(ends)} random starts have no limit, or one not compared in time"
    numbers = {"log10_loss": -depth, "margin": way, "random_margins": margins}
    return Result(claims, figure, numbers, (f"{words}; not counted",) if left else ())


# The two points in the plane, and the panels that show them.


@dataclass(frozen=True, eq=False)
class Scene:
    """Two independent points in the plane, and the optimum of (14) and (15)."""

    data: Dataset
    X: np.ndarray
    U: np.ndarray
    """Unit vectors in order, with all corners of the outlines among them."""
    neurons: np.ndarray
    """The optimal neurons |a|w, those with a > 0 first, as vectors of length 1 …"""
    signs: np.ndarray
    """… and their signs."""
    lam: np.ndarray
    """The dual optimum, with Yλ ≥ 0."""
    value: float
    """Of (14)."""

    def seen(self, U: np.ndarray) -> np.ndarray:
        return q.seen(self.X, U)

    @property
    def longest(self) -> float:
        """The largest ‖z‖ with Xz = (Xu)₊, over all directions that are drawn."""
        return float(np.linalg.norm(np.linalg.solve(self.X, self.seen(self.U).T), axis=0).max())


def _scene(s: Plane) -> Scene:
    data = load(s.data)
    if data.X.shape != (2, 2) or not data.binary or abs(np.linalg.det(data.X)) < 1e-9:
        raise BadInput(f"data = {s.data}: the figure shows two independent points in the plane")
    problem = optimum(data).problems[0]
    V, signs = _neurons(problem.W, problem.a)
    U = _around(s.outline, np.vstack([q.walls(data.X), data.X]))
    units = V / np.linalg.norm(V, axis=1)[:, None]
    return Scene(data, data.X, U, units, signs, data.y * problem.dual, problem.upper)


def _around(count: int, corners: np.ndarray) -> np.ndarray:
    """`count` unit vectors in order, and those along the corners."""
    turn = np.linspace(-np.pi, np.pi, count, endpoint=False)
    return q.on_circle(np.sort(np.concatenate([turn, np.arctan2(corners[:, 1], corners[:, 0])])))


def _neurons(W: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|a|w and the signs of a, those with a > 0 first."""
    order = np.argsort(-a, kind="stable")
    return (np.abs(a)[:, None] * W)[order], np.sign(a[order]).astype(int)


def _slack(data: Dataset, name: str) -> float:
    return float(_property(data, name).slack or 0.0)


def _property(data: Dataset, name: str) -> Check:
    return check(data, (name,)).properties[name]


Drawn = tuple[tuple[Claim, ...], dict[str, np.ndarray]]
Panel = Callable[[Any, Scene, Plane, Many | None], Drawn]
"""Draws on an axis; gives its claims and data."""


def _panels(s: Plane, tell: Tell, panels: Sequence[Panel]) -> Result:
    """One panel alone, or four in a square."""
    tell("the optimum and its dual")
    scene = _scene(s)
    many = _train(s, tell) if isinstance(s, Trained) else None
    side = math.isqrt(len(panels))
    figure, rows = new_figure(side, side, (6.2 * side, 6.0 * side))
    claims: dict[str, Claim] = {}
    data = {"X": scene.X, "y": scene.data.y, "lambda": scene.lam, "optimal": scene.neurons}
    for ax, panel in zip(rows.flat, panels, strict=True):
        made, numbers = panel(ax, scene, s, many)
        draw.legend(ax)
        claims |= {claim.id: claim for claim in made}
        data |= numbers
    return Result(tuple(claims.values()), figure, data)


def _pair() -> tuple[Any, Any]:
    figure, (row,) = new_figure(1, 2, (11, 5.6))
    return figure, row


def _ellipsoids(s: Plane, tell: Tell) -> tuple[Result, Scene]:
    """The ellipsoid, the rectified ellipsoid, and what holds for every data set."""
    tell("the ellipsoid")
    scene = _scene(s)
    outline = scene.U @ scene.X.T
    figure, row = _pair()
    for ax, title in zip(row, ("ellipsoid set", "rectified ellipsoid set"), strict=True):
        draw.ellipsoid(ax, outline)
        ax.set_title(title)
    draw.rectified(row[1], scene.seen(scene.U), q.spikes(scene.X))
    for ax in row:
        draw.legend(ax)
    data = {"ellipsoid": outline, "rectified": scene.seen(scene.U)}
    return Result((_outline_claim(scene, s),), figure, data), scene


def _outline_claim(scene: Scene, s: Plane) -> Claim:
    """What is drawn is Q: it reaches as far as a search over all directions does."""
    E = q.on_circle(np.linspace(-np.pi, np.pi, 200))
    forced = q.largest_by_force(scene.X, E, s.directions) * q.polar_radius(scene.X, E)
    text = "max |λᵀz| over Q, by search and in closed form (11), apart by"
    return at_most("support", text, _off(forced), EXACT)


def _off(values: np.ndarray) -> float:
    """The largest distance from 1."""
    return float(np.abs(values - 1).max())


def _draw_extremes(ax: Any, scene: Scene, s: Plane) -> Drawn:
    """Q, the extreme points of all cells along the optimal λ, and the optimal neurons."""
    draw.rectified(ax, scene.seen(scene.U), q.spikes(scene.X))
    draw.stars(ax, scene.seen(scene.neurons), scene.signs)
    found = [one for one in q.cell_extremes(scene.X, scene.lam) if one.u.any()]
    points = scene.seen(np.array([one.u for one in found]))
    draw.extremes(ax, points, np.array([one.largest for one in found]))
    draw.arrow(ax, scene.lam, 0.8, "black", "direction of λ")
    ax.set_title("rectified ellipsoid and its extreme points")
    values = scene.signs * (scene.seen(scene.neurons) @ scene.lam)
    top = max(abs(one.value) for one in found)
    claims = (
        _outline_claim(scene, s),
        at_most("attained", "λᵀ(Xu)₊ of optimal neurons is ±1, off by", _off(values), EXACT),
        at_most("extreme", "No cell has a larger |λᵀ(Xu)₊|; largest", top, 1 + EXACT),
    )
    return claims, {"rectified": scene.seen(scene.U), "extreme_points": points}


def _extreme_points(ax: Any, scene: Scene, s: Plane, many: Many | None) -> Drawn:
    """Figure 1: the extreme points are the tips of spikes."""
    claims, data = _draw_extremes(ax, scene, s)
    tips = np.array([ends[1] for ends in q.spikes(scene.X)]).reshape(-1, 2)
    away = np.linalg.norm(scene.seen(scene.neurons)[:, None] - tips, axis=2)
    far = float(away.min(axis=1, initial=math.inf).max())
    free = _property(scene.data, "spike_free").holds
    found = f"{len(tips)} spikes, {'' if free else 'not '}spike-free"
    text, holds = "Q has spikes, and the data is not spike-free", len(tips) > 0 and free is False
    own = (
        true("spikes", text, holds, found, "spikes, not spike-free"),
        at_most("tips", "Optimal neurons are at the tips of spikes; distance", far, EXACT),
    )
    return (*claims, *own), data


def _only_extreme_point(ax: Any, scene: Scene, s: Plane, many: Many | None) -> Drawn:
    """Figure 9: one extreme point on the round part; directions at rest are that one or blind."""
    claims, data = _draw_extremes(ax, scene, s)
    rest = np.array([u for u, _ in own_gradients(scene.X, scene.lam)]).reshape(-1, 2)
    away = np.linalg.norm(rest[:, None] - scene.neurons, axis=2).min(axis=1)
    tops = sorted(one.value for one in q.cell_extremes(scene.X, scene.lam) if one.largest)
    more, text = int((away > EXACT).sum()), "Directions that are their own gradient (12), but one"
    own = (
        _on_the_round_part(scene),
        at_most("others", "λᵀ(Xu)₊ at the extreme points of other cells", tops[-2], 0.999, "< 1"),
        at_most("resting", text, more, 0),
    )
    return (*claims, *own), data


def _on_the_round_part(scene: Scene) -> Claim:
    """The optimal neuron sees both points: it is not on an axis."""
    least = float(scene.seen(scene.neurons).min())
    text = "The optimal extreme point is on the two-dimensional part of Q; its smallest entry"
    return at_least("round", text, least, 1e-3, "> 0")


def _polar_set(ax: Any, scene: Scene, s: Plane, many: Many | None) -> Drawn:
    """Figure 2: Q* and the rectangle of the two tips."""
    X, lam, y = scene.X, scene.lam, scene.data.y
    box = q.gauge(X, np.eye(2))
    corners = box * [[1, 1], [-1, 1], [-1, -1], [1, -1]]
    E = _around(s.outline, corners)
    radius = q.polar_radius(X, E)  # (10)
    outline = E * radius[:, None]
    draw.polar(ax, outline, corners, E / np.linalg.norm(E @ X, axis=1)[:, None])
    size = float(np.linalg.norm(lam))
    draw.arrow(ax, y, 1.25 * size, "0.45", "direction of y")
    draw.arrow(ax, lam, size, "black", "dual optimum λ")
    ax.set_title("absolute polar set of Q")
    edge = np.abs(E / box).max(axis=1) * radius
    forced = q.largest_by_force(X, outline, s.directions)
    both = q.support(X, np.array([lam, -lam]))
    reached = float(max(abs((outline @ y).max() - y @ lam), abs(scene.value - y @ lam)))
    text = "yᵀλ is the largest on Q*, and the optimum of (14); off by"
    claims = (
        at_most("polar", "max |λᵀ(Xu)₊| = 1 on the boundary of Q*, off by", _off(forced), EXACT),
        at_most("rectangle", "Q* is the rectangle of the two tips, off by", _off(edge), EXACT),
        at_most("dual", text, reached, EXACT),
        at_most("corner", "λ is a corner: λᵀ(Xu)₊ reaches 1 and −1; off by", _off(both), EXACT),
        at_least("signs", "Yλ ≥ 0; smallest entry", float((y * lam).min()), 0.0),
    )
    return claims, {"polar": outline}


# Gradient descent on them.


def _seed(s: Settings, i: int) -> int:
    return 1000 * s.seed + i


def _setting(s: Trained) -> Setting:
    return Setting(width=s.width, init=f"balanced:{s.scale}", lr=s.lr, loss="logistic:sum")  # (3)


def _flow(width: int, scale: float) -> Setting:
    return Setting(rule="flow", width=width, init=f"balanced:{scale}", loss="logistic:sum")


def _train(s: Trained, tell: Tell) -> Many:
    """Gradient descent from every start; weights are kept often enough for smooth curves."""
    tell(f"gradient descent from {s.runs} starts")
    last = max(s.iterations)
    at = {*range(200), *s.iterations, *np.geomspace(200, max(last, 201), 30).astype(int).tolist()}
    seeds = [_seed(s, i) for i in range(s.runs)]
    return train_many(_setting(s), load(s.data), last, seeds, sorted(at))


def _units(many: Many) -> np.ndarray:
    W = many.weights["W"]
    return W / np.maximum(np.linalg.norm(W, axis=-1, keepdims=True), 1e-300)


def _marked(many: Many, s: Trained) -> list[int]:
    return [int(np.searchsorted(many.at, t)) for t in s.iterations]


def _draw_directions(ax: Any, scene: Scene, many: Many, i: int, s: Trained) -> None:
    draw.circle(ax, q.walls(scene.X)[:2])
    draw.trajectories(ax, _units(many)[:, i], np.sign(many.member(i, 0)["a"]), _marked(many, s))
    draw.stars(ax, scene.neurons, scene.signs)
    draw.legend(ax)


def _draw_images(ax: Any, scene: Scene, many: Many, i: int, s: Trained) -> None:
    draw.rectified(ax, scene.seen(scene.U), q.spikes(scene.X))
    ways = scene.seen(_units(many)[:, i])
    draw.trajectories(ax, ways, np.sign(many.member(i, 0)["a"]), _marked(many, s))
    draw.stars(ax, scene.seen(scene.neurons), scene.signs)
    draw.legend(ax)


def _images(ax: Any, scene: Scene, s: Plane, many: Many | None) -> Drawn:
    """Figure 3: (Xw)₊/‖w‖ along the way."""
    assert isinstance(s, Trained) and many is not None
    _draw_images(ax, scene, many, 0, s)
    ax.set_title("what the neurons see: (Xw)₊ / ‖w‖")
    ends, ways = _ends(scene, many, s), scene.seen(_units(many))
    away = [np.linalg.norm(ways[-1][one] - scene.seen(u[None])) for one, u in ends.learned]
    allowed = s.angle * float(np.linalg.norm(scene.X, 2))
    text = "What neurons that learn see ends at an optimal extreme point; distance"
    claims = (
        at_most("images", text, float(max(away, default=math.inf)), allowed),
        at_most("neither", "Neurons that neither learn nor go blind", ends.neither, 0),
    )
    return claims, {"seen": ways[:, 0]}


def _directions(ax: Any, scene: Scene, s: Plane, many: Many | None) -> Drawn:
    """Figure 4: w/‖w‖ along the way."""
    assert isinstance(s, Trained) and many is not None
    _draw_directions(ax, scene, many, 0, s)
    ax.set_title("directions of the neurons: w / ‖w‖")
    claims = (*_way_claims(scene, many, s), _moves_not(scene, many))
    return claims, _way_data(scene, many)


class Ends(NamedTuple):
    """What becomes of the neurons of all runs."""

    learned: list[tuple[tuple[int, int], np.ndarray]]
    """(run, neuron) that has a part in the output, and the optimal neuron of its sign."""
    angles: np.ndarray
    """Between these two, at all moments: T × their number."""
    neither: int
    """Neurons with a part in the output and no optimal neuron to go to; the rest is blind."""


def _ends(scene: Scene, many: Many, s: Trained) -> Ends:
    ways, W, a = _units(many), many.last["W"], many.last["a"]
    part = np.abs(a) * np.linalg.norm(W, axis=-1) * (W @ scene.X.T > 0).any(axis=-1)
    total = np.abs(a) * np.linalg.norm(W, axis=-1)
    alive = np.argwhere(part > s.faint * total.sum(axis=1, keepdims=True))
    learned, neither = [], 0
    for i, k in alive.tolist():
        own = scene.neurons[scene.signs == np.sign(a[i, k])]
        if len(own):
            learned.append(((i, k), own[0]))
        neither += not len(own)
    chords = [np.linalg.norm(ways[:, i, k] - u, axis=1) for (i, k), u in learned]
    angles = 2 * np.arcsin(np.clip(np.array(chords).reshape(-1, len(many.at)).T / 2, 0, 1))
    return Ends(learned, angles, neither)


def _way_claims(scene: Scene, many: Many, s: Trained) -> tuple[Claim, ...]:
    """Every neuron goes to the optimal neuron of its sign, or sees nothing in the end."""
    ends = _ends(scene, many, s)
    count, angle = len(ends.learned), float(max(ends.angles[-1], default=math.inf))
    text = f"{count} neurons learn, and end at the optimal one of their sign; largest angle (rad)"
    return (
        at_most("angle", text, angle, s.angle, "→ 0"),
        at_most("neither", "Neurons that neither learn nor go blind", ends.neither, 0),
    )


def _moves_not(scene: Scene, many: Many) -> Claim:
    """Neurons that see nothing at the start are where they were."""
    W = many.weights["W"]
    blind = (W[0] @ scene.X.T < 0).all(axis=-1)
    moved = float(np.abs(W[:, blind] - W[0, blind]).max(initial=0.0))
    text = f"Certain neurons do not move: {blind.sum()} of {blind.size} are blind; largest step"
    return at_most("unmoved", text, moved, 0.0)


def _falls(scene: Scene, many: Many, s: Trained) -> Claim:
    """The angle falls over the last iterations that the paper shows."""
    worst = _ends(scene, many, s).angles[_marked(many, s)[-3:]].max(axis=1, initial=0.0)
    ratio = float((worst[1:] / np.maximum(worst[:-1], 1e-300)).max(initial=0.0))
    text = "The largest angle falls from one of the last three moments to the next; ratio"
    return at_most("falls", text, ratio, 0.999, "< 1")


def _stuck_claims(scene: Scene, many: Many, s: Trained) -> tuple[Claim, ...]:
    """Blind neurons are stationary, and alone they are not optimal."""
    before, after = many.weights["W"][[0, *_marked(many, s)][-2]], many.last["W"]
    blind = (before @ scene.X.T < 0).all(axis=-1)
    moved = float(np.abs(after - before)[blind].max(initial=0.0))
    margin, widest = math.nan, optimum(scene.data).margin[0]
    if blind.any():
        margin = certify(after[blind], many.last["a"][blind], scene.X, scene.data.y).margin
    text = "They are not optimal: margin of the network of these neurons alone"
    return (
        at_least("stuck", "Neurons at spurious stationary points", int(blind.sum()), 1, "some"),
        at_most("stationary", "They do not move any more; largest step", moved, 0.0, 0.0),
        true("spurious", text, margin < widest, margin, f"< {widest:.4g}, the optimum"),
    )


def _flow_claim(scene: Scene, s: Trained, tell: Tell) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Gradient flow from the same starts, and what is to be said of starts that do not count."""
    gaps = []
    for i in range(s.runs):
        tell(f"gradient flow from start {i + 1} of {s.runs}")
        end = find(_flow(s.width, s.scale), scene.data, _seed(s, i), DEEP)
        gaps += [end.certificate.gap] if end.certificate and _known(end) else []
    left, text = s.runs - len(gaps), "Gradient flow that fits the data ends at the optimum"
    words = f"gradient flow: {left} of {s.runs} starts have no limit that fits the data, or none"
    departures = (f"{words} in the time given; not counted",) if left else ()
    if not gaps:
        return (), departures
    text = f"{text} from {len(gaps)} of {s.runs} starts; largest gap"
    return (at_most("flow", text, max(gaps), 1e-6, 0.0),), departures


def _way_data(scene: Scene, many: Many) -> dict[str, np.ndarray]:
    return {
        "iterations": many.at,
        "directions": _units(many),
        "sign": np.sign(many.weights["a"][0]),
        "optimal": scene.neurons,
        "optimal_sign": scene.signs,
    }


# Three classes.


def _residual(limit: Limit) -> float:
    kkt = limit.kkt
    if kkt is None or kkt.feasibility > 0:
        return math.inf
    return max(kkt.stationarity, kkt.complementarity)


def _known(limit: Limit) -> bool:
    """Whether there is a limit whose widest margin is known; both take time."""
    found = limit.certificate
    return found is not None and found.upper - found.lower <= 1e-6 * found.upper


def _missed(limits: Sequence[Limit]) -> list[Limit]:
    """Those that were shown not to be the optimum."""
    return [one for one in limits if one.certificate and one.certificate.optimality == "suboptimal"]


def _theorem2(claim: Claim, limits: Sequence[Limit]) -> Claim:
    """Says why the claim fails, where all limits that miss the optimum are KKT points."""
    if claim.holds or max(map(_residual, _missed(limits)), default=math.inf) > 1e-6:
        return claim
    return replace(
        claim,
        finding="Theorem 2 does not hold for three classes: against the rest, two classes at "
        "obtuse angles have one label, so Theorem 4, on which its proof rests, does not apply. The "
        "limit is a KKT point, and a certificate shows that a wider margin exists.",
    )


def _margins(limit: Limit) -> tuple[np.ndarray, np.ndarray]:
    """log₁₀(1/loss) and the normalised margin, from where all points are on their side."""
    states = [(-one.log_L / math.log(10), one.state) for one in limit.path.moments]
    sizes = [(depth, z.outputs().min(), (z.W**2).sum() + (z.a**2).sum()) for depth, z in states]
    way = np.array([(depth, low / size) for depth, low, size in sizes if low > 0 and depth > 0])
    return way.reshape(-1, 2)[:, 0], way.reshape(-1, 2)[:, 1]


def _draw_classes(ax: Any, data: Dataset, limit: Limit) -> None:
    """Points of three classes, the learned and the optimal neurons of one output."""
    problem = optimum(limit.data).problems[0]
    best, signs = _neurons(problem.W, problem.a)
    for sign, colour, name in ((1, PLUS, "a > 0"), (-1, MINUS, "a < 0")):
        ends = [g.weight * g.direction[:2] for g in limit.groups if g.sign == sign]
        for k, end in enumerate(ends):
            label = f"learned, {name}" if k == 0 else None
            ax.plot([0, end[0]], [0, end[1]], c=colour, lw=2, label=label)
    draw.stars(ax, best[:, :2], signs)
    for k, marker in enumerate("osD"):
        points, name = data.X[data.y == k][:, :2], f"points of class {k}"
        ax.plot(*points.T, marker, c="0.25", ms=5, mfc="none", zorder=7, label=name)
    ax.set(title="points, learned and optimal neurons |a|w", xlabel="x₁", ylabel="x₂")
    ax.set_aspect("equal", adjustable="datalim")
    draw.legend(ax)
