"""Theorems of brutzkus2019: XOR and its detection, why wide networks generalise better."""

from __future__ import annotations

from tacit.theorems.base import Theorem
from tacit.theorems.brutzkus2019.clustering import ClusteringXOR, ClusteringXORD
from tacit.theorems.brutzkus2019.convergence import ConvergenceXOR, ConvergenceXORD
from tacit.theorems.brutzkus2019.exploration import ExplorationXOR, ExplorationXORD
from tacit.theorems.brutzkus2019.expressive import SmallCapacity, TwoOfEach
from tacit.theorems.brutzkus2019.samples import SampleGap, UniformDiversity
from tacit.theorems.brutzkus2019.small import SmallXOR, SmallXORD

THEOREMS: tuple[type[Theorem], ...] = (
    ExplorationXOR,
    ClusteringXOR,
    ConvergenceXOR,
    SmallXOR,
    SmallCapacity,
    UniformDiversity,
    TwoOfEach,
    ExplorationXORD,
    ClusteringXORD,
    ConvergenceXORD,
    SmallXORD,
    SampleGap,
)
