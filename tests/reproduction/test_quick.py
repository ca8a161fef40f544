"""Every figure and table, quickly: its files, its claims, and that a claim that fails says why."""

import json

import pytest

from tacit.files import read_npz
from tacit.reproduction import artefacts
from tacit.reproduction.making import make


@pytest.mark.slow
@pytest.mark.parametrize("artefact", artefacts().values(), ids=list(artefacts()))
def test_it_comes_out_as_the_docs_say(artefact, tmp_path):
    made = make(artefact, artefact.choose(quick=True), tmp_path, tell=print)
    names = {"caption.txt", "claims.json", "data.npz", "figure.png", "figure.svg"}
    assert {path.name for path in made.folder.iterdir()} == names
    assert (made.folder / "figure.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert b"<svg" in (made.folder / "figure.svg").read_bytes()[:2000]
    assert read_npz(made.folder / "data.npz")
    assert json.loads((made.folder / "claims.json").read_text("utf-8"))["claims"] == made.claims
    assert made.claims
    assert len({claim["id"] for claim in made.claims}) == len(made.claims)
    for claim in made.claims:
        assert claim["holds"] or claim["finding"], claim
