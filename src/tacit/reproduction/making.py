"""Make an artefact, and keep it in a folder of its own: picture, data and claims."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import tacit
from tacit._jax import jax
from tacit.files import check_writable, npz_bytes, open_regular, write_folder
from tacit.plot import picture, under
from tacit.reproduction.artefact import Artefact, Claim, Entry, Settings, Tell, entries
from tacit.values import BadInput
from tacit.values.discovery import FOLDER
from tacit.values.jsonable import plain
from tacit.values.text import near_miss

CLAIMS = "claims.json"
FILES = (CLAIMS, "figure.png", "figure.svg", "data.npz")


@dataclass(frozen=True)
class Reproduction:
    """One artefact as it was made, now or earlier."""

    artefact: Artefact
    folder: Path
    about: dict[str, Any]
    """What `claims.json` holds."""
    cached: bool

    @property
    def claims(self) -> list[dict[str, Any]]:
        return self.about["claims"]

    @property
    def all_hold(self) -> bool:
        return all(claim["holds"] for claim in self.claims)


def reproduce(
    artefact: Artefact, settings: Settings, out: Path, tell: Tell, again: bool = False
) -> Reproduction:
    """Make it, or read it where it was made earlier with the same settings and code."""
    folder = out / artefact.folder
    mark = _mark(artefact, settings)
    about = read(folder)
    whole = all((folder / name).is_file() for name in FILES)
    if not again and whole and about is not None and about.get("mark") == mark:
        return Reproduction(artefact, folder, about, cached=True)
    check_writable(folder, force=folder.exists())  # before the work, not after it
    begun = time.perf_counter()
    result = artefact.make(settings, tell)
    departures = [*_departures(settings), *result.departures]
    about = plain(
        {
            "id": artefact.id,
            "title": artefact.title,
            "place": artefact.place,
            "claims": [
                {"figure": artefact.id, **asdict(claim), "departures": departures}
                for claim in result.claims
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
    under(result.figure, caption(about))
    files = (
        json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False).encode(),
        picture(result.figure, "png"),
        picture(result.figure, "svg"),
        npz_bytes(result.data),
    )
    write_folder(folder, dict(zip(FILES, files, strict=True)), force=folder.exists())
    return Reproduction(artefact, folder, about, cached=False)


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
    if not (isinstance(claim, dict) and {f.name for f in fields(Claim)} <= set(claim)):
        return False
    ends = claim["interval"]
    return (
        (ends is None or (isinstance(ends, list) and len(ends) == 2))
        and all(end is None or isinstance(end, float | int) for end in ends or ())
        and all(isinstance(claim[key], str | float | int | None) for key in ("paper", "ours"))
        and isinstance(claim["text"], str)
        and isinstance(claim["finding"], str)
    )


def caption(about: dict[str, Any]) -> str:
    """What stands under the picture: the claims, and whether they hold."""
    lines = [f"{about['id']} ({about['place']})"]
    lines += [f"{'✓' if c['holds'] else '✗'} {c['text']}: {words(c)}" for c in about["claims"]]
    return "\n".join(lines)


def words(claim: dict[str, Any]) -> str:
    """The paper's number and ours, in a few words."""
    said = f"{number(claim['ours'])}, paper {number(claim['paper'])}"
    if claim["interval"] is not None:
        low, high = claim["interval"]
        said += f" (99% interval {number(low)} … {number(high)})"
    return said


def number(value: float | str | None) -> str:
    """Four digits, and more where these would hide that it is not 1."""
    if value is None:
        return "unbounded"
    if isinstance(value, str):
        return value
    return f"{value:.7g}" if 0 < abs(value - 1) < 1e-3 else f"{value:.4g}"


def _departures(settings: Settings) -> Sequence[str]:
    said = []
    for entry in entries(settings):
        if entry.value != entry.default:
            whose = "ours in full" if entry.ours else "paper"
            said.append(f"{entry.name} = {entry.value} ({whose}: {entry.default})")
        elif entry.ours and entry.name != "seed":
            said.append(f"{entry.name} = {entry.value}: ours, {entry.place}")
    return said


def _mark(artefact: Artefact, settings: Settings) -> str:
    """Changes when the settings, a file of the paper or the version do."""
    home = Path(import_module(artefact.make.__module__).__file__ or "")
    files = sorted((FOLDER / artefact.key).rglob("*.py")) or [home]
    source = b"".join(file.read_bytes() for file in files)
    words = json.dumps(plain(asdict(settings)), sort_keys=True)
    whole = f"{artefact.id} {tacit.__version__} {words} ".encode() + source
    return hashlib.sha256(whole).hexdigest()


def values_of(artefact: Artefact, texts: Sequence[str]) -> dict[str, Any]:
    """Settings written as NAME=VALUE, with the type that the setting has."""
    kinds = {entry.name: entry.default for entry in entries(artefact.settings())}
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--set {text}: write NAME=VALUE")
        if name not in kinds:
            raise BadInput(f"{artefact.id} has no setting '{name}'{near_miss(name, kinds)}")
        values[name] = _value(artefact.id, name, value, kinds[name])
    return values


def _value(id: str, name: str, text: str, like: Any) -> Any:
    """The text as the type of `like`; the entries of a tuple are separated by commas."""
    if isinstance(like, tuple):
        parts = [part for part in text.split(",") if part]
        return tuple(_value(id, name, part, like[0]) for part in parts)
    kind = type(like)
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        raise BadInput(
            f"--set {name}={text}: {id} has {name} = {like!r}; write a value of that kind"
        ) from None
