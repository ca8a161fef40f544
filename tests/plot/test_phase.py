"""Phase diagrams hold the numbers of the table, and say what was pooled and left out."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.figure import Figure
from scipy import stats

from helpers import refused, rest_long
from tacit.measures import MEASURES
from tacit.plot.sweep_cells import caption, pool
from tacit.plot.sweep_columns import axis_of, choose
from tacit.plot.sweep_labels import WORDS, in_words
from tacit.plot.sweeps import COLOURS, phase_diagram, phase_figure, phase_pictures
from tacit.sweeps.columns import CERTIFICATE, LIMIT, TRAINING
from tacit.sweeps.settings import kinds

SCALES = tuple(float(v) for v in np.geomspace(1e-3, 30, 6))
WIDTHS = (2, 8, 32)


def row(set_: dict[str, Any], **found: Any) -> dict[str, Any]:
    return {**set_, "status": "done", "reason": None, **found}


def grid(value: Any, seeds: int = 5, **axes: Any) -> list[dict[str, Any]]:
    """Rows over axes and seeds; `value` is a function of the row."""
    places = product(*axes.values(), range(seeds))
    sets = [dict(zip((*axes, "seed"), place, strict=True)) for place in places]
    return [row(one, v=value(one)) for one in sets]


def noisy(rng: np.random.Generator, **more: Any) -> list[dict[str, Any]]:
    noise = rng.standard_normal(10**4)
    return grid(
        lambda r: float(r["width"] + r["scale"] + noise[r["seed"] * 7]),
        width=WIDTHS,
        scale=SCALES,
        **more,
    )


def one(rows: list[dict[str, Any]], axes: tuple[str, ...], **options: Any) -> Any:
    """The figure of the only value, and its caption."""
    chosen = choose(rows, axes, options)
    pooled = pool(rows, chosen, chosen.values[0])
    return phase_figure(pooled, chosen), caption(pooled, chosen)


def mesh(ax: Any) -> QuadMesh:
    (values,) = [item for item in ax.collections if isinstance(item, QuadMesh)]
    return values


def curves(ax: Any) -> dict[str, Any]:
    return {str(line.get_label()): line for line in ax.lines if line.get_marker() != "None"}


def test_the_map_holds_the_means_at_their_places(rng) -> None:
    rows = noisy(rng)
    figure, _ = one(rows, ("width", "scale"))
    ax = figure.axes[0]
    cells = mesh(ax)
    shown = cells.get_array()
    assert shown.shape == (len(WIDTHS), len(SCALES))
    for i, width in enumerate(WIDTHS):
        for j, scale in enumerate(SCALES):
            mine = [r["v"] for r in rows if (r["width"], r["scale"]) == (width, scale)]
            assert shown[i, j] == pytest.approx(np.mean(mine))
    x = cells.get_coordinates()[0, :, 0]
    assert ax.get_xscale() == "log" and ax.get_title() == "v"
    assert ax.get_xlabel() == "initial scale" and ax.get_ylabel() == "number of neurons"
    assert all(a < scale < b for a, scale, b in zip(x, SCALES, x[1:], strict=False))
    np.testing.assert_allclose(np.diff(np.log(x)), np.log(SCALES[1] / SCALES[0]))


def test_the_band_of_a_mean_is_student_s(rng) -> None:
    rows = noisy(rng)
    figure, said = one(rows, ("width", "scale"))
    ax = figure.axes[1]
    assert set(curves(ax)) == {"2", "8", "32"}
    mine = [r["v"] for r in rows if r["width"] == 8 and r["scale"] == SCALES[2]]
    t = stats.ttest_1samp(mine, 0).confidence_interval(0.99)
    paths = [path for item in ax.collections for path in item.get_paths()]
    at = {tuple(np.round(point, 9)) for path in paths for point in path.vertices}
    for end in (t.low, t.high):
        assert (round(SCALES[2], 9), round(float(end), 9)) in at
    assert "Student" in said and "5 runs at each point" in said and "seed (5 values)" in said


def test_the_band_of_true_and_false_is_exact() -> None:
    rows = grid(lambda r: bool(r["seed"] < r["n"]), n=(1, 2, 3, 4), seeds=5)
    chosen = choose(rows, ("n",), {})
    pooled = pool(rows, chosen, "v")
    for j, hits in enumerate((1, 2, 3, 4)):
        exact = stats.binomtest(hits, 5).proportion_ci(0.99, method="exact")
        assert pooled.middle(0, j) == hits / 5
        assert pooled.interval(0, j) == pytest.approx((exact.low, exact.high))
    assert "Clopper" in caption(pooled, chosen)
    numbers = [{**r, "v": float(r["v"])} for r in rows]
    assert pool(numbers, chosen, "v").interval(0, 1) == pooled.interval(0, 1)


def test_numbers_that_are_always_0_have_no_probability() -> None:
    rows = grid(lambda r: 0.0, n=(1, 2, 3))
    assert pool(rows, choose(rows, ("n",), {}), "v").interval(0, 0) == (0.0, 0.0)


def test_positive_numbers_over_decades_are_pooled_by_their_logarithms() -> None:
    rows = grid(lambda r: 10.0 ** -(r["n"] + r["seed"]), n=(1, 5, 9), seeds=3)
    chosen = choose(rows, ("n",), {})
    pooled = pool(rows, chosen, "v")
    assert pooled.kind == "geometric" and pooled.middle(0, 0) == pytest.approx(1e-2)
    half = stats.t.ppf(0.995, 2) / np.sqrt(3)
    assert pooled.interval(0, 0) == pytest.approx((10 ** (-2 - half), 10 ** (-2 + half)))
    assert phase_figure(pooled, chosen).axes[0].get_yscale() == "log"
    assert "logarithms" in caption(pooled, chosen)


def test_words_are_shares_and_the_most_frequent_is_mapped() -> None:
    words = ("converged", "converged", "stuck", "stuck", "stuck")
    rows = grid(
        lambda r: words[(r["seed"] + (r["a"] > 1)) % 5 if r["b"] == 1 else 0], a=(1, 2, 3), b=(1, 2)
    )
    rows[0]["v"] = None
    figure, said = one(rows, ("a", "b"))
    shades = np.asarray(mesh(figure.axes[0]).get_array())
    pale = shades[0, 0, :3]  # 1 of 4 converged
    assert pale == pytest.approx(1 - (0.15 + 0.85 * 3 / 4) * (1 - np.array(_rgb()[1])))  # "stuck"
    assert shades[1, 0, :3] == pytest.approx(_rgb()[0])  # all converged
    panels = {ax.get_title(): ax for ax in figure.axes}
    line = curves(panels["Share of “converged”"])["1"]
    assert line.get_ydata() == pytest.approx([1 / 4, 2 / 5, 2 / 5])
    assert "1 without a value" in said and "paler" in said and "4 to 5 runs" in said


def _rgb() -> list[tuple[float, float, float]]:
    return [tuple(int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)) for c in COLOURS]


def test_many_words_become_few() -> None:
    rows = grid(lambda r: f"word {r['seed'] % 9}", a=(1, 2, 3), seeds=27)
    chosen = choose(rows, ("a",), {})
    pooled = pool(rows, chosen, "v")
    assert len(pooled.words) == 6 and pooled.words[-1] == "the rest"
    assert sum(pooled.middle(0, 0, word) for word in pooled.words) == pytest.approx(1)


def test_failed_runs_are_left_out_counted_and_hatched(rng) -> None:
    rows = noisy(rng)
    for r in rows:
        if r["width"] == 32 and r["scale"] > 1 or r["seed"] == 4:
            r.update(status="failed", reason="memory", v=None)
    chosen = choose(rows, ("width", "scale"), {"value": "v"})
    pooled = pool(rows, chosen, "v")
    figure, said = phase_figure(pooled, chosen), caption(pooled, chosen)
    masked = np.ma.getmaskarray(mesh(figure.axes[0]).get_array())
    assert masked.sum() == sum(scale > 1 for scale in SCALES) and masked[2, -1]
    assert any(patch.get_hatch() for patch in figure.axes[0].patches)
    failed = sum(r["status"] == "failed" for r in rows)
    assert f"Left out: {failed} failed" in said and "Hatched" in said and "4 runs" in said
    assert "status" in choose(rows, ("width", "scale"), {}).values  # where they fail is shown too


def test_one_run_has_no_band(rng) -> None:
    figure, said = one(noisy(rng, seeds=1), ("width", "scale"))
    assert "No bands" in said and "Nothing is pooled" in said
    assert all(not np.isfinite(line.get_ydata()).any() for line in figure.axes[1].lines
               if line.get_marker() == "None")  # fmt: skip
    rows = noisy(rng, seeds=2)[1:]  # one point with one run
    _, said = one(rows, ("width", "scale"))
    assert "none where there is one run only" in said


def test_a_lonely_point_has_a_bar() -> None:
    rows = grid(lambda r: float(r["seed"]), a=(1, 2, 3))
    for r in rows:
        r["v"] = None if r["a"] != 2 else r["v"]
    figure, _ = one(rows, ("a",))
    bars = [item for item in figure.axes[0].collections if isinstance(item, LineCollection)]
    (bar,) = [path.vertices for item in bars for path in item.get_paths()]
    low, high = stats.ttest_1samp(range(5), 0).confidence_interval(0.99)
    assert bar[:, 1] == pytest.approx([low, high])


def test_the_longest_axes_are_drawn_and_the_rest_is_pooled() -> None:
    rows = grid(
        lambda r: float(r["a"] + r["seed"]), b=(1, 2), rule=("gd", "sgd"), a=(1, 2, 3), seeds=2
    )
    chosen = choose(rows, ("b", "rule", "a"), {})
    assert chosen.x.name == "a" and chosen.y is not None and chosen.y.name == "b"
    assert chosen.pooled == (("rule", 2), ("seed", 2))
    _, said = one(rows, ("b", "rule", "a"))
    assert "Pooled: rule (2 values), seed (2 values)" in said and "4 runs at each point" in said
    told = choose(rows, ("b", "rule", "a"), {"y": "rule"})
    assert told.x.name == "a" and told.y is not None and told.y.values == ("gd", "sgd")


def test_what_moves_with_x_is_no_second_axis() -> None:
    pairs = ((0.1, 5), (0.2, 6), (0.3, 7))
    rows = [row({"lr": lr, "data.n": n, "seed": k}, v=lr + k) for lr, n in pairs for k in range(3)]
    chosen = choose(rows, ("lr", "data.n"), {})
    assert chosen.x.name == "lr" and chosen.y is None and chosen.follow == (("data.n", "lr"),)
    assert "data.n goes with lr." in one(rows, ("lr", "data.n"))[1]
    rows = [{"b": b, **r} for r in rows for b in (1, 2)]
    told = choose(rows, ("lr", "data.n"), {"x": "b", "y": "data.n"})
    assert told.follow == (("lr", "data.n"),) and told.pooled == (("seed", 3),)
    rows = [{**r, "lr": r["b"] * r["lr"]} for r in rows]
    told = choose(rows, ("lr", "data.n"), {"x": "b", "y": "data.n"})
    assert told.follow == (("lr", "b and data.n"),)


def test_at_most_seven_curves_and_that_is_said() -> None:
    rows = grid(
        lambda r: float(r["a"] * r["b"] + r["seed"]), a=tuple(range(40)), b=tuple(range(30))
    )
    figure, _ = one(rows, ("a", "b"))
    legend = figure.axes[1].get_legend()
    assert list(curves(figure.axes[1])) == ["0", "5", "10", "14", "19", "24", "29"]
    assert "(7 of 30 values)" in legend.get_title().get_text()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((1, 2, 4, 8, 16), "linear"),
        ((1, 2, 4, 8, 16, 32), "log"),
        (tuple(range(10, 310, 10)), "linear"),
        ((0, 0.001, 0.01, 0.1, 1.0), "turn"),
        ((-1.0, 0.0, 1.0), "linear"),
        ((0.01, 1.0), "log"),
        ((5,), "linear"),
        (("gd", "sgd"), "words"),
        ((None, "first"), "words"),
        ((True, False), "words"),
        ((["loss:1"], []), "words"),
    ],
)
def test_how_values_are_laid_out(values: tuple[Any, ...], kind: str) -> None:
    axis = axis_of([{"a": value} for value in values], "a")
    assert axis.kind == kind and list(axis.values) == list(values)
    edges = axis.edges()
    assert all(a < at < b for a, at, b in zip(edges, axis.at, edges[1:], strict=False))


def test_only_what_varies_is_drawn_unless_nothing_does() -> None:
    rows = grid(lambda r: 1.0, a=(1, 2, 3))
    assert choose(rows, ("a",), {}).values == ("v",)
    for r in rows:
        r.update({"w": r["a"], "many": [1.0, r["a"]], "reason": str(r["a"])})
    assert choose(rows, ("a",), {}).values == ("w",)
    for r in rows:
        r.update({f"limit.c{k}": r["a"] for k in range(9)} | {"limit.margin": r["a"]})
    values = choose(rows, ("a",), {}).values
    assert len(values) == 6 and values[0] == "w" and "limit.margin" in values


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x": "scal"}, ("[plot] x", "'scal'", "did you mean 'scale'?")),
        ({"y": "v"}, ("[plot] y", "'v'", "scale, seed")),
        ({"value": "vv"}, ("[plot] value", "did you mean 'v'?")),
        ({"value": ["v", "scale"]}, ("[plot] value", "'scale'", "recorded")),
        ({"value": []}, ("[plot] value = []",)),
        ({"x": 3}, ("[plot] x = 3",)),
        ({"x": "scale", "y": "scale"}, ("both 'scale'",)),
        ({"values": "v"}, ("'values'", "did you mean 'value'?")),
        ({"value": "many"}, ("'many' is a list",)),
    ],
)
def test_options_that_name_nothing_are_refused(options: dict[str, Any], words: Any) -> None:
    rows = [row({"scale": s, "seed": 0}, v=s, many=[s]) for s in (0.1, 0.2)]
    refused(lambda: phase_pictures(rows, ("scale",), options), *words)


STRANGE = {
    "nothing varies": [row({"seed": 0}, v=1.0)],
    "seeds only": [row({"seed": k}, v=float(k), word="a") for k in range(3)],
    "all failed": [{**row({"a": a, "b": b}, v=None), "status": "failed"}
                   for a in (1, 2) for b in (1, 2)],
    "no value anywhere": [row({"a": a, "b": b}, v=None, w=None) for a in (1, 2) for b in (1, 2)],
    "huge": [row({"a": a, "b": b}, v=1.7e308 * (-1) ** b, w=10.0 ** (100 * a))
             for a in (1, 2, 3) for b in (1, 2)],
    "tiny": [row({"a": a, "b": b}, v=1 + 1e-16 * a, w=5e-324 * a) for a in (1, 2) for b in (1, 2)],
    "names": [row({"$a$": "$\\frac{1}" * a, "数": f"{'long ' * 30}{b}"}, v=float(a), w="数\n$x")
              for a in (1, 2) for b in (1, 2)],
    "a large map": [row({"a": a, "b": b}, v=float(a * b)) for a in range(60) for b in range(60)],
}  # fmt: skip


@pytest.mark.parametrize("kind", rest_long(STRANGE, STRANGE.keys() - {"tiny", "a large map"}))
def test_every_kind_of_table_is_drawn(kind: str) -> None:
    rows = STRANGE[kind]
    axes = [name for name in rows[0] if name in ("a", "b", "$a$", "数")]
    made = phase_pictures(rows, axes, {})
    assert made and all(len(content) > 5000 for content in made.values())
    assert all(name.isprintable() and "/" not in name for name in made)


def test_no_rows_no_pictures() -> None:
    assert phase_pictures([], [], {}) == {}


@pytest.mark.long
def test_the_same_rows_give_the_same_bytes(rng) -> None:
    rows = noisy(rng, seeds=2)
    for r in rows:
        r["limit.outcome"] = "converged" if r["v"] > 3 else "stuck"
    first, second = (phase_pictures(rows, ("width", "scale"), {}) for _ in range(2))
    assert first == second
    assert set(first) == {f"phase-{name}.{ending}" for name in ("v", "limit.outcome")
                          for ending in ("png", "svg")}  # fmt: skip
    assert first["phase-v.png"].startswith(b"\x89PNG") and b"<svg" in first["phase-v.svg"][:2000]


def test_a_phase_diagram_is_drawn_where_it_is_told(rng) -> None:
    rows = noisy(rng)
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert phase_diagram(rows, ("width", "scale"), {}, right) is right
    assert mesh(right).get_array().shape == (len(WIDTHS), len(SCALES)) and not left.collections
    curve = phase_diagram(rows, ("scale",), {})
    assert curve.get_ylabel() == "mean over runs" and curve.get_xlabel() == "initial scale"
    for r in rows:
        r["limit.outcome"] = "converged" if r["v"] > 3 else "stuck"
    words = phase_diagram(rows, ("width", "scale"), {"value": "limit.outcome"})
    assert words.get_title() == "How gradient flow ends: most frequent"
    refused(lambda: phase_diagram([], (), {}), "no rows")


def test_every_column_has_words() -> None:
    """No raw name of a measure, of a limit's or of a certificate's column is a title."""
    columns = [*MEASURES, *TRAINING, *LIMIT, *CERTIFICATE, "width", "data.n"]
    for column in columns:
        assert "_" not in in_words(column) and "." not in in_words(column)
    assert len(set(map(in_words, columns))) == len(columns)
    for name in (set(WORDS) - {"data.name", "data.n", "data.d", "data.file"}) - set(columns):
        assert name in (*kinds(), "epochs", "seed", "status")
