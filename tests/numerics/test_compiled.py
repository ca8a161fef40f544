import os
import subprocess
import sys

import numpy as np
from numba import njit

from tacit.numerics.compiled import compiled, seconds_compiling


@compiled
def halved(values):
    total = 0.0
    for value in values:
        total += value / 2
    return total


@compiled
def quotient(a, b):
    return a / b


def test_compiled_functions_compute_and_divide_as_numpy_does():
    assert halved(np.arange(5.0)) == 5.0
    assert quotient(1.0, 0.0) == np.inf


def test_only_what_is_compiled_counts_as_compiling():
    doubled = njit(lambda value: 2 * value)  # not kept on disk
    assert seconds_compiling(lambda: doubled(1.5)) > 0
    assert seconds_compiling(lambda: doubled(2.5)) == 0


def test_numba_can_be_switched_off():
    code = (
        "import sys; from tacit.numerics.compiled import compiled\n"
        "def f(): return 1\n"
        "sys.exit(compiled(f) is not f)"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0
