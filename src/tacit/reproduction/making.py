"""Make an artefact, and keep it in a folder of its own: picture, caption, data and claims."""

import hashlib
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import tacit
from tacit.files import check_writable, npz_bytes, open_regular, write_folder
from tacit.reproduction.artefact import Artefact, Claim, Entry, Settings, Tell, entries
from tacit.reproduction.captions import caption
from tacit.values import BadInput, discovery
from tacit.values.jsonable import plain

CLAIMS = "claims.json"
ADDED = {"criterion", "whose"}
"""What claims of version 0.1 do not have."""
FILES = (CLAIMS, "caption.txt", "figure.png", "figure.svg", "data.npz")


@dataclass(frozen=True)
class Made:
    """One artefact as it was made, now or earlier."""

    folder: Path
    about: dict[str, Any]
    """What `claims.json` holds."""
    cached: bool
    """Whether it had been made earlier, with the same settings and code."""

    @property
    def claims(self) -> list[dict[str, Any]]:
        return self.about["claims"]

    @property
    def all_hold(self) -> bool:
        """Whether no claim fails."""
        return all(claim["holds"] for claim in self.claims)


def make(
    artefact: Artefact,
    settings: Settings,
    out: Path,
    tell: Tell,
    force: bool = False,
    captions: bool = False,
) -> Made:
    """Make it, or read it where it was made earlier with the same settings and code.

    The folder `out` gets a folder for it. With `captions`, claims are written under the panels too,
    not only beside the picture.
    """
    from tacit._jax import jax
    from tacit.plot import picture, under

    folder = out / artefact.folder
    mark = _mark(artefact, settings, captions)
    about = read(folder)
    whole = all((folder / name).is_file() for name in FILES)
    if not force and whole and about is not None and about.get("mark") == mark:
        return Made(folder, about, cached=True)
    check_writable(folder, force=folder.exists())  # before the work, not after it
    begun = time.perf_counter()
    exhibit = artefact.make(settings, tell)
    departures = [*_departures(settings), *exhibit.departures]
    about = plain(
        {
            "id": artefact.id,
            "title": artefact.title,
            "place": artefact.place,
            "claims": [
                {"figure": artefact.id, **asdict(claim), "departures": departures}
                for claim in exhibit.claims
            ],
            "departures": departures,
            "settings": [entry._asdict() for entry in entries(settings)],
            "seconds": time.perf_counter() - begun,
            "tacit": tacit.__version__,
            "python": platform.python_version(),
            "device": jax.devices()[0].device_kind,
            "mark": mark,
        }
    )
    text = caption(about)
    if captions:
        under(exhibit.figure, text)
    files = (
        json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False).encode(),
        f"{text}\n".encode(),
        picture(exhibit.figure, "png"),
        picture(exhibit.figure, "svg"),
        npz_bytes(exhibit.data),
    )
    write_folder(folder, dict(zip(FILES, files, strict=True)), force=folder.exists())
    return Made(folder, about, cached=False)


def read(folder: Path) -> dict[str, Any] | None:
    """The claims that an earlier run wrote there; None where there are none."""
    if not (folder / CLAIMS).is_file():
        return None
    try:
        with open_regular(folder / CLAIMS, 10**7) as file:
            about = json.loads(file.read())
        return about if _is_ours(about) else None
    except (ValueError, TypeError, RecursionError, OSError, BadInput):
        return None


def _is_ours(about: Any) -> bool:
    """Whether pages can be made of it."""
    return (
        isinstance(about, dict)
        and {"id", "title", "place", "claims", "departures", "settings", "seconds"} <= set(about)
        and isinstance(about["seconds"], float)
        and all(isinstance(words, str) for words in about["departures"])
        and all(set(Entry._fields) <= set(entry) for entry in about["settings"])
        and all(isinstance(entry["place"], str) for entry in about["settings"])
        and all(_is_claim(claim) for claim in about["claims"])
    )


def _is_claim(claim: Any) -> bool:
    needed = {f.name for f in fields(Claim)} - ADDED
    if not (isinstance(claim, dict) and needed <= set(claim)):
        return False
    ends = claim["interval"]
    return (
        (ends is None or (isinstance(ends, list) and len(ends) == 2))
        and all(end is None or isinstance(end, float | int) for end in ends or ())
        and all(isinstance(claim[key], str | float | int | None) for key in ("paper", "ours"))
        and isinstance(claim["text"], str)
        and isinstance(claim["finding"], str)
        and all(isinstance(claim.get(key, ""), str) for key in ADDED)
    )


def _departures(settings: Settings) -> Sequence[str]:
    said = []
    for entry in entries(settings):
        if entry.value != entry.default:
            whose = "ours in full" if entry.ours else "paper"
            said.append(f"{entry.name} = {entry.value} ({whose}: {entry.default})")
        elif entry.ours and entry.name != "seed":
            said.append(f"{entry.name} = {entry.value}: ours, {entry.place}")
    return said


def _mark(artefact: Artefact, settings: Settings, captions: bool) -> str:
    """A text that changes when the settings, the files of the paper or the version do."""
    words = json.dumps(plain(asdict(settings)), sort_keys=True)
    mark = hashlib.sha256(f"{artefact.id} {tacit.__version__} {words} {captions} ".encode())
    for file in sorted((discovery.FOLDER / artefact.key).rglob("*.py")):
        mark.update(file.read_bytes())
    return mark.hexdigest()
