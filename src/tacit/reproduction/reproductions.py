"""The verb `tacit.reproduce` and what it returns."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tacit.files import check_writable, path_of
from tacit.messages import count
from tacit.reproduction.captions import compared, number
from tacit.reproduction.listing import choose
from tacit.reproduction.making import Made, make
from tacit.values import BadInput
from tacit.values.result import Result

OUT = Path("figures")
"""The folder that gets a folder for each figure, where none is named."""


class Update(NamedTuple):
    """What `progress` is called with."""

    done: int
    """Figures that are finished."""
    total: int
    id: str
    """The figure that is being made, or has just been."""
    words: str = ""
    """What is being computed."""
    made: Made | None = None
    """The figure, when it has just been finished."""
    left_out: str = ""
    """Why it could not be made."""


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """Figures and tables of the papers as they came out.

    Attributes
    ----------
    figures : tuple of Made
        What was made: the folder of each, and everything that its `claims.json` says.
    left_out : dict
        Figures that could not be made, by id, and why.

    Examples
    --------
    >>> import tacit
    >>> made = tacit.reproduce("wang2022:fig2", quick=True)
    >>> all(claim["holds"] for claim in made.claims)
    True
    """

    figures: tuple[Made, ...]
    left_out: dict[str, str]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """All claims, each with the paper's number, ours, and whether it holds."""
        return [claim for one in self.figures for claim in one.claims]

    @property
    def all_hold(self) -> bool:
        """Whether no claim fails."""
        return all(one.all_hold for one in self.figures)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `tacit reproduce --json`."""
        return {
            "claims": self.claims,
            "figures": [{**one.about, "folder": str(one.folder)} for one in self.figures],
            "left_out": self.left_out,
        }

    def to_frame(self) -> Any:
        """The claims as a pandas DataFrame, one in each row."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise BadInput("to_frame needs pandas; install it, or use to_dict()") from None
        columns = "figure id text paper criterion ours interval holds whose finding".split()
        rows = [[claim.get(name, "") for name in columns] for claim in self.claims]
        return pandas.DataFrame(rows, columns=columns)

    def _lines(self) -> list[str]:
        failing = [claim for claim in self.claims if not claim["holds"]]
        hold = len(self.claims) - len(failing)
        whole = f"{count(len(self.figures), 'figure')}, {count(len(self.claims), 'claim')}"
        lines = [f"Reproduction: {whole}, of which {hold} hold"]
        lines += [f"  ✗ {one['figure']} {one['text']}: {compared(one)}" for one in failing[:3]]
        more = [f"{len(failing) - 3} more do not hold"] if len(failing) > 3 else []
        more += [f"left out: {', '.join(self.left_out)}"] if self.left_out else []
        return [*lines, f"  {'; '.join(more)}"] if more else lines

    def _repr_html_(self) -> str:
        rows = [
            (one["figure"], one["text"], number(one["paper"]), number(one["ours"]), one["holds"])
            for one in self.claims
        ]
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + f"<td>{'✓' if holds else '✗'}</td></tr>"
            for *cells, holds in rows
        )
        head = "".join(f"<th>{name}</th>" for name in ("figure", "claim", "paper", "ours", ""))
        return f"<b>{escape(self._lines()[0])}</b><table><tr>{head}</tr>{body}</table>"


def reproduce(
    *names: str,
    quick: bool = False,
    seed: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    captions: bool = False,
    progress: Callable[[Update], None] | None = None,
    **settings: Any,
) -> Reproduction:
    """Make figures and tables of the papers: each with its claims, the paper's numbers and ours.

    What was made earlier with the same settings is read, not made again.

    Parameters
    ----------
    *names : str
        Ids such as `"phuong2021:fig1"`, a whole paper such as `"phuong2021"`, or `"all"`.
    quick : bool, default False
        Smaller sizes, seconds instead of minutes; the departures say what was shrunk.
    seed : int, optional
        Another seed than the one of the figure.
    out : str or Path, default "figures"
        The folder that gets a folder for each figure (pictures, caption, data, claims), a page for
        each paper and a gallery.
    force : bool, default False
        Make a figure again even if it is there.
    captions : bool, default False
        Write the claims under the panels of the pictures, too.
    progress : callable, optional
        Called with an `Update` whenever something new is computed or a figure is finished.
    **settings
        Other values for settings of the figures.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reproduce("wang2022:fig2", quick=True, out=folder)
    Reproduction: 1 figure, 5 claims, of which 5 hold
    """
    if not names:
        raise BadInput(
            "name a figure such as phuong2021:fig1, a paper, or all; see `tacit list figures`"
        )
    chosen, left_out = choose(names)
    if left_out and not chosen:
        raise BadInput(next(iter(left_out.values())))
    if seed is not None:
        settings["seed"] = seed
    folder = OUT if out is None else path_of(out)
    check_writable(folder / "gallery.md", force=True, folder=False)
    everything = [(one, one.choose(quick, **settings)) for one in chosen]
    report = progress or (lambda update: None)
    for id, reason in left_out.items():
        report(Update(0, len(chosen), id, left_out=reason))
    figures: list[Made] = []
    try:
        for done, (one, values) in enumerate(everything):

            def tell(words: str, done: int = done, id: str = one.id) -> None:
                report(Update(done, len(chosen), id, words))

            tell("")
            try:
                figures.append(make(one, values, folder, tell, force, captions))
            except BadInput as error:  # a data set that is not here, say
                if len(chosen) == 1:
                    raise
                left_out[one.id] = str(error)
                report(Update(done + 1, len(chosen), one.id, left_out=str(error)))
            else:
                report(Update(done + 1, len(chosen), one.id, made=figures[-1]))
    finally:
        if figures:
            from tacit.reproduction.pages import write_pages

            write_pages(folder)
    return Reproduction(tuple(figures), left_out)
