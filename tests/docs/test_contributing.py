"""The examples of CONTRIBUTING.md work as they stand."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.data._sampling import halves
from tacit.data.generators import GENERATORS, generator
from tacit.geometry import check
from tacit.geometry.predicate import _REGISTERED, Finding, View, predicate
from tacit.measures import MEASURES, Snapshot, measure
from tacit.messages import require
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Paper, Settings, Tell, ours, paper
from tacit.reproduction.claims import at_most
from tacit.training import train
from tacit.values import Dataset, Setting

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")


def test_the_examples():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    names = {"np": np, "Dataset": Dataset, "generator": generator, "require": require}
    names |= {"halves": halves, "predicate": predicate, "View": View, "Finding": Finding}
    names |= {"measure": measure, "Snapshot": Snapshot}
    names |= {"dataclass": dataclass, "paper": paper, "ours": ours, "Settings": Settings}
    names |= {"PAPER": Paper("mine2026"), "Tell": Tell, "Exhibit": Exhibit, "at_most": at_most}
    names |= {"train": train, "Setting": Setting, "new_figure": new_figure}
    exec(code, names)
    try:
        artefact = names["PAPER"].artefacts["fig1"]
        exhibit = artefact.make(artefact.choose(quick=False, n=6), lambda text: None)
        assert exhibit.claims[0].holds and len(exhibit.figure.axes) == 1
        data = GENERATORS["rings"](n=20, d=3)
        properties = check(data, properties="unit_norms").properties["unit_norms"]
        assert properties.holds is False and abs(properties.slack + 1) < 1e-12
        run = train(data, Setting(width=4), epochs=2)
        assert abs(run.measures["largest_neuron"][0, 0] - 1e-4) < 1e-15  # balanced:1e-4
    finally:
        GENERATORS.pop("rings", None)
        _REGISTERED.pop("unit_norms", None)
        MEASURES.pop("largest_neuron", None)
