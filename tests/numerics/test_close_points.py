"""Close points with different labels: clusters, and programs in which they would cancel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tacit.numerics.branch_and_bound import Branching
from tacit.numerics.close_points import clusters
from tacit.numerics.interpolation import interpolate
from tacit.numerics.neurons import margins
from tacit.numerics.restricted import Groups, restricted_program


def test_clusters(rng: np.random.Generator) -> None:
    X = np.eye(4)[[0, 0, 0, 1, 1, 2, 2, 3]]
    X[1, 1], X[2, 2], X[4, 2], X[6, 3] = 1e-6, 1e-3, 1e-5, 1e-7
    y = np.array([1.0, -1, 1, 1, -1, 1, 1, -1])  # rows 5 and 6 are close, but of one label
    found = clusters(X / np.linalg.norm(X, axis=1)[:, None], y)
    assert [(one.hub, one.members.tolist()) for one in found] == [(0, [0, 1, 2]), (3, [3, 4])]
    assert [one.gap for one in found] == pytest.approx([1e-6, 1e-5], rel=1e-6)
    assert found[0].scale == pytest.approx([1e-6, 1e-6, 1e-3], rel=1e-6)
    assert clusters(rng.standard_normal((1, 3)), np.ones(1)) == []


@pytest.mark.parametrize("distance", [1e-4, 1e-6])
def test_a_program_on_close_points_by_hand(distance: float) -> None:
    """Neurons that bend between x = (1, 0) and (1, −ε) and a third point: Σ‖v‖ = 1 is divided so
    that all margins are equal, as the first neuron sees one point only."""
    X = np.array([[1.0, 0.0], [1.0, -distance], [0.0, 1.0]])
    y = np.array([-1.0, 1.0, 1.0])
    sign = np.array([1, 1])
    pattern = np.array([[-1, 1, -1], [1, 1, 1]], dtype=np.int8)
    groups = Groups(sign, pattern, sign[:, None] * y < 0)
    groups.constrained[1, 0] = False
    proposal = restricted_program(X, y, 0.0, groups, unit=distance / 2)
    assert proposal is not None
    assert proposal.value > 0
    t = proposal.V @ X.T
    assert t[0, 0] == pytest.approx(0, abs=1e-13)
    f = np.where(pattern > 0, t, 0).sum(axis=0)
    assert (y * f).min() == pytest.approx(proposal.value, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_bounds_of_terms_that_cancel(alpha: float, rng: np.random.Generator) -> None:
    """Terms of size 1e6 that leave about 1: the bound is right, and right to nine digits."""
    X = rng.standard_normal((6, 9))
    X[3:] = X[:3] * (1 + 1e-6 * rng.standard_normal((3, 1)))
    X[3:] += 1e-6 * rng.standard_normal((3, 9))
    c = 1e6 * rng.uniform(1, 2, 3).repeat(2).reshape(3, 2).T.ravel() * [1, -1, 1, -1, 1, -1]
    branched = Branching(X, c, alpha).maximum(0.0)
    assert branched.closed
    best = Fraction(0)
    for u in branched.directions:
        t = [sum(Fraction(a) * Fraction(b) for a, b in zip(x, u, strict=True)) for x in X]
        slope = Fraction(alpha)
        value = sum(Fraction(w) * max(s, slope * s) for w, s in zip(c, t, strict=True))
        length = sum(Fraction(a) ** 2 for a in u)
        best = max(best, value / Fraction(float(length) ** 0.5))
    assert best * (1 - Fraction(1e-12)) <= Fraction(branched.bound) <= best * (1 + Fraction(2e-8))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_convex_function_need_not_be_one_on_all_points(
    sign: int, rng: np.random.Generator
) -> None:
    """−1 at 0 and 1 at 0.1, so at least 19 at 1; equal margins were asked for."""
    x = np.array([0, 0.1, 1, 2, 4, 8])
    X, y = np.column_stack([x, np.ones(6)]), sign * np.where(x > 0, 1.0, -1.0)
    net = interpolate(X, y, 0.5, (sign,), np.zeros((0, 2)), rng, np.inf)
    assert net is not None and (net.sign == sign).all()
    q, error = margins(X, y, 0.5, net)
    assert q.min() == pytest.approx(1) and (error < 1e-12).all()
