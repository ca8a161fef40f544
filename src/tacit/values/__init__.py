"""The values that every package speaks of; they are immutable.

They are imported when they are first used, because `Setting` is made of models, and these need the
errors and texts of this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.values.check import Check
    from tacit.values.dataset import Dataset
    from tacit.values.errors import BadInput
    from tacit.values.interval import Interval
    from tacit.values.network import Group, Network
    from tacit.values.result import Result
    from tacit.values.setting import Setting
    from tacit.values.status import Status

_HOMES = {
    "BadInput": "errors",
    "Check": "check",
    "Dataset": "dataset",
    "Group": "network",
    "Interval": "interval",
    "Network": "network",
    "Result": "result",
    "Setting": "setting",
    "Status": "status",
}
__all__ = [
    "BadInput",
    "Check",
    "Dataset",
    "Group",
    "Interval",
    "Network",
    "Result",
    "Setting",
    "Status",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"tacit.values.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'tacit.values' has no attribute '{name}'")
