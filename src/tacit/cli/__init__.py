"""The command line: it parses, calls the library, and prints. No mathematics here.

Exit codes: 0 success, 1 a check that was asked for fails, 2 bad input, 130 interrupted, 70 a
mistake of ours.
"""

import contextlib
import inspect
import io
import os
import sys
from time import perf_counter, process_time

from cyclopts import CycloptsError, UnusedCliTokensError

from tacit.cli._app import NotSo, app, process_start, warn
from tacit.files import written
from tacit.interrupts import interrupted, orderly
from tacit.values import BadInput

# Commands are shown in the order of these lines.
# isort: off
import tacit.cli.explain
import tacit.cli.check
import tacit.cli.predict
import tacit.cli.optimum
import tacit.cli.train
import tacit.cli.limit
import tacit.cli.certify
import tacit.cli.verify
import tacit.cli.reproduce
import tacit.cli.sweep
import tacit.cli.lab
import tacit.cli.lists
# isort: on

SAID = 3
"""Files that are named when a command is interrupted."""


def main(tokens: list[str], started: float | None = None) -> int:
    """Run a command and return its exit code; `--seconds` count from when it `started`.

    Every failure a user can cause is one line on standard error.
    """
    process_start[:] = (perf_counter(), process_time()) if started is None else (started, 0.0)
    if sys.stderr is None:  # closed by whoever called
        return 2
    if sys.stdout is None:
        warn("standard output is closed, so nothing can be answered; leave it open")
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our letters
    written.clear()
    try:
        with orderly():
            return _call(tokens)
    except KeyboardInterrupt:
        saved = ", ".join(str(path) for path in list(written)[-SAID:])
        with contextlib.suppress(OSError):  # whoever reads it may have been interrupted too
            warn(f"interrupted; saved: {saved}" if saved else "interrupted; nothing was saved")
        return 130


def _run(tokens: list[str]) -> int:
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return int(code or 0)
    except Exception as error:
        if interrupted():  # a library may have made this of it, or the reader of a pipe has it too
            raise KeyboardInterrupt from error
        raise


def _call(tokens: list[str]) -> int:
    try:
        return _run(tokens)
    except UnusedCliTokensError as error:
        extra, takes = " ".join(error.unused_tokens or []), ""
        function = app[tokens[0]].default_command if tokens[0] in app else None
        if function is not None:
            first = next(iter(inspect.signature(function).parameters))
            takes = f"tacit {tokens[0]} takes one argument, {first.upper()}, and options; "
        warn(f"'{extra}' is too much; {takes}see tacit {tokens[0]} --help")
        return 2
    except (BadInput, CycloptsError) as error:
        warn(str(error))
        return 2
    except NotSo as error:
        warn(str(error))
        return 1
    except MemoryError:
        warn("not enough memory for data or a network of this size; choose a smaller one")
        return 2
    except BrokenPipeError:  # the reader has gone, as in `tacit list data | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit:  # what rich makes of that where it prints a help
        return 0
    except OSError as error:
        warn(f"the output cannot be written: {error.strerror or error}")
        return 2
    except Exception as error:
        if os.environ.get("TACIT_DEBUG"):
            raise
        warn(
            f"this is a mistake in tacit, not in your input: {type(error).__name__}: {error} "
            "(TACIT_DEBUG=1 shows where)"
        )
        return 70
