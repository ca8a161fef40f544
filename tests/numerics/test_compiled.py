import os
import subprocess
import sys

import numpy as np
import pytest
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


def test_what_is_compiled_is_forgotten_when_a_file_changes_that_it_calls(tmp_path):
    (tmp_path / "_inner.py").write_text(
        "from tacit.numerics.compiled import compiled\n@compiled\ndef inner():\n    return 1\n"
    )
    (tmp_path / "outer.py").write_text(
        "from _inner import inner\nfrom tacit.numerics.compiled import compiled\n"
        "@compiled\ndef outer():\n    return inner()\nprint(outer(), end='')\n"
    )

    def answer() -> tuple[str, bool]:
        kept = set(tmp_path.rglob("*.nbc"))
        run = subprocess.run(
            [sys.executable, "outer.py"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return run.stdout, set(tmp_path.rglob("*.nbc")) == kept

    assert answer() == ("1", False)
    assert answer() == ("1", True)
    (tmp_path / "_inner.py").write_text((tmp_path / "_inner.py").read_text().replace("1", "22"))
    assert answer()[0] == "22"


def run(code, folder):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def test_what_is_compiled_is_forgotten_when_a_tolerance_changes(tmp_path):
    (tmp_path / "tolerances.py").write_text("SMALL = 1\n")
    (tmp_path / "module.py").write_text(
        "from tolerances import SMALL\nfrom tacit.numerics.compiled import compiled\n"
        "@compiled\ndef f():\n    return SMALL\n"
    )
    ask = "from module import f; print(f(), end='')"
    assert run(ask, tmp_path) == "1"
    (tmp_path / "tolerances.py").write_text("SMALL = 22\n")
    assert run(ask, tmp_path) == "22"


def test_what_is_compiled_for_a_class_that_has_another_name_now_is_forgotten(tmp_path):
    text = (
        "from typing import NamedTuple\nfrom tacit.numerics.compiled import compiled\n"
        "class Old(NamedTuple):\n    x: float\n"
        "@compiled\ndef f(one):\n    return one.x\n"
        "ask = lambda: print(f(Old(1.5)), end='')\n"
    )
    (tmp_path / "module.py").write_text(text)
    ask = "from module import ask; ask()"
    assert run(ask, tmp_path) == "1.5"
    (tmp_path / "module.py").write_text(text.replace("Old", "New"))
    assert run(ask, tmp_path) == "1.5"
    kept = set(tmp_path.rglob("*.nbc"))
    assert run(ask, tmp_path) == "1.5"
    assert set(tmp_path.rglob("*.nbc")) == kept


@pytest.mark.long
def test_a_process_that_looks_while_another_one_writes_never_runs_old_code(tmp_path):
    (tmp_path / "module.py").write_text(
        "from tacit.numerics.compiled import compiled\n@compiled\ndef f():\n    return 1\n"
    )
    ask = "from module import f; print(f(), end='')"
    assert run(ask, tmp_path) == "1"
    (tmp_path / "module.py").write_text((tmp_path / "module.py").read_text().replace("1", "22"))
    between = (
        "import subprocess, sys\n"
        "from numba.core.caching import IndexDataCacheFile as Files\n"
        "write = Files._save_data\n"
        "def after_another(*arguments):\n"
        f"    subprocess.run([sys.executable, '-c', {ask!r}], check=True)\n"
        "    write(*arguments)\n"
        "Files._save_data = after_another\n"
        "from module import f; f()"
    )
    assert run(between, tmp_path) == "22"


@pytest.mark.long
def test_two_processes_with_different_types_write_two_files(tmp_path):
    (tmp_path / "module.py").write_text(
        "from tacit.numerics.compiled import compiled\n"
        "@compiled\ndef half(x):\n    return x / 2 if x > 0 else x / 4\n"
    )
    # The index is read by the first process, then the second one compiles for other types.
    at_once = (
        "import subprocess, sys\n"
        "from numba.core.caching import IndexDataCacheFile as Files\n"
        "write = Files._save_index\n"
        "def after_another(*arguments):\n"
        "    Files._save_index = write\n"
        "    subprocess.run([sys.executable, '-c', 'from module import half; half(3)'])\n"
        "    write(*arguments)\n"
        "Files._save_index = after_another\n"
        "from module import half; half(3.0)"
    )
    run(at_once, tmp_path)
    assert len(set(tmp_path.rglob("*.nbc"))) == 2


def test_numba_can_be_switched_off():
    code = (
        "import sys; from tacit.numerics.compiled import compiled\n"
        "def f(): return 1\n"
        "sys.exit(compiled(f) is not f)"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0
