"""What `import tacit` gives: the verbs, the values, the result types and the pictures."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import tacit

VERBS = [name for name in dir(tacit) if inspect.isfunction(getattr(tacit, name))]
TYPES = [name for name in dir(tacit) if inspect.isclass(getattr(tacit, name))]
ORDER = {
    "certify": ("data", "network"),
    "verify": ("proof",),
    "sweep": ("plan", "out"),
    "reproduce": ("names",),
    "probe": ("model", "X", "y"),
}
"""The positional parameters of verbs that are not data and the setting."""


def test_dir_shows_exactly_the_public_names():
    assert set(VERBS) == set(
        "load check predict explain train limit optimum certify verify sweep reproduce "
        "probe".split()
    )
    assert set(TYPES) == set(
        "Dataset Setting Network BadInput Geometry Predictions Explanation Run Limit Limits "
        "Optimum Certificate Verification Sweep Reproduction Probe "
        "Probed".split()
    )
    assert set(dir(tacit)) == {*VERBS, *TYPES, "plot", "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'wall'"):
        getattr(tacit, "wall")  # noqa: B009


def test_import_is_instant():
    code = "import sys, tacit; dir(tacit); print(len(set(sys.modules) & {'numpy', 'jax', 'rich'}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "0"


def test_no_module_takes_the_name_of_a_verb():
    """Importing a module makes it an attribute of its package."""
    packages = {one.name for one in pkgutil.iter_modules(tacit.__path__)}
    assert not packages & {*VERBS, *TYPES}
    for one in pkgutil.walk_packages(tacit.__path__, "tacit."):
        if not one.name.endswith("__main__"):
            import_module(one.name)
    assert all(inspect.isfunction(getattr(tacit, verb)) for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_data_comes_first_then_the_setting_then_keywords(verb):
    parameters = inspect.signature(getattr(tacit, verb)).parameters.values()
    places = [one.name for one in parameters if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]
    if verb in ORDER:
        assert tuple(places) == ORDER[verb]
    else:
        assert tuple(places) in (("data",), ("data", "setting"), ("data", "y"))


@pytest.mark.parametrize("name", [*VERBS, *TYPES])
def test_public_names_are_documented(name):
    """numpydoc: what goes in, what comes out, and an example that the doctests run."""
    thing = getattr(tacit, name)
    text = inspect.getdoc(thing) or ""
    assert text.partition("\n")[0].endswith((".", "?"))
    if name == "BadInput":
        return
    underlined = {
        line
        for line, below in zip(text.splitlines(), text.splitlines()[1:], strict=False)
        if below and set(below) == {"-"}
    }
    wanted = {"Parameters", "Returns", "Examples"} if name in VERBS else {"Examples"}
    assert wanted <= underlined and ">>> " in text
    assert underlined & {"Parameters", "Attributes"}


@pytest.mark.parametrize("noun", dir(tacit.plot))
def test_pictures_are_documented(noun):
    text = getattr(tacit.plot, noun).__doc__
    assert all(part in text for part in ("Parameters\n", "Returns\n", "Examples\n", ">>> "))


@pytest.mark.parametrize("name", [name for name in TYPES if name not in ("BadInput", "Setting")])
def test_results_share_their_methods(name):
    thing = getattr(tacit, name)
    assert callable(thing.to_dict)
    if name != "Network":
        assert issubclass(thing, import_module("tacit.values").Result)
        for method in ("plot", "save", "load", "_repr_html_"):
            assert callable(getattr(thing, method))


HUGE = 10**400
"""A whole number beyond floating point."""
WRONG = [
    ("load", "labels", 3),
    ("load", "bias", "1"),
    ("load", "bias", HUGE),
    ("check", "properties", 3),
    ("check", "activation", 0.3),
    ("predict", "seed", -1),
    ("predict", "seed", 1.5),
    ("predict", "only", None),
    ("predict", "only", scipy.sparse.eye(3, format="coo")),
    ("explain", "seconds", None),
    ("explain", "seed", None),
    ("train", "epochs", 2.5),
    ("train", "seeds", 3),
    ("train", "seeds", np.array(3)),
    ("train", "resume", "run"),
    ("limit", "seed", "1"),
    ("limit", "log10_loss", "-100"),
    ("limit", "start", 3),
    ("limit", "start", ()),
    ("limit", "resume", "run"),
    ("limit", "seconds", HUGE),
    ("limit", "log10_loss", -HUGE),
    ("limit", "progress", 3),
    ("optimum", "signs", (2,)),
    ("optimum", "signs", ()),
    ("optimum", "seconds", "1"),
    ("certify", "tolerance", "1e-6"),
    ("certify", "train", None),
]


@pytest.mark.parametrize(("verb", "name", "value"), WRONG)
def test_a_wrong_argument_is_refused_by_name(verb, name, value):
    more = (tacit.Network([[1.0, 0.0]], [1.0]),) if verb == "certify" else ()
    with pytest.raises(tacit.BadInput, match=f"`{name}=") as refused:
        getattr(tacit, verb)("xor", *more, **{name: value})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("verb", ["predict", "explain", "train", "limit", "optimum"])
def test_a_keyword_of_the_setting_is_sent_there(verb):
    with pytest.raises(tacit.BadInput, match=rf"{verb}\(data, tacit.Setting\(width=…\)\)"):
        getattr(tacit, verb)("xor", width=3)


@pytest.mark.parametrize("name", ["model", "activation", "init", "loss", "stop", "train", "width"])
@pytest.mark.parametrize("value", [0.3, [0.3], {"a": 1}])
def test_a_setting_refuses_nonsense_when_it_is_made(name, value):
    with pytest.raises(tacit.BadInput, match=name):
        tacit.Setting(**{name: value})


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ("x", 2),
        ([["a", "b"]], [1]),
        ([[1j, 0]], [1]),
        ([[1], [1, 2]], [1, -1]),
        ([[1], [2]], [1 + 0j, -1]),
        ([[1], [2]], [HUGE, -HUGE]),
        ([[1], [2]], np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")),
        ([[1], [2]], np.zeros(2, dtype=[("a", float), ("b", int)])),
    ],
)
def test_points_that_are_no_numbers_are_refused(X, y):
    for read in (tacit.Dataset, tacit.load):
        with pytest.raises(tacit.BadInput):
            read(X, y)


@pytest.mark.parametrize("name", ["output_weight", "lr"])
def test_a_number_beyond_floating_point_is_refused(name):
    with pytest.raises(tacit.BadInput, match=f"`{name}="):
        tacit.Setting(**{name: HUGE})
    with pytest.raises(tacit.BadInput, match="arrays of numbers"):
        tacit.Network([[HUGE, 0]], [1.0])


def test_a_fraction_is_a_number():
    with pytest.raises(tacit.BadInput, match="`log10_loss=0.33"):
        tacit.limit("xor", log10_loss=Fraction(1, 3))


NO_NAMES = [3, b"x", [], np.int8(1), "x" * 5000]


@pytest.mark.parametrize("name", NO_NAMES, ids=[type(one).__name__ for one in NO_NAMES])
def test_what_is_no_name_of_a_file_is_refused(name):
    network = tacit.Network([[1.0, 0.0]], [1.0])
    for use in (tacit.Network.load, tacit.Limit.load, tacit.Run.load, tacit.Explanation.load):
        with pytest.raises(tacit.BadInput, match="name of a file"):
            use(name)
    for use in (network.save, tacit.load("xor").save, tacit.sweep):
        with pytest.raises(tacit.BadInput, match="name of a file"):
            use(name)


def test_a_network_is_of_real_numbers_and_has_points_of_its_dimension():
    with pytest.raises(tacit.BadInput, match="arrays of numbers"):
        tacit.Network([[1.0, 0.0]], [1.0 + 0j])
    network = tacit.Network([[1.0, 0.0]], [1.0])
    for X in ([1.0, 2.0, 3.0], 1.0, [[1.0]]):
        with pytest.raises(tacit.BadInput, match=r"\(…, 2\)"):
            network.outputs(X)


@pytest.mark.parametrize("proof", [None, 3, ["proof"], {"proof": 1}, "pro\0of"])
def test_what_is_no_name_of_a_file_is_no_proof(proof):
    with pytest.raises(tacit.BadInput):
        tacit.verify(proof)


def test_a_message_steers_no_terminal():
    """What was given is quoted; Python prints it as it is."""
    with pytest.raises(tacit.BadInput, match=r"unknown loss '\\x1b\[31m two'"):
        tacit.Setting(loss="\x1b[31m\ntwo")


def test_a_slope_that_is_no_number_is_refused():
    with pytest.raises(tacit.BadInput, match="slope"):
        tacit.Network([[1.0, 0.0]], [1.0], "leaky:0.3")


COMMANDS = [verb for verb in VERBS if verb not in ("load", "probe")]  # of things in Python
OTHERWISE = {"signs": "both", "train": None, "out": Path("figures")}
"""Options that say the same by other words: signs, what the weights have, where figures go."""


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_command_line_has_the_same_defaults(verb):
    command = getattr(import_module(f"tacit.cli.{verb}"), verb)
    options: dict[str, object] = {}
    for one in inspect.signature(command).parameters.values():
        default = one.default
        options |= vars(default) if dataclasses.is_dataclass(default) else {one.name: default}
    for one in inspect.signature(getattr(tacit, verb)).parameters.values():
        if one.default is not one.empty and one.name in options:
            assert options[one.name] in (one.default, OTHERWISE.get(one.name, one.default))
