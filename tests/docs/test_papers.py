"""docs/papers holds every figure and table, and its pages are those of the claims beside them.

`tacit reproduce all --out docs/papers` makes all of it anew.
"""

import json
from pathlib import Path

import pytest

from tacit.reproduction import artefacts
from tacit.reproduction.artefact import Whose, entries
from tacit.reproduction.pages import write_pages
from tacit.values.discovery import paper_keys
from tacit.values.jsonable import plain

PAGES = Path(__file__).parents[2] / "docs" / "papers"


@pytest.mark.parametrize("artefact", artefacts().values(), ids=list(artefacts()))
def test_every_figure_is_there_in_full_and_says_what_it_found(artefact):
    folder = PAGES / artefact.folder
    assert (folder / "figure.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    about = json.loads((folder / "claims.json").read_text("utf-8"))
    assert (about["title"], about["place"]) == (artefact.title, artefact.place)
    assert about["settings"] == plain([entry._asdict() for entry in entries(artefact.settings())])
    assert about["claims"]
    for claim in about["claims"]:
        assert claim["holds"] or (claim["finding"] and Whose(claim["whose"])), claim
        assert claim["holds"] or claim["paper"] != "not stated", "no paper's claim: not a failure"


def test_the_pages_are_written_from_the_claims(tmp_path):
    for artefact in artefacts().values():
        folder = tmp_path / artefact.folder
        folder.mkdir()
        claims = (PAGES / artefact.folder / "claims.json").read_bytes()
        (folder / "claims.json").write_bytes(claims)
    write_pages(tmp_path)
    for name in (*paper_keys(), "gallery", "failing"):
        written = (PAGES / f"{name}.md").read_text("utf-8")
        assert written == (tmp_path / f"{name}.md").read_text("utf-8")
