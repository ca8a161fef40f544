"""Networks compared as functions."""

from __future__ import annotations

import numpy as np

from tacit.papers.lyu2021.networks import linear_network, one_neuron
from tacit.papers.lyu2021.statements.cases import symmetric_case
from tacit.papers.lyu2021.statements.network_functions import difference
from tacit.papers.lyu2021.statements.symmetric import separator
from tacit.theorems import Network


def test_functions_are_told_apart() -> None:
    """Also where they differ by a small kink."""
    case = symmetric_case()
    w = separator(case)
    assert difference(linear_network(w, case.alpha), linear_network(w, case.alpha), case) == 0
    assert difference(one_neuron(w, case.alpha), linear_network(w, case.alpha), case) > 0.1
    W = np.vstack([linear_network(w, case.alpha).W, [[0, 1e-3], [0, 1e-3]]])
    kinked = Network(W, np.array([0.5, -0.5, 1e-3, 1e-3]), case.alpha)
    assert 1e-7 < difference(kinked, linear_network(w, case.alpha), case) < 1e-4
