"""A region in which the output is exactly 0 belongs to neither class, and is drawn so."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tacit import Dataset, Network, Setting, limit, load, plot
from tacit.plot.limits import fill
from tacit.plot.plane import network_outputs


def test_the_region_of_output_0_is_grey_and_no_boundary_runs_around_it() -> None:
    end = limit("orthogonal:n=20,d=2", Setting(width=20), log10_loss=-30.0)
    figure = Figure()
    fill(figure, end)
    (ax,) = [ax for ax in figure.axes if ax.get_title().startswith("limit: ")]
    assert "output 0" in [text.get_text() for text in ax.get_legend().get_texts()]
    network = end.network
    boundaries = [item for item in ax.collections if not getattr(item, "filled", True)]
    points = np.vstack([path.vertices for item in boundaries for path in item.get_paths()])
    angles = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))
    for turn in (-0.05, 0.05):  # on either side of the line drawn the outputs have opposite signs
        near = np.column_stack([np.cos(angles + turn), np.sin(angles + turn)])
        far = np.linalg.norm(points, axis=1) > 0.1 * np.abs(points).max()
        assert len(set(np.sign(network.outputs(near[far])))) == 1
        assert (network.outputs(near[far]) != 0).all()


def test_the_boundary_beside_a_wedge_of_output_0_is_straight_to_its_tip() -> None:
    network = Network([[np.cos(2.2), np.sin(2.2)], [np.cos(-0.6), np.sin(-0.6)]], [1.0, -1.0])
    data = load([[1.0, -0.5], [-0.5, 1.0]], [-1, 1])
    ax = plot.network(network, data, Figure().subplots())
    lines = [item for item in ax.collections if not getattr(item, "filled", True)]
    points = np.vstack([path.vertices for item in lines for path in item.get_paths()])
    cell = 2 * 1.15 / 400
    ray = np.array([np.cos(0.8), np.sin(0.8)])  # where both neurons have one output
    away = np.abs(points @ [-ray[1], ray[0]])
    assert len(points) > 100 and away.max() < 0.05 * cell
    assert (points @ ray).min() > -cell


def test_the_grid_of_a_wide_network_is_coarser(monkeypatch) -> None:
    """Outputs of two million neurons on the finest grid would take minutes."""
    width, many = 2_000_000, []

    def outputs(_: Network, X: np.ndarray) -> np.ndarray:
        many.append(len(X))
        return X[:, 0]

    monkeypatch.setattr(Network, "outputs", outputs)
    data = Dataset([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    network_outputs(Network(np.ones((width, 2)), np.ones(width)), data)
    assert 100 < many[0] and many[0] * width < 1.2e9
