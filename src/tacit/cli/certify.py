"""`tacit certify`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from tacit.cli._app import PointOptions, Unused, command, print_json, time_left
from tacit.values import BadInput, Dataset, Network, Setting

if TYPE_CHECKING:
    from tacit.certificates import Certificate


class Named(NamedTuple):
    """A network with what it is called, its data and the layers that were trained."""

    name: str
    network: Network
    data: Dataset
    train: Literal["both", "first"]


@command("tacit certify best.npz --data points.csv", data="--data takes")
def certify(
    weights: Path,
    /,
    *,
    data: str | None = None,
    layers: str | None = None,
    options: PointOptions = PointOptions(),  # noqa: B008  (frozen)
    activation: str | None = None,
    train: Literal["both", "first"] | None = None,
    tolerance: float = 1e-6,
    seconds: float = 120.0,
    seed: Unused = 0,
    json: bool = False,
) -> int:
    """What given weights are: a KKT point? The global optimum? What do they lack?

    Exit code 1 when they are no KKT point of the max-margin problem.

    Parameters
    ----------
    weights
        A folder of `train` or `limit` (its data and setting are known; of `limit` the limit, or the
        last moment where there is none), or a file (.npz, .safetensors, .pt of a PyTorch
        state_dict) with W (m × d) and a (m), or with two layers as PyTorch names them (fc1.weight,
        fc2.weight; biases with --bias).
    data
        With a file of weights: the data, a file or generator call.
    layers
        With a file that has more: the names of the two layers, such as fc1,fc2.
    activation
        With a file of weights: `relu` or `leaky:A`; by default what the file says, else `relu`.
    train
        With a file of weights: the layers that were trained; both by default.
    tolerance
        Residuals, shortfalls of the margin, and sines of the angles between a neuron's boundary and
        a point on it, up to this, count as none.
    seconds
        About how long the search for better networks may take, over all networks.
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    time_left(seconds)
    if weights.is_dir():
        given = any(one is not None for one in (data, layers, activation, train))
        if given or options != PointOptions():
            raise BadInput("a run folder has its own data and setting; leave these options out")
        networks = _in_folder(weights)
    else:
        if not weights.exists():
            raise BadInput(f"{weights}: there is no such run folder or file of weights")
        if data is None:
            raise BadInput(f"{weights}: say which data the weights are for, --data DATA")
        alpha = None if activation is None else Setting(activation=activation).alpha
        points = options.load(data)
        two = tuple(layers.split(",")) if layers else ()
        network = Network.load(weights, alpha, options.bias, two)
        name = f"{weights.name}, layers {' and '.join(two)}" if two else weights.name
        networks = [Named(name, network, points, train or "both")]

    from tacit.certificates import certificates_to_dict
    from tacit.certificates import certify as certify_network
    from tacit.cli.optimum import bounds_progress

    certificates = []
    with bounds_progress(hidden=json) as progress:
        for k, (name, network, points, layers) in enumerate(networks):
            certificate = certify_network(
                points,
                network,
                train=layers,
                tolerance=tolerance,
                seconds=time_left(seconds) / (len(networks) - k),
                progress=progress,
            )
            certificates.append(replace(certificate, name=name))
    if json:
        print_json(certificates_to_dict(certificates))
    else:
        _print_certificates(networks[0].data, certificates)
    return int(not all(certificate.is_kkt for certificate in certificates))


def _in_folder(path: Path) -> list[Named]:
    """The networks of a training run, or the limits of the flow (the last moment without one)."""
    if (path / "limit.json").exists():
        from tacit.flow import Limit

        limits = Limit.load(path)
        networks = [one.network or one.last_network for one in limits.each]
        seed, several = limits.worst.seed, not limits.data.binary
        members = [(seed, k if several else None) for k in range(len(networks))]
        named = _named(limits.worst.setting, limits.data, networks, members)
        return [
            one._replace(
                name=f"{one.name}, the limit"
                if limit.network is not None
                else f"{one.name}, the last moment of the path ({limit.outcome})"
            )
            for one, limit in zip(named, limits.each, strict=True)
        ]
    from tacit.training import Run

    run = Run.load(path)
    if not run.setting.two_layer:
        model = run.setting.to_dict()["model"]
        raise BadInput(
            f"certify speaks of two_layer networks; this run trained {model} "
            "(tacit.certificates.homogeneous_kkt takes any homogeneous function)"
        )
    return _named(run.setting, run.data, run.networks, run.members)


def _named(
    setting: Setting,
    data: Dataset,
    networks: Sequence[Network],
    members: Sequence[tuple[int, int | None]],
) -> list[Named]:
    """The members of a run, each a seed and perhaps a class, with their names and labels."""
    return [
        Named(
            f"seed {seed}" if k is None else f"{data.classes[k]} against the rest, seed {seed}",
            network,
            data if k is None else data.one_vs_rest(k),
            setting.train,
        )
        for (seed, k), network in zip(members, networks, strict=True)
    ]


def _print_certificates(data: Dataset, certificates: list[Certificate]) -> None:
    """A verdict for each network, with its numbers."""
    from rich.markup import escape

    from tacit.cli.terminal import console, title
    from tacit.messages import printable

    screen = console()
    screen.print(title(data))
    for one in certificates:
        screen.print(f"[bold]{escape(printable(one.name))}[/]: {one.verdict}")
        for line in one.details:
            screen.print(f"  {escape(line)}")
    screen.print(f"{sum(one.seconds for one in certificates):.2f} s")
