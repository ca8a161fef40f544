"""What a run learned: the decision boundary, the neurons before and after, and the way there."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit._jax import jnp
from tacit.messages import count, printable
from tacit.models import model_text
from tacit.models.initialisations import Embedding, FromFile, initial_weights
from tacit.plot.axes import SMALL, draws, own_axes
from tacit.plot.plane import MINUS, PLUS, boundary, plane
from tacit.training.runs import Run
from tacit.values import Dataset

MOST_ENTRIES = 10**7
"""Coordinates of points whose outputs are computed together."""


def fill(figure: Figure, run: Run) -> None:
    """Draw three panels of the first member of the run."""
    left, middle, right = figure.subplots(1, 3)
    seed, k = run.members[0]
    kind = "" if k is None else f", class {run.data.classes[k]} against the rest"
    figure.suptitle(
        f"{printable(run.data.name + kind)}: {model_text(run.setting.model)}, "
        f"{run.setting.activation}, "
        f"width {run.setting.width}, {run.setting.rule}, seed {seed}"
        + (f" (the first of {len(run.members)} networks)" if len(run.members) > 1 else ""),
        parse_math=False,
    )
    outputs(run, left)
    data, params = _member(run)
    W = params.get("W")
    if W is not None and "a" in params and W.shape[1] == data.d:
        seen = plane(data, W)
        before = _start(run, data.d) @ seen.basis.T
        _neurons(middle, before, W @ seen.basis.T, params["a"], seen.names)
    else:
        _singular_values(middle, run)
    _way(right, run)


@draws("run", "run : Run", "What `tacit.train` returned.")
def outputs(run: Run, ax: Axes | None = None) -> Axes:
    """Draw the outputs of the first network of a run, its decision boundary, and the points."""
    data, params = _member(run)
    weights = {part: jnp.asarray(value) for part, value in params.items()}

    def f(X: np.ndarray) -> np.ndarray:
        return np.asarray(run.setting.model(weights, jnp.asarray(X)))

    seen = plane(data, params.get("W"))

    def in_plane(flat: np.ndarray) -> np.ndarray:
        blocks = np.array_split(flat, 1 + len(flat) * data.d // MOST_ENTRIES)
        return np.concatenate([f(block @ seen.basis + seen.offset) for block in blocks])

    return boundary(own_axes(ax), data, in_plane, seen)


def _member(run: Run) -> tuple[Dataset, dict[str, np.ndarray]]:
    """The data and the weights of the first network."""
    k = run.members[0][1]
    data = run.data if k is None else run.data.one_vs_rest(k)
    return data, {part: array[0] for part, array in run.params.items()}


def _start(run: Run, d: int) -> np.ndarray:
    """The first member's neurons at epoch 0; none where they were read from a file."""
    s = run.setting
    if isinstance(s.init, FromFile | Embedding):
        return np.zeros((s.width, d))
    return initial_weights(s.model, d, s.width, s.init, run.members[0][0], s.output_weight)["W"]


def _neurons(
    ax: Axes, before: np.ndarray, after: np.ndarray, a: np.ndarray, names: tuple[str, str]
) -> None:
    """Neurons times |a| (their part in the function) as lines; starting directions as dots."""
    # Each layer for itself: where descent diverges their products overflow.
    sizes = [np.abs(part) / max(np.abs(part).max(), 1e-300) for part in (a, after)]
    strength = sizes[0][:, None] * np.copysign(sizes[1], after)
    largest = max(np.linalg.norm(strength, axis=1).max(), 1e-300)
    for sign, colour, name in ((1, PLUS, "a > 0"), (-1, MINUS, "a < 0")):
        chosen = a * sign > 0
        ends = strength[chosen] / largest
        for x, z in ends:
            ax.plot([0, x], [0, z], c=colour, lw=1.2, alpha=0.7)
        if len(ends):  # a ring at every end: many neurons may have one direction
            name = f"{name}: {count(len(ends), 'neuron')}"
            ax.scatter(ends[:, 0], ends[:, 1], s=16, fc="none", ec=colour, alpha=0.7, label=name)
        start = before[chosen]
        length = np.linalg.norm(start, axis=1, keepdims=True)
        start = start[length[:, 0] > 0] / length[length > 0][:, None]
        ax.scatter(1.12 * start[:, 0], 1.12 * start[:, 1], s=9, c=colour, alpha=0.5)
    ax.add_patch(_circle())
    ax.set(
        title="neurons: |a|·w at the end (lines),\ndirections at the start (dots)",
        xlabel=names[0],
        ylabel=names[1],
        xlim=(-1.25, 1.25),
        ylim=(-1.25, 1.25),
    )
    ax.set_aspect("equal")
    _legend_below(ax, *ax.get_legend_handles_labels())


def _legend_below(ax: Axes, handles: list[Any], labels: list[str]) -> None:
    """Name what is drawn below the panel, where it covers nothing."""
    ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        fontsize=SMALL,
        ncols=2,
        frameon=False,
    )


def _circle() -> Any:
    from matplotlib.patches import Circle

    return Circle((0, 0), 1.0, fill=False, ec="0.8", lw=0.8)


def _singular_values(ax: Axes, run: Run) -> None:
    values = run.measures.get("singular_values")
    if values is None:
        ax.set_axis_off()
        return
    ax.plot(np.arange(1, values.shape[2] + 1), values[-1, 0], "o", c=PLUS)
    ax.set(title="singular values of the first layer", xlabel="number", ylabel="value")


def _way(ax: Axes, run: Run) -> None:
    """Loss on the left axis, margins on the right one, over log time."""
    epochs = np.asarray(run.epochs)
    ax.plot(epochs, run.measures["log_loss"][:, 0] / np.log(10), c="black", label="log₁₀ loss")
    ax.set_xscale("symlog", linthresh=1)  # epoch 0 has a place
    ax.set(title="the way there", xlabel="epoch (logarithmic beyond 1)", ylabel="log₁₀ loss")
    ax.set_xlim(left=0)
    handles, labels = ax.get_legend_handles_labels()
    if "margin" in run.measures:
        other = ax.twinx()
        margin = run.measures["margin"][:, 0]
        smoothed = run.measures.get("smoothed_margin", run.measures["margin"])[:, 0]
        # From a tiny start the smoothed margin is hugely negative: it is drawn once it counts.
        smoothed = np.where(smoothed > -0.5 * np.nanmax(np.abs(margin)), smoothed, np.nan)
        for name, values, style in (("margin", margin, "-"), ("smoothed margin", smoothed, "--")):
            if np.isfinite(values).sum() > 1:
                handles += other.plot(epochs, values, style, c=PLUS, label=f"{name} (right axis)")
                labels.append(f"{name} (right axis)")
        other.set_ylabel("normalised margin")
    _legend_below(ax, handles, labels)
