"""`tacit optimum`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Literal

from tacit.cli._app import DataOptions, app, need_seconds, print_json
from tacit.values import BadInput

SIGNS = {"both": (1, -1), "positive": (1,), "negative": (-1,)}


@app.command
def optimum(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    activation: str = "relu",
    train: Literal["both", "first"] = "both",
    width: int | None = None,
    output_weight: float | None = None,
    signs: Literal["both", "positive", "negative"] = "both",
    seconds: float = 120.0,
    proof: Path | None = None,
    force: bool = False,
    seed: int = 0,
    json: bool = False,
) -> int:
    """The widest margin any network can have on this data, with a proof. No training.

    Exit code 1 when no network fits the labels, or none was found.

    Parameters
    ----------
    data
        File or generator call. Classes of more than two are taken one against the rest.
    activation
        `relu`, or `leaky:A` for φ(z) = max(z, Az).
    train
        Layers that may be chosen: both (then any width), or the first only.
    width
        With --train first: the number of units (100), half with weight +V, half with −V.
    output_weight
        With --train first: V (1).
    signs
        Signs of the output weights that are allowed.
    seconds
        Stop looking after about that long (for each class); the bounds found so far hold.
    proof
        Write the proof to this file; `tacit verify` checks it in exact arithmetic.
    force
        Replace PROOF if it exists.
    seed
        Accepted by every command; the answer does not depend on it.
    json
        One JSON object on standard output.
    """
    from tacit.files import check_writable, write_file
    from tacit.models.activation import parse_activation

    alpha = parse_activation(activation).alpha
    for name, value in (("--width", width), ("--output-weight", output_weight)):
        if train == "both" and value is not None:
            raise BadInput(
                f"{name} plays no part when both layers are free; it needs --train first"
            )
    need_seconds(seconds)
    if proof is not None:
        check_writable(proof, force, folder=False)
        if any(proof.resolve() == Path(part).resolve() for part in data.split(",")):
            raise BadInput(f"--proof {proof} is the data itself; choose another name")
        if signs != "both":
            raise BadInput("--proof is for networks with both signs; leave --signs out")

    from tacit.certificates import optimum as solve
    from tacit.cli import printing as show

    points = options.load(data)
    start = perf_counter()
    with show.bounds_progress(hidden=json) as progress:
        best = solve(
            points,
            alpha,
            train,
            100 if width is None else width,
            1.0 if output_weight is None else output_weight,
            SIGNS[signs],
            progress,
            seconds,
        )
    seconds = perf_counter() - start
    proved, failure = None, None
    if proof is not None:
        from tacit.certificates import proof_of

        try:
            raw, proved = proof_of(best)
            write_file(proof, raw, force)
        except Exception as error:  # what was found is shown all the same
            proved, failure = None, error
    if json:
        print_json(show.best_as_json(best, seconds, proved))
    else:
        show.best(best, seconds, proof, proved)
    if failure is not None:
        raise failure
    return int(best.upper == float("inf"))
