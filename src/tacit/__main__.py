"""`tacit` and `python -m tacit`: Ctrl-C is one line even while the command line is being read."""

import os
import signal
import sys


def _stop(number: int, frame: object) -> None:
    os.write(2, b"tacit: interrupted; nothing was saved\n")
    os._exit(130)


# Until `orderly` takes over: its imports take as long as the start of Python.
program = __name__ == "__main__" or os.path.basename(sys.argv[0]).startswith("tacit")
if program and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _stop)

import contextlib  # noqa: E402
import gc  # noqa: E402
from time import perf_counter  # noqa: E402

from tacit.interrupts import ignore, orderly  # noqa: E402


def main() -> None:
    """Run the command line, and leave in order however it ends."""
    started = perf_counter()
    # Threads of BLAS wait by spinning: on small matrices, and beside other work, they took twelve
    # times the CPU time of one. It has to be said before NumPy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Looking for garbage among all that is imported took a tenth of the time, and found none.
    gc.set_threshold(10_000)
    code = None
    with orderly():
        try:
            from tacit.cli import main as run

            code = run(sys.argv[1:], started)
            ignore()
        except KeyboardInterrupt:
            if code is None:  # else it had all been done
                with contextlib.suppress(OSError):  # whoever reads it may have been interrupted too
                    print("tacit: interrupted; nothing was saved", file=sys.stderr)
                code = 130
        if code == 130:
            # Threads of JAX may still compute: at an orderly exit they would meet freed memory.
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
            os._exit(code)
    gc.freeze()  # at its end Python would look for garbage among all of it, for a third of a second
    sys.exit(code)


if __name__ == "__main__":
    main()
