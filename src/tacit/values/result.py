"""What all results share: a short repr, a view in notebooks, the JSON, a file, a picture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import tacit
from tacit.files import open_regular, path_of, write_file
from tacit.messages import BadInput, printable
from tacit.values.jsonable import agree, json_bytes, read_json
from tacit.values.saved_form import from_saved, to_saved

MOST_BYTES = 1 << 29
"""Bytes read from a saved result."""


WIDEST = 120
"""Characters in a line of a repr; notebooks and `to_dict` have all of it."""


@contextmanager
def reading(path: str | Path, what: str) -> Iterator[None]:
    """Whatever a stranger's file makes its readers raise becomes one line."""
    try:
        yield
    except KeyError as error:
        raise BadInput(f"{path} is not {what}: {error} is missing") from None
    except Exception as error:  # of what results raise when their parts do not fit together
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{path} is not {what}: {reason}") from None


def lines_as_html(lines: list[str]) -> str:
    """Lines for a notebook, the first in bold."""
    first, *rest = map(escape, lines)
    return "<div><b>{}</b>{}</div>".format(first, "".join(f"<br>{line}" for line in rest))


def _fitted(line: str) -> str:
    """The line, cut between two words where it is longer than `WIDEST`."""
    if len(line) <= WIDEST:
        return line
    return line[: WIDEST - 2].rpartition(" ")[0].rstrip() + " …"


class Result:
    """What a verb returns.

    A subclass says what a person reads (`_lines`) and what scripts read (`to_dict`).
    """

    @abstractmethod
    def _lines(self) -> list[str]:
        """The lines that a person reads, at most five."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The result as plain numbers, texts, lists and dicts: the JSON of the command line."""

    def __repr__(self) -> str:
        return "\n".join(map(_fitted, self._lines()))

    def _repr_html_(self) -> str:
        return lines_as_html(self._lines())

    def _to_save(self) -> Result:
        """What `save` writes of it: all, unless a subclass says less."""
        return self

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write a JSON file: `to_dict()`, and under `saved` what `load` needs beside it.

        Parameters
        ----------
        path : str or Path
            The file.
        force : bool, default False
            Replace a file that is there.
        """
        value = to_saved(self._to_save())
        saved = {"tacit": tacit.__version__, "type": type(self).__name__, "value": value}
        write_file(path_of(path), json_bytes({**self.to_dict(), "saved": saved}), force)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` wrote; the result has the same `to_dict()` and picture.

        Nothing in the file is executed, and nothing is proved again: what it claims is what its
        writer claimed. A file that is broken, or whose parts contradict each other, is refused.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        with open_regular(path, MOST_BYTES) as file:
            text = file.read()
        with reading(path, f"a saved {cls.__name__}"):
            about = read_json(text)
            saved = about.pop("saved")
            if saved["type"] != cls.__name__:
                raise BadInput(f"it holds a {printable(str(saved['type']))}")
            result = from_saved(cls, saved["value"])
            if not agree(result.to_dict(), about):
                raise BadInput("its parts contradict each other")
        return result

    def plot(self, ax: Any = None) -> Any:
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when there is none.

        Returns
        -------
        matplotlib Axes
        """
        # Pictures are drawn a layer above results; this line is the one place that looks up there.
        return import_module("tacit.plot").draw(self, ax)
