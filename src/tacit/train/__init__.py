"""Training rules: gradient descent, SGD without replacement, Adam; one network or an ensemble."""

from tacit.train.run import Run, load, save, summary
from tacit.train.training import Diverged, train

__all__ = ["Diverged", "Run", "load", "save", "summary", "train"]
