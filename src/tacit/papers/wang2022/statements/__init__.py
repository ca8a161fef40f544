"""Theorems of wang2022."""

from tacit.papers.wang2022.statements.alignment import Theorem1
from tacit.papers.wang2022.statements.convex import (
    Equation128,
    Equation130,
    Proposition1,
    Proposition2,
)
from tacit.papers.wang2022.statements.dual import Proposition4, Proposition5, Theorem3
from tacit.papers.wang2022.statements.dynamics import Lemma1, Lemma2
from tacit.papers.wang2022.statements.extreme import Lemma4, Proposition7
from tacit.papers.wang2022.statements.kkt import Proposition3
from tacit.papers.wang2022.statements.limits import Theorem2, Theorem4
from tacit.papers.wang2022.statements.masks import Lemma5, Lemma6
from tacit.papers.wang2022.statements.near_vectors import Lemma7
from tacit.papers.wang2022.statements.resting import Lemma8, Lemma9
from tacit.papers.wang2022.statements.spike_free_dual import Remark1
from tacit.papers.wang2022.statements.turning import Corollary1
from tacit.theorems import Theorem

THEOREMS: tuple[type[Theorem], ...] = (
    Proposition1,
    Theorem1,
    Theorem2,
    Proposition2,
    Proposition3,
    Theorem3,
    Proposition4,
    Proposition5,
    Remark1,
    Lemma1,
    Lemma2,
    Corollary1,
    Lemma4,
    Proposition7,
    Theorem4,
    Lemma5,
    Lemma6,
    Lemma7,
    Lemma8,
    Lemma9,
    Equation128,
    Equation130,
)
