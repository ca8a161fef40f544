"""`tacit optimum`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Literal

from tacit.cli._app import DataOptions, app, print_json

SIGNS = {"both": (1, -1), "+": (1,), "-": (-1,)}


@app.command
def optimum(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    activation: str = "relu",
    train: Literal["both", "first"] = "both",
    width: int = 100,
    output_weight: float = 1.0,
    signs: Literal["both", "+", "-"] = "both",
    proof: Path | None = None,
    force: bool = False,
    seed: int = 0,
    json: bool = False,
) -> int:
    """The widest margin any network can have on this data, with a proof. No training.

    Exit code 1 when no network fits the labels.

    Parameters
    ----------
    data
        File or generator call. Classes of more than two are taken one against the rest.
    activation
        `relu`, or `leaky:A` for φ(z) = max(z, Az).
    train
        Layers that may be chosen: both (then any width), or the first only.
    width
        With --train first: the number of units, half of them with weight +V, half with −V.
    output_weight
        With --train first: V.
    signs
        Signs of the output weights that are allowed.
    proof
        Write the proof to this file; `tacit verify` checks it in exact arithmetic.
    force
        Replace PROOF if it exists.
    seed
        Accepted by every command; the answer does not depend on it.
    json
        One JSON object on standard output.
    """
    from tacit._io import check_writable, write_file
    from tacit._types import BadInput
    from tacit.models.activation import parse_activation

    alpha = parse_activation(activation)
    if proof is not None:
        check_writable(proof, force, folder=False)
        if signs != "both":
            raise BadInput("--proof is for networks with both signs; leave --signs out")

    from tacit import show
    from tacit.certificates import optimum as solve

    points = options.load(data)
    start = perf_counter()
    with show.bounds_progress(hidden=json) as progress:
        best = solve(points, alpha, train, width, output_weight, SIGNS[signs], progress)
    seconds = perf_counter() - start
    if proof is not None:
        from tacit.certificates import proof_of

        write_file(proof, proof_of(best)[0], force)
    if json:
        print_json(show.best_as_json(best, seconds))
    else:
        show.best(best, seconds, proof)
    return int(best.status == "infeasible")
