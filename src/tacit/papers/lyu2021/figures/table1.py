"""Table 1: test errors of the max-margin linear classifier and of two-layer networks."""

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.drawing import draw_error_curves, draw_error_table
from tacit.papers.lyu2021.figures import PAPER
from tacit.papers.lyu2021.figures.appendix_j import DEPARTURES, AppendixJ
from tacit.plot import new_figure
from tacit.reproduction.artefact import Claim, Exhibit, Tell, ours, paper
from tacit.reproduction.claims import at_least, at_most, mean_interval, near

TABLE = {
    10: (30.2, 30.5),
    20: (19.7, 18.9),
    30: (17.6, 15.6),
    40: (8.0, 7.1),
    50: (6.4, 5.9),
    60: (6.3, 5.1),
    70: (7.6, 6.5),
    80: (3.9, 3.1),
    90: (6.1, 5.2),
    100: (2.9, 2.9),
}
"""Table 1: n → test errors of the SVM and of the network, in percent."""


@dataclass(frozen=True)
class Table1(AppendixJ):
    test: int = paper(10_000, "App. J")
    runs: int = ours(30, "data sets of each size, for a mean with its interval; the paper has one")
    agree: float = ours(2.5, "points; the columns of Table 1 differ by up to 2.0")


@PAPER.artefact("table1", "Table 1, App. J", Table1, quick={"sizes": (10, 50, 100), "runs": 8})
def table1(s: Table1, tell: Tell) -> Exhibit:
    """Test errors of the max-margin linear classifier and of two-layer nets.

    The paper has one data set of each size; here every number is a mean over many, with its 99%
    interval, so that the columns fall steadily. The table is drawn on the left; on the right both
    columns, the paper's and ours. How far single sets scatter says how near the paper's numbers
    must be to our means. At one size that says little (± 8 points at n = 10), as the paper has one
    set of each size; the difference of the two columns, on the same set, scatters less.
    """
    errors = np.zeros((len(s.sizes), 2, s.runs))
    for row, n in enumerate(s.sizes):
        tell(f"{s.runs} networks on {n} points")
        sets = s.sets(n, s.runs, s.test)
        for i, (one, network) in enumerate(zip(sets, s.train(sets), strict=True)):
            assert one.test is not None
            X, y = one.test.X, one.test.y
            w = max_margin(one.y[:, None] * one.X).direction
            errors[row, 0, i] = 100 * np.mean(~(y * (X @ w) > 0))
            errors[row, 1, i] = 100 * network.error(X, y)
    said = np.array([TABLE.get(n, (np.nan, np.nan)) for n in s.sizes])
    data = {"n": np.array(s.sizes), "svm": errors[:, 0], "network": errors[:, 1], "paper": said}
    figure, ((left, right),) = new_figure(1, 2, size=(13.5, 4.8), width_ratios=(1.25, 1))
    means, scatter = errors.mean(axis=2), _scatter(errors)
    of_mean = scatter / math.sqrt(s.runs + 1)
    draw_error_table(left, s.sizes, means, of_mean, said)
    left.set_title(f"test error, mean of {s.runs} data sets with 99% interval")
    draw_error_curves(right, s.sizes, means, of_mean, scatter, said)
    return Exhibit(claims_of_table(s, errors, said), figure, data, DEPARTURES)


def claims_of_table(s: Table1, errors: np.ndarray, said: np.ndarray) -> tuple[Claim, ...]:
    """The columns agree, fall from 30% to 3%, and are the paper's as nearly as one set can tell."""
    means, scatter = errors.mean(axis=2), _scatter(errors)
    worst = int(np.abs(means[:, 0] - means[:, 1]).argmax())
    larger = int(means[worst].argmax())
    apart = errors[worst, larger] - errors[worst, 1 - larger]
    n = s.sizes[worst]
    text = f"mean errors of the columns agree within {s.agree:g} points; furthest apart, at n = {n}"
    most = max(abs(svm - net) for svm, net in TABLE.values())
    agree = at_most("agree", text, float(apart.mean()), s.agree, round(most, 3))
    claims = [replace(agree, interval=mean_interval(apart)), *_difference_claims(s, errors, said)]
    known = np.array([n in TABLE for n in s.sizes])
    groups = {f"{n}": np.array(s.sizes) == n for n in (10, 100)} | {"all": known}
    for (key, rows), (i, name) in product(groups.items(), enumerate(("SVM", "network"))):
        if rows.any() and s.runs > 1:  # one set says nothing of the scatter
            off = float(np.linalg.norm(scatter[rows, i])) / rows.sum()
            where = "all sizes" if key == "all" else f"n = {key}"
            text = f"{name}, {where}: mean error in percent; single sets are within ± {off:.1f}"
            mine, printed = (float(table[rows, i].mean()) for table in (means, said))
            claim = near(f"{name}_{key}", text, mine, printed, off)
            claims.append(replace(claim, interval=mean_interval(errors[rows, i].mean(axis=0))))
    return tuple(claims)


def _difference_claims(s: Table1, errors: np.ndarray, said: np.ndarray) -> list[Claim]:
    """The network's error less the SVM's on the same set, which scatters less than either."""
    known = np.array([n in TABLE for n in s.sizes])
    if not known.any() or s.runs < 2:
        return []
    less = errors[known, 0] - errors[known, 1]  # sizes × sets
    means, printed = less.mean(axis=1), said[known, 0] - said[known, 1]
    off = np.array([mean_interval(row)[1] - row.mean() for row in less]) * math.sqrt(s.runs + 1)
    inside = int((np.abs(printed - means) <= off).sum())
    text = (
        f"sizes, of {len(means)}, at which the difference of the paper's columns is one that our "
    )
    text += f"sets have (99%: ± {off.min():.1f} to {off.max():.1f} points)"
    overall = float(np.linalg.norm(off)) / len(off)
    mean = "SVM's error less the network's in points, mean of all sizes; single sets are within "
    gap = near("difference", f"{mean}± {overall:.1f}", means.mean(), printed.mean(), overall)
    gap = replace(gap, interval=mean_interval(less.mean(axis=0)))
    return [at_least("differences", text, inside, len(means), "nearly the same"), gap]


def _scatter(errors: np.ndarray) -> np.ndarray:
    """How far from our means (over the last axis) one more data set lies with 99% confidence."""
    half = np.array([[mean_interval(cell)[1] - cell.mean() for cell in row] for row in errors])
    return half * math.sqrt(errors.shape[-1] + 1)
