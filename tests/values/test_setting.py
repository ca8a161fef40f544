"""A setting is parsed once, refuses nonsense when it is made, and gives its texts back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.messages import number_text
from tacit.models import Leaky, ReLU, TwoLayer
from tacit.models.initialisations import Balanced, Gaussian, He
from tacit.models.losses import Hinge, Logistic
from tacit.values import BadInput, Setting
from tacit.values.setting import PLAIN_TYPES

texts = st.fixed_dictionaries(
    {
        "activation": st.sampled_from(["relu", "leaky:0.3", "leaky:0.01"]),
        "train": st.sampled_from(["both", "first"]),
        "width": st.integers(1, 10**6),
        "init": st.sampled_from(["gaussian:1e-3", "he:1e-3", "pair:1e-5:0.3", "uniform:0.05"]),
        "loss": st.sampled_from(["logistic", "exponential:sum", "hinge", "hinge:5"]),
        "rule": st.sampled_from(["gd", "sgd", "adam", "flow"]),
        "lr": st.floats(1e-300, 1e300),
        "batch": st.none() | st.integers(1, 100),
        "stop": st.sampled_from([[], ["zero_error"], ["loss:1e-6", "direction:1e-3"]]),
    }
)


@given(texts)
def test_texts_come_back(given) -> None:
    setting = Setting(**given)
    said = setting.to_dict()
    assert {name: said[name] for name in given} == given
    assert list(said) == list(PLAIN_TYPES)
    assert Setting(**said).to_dict() == said
    assert Setting(**{**said, "init": setting.init}) == setting


@given(st.floats(1e-300, 1e300))
def test_a_number_is_written_as_short_as_it_can_be(value) -> None:
    assert float(number_text(value)) == value
    assert len(number_text(value)) <= len(repr(value))


def test_values_are_typed() -> None:
    setting = Setting(activation="leaky:0.3", loss="hinge:5")
    assert setting.activation == Leaky(0.3) and setting.alpha == 0.3
    assert setting.model == TwoLayer(0.3, "both") and setting.loss == Hinge(5.0)
    assert Setting().activation == ReLU() and Setting().loss == Logistic()
    assert Setting(activation=Leaky(0.3), loss=Hinge(5.0)) == setting
    assert setting.replace(activation="relu").model == TwoLayer(0.0, "both")


def test_the_default_start_goes_with_the_network() -> None:
    assert Setting().initialisation == Balanced(1e-4)
    assert Setting().replace(train="first").initialisation == Gaussian(1e-4)
    assert Setting(model="conv_max_pool").initialisation == Gaussian(1e-4)
    assert Setting(model="residual").initialisation == He(1.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"activation": "tanh"}, "tanh"),
        ({"activation": "leaky:1"}, "α = 1"),
        ({"model": "three_layer"}, "three_layer"),
        ({"train": "last"}, "last"),
        ({"width": 0}, "width=0"),
        ({"width": 2.5}, "width=2.5"),
        ({"init": "balanced:-1"}, "positive"),
        ({"init": "nobody:1"}, "nobody"),
        ({"loss": "square"}, "square"),
        ({"rule": "newton"}, "newton"),
        ({"lr": math.nan}, "lr=nan"),
        ({"lr": 0}, "lr=0"),
        ({"lr": "fast"}, "`lr=fast` must be a positive number"),
        ({"step": "big"}, "big"),
        ({"step": "scaled", "rule": "sgd"}, "scaled"),
        ({"batch": 0}, "batch=0"),
        ({"output_weight": -1}, "output_weight=-1"),
        ({"stop": ["soon"]}, "soon"),
        ({"stop": "zero_error"}, "sequence"),
        ({"stop": ["loss:1e-3", "log10_loss:-5"]}, "already"),
    ],
)
def test_nonsense_is_refused_at_once(given, words: str) -> None:
    with pytest.raises(BadInput, match=words) as error:
        Setting(**given)
    assert "\n" not in str(error.value) and "--" not in str(error.value)


def test_the_width_is_that_of_the_file(tmp_path) -> None:
    np.savez(tmp_path / "w.npz", W=np.ones((7, 2)), a=np.ones(7))
    assert Setting(init=f"file:{tmp_path}/w.npz").width == 7
    assert Setting(init=f"file:{tmp_path}/w.npz", width=3).width == 3


def test_the_repr_says_what_is_not_the_default() -> None:
    assert repr(Setting()) == "Setting()"
    assert repr(Setting(width=5, stop=["zero_error"])) == "Setting(width=5, stop=['zero_error'])"
    assert repr(Setting(train="first")) == "Setting(train='first')"
