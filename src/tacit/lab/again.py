"""The command line and the Python lines that give the answer of the page again."""

import shlex

import numpy as np

from tacit.data import load
from tacit.lab.requests import Request
from tacit.values import BadInput

FILE = "points.csv"
"""What the page calls the points when it saves them."""


def data_name(request: Request) -> str:
    """The generator call, if it still gives these points; else the file that the page saves."""
    data = request.data
    if request.source and data is not None:
        try:
            same = load(request.source)
        except BadInput:
            return FILE
        if np.array_equal(same.X, data.X) and np.array_equal(same.y, data.y):
            return request.source
    return FILE


def command_line(request: Request, name: str) -> str:
    """`tacit explain …` with the setting of the page."""
    s = request.setting
    words = ["tacit", "explain", name]
    if request.bias is not None:
        words += ["--bias", repr(request.bias)]
    words += ["--activation", str(s.activation), "--train", s.train, "--width", str(s.width)]
    words += ["--init", str(s.initialisation), "--loss", str(s.loss), "--seed", str(request.seed)]
    if s.train == "first":
        words += ["--output-weight", repr(s.output_weight)]
    return " ".join(map(shlex.quote, words))


def python_lines(request: Request, name: str) -> str:
    """The same in Python."""
    s = request.setting
    bias = "" if request.bias is None else f", bias={request.bias!r}"
    output = "" if s.train == "both" else f", output_weight={s.output_weight!r}"
    return "\n".join(
        [
            "import tacit",
            f"data = tacit.load({name!r}{bias})",
            f"setting = tacit.Setting(activation={str(s.activation)!r}, train={s.train!r}, "
            f"width={s.width}, init={str(s.initialisation)!r}, loss={str(s.loss)!r}{output})",
            f"limit = tacit.limit(data, setting, seed={request.seed})",
        ]
    )
