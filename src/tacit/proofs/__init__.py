"""An independent checker of proofs about the best of all two-layer networks, and about limits.

A proof file holds the data, a network (a bound from above), multipliers (a bound from below) and
the claims; in that of a limit the network is the one from which gradient flow goes on. Everything
is recomputed in exact arithmetic, and nothing of the solvers that made the file is used here.
"""

from tacit.proofs.entries import Rejected
from tacit.proofs.exact import MOST_SETS, Budget, float_above, float_below
from tacit.proofs.limit_reading import FORMAT as LIMIT_FORMAT
from tacit.proofs.limit_reading import KEYS as LIMIT_KEYS
from tacit.proofs.limits import ProvedMargin
from tacit.proofs.reading import FORMAT, MOST_BYTES, read_tree, write_proof
from tacit.proofs.trap import Stored, TrapCertificate, prove_trap
from tacit.proofs.verification import Verification, verify

__all__ = ["FORMAT", "LIMIT_FORMAT", "LIMIT_KEYS", "MOST_BYTES", "ProvedMargin", "Verification"]
__all__ += ["MOST_SETS", "Budget", "Rejected", "Stored", "TrapCertificate", "prove_trap"]
__all__ += ["float_above", "float_below", "read_tree", "verify", "write_proof"]
