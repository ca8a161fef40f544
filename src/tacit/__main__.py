"""`tacit` and `python -m tacit`: Ctrl-C is one line even while the command line is being read."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from tacit.cli import main as run

        run()
    except KeyboardInterrupt:
        print("tacit: interrupted; nothing was saved", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
