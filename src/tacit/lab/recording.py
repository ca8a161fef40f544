"""A run as one page that needs nothing but itself: no server, no network."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from typing import Any

from tacit.lab.engine import check_points, run
from tacit.lab.requests import Request

MAIN = "main.js"
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";$\n?', re.MULTILINE)


def record(request: Request, first: dict[str, Any]) -> str:
    """Compute everything that the page would ask for, and write it into the page itself."""
    messages = [first]
    keep: Callable[[dict[str, Any]], None] = messages.append
    check_points(request, keep)
    run(request, keep)
    return page_with(messages)


def page_with(messages: list[dict[str, Any]]) -> str:
    """The page with its style, its script and these messages inside."""
    static = files("tacit.lab").joinpath("static")
    script = bundled()
    style = static.joinpath("lab.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    said = json.dumps(messages, allow_nan=False).replace("<", "\\u003c")
    page = static.joinpath("page.html").read_text("utf-8")
    for before, after in (
        (
            '<meta charset="utf-8">',
            '<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        ),
        ('<link rel="stylesheet" href="lab.css">', f"<style>{style}</style>"),
        (f'<script type="module" src="{MAIN}"></script>\n', ""),
        (
            "</body>",
            f'<script type="application/json" id="recording">{said}</script>\n'
            f'<script type="module">{script}</script>\n</body>',
        ),
    ):
        assert page.count(before) == 1, before
        page = page.replace(before, after)
    return page


def bundled() -> str:
    """All modules as one, each after those that it imports; their names do not collide."""
    static = files("tacit.lab").joinpath("static")
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        text = static.joinpath(name).read_text("utf-8")
        for other in IMPORT.findall(text):
            add(other)
        text = re.sub(r"^export \{[^}]*\};\n", "", IMPORT.sub("", text), flags=re.MULTILINE)
        done[name] = re.sub(r"^export ", "", text, flags=re.MULTILINE)

    add(MAIN)
    return "\n".join(done.values())


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
