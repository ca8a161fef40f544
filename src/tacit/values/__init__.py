"""The values that every package speaks of; they are immutable."""

from tacit.values.check import Check
from tacit.values.dataset import Dataset
from tacit.values.errors import BadInput
from tacit.values.setting import Setting

__all__ = ["BadInput", "Check", "Dataset", "Setting"]
