"""Every kind of limit can be drawn, and the picture shows what it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from helpers import refused, rest_long
from tacit import Dataset, Setting, load
from tacit.flow import Outcome, limit
from tacit.flow.path_measures import along
from tacit.plot import draw_limit
from tacit.plot.limits import fill
from tacit.plot.neuron_paths import NEAR, _cut_at

BOTH = Setting(width=6, train="both", init="balanced:1e-4")
FIRST = Setting(width=4, train="first", init="gaussian:1e-4", activation="leaky:0.3")
LIMITS = {
    "one dimension": ("linear:n=6,d=1", BOTH, None, -30.0),
    "two dimensions": ("orthogonal:n=8,d=2", BOTH, None, -100.0),
    "a bias coordinate": ("gaussians:n=8,d=2", BOTH, 1.0, -30.0),
    "more dimensions": ("gaussians:n=8,d=4", BOTH, None, -30.0),
    "one neuron": ("gaussians:n=8,d=3", replace(BOTH, width=1), None, -30.0),
    "one point": ("linear:n=1,d=2", BOTH, None, -30.0),
    "the first layer": ("gaussians:n=8,d=3", FIRST, None, -100.0),
    "a short path": ("gaussians:n=8,d=2", replace(BOTH, init="gaussian:1"), None, -0.5),
    "very deep": ("orthogonal:n=8,d=2", BOTH, None, -1e250),
    "three classes": ("orthogonal_classes:n=6,d=3", BOTH, None, -30.0),
    "never separated": ("xor", replace(BOTH, width=2), None, -30.0),
}


QUICK = {"one dimension", "two dimensions", "never separated"}


@pytest.mark.parametrize("kind", rest_long(LIMITS, QUICK))
def test_every_kind_of_limit_is_drawn(kind: str, tmp_path) -> None:
    text, setting, bias, log10_loss = LIMITS[kind]
    data = load(text, bias=bias)
    end = limit(data, setting, log10_loss=log10_loss)
    endings = {"two dimensions": (".png", ".svg"), "a bias coordinate": (".png", ".pdf")}
    for ending in endings.get(kind, (".png",)):
        path = tmp_path / f"picture{ending}"
        draw_limit(end, path)
        assert path.stat().st_size > 5000


def panels(result):
    figure = Figure()
    fill(figure, result)
    return {ax.get_title(): ax for ax in figure.axes}


def line(ax, start: str):
    (one,) = [line for line in ax.lines if str(line.get_label()).startswith(start)]
    return one


def words(ax) -> str:
    return " ".join(text.get_text() for text in ax.texts)


def test_moments_beyond_floating_point_are_not_drawn_at_one_point() -> None:
    """At log₁₀ L = −10²⁵¹, where the distance fell in a vertical line that no path has."""
    end = limit(Dataset(np.array([[1.0, 0.0], [1.0, 2e-4]]), np.array([1, -1])), BOTH)
    assert end.outcome.settled and end.path.last.beyond > 0
    ax = panels(end)
    across = line(ax["distance of the path from the limit"], "angle").get_xdata()
    assert across[-1] == pytest.approx(end.log10_depth) and (np.diff(across) > 0).all()
    across = line(ax["margin, normalised by the weights' norm"], "margin").get_xdata()
    assert across[-1] == pytest.approx(end.log10_depth) and (np.diff(across) > 0).all()
    (title,) = [title for title in ax if title.startswith("loss over the time")]
    assert end.path.last.loss_text() in title
    assert (np.diff(ax[title].lines[0].get_ydata()) < 0).all()


def test_the_panels_hold_the_limit_s_numbers() -> None:
    data = load("orthogonal:n=8,d=2")
    end = limit(data, BOTH, log10_loss=-100.0)
    assert end.outcome.settled
    ax = panels(end)
    points = ax["limit: data, output and decision boundary"]
    shown = np.concatenate(
        [item.get_xydata() for item in points.lines if item.get_label()[0] == "y"]
    )
    assert {tuple(x) for x in shown} == {tuple(x) for x in data.X}
    neurons = ax["direction of every neuron over time"]
    levels = [item.get_ydata()[0] for item in neurons.lines if item.get_color() == "black"
              and len(item.get_ydata())]  # fmt: skip
    angles = [np.degrees(np.arctan2(*group.direction[::-1])) for group in end.groups]
    assert sorted(np.mod(levels, 360)) == pytest.approx(sorted(np.mod(angles, 360)))
    ends = [item.get_ydata()[-1] for item in neurons.lines if len(item.get_ydata()) > 2]
    W = end.path.last.state.W
    angles = np.degrees(np.arctan2(W[:, 1], W[:, 0]))
    assert sorted(np.mod(ends, 360)) == pytest.approx(sorted(np.mod(angles, 360)))
    margins = ax["margin, normalised by the weights' norm"]
    measures = along(end.path)
    assert line(margins, "margin").get_ydata()[-1] == pytest.approx(measures.margin[-1])
    smooth = line(margins, "smoothed margin").get_ydata()
    assert smooth[-1] == pytest.approx(measures.smoothed_margin[-1]) and smooth[0] >= 0
    assert line(margins, "the limit's").get_ydata()[0] == end.margin
    assert line(margins, "widest").get_ydata()[0] == end.certificate.margin_bounds.lower
    (loss,) = ax["loss over the time of gradient flow"].lines
    assert loss.get_xydata()[-1] == pytest.approx(
        [measures.log10_time[-1], measures.log10_loss[-1]]
    )
    distance = line(ax["distance of the path from the limit"], "angle")
    assert distance.get_xydata()[-1] == pytest.approx(end.approach[-1] * [-1, 1])


def test_neurons_end_at_cosine_1_above_two_dimensions() -> None:
    data = load("gaussians:n=8,d=4")
    end = limit(data, BOTH, log10_loss=-100.0)
    assert end.outcome.settled
    ax = panels(end)["how near every neuron is to the direction it ends in"]
    lines = [item for item in ax.lines if len(item.get_xdata()) > 2]
    assert len(lines) == BOTH.width
    members = sum(group.size for group in end.groups)
    assert sum(item.get_ydata()[-1] > 0.99 for item in lines) >= members


def test_what_has_no_meaning_is_said_in_words() -> None:
    data = load("xor")
    end = limit(data, replace(BOTH, width=2), log10_loss=-30.0)
    assert not end.outcome.settled
    ax = panels(end)
    assert "never gives" in words(ax["margin, normalised by the weights' norm"])
    assert end.outcome in words(ax["distance of the path from the limit"])
    assert any(title.startswith("last moment: ") for title in ax)


def test_the_network_drawn_is_the_one_summed_up() -> None:
    data = load("orthogonal_classes:n=6,d=3")
    end = limit(data, BOTH, log10_loss=-30.0)
    none = {"groups": (), "network": None, "kkt": None, "certificate": None, "fitted_rate": None}
    lost = replace(end[1], outcome=Outcome.UNDECIDED, approach=np.zeros((0, 2)), **none)
    end = replace(end, each=(end[0], lost, end[2]))
    figure = Figure()
    fill(figure, end)
    said = figure.get_suptitle()
    assert "class 1 against the rest" in said or not end[0].outcome.settled
    assert "one of 3 networks" in said


@pytest.mark.parametrize("ends", [(0.0, 180.0), (-100.0, 20.0), (-180.0, -90.0, 0.0, 90.0)])
def test_the_circle_is_cut_where_no_neuron_ends(ends: tuple[float, ...]) -> None:
    cut = _cut_at(np.array(ends))
    assert all(NEAR < (end - cut) % 360 < 360 - NEAR for end in ends)


def test_other_endings_are_refused(tmp_path) -> None:
    refused(lambda: draw_limit(None, tmp_path / "picture.gif"), "must end in .png")
