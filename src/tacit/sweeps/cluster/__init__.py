"""A dask cluster or a SLURM queue as the workers of a sweep; all that others see of it."""

from tacit.sweeps.cluster.address import Tls, tls_files
from tacit.sweeps.cluster.dask_cluster import connect

__all__ = ["Tls", "connect", "tls_files"]
