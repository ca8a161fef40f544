"""A flow has one BLAS thread, and what comes after has what it had."""

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tacit.numerics.blas_threads import with_one_blas_thread


def threads() -> list[int]:
    """Of every BLAS in this process; one that a solver brought may keep to a single thread."""
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_inside_there_is_one_and_outside_as_many_as_before() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        assert max(before) == 2
        assert set(with_one_blas_thread(threads)()) == {1}
        assert threads() == before


COMMAND = """
import sys
from threadpoolctl import threadpool_info
from tacit.__main__ import main
sys.argv = ["tacit", "check", "xor"]
try:
    main()
except SystemExit as end:
    assert not end.code
print("THREADS", max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"))
"""


@pytest.mark.parametrize("asked, shown", [(None, 1), ("2", 2)])
def test_a_command_has_one_unless_the_user_wants_more(asked: str | None, shown: int) -> None:
    env = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    env |= {} if asked is None else {"OPENBLAS_NUM_THREADS": asked}
    words = [sys.executable, "-c", COMMAND]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    # More threads than cores there are not.
    assert done.stdout.splitlines()[-1] == f"THREADS {min(shown, os.cpu_count() or 1)}"
