"""The answer in a few plain sentences."""

from tacit.explanation.explanation import Explanation, Part
from tacit.flow import Limit
from tacit.geometry import Geometry, predicates
from tacit.messages import count
from tacit.theorems import Verdict, VerdictStatus
from tacit.values import Check

DOING = {
    VerdictStatus.AGREES: ("agrees", "agree"),
    VerdictStatus.DIFFERS: ("differs", "differ"),
    VerdictStatus.NOT_APPLICABLE: ("does not apply", "do not apply"),
}
"""What one theorem does, and several; the other statuses are as they are."""
KEPT = (VerdictStatus.CONFIRMED, VerdictStatus.AGREES)
"""The run did what the theorem says."""
NEAR = 0.3
"""Hypotheses about the data that fail by no more than this just fail."""


def sentences(explanation: Explanation, brief: bool = False) -> list[str]:
    """What the data is, what training does, whether that is the best, and what the theorems say.

    Brief, they do not say by what evidence the limit is claimed.
    """
    part = explanation.worst
    whose = f"Class {part.name} against the rest: " if part.name else ""
    run = of_the_end(part.limit) if brief else of_the_run(part.limit)
    said = [of_the_data(explanation.geometry), whose + run]
    if part.limit.certificate is not None:
        said.append(part.limit.certificate.verdict)
    return [*said, of_the_theorems(part)]


def of_the_data(geometry: Geometry) -> str:
    """Separability, in words and by how much."""
    parts = []
    linear = geometry.properties["linearly_separable"]
    if linear.holds and geometry.margin_bounds is not None:
        parts.append(f"Linearly separable with margin {geometry.margin_bounds.lower:.4g}")
    else:
        parts.append(f"Linearly separable: {_yes_or_no(linear)}")
    pairs = geometry.properties["orthogonally_separable"]
    parts.append(f"orthogonally separable: {_of_pairs(pairs)}")
    if geometry.properties["symmetric"].holds:
        parts.append("symmetric")
    return "; ".join(parts) + "."


def of_the_end(limit: Limit) -> str:
    """Where the neurons end."""
    if not limit.outcome.settled:
        return f"Training is {limit.outcome}: {limit.reason}"
    living = sum(group.size for group in limit.groups)
    rest = limit.setting.width - living
    died = f"; {count(rest, 'neuron')} died out" if rest else ""
    where = count(len(limit.groups), "direction")
    return f"Training converges: {count(living, 'neuron')} end in {where}{died}."


def of_the_run(limit: Limit) -> str:
    """Where the neurons end, by what evidence, and how that does on a test set."""
    if not limit.outcome.settled:
        return of_the_end(limit)
    tested = "" if limit.test_error is None else f" {of_the_test(limit)}"
    proved = "" if limit.proved is None else f" {limit.proved.sentence}"
    return f"{of_the_end(limit)} {limit.reason}{proved}{tested}"


def of_the_test(limit: Limit) -> str:
    """How the limit does on the test set."""
    assert limit.data.test is not None and limit.test_error is not None
    points = count(limit.data.test.n, "test point")
    return f"It mislabels {100 * limit.test_error:.3g} % of {points}."


def of_the_theorems(part: Part) -> str:
    """How many have which verdict."""
    numbers = counts(part.verdicts)
    words = [counted(status, n) for status, n in numbers.items()]
    proved = sum(verdict.proved for verdict in part.verdicts)
    if proved:
        at = list(numbers).index(VerdictStatus.CONFIRMED)
        words[at] += f" ({proved} with a proof of what the limit is)"
    return f"Of {count(len(part.verdicts), 'theorem')} {', '.join(words)}."


def counts(verdicts: tuple[Verdict, ...]) -> dict[VerdictStatus, int]:
    """How many have which verdict, the most telling first."""
    statuses = [verdict.status for verdict in verdicts]
    return {status: statuses.count(status) for status in VerdictStatus if status in statuses}


def counted(status: VerdictStatus, n: int) -> str:
    """So many theorems have this verdict."""
    return count(n, *DOING.get(status, (status, status)))


def telling(verdicts: tuple[Verdict, ...], most: int) -> list[Verdict]:
    """What a person should see first: everything refuted or different, then theorems."""
    loud = [v for v in verdicts if v.status in (VerdictStatus.REFUTED, VerdictStatus.DIFFERS)]
    kept = [v for v in verdicts if v.status in KEPT and _is_theorem(v)]
    kept.sort(key=lambda v: (KEPT.index(v.status), v.theorem.needs == "data"))
    return loud + kept[: max(most - len(loud), 0)]


def just_fail(verdicts: tuple[Verdict, ...]) -> list[Verdict]:
    """Theorems that one hypothesis about the data keeps from applying, the nearest first."""
    near = []
    for verdict in filter(_is_theorem, verdicts):
        failed = [check for check in verdict.hypotheses if check.holds is False]
        if len(failed) != 1 or failed[0].slack is None:
            continue
        known = failed[0].name in predicates() and -failed[0].slack <= NEAR
        if known or failed[0].name == "support_spans":
            near.append((-failed[0].slack, verdict))
    return [verdict for _, verdict in sorted(near, key=lambda pair: pair[0])]


def _is_theorem(verdict: Verdict) -> bool:
    return verdict.theorem.id.partition(":")[2].startswith(("thm", "cor"))


def _yes_or_no(check: Check) -> str:
    return {True: "yes", False: "no", None: f"not decided ({check.note})"}[check.holds]


def _of_pairs(pairs: Check) -> str:
    if pairs.slack is None or pairs.holds is None:
        return _yes_or_no(pairs)
    if pairs.holds:
        return f"yes, closest pair {max(pairs.slack, 0.0):.2g} away from failing"
    if pairs.slack >= 0:  # decided exactly; between classes a right angle would do
        return "no, points of one class are orthogonal"
    return f"no, the worst pair fails by {-pairs.slack:.2g}"
