"""The command line that makes an explanation again."""

import platform
import shlex
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tacit import __version__
from tacit.data.generators import GENERATORS
from tacit.explanation import Explanation
from tacit.values import Dataset

UNNAMED = "DATA"
"""Stands for points that came from no file and no generator."""


def command(explanation: Explanation, only: str = "") -> str:
    """`tacit explain …`, with every option that counts; `only` names one theorem."""
    s, data = explanation.setting, explanation.data
    words = ["tacit", "explain", source(data)]
    labels = data.parameters.get("labels")
    if isinstance(labels, dict):
        words += ["--labels", ",".join(f"{name}={sign:+d}" for name, sign in labels.items())]
    if "bias" in data.parameters:
        words += ["--bias", repr(data.parameters["bias"])]
    if data.test is not None and not data.parameters.get("test"):
        words += ["--test", source(data.test, "TEST")]
    words += ["--activation", str(s.activation), "--train", s.train, "--width", str(s.width)]
    words += ["--init", str(s.initialisation)]
    if s.train == "first":
        words += ["--output-weight", f"{s.output_weight:g}"]
    words += ["--loss", str(s.loss), "--log10-loss", f"{explanation.log10_loss:g}"]
    words += ["--seconds", f"{explanation.time_limit:g}", "--seed", str(explanation.seed)]
    for name in (only,) if only else explanation.only:
        words += ["--only", name]
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """The word as a shell reads it, without a letter that could steer a terminal."""
    if word.isprintable():
        return shlex.quote(word)
    kept = [
        chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\x{byte:02x}"
        for byte in word.encode(errors="surrogateescape")
    ]
    return f"$'{''.join(kept)}'"


def source(data: Dataset, unnamed: str = UNNAMED) -> str:
    """The file or generator call that the data came from."""
    said = data.parameters
    if "file" in said:
        return str(said["file"])
    known = GENERATORS.get(str(said.get("generator")))
    if known is None:
        return unnamed
    given = [f"{key}={_text(said[key])}" for key in known.parameters if key in said]
    return known.name + (f":{','.join(given)}" if given else "")


def versions() -> list[tuple[str, str]]:
    """The versions of everything that has a part in the numbers."""
    installed = [("tacit", __version__), ("Python", platform.python_version())]
    for package in ("numpy", "scipy", "jax", "clarabel", "daqp"):
        try:
            installed.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return installed


def _text(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
