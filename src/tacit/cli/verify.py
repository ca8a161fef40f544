"""`tacit verify`."""

from __future__ import annotations

from pathlib import Path

from tacit.cli._app import DataOptions, app, print_json
from tacit.values import BadInput


@app.command
def verify(
    file: Path,
    /,
    *,
    data: str | None = None,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    seed: int = 0,
    json: bool = False,
) -> int:
    """Check a proof written by `tacit optimum --proof`, in exact arithmetic.

    The checker shares no code with the solvers. Exit code 1 when the proof is rejected.

    Parameters
    ----------
    file
        The proof.
    data
        Compare with this data too: the proof must be about exactly these points and labels.
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    from tacit.cli import printing as show
    from tacit.proofs import about, verify

    if data is None and options != DataOptions():
        raise BadInput("--labels, --bias and --test say how --data is read; there is no --data")
    found = verify(file)
    if data is not None:
        found = about(found, options.load(data))
    if json:
        print_json(show.verdict_as_json(found))
    else:
        show.verdict(found)
    return int(not found.verified)
