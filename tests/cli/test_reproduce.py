"""`tacit reproduce` and `tacit list figures` from the command line."""

import contextlib
import json
import os
import re
import subprocess
import sys
import textwrap
from importlib import import_module

import pytest

import tacit.papers
from tacit.cli import main
from tacit.reproduction import artefacts
from tacit.reproduction.listing import catalogue
from tacit.theorems.bibliography import bibtex
from tacit.values import discovery

PAPER = {
    "__init__.py": "",
    "figures/__init__.py": """
        from tacit.reproduction.artefact import Paper

        PAPER = Paper("toy2021", fig1="lines", fig2="missing")
        MADE = []
    """,
    "figures/settings.py": """
        from dataclasses import dataclass

        from tacit.reproduction.artefact import Settings, ours, paper

        @dataclass(frozen=True)
        class Toy(Settings):
            n: int = paper(100, "§1")
            scale: float = ours(0.5, "any will do")
            widths: tuple[int, ...] = paper((2, 4), "§1")
    """,
    "figures/lines.py": """
        from tacit.papers.toy2021.figures import MADE, PAPER
        from tacit.papers.toy2021.figures.settings import Toy
        from tacit.plot import new_figure
        from tacit.reproduction.artefact import Exhibit
        from tacit.reproduction.claims import at_most

        @PAPER.artefact("fig1", "Figure 1", Toy, quick={"n": 10})
        def fig1(s, tell):
            '''A line.'''
            MADE.append(s)
            figure, ((ax,),) = new_figure()
            ax.plot([0, 1], [0, s.scale])
            return Exhibit((at_most("small", "n is small", s.n, 50),), figure, {"n": [s.n]})
    """,
    "figures/missing.py": """
        from tacit.papers.toy2021.figures import PAPER
        from tacit.papers.toy2021.figures.settings import Toy
        from tacit.values import BadInput

        @PAPER.artefact("fig2", "Figure 2", Toy, quick={"n": 10})
        def fig2(s, tell):
            '''Needs what is not here.'''
            if s.n == 13:
                raise KeyboardInterrupt
            raise BadInput("MNIST is not here")
    """,
}
"""A paper is a folder: nothing else has to be told about it."""


TOYS = ("tacit.papers.toy2021", "tacit.papers.bad2020")


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
        path.write_bytes(whole)


def forget():
    for cached in (discovery.paper_keys, catalogue, bibtex):
        cached.cache_clear()
    for name in [name for name in sys.modules if name.startswith(TOYS)]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def papers(tmp_path, monkeypatch):
    """The folder of papers, with one toy in it."""
    folder = tmp_path / "papers"
    write(folder / "toy2021", PAPER)
    monkeypatch.setattr(tacit.papers, "__path__", [str(folder)])
    monkeypatch.setattr(discovery, "FOLDER", folder)
    monkeypatch.chdir(tmp_path)
    forget()
    yield folder
    forget()


def made():
    """The settings of the lines that were drawn."""
    return import_module("tacit.papers.toy2021.figures").MADE


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_every_figure_and_table_is_there(monkeypatch):
    """The ids that scripts rely on, and no paper without its own; read and imported alike."""
    monkeypatch.undo()
    forget()
    names = {
        "sarussi2021": [*(f"fig{i}" for i in range(1, 10)), "thm41"],
        "phuong2021": ["fig1", "fig2", "fig3", "fig4"],
        "lyu2021": ["fig1", "fig2", "fig3", "table1", "fig4"],
        "brutzkus2019": [f"fig{i}" for i in range(1, 9)],
        "wang2022": [*(f"fig{i}" for i in range(1, 11)), "numbers", "three_classes", "thm2"],
        "beyond": ["exact", "phase", "global", "hinted"],
    }
    wanted = {f"{key}:{name}" for key, ids in names.items() for name in ids}
    listed, loaded = catalogue().items, artefacts()
    assert wanted <= set(listed) and not catalogue().unreadable
    assert list(loaded) == list(listed)
    for id, one in listed.items():
        assert one.title and one.place
        assert (one.title, one.place) == (loaded[id].title, loaded[id].place)


def test_claims_pictures_pages_and_exit_codes(capsys, tmp_path):
    code, out, _ = run(capsys, "reproduce", "toy2021:fig1", "--quick")
    assert code == 0 and "holds" in out and "n = 10 (paper: 100)" in out
    assert "scale = 0.5: ours, any will do" in out
    folder = tmp_path / "figures" / "toy2021-fig1"
    assert sorted(path.name for path in folder.iterdir()) == [
        "caption.txt",
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


def test_claims_are_beside_the_picture_and_in_it_only_if_asked_for(capsys, tmp_path):
    folder = tmp_path / "figures" / "toy2021-fig1"
    run(capsys, "reproduce", "toy2021:fig1", "--quick")
    clean = (folder / "figure.png").read_bytes()
    assert (folder / "caption.txt").read_text("utf-8") == (
        "toy2021:fig1 (Figure 1)\n✓ n is small: 10, paper: not stated, judged by ≤ 50\n"
    )
    run(capsys, "reproduce", "toy2021:fig1", "--quick", "--captions")
    height = slice(20, 24)  # of a PNG, in its header
    assert clean[height] < (folder / "figure.png").read_bytes()[height]
    assert len(made()) == 2
    run(capsys, "reproduce", "toy2021:fig1", "--quick")
    assert (folder / "figure.png").read_bytes() == clean


def screen_of(text):
    """What a terminal shows in the end: lines are overwritten, erased and gone back to."""
    lines, row = [""], 0
    for part in re.split(r"(\r|\n|\x1b\[[0-9;?]*[A-Za-z])", text):
        if part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif part.endswith("A") and part.startswith("\x1b"):
            row -= int(part[2:-1] or 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part and part[0] not in "\r\x1b":
            lines[row] += part
    return lines


def test_no_bar_is_left_on_a_terminal(tmp_path):
    import pty

    leader, follower = pty.openpty()
    words = ["reproduce", "wang2022:fig2", "wang2022:fig8", "--quick", "--out", str(tmp_path / "o")]
    run = subprocess.Popen(
        [sys.executable, "-m", "tacit", *words], stdout=follower, stderr=follower
    )
    os.close(follower)
    chunks = []
    with contextlib.suppress(OSError):  # which is how the end is told
        while chunk := os.read(leader, 1 << 16):
            chunks.append(chunk)
    os.close(leader)
    text = b"".join(chunks).decode()
    assert run.wait() == 1 and "━" in text
    shown = screen_of(text)
    assert sum("holds" in line for line in shown) == 7 and not any("━" in line for line in shown)


def test_a_list_imports_nothing_heavy():
    code = "import sys; from tacit.cli import main; main(['list', 'figures'])"
    check = (
        "; sys.exit(', '.join({'jax', 'scipy', 'sklearn', 'matplotlib'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code + check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "wang2022:fig10" in done.stdout


BROKEN = {
    "syntax": ({"figures.py": "def"}, "papers/bad2020/figures.py, line 1: "),
    "no place": (
        {"figures.py": "@PAPER.artefact(NAME)\ndef fig1(s, tell): ..."},
        "@PAPER.artefact of fig1 must begin with its name and place",
    ),
    "contents": ({"figures/__init__.py": "PAPER = Paper('bad2020', fig1='one')"}, "fig1 must be"),
    "bytes": ({"figures.py": "é".encode("latin-1")}, "papers/bad2020/figures.py: "),
    "import": (
        {"figures.py": "import nowhere\n@PAPER.artefact('fig1', '')\ndef fig1(s, tell): ..."},
        "bad2020:fig1 cannot be imported (ModuleNotFoundError",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_one_bad_paper_is_one_line_and_the_others_are_there(capsys, papers, case):
    files, said = BROKEN[case]
    write(papers / "bad2020", {"__init__.py": "", **files})
    code, out, err = run(capsys, "list", "figures")
    assert code == 0 and "toy2021:fig1" in out
    if case != "import":  # which is seen only when it is tried
        assert said in err and err.count("\n") == 1
    code, out, err = run(capsys, "reproduce", "toy2021:fig1", "--quick")
    assert code == 0 and err == ""
    code, out, err = run(capsys, "reproduce", "bad2020", "toy2021:fig1", "--quick")
    assert code == 2 and said in err and err.count("\n") == 1 and "holds" in out
    for name in ("bad2020", "bad2020:fig1"):
        code, out, err = run(capsys, "reproduce", name)
        assert code == 2 and said in err and err.count("\n") == 1 and out == ""


def test_what_is_there_is_not_made_again(capsys, tmp_path):
    call = ("reproduce", "toy2021:fig1", "--quick")
    run(capsys, *call)
    code, out, _ = run(capsys, *call)
    assert code == 0 and len(made()) == 1 and "made earlier" in out
    run(capsys, *call, "--seed", 3)
    run(capsys, *call, "--seed", 3, "--again")
    assert [s.seed for s in made()] == [0, 3, 3]
    (tmp_path / "figures" / "toy2021-fig1" / "figure.svg").unlink()
    run(capsys, *call, "--seed", 3)
    (tmp_path / "figures" / "toy2021-fig1" / "claims.json").write_text('{"claims": 3, "mark": ')
    run(capsys, *call, "--seed", 3)
    assert len(made()) == 5


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


def test_a_file_where_the_folder_should_be_is_said_once_and_first(capsys, tmp_path):
    (tmp_path / "file").touch()
    code, out, err = run(capsys, "reproduce", "all", "--out", str(tmp_path / "file"))
    assert code == 2 and out == "" and err.count("\n") == 1 and "is a file" in err


def test_an_interrupt_keeps_what_is_finished(capsys, tmp_path):
    code, _, _ = run(capsys, "reproduce", "all", "--set", "n=13")
    assert code == 130
    assert "toy2021-fig1" in (tmp_path / "figures" / "gallery.md").read_text("utf-8")


def test_settings_can_be_changed(capsys):
    changes = ("--set", "n=7", "--set", "widths=8,16", "--set", "scale=1e-3")
    run(capsys, "reproduce", "toy2021:fig1", *changes, "--seed", 5)
    assert [(s.seed, s.n, s.scale, s.widths) for s in made()] == [(5, 7, 1e-3, (8, 16))]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reproduce"], "name a figure"),
        (["reproduce", "toy2021:fig3"], "did you mean"),
        (["reproduce", "toy2021:fig1", "--set", "m=7"], "no setting 'm'"),
        (["reproduce", "toy2021:fig1", "--set", "n=seven"], "n=seven"),
        (["reproduce", "toy2021:fig1", "--set", "n"], "NAME=VALUE"),
        (["reproduce", "toy2021:fig1", "--set", "out=here"], "no setting"),
    ],
)
def test_bad_input_is_one_line(capsys, words, said):
    code, out, err = run(capsys, *words)
    assert code == 2 and out == "" and said in err and err.count("\n") == 1
    assert not made()


def test_a_folder_of_somebody_else_is_left_alone(capsys, tmp_path):
    theirs = tmp_path / "figures" / "toy2021-fig1"
    theirs.mkdir(parents=True)
    (theirs / "thesis.txt").write_text("mine")
    code, _, err = run(capsys, "reproduce", "toy2021:fig1", "--quick")
    assert code == 2 and "not written by tacit" in err
    assert (theirs / "thesis.txt").read_text() == "mine"
    assert not made()  # it was said before the work, not after it
