"""Figure 1: KKT margin against global max margin."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.certificates import two_layer_kkt
from tacit.flow import Limit
from tacit.measures.boundary import bend
from tacit.papers.lyu2021.drawing import BENT, LINEAR, draw_points, draw_zero_line, frame
from tacit.papers.lyu2021.figures import PAPER
from tacit.papers.lyu2021.figures.example_sets import ExampleSet, example_sets
from tacit.papers.lyu2021.figures.flows import (
    EXACT,
    end_of_flow,
    ends_at,
    flow_setting,
    is_decided,
    not_counted,
)
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most, near


@dataclass(frozen=True)
class Fig1(Settings):
    alpha: float = paper(0.5, "Figure 1")
    width: int = ours(10, "any width will do; with 10 neurons one start in 512 is an exception")
    sigma: float = ours(1e-8, '"small"; from 0.01 most flows on two of the sets end elsewhere')
    runs: int = ours(5, "starts from which the flow is followed to its end, on each set")
    bent: float = ours(1.0, "degrees by which a boundary that is not linear must be bent")
    much: float = ours(0.5, 'the share of the global margin that is "much smaller"')


@PAPER.artefact("fig1", "Figure 1, App. I.1", Fig1, quick={"runs": 2})
def fig1(s: Fig1, tell: Tell) -> Exhibit:
    """KKT margin against global max margin on three linearly separable sets.

    Every panel shows a linear classifier (orange) and one that is not (black). On the left, on
    symmetric data, the linear one has the widest margin of all networks, and the other satisfies
    the KKT conditions too. In the middle and on the right it is the other way round: the linear
    classifier satisfies the KKT conditions, and the widest margin belongs to a bent one. The flow
    from a small start ends at the linear classifier on all three.

    The widest margins are proved by the convex program over networks of every width, the KKT
    conditions by multipliers; the ends are those of gradient flow, followed until they are certain.
    """
    figure, (panels,) = new_figure(1, 3, size=(15.0, 4.6))
    data: dict[str, np.ndarray] = {}
    sets, ends = example_sets(s.alpha), {}
    for ax, one in zip(panels, sets, strict=True):
        tell(f"the flow on the {one.name} set")
        init = f"pair:{s.sigma}:1" if one.name == "left" else f"balanced_gaussian:{s.sigma}"
        setting = flow_setting(s.alpha, s.width, init)
        ends[one.name] = [end_of_flow(setting, one.data, s.seed + i) for i in range(s.runs)]
        draw_points(ax, one.data, one.hints)
        for network, colour, key, kind in (
            (one.linear, LINEAR, "linear", "linear"),
            (one.bent, BENT, "other", "not linear"),
        ):
            margin, widest = network.margin(one.data.X, one.data.y), one.best.margin
            rank = (
                "the widest" if margin >= (1 - EXACT) * widest else f"{margin / widest:.0%} of it"
            )
            label = f"{kind}, margin {margin:.4f} ({rank})"
            draw_zero_line(ax, one.window, one.data, network.outputs, colour, label)
            data |= {f"{one.name}_{key}_W": network.W, f"{one.name}_{key}_a": network.a}
        frame(ax, one.window, one.title, one.far_hint)
        data |= {f"{one.name}_X": one.data.X, f"{one.name}_y": one.data.y}
        data[f"{one.name}_ends"] = np.array([end.margin or math.nan for end in ends[one.name]])
    departures = (
        "the paper prints the points of the left set only; those of the middle and right one are "
        "ours and satisfy its conditions",
        *not_counted(np.array([is_decided(end) for some in ends.values() for end in some])),
    )
    return Exhibit(_claims(s, sets, ends), figure, data, departures)


def _claims(s: Fig1, sets: list[ExampleSet], ends: dict[str, list[Limit]]) -> tuple[Claim, ...]:
    """What the caption says; a widest margin is taken where it makes the claim harder."""
    kkts = [two_layer_kkt(one.data, one.kkt) for one in sets]
    residual = max(max(k.stationarity, k.complementarity, k.feasibility) for k in kkts)
    exact = left_margin(s.alpha, sets[0].data.parameters["beta"])
    text = "left: the widest margin of all networks is (1+α)/4 (Theorem 4.2)"
    claims = [
        at_most(
            "kkt", "largest KKT residual of the three that are not best", residual, 1e-9, "KKT"
        ),
        near("left_kkt", "left: margin of the bent KKT point (I.1.1)", kkts[0].margin, exact, 1e-9),
        near("left_best", text, sets[0].best.margin_bounds.upper, (1 + s.alpha) / 4, 1e-9),
    ]
    for one, kkt in zip(sets, kkts, strict=True):
        which = "linear" if one.kkt is one.linear else "bent"
        most, said = (s.much, "much smaller") if one.name == "middle" else (1 - EXACT, "suboptimal")
        text = f"{one.name}: {which} KKT point's margin over the widest"
        share = kkt.margin / one.best.margin
        claims.append(at_most(f"{one.name}_share", text, share, most, said))
    least = min(bend(one.bent.W, one.bent.a, s.alpha) for one in sets)
    text = "the classifiers in black are not linear; least bend, degrees"
    claims.append(at_least("bent", text, least, s.bent, "nonlinear"))
    known = [(one, end) for one in sets for end in ends[one.name] if is_decided(end)]
    hits = sum(ends_at(end, one.linear) for one, end in known)
    text = f"flows on the three sets, of {len(known)}, that end at the linear classifier"
    return *claims, at_least("flow", text, hits, len(known), "converges to it")


def left_margin(alpha: float, beta: float) -> float:
    """The margin of the KKT point that App. I.1.1 prints."""
    return (1 + alpha) * math.cos(beta) / (2 + 2 * math.cos(beta))
