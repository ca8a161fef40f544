"""`tacit verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli._app import PointOptions, Unused, command, print_json
from tacit.values import BadInput

if TYPE_CHECKING:
    from tacit.proofs import Verification


@command("tacit verify proof.json", data="--data takes")
def verify(
    file: Path,
    /,
    *,
    data: str | None = None,
    options: PointOptions = PointOptions(),  # noqa: B008  (frozen)
    seed: Unused = 0,
    json: bool = False,
) -> int:
    """Check a proof written by `tacit optimum` or `tacit limit` with --proof, in exact arithmetic.

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
    from tacit.proofs import verify as check_proof

    if data is None and options != PointOptions():
        raise BadInput("--labels, --bias and --test say how --data is read; there is no --data")
    verification = check_proof(file)
    if data is not None:
        verification = verification.about(options.load(data))
    if json:
        print_json(verification.to_dict())
    else:
        _print_verification(verification)
    return int(not verification.verified)


def _print_verification(verification: Verification) -> None:
    """The lines of the result, with the first word in colour."""
    from rich.markup import escape

    from tacit.cli.terminal import console

    screen = console()
    colour = "green" if verification.verified else "red"
    word, *rest = escape(repr(verification)).split(" ", 1)
    screen.print(f"[bold {colour}]{word}[/] {''.join(rest)}")
