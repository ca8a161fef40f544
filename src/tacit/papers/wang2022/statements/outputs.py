"""The outputs of a network with K classes.

The K outputs are K networks of their own, trained one against the rest (4), so a K-class run has
one of `members` for each class, in the order of `data.classes`. Binary data is the case K = 2: the
second output has the first one's problem with the labels exchanged. One plain run then stands for
both outputs; two `members` are the two outputs.
"""

from tacit.theorems import Case, Observation
from tacit.values import Dataset, Network


def binary_problems(data: Dataset, count: int = 1) -> list[Dataset]:
    """The problems of the outputs; of binary data both, when there are runs of both."""
    if not data.binary:
        return [data.one_vs_rest(k) for k in range(len(data.classes))]
    return [data, Dataset(data.X, -data.y, data.name)][:count]


def runs_of_outputs(data: Dataset, run: Observation) -> list[tuple[Dataset, Observation]] | None:
    """Every output's problem with its run; None when the runs are not one for each class."""
    runs = run.members or (run,)
    problems = binary_problems(data, len(runs))
    return list(zip(problems, runs, strict=True)) if len(problems) == len(runs) else None


def starts_of_outputs(case: Case, run: Observation | None) -> list[tuple[Dataset, Network]] | None:
    """Every output's problem and initial weights; None when these are not known."""
    if case.data.binary and case.start is not None:
        return [(case.data, case.start)]
    pairs = None if run is None else runs_of_outputs(case.data, run)
    if not pairs or not all(one.path for _, one in pairs):
        return None
    return [(data, one.start) for data, one in pairs]
