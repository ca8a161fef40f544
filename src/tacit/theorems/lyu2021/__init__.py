"""Theorems of lyu2021."""

from __future__ import annotations

from tacit.theorems.base import Theorem
from tacit.theorems.lyu2021.cone import LemmaG1, LemmaG2
from tacit.theorems.lyu2021.directional import Theorem31, Theorem56
from tacit.theorems.lyu2021.embedded import Lemma53, Lemma54
from tacit.theorems.lyu2021.general import TheoremB19
from tacit.theorems.lyu2021.hinted import Theorem62
from tacit.theorems.lyu2021.kkt_points import LemmaB9, LemmaF3
from tacit.theorems.lyu2021.left_example import ExampleI11
from tacit.theorems.lyu2021.one_neuron import LemmaA4
from tacit.theorems.lyu2021.one_sided import TheoremG9, TheoremG11
from tacit.theorems.lyu2021.orthogonal import LemmaH3, TheoremH2
from tacit.theorems.lyu2021.principal import TheoremA7, TheoremA10
from tacit.theorems.lyu2021.small_start import Lemma52
from tacit.theorems.lyu2021.symmetric import Corollary44, Theorem42, Theorem43
from tacit.theorems.lyu2021.two_neurons import Theorem55
from tacit.theorems.lyu2021.unique import LemmaI21
from tacit.theorems.lyu2021.well_aligned import TheoremE4

THEOREMS: tuple[type[Theorem], ...] = (
    Theorem31,
    Theorem42,
    Theorem43,
    Corollary44,
    Lemma52,
    Lemma53,
    Lemma54,
    Theorem55,
    Theorem56,
    Theorem62,
    LemmaA4,
    TheoremA7,
    TheoremA10,
    LemmaB9,
    TheoremB19,
    TheoremE4,
    LemmaF3,
    LemmaG1,
    LemmaG2,
    TheoremG9,
    TheoremG11,
    TheoremH2,
    LemmaH3,
    ExampleI11,
    LemmaI21,
)
