"""The values that every package speaks of; they are immutable."""

from tacit.messages import BadInput
from tacit.values.check import Check, NotDefined
from tacit.values.dataset import Dataset
from tacit.values.interval import Interval
from tacit.values.network import Group, Network
from tacit.values.outcome import Outcome
from tacit.values.result import Result
from tacit.values.setting import Setting
from tacit.values.status import Status

__all__ = ["BadInput", "Check", "Dataset", "Group", "Interval", "Network", "NotDefined"]
__all__ += ["Outcome", "Result", "Setting", "Status"]
