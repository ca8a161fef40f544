"""An explanation on disk: the report, the JSON, and what is needed to have it back.

The folder is also one of a limit (`flow.limit_folder`); `explanation.json` holds the rest.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tacit
from tacit.explanation.explanation import Explanation, Part
from tacit.files import open_regular, write_folder
from tacit.flow import Limit
from tacit.flow.limit_folder import folder_files
from tacit.geometry import Geometry
from tacit.theorems import Verdict
from tacit.values import BadInput
from tacit.values.jsonable import agree, json_bytes, read_json
from tacit.values.result import MOST_BYTES, reading
from tacit.values.saved_form import from_saved, to_saved

NAME = "explanation.json"


@dataclass(frozen=True, eq=False)
class SavedExplanation:
    """What the folder of a limit does not hold; see `Explanation`."""

    geometry: dict[str, Any]
    """The form of a `Geometry`, without its data."""
    per_network: tuple[tuple[Verdict, ...], ...]
    verdicts: tuple[Verdict, ...]
    interrupted: bool
    only: tuple[str, ...]
    log10_loss: float
    time_limit: float
    seconds: float


def save(explanation: Explanation, path: str | Path, force: bool = False) -> None:
    """Write the folder; an older one is replaced only with `force`."""
    saved = SavedExplanation(
        {**vars(explanation.geometry), "data": None},
        tuple(part.verdicts for part in explanation.parts),
        explanation.verdicts,
        explanation.interrupted,
        explanation.only,
        explanation.log10_loss,
        explanation.time_limit,
        explanation.seconds,
    )
    files = {
        "report.html": explanation.html.encode(errors="backslashreplace"),
        "result.json": json_bytes(explanation.to_dict()),
        NAME: json_bytes({"tacit": tacit.__version__, "value": to_saved(saved)}),
        **folder_files(explanation.limit),
    }
    write_folder(path, files, force)


def load(path: str | Path) -> Explanation:
    """Read such a folder; anything that is not exactly one is refused with what is wrong."""
    limit = Limit.load(path)
    texts = []
    for name in (NAME, "result.json"):
        with open_regular(Path(path) / name, MOST_BYTES) as file:
            texts.append(file.read())
    with reading(path, "the folder of an explanation"):
        about, result = map(read_json, texts)
        saved = from_saved(SavedExplanation, about["value"])
        geometry = {**to_saved(saved.geometry), "data": to_saved(limit.data)}
        names = limit.data.classes[: len(limit.each)] or ("",)
        parts = zip(names, limit.each, saved.per_network, strict=True)
        explanation = Explanation(
            limit.data,
            limit.worst.setting,
            limit.worst.seed,
            from_saved(Geometry, geometry),
            tuple(Part(name, one, verdicts) for name, one, verdicts in parts),
            saved.verdicts,
            saved.interrupted,
            saved.only,
            saved.log10_loss,
            saved.time_limit,
            saved.seconds,
        )
        if not agree(explanation.to_dict(), result):
            raise BadInput("its parts contradict each other")
    return explanation
