"""Constants of double precision, which every bound on rounding errors is made of."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
"""Twice the largest relative error of one rounded operation."""
TINY = 5e-324
"""The smallest positive float: what underflow can do to a product."""
LARGEST = float(np.finfo(np.float64).max)
"""The largest finite float."""
