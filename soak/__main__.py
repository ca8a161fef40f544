"""`python -m soak`: attack for some minutes, or repeat one case."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "agg")

from soak.campaigns import CAMPAIGNS  # noqa: E402
from soak.runner import alone, soak, table  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    known = f"of {', '.join(CAMPAIGNS)}; all by default"
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=known)
    parser.add_argument("--minutes", type=float, help="attack for so long")
    first = "the number of the (first) case; by default one that has not been tried"
    parser.add_argument("--seed", type=int, help=first)
    parser.add_argument("--keep", metavar="FOLDER", help="keep the files of the one case there")
    given = parser.parse_args()
    for name in given.campaigns:
        if name not in CAMPAIGNS:
            parser.error(f"no campaign '{name}'; there are {', '.join(CAMPAIGNS)}")
    if given.minutes is None:
        if len(given.campaigns) != 1 or given.seed is None:
            parser.error("give --minutes, or one campaign and --seed to repeat one case")
        return alone(given.campaigns[0], given.seed, given.keep)
    for number in (signal.SIGINT, signal.SIGTERM):  # also in the background of a shell
        signal.signal(number, signal.default_int_handler)
    seed = int(time.time()) * 1000 if given.seed is None else given.seed
    print(f"soak: {given.minutes:g} minutes, seed {seed}", file=sys.stderr, flush=True)
    tallies = soak(given.campaigns or list(CAMPAIGNS), seed, 60 * given.minutes)
    print(table(tallies))
    return int(any(tally.failed for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
