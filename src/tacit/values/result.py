"""What all results share: a short repr, a view in notebooks, the JSON, a file, a picture."""

from __future__ import annotations

import json
from abc import abstractmethod
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.files import write_file


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
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        first, *rest = (escape(line) for line in self._lines())
        return "<div><b>{}</b>{}</div>".format(first, "".join(f"<br>{line}" for line in rest))

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write `to_dict()` as a JSON file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file.
        force : bool, default False
            Replace a file that is there.
        """
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_file(Path(path), text.encode(), force)

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
