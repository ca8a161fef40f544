"""Theorems of phuong2021."""

from __future__ import annotations

from tacit.theorems.base import Theorem
from tacit.theorems.phuong2021.cor1 import Corollary1
from tacit.theorems.phuong2021.dynamics import LemmaA3, LemmaA4
from tacit.theorems.phuong2021.early import Lemma1, Lemma2
from tacit.theorems.phuong2021.kkt import LemmaC1
from tacit.theorems.phuong2021.local import LemmaA2
from tacit.theorems.phuong2021.probability import Probability
from tacit.theorems.phuong2021.stays import Lemma3, LemmaB1
from tacit.theorems.phuong2021.thm1 import Theorem1

THEOREMS: tuple[type[Theorem], ...] = (
    Theorem1,
    Probability,
    Corollary1,
    Lemma1,
    Lemma2,
    Lemma3,
    LemmaA2,
    LemmaA3,
    LemmaA4,
    LemmaB1,
    LemmaC1,
)
