"""Theorems of phuong2021."""

from tacit.papers.phuong2021.statements.cor1 import Corollary1
from tacit.papers.phuong2021.statements.dynamics import LemmaA3, LemmaA4
from tacit.papers.phuong2021.statements.early import Lemma1, Lemma2
from tacit.papers.phuong2021.statements.kkt import LemmaC1
from tacit.papers.phuong2021.statements.local import LemmaA2
from tacit.papers.phuong2021.statements.probability import Probability
from tacit.papers.phuong2021.statements.stationary import LemmaA1
from tacit.papers.phuong2021.statements.stays import Lemma3, LemmaB1
from tacit.papers.phuong2021.statements.thm1 import Theorem1
from tacit.theorems import Theorem

THEOREMS: tuple[type[Theorem], ...] = (
    Theorem1,
    Probability,
    Corollary1,
    Lemma1,
    Lemma2,
    Lemma3,
    LemmaA1,
    LemmaA2,
    LemmaA3,
    LemmaA4,
    LemmaB1,
    LemmaC1,
)
