"""Which of all the solutions does gradient descent pick, why, and is it the best one?

Functions are verbs; data comes first, then the setting, then keywords:

- `load` a data set, `check` its geometry, `predict` what the theorems say of it;
- `train` a network, or follow gradient flow to its `limit`;
- the `optimum` over all networks, and what given weights are: `certify`, `verify`;
- `probe` a network of your own, in PyTorch or JAX;
- `explain` all of it in one report, `sweep` over many runs, `reproduce` the papers' figures.

Examples
--------
>>> import tacit
>>> data = tacit.load("orthogonal:n=20,d=2,seed=1")
>>> tacit.check(data).properties["linearly_separable"].holds
True
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing it from `typing` would take most of the time of this import
if TYPE_CHECKING:
    from typing import Any

    from tacit import plot as plot
    from tacit.certificates import Certificate as Certificate
    from tacit.certificates import Optimum as Optimum
    from tacit.certificates import certify as certify
    from tacit.certificates import optimum as optimum
    from tacit.data import load as load
    from tacit.explanation import Explanation as Explanation
    from tacit.explanation import Predictions as Predictions
    from tacit.explanation import explain as explain
    from tacit.explanation import predict as predict
    from tacit.flow import Limit as Limit
    from tacit.flow import Limits as Limits
    from tacit.flow import limit as limit
    from tacit.geometry import Geometry as Geometry
    from tacit.geometry import check as check
    from tacit.probing import Probe as Probe
    from tacit.probing import Probed as Probed
    from tacit.probing import probe as probe
    from tacit.proofs import Verification as Verification
    from tacit.proofs import verify as verify
    from tacit.reproduction import Reproduction as Reproduction
    from tacit.reproduction import reproduce as reproduce
    from tacit.sweeps import Sweep as Sweep
    from tacit.sweeps import sweep as sweep
    from tacit.training import Run as Run
    from tacit.training import train as train
    from tacit.values import BadInput as BadInput
    from tacit.values import Dataset as Dataset
    from tacit.values import Network as Network
    from tacit.values import Setting as Setting

__version__ = "0.1.0"

_NAMES = {
    "certificates": ("Certificate", "Optimum", "certify", "optimum"),
    "data": ("load",),
    "explanation": ("Explanation", "Predictions", "explain", "predict"),
    "flow": ("Limit", "Limits", "limit"),
    "geometry": ("Geometry", "check"),
    "probing": ("Probe", "Probed", "probe"),
    "proofs": ("Verification", "verify"),
    "reproduction": ("Reproduction", "reproduce"),
    "sweeps": ("Sweep", "sweep"),
    "training": ("Run", "train"),
    "values": ("BadInput", "Dataset", "Network", "Setting"),
}
"""The packages that public names come from; a name is imported when it is first used."""
_HOMES = {name: package for package, names in _NAMES.items() for name in names}
__all__ = ["__version__", "plot", *_HOMES]


def __getattr__(name: str) -> Any:
    if name == "plot":
        return import_module("tacit.plot")
    if name in _HOMES:
        value = getattr(import_module(f"tacit.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tacit' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
