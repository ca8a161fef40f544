"""Many runs: planned in a file, done on cores or on a cluster, kept one folder each."""

from tacit.sweeps.sweep_result import Sweep
from tacit.sweeps.sweeping import sweep

__all__ = ["Sweep", "sweep"]
