"""What a cluster runs: a pack, by a worker that has the same versions as who asks."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import tacit
from tacit.messages import printable
from tacit.sweeps.planned_run import DataCall, Pack, RunResult
from tacit.values import BadInput, Dataset

SENT = ("python", "tacit", "dask", "distributed", "numpy")
"""Must agree wherever tasks pass through."""
USED = (*SENT, "scipy", "jax", "jaxlib")
"""Must agree wherever tasks run."""


class Differs(BadInput):
    """A worker has other versions than who asks."""


def versions() -> dict[str, str]:
    """What is installed here."""
    installed = {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "tacit": tacit.__version__,
    }
    for name in USED[2:]:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            installed[name] = "none"
    return installed


def difference(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """What a person has to change, or nothing; everything that `theirs` names is compared."""
    return ", ".join(
        f"{name} {theirs[name]} where we have {ours[name]}"
        for name in theirs
        if theirs[name] != ours[name]
    )


def refusal(who: str, has: str) -> str:
    """The line for a worker or a scheduler that is not like us."""
    return f"the {who} has {has}; install the same versions on both sides"


def compare(client: Any, ours: Mapping[str, str], workers: set[str], known: set[str]) -> str:
    """What is wrong with workers that are not known yet, or with the scheduler; or nothing.

    A worker without tacit cannot read its tasks: it would end, and they would be blamed. Those that
    are like us are known from now on; who did not answer is asked again.
    """
    if not workers - known:
        return ""
    answers = client.run(versions, workers=list(workers - known), on_error="return")
    parts = {f"worker {address}": answer for address, answer in sorted(answers.items())}
    if not known:
        try:
            there = client.run_on_scheduler(versions)
            parts["scheduler"] = {name: there[name] for name in SENT}
        except Exception as error:
            parts["scheduler"] = error
    for who, theirs in parts.items():
        if isinstance(theirs, OSError):
            continue  # it has just left
        if isinstance(theirs, Exception):
            differs = f"no tacit of our version ({printable(f'{type(theirs).__name__}: {theirs}')})"
        else:
            differs = difference(ours, theirs)
        if differs:
            return refusal(who, differs)
    known |= {who for who, theirs in answers.items() if not isinstance(theirs, Exception)}
    return ""


def keep(data: Dataset) -> Dataset:
    """The data itself: as a task of its own it is sent once, and made again when it is lost."""
    return data


def task(
    ours: Mapping[str, str], pack: Pack, calls: tuple[DataCall, ...], *data: Dataset
) -> list[RunResult] | str:
    """The results of a pack, or what went wrong; it only computes, so it may run twice."""
    from distributed import get_worker

    differs = difference(ours, versions())
    if differs:
        raise Differs(refusal(f"worker {get_worker().address}", differs))
    from tacit.sweeps.computation import compute

    try:
        return list(compute(pack, dict(zip(calls, data, strict=True)), threads=1))
    except Exception as error:  # as text, for not every exception can travel
        return f"{type(error).__name__}: {error}"[:500]
