"""Training rules: gradient descent, SGD without replacement, Adam; one network or an ensemble."""

from tacit.train.loading import load
from tacit.train.many import Many, train_many
from tacit.train.run import Run, save, summary
from tacit.train.training import Diverged, train

__all__ = ["Diverged", "Many", "Run", "load", "save", "summary", "train", "train_many"]
