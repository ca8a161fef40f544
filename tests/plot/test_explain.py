"""Pictures of an explanation: valid, complete, and the marks are where the numbers are."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from helpers import rest_long
from tacit import Dataset, Setting, load
from tacit.explanation import Part
from tacit.explanation.explanation import explain
from tacit.flow import limit
from tacit.plot import explanation_pictures
from tacit.plot.explanations import predicted, svg
from tacit.plot.neuron_circle import neurons
from tacit.plot.plane import FEW_ROWS, MINUS, PLUS, plane

NAMES = ["boundary", "neurons", "turning", "margins", "loss", "distance"]
BOTH = Setting(width=8, train="both", init="balanced:1e-4", rule="flow")
LIMITS = {
    "one dimension": ("linear:n=6,d=1", BOTH, None),
    "a bias coordinate": ("gaussians:n=8,d=2", BOTH, 1.0),
    "many dimensions": ("gaussians:n=20,d=50", BOTH, None),
    "one neuron and one point": ("linear:n=1,d=3", replace(BOTH, width=1), None),
    "no limit": ("xor", replace(BOTH, width=2), None),
}
QUICK = ["one dimension", "no limit"]


@pytest.mark.parametrize("kind", rest_long(LIMITS, QUICK))
def test_every_picture_is_svg(kind: str) -> None:
    text, setting, bias = LIMITS[kind]
    end = limit(load(text, bias=bias), setting, log10_loss=-30.0)
    drawn = explanation_pictures(Part("", end, ()))
    nothing = {"turning"} if kind == "one dimension" else set()
    if not end.outcome.settled:
        nothing = {"margins", "distance"}
    assert list(drawn) == [name for name in NAMES if name not in nothing]
    for picture in drawn.values():
        assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
        assert b"<script" not in picture and len(picture) < 2_000_000


@pytest.fixture(scope="module")
def part() -> Part:
    return explain(load("orthogonal:n=8,d=2"), BOTH, only=("lyu2021:thmH.2",)).worst


def test_pictures_are_the_same_each_time() -> None:
    def draw(ax: Axes) -> Axes:
        ax.plot([0, 1], [1, 0])
        return ax

    assert svg((4, 3), draw) == svg((4, 3), draw)


def test_predicted_directions_are_marked_and_named(part: Part) -> None:
    figure = Figure()
    ax = figure.add_subplot()
    assert neurons(part.limit, ax, predicted(part.verdicts)) is ax
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    said = part.verdicts[0].prediction
    assert said is not None and len(said.directions) == len(hollow) == 2
    for (sign, u), line in zip(said.directions, hollow, strict=True):
        assert line.get_xydata()[0] == pytest.approx(u)
        assert to_hex(line.get_markeredgecolor()) == (PLUS if sign > 0 else MINUS)
    (legend,) = figure.legends
    assert "predicted by lyu2021:thmH.2" in [text.get_text() for text in legend.get_texts()]


def test_theorems_that_name_the_same_share_a_mark(part: Part) -> None:
    (one,) = part.verdicts
    assert one.prediction is not None
    turned = replace(
        one.prediction, directions=tuple((s, u[::-1]) for s, u in one.prediction.directions)
    )
    marks = predicted([one, one, replace(one, prediction=turned)])
    assert [ids for ids, _ in marks] == ["lyu2021:thmH.2, lyu2021:thmH.2", "lyu2021:thmH.2"]


def test_above_two_dimensions_the_two_heaviest_span_the_plane() -> None:
    end = limit(load("orthogonal:n=8,d=5"), BOTH, log10_loss=-30.0)
    assert len(end.groups) == 2
    ax = Figure().add_subplot()
    neurons(end, ax)
    ends = [path.vertices[1] for path in ax.collections[-2].get_paths()]
    assert np.linalg.norm(ends, axis=1) == pytest.approx(1.0) and len(ends) == 2
    assert "projected" in ax.get_title() and "heaviest" in ax.get_xlabel()


def test_many_neurons_are_few_artists() -> None:
    """A thousand lines took a second and a half of `--seconds 3`."""
    end = limit(load("gaussians:n=30,d=5"), Setting(rule="flow", width=400), seconds=0.1)
    ax = Figure().add_subplot()
    neurons(end, ax)
    assert len(ax.get_children()) < 30  # also where the path ended in groups


def test_of_many_neurons_only_the_first_directions_are_computed(rng, monkeypatch) -> None:
    """All singular vectors of 2,000 neurons in 2,000 dimensions took 3 s, twice in a report."""
    n, svd = FEW_ROWS + 50, np.linalg.svd
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    for scale in (1.0, 1e-200, 1e200):
        W = scale * (turn * 0.8 ** np.arange(n)) @ np.linalg.qr(rng.normal(size=(n, n)))[0]
        whole = svd(W)[2][:2]
        data = Dataset(rng.normal(size=(3, n)), np.array([1, -1, 1]))
        with monkeypatch.context() as patch:
            patch.setattr(np.linalg, "svd", lambda A, **k: svd(A, **k) if min(A.shape) < 20 else 0)
            basis = plane(data, W).basis
        assert np.abs((basis * whole).sum(axis=1)) == pytest.approx(1.0, rel=1e-6)
        assert basis @ basis.T == pytest.approx(np.eye(2), abs=1e-12)
