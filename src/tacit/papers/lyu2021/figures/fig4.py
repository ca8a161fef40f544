"""Figure 4: boundaries of the network and of the max-margin linear classifier."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.flow import Limit
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.drawing import (
    draw_outputs,
    draw_points,
    draw_zero_line,
    legend_above,
    plane_grid,
)
from tacit.papers.lyu2021.figures import PAPER
from tacit.papers.lyu2021.figures.appendix_j import DEPARTURES, AppendixJ
from tacit.papers.lyu2021.figures.flows import (
    EXACT,
    end_of_flow,
    flow_setting,
    is_decided,
    not_counted,
)
from tacit.papers.lyu2021.networks import linear_network
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, Whose, ours
from tacit.reproduction.claims import at_least, at_most, explained, mean_interval, true
from tacit.values import Dataset

VIOLATED = 0.01
"""A KKT residual of this much, relative to 1, is no rounding error."""


@dataclass(frozen=True)
class Fig4(AppendixJ):
    differ: float = ours(0.03, "share of a picture; lines that are 5 degrees apart differ there")
    reach: float = ours(3.5, "half the side of the pictures; nearly all points lie inside")
    flow_at: int = ours(10, "the size at which the flow is followed to its end; it takes seconds")
    flow_sets: int = ours(8, "sets of that size whose flow is followed")
    limit_angle: float = ours(1.0, "degrees between directions that are the same")


@PAPER.artefact("fig4", "Figure 4, App. J", Fig4, quick={"sizes": (10, 50, 100), "flow_sets": 2})
def fig4(s: Fig4, tell: Tell) -> Exhibit:
    """Boundaries of the network and of the max-margin linear classifier in a plane through 0.

    The plane is spanned by the first axis (horizontal; the true separator is the vertical line
    through 0) and the second one; all points are projected onto it. Colours are the network's
    output, lighter is higher, with its boundary in white; the red line is the max-margin linear
    classifier's. The two lie close together at every size.

    The paper concludes that the network converges to the max-margin linear classifier. That is not
    a KKT direction at any of the sizes, and limits are (Theorem 3.1). At the smallest size the flow
    is followed to its end: near that classifier, with a wider margin than any linear function has.
    """
    columns = min(5, len(s.sizes))
    rows = -(-len(s.sizes) // columns)
    figure, panels = new_figure(rows, columns, size=(3.3 * columns, 3.3 * rows + 0.5))
    window = (-s.reach, s.reach, -s.reach, s.reach)
    shares, violations = [], []
    data: dict[str, np.ndarray] = {"n": np.array(s.sizes)}
    for ax, n in zip(panels.ravel(), s.sizes, strict=False):
        tell(f"a network on {n} points")
        (one,) = s.sets(n)
        (network,) = s.train([one])
        w = max_margin(one.y[:, None] * one.X).direction
        grid = plane_grid(window, one)[2]
        shares.append(float(np.mean((network.outputs(grid) > 0) != (grid @ w > 0))))
        draw_outputs(ax, window, one, network.outputs)
        label = "max-margin linear classifier" if n == s.sizes[0] else None
        linear = linear_network(w, s.alpha)
        violations.append(two_layer_kkt(one, linear).residual)
        draw_zero_line(ax, window, one, linear.outputs, "red", label)
        draw_points(ax, one)
        ax.set(title=f"n = {n}", xlim=window[:2], ylim=window[2:], aspect="equal")
        ax.set(xlabel="x₁", ylabel="x₂")
        data |= {f"W_{n}": network.W, f"a_{n}": network.a, f"w_{n}": w}
    for ax in panels.ravel()[len(s.sizes) :]:
        ax.set_axis_off()
    legend_above(panels[0, 0])
    ends = []
    for i, one in enumerate(s.sets(s.flow_at, s.flow_sets)):
        tell(f"the flow to its end, set {i + 1} of {s.flow_sets}")
        setting = flow_setting(s.alpha, s.width, f"he:{s.factor}")
        ends.append((one, end_of_flow(setting, one, s.seed + i)))
    text = "largest share of a picture in which the network and the linear classifier differ"
    claims = [at_most("same", text, max(shares), s.differ, "converges to it")]
    claims += claims_of_limits(s, [pair for pair in ends if is_decided(pair[1])], min(violations))
    departures = DEPARTURES + not_counted(np.array([is_decided(end) for _, end in ends]))
    data |= {"shares": np.array(shares), "violations": np.array(violations)}
    return Exhibit(tuple(claims), figure, data, departures)


def claims_of_limits(
    s: Fig4, ends: Sequence[tuple[Dataset, Limit]], violation: float
) -> list[Claim]:
    """Whether the flow converges to the max-margin linear classifier, as the paper concludes.

    `violation` is by how much, of 1, that classifier at least misses the KKT conditions, over the
    sizes.
    """
    text = "the max-margin linear classifier is not a KKT direction at any size: least violation"
    no_kkt = at_least("no_kkt", text, violation, VIOLATED)
    if not ends:
        return [no_kkt]
    text = f"n = {s.flow_at}, {len(ends)} sets: angle of the limit of the flow to the linear "
    text += "classifier in degrees, mean"
    degrees, wider = [], []
    for data, end in ends:
        if end.network is not None and end.margin is not None:
            best = max_margin(data.y[:, None] * data.X)
            u = end.network.a @ end.network.W  # along the odd part of f
            cosine = float(u @ best.direction / np.linalg.norm(u))
            degrees.append(math.degrees(math.acos(min(cosine, 1.0))))
            linear = (1 + s.alpha) / 4 * best.margin_bounds.upper  # the widest of linear functions
            wider.append(end.margin / linear)
    if not degrees:
        return [no_kkt, true("limit", text, False, "none", "converges to it")]
    off = np.array(degrees)
    claim = at_most("limit", text, off.mean(), s.limit_angle, "converges to it")
    claim = replace(claim, interval=mean_interval(off) if len(off) > 1 else None)
    why = (
        "The limit is a KKT direction (Theorem 3.1), and at none of the sizes n is the max-margin "
        "linear classifier one. Let g₊ and g₋ be Σ λ_i y_i x_i over the two classes. Neurons along "
        "w* with a > 0 need g₊ + αg₋ along w*, those along −w* with a < 0 need αg₊ + g₋ along it, "
        "and a linear function has both: so g₊ and g₋ would be along w*. Symmetric data "
        f"(Theorem 4.2) has this; here the conditions are violated by {violation:.2g} of 1 at "
        f"least. On the {len(ends)} sets the limits have {min(wider):.3f} to {max(wider):.3f} "
        "times the margin that a linear function can have. In the pictures, at the loss where "
        "descent stops, the difference is hardly seen."
    )
    known = no_kkt.holds and min(wider) > 1 + EXACT
    return [no_kkt, explained(claim, why, Whose.PAPER, known)]
