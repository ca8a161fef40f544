"""Least squares over a box, also one that is flat."""

import numpy as np

from tacit.numerics.least_squares import boxed_least_squares


def test_a_flat_box_fixes_what_it_is_flat_in() -> None:
    A, b = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([3.0, 1.0])
    low, high = np.array([0.7, -5.0]), np.array([0.7, 5.0])
    x = boxed_least_squares(A, b, low, high)
    np.testing.assert_allclose(x, [0.7, 1.65], rtol=1e-12)
    point = np.array([1e10, 0.0])
    np.testing.assert_allclose(boxed_least_squares(A, b, point, point), point, atol=1e-300)
