"""Theorems of lyu2021."""

from tacit.papers.lyu2021.statements.cone import LemmaG1, LemmaG2
from tacit.papers.lyu2021.statements.critical_margin import TheoremF9
from tacit.papers.lyu2021.statements.directional import Theorem31, Theorem56
from tacit.papers.lyu2021.statements.embedded import Lemma53, Lemma54
from tacit.papers.lyu2021.statements.head_start import TheoremB19
from tacit.papers.lyu2021.statements.hinted import Theorem62
from tacit.papers.lyu2021.statements.kkt_points import LemmaB9, LemmaF2, LemmaF3
from tacit.papers.lyu2021.statements.left_example import ExampleI11
from tacit.papers.lyu2021.statements.linear_phase import LemmaB20, LemmaD2
from tacit.papers.lyu2021.statements.no_branching import LemmaI21
from tacit.papers.lyu2021.statements.one_neuron import LemmaA4
from tacit.papers.lyu2021.statements.one_sided import TheoremG9, TheoremG11
from tacit.papers.lyu2021.statements.orthogonal import LemmaH3, TheoremH2
from tacit.papers.lyu2021.statements.principal import TheoremA7, TheoremA10
from tacit.papers.lyu2021.statements.small_start import Lemma52
from tacit.papers.lyu2021.statements.symmetric import Corollary44, Theorem42, Theorem43
from tacit.papers.lyu2021.statements.two_cones import LemmaG4, LemmaG5, LemmaG8
from tacit.papers.lyu2021.statements.two_neurons import Theorem55
from tacit.papers.lyu2021.statements.well_aligned import TheoremE4
from tacit.theorems import Theorem

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
    LemmaB20,
    LemmaD2,
    TheoremE4,
    LemmaF2,
    LemmaF3,
    TheoremF9,
    LemmaG1,
    LemmaG2,
    LemmaG4,
    LemmaG5,
    LemmaG8,
    TheoremG9,
    TheoremG11,
    TheoremH2,
    LemmaH3,
    ExampleI11,
    LemmaI21,
)
