"""Check a proof: read it, prove its bounds again, and hold its claims against them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tacit.files import open_regular
from tacit.messages import count, percent_below, printable
from tacit.proofs.bracket import combined, prove
from tacit.proofs.entries import Rejected
from tacit.proofs.exact import MOST_SETS, Budget, float_above, float_below
from tacit.proofs.limit_reading import FORMAT as LIMIT_FORMAT
from tacit.proofs.limit_reading import LimitProof, parse_limit
from tacit.proofs.limits import ProvedMargin, prove_limit
from tacit.proofs.reading import MOST_BYTES, Proof, check_first_line, parse_optimum, read_entries
from tacit.values import Dataset, Interval, Result
from tacit.values.jsonable import plain


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Result):
    """What `tacit.verify` returns: what a file proves.

    What the file is about is filled in as far as it could be read.

    Attributes
    ----------
    verified : bool
        Whether everything that the file claims is proved.
    reason : str
        Why the file was rejected, in one line that names the place; empty when it was verified.
    infeasible : bool
        No network of any width fits the data (of K classes: at least one against the rest).
    exact_bounds : tuple of Fraction or None
        The optimal objective is between the two. With both layers trained it is the smallest
        Σ|a_k|‖w_k‖ with margins of at least 1 (the widest margin is 1/(2·objective)), else ‖W‖.
    cells : int
        The number of cells that were enumerated, over all problems.
    nodes : int
        The number of nodes of trees that were checked, over all problems.
    alpha, train, output_weight, units : float, str, float, int
        The networks that the file speaks of.
    X : array of shape (n, d)
        The points.
    y : list of arrays
        The labels ±1 of each problem: one list, or for K classes each class against the rest; None
        for a class of which nothing is claimed.
    classes : tuple of str
        Their names.
    loss : str or None
        Of a proof about limits of gradient flow: the loss.
    ends : tuple of ProvedMargin or None
        Of such a proof: what was proved of each network; None where nothing is claimed.

    Examples
    --------
    >>> from tacit import load, optimum, verify
    >>> from tacit.certificates import proof_of
    >>> text, _ = proof_of(optimum(load("xor")))
    >>> verify(text).objective_bounds.gap < 1e-12
    True
    """

    verified: bool
    reason: str = ""
    infeasible: bool = False
    exact_bounds: tuple[Fraction, Fraction] | None = None
    cells: int = 0
    nodes: int = 0
    alpha: float | None = None
    train: str | None = None
    output_weight: float | None = None
    units: int | None = None
    X: np.ndarray | None = None
    y: list[np.ndarray | None] | None = None
    classes: tuple[str, ...] = ()
    loss: str | None = None
    ends: tuple[ProvedMargin | None, ...] = ()

    @property
    def n(self) -> int:
        """The number of points."""
        return 0 if self.X is None else self.X.shape[0]

    @property
    def d(self) -> int:
        """The dimension of the points."""
        return 0 if self.X is None else self.X.shape[1]

    @property
    def objective_bounds(self) -> Interval | None:
        """The bounds of the objective as floats, rounded outwards."""
        if self.exact_bounds is None:
            return None
        lower, upper = self.exact_bounds
        return Interval(float_below(lower), float_above(upper))

    def about(self, data: Dataset) -> Verification:
        """The same, but rejected unless the proof is about exactly these points and labels."""
        if not self.verified or self.X is None or self.y is None:
            return self
        if not np.array_equal(self.X, data.X):
            reason = "the proof is about other points than the data's"
            return replace(self, verified=False, reason=reason)
        labels = [data.one_vs_rest(k).y for k in range(len(data.classes))] or [data.y]
        same = len(labels) == len(self.y) and all(
            given is None or np.array_equal(ours, given)
            for ours, given in zip(labels, self.y, strict=True)
        )
        if not same or self.classes != data.classes:
            reason = "the proof is about other labels than the data's"
            return replace(self, verified=False, reason=reason)
        return self

    def _lines(self) -> list[str]:
        if not self.verified:
            return [f"rejected: {printable(self.reason)}"]
        points = f"{count(self.n, 'point')} in {count(self.d, 'dimension')}"
        kind = "ReLU" if self.alpha == 0 else f"Leaky ReLU, α = {self.alpha:g}"
        layers, formula = "both layers", "Σ|a|‖w‖"
        if self.train == "first" and self.ends:
            layers = "first layer"
        elif self.train == "first":
            units = count(self.units or 0, "unit")
            layers, formula = f"{units} of each output weight ±{self.output_weight:g}", "‖W‖"
        lines = [f"verified in exact arithmetic: {points}, {kind}, {layers}"]
        if self.ends:
            return [*lines, *self._ends_in_words()]
        if self.objective_bounds is None:
            return [*lines, "no network of this kind, however wide, fits these labels"]
        lower, upper = self.objective_bounds
        lines.append(f"the optimum min {formula} lies in [{lower!r}, {upper!r}]")
        checked = [f"all {count(self.cells, 'cell')}"] if self.cells else []
        checked += [f"{count(self.nodes, 'node')} of a tree"] if self.nodes else []
        return [*lines, f"checked on {' and '.join(checked)}" if checked else "no cells needed"]

    def _ends_in_words(self) -> list[str]:
        """What is proved of each network, a line each."""
        said = []
        for name, end in zip(self.classes or ("",), self.ends, strict=True):
            if end is None:
                continue
            whose = f"{printable(name)} against the rest: " if name else ""
            lower, upper = end.margin_bounds
            neurons = count(end.neurons, "neuron")
            words = (
                f"{whose}from the network of {neurons} in the file on, the margin of gradient "
                f"flow's limit lies in [{lower!r}, {upper!r}]"
            )
            if end.share is not None:
                share = percent_below(float_below(end.share))
                where = count(len(end.directions), "direction")
                words += f"; at least {share} of the weight within {end.angle:g} rad of {where}"
            said.append(words)
        return said

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit verify --json`; the bounds are rounded outwards.

        Those of an optimum are of the objective, those of one limit are of the margin.
        """
        lower, upper = self.objective_bounds or (None, None)
        if len(self.ends) == 1 and self.ends[0] is not None:
            lower, upper = self.ends[0].margin_bounds
        return plain(
            {
                "verified": self.verified,
                "infeasible": self.infeasible,
                "lower": lower,
                "upper": upper,
                "reason": self.reason or None,
                "n": self.n,
                "d": self.d,
                "alpha": self.alpha,
                "train": self.train,
                "units": self.units,
                "output_weight": self.output_weight,
                "cells": self.cells,
                "nodes": self.nodes,
                "loss": self.loss,
                "limits": [_end_to_dict(end) for end in self.ends] or None,
            }
        )


def _end_to_dict(end: ProvedMargin | None) -> dict[str, Any] | None:
    if end is None:
        return None
    return {
        "neurons": end.neurons,
        "proved_margin": list(end.margin_bounds),
        "proved_angle": end.angle,
        "proved_share": None if end.share is None else float_below(end.share),
        "directions": [{"sign": sign, "direction": u} for sign, u in end.directions],
    }


def verify(
    proof: str | Path | bytes,
    *,
    most_bytes: int = MOST_BYTES,
    seconds: float = math.inf,
    sets: int = MOST_SETS,
) -> Verification:
    """Check a proof in exact arithmetic, without a line of what made it.

    Parameters
    ----------
    proof : str, Path or bytes
        The path of a file that `tacit optimum` or `tacit limit` wrote with `--proof`, or the proof
        itself: bytes, or a text that begins with "{".
    most_bytes : int
        Longer files are refused.
    seconds : float
        About how long it may take, once the file is read.
    sets : int
        How many sets of points are looked at for each bound by sets; fewer prove the same or less.

    Returns
    -------
    Verification
        `verified` is False, with a `reason`, for a proof that does not hold. BadInput is raised for
        what is no proof at all, and for one that would take too long.

    Examples
    --------
    >>> from tacit import load, optimum
    >>> from tacit.certificates import proof_of
    >>> text, _ = proof_of(optimum(load("wang2022_f1")))
    >>> verify(text)  # doctest: +ELLIPSIS
    verified in exact arithmetic: 2 points in 2 dimensions, ReLU, both layers
    the optimum min Σ|a|‖w‖ lies in [1.28243222..., 1.28243222...]
    checked on all 4 cells
    >>> verify(text.replace(b"1.65", b"1.66")).reason
    'the digest in the first line is not that of the rest; the file was altered'
    """
    if isinstance(proof, str) and proof.startswith("{"):
        proof = proof.encode()
    if isinstance(proof, bytes):
        return _verify_bytes(proof, "the text", Budget(seconds=seconds, sets=sets))
    with open_regular(proof, most_bytes) as file:
        raw = file.read(most_bytes)
    return _verify_bytes(raw, str(proof), Budget(seconds=seconds, sets=sets))


def _verify_bytes(raw: bytes, name: str, budget: Budget) -> Verification:
    check_first_line(raw, name)
    try:
        entries = read_entries(raw)
        if isinstance(entries, dict) and entries.get("format") == LIMIT_FORMAT:
            return _verify_limit(parse_limit(entries), budget)
        proof = parse_optimum(entries)
    except Rejected as error:
        return Verification(False, str(error))
    subject = Verification(
        False,
        alpha=proof.alpha,
        train=proof.train,
        output_weight=proof.output_weight,
        units=proof.units,
        X=proof.X,
        y=[problem.y for problem in proof.problems],
        classes=proof.classes,
    )
    try:
        return _verified(proof, subject, budget)
    except Rejected as error:
        return replace(subject, reason=str(error))


def _verify_limit(proof: LimitProof, budget: Budget) -> Verification:
    subject = Verification(
        False,
        alpha=proof.alpha,
        train=proof.train,
        X=proof.X,
        y=[None if one is None else one.problem.y for one in proof.networks],
        classes=proof.classes,
        loss=proof.loss,
    )
    try:
        ends = tuple(
            None if one is None else prove_limit(proof, one, budget) for one in proof.networks
        )
    except Rejected as error:
        return replace(subject, reason=str(error))
    return replace(subject, verified=True, ends=ends)


def _verified(proof: Proof, subject: Verification, budget: Budget) -> Verification:
    brackets = [prove(proof, problem, budget) for problem in proof.problems]
    subject = replace(
        subject,
        cells=sum(bracket.cells for bracket in brackets),
        nodes=sum(bracket.nodes for bracket in brackets),
    )
    bounds = combined(brackets, proof.train)
    if bounds is None:
        return replace(subject, verified=True, infeasible=True)
    lower, upper = bounds
    assert proof.lower is not None and proof.upper is not None
    if Fraction(proof.lower) > lower:
        raise Rejected(
            f"lower is claimed to be {proof.lower!r}, but only {float_below(lower)!r} is proved"
        )
    if Fraction(proof.upper) < upper:
        raise Rejected(
            f"upper is claimed to be {proof.upper!r}, but only {float_above(upper)!r} is proved"
        )
    return replace(subject, verified=True, exact_bounds=bounds)
