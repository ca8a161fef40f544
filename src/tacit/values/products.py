"""Products of arrays of Python's integers, in the middle of which Ctrl-C does no harm."""

import numpy as np


def integer_product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A @ B, as NumPy's `dot` has it, which raises what came meanwhile when all is computed.

    Python looks for signals while it multiplies long integers, and `@` of arrays of objects frees
    an element twice where a multiplication raises.
    """
    return np.dot(A, B)
