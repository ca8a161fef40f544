"""The work on a pack: each run as if it were alone, and what goes wrong stays with its run."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import tacit.flow
import tacit.sweeps.computation as module
import tacit.training
from helpers import rest_long
from tacit.certificates import certify
from tacit.data import load
from tacit.flow import PathEnd, binary_limit
from tacit.measures import MEASURES
from tacit.models.initialisations import initial_weights
from tacit.sweeps.columns import CERTIFICATE, LIMIT, result_columns
from tacit.sweeps.computation import compute
from tacit.sweeps.planned_run import DataCall, PlannedRun, RunResult
from tacit.training import train
from tacit.values import BadInput, Dataset, Network, Setting

RECORD = ("log_loss", "train_error", "margin", "weights")
TINY = Setting(width=4, init="gaussian:0.1", lr=0.05)


def runs(data: str, setting: Setting, seeds: int = 4, epochs: int = 40) -> list[PlannedRun]:
    """Runs that differ in seed, data and initialisation."""
    return [
        PlannedRun(
            DataCall(data.format(seed // 2)),
            replace(setting, init=f"gaussian:{0.1 * (1 + seed % 2)}"),
            epochs,
            seed,
            RECORD,
            60.0,
        )
        for seed in range(seeds)
    ]


def alone(run: PlannedRun) -> RunResult:
    (result,) = compute((run,), {})
    assert not result.failed, result.reason
    return result


def same(one: RunResult, other: RunResult) -> bool:
    """To the last bit."""
    return one.values == other.values and all(
        array.tobytes() == other.arrays[part].tobytes() for part, array in one.arrays.items()
    )


CONV = Setting(model="conv_max_pool", width=6, lr=0.02)
BITS = {
    "hinge, batched": ("xord:n=8,d=4,seed={}", replace(CONV, loss="hinge")),
    "leaky, batched": (
        "xord:n=6,d=3,seed={}",
        replace(CONV, activation="leaky:0.3", stop=("loss:0.3", "no_improvement:20")),
    ),
    "signs": ("xord:n=4,d=2,seed={}", Setting(width=5)),
    "too many signs": ("xord:n=7,d=3,seed={}", Setting(width=5)),
    "tiny": ("gaussians:n=3,d=2,seed={}", Setting(width=5)),
    "gd": ("gaussians:n=30,d=4,seed={}", Setting(width=8)),
    "sgd": ("gaussians:n=30,d=4,seed={}", Setting(width=8, rule="sgd", batch=7)),
    "adam": ("gaussians:n=30,d=4,seed={}", Setting(width=8, rule="adam", batch=7, lr=0.01)),
}


@pytest.mark.parametrize("case", rest_long(BITS, ["signs", "tiny", "sgd"]))
def test_a_result_does_not_depend_on_the_pack(case):
    pack = runs(*BITS[case], seeds=6, epochs=200)
    whole = compute(tuple(pack), {})
    backwards = compute(tuple(pack[::-1]), {}, threads=2)[::-1]
    assert len({result.arrays["W"].tobytes() for result in whole}) == len(pack)
    for i, result in enumerate(whole):
        assert not result.failed, result.reason
        assert same(result, backwards[i]), i
    assert same(whole[4], alone(pack[4]))
    mixed = tuple(runs(*BITS["gd"], seeds=1)) + tuple(pack[2:4])
    assert same(compute(mixed, {})[1], whole[2])


@pytest.mark.parametrize("rule", ["gd", "sgd", "adam"])
def test_it_is_what_train_does(rule):
    """The same weights, and every measure that `train` has at its end."""
    setting = Setting(width=8, rule=rule, lr=0.03, stop=("no_improvement:500",))
    call = DataCall("gaussians:n=20,d=3,test=9,seed=1", bias=0.5)
    run = PlannedRun(call, setting, 30, 5, (*MEASURES, "weights"), 60.0)
    result = alone(run)
    other = train(load(call.text, bias=0.5), setting, epochs=30, seeds=[5])
    for part, array in result.arrays.items():
        np.testing.assert_array_equal(array, other.params[part][0])
    assert result.values["outcome"] == other.outcomes[0] and result.values["epoch"] == 30
    for name, values in other.measures.items():
        expected = values[-1, 0]
        if np.isnan(expected).any():
            assert result.values[name] is None
        else:
            np.testing.assert_array_equal(result.values[name], expected)
    assert set(result.values) == {"outcome", "epoch", *MEASURES}
    json.dumps(result.values, allow_nan=False)


def test_initial_weights_are_each_run_s_own():
    """One epoch of a tiny step is where the run began."""
    pack = [replace(run, setting=replace(run.setting, lr=1e-300)) for run in runs("xor", TINY)]
    for run, result in zip(pack, compute(tuple(pack), {}), strict=True):
        model = tacit.models.TwoLayer()
        begun = initial_weights(model, 2, 4, run.setting.init, run.seed)
        np.testing.assert_array_equal(result.arrays["W"], begun["W"])


def test_data_sets_are_made_once(monkeypatch):
    calls = []

    def load_call(call: DataCall) -> Dataset:
        calls.append(call)
        return load(call.text)

    monkeypatch.setattr(module, "load_call", load_call)
    pack = runs("gaussians:n=5,seed={}", TINY, epochs=2)
    assert not any(result.failed for result in compute(tuple(pack), {}))
    assert len(calls) == len(set(calls)) == 2


@pytest.mark.parametrize("limit", ["MOST_HELD", "MOST_COMPILED"])
def test_little_memory_changes_nothing(limit, monkeypatch):
    """Runs whose data does not fit go one after the other; compiled code is made again."""
    pack = runs("gaussians:n=9,d=3,seed={}", TINY, epochs=20)
    pack += runs("gaussians:n=8,d=2,seed={}", TINY, epochs=20)
    whole = compute(tuple(pack), {})
    monkeypatch.setattr(module, limit, 1)
    for one, other in zip(whole, compute(tuple(pack), {}), strict=True):
        assert same(one, other)


def test_data_from_files_comes_with_the_pack(rng):
    X = rng.standard_normal((7, 3))
    data = Dataset(X, np.where(X[:, 0] > 0, 1, -1))
    call = DataCall("points.csv#0123")
    run = PlannedRun(call, TINY, 5, 0, RECORD, 60.0)
    (result,) = compute((run,), {call: data})
    assert result.arrays["W"].shape == (4, 3) and not result.failed
    (result,) = compute((run,), {})
    assert result.failed


def failing(pack: list[PlannedRun], bad: int, words: str) -> RunResult:
    """The result of the bad run; the others are as they are alone."""
    results = compute(tuple(pack), {})
    for i, result in enumerate(results):
        if i != bad:
            assert not result.failed, result.reason
            assert same(result, alone(pack[i]))
    reason = results[bad].reason
    assert words in reason and "\n" not in reason and "Traceback" not in reason
    assert results[bad].values == {} and results[bad].arrays == {}
    return results[bad]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gaussians:n=9,std=-1", "gaussians: std"),
        ("orthogonal_classes:n=9", "has 3 classes; a sweep trains on two"),
        ("nothing:n=9", "'nothing:n=9' is neither"),
        ("linear:n=100000000,d=1000", "choose them smaller"),
    ],
)
def test_data_that_cannot_be_made_fails_its_run_only(text, words):
    pack = runs("gaussians:n=9,d=3,seed={}", TINY, epochs=5)
    pack[1] = replace(pack[1], data=DataCall(text))
    failing(pack, 1, words)


def test_a_network_that_is_too_large_fails_its_run_only():
    pack = runs("gaussians:n=9,d=3,seed={}", TINY, epochs=5)
    pack[2] = replace(pack[2], setting=replace(TINY, width=10**9))
    failing(pack, 2, "width 1000000000 with 9 points in 3 dimensions")


def test_settings_that_are_wrong_fail_their_run_only():
    pack = runs("gaussians:n=9,d=3,seed={}", TINY, epochs=5)
    pack[0] = replace(pack[0], setting=replace(TINY, rule="sgd", batch=10))
    failing(pack, 0, "batch = 10 must be between 1 and the number of examples, 9")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("out of\nmemory"), OSError(5, "x")])
def test_what_training_raises_is_the_reason_of_the_guilty_run(error, monkeypatch):
    pack = runs("gaussians:n=9,d=3,seed={}", TINY, epochs=5)
    many = tacit.training.train_many

    def broken(setting, data, epochs, seeds, **more):
        if 2 in seeds:
            raise error
        return many(setting, data, epochs, seeds, **more)

    monkeypatch.setattr(tacit.training, "train_many", broken)
    failing(pack, 2, type(error).__name__)


def test_what_a_measure_raises_is_the_reason_of_its_run(monkeypatch):
    pack = runs("gaussians:n=9,d=3,seed={}", TINY, epochs=5)
    pack[3] = replace(pack[3], record=("q_min", "weights"))
    monkeypatch.setitem(MEASURES, "q_min", lambda snapshot: 1 / 0)
    failing(pack, 3, "ZeroDivisionError: division by zero")


def test_a_failed_run_always_has_a_reason(monkeypatch):
    def refused(call):
        raise BadInput("")

    monkeypatch.setattr(module, "load_call", refused)
    assert compute((runs("xor", TINY)[0],), {})[0].reason == "BadInput"


def test_long_reasons_are_cut(monkeypatch):
    monkeypatch.setattr(
        module, "load_call", lambda call: (_ for _ in ()).throw(ValueError("x" * 9999))
    )
    (result,) = compute((runs("xor", TINY)[0],), {})
    assert len(result.reason) == module.LONGEST


def test_an_interrupt_passes_through(monkeypatch):
    def interrupted(*given, **more):
        raise KeyboardInterrupt

    pack = tuple(runs("xor", TINY, epochs=5))
    monkeypatch.setattr(tacit.training, "train_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compute(pack, {})
    monkeypatch.setattr(module, "load_call", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compute(pack, {})


def test_an_interrupt_that_the_flow_keeps_to_itself_passes_through(monkeypatch):
    def interrupted(*given, **more):
        end = binary_limit(*given, **more)
        return replace(end, path=replace(end.path, end=PathEnd.INTERRUPTED))

    monkeypatch.setattr(tacit.flow, "binary_limit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compute((PlannedRun(DataCall("lyu2021_left"), TINY, 5, 0, ("limit",), 60.0),), {})


def test_what_diverges_says_so_and_measures_nothing():
    record = ("margin", "certificate", "weights")
    setting = Setting(width=4, lr=1e200, loss="exponential")
    result = alone(PlannedRun(DataCall("xor"), setting, 50, 0, record, 60.0))
    assert result.values["outcome"] == "diverged" and result.values["epoch"] < 50
    assert {result.values[name] for name in ("margin", *CERTIFICATE)} == {None}
    assert result.arrays == {}


def test_the_certificate_is_that_of_the_trained_network():
    setting = Setting(width=6, activation="leaky:0.2", init="balanced:0.1", lr=0.5)
    run = PlannedRun(
        DataCall("gaussians:n=9,seed=2"), setting, 300, 1, ("certificate", "weights"), 60.0
    )
    result, data = alone(run), load(run.data.text)
    one = certify(data, Network(result.arrays["W"], result.arrays["a"], 0.2))
    expected = (one.optimality, one.margin, *one.margin_bounds, one.shortfall)
    expected += (one.kkt.stationarity, one.kkt.feasibility, one.kkt.complementarity)
    assert [result.values[name] for name in CERTIFICATE] == list(expected)
    assert one.optimality == "suboptimal" and 0 < one.shortfall < 1


def test_where_there_is_no_certificate_it_says_why(monkeypatch):
    run = PlannedRun(
        DataCall("linear:n=6,d=4"), Setting(model="residual", width=4), 3, 0, ("certificate",), 9
    )
    values = alone(run).values
    assert values["certificate.optimality"] == "only two_layer networks have a certificate"
    assert values["certificate.gap"] is None

    def refused(*given, **more):
        raise BadInput("all trained weights are zero")

    monkeypatch.setattr("tacit.certificates.certify", refused)
    values = alone(replace(run, setting=TINY)).values
    assert values["certificate.optimality"] == "none: all trained weights are zero"


def test_the_limit_needs_no_training(monkeypatch):
    monkeypatch.setattr(tacit.training, "train_many", None)
    setting = Setting(width=6, activation="leaky:0.5", init="balanced:1e-3")
    result = alone(PlannedRun(DataCall("lyu2021_left"), setting, 5, 3, ("limit",), 60.0))
    end = binary_limit(load("lyu2021_left"), replace(setting, rule="flow"), seed=3)
    assert end.outcome.settled
    assert set(result.values) == set(LIMIT)
    assert result.values["limit.outcome"] == end.outcome
    assert result.values["limit.margin"] == end.margin
    assert result.values["limit.groups"] == len(end.groups)
    assert result.values["limit.optimality"] == end.certificate.optimality
    assert result.arrays == {}


def test_every_column_has_a_value_or_none():
    record = (*MEASURES, "limit", "certificate", "weights")
    setting = Setting(width=6, init="balanced:0.1", lr=0.5)
    result = alone(PlannedRun(DataCall("lyu2021_left"), setting, 50, 1, record, 60.0))
    assert set(result.values) == set(result_columns(record)[2:])
    assert result.values["test_error"] is None
    assert {"W", "a"} <= set(result.arrays)
    assert result.seconds > 0 and result.device


def test_a_machine_without_solvers_and_command_line_can_work():
    """What a GPU machine may lack is not imported by plans, packs, tables and training."""
    code = """
import sys
solvers = ["clarabel", "daqp", "numba"]
for name in [*solvers, "cyclopts", "sklearn", "distributed", "pyarrow", "threadpoolctl"]:
    sys.modules[name] = None
from tacit import Setting
from tacit.sweeps import packs, plan, table
from tacit.sweeps.planned_run import DataCall, PlannedRun
from tacit.sweeps.computation import compute
run = PlannedRun(DataCall("linear:n=5"), Setting(width=4), 3, 0, ("margin",), 60.0)
((result,),) = [compute(pack, {}) for pack in packs.packs([run], 8)]
assert not result.failed, result.reason
"""
    subprocess.run([sys.executable, "-c", code], check=True)
