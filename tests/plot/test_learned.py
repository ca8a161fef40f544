"""Every kind of run can be drawn, and the picture shows what the run holds."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from helpers import rest_long
from tacit import BadInput, Setting, load
from tacit.plot import draw_run
from tacit.plot.learned import _neurons, fill
from tacit.training import train

RUNS = {
    "one dimension": ("linear:n=8,d=1", Setting(width=4), None),
    "two dimensions": ("orthogonal:n=12,d=2", Setting(width=6), None),
    "a bias coordinate": ("gaussians:n=12,d=2", Setting(width=6), 1.0),
    "more dimensions": ("orthogonal:n=12,d=5", Setting(width=6), None),
    "one neuron": ("orthogonal:n=12,d=5", Setting(width=1), None),
    "one point": ("linear:n=1,d=3", Setting(width=2), None),
    "fixed output layer": ("xor", Setting(train="first", width=4, loss="hinge"), None),
    "patches": ("xord:n=8,d=4", Setting(model="conv_max_pool", width=4, loss="hinge:5"), None),
    "a deep net": ("orthogonal:n=12,d=3", Setting(model="residual:3", width=4), None),
    "three classes": ("orthogonal_classes:n=12,d=3", Setting(width=4), None),
    "a dead net": ("digits:classes=3/5,n=20", Setting(width=4, lr=100), None),
    "no loss left": ("orthogonal:n=12,d=2", Setting(width=4, step="scaled", lr=0.5), None),
}


QUICK = ["patches", "three classes"]


def drawn(kind, path):
    text, setting, bias = RUNS[kind]
    draw_run(train(load(text, bias=bias), setting, epochs=60, record=6), path)
    assert path.stat().st_size > 5000


@pytest.mark.parametrize("kind", rest_long(RUNS, QUICK))
def test_every_kind_of_run_is_drawn(kind, tmp_path):
    drawn(kind, tmp_path / "picture.png")


@pytest.mark.parametrize("ending", [".svg", ".pdf"])
@pytest.mark.parametrize("kind", rest_long(RUNS, ["two dimensions"]))
def test_every_format_is_written(kind, ending, tmp_path):
    drawn(kind, tmp_path / f"picture{ending}")


def test_the_panels_hold_the_run_s_numbers():
    data = load("orthogonal:n=30,d=2")
    run = train(data, Setting(width=8), epochs=200, record=10)
    figure = Figure()
    fill(figure, run)
    points, neurons, way = figure.axes[:3]
    shown = np.concatenate(
        [line.get_xydata() for line in points.lines if line.get_label()[0] == "y"]
    )
    assert {tuple(x) for x in shown} == {tuple(x) for x in data.X}
    (loss,) = [line for line in way.lines if line.get_label() == "log₁₀ loss"]
    assert loss.get_ydata() == pytest.approx(run.measures["log_loss"][:, 0] / np.log(10))
    assert len(neurons.lines) == 8


def test_other_endings_are_refused(tmp_path):
    run = train(load("xor"), Setting(width=2), epochs=1)
    with pytest.raises(BadInput, match="must end in .png"):
        draw_run(run, tmp_path / "picture.gif")


def test_no_legend_covers_what_is_drawn_and_every_neuron_has_a_mark() -> None:
    """Legends lay over the curves and the dots, and 69 neurons looked like two lines."""
    data = load("orthogonal:n=100,d=2")
    run = train(data, Setting(width=100), epochs=300, record=10)
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    fill(figure, run)
    figure.draw_without_rendering()
    _, neurons, way = figure.axes[:3]
    for ax in (neurons, way):
        assert not ax.get_legend().get_window_extent().overlaps(ax.bbox)
    rings = [one for one in neurons.collections if str(one.get_label()).startswith("a ")]
    a = run.params["a"][0]
    words = [f"a > 0: {(a > 0).sum()} neurons", f"a < 0: {(a < 0).sum()} neurons"]
    assert [str(one.get_label()) for one in rings] == words
    assert [len(one.get_offsets()) for one in rings] == [(a > 0).sum(), (a < 0).sum()]
    assert way.lines[0].get_xdata()[0] == 0


def test_neurons_of_a_run_that_diverges_are_drawn() -> None:
    """Their squares overflow, and so do products of the layers: a warning came to the terminal."""
    W, a = 1e200 * np.array([[1.0, 0.0], [0.0, -2.0]]), 1e200 * np.array([1.0, -1.0])
    ax = Figure().subplots()
    _neurons(ax, np.eye(2), W, a, ("x", "y"))
    assert [line.get_xydata()[1].tolist() for line in ax.lines] == [[0.5, 0.0], [0.0, -1.0]]
