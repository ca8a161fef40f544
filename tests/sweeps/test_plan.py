"""Plans: what a file says becomes runs, and what is wrong in it is said before any work."""

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.data import load
from tacit.models.initialisations import INITIALISATIONS
from tacit.sweeps import plan as plans
from tacit.sweeps import plan_values as values
from tacit.sweeps.plan import read
from tacit.values import BadInput, Setting

WHOLE = """
record = ["margin", "train_error", "certificate"]
epochs = 50
seed = { from = 3, to = 5 }
seconds = 7

[data]
name = "gaussians"
n = 12
d = [2, 3]
seed = "run"

[setting]
alpha = [0, 0.1]
init = "gaussian"
scale = { from = 1e-3, to = 30, log = 4 }
width = 6
rule = "sgd"

[[list]]
lr = 0.1
data.margin = 0.5
[[list]]
lr = 0.01
data.margin = 1

[plot]
x = "scale"
y = "data.d"
value = ["margin", "certificate.gap"]

[slurm]
queue = "short"
"""
SMALL = """
record = ["margin"]
[data]
name = "linear"
n = 8
[setting]
width = 4
"""


def write(folder: Path, text: str, name: str = "plan.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def made(tmp_path):
    return lambda text, **more: read(write(tmp_path, text), **more)


def test_a_file_becomes_its_runs(made):
    plan = made(WHOLE)
    assert plan.name == "plan"
    assert plan.axes == ("data.d", "data.margin", "alpha", "scale", "lr", "seed")
    assert plan.plot == {"x": "scale", "y": "data.d", "value": ["margin", "certificate.gap"]}
    assert plan.slurm == {"queue": "short"}
    scales = [point.values["scale"] for point in plan.points[:12:3]]
    assert scales[0] == 1e-3 and scales[-1] == 30.0
    np.testing.assert_allclose(np.diff(np.log(scales)), np.log(30e3) / 3, rtol=1e-11)
    expected = itertools.product([(0.1, 0.5), (0.01, 1.0)], (2, 3), (0.0, 0.1), scales, (3, 4, 5))
    for point, ((lr, margin), d, alpha, scale, seed) in zip(plan.points, expected, strict=True):
        assert point.values == {
            "data.name": "gaussians",
            "data.n": 12,
            "data.d": d,
            "data.seed": seed,
            "data.margin": margin,
            "alpha": alpha,
            "init": "gaussian",
            "scale": scale,
            "width": 6,
            "rule": "sgd",
            "lr": lr,
            "epochs": 50,
            "seed": seed,
        }
        run = point.run
        assert run.setting == Setting(
            activation="leaky:0.1" if alpha else "relu",
            init=f"gaussian:{scale!r}",
            width=6,
            rule="sgd",
            lr=lr,
        )
        assert (run.epochs, run.seed, run.seconds) == (50, seed, 7.0)
        assert run.record == ("train_error", "margin", "certificate")
        assert not run.files
        json.dumps(point.values, allow_nan=False)
    same = load(f"gaussians:n=12,d=3,margin=0.5,seed={plan.points[-40].values['seed']}")
    at = next(p for p in plan.points if p.values["data.d"] == 3)
    assert load(at.run.data.text).parameters == {**same.parameters, "seed": at.run.seed}
    assert plan.sets == {}
    assert len({point.run.key for point in plan.points}) == len(plan.points) == 96


def test_what_is_not_said_is_as_for_train(made):
    (point,) = made(SMALL).points
    assert point.values == {"data.name": "linear", "data.n": 8, "width": 4, "seed": 0}
    assert point.run.setting == Setting(width=4)
    assert (point.run.epochs, point.run.seconds) == (1000, 60.0)


def test_the_order_of_what_is_recorded_and_of_parameters_is_no_matter(made):
    one = made(SMALL.replace("n = 8", "n = 8\nd = 2").replace('"margin"', '"norm", "margin"'))
    other = made(SMALL.replace("n = 8", "d = 2\nn = 8").replace('"margin"', '"margin", "norm"'))
    assert one.points[0].run.key == other.points[0].run.key


def test_numbers_reach_the_generator_with_all_their_digits(made):
    margin = 0.1 + 0.2
    (point,) = made(SMALL.replace("n = 8", f"n = 8\nmargin = {margin!r}")).points
    assert load(point.run.data.text).parameters["margin"] == margin
    (point,) = made(SMALL.replace("n = 8", "n = 8\nmargin = 1")).points  # 1 is the number 1.0
    assert point.values["data.margin"] == 1.0 and isinstance(point.values["data.margin"], float)


def test_a_file_from_windows_is_read(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert len(read(path).points) == 1


def test_stop_rules_are_lists_of_lists(made):
    plan = made(SMALL + 'stop = [[], ["zero_error"], ["loss:0.1", "no_improvement:5"]]')
    assert [p.values["stop"] for p in plan.points] == [
        [],
        ["zero_error"],
        ["loss:0.1", "no_improvement:5"],
    ]
    assert plan.points[2].run.setting.to_dict()["stop"] == ["loss:0.1", "no_improvement:5"]
    assert plan.axes == ("stop",)
    (point,) = made(SMALL + 'stop = ["zero_error"]').points
    assert point.run.setting.to_dict()["stop"] == ["zero_error"]
    (point,) = made(SMALL + "stop = []").points
    assert point.run.setting.stop == ()


def test_seeds_are_shifted(made):
    plan = made(SMALL.replace("[data]", "seed = [0, 7]\n[data]\nseed = 3"), shift=10)
    assert [p.run.seed for p in plan.points] == [10, 17]
    assert {p.values["data.seed"] for p in plan.points} == {13}
    assert [p.run.seed for p in made(SMALL, shift=4).points] == [4]
    with pytest.raises(BadInput, match="seed = 0 moved by -1 must be between 0 and 4294967295"):
        made(SMALL, shift=-1)


def test_every_measure_and_every_random_initialisation_can_be_asked_for(made):
    from tacit.measures import MEASURES

    everything = json.dumps([*MEASURES, "weights", "limit"])
    plan = made(SMALL.replace('["margin"]', everything).replace("n = 8", "n = 8\ntest = 3"))
    assert plan.record == (*MEASURES, "limit", "weights")
    forms = {name: kind.form for name, kind in INITIALISATIONS.items()}
    single = [name for name, form in forms.items() if form.count(":") == 1 and "FILE" not in form]
    plan = made(SMALL + f"init = {json.dumps(single)}\nscale = [0.1, 0.25]")
    assert [str(p.run.setting.init) for p in plan.points] == [
        f"{name}:{scale}" for name in single for scale in (0.1, 0.25)
    ]


def test_options_and_parameters_of_the_same_name(made):
    appj = 'record = ["margin"]\n[data]\nname = "lyu2021_appJ"\nn = 8\nd = 3\n'
    (point,) = made(appj + "bias = 0.5").points
    assert point.run.data.bias is None and "bias=0.5" in point.run.data.text
    plan = made(SMALL.replace("n = 8", 'n = 8\nbias = [0.5, 1]\ntest = 5\nlabels = "1,-1"'))
    assert [p.run.data.bias for p in plan.points] == [0.5, 1.0]
    assert plan.points[0].run.data.labels == "1,-1"
    assert "test=5" in plan.points[0].run.data.text
    (point,) = made(SMALL.replace("n = 8", 'n = 8\ntest = "linear:n=4,seed=9"')).points
    assert point.run.data.test == "linear:n=4,seed=9" and "test" not in point.run.data.text


FILE = 'record = ["margin"]\n[data]\nfile = "FILE"\n[setting]\nwidth = 4\n'


@pytest.fixture
def points(rng):
    X = rng.standard_normal((9, 3))
    return X, np.where(X[:, 0] > 0, 1, -1)


def test_data_in_files_is_known_by_content_not_by_place(tmp_path, points):
    X, y = points
    seen = []
    for name in ("here", "there"):
        folder = tmp_path / name
        (folder / "sub").mkdir(parents=True)
        np.savez(folder / "sub" / "points.npz", X=X, y=y)
        seen.append(read(write(folder, FILE.replace("FILE", "sub/points.npz"))))
    one, other = (plan.points[0].run for plan in seen)
    assert one.key == other.key
    assert [name for name, _ in one.files] == ["points.npz"]
    assert str(tmp_path) not in json.dumps(one.data.text)
    assert seen[0].points[0].values["data.file"] == "sub/points.npz"
    for plan in seen:
        (data,) = plan.sets.values()
        assert plan.points[0].run.data in plan.sets
        np.testing.assert_array_equal(data.X, X)
    np.savez(tmp_path / "here" / "sub" / "points.npz", X=X + 1e-9, y=y)
    assert read(tmp_path / "here" / "plan.toml").points[0].run.key != one.key


def test_files_of_the_same_name_are_told_apart(tmp_path, points):
    X, y = points
    for name, factor in (("a", 1), ("b", 2)):
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / "points.npz", X=factor * X, y=y)
    text = FILE.replace('"FILE"', '["a/points.npz", "b/points.npz"]')
    plan = read(write(tmp_path, text))
    loaded = plan.sets
    assert len(loaded) == 2 and plan.axes == ("data.file",)
    for point, factor in zip(plan.points, (1, 2), strict=True):
        np.testing.assert_array_equal(loaded[point.run.data].X, factor * X)
    shutil.copy(tmp_path / "a" / "points.npz", tmp_path / "b" / "points.npz")
    with pytest.raises(BadInput, match="points.npz.* is there twice, from two places"):
        read(tmp_path / "plan.toml")


def test_pairs_of_files_labels_bias_and_test_sets(tmp_path, points):
    X, y = points
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.where(y > 0, "cat", "dog"))
    rows = "\n".join(f"{a},{b},{c},cat" for a, b, c in X[:4].tolist())
    (tmp_path / "test.csv").write_text(f"a,b,c,y\n{rows}\n")
    more = '"X.npy,y.npy"\nlabels = "cat,dog"\nbias = [1, 2]\ntest = "test.csv"'
    plan = read(write(tmp_path, FILE.replace('"FILE"', more).replace("margin", "test_error")))
    for point, bias in zip(plan.points, (1.0, 2.0), strict=True):
        data = plan.sets[point.run.data]
        assert [name for name, _ in point.run.files] == ["X.npy", "y.npy", "test.csv"]
        np.testing.assert_array_equal(data.X, np.column_stack([X, np.full(9, bias)]))
        np.testing.assert_array_equal(data.y, y)
        assert data.test.n == 4 and (data.test.y == 1).all()


WRONG = {
    "unknown key": ("seconds = 7", "secnds = 7", "no key 'secnds'; did you mean 'seconds'"),
    "unknown measure": ('"margin", "t', '"margn", "t', "'margn'; did you mean 'margin'"),
    "measure twice": ('"margin", "t', '"margin", "margin", "t', "'margin' twice"),
    "nothing recorded": ('["margin", "train_error", "certificate"]', "[]", "record = \\[\\]"),
    "record a text": ('["margin", "train_error", "certificate"]', '"margin"', "a list of texts"),
    "unknown setting": ("width = 6", "widht = 6", "setting: .*'widht'; did you mean 'width'"),
    "unknown parameter": ("n = 12", "N = 12", "'gaussians' has no parameter 'N'"),
    "unknown generator": ('"gaussians"', '"gausians"', "did you mean 'gaussians'"),
    "float for whole": ("n = 12", "n = 12.0", "data.n = 12.0 is not a whole number"),
    "truth for number": ("width = 6", "width = true", "width = true is not a whole number"),
    "text for number": ("epochs = 50", 'epochs = "50"', 'epochs = "50" is not a whole number'),
    "number for text": ('rule = "sgd"', "rule = 3", "rule = 3 is not a text"),
    "nan": ("width = 6", "width = 6\noutput_weight = nan", "output_weight = nan must be a finite"),
    "inf": ("seconds = 7", "seconds = inf", "seconds = inf must be a finite number"),
    "huge": ("width = 6", f"width = {10**30}", "too large"),
    "date": ("n = 12", "n = 1979-05-27", "not a whole number"),
    "table": ("n = 12", "n = { a = 1 }", "data.n: there is no key 'a'"),
    "no seconds": ("seconds = 7", "seconds = 0", "seconds = 0 must be positive"),
    "no epochs": ("epochs = 50", "epochs = 0", "epochs = 0 must be between 1"),
    "seed": ("{ from = 3, to = 5 }", "-1", "seed = -1 must be between 0 and 4294967295"),
    "large seed": ("{ from = 3, to = 5 }", "4294967296", "must be between 0 and 4294967295"),
    "word for seed": ('seed = "run"', 'seed = "ran"', 'data.seed = "ran" is not .* or "run"'),
    "empty axis": ("d = [2, 3]", "d = []", r"data.d = \[\] is an empty list"),
    "value twice": ("d = [2, 3]", "d = [2, 3, 2]", "data.d has the value 2 twice"),
    "0 and 0.0": ("alpha = [0, 0.1]", "alpha = [0, 0.0]", "alpha has the value 0.0 twice"),
    "range without end": ("{ from = 3, to = 5 }", "{ from = 3 }", "seed: write a range as"),
    "range both ways": ("log = 4", "log = 4, linear = 4", "scale: write a range as"),
    "range of floats": ("{ from = 3, to = 5 }", "{ from = 3.0, to = 5 }", "seed.from = 3.0 is not"),
    "backwards": ("{ from = 3, to = 5 }", "{ from = 5, to = 3 }", "from = 5 must be below to = 3"),
    "log of 0": ("from = 1e-3", "from = 0", "from = 0.0 must be positive where log is given"),
    "one point": ("log = 4", "log = 1", "at least 2 points"),
    "too fine": (
        "from = 1e-3, to = 30, log = 4",
        "from = 1, to = 1.0000000000000002, log = 9",
        "fit",
    ),
    "range of words": ('"sgd"', "{ from = 1, to = 2 }", "rule: a range is of numbers"),
    "unknown in range": ("log = 4", "lgo = 4", "scale: there is no key 'lgo'; did you mean 'log'"),
    "many values": ("to = 5", "to = 3000000", "2,999,998 values are too many"),
    "many points": ("log = 4", "log = 2000000", "2,000,000 values are too many"),
    "many runs": ("to = 5", "to = 200000", "runs; at most 1,000,000"),
    "both alpha": ("width = 6", 'width = 6\nactivation = "relu"', "alpha and activation"),
    "alpha": ("alpha = [0, 0.1]", "alpha = 1.5", "setting: the slope α = 1.5"),
    "scale alone": ('init = "gaussian"', "", "scale is the number of an initialisation"),
    "scale of two": ('"gaussian"', '"pair"', 'init = "pair" does not go with scale'),
    "scale and number": (
        '"gaussian"',
        '"gaussian:1"',
        'init = "gaussian:1" does not go with scale',
    ),
    "scale of file": ('"gaussian"', '"file"', 'init = "file" does not go with scale'),
    "scale": ("from = 1e-3", "from = -1", "from = -1.0 must be positive"),
    "width": ("width = 6", "width = 0", "setting: width = 0 must be a whole number, at least 1"),
    "lr": ("lr = 0.1\n", "lr = -1\n", "setting: lr = -1.0 must be a positive number"),
    "rule": ('"sgd"', '"sdg"', "unknown rule 'sdg'; did you mean 'sgd'"),
    "flow": ('"sgd"', '"flow"', r'record = \["limit"\] follows the flow'),
    "batch": ("width = 6", "width = 6\nbatch = 0", "batch = 0 must be a whole number, at least 1"),
    "batch of gd": ('"sgd"', '"gd"\nbatch = 3', "batch = 3 is for sgd or adam"),
    "large batch": ("width = 6", "width = 6\nbatch = 13", "batch = 13 is more than the 12 points"),
    "loss": ("width = 6", 'width = 6\nloss = "hinges"', "hinge"),
    "softmax": ("width = 6", 'width = 6\nloss = "softmax"', "several outputs"),
    "stop": ("width = 6", 'width = 6\nstop = ["never"]', "unknown stop rule 'never'"),
    "stop a text": ("width = 6", 'width = 6\nstop = "zero_error"', "is not a list of texts"),
    "model": ("width = 6", 'width = 6\nmodel = "two_layers"', "did you mean 'two_layer'"),
    "certificate": ("width = 6", 'width = 6\nmodel = "residual"', "certificate is for two_layer"),
    "train": (
        "width = 6",
        'width = 6\ntrain = "last"',
        "unknown train 'last'; there are: both",
    ),
    "odd width": ("width = 6", 'width = 7\ntrain = "first"', "width 7 must be even"),
    "parameter": ("n = 12", "n = 12\nstd = -1", "data: gaussians: std"),
    "no points": ("n = 12", "n = 0", "data: gaussians: n=0 must be at least 1"),
    "entry's key": ("lr = 0.01", "rate = 0.01", "list, entry 2: there is no key 'rate'"),
    "entry differs": ("lr = 0.01\n", "", "list, entry 2 and the first differ in the key 'lr'"),
    "in the grid": ("lr = 0.1\n", "lr = 0.1\nwidth = 3\n", "'width' is in the grid as well"),
    "seed in both": ("lr = 0.1\n", "lr = 0.1\nseed = 3\n", "'seed' is in the grid as well"),
    "axis in list": ("lr = 0.1\n", "lr = [0.1, 0.2]\n", "list, entry 1: lr = .* is not a number"),
    "same entries": (
        "lr = 0.01\ndata.margin = 1",
        "lr = 0.1\ndata.margin = 0.5",
        "same as entry 1",
    ),
    "entry's data": ("data.margin = 1", "data.margn = 1", "differ in the key 'data.margin'"),
    "plot": ('x = "scale"', 'z = "scale"', "plot: there is no key 'z'"),
    "plotted": ('x = "scale"', 'x = "scales"', "plot.x: .*'scales'; did you mean 'scale'"),
    "plotted twice": ('y = "data.d"', 'y = "scale"', "x and y are both 'scale'"),
    "plotted value": ('"certificate.gap"', '"gap"', "plot.value: 'gap' is not recorded"),
    "not TOML": ("epochs = 50", "epochs = = 50", "is not a TOML file: .*line 3"),
    "key twice": ("epochs = 50", "epochs = 50\nepochs = 51", "is not a TOML file"),
    "file and name": ("n = 12", 'n = 12\nfile = "a.csv"', "needs either name"),
    "no data": ('name = "gaussians"', "", "needs either name"),
    "test is a file": ("n = 12", 'n = 12\ntest = "t.csv"', "must be a generator call"),
    "comma": ('"gaussians"\nn = 12', '"digits"\nclasses = "3,5"', "no parameter 'd'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_line(case, made):
    old, new, words = WRONG[case]
    assert old in WHOLE
    with pytest.raises(BadInput, match=words) as caught:
        made(WHOLE.replace(old, new))
    assert "plan.toml" in str(caught.value) and "\n" not in str(caught.value)


MORE_WRONG = {
    "no record": (SMALL.replace('record = ["margin"]', ""), "say what to record"),
    "list a table": (SMALL + "[list]\nlr = 1\n", r"write its entries as \[\[list\]\]"),
    "empty entries": (SMALL + "[[list]]\n[[list]]\n", "entry 2 is the same as entry 1"),
    "data a number": ('record = ["margin"]\ndata = 3', "data: 3 is not a table"),
    "plot a number": ("plot = 3\n" + SMALL, "plot: 3 is not a table"),
    "file": (SMALL + 'init = "file:w.npz"', "reads weights from a file, which a sweep does not"),
    "embedding": (SMALL + 'init = "embedding:w.npz"', "reads weights from a file"),
    "no number": (SMALL + 'init = "gaussian"', "write gaussian:SIGMA"),
    "limit and loss": (
        SMALL.replace("margin", "limit") + 'loss = "hinge"',
        "has no exponential tail",
    ),
    "limit and model": (
        SMALL.replace("margin", "limit") + 'model = "residual"',
        "limit is for two_layer",
    ),
    "agreement": (SMALL + 'model = "residual"\nstop = ["agreement"]', "neurons of a two_layer net"),
    "classes": (SMALL.replace("linear", "orthogonal_classes"), "has 3 classes; a sweep trains on"),
    "patches": (
        SMALL.replace("n = 8", "n = 8\nd = 3") + 'model = "conv_max_pool"',
        "3 coordinates cannot be cut",
    ),
    "several outputs": (SMALL + 'model = "image_cnn"', "several outputs"),
    "no test set": (SMALL.replace("margin", "test_error"), "there is no test set"),
    "no such seed": (
        SMALL.replace('"linear"\nn = 8', '"xor"\nseed = 1'),
        "'xor' has no parameter 'seed'",
    ),
    "two generators": (
        SMALL.replace('"linear"\nn = 8', '["digits", "orthogonal_classes"]\nclasses = "3/5"'),
        "'classes' means another thing for 'orthogonal_classes'",
    ),
    "second generator": (
        SMALL.replace('"linear"\nn = 8', '["linear", "xor"]\nn = 8'),
        "'xor' has no parameter 'n'",
    ),
    "comma": (
        SMALL.replace('"linear"\nn = 8', '"digits"\nclasses = "3,n=5"'),
        "cannot have a comma",
    ),
    "no file": (FILE.replace("FILE", "points.csv"), "points.csv: there is no such file"),
    "file is a call": (FILE.replace("FILE", "linear:n=3"), "is not the name of a file"),
    "file and parameter": (FILE.replace("[setting]", "n = 3\n[setting]"), "no key 'n'"),
    "deep": (f"a = {'[' * 5000}{']' * 5000}", "nested too deeply|not a TOML file"),
    "long number": (f"a = {'9' * 5000}", "is not a TOML file"),
}


@pytest.mark.parametrize("case", MORE_WRONG)
def test_more_that_is_wrong(case, made):
    text, words = MORE_WRONG[case]
    with pytest.raises(BadInput, match=words) as caught:
        made(text)
    assert "\n" not in str(caught.value)


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes(b'record = ["\xff"]')
    with pytest.raises(BadInput, match="is not a TOML file"):
        read(path)
    path.write_bytes(b"#" * (plans.MOST_BYTES + 1))
    with pytest.raises(BadInput, match="at most 1,048,576 are read"):
        read(path)
    with pytest.raises(BadInput, match="did you mean .*plan.toml"):
        read(tmp_path / "plam.toml")
    with pytest.raises(BadInput, match="is a folder"):
        read(tmp_path)


def test_entries_of_a_long_list_are_not_compared_one_by_one(made, monkeypatch):
    comparisons = []

    class Value(float):
        __hash__ = float.__hash__

        def __eq__(self, other):
            comparisons.append(other)
            return float(self) == other

    def one(*given):
        value = values.one(*given)
        return Value(value) if isinstance(value, float) else value

    monkeypatch.setattr(plans, "one", one)
    text = SMALL + "".join(f"[[list]]\nlr = {k + 1}e-6\n" for k in range(2000))
    with pytest.raises(BadInput, match="entry 2001 is the same as entry 7"):
        made(text + "[[list]]\nlr = 7e-6\n")
    assert 1 <= len(comparisons) <= 2000  # all pairs would be two million


def test_too_many_runs_are_refused_before_they_are_made(made, monkeypatch):
    monkeypatch.setattr(plans, "Builder", None)  # whoever builds a run fails
    axis = "{ from = 1, to = 1000 }"
    with pytest.raises(BadInput, match="1,000,000,000 runs"):
        made(f"seed = {axis}\n{SMALL.replace('n = 8', f'n = {axis}').replace('= 4', f'= {axis}')}")


def test_a_seed_that_a_generator_refuses_does_not_refuse_the_plan(made):
    """The height of the outlier is right for some draws only."""
    text = 'record = ["margin"]\nseed = {from = 0, to = 30}\n[data]\nname = "gaussians_outlier"\n'
    text += 'n = 30\nheight = HEIGHT\nseed = "run"\n'

    def refused(height: float, seed: int) -> bool:
        try:
            load(f"gaussians_outlier:n=30,height={height},seed={seed}")
        except BadInput:
            return True
        return False

    height = next(h for h in np.geomspace(0.1, 5, 200) if refused(h, 0) != refused(h, 1))
    assert len(made(text.replace("HEIGHT", repr(float(height)))).points) == 31
    with pytest.raises(BadInput, match="height"):
        made(text.replace("HEIGHT", "1e-9"))


def test_ranges(made):
    def axis(key: str, text: str) -> list:
        plan = made(SMALL.replace("width = 4", f'rule = "sgd"\n{key} = {text}'))
        return [point.values[key] for point in plan.points]

    assert axis("lr", "{ from = 0.1, to = 0.5, linear = 5 }") == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert axis("lr", "{ from = 1e-4, to = 1, log = 5 }") == [1e-4, 1e-3, 1e-2, 0.1, 1.0]
    ends = 0.1 + 0.2, 1e300 / 3
    numbers = axis("lr", f"{{ from = {ends[0]!r}, to = {ends[1]!r}, log = 50 }}")
    assert (numbers[0], numbers[-1]) == ends and len(numbers) == 50
    numbers = axis("batch", "{ from = 1, to = 8, log = 4 }")
    assert numbers == [1, 2, 4, 8] and all(type(batch) is int for batch in numbers)
    assert axis("width", "{ from = 2, to = 4 }") == [2, 3, 4]
    with pytest.raises(BadInput, match="9 points do not fit between 1 and 8; take fewer"):
        axis("batch", "{ from = 1, to = 8, linear = 9 }")


def test_the_most_runs_are_read_in_little_memory_and_time(made):
    """Ten thousand, to be quick; every setting and every call of data is one object."""
    text = SMALL.replace('["margin"]', '["margin"]\nseed = {from = 1, to = 100}')
    plan = made(
        text.replace("n = 8", 'n = 8\nseed = "run"') + "lr = {from = 1, to = 2, linear = 100}"
    )
    assert len(plan.points) == 10_000
    assert len({id(point.run.setting) for point in plan.points}) == 100
    assert len({id(point.run.data) for point in plan.points}) == 100
    assert values.MOST_RUNS == 1_000_000


LITERALS = [
    *("0", "1", "-3", "2.5", "-0.0", "nan", "inf", "-inf", "true", "1e-320", "9223372036854775808"),
    *('""', '"run"', '"none"', '"gaussian"', '"sgd"', '"3/5"', '"a,b=1"', '"\\u0000"', '"=1"'),
    *("[]", "[1, 2]", "[1, 1.0]", '["zero_error"]', '[["loss:1"], []]', "[[1]]", "[{}]", "{}"),
    *("{ from = 1, to = 3 }", "{ from = 1, to = 3, log = 3 }", "{ from = 0, to = 1, linear = 3 }"),
    *("{ from = -1e308, to = 1e308, linear = 3 }", "{ from = 3, to = inf }", "1979-05-27"),
    *("{ from = 5e-324, to = 1e308, log = 3 }", "{ from = true, to = 2 }", '{ from = "none" }'),
]
PLACES = {
    "": ["epochs", "seed", "seconds", "record", "list", "data", "plot", "slurm", "width"],
    "[data]": ["n", "d", "seed", "test", "bias", "labels", "margin", "height", "file", "std"],
    "[setting]": [*Setting.__dataclass_fields__, "alpha", "scale"],
    "[[list]]": ["lr", "seed", "epochs", "data.margin", "data.seed", "stop", "n", "data.name"],
    "[plot]": ["x", "y", "value"],
}


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.sampled_from(['"linear"', '"gaussians_outlier"', '"digits"', '["linear", "symmetric"]']),
    st.lists(
        st.sampled_from([(place, key) for place, keys in PLACES.items() for key in keys]).flatmap(
            lambda at: st.tuples(st.just(at), st.sampled_from(LITERALS))
        ),
        max_size=4,
        unique_by=lambda one: one[0],
    ),
)
def test_whatever_a_file_says_it_is_a_plan_or_one_line(tmp_path, name, given_):
    lines = {place: [] for place in PLACES}
    for (place, key), literal in given_:
        lines[place].append(f"{key} = {literal}")
    if not any(line.startswith("record") for line in lines[""]):
        lines[""].append('record = ["margin"]')
    lines["[data]"].append(f"name = {name}")
    text = "\n".join(f"{place}\n" + "\n".join(some) for place, some in lines.items() if some)
    try:
        plan = read(write(tmp_path, text))
    except BadInput as error:
        assert "\n" not in str(error) and "plan.toml" in str(error)
    else:
        for point in plan.points:
            json.dumps(point.values, allow_nan=False)
            assert point.run.key
