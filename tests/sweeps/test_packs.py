"""Packs: every run once, only with runs that the same compiled code trains."""

from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.sweeps.packs import SLOW, alike, packs
from tacit.sweeps.planned_run import DataCall, PlannedRun
from tacit.values import Setting

RUN = PlannedRun(
    DataCall("linear:n=8,seed=1"), Setting(init="gaussian:0.1"), 10, 0, ("margin",), 60.0
)

runs = st.builds(
    lambda seed, n, width, init, record: PlannedRun(
        DataCall(f"linear:n={n},seed={seed}"),
        Setting(width=width, init=init),
        10,
        seed,
        record,
        60.0,
    ),
    st.integers(0, 50),
    st.sampled_from([4, 8]),
    st.sampled_from([2, 4]),
    st.sampled_from([None, "gaussian:0.1"]),
    st.sampled_from([("margin",), ("margin", "certificate")]),
)


@given(st.lists(runs, max_size=60), st.integers(1, 20), st.integers(1, 9))
def test_every_run_is_in_one_pack(many, most, shares):
    made = packs(many, most, shares)
    place = {id(run): i for i, run in enumerate(many)}
    values = [place[id(run)] for pack in made for run in pack]
    assert sorted(values) == list(range(len(many)))
    kinds = [alike(pack[0]) for pack in made]
    assert [kind for kind, _ in groupby(kinds)] == list(dict.fromkeys(map(alike, many)))
    for pack in made:
        assert 1 <= len(pack) <= most
        assert len({alike(run) for run in pack}) == 1
        inside = [place[id(run)] for run in pack]
        assert inside == sorted(inside)
        if "certificate" in pack[0].record:
            assert len(pack) <= SLOW
    assert all(len(pack) <= -(-len(many) // shares) for pack in made)


def test_the_cores_share_evenly():
    many = [replace(RUN, seed=seed) for seed in range(100)]
    assert [len(pack) for pack in packs(many, 64)] == [50, 50]
    assert [len(pack) for pack in packs(many, 1000, 4)] == [25] * 4
    assert sorted(len(pack) for pack in packs(many, 8, 4)) == [7] * 4 + [8] * 9
    assert [len(pack) for pack in packs(many[:3], 64, 4)] == [1, 1, 1]
    assert packs([], 64, 4) == []


@pytest.mark.parametrize(
    "other",
    [
        replace(RUN, seed=3),
        replace(RUN, data=DataCall("linear:n=8,seed=7")),
        replace(RUN, setting=replace(RUN.setting, init="balanced:3")),
    ],
)
def test_seeds_data_and_initial_weights_go_together(other):
    assert len(packs([RUN, other], 8)) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(RUN, epochs=11),
        replace(RUN, seconds=3.0),
        replace(RUN, record=("norm",)),
        replace(RUN, data=DataCall("linear:n=9,seed=1")),
        replace(RUN, data=DataCall("linear:n=8,seed=1", bias=1.0)),
        replace(RUN, data=DataCall("gaussians:n=8,seed=1")),
        *(
            replace(RUN, setting=replace(RUN.setting, **{field: value}))
            for field, value in {
                "model": "residual",
                "activation": "leaky:0.1",
                "train": "first",
                "width": 7,
                "output_weight": 2.0,
                "loss": "hinge",
                "rule": "sgd",
                "lr": 0.2,
                "step": "scaled",
                "batch": 2,
                "stop": ("zero_error",),
            }.items()
        ),
    ],
)
def test_what_compiled_code_depends_on_does_not(other):
    assert len(packs([RUN, other], 8)) == 2
