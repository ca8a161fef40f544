"""Theorems of wang2022."""

from __future__ import annotations

from tacit.theorems.base import Theorem
from tacit.theorems.wang2022.alignment import Theorem1
from tacit.theorems.wang2022.convex import Equation128, Equation130, Proposition1, Proposition2
from tacit.theorems.wang2022.dual import Proposition4, Proposition5, Theorem3
from tacit.theorems.wang2022.dynamics import Lemma1, Lemma2
from tacit.theorems.wang2022.extreme import Lemma4, Proposition7
from tacit.theorems.wang2022.kkt import Proposition3
from tacit.theorems.wang2022.limits import Theorem2, Theorem4
from tacit.theorems.wang2022.masks import Lemma5, Lemma6
from tacit.theorems.wang2022.resting import Lemma8, Lemma9
from tacit.theorems.wang2022.turning import Corollary1

THEOREMS: tuple[type[Theorem], ...] = (
    Proposition1,
    Theorem1,
    Theorem2,
    Proposition2,
    Proposition3,
    Theorem3,
    Proposition4,
    Proposition5,
    Lemma1,
    Lemma2,
    Corollary1,
    Lemma4,
    Proposition7,
    Theorem4,
    Lemma5,
    Lemma6,
    Lemma8,
    Lemma9,
    Equation128,
    Equation130,
)
