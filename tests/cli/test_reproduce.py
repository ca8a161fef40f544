"""`tacit reproduce` and `tacit list figures` from the command line."""

import json
from dataclasses import dataclass

import pytest

from tacit import BadInput
from tacit.cli import _run
from tacit.plot import new_figure
from tacit.reproduction import artefacts
from tacit.reproduction.artefact import Paper, Result, Settings, ours, paper
from tacit.reproduction.claims import at_most

TOY = Paper("toy2021")
MADE = []
ALL = artefacts()


@dataclass(frozen=True)
class Toy(Settings):
    n: int = paper(100, "§1")
    scale: float = ours(0.5, "any will do")
    widths: tuple[int, ...] = paper((2, 4), "§1")


@TOY.artefact("fig1", "Figure 1", Toy, quick={"n": 10})
def fig1(s, tell):
    """A line."""
    MADE.append(s)
    figure, ((ax,),) = new_figure()
    ax.plot([0, 1], [0, s.scale])
    return Result((at_most("small", "n is small", s.n, 50),), figure, {"n": [s.n]})


@TOY.artefact("fig2", "Figure 2", Toy, quick={"n": 10})
def fig2(s, tell):
    """Needs what is not here."""
    if s.n == 13:
        raise KeyboardInterrupt
    raise BadInput("MNIST is not here")


@pytest.fixture(autouse=True)
def toy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = {one.id: one for one in TOY.artefacts.values()}
    for place in ("tacit.reproduction", "tacit.reproduction.pages"):
        monkeypatch.setattr(f"{place}.artefacts", lambda: known)
        monkeypatch.setattr(f"{place}.paper_keys", lambda: ("toy2021",))
    MADE.clear()


def run(capsys, *words):
    code = _run([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_every_figure_and_table_is_there():
    """The ids that scripts rely on, and no paper without its own."""
    names = {
        "sarussi2021": [*(f"fig{i}" for i in range(1, 10)), "thm41"],
        "phuong2021": ["fig1", "fig2", "fig3", "fig4"],
        "lyu2021": ["fig1", "fig2", "fig3", "table1", "fig4"],
        "brutzkus2019": [f"fig{i}" for i in range(1, 9)],
        "wang2022": [*(f"fig{i}" for i in range(1, 11)), "numbers", "three_classes", "thm2"],
        "beyond": ["exact", "phase", "global", "hinted"],
    }
    wanted = {f"{key}:{name}" for key, ids in names.items() for name in ids}
    assert wanted <= set(ALL)
    assert all(one.title and one.place for one in ALL.values())


def test_claims_pictures_pages_and_exit_codes(capsys, tmp_path):
    code, out, _ = run(capsys, "reproduce", "toy2021:fig1", "--quick")
    assert code == 0 and "holds" in out and "n = 10 (paper: 100)" in out
    assert "scale = 0.5: ours, any will do" in out
    made = tmp_path / "figures" / "toy2021-fig1"
    assert sorted(path.name for path in made.iterdir()) == [
        "claims.json",
        "data.npz",
        "figure.png",
        "figure.svg",
    ]
    page = (tmp_path / "figures" / "toy2021.md").read_text("utf-8")
    assert "toy2021-fig1/figure.png" in page and "tacit reproduce toy2021:fig1" in page
    assert "toy2021:fig1" in (tmp_path / "figures" / "gallery.md").read_text("utf-8")
    code, out, _ = run(capsys, "reproduce", "toy2021:fig1", "--json")
    (claim,) = json.loads(out)["claims"]
    assert code == 1 and claim["holds"] is False
    assert {"id", "paper", "ours", "holds", "departures"} <= set(claim)
    assert claim["ours"] == 100 and claim["departures"] == ["scale = 0.5: ours, any will do"]


def test_what_is_there_is_not_made_again(capsys, tmp_path):
    call = ("reproduce", "toy2021:fig1", "--quick")
    run(capsys, *call)
    code, out, _ = run(capsys, *call)
    assert code == 0 and len(MADE) == 1 and "made earlier" in out
    run(capsys, *call, "--seed", 3)
    run(capsys, *call, "--seed", 3, "--again")
    assert [s.seed for s in MADE] == [0, 3, 3]
    (tmp_path / "figures" / "toy2021-fig1" / "figure.svg").unlink()
    run(capsys, *call, "--seed", 3)
    (tmp_path / "figures" / "toy2021-fig1" / "claims.json").write_text('{"claims": 3, "mark": ')
    run(capsys, *call, "--seed", 3)
    assert len(MADE) == 5


CLAIMS = {"id": "a", "text": "", "paper": 1, "ours": 1, "holds": True, "finding": ""}
ABOUT = {"id": "toy2021:fig2", "title": "", "place": "", "departures": [], "settings": []}


@pytest.mark.parametrize(
    "claims",
    [
        b"\xff",
        b"[" * 10**5,
        b'{"claims": 3}',
        json.dumps({**ABOUT, "seconds": 1.0, "claims": [3]}).encode(),
        json.dumps({**ABOUT, "seconds": 1.0, "claims": [{**CLAIMS, "interval": "ab"}]}).encode(),
        json.dumps({**ABOUT, "seconds": 1.0, "claims": [{**CLAIMS, "interval": [1]}]}).encode(),
        json.dumps({**ABOUT, "seconds": "long", "claims": []}).encode(),
        json.dumps({**ABOUT, "seconds": 1.0, "settings": [1], "claims": []}).encode(),
    ],
)
def test_claims_that_are_not_ours_are_passed_over(capsys, tmp_path, claims):
    other = tmp_path / "figures" / "toy2021-fig2"
    other.mkdir(parents=True)
    (other / "claims.json").write_bytes(claims)
    code, _, err = run(capsys, "reproduce", "toy2021:fig1", "--quick")
    assert code == 0, err
    assert "fig2" not in (tmp_path / "figures" / "toy2021.md").read_text("utf-8")


def test_what_cannot_be_made_is_said_and_the_rest_is_made(capsys, tmp_path):
    code, out, err = run(capsys, "reproduce", "all", "--quick")
    assert code == 2 and "toy2021:fig2 was left out: MNIST is not here" in err
    assert "holds" in out and (tmp_path / "figures" / "toy2021.md").exists()
    code, out, err = run(capsys, "reproduce", "toy2021:fig2", "--quick")
    assert code == 2 and err.count("\n") == 1


def test_an_interrupt_keeps_what_is_finished(capsys, tmp_path):
    code, _, _ = run(capsys, "reproduce", "all", "--set", "n=13")
    assert code == 130
    assert "toy2021-fig1" in (tmp_path / "figures" / "gallery.md").read_text("utf-8")


def test_settings_can_be_changed(capsys):
    changes = ("--set", "n=7", "--set", "widths=8,16", "--set", "scale=1e-3")
    run(capsys, "reproduce", "toy2021:fig1", *changes, "--seed", 5)
    assert MADE == [Toy(seed=5, n=7, scale=1e-3, widths=(8, 16))]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reproduce"], "name a figure"),
        (["reproduce", "toy2021:fig3"], "did you mean"),
        (["reproduce", "toy2021:fig1", "--set", "m=7"], "no setting 'm'"),
        (["reproduce", "toy2021:fig1", "--set", "n=seven"], "n=seven"),
        (["reproduce", "toy2021:fig1", "--set", "n"], "NAME=VALUE"),
    ],
)
def test_bad_input_is_one_line(capsys, words, said):
    code, out, err = run(capsys, *words)
    assert code == 2 and out == "" and said in err and err.count("\n") == 1
    assert not MADE


def test_a_folder_of_somebody_else_is_left_alone(capsys, tmp_path):
    theirs = tmp_path / "figures" / "toy2021-fig1"
    theirs.mkdir(parents=True)
    (theirs / "thesis.txt").write_text("mine")
    code, _, err = run(capsys, "reproduce", "toy2021:fig1", "--quick")
    assert code == 2 and "not written by tacit" in err
    assert (theirs / "thesis.txt").read_text() == "mine"
    assert not MADE  # it was said before the work, not after it
