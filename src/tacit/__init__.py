"""Which of all the solutions does gradient descent pick, why, and is it the best one?

What users import: `load` a data set, `check` its geometry, the `optimum` over all networks, what
given weights are (`certify`), and a `Setting` for `tacit.training.train`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "BadInput": "tacit.values",
    "Dataset": "tacit.values",
    "Setting": "tacit.values",
    "certify": "tacit.certificates",
    "check": "tacit.geometry",
    "load": "tacit.data",
    "optimum": "tacit.certificates",
}
__all__ = ["BadInput", "Dataset", "Setting", "__version__", "certify", "check", "load", "optimum"]

if TYPE_CHECKING:
    from tacit.certificates import certify, optimum
    from tacit.data import load
    from tacit.geometry import check
    from tacit.values import BadInput, Dataset, Setting


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: `import tacit` and `tacit --help` are instant."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit' has no attribute '{name}'")
