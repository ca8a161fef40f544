"""The examples of CONTRIBUTING.md work as they stand."""

import re
from pathlib import Path

import numpy as np

from tacit._types import Dataset, Setting
from tacit.data._registry import GENERATORS, generator, require
from tacit.data._sampling import halves
from tacit.geometry import PREDICATES, check
from tacit.geometry.base import Finding, View, predicate
from tacit.measures import MEASURES, Snapshot, measure
from tacit.train import train

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text("utf-8")


def test_the_examples():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    rooms = {"np": np, "Dataset": Dataset, "generator": generator, "require": require}
    rooms |= {"halves": halves, "predicate": predicate, "View": View, "Finding": Finding}
    rooms |= {"measure": measure, "Snapshot": Snapshot}
    exec(code, rooms)
    try:
        data = GENERATORS["rings"](n=20, d=3)
        found = check(data, ["unit_norms"]).properties["unit_norms"]
        assert found.holds is False and abs(found.slack + 1) < 1e-12
        run = train(Setting(width=4), data, epochs=2)
        assert abs(run.measures["largest_neuron"][0, 0] - 1e-3) < 1e-15  # balanced:1e-3
    finally:
        GENERATORS.pop("rings", None)
        PREDICATES.pop("unit_norms", None)
        MEASURES.pop("largest_neuron", None)
