"""A recording is one page that asks nobody for anything."""

from __future__ import annotations

import re
from importlib.resources import files

from tacit.lab.recording import bundled, page_with


def test_no_name_is_declared_twice_in_the_bundle():
    names = re.findall(
        r"^(?:async )?(?:function\*?|class|const|let) ([\w$]+)", bundled(), flags=re.MULTILINE
    )
    assert len(names) > 50 and len(names) == len(set(names))
    assert not re.search(r"^(import|export) ", bundled(), flags=re.MULTILINE)


def test_what_is_recorded_cannot_end_the_script():
    page = page_with([{"is": "hello", "name": "</script><script>alert(1)</script><!--"}])
    assert "alert(1)</script>" not in page and page.count("</script>") == 2
    assert 'src="' not in page and "stylesheet" not in page


def test_no_file_of_the_page_names_another_host_or_makes_html_of_text():
    for file in files("tacit.lab").joinpath("static").iterdir():
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(
            r"^\s*//.*$|;\s*//.*$|,\s*//.*$|\{\s*//.*$", "", text, flags=re.M
        ).replace("https?://", "").replace(" // ", ""), file.name
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", text
        )
