"""What a page may ask for, and the one line that everything else is answered with."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab_cases import CASE, SETTING, message
from tacit.lab.requests import MOST_BYTES, MOST_POINTS, read_request
from tacit.values import BadInput


def test_a_case_is_read_to_the_last_bit():
    request = read_request(message(points=[[0.1, 1 / 3], [-2e-17, 5.0]], labels=[1, -1], bias=0.5))
    assert request.data is not None and request.seed == 3
    assert request.data.X.tolist() == [[0.1, 1 / 3], [-2e-17, 5.0]]
    assert request.points.X[:, 2].tolist() == [0.5, 0.5]
    assert request.setting.rule == "flow" and request.setting.width == 6


WRONG = {
    "not JSON": "{",
    "too deep": "[" * 100_000,
    "a list": "[1]",
    "unknown verb": json.dumps({"id": 1, "do": "eval"}),
    "unknown field": message(evil=1),
    "missing field": json.dumps({"id": 1, "do": "load"}),
    "NaN": message(points=[[float("nan"), 1.0]] * 4),
    "infinite": message(points=[[float("inf"), 1.0]] * 4),
    "overflows": message().replace("0.25", "1e999"),
    "huge": message(points=[[1e300, 1.0]] * 4),
    "text for a number": message(points=[["1", 1.0]] * 4),
    "true for a number": message(points=[[True, 1.0]] * 4),
    "ragged": message(points=[[1.0], [1.0, 2.0], [1.0], [1.0]]),
    "no points": message(points=[], labels=[]),
    "no coordinates": message(points=[[]] * 4),
    "too many points": message(
        points=[[1.0, 1.0]] * (MOST_POINTS + 1), labels=[1] * (MOST_POINTS + 1)
    ),
    "labels short": message(labels=[1, -1]),
    "label 0": message(labels=[1, -1, 0, 1]),
    "label true": message(labels=[1, -1, True, 1]),
    "negative seed": message(seed=-1),
    "seed 1.5": message(seed=1.5),
    "a file as start": message(setting={**SETTING, "init": "file:/etc/passwd"}),
    "a file inside a start": message(setting={**SETTING, "init": "embedding:/etc/passwd"}),
    "width 0": message(setting={**SETTING, "width": 0}),
    "wide": message(setting={**SETTING, "width": 10**9}),
    "no such activation": message(setting={**SETTING, "activation": "tanh"}),
    "extra setting": message(setting={**SETTING, "rule": "sgd"}),
    "a file as data": json.dumps({"id": 1, "do": "load", "call": "/etc/passwd"}),
    "a file as source": message(source="../secret.csv"),
    "files of MNIST": json.dumps({"id": 1, "do": "load", "call": "mnist:classes=3/5"}),
    "many epochs": message("descend", epochs=10**9),
    "lr 0": message("descend", lr=0),
    "dragging 1": message("check", dragging=1),
    "large": message(name="x" * MOST_BYTES),
    "long name": message(name="x" * 1000),
}


@pytest.mark.parametrize("raw", WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_refused_in_one_line(raw):
    with pytest.raises(BadInput) as refused:
        read_request(raw)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=30)
@given(st.sampled_from(sorted(CASE)), JSON)
def test_no_value_of_a_field_is_more_than_refused(field, value):
    try:
        request = read_request(message(**{field: value}))
    except BadInput:
        return
    assert request.data is not None and np.isfinite(request.data.X).all()
