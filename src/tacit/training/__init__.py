"""Training rules: gradient descent, SGD without replacement, Adam; one network or an ensemble."""

from tacit.training.loop import Diverged, train
from tacit.training.many import Many, train_many
from tacit.training.run_reading import load
from tacit.training.runs import Run, save

__all__ = ["Diverged", "Many", "Run", "load", "save", "train", "train_many"]
