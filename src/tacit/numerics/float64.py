"""Constants of double precision, which bounds on rounding errors are made of, and of logarithms."""

import math

import numpy as np

EPS = float(np.finfo(np.float64).eps)
"""Twice the largest relative error of one rounded operation.

So a sum of k products errs by less than k/2 of it, relative to the sum of their sizes, in whatever
order they are added. Bounds take (k + 8) EPS: twice that, and room for the operations that follow.
"""
TINY = 5e-324
"""The smallest positive float: what underflow can do to a product."""
LARGEST = float(np.finfo(np.float64).max)
"""The largest finite float."""
LN10 = math.log(10)
"""What natural logarithms are divided by to become decimal ones."""
