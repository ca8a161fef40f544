"""Every figure and table at its quick size: its files, its claims, why a claim fails.

Those that take about a second are part of `make test`; all others are long.
"""

import json

import pytest

from helpers import rest_long
from tacit.files import read_npz
from tacit.reproduction import artefacts
from tacit.reproduction.making import make

FAST = {
    "brutzkus2019:fig2",
    "lyu2021:fig1",
    "sarussi2021:fig3",
    "wang2022:fig2",
    "wang2022:numbers",
}


@pytest.mark.parametrize("name", rest_long(artefacts(), FAST))
def test_it_comes_out_as_the_docs_say(name, tmp_path):
    artefact = artefacts()[name]
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
