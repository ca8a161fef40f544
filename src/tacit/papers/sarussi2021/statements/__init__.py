"""Theorems of sarussi2021."""

from tacit.papers.sarussi2021.statements.agreement import AgreementClusters, AgreementIsLinear
from tacit.papers.sarussi2021.statements.bias import BiasIsAnInput
from tacit.papers.sarussi2021.statements.cluster_sides import (
    LemmaC1,
    PropositionC1,
    PropositionC2,
)
from tacit.papers.sarussi2021.statements.clustering import ClusteredIsLinear, LinearRegion
from tacit.papers.sarussi2021.statements.perfect import (
    PerfectAgreement,
    SymmetricHasNoMixedDirections,
)
from tacit.papers.sarussi2021.statements.risk import Recursions, RiskConverges
from tacit.theorems import Theorem

THEOREMS: tuple[type[Theorem], ...] = (
    RiskConverges,
    Recursions,
    LinearRegion,
    ClusteredIsLinear,
    AgreementClusters,
    AgreementIsLinear,
    PerfectAgreement,
    SymmetricHasNoMixedDirections,
    LemmaC1,
    PropositionC1,
    PropositionC2,
    BiasIsAnInput,
)
