"""Pages about what was reproduced, one for each paper, and a gallery, beside the pictures."""

import re
from pathlib import Path
from typing import Any

from tacit.files import write_file
from tacit.messages import count
from tacit.reproduction.artefact import Whose
from tacit.reproduction.captions import number
from tacit.reproduction.listing import Listed, catalogue
from tacit.reproduction.making import read
from tacit.theorems.bibliography import bibtex
from tacit.values.discovery import paper_keys

BEYOND = "Beyond the papers: pictures that need the exact limit or a certificate"


def write_pages(out: Path) -> None:
    """Write a page for every paper that has something in the folder, and the gallery of all.

    `failing.md` has every claim that does not hold, and whose fault that is.
    """
    made = [
        (one, about)
        for one in catalogue().items.values()
        if (about := read(out / one.folder)) is not None
    ]
    for key in paper_keys():
        mine = [both for both in made if both[0].key == key]
        if mine:
            write_file(out / f"{key}.md", _page(key, mine).encode(), force=True)
    write_file(out / "gallery.md", _gallery(made).encode(), force=True)
    write_file(out / "failing.md", _failing(made).encode(), force=True)


def _page(key: str, made: list[tuple[Listed, dict[str, Any]]]) -> str:
    claims = [claim for _, about in made for claim in about["claims"]]
    fail = sum(not claim["holds"] for claim in claims)
    lines = [
        f"# {_title(key)}",
        "",
        f"{count(len(made), 'figure or table', 'figures and tables')}, "
        f"{count(len(claims), 'claim')}; "
        + (f"{fail} do not hold, and say why." if fail else "all of them hold."),
        "Everything on this page was written by the commands that stand in it.",
    ]
    for one, about in made:
        lines += ["", *_section(one, about)]
    return "\n".join(lines) + "\n"


def _title(key: str) -> str:
    title = re.search(r"^\s*title\s*= \{(.*?)\},$", bibtex().get(key, ""), re.S | re.M)
    return f"{key}: {' '.join(re.sub('[{}]', '', title.group(1)).split())}" if title else BEYOND


def _section(one: Listed, about: dict[str, Any]) -> list[str]:
    lines = [
        f"## {one.name}: {one.title}",
        "",
        f"{one.place}. `tacit reproduce {one.id}` ({_time(about)})",
        "",
        f"![{one.title}]({one.folder}/figure.png)",
        "",
        *([one.text, ""] if one.text else []),
        "| claim | paper | judged by | ours | |",
        "|---|---|---|---|---|",
    ]
    for claim in about["claims"]:
        verdict = "holds" if claim["holds"] else f"**does not hold** ({_whose(claim)})"
        said, criterion = number(claim["paper"]), claim.get("criterion", "")
        lines.append(_row(claim["text"], said, criterion, _measured(claim), verdict))
    for claim in about["claims"]:
        if not claim["holds"] and claim["finding"]:
            lines += ["", f"*{claim['text']}*: {claim['finding']}"]
    lines += ["", "<details><summary>Settings and departures</summary>", ""]
    lines += ["| setting | value | where it comes from |", "|---|---|---|"]
    for entry in about["settings"]:
        value = f"`{entry['value']}`"
        if entry["value"] != entry["default"]:
            value += f" instead of `{entry['default']}`"
        source = f"ours: {entry['place']}" if entry["ours"] else entry["place"]
        lines.append(_row(entry["name"], value, source))
    shown = {entry["name"] for entry in about["settings"]}
    own = [words for words in about["departures"] if words.partition(" = ")[0] not in shown]
    lines += ["", *(f"- {words}" for words in own), "", "</details>"]
    return lines


def _measured(claim: dict[str, Any]) -> str:
    """Our number, with its interval."""
    if claim["interval"] is None:
        return number(claim["ours"])
    low, high = claim["interval"]
    return f"{number(claim['ours'])} (99%: {number(low)} … {number(high)})"


def _whose(claim: dict[str, Any]) -> str:
    """Whose fault it is that a claim does not hold; open where nothing is said."""
    return claim.get("whose") or Whose.OPEN


def _failing(made: list[tuple[Listed, dict[str, Any]]]) -> str:
    """All claims that do not hold in one table, with the reasons."""
    claims = [(one, c) for one, about in made for c in about["claims"] if not c["holds"]]
    total = sum(len(about["claims"]) for _, about in made)
    lines = [
        "# What does not hold",
        "",
        f"Of {total} claims, {len(claims)} do not hold. Each was judged again: whose fault is it?",
        "",
        *(f"- **{word}**: {word.sentence}" for word in Whose),
        "",
        "What was our fault and is mended is no longer here; the changelog has it.",
        "",
        "| figure | claim | paper | judged by | ours | whose | why |",
        "|---|---|---|---|---|---|---|",
    ]
    for word in Whose:
        for one, claim in claims:
            if _whose(claim) == word:
                said, why = number(claim["paper"]), claim["finding"] or "No reason is known."
                words = claim["text"], said, claim.get("criterion", ""), _measured(claim)
                lines.append(_row(f"[{one.id}]({one.key}.md)", *words, word, why))
    return "\n".join(lines) + "\n"


def _time(about: dict[str, Any]) -> str:
    device = about.get("device", "cpu")
    return f"{about['seconds']:.0f} s" + ("" if device == "cpu" else f" on one {device}")


def _gallery(made: list[tuple[Listed, dict[str, Any]]]) -> str:
    lines = ["# Gallery", "", "Every figure and table, with the command that makes it.", ""]
    for one, about in made:
        hold = sum(claim["holds"] for claim in about["claims"])
        lines += [
            f"## [{one.id}]({one.key}.md)",
            "",
            f"{one.title}. {hold} of {len(about['claims'])} claims hold. "
            f"`tacit reproduce {one.id}`",
            "",
            f"![{one.title}]({one.folder}/figure.png)",
            "",
        ]
    return "\n".join(lines)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
