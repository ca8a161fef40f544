"""What panels share: Axes, scales from small to very large numbers, words instead of a picture."""

import math
import re
from collections.abc import Callable
from inspect import cleandoc
from typing import TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from tacit.messages import printable

Drawing = TypeVar("Drawing", bound=Callable[..., Axes])

HUGE = 1e30
"""Beyond this the ticks of a logarithmic axis overflow."""
SMALL, TITLE = 8, 11
"""Sizes of the letters in legends and above panels."""

WORST = "of several networks the worst is drawn"
LIMIT = "limit : Limit or Limits", f"What `tacit.limit` returned; {WORST}."
"""The parameter of every picture of a limit."""
EXAMPLES = {
    "Certificate": "tacit.certify('xor', tacit.optimum('xor').network)",
    "Dataset": "tacit.load('xor')",
    "Explanation": "tacit.explain('xor', tacit.Setting(width=8), only='lyu2021:thm3.1')",
    "Geometry": "tacit.check('xor')",
    "Limit or Limits": "tacit.limit('xor', tacit.Setting(width=8))",
    "Network": "tacit.optimum('xor').network, tacit.load('xor')",
    "Optimum": "tacit.optimum('xor')",
    "Predictions": "tacit.predict('xor', only='lyu2021')",
    "Probe": "tacit.Probe(np.eye(2), [1, 1])",
    "Probed": "tacit.probe((lambda w, x: w @ x, np.ones(2)), np.eye(2), [1, 1])",
    "Reproduction": "tacit.reproduce('wang2022:fig2', quick=True)",
    "Run": "tacit.train('xor', epochs=5)",
    "Verification": "tacit.verify(tacit.certificates.proof_of(tacit.optimum('xor'))[0])",
}
"""Small things to draw, by the type of the first parameter."""
EXAMPLE = """
Parameters
----------
{parameters}

Returns
-------
matplotlib Axes

Examples
--------
>>> import numpy as np
>>> import tacit
>>> from matplotlib.figure import Figure
>>> ax = Figure().subplots()
>>> tacit.plot.{noun}({argument}, ax=ax) is ax
True
"""


def draws(noun: str, parameter: str, text: str, *more: str) -> Callable[[Drawing], Drawing]:
    """Complete the docstring of the function `tacit.plot.noun` that draws its first argument.

    All of them take and return Axes in the same way, so that is written here alone; `more` are the
    lines of further parameters.
    """
    ax = "ax : matplotlib Axes, optional", "    Where to draw; a new figure when there is none."
    parameters = "\n".join([parameter, f"    {text}", *more, *ax])
    argument = EXAMPLES[parameter.partition(" : ")[2]]
    end = EXAMPLE.format(noun=noun, parameters=parameters, argument=argument)

    def complete(function: Drawing) -> Drawing:
        function.__doc__ = f"{cleandoc(function.__doc__ or '')}\n{end}"
        return function

    return complete


def literal(text: str) -> str:
    """A user's words as matplotlib draws them: no formula, no hidden label, nothing unprintable."""
    shown = printable(text).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def own_axes(ax: Axes | None) -> Axes:
    """The given Axes, or those of a new figure, which a notebook shows by itself."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def say(ax: Axes, title: str, words: str) -> Axes:
    """Say why a panel has no picture."""
    ax.set_title(title)
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, color="0.35")
    return ax


def widen(axis: Axis, width: float, values: np.ndarray, room: float = 0.04) -> None:
    """Make an axis linear up to ±width and logarithmic beyond, with ticks at powers of ten."""
    ends = np.array([values.min(), values.max()])
    largest = math.log10(float(np.abs(ends).max()))
    powers = range(math.ceil(math.log10(width) - 0.3), math.floor(largest) + 1)
    every = max(len(powers) // 5, 1)
    tens = [10.0**k for k in powers[every if every > 5 else 0 :: every]]
    ticks = [tick for tick in (*(-ten for ten in tens), 0.0, *tens) if ends[0] <= tick <= ends[1]]
    shown = np.arcsinh(ends / width)
    pad = room * (shown[1] - shown[0])
    ends = width * np.sinh(shown + [-pad, pad])
    _scale(axis, "asinh", linear_width=width)
    ax = axis.axes
    (ax.set_xlim if axis is ax.xaxis else ax.set_ylim)(*ends)
    axis.set_ticks(ticks, [_power(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


def _power(tick: float) -> str:
    """0 or a power of ten, from 1e5 on so short that it does not run into the next one."""
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{tick:.5g}").replace("-", "−")


def logarithmic(axis: Axis, values: np.ndarray) -> None:
    """Make an axis of positive numbers logarithmic, if they span a decade."""
    if values.max() < 10 * values.min():
        return
    _scale(axis, "log")
    if values.max() > HUGE:  # matplotlib's own ticks overflow
        first, last = math.floor(math.log10(values.min())), math.log10(values.max())
        powers = range(first, math.floor(last) + 1, max(int(last - first) // 5, 1))
        axis.set_ticks([10.0**k for k in powers], [f"1e{k}" for k in powers])
        axis.set_ticks([], minor=True)
        ax = axis.axes
        ends = 10.0**first, 10.0 ** min(last + 0.04 * (last - first), 305)
        (ax.set_xlim if axis is ax.xaxis else ax.set_ylim)(*ends)


def _scale(axis: Axis, kind: str, **options: float) -> None:
    ax = axis.axes
    (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)(kind, **options)
