"""The examples of CONTRIBUTING.md work as they stand."""

import re
from pathlib import Path

import numpy as np

from tacit.data._sampling import halves
from tacit.data.generators import GENERATORS, generator, require
from tacit.geometry import check
from tacit.geometry.predicate import _REGISTERED, Finding, View, predicate
from tacit.measures import MEASURES, Snapshot, measure
from tacit.training import train
from tacit.values import Dataset, Setting

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")


def test_the_examples():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    names = {"np": np, "Dataset": Dataset, "generator": generator, "require": require}
    names |= {"halves": halves, "predicate": predicate, "View": View, "Finding": Finding}
    names |= {"measure": measure, "Snapshot": Snapshot}
    exec(code, names)
    try:
        data = GENERATORS["rings"](n=20, d=3)
        properties = check(data, properties="unit_norms").properties["unit_norms"]
        assert properties.holds is False and abs(properties.slack + 1) < 1e-12
        run = train(data, Setting(width=4), epochs=2)
        assert abs(run.measures["largest_neuron"][0, 0] - 1e-4) < 1e-15  # balanced:1e-4
    finally:
        GENERATORS.pop("rings", None)
        _REGISTERED.pop("unit_norms", None)
        MEASURES.pop("largest_neuron", None)
