"""Rows of the page's tables."""

import math
from dataclasses import dataclass

import numpy as np

from tacit.explanation import Explanation, Part
from tacit.explanation.report.command import command
from tacit.explanation.report.phrases import nearest, place, short
from tacit.explanation.sentences import counts, just_fail, of_the_test
from tacit.flow.limits import EVENT_NOUNS, ROUNDING
from tacit.messages import count
from tacit.pages import number
from tacit.theorems import Verdict, VerdictStatus, bibliography
from tacit.values import Check

MOST_COORDINATES = 6
"""Coordinates of a direction that a table shows."""
MOST_GROUPS = 20
"""Shown at once; the others unfold."""
HOLDS = {True: "yes", False: "no", None: "undecided"}


@dataclass(frozen=True)
class Statement:
    """One theorem with everything that the page says of it."""

    verdict: Verdict
    anchor: str
    place: str
    words: tuple[Check, ...]
    """Hypotheses that hold and have no number."""
    numbers: tuple[Check, ...]
    """All others."""
    rerun: str
    """The command, where the theorem is refuted."""

    @property
    def status(self) -> VerdictStatus:
        return self.verdict.status

    @property
    def theorem(self) -> bool:
        """Whether it is a theorem, not a lemma or the like."""
        return self.verdict.theorem.id.partition(":")[2].startswith(("thm", "cor"))

    @property
    def failed(self) -> list[Check]:
        return [one for one in self.verdict.hypotheses if one.holds is False]


@dataclass(frozen=True)
class Section:
    """One network: what the page says of it."""

    part: Part
    title: str
    counts: dict[VerdictStatus, int]
    applying: list[Statement]
    near: list[Statement]
    rest: list[Statement]
    groups: list[list[str]]
    certificate: list[tuple[str, str, str]]
    path: list[tuple[str, str]]


def section(explanation: Explanation, part: Part, index: int) -> Section:
    """What the page shows of one network; refuted theorems come first."""
    near = just_fail(part.verdicts)
    statements = [statement(explanation, one, index) for one in part.verdicts]
    applying = [one for one in statements if one.verdict.applies is not False]
    applying.sort(key=lambda one: (list(VerdictStatus).index(one.status), not one.theorem))
    return Section(
        part,
        f"{short(part.name)} against the rest" if part.name else "",
        counts(part.verdicts),
        applying,
        [statement(explanation, one, index) for one in near],
        [one for one in statements if one.verdict.applies is False and one.verdict not in near],
        groups(part),
        certificate(part),
        path(part),
    )


def statement(explanation: Explanation, verdict: Verdict, index: int | str = 0) -> Statement:
    """A verdict as the page shows it: conditions with a number apart from the others."""
    spoken = [one for one in verdict.hypotheses if one.holds and one.slack in (None, 0.0)]
    return Statement(
        verdict,
        f"t{index}-{verdict.theorem.id}",
        place(verdict),
        tuple(spoken),
        tuple(one for one in verdict.hypotheses if one not in spoken),
        command(explanation, verdict.theorem.id) if verdict.status == VerdictStatus.REFUTED else "",
    )


def groups(part: Part) -> list[list[str]]:
    """Sign, neurons, weight, active on, on the kink of, direction, and angle to a prediction."""
    limit = part.limit
    table = []
    for group in sorted(limit.groups, key=lambda one: -one.weight):
        u = np.where(np.abs(group.direction) < ROUNDING, 0.0, group.direction)
        shown = ", ".join(number(value, 5) for value in u[:MOST_COORDINATES])
        angle, theorem = nearest(part.verdicts, group.sign, group.direction)
        table.append(
            [
                "+" if group.sign > 0 else "−",
                str(group.size),
                number(group.weight, 6),
                f"{group.active} of {limit.data.n}",
                str(group.on_hyperplanes),
                f"({shown}{', …' if len(u) > MOST_COORDINATES else ''})",
                "–" if math.isnan(angle) else f"{number(angle, 2)} rad ({theorem})",
            ]
        )
    return table


def certificate(part: Part) -> list[tuple[str, str, str]]:
    """Name, number, what it means."""
    limit = part.limit
    kkt, best = limit.kkt, limit.certificate
    if kkt is None or best is None:
        return []
    support = int((kkt.multipliers > 0).sum())
    both = limit.setting.train != "first"
    power = "‖θ‖²" if both else "‖W‖"
    rows = [
        ("stationarity", number(kkt.stationarity, 2), "‖θ̂ − Σ λᵢ ∂qᵢ(θ̂)‖, 0 at a KKT point"),
        ("complementarity", number(kkt.complementarity, 2), "multipliers off the smallest margin"),
        ("feasibility", number(kkt.feasibility, 2), "0: every point is on its side"),
        (
            "multipliers",
            f"{support} of {limit.data.n}",
            f"points that hold the margin; {kkt.subdifferential}",
        ),
    ]
    if both:
        rows.append(("balance", number(kkt.balance, 2), "largest | |a_k| − ‖w_k‖ | over ‖θ‖"))
    return [
        *rows,
        ("margin", number(best.margin, 10), f"q_min/{power} of the limit"),
        ("widest margin, at least", number(best.margin_bounds.lower, 10), "reached by a network"),
        (
            "widest margin, at most",
            number(best.margin_bounds.upper, 10),
            "proved for every network of the kind",
        ),
        ("gap", number(best.shortfall, 2), "share by which the limit may fall short"),
        ("optimality", best.optimality, best.verdict),
    ]


def path(part: Part) -> list[tuple[str, str]]:
    """How one network was followed."""
    limit = part.limit
    way = limit.path
    events = ", ".join(count(n, EVENT_NOUNS.get(what, what)) for what, n in limit.events.items())
    moves = way.last.log_t > -math.inf
    rows = [
        ("outcome", f"{limit.outcome}: {limit.reason}"),
        ("followed to", f"{way.last.loss_text(6)} (sum over the points)"),
        ("time", way.last.time_text() if moves else "the flow does not move"),
        ("steps", f"{way.steps} ({way.rejected} rejected), {count(len(way.moments), 'moment')}"),
        ("events", events or "none"),
    ]
    if limit.proved is not None:
        rows.insert(1, ("proved", limit.proved.sentence))
    if limit.test_error is not None:
        rows.append(("test set", of_the_test(limit)))
    if limit.setting.train == "both":
        rows.append(("‖w‖² − a² kept to", number(way.drift, 2)))
    return [*rows, ("seconds", number(limit.seconds, 3))]


def setting(explanation: Explanation) -> list[tuple[str, str]]:
    """Network, loss, start and seed; what plays no part is left out."""
    s = explanation.setting.to_dict()
    names = ["model", "activation", "train", "width", "init", "loss", "rule"]
    if s["train"] == "first":
        names.insert(4, "output_weight")
    rows = [(name.replace("_", " "), str(s[name])) for name in names if s[name] is not None]
    return [*rows, ("seed", str(explanation.seed))]


def papers(explanation: Explanation) -> list[str]:
    """Keys of the papers whose theorems apply or just fail."""
    many = [one for part in explanation.parts for one in part.verdicts] + list(explanation.verdicts)
    used = [one for one in many if one.applies is not False] + just_fail(tuple(many))
    return sorted({one.theorem.source.key for one in used})


def bibtex(explanation: Explanation) -> tuple[list[str], list[str]]:
    """Entries, and the keys of papers that have none."""
    keys = papers(explanation)
    known = bibliography.bibtex()
    return [known[key] for key in keys if key in known], [key for key in keys if key not in known]
