"""Theorems of brutzkus2019: XOR and its detection, why wide networks generalise better."""

from tacit.papers.brutzkus2019.statements.clustering import ClusteringXOR, ClusteringXORD
from tacit.papers.brutzkus2019.statements.convergence import ConvergenceXOR, ConvergenceXORD
from tacit.papers.brutzkus2019.statements.exploration import ExplorationXOR, ExplorationXORD
from tacit.papers.brutzkus2019.statements.expressive import SmallCapacity, TwoOfEach
from tacit.papers.brutzkus2019.statements.general_width import (
    AnyWidthLearns,
    NegativePointsRight,
    PositivePointsRight,
)
from tacit.papers.brutzkus2019.statements.samples import SampleGap, UniformDiversity
from tacit.papers.brutzkus2019.statements.smallest_networks import SmallXOR, SmallXORD
from tacit.theorems import Theorem

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
    AnyWidthLearns,
    PositivePointsRight,
    NegativePointsRight,
)
