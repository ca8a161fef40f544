"""An independent checker of proofs about the best of all two-layer networks.

A proof file holds the data, a network (a bound from above), multipliers (a bound from below) and
the claims. Everything is recomputed in exact arithmetic, and nothing of the solvers that made the
file is used here.
"""

from tacit.proofs.exact import float_above, float_below
from tacit.proofs.reading import FORMAT, MOST_BYTES, write_proof
from tacit.proofs.verification import Verification, verify

__all__ = ["FORMAT", "MOST_BYTES", "Verification", "float_above", "float_below"]
__all__ += ["verify", "write_proof"]
