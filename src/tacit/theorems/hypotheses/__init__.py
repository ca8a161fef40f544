"""Hypotheses that several theorems share, and the makers of others.

Each takes a case and the place in the paper where it is stated, and returns a `Check`.
"""

from tacit.theorems.hypotheses.checks import (
    NEEDS_A_RUN,
    by_slack,
    needs_a_run,
    undecided,
    unquantified,
    yes_or_no,
)
from tacit.theorems.hypotheses.path import reaches_the_limit
from tacit.theorems.hypotheses.setting import (
    both_layers,
    exponential_tail,
    first_layer,
    flow,
    leaky,
    logistic,
    relu,
    two_classes,
    two_layer,
)
from tacit.theorems.hypotheses.start import (
    LARGE,
    SMALL,
    balanced,
    both_signs,
    neuron_sizes,
    small_start,
)

__all__ = [
    "LARGE",
    "NEEDS_A_RUN",
    "SMALL",
    "balanced",
    "both_layers",
    "both_signs",
    "by_slack",
    "exponential_tail",
    "first_layer",
    "flow",
    "leaky",
    "logistic",
    "needs_a_run",
    "neuron_sizes",
    "reaches_the_limit",
    "relu",
    "small_start",
    "two_classes",
    "two_layer",
    "undecided",
    "unquantified",
    "yes_or_no",
]
