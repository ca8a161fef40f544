"""`python -m benchmarks`: ours beside its peers; prints the tables and writes RESULTS.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent


def say(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)


def sections(whole: bool, picture: Path | None) -> dict[str, Callable[[], str]]:
    """Each imports what it needs when it is run."""

    def ensembles() -> str:
        from benchmarks.ensembles import section

        return section(whole, say)

    def solvers() -> str:
        from benchmarks.solvers import section

        return section(say)

    def growth() -> str:
        from benchmarks.growth import section

        return section(picture, say)

    def real_data() -> str:
        from benchmarks.real_data import section

        return section(say)

    def pricing() -> str:
        from benchmarks.pricing import section

        return section(say)

    def proved() -> str:
        from benchmarks.proved import section

        return section(say)

    def gpu() -> str:
        from benchmarks.gpu import section

        return section(say)

    def probe() -> str:
        from benchmarks.probe_overhead import section

        return section(say)

    return {
        "ensembles": ensembles,
        "solvers": solvers,
        "real_data": real_data,
        "pricing": pricing,
        "proved": proved,
        "growth": growth,
        "probe": probe,
        "gpu": gpu,
    }


def main() -> None:
    names = list(sections(False, None))
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = f"of {', '.join(names)}; all by default, and only then a file is written"
    arguments.add_argument("only", nargs="*", metavar="SECTION", help=known)
    arguments.add_argument("--whole", action="store_true", help="the whole PyTorch loop (minutes)")
    arguments.add_argument("--out", type=Path, default=HERE / "RESULTS.md", help="file to write")
    given = arguments.parse_args()
    for name in given.only:
        if name not in names:
            arguments.error(f"no section '{name}'; there are {', '.join(names)}")
    from benchmarks.text import machine

    begun = time.perf_counter()
    parts = ["# Benchmarks\n\nWritten by `make bench`; everything in one run.", machine()]
    print("\n\n".join(parts), flush=True)
    chosen = sections(given.whole, None if given.only else given.out.with_name("growth.png"))
    for name in given.only or names:
        try:
            part = chosen[name]()
        except Exception as broken:  # the other sections are worth having
            part = f"## {name.capitalize()}\n\nFailed: {type(broken).__name__}: {broken}"
        parts.append(part)
        print(f"\n{part}", flush=True)
    spent = f"All of it took {(time.perf_counter() - begun) / 60:.1f} minutes."
    print(f"\n{spent}")
    if given.only:
        return
    given.out.write_text("\n\n".join([*parts, spent]) + "\n", encoding="utf-8")
    say(f"written: {given.out}")


if __name__ == "__main__":
    main()
