"""`tacit certify`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from tacit.cli._app import DataOptions, app, need_seconds, print_json
from tacit.values import BadInput

if TYPE_CHECKING:
    from tacit.certificates.weights import Network


@app.command
def certify(
    weights: Path,
    /,
    *,
    data: str | None = None,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    activation: str | None = None,
    train: Literal["both", "first"] | None = None,
    tolerance: float = 1e-6,
    seconds: float = 120.0,
    seed: int = 0,
    json: bool = False,
) -> int:
    """What given weights are: a KKT point? The global optimum? By how much not?

    Exit code 1 when they are no KKT point of the max-margin problem.

    Parameters
    ----------
    weights
        A folder of `train` or `limit` (its data and setting are known; of `limit` the limit, or the
        last moment where there is none), or a .npz file with W (m × d) and a (m).
    data
        With a .npz file: the data, a file or generator call.
    activation
        With a .npz file: `relu` (unless told otherwise), or `leaky:A`.
    train
        With a .npz file: the layers that were trained, both unless told otherwise.
    tolerance
        Residuals, shortfalls of the margin, and sines of the angles between a neuron's boundary and
        a point on it, up to this, count as none.
    seconds
        Stop looking for better networks after about that long (for each network).
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    need_seconds(seconds)
    if weights.is_dir():
        given = data is not None or activation is not None or train is not None
        if given or options != DataOptions():
            raise BadInput("a run folder has its own data and setting; leave these options out")
        networks = _in_folder(weights)
    else:
        if not weights.exists():
            raise BadInput(f"{weights}: there is no such run folder or .npz file")
        if data is None:
            raise BadInput(f"{weights}: say which data the weights are for, --data DATA")
        from tacit.certificates.weights import networks_in_file

        networks = networks_in_file(
            weights, options.load(data), activation or "relu", train or "both"
        )

    from tacit.certificates import certify as judge
    from tacit.cli import printing as show

    start = perf_counter()
    found = []
    with show.bounds_progress(hidden=json) as progress:
        for one in networks:
            found.append(judge(*one.arrays, one.alpha, one.train, tolerance, progress, seconds))
    seconds = perf_counter() - start
    names = [one.name for one in networks]
    if json:
        print_json(show.certificates_as_json(names, found, seconds))
    else:
        show.certificates(networks[0].data, names, found, seconds)
    return int(not all(one.is_kkt for one in found))


def _in_folder(path: Path) -> list[Network]:
    from tacit.certificates.weights import networks_of_run

    if not (path / "limit.json").exists():
        from tacit.training import load

        run = load(path)
        return networks_of_run(run.setting, run.data, run.params, run.members)
    from tacit.flow.limit_folder import load as load_limits

    found = load_limits(path)
    weights = {name: [getattr(one, name) for one in found.networks] for name in ("W", "a")}
    networks = networks_of_run(found.setting, found.data, weights, found.members)
    return [
        replace(one, name=f"{one.name}, {what}")
        for one, what in zip(networks, found.descriptions, strict=True)
    ]
