"""Theorems of sarussi2021."""

from __future__ import annotations

from tacit.theorems.base import Theorem
from tacit.theorems.sarussi2021.agreement import AgreementClusters, AgreementIsLinear
from tacit.theorems.sarussi2021.bias import BiasIsAnInput
from tacit.theorems.sarussi2021.clustering import ClusteredIsLinear, LinearRegion
from tacit.theorems.sarussi2021.perfect import PerfectAgreement, SymmetricHasNoMixedDirections
from tacit.theorems.sarussi2021.risk import Recursions, RiskConverges

THEOREMS: tuple[type[Theorem], ...] = (
    RiskConverges,
    Recursions,
    LinearRegion,
    ClusteredIsLinear,
    AgreementClusters,
    AgreementIsLinear,
    PerfectAgreement,
    SymmetricHasNoMixedDirections,
    BiasIsAnInput,
)
