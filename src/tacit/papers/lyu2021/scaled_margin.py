"""The widest margin of one Leaky ReLU neuron: w⁺, γ⁺ and w⁻, γ⁻ of lyu2021 App. A."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.numerics.margin_solutions import confirm_without_alpha, support_rows
from tacit.numerics.max_margin import MaxMargin, max_margin

Sign = Literal[1, -1]
"""The sign of a neuron's output weight."""


@dataclass(frozen=True, eq=False)
class ScaledMargin(MaxMargin):
    """w⁺ (or w⁻) is the direction, and γ⁺ (or γ⁻) its margin."""

    support: np.ndarray | None
    """Rows of X on the margin: none without a solution, and None when it is not known well enough
    to tell them."""


def scaled_margin(X: np.ndarray, y: np.ndarray, alpha: float, sign: Sign = 1) -> ScaledMargin:
    """Find the max-margin separator w⁺ of (x⁺_i, y_i) and its margin γ⁺; w⁻, γ⁻ for sign −1.

    x⁺ is x for y = +1 and αx for y = −1, x⁻ the other way.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    rows = y[:, None] * X
    lengths = np.where(y == sign, 1.0, alpha)
    Z = lengths[:, None] * rows
    answer = max_margin(Z)
    if alpha > 0:  # then a w separates these iff it separates the points as they are
        answer = confirm_without_alpha(answer, rows, [np.arange(len(y))], lengths)
    return ScaledMargin(**vars(answer), support=support_rows(Z, answer))
