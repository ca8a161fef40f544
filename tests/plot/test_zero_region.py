"""A region in which the output is exactly 0 belongs to neither class, and is drawn so."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tacit import Setting, limit
from tacit.plot.limits import fill


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
