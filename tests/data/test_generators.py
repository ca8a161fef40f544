"""What holds for every generator, and how calls are read."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.data import GENERATORS, generate, linear, orthogonal, symmetric, xor
from tacit.data import figure_sets as figures
from tacit.numerics.max_margin import max_margin
from tacit.values import BadInput, Dataset

MODULES = {m.__name__ for m in (figures, linear, orthogonal, symmetric, xor)}
SYNTHETIC = sorted(name for name, g in GENERATORS.items() if g.make.__module__ in MODULES)
WITH_TEST = [name for name in SYNTHETIC if "test" in GENERATORS[name].parameters]

NAMES = """gaussians gaussians_outlier hinted linear lyu2021_appJ lyu2021_left lyu2021_middle
lyu2021_right orthogonal orthogonal_classes symmetric wang2022_f1 wang2022_f2 xor xord xord_appD
xord_decoy""".split()


def same(a: Dataset, b: Dataset) -> bool:
    return bool(np.array_equal(a.X, b.X) and np.array_equal(a.y, b.y))


def test_all_are_registered() -> None:
    assert SYNTHETIC == NAMES


@pytest.mark.parametrize("name", SYNTHETIC)
def test_defaults(name: str) -> None:
    chosen = GENERATORS[name]
    data = generate(name)
    assert data.name == name
    assert data.parameters["generator"] == name
    assert set(data.parameters) >= set(chosen.parameters)
    assert None not in data.parameters.values()  # what was computed is told
    assert len(chosen.summary) > 20 and chosen.summary.endswith(".")
    assert chosen.place.startswith(("sarussi", "phuong", "lyu", "brutzkus", "wang"))
    assert all(p.annotation for p in inspect.signature(chosen.make).parameters.values())
    assert same(data, generate(name))


@pytest.mark.parametrize("name", [n for n in SYNTHETIC if "seed" in GENERATORS[n].parameters])
def test_seed_matters(name: str) -> None:
    assert not np.array_equal(GENERATORS[name](seed=1).X, GENERATORS[name](seed=2).X)
    assert np.isfinite(GENERATORS[name](seed=10**40).X).all()


@pytest.mark.parametrize("name", WITH_TEST)
def test_test_points_leave_training_points_alone(name: str) -> None:
    alone, seven, nine = (GENERATORS[name](seed=5, test=k) for k in (0, 7, 9))
    assert alone.test is None
    assert seven.test is not None and nine.test is not None
    assert (seven.test.n, nine.test.n, seven.test.d) == (7, 9, alone.d)
    assert same(alone, seven) and same(alone, nine)
    assert not np.array_equal(seven.test.X, alone.X[:7])
    assert seven.test.classes == alone.classes


@pytest.mark.parametrize("name", [n for n in SYNTHETIC if "n" in GENERATORS[n].parameters])
def test_few_points(name: str) -> None:
    extra = {"hinted": 3, "gaussians_outlier": 1}.get(name, 0)
    assert GENERATORS[name](n=4).n == 4 + extra
    if name in ("symmetric", "orthogonal_classes"):  # pairs; three classes
        with pytest.raises(BadInput, match=r"n=1 must be"):
            GENERATORS[name](n=1)
    else:
        assert GENERATORS[name](n=1).n == 1 + extra


WHOLE = [1, 2, 3, 5, 8]
REAL = [-1.0, 0.0, 1e-320, 1e-9, 0.5, 0.999, 1.0, 3.0, 1e9, 1e31, 1e99, 1e300]


@st.composite
def wild_calls(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from([n for n in SYNTHETIC if GENERATORS[n].parameters]))
    hints = inspect.get_annotations(GENERATORS[name].make)
    keys = draw(st.lists(st.sampled_from(sorted(set(hints) - {"return"})), unique=True))
    values = {k: draw(st.sampled_from(WHOLE if hints[k] == "int" else REAL)) for k in keys}
    return f"{name}:" + ",".join(f"{k}={v}" for k, v in values.items())


@settings(max_examples=400, deadline=None)
@given(wild_calls())
def test_wild_parameters_work_or_are_refused(call: str) -> None:
    try:
        data = generate(call)
    except BadInput as refusal:
        assert str(refusal).startswith(call.partition(":")[0])
        assert "\n" not in str(refusal)
    else:
        assert np.isfinite(data.X).all()
        assert np.linalg.norm(data.X, axis=1).min() > 0
        if data.binary and not data.name.startswith("xor"):
            assert max_margin(data.y[:, None] * data.X).status != "not separable"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ortogonal:n=5", "unknown generator 'ortogonal'; did you mean 'orthogonal'?"),
        ("qqq", "unknown generator 'qqq'; there are: .*linear"),
        ("", "unknown generator ''"),
        ("linear:magin=1", "generator 'linear' has no parameter 'magin'; did you mean 'margin'?"),
        ("xor:n=4", "generator 'xor' has no parameter 'n'; there are none"),
        ("linear:n=ten", "linear: n=ten is not a whole number"),
        ("linear:n=2.5", "linear: n=2.5 is not a whole number"),
        ("linear:n=", "linear: n= is not a whole number"),
        ("linear:n=none", "linear: n=none is not a whole number"),
        ("linear:margin=wide", "linear: margin=wide is not a number"),
        ("linear:n=3,d=2,n=4", "gives 'n' twice"),
        ("linear:n", "'n' in 'linear:n' is not of the form parameter=value"),
        ("linear:n=-3", "linear: n=-3 must be at least 1"),
        ("linear:d=0", "linear: d=0 must be at least 1"),
        ("linear:seed=-1", "linear: seed=-1 must not be negative"),
        ("linear:test=-1", "linear: test=-1 must not be negative"),
        ("linear:margin=nan", "linear: margin=nan is not a finite number"),
        ("linear:margin=inf", "linear: margin=inf is not a finite number"),
        ("hinted:H=nan", "hinted: H=nan is not a finite number"),
        ("linear:n=100000,d=100000", "numbers; choose them smaller"),
        ("linear:test=100000,d=100000", "numbers; choose them smaller"),
        ("linear:margin=-0.1", "linear: margin=-0.1 must lie between 0 and"),
        ("gaussians:std=-1", "gaussians: std=-1.0 must lie between"),
        ("gaussians:std=1e-320", "gaussians: std=1e-320 must lie between"),
        ("gaussians:std=0,margin=4", "with std=0 every point lies at distance=3.0, inside"),
        ("gaussians:std=1e-9", None),
        ("gaussians:margin=1e9", "margin=1000000000.0 is more than 1e.06 times std=1.0"),
        ("gaussians_outlier:d=1", "d=1 leaves no room for the outlier"),
        ("gaussians_outlier:height=0.1", "gaussians_outlier: height=0.1 must be greater than"),
        ("symmetric:n=7", "symmetric: n=7 must be even"),
        ("hinted:d=1", "hinted: d=1 has no direction perpendicular"),
        ("hinted:alpha=0", "alpha=0.0 is too small for the H and eps"),
        ("hinted:alpha=0,H=100,eps=0.1", None),
        ("hinted:alpha=1", "hinted: alpha=1.0 must lie between"),
        ("hinted:K=0", "hinted: K=0.0 must lie between"),
        ("hinted:K=1e20,eps=1e-3", "is lost in rounding next to K"),
        ("orthogonal_classes:classes=1", "classes=1 must lie between 2 and 1000"),
        ("orthogonal_classes:classes=5", "d=3 must be at least classes − 1 = 4"),
        ("orthogonal_classes:spread=1", "spread=1.0 must lie between 0 and 0.99"),
        ("lyu2021_left:alpha=1", "alpha=1.0 must be at least 0 and less than 1"),
        ("lyu2021_middle:n_plus=0", "n_plus=0 must lie between 1"),
        ("xord:p_plus=1.5", "xord: p_plus=1.5 must lie between 0 and 1"),
        ("xord:d=3,p_plus=0.5", "d=3 has no diverse positive points"),
        ("xord:d=1,p_minus=0.5", "d=1 has no diverse negative points"),
        ("xord:others=none", "others=none must be one of uniform, kinds, one_missing"),
        ("xord:d=2,p_plus=0,others=kinds", "d=2 has no points with three patterns"),
        ("xord:d=1", None),
        ("xord_decoy:d=3", "xord_decoy: d=3 has no diverse positive points"),
        ("xord_appD:d=3", "xord_appD: d=3 has no diverse positive points"),
    ],
)
def test_refusals(call: str, message: str | None) -> None:
    if message is None:
        generate(call)
        return
    with pytest.raises(BadInput, match=message.replace("?", r"\?")) as refusal:
        generate(call)
    assert "\n" not in str(refusal.value)


def test_calls_are_read() -> None:
    data = generate("linear: n=7 , d=3,seed=4,")
    assert (data.n, data.d, data.parameters["seed"]) == (7, 3, 4)
    assert same(data, GENERATORS["linear"](n=7, d=3, seed=4))
    assert same(generate("hinted:H=auto"), generate("hinted:H=none,K=None"))
    assert generate("hinted:H=5000").parameters["H"] == 5000
