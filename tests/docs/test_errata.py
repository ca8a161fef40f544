"""docs/errata.md: its computations run, and print what the page says up to rounding.

`python tests/docs/test_errata.py` writes what they print into the page.
"""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

from tacit import BadInput

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
BLOCK = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.S)
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?")
ROUNDING = 1e-9
"""Numbers below this are rounding errors; machines differ in them."""


def entries():
    """(title, code, output); several computations of one entry are numbered."""
    title, blocks = "", []
    for part in re.split(r"^(#+ .*)$", PAGE.read_text("utf-8"), flags=re.M):
        title = part.lstrip("# ") if part.startswith("#") else title
        blocks += [(f"{title} {k}", *block) for k, block in enumerate(BLOCK.findall(part))]
    return blocks


def printed_by(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    return out.getvalue()


def same(one, other):
    """The words are the same; the numbers are, in all but the last of the digits shown."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= unit(b) for a, b in _plain(pairs))


def _plain(pairs):
    return ((a.replace(",", "").rstrip("."), b.replace(",", "").rstrip(".")) for a, b in pairs)


def unit(text):
    """1 in the last digit; integers are exact."""
    digits, _, power = text.partition("e")
    if power:
        size = 10.0 ** (int(power) - len(digits.partition(".")[2]))
        return max(size, ROUNDING)
    places = len(digits.partition(".")[2])
    return 10.0**-places if places else 0.0


@pytest.mark.parametrize(
    ("title", "code", "output"),
    [
        pytest.param(*entry, marks=[pytest.mark.long] * ("mnist:" in entry[1]))
        for entry in entries()
    ],
    ids=lambda part: part[:40],
)
def test_it_prints_what_the_page_says(title, code, output):
    if "mnist:" in code and not os.environ.get("TACIT_DATA"):
        with pytest.raises(BadInput) as error:
            printed_by(code)
        assert "\n" not in str(error.value)
        return
    assert same(printed_by(code), output), f"run: python tests/docs/{Path(__file__).name}"


def test_every_block_of_the_page_is_run():
    text = PAGE.read_text("utf-8")
    assert text.count("```python") == text.count("```text") == len(entries()) > 30


def test_numbers_are_compared():
    assert same("margin 0.1667, off by 3e-16", "margin 0.1667, off by 7e-17")
    assert same("0.1666 of 20", "0.1667 of 20")
    assert not same("margin 0.1667", "margin 0.1956")
    assert not same("5 to 7 of 20", "5 to 8 of 20")
    assert not same("separable", "not separable")


def test_every_paper_has_a_part():
    parts = re.findall(r"^## (\w+)$", PAGE.read_text("utf-8"), re.M)
    assert parts == ["sarussi2021", "phuong2021", "lyu2021", "brutzkus2019", "wang2022"]


def _write():
    def filled(match):
        return f"```python\n{match.group(1)}```\n\n```text\n{printed_by(match.group(1))}```"

    PAGE.write_text(BLOCK.sub(filled, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    _write()
