"""`tacit lab`."""

from __future__ import annotations

import json
import threading
import webbrowser
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli._app import NetworkOptions, PointOptions, command, compile_first, warn
from tacit.values import BadInput

if TYPE_CHECKING:
    from tacit.lab.requests import Request

DEFAULT = "orthogonal:n=20,d=2,seed=1"
"""Shown when nothing is named."""
LINKS = ("http://127.0.0.1:", "http://localhost:")
"""How a link of the page begins; of the rest only what is behind `#` counts."""
WIDTH = 40
"""Neurons that can be told apart."""


@command("tacit lab points.csv", takes="[DATA]")
def lab(
    data: str = DEFAULT,
    /,
    *,
    options: PointOptions = PointOptions(),  # noqa: B008  (frozen)
    network: NetworkOptions = NetworkOptions(width=WIDTH),  # noqa: B008  (frozen)
    seed: int = 0,
    port: int = 0,
    no_browser: bool = False,
    export: Path | None = None,
    force: bool = False,
) -> int:
    """A page on which it happens: move points, play the flow, see statements light up or go out.

    The page is served on this machine only, at an address with a secret in it; Ctrl-C ends it.

    Parameters
    ----------
    data
        File or generator call of two classes, or a link that the page gave.
    seed
        The seed of the initial weights. Generators have a seed of their own.
    port
        The port of the page; 0 is any that is free.
    no_browser
        Only print the address.
    export
        Do not serve anything: write a recording of the run to this file, which plays offline.
    force
        Replace EXPORT if it exists.
    """
    from tacit.data.generators import GENERATORS
    from tacit.lab.engine import points_message
    from tacit.lab.requests import FROM_DISK, SETTING, read_request

    head, mark, fragment = data.partition("#")
    linked = bool(mark) and (not head or head.startswith(LINKS))
    data = DEFAULT if linked else data
    points = replace(options, bias=None).load(data)
    drawn = data.partition(":")[0] in GENERATORS.keys() - FROM_DISK and options.labels is None
    first = points_message(points, data if drawn else "", options.bias)
    chosen = {key: value for key, value in network.setting().to_dict().items() if key in SETTING}
    case = {key: first[key] for key in ("points", "labels", "name", "source", "bias")}
    message = {"id": 0, "do": "run", **case, "setting": chosen, "seed": seed}
    request = read_request(json.dumps(message))
    if export is not None:
        return _record(request, first, export, force)
    return _serve(request, first, port, no_browser, f"#{fragment}" if linked else "")


def _record(request: Request, points: dict[str, Any], path: Path, force: bool) -> int:
    from tacit.files import check_writable, write_file
    from tacit.flow.stage import prepare
    from tacit.lab.hello import hello
    from tacit.lab.recording import record

    check_writable(path, force, folder=False)
    compile_first(prepare)
    page = record(request, hello(points, request))
    write_file(path, page.encode(), force)
    print(f"recording: {path}")
    return 0


def _serve(
    request: Request, points: dict[str, Any], port: int, no_browser: bool, fragment: str
) -> int:
    from rich.console import Console

    from tacit.lab.hello import hello
    from tacit.lab.server import serve

    for name in ("starlette", "uvicorn", "websockets"):
        if find_spec(name) is None:
            raise BadInput(f"the page needs {name}; install it with: pip install 'tacit[lab]'")
    waiting = Console(stderr=True).status("loading the engine (the first time it is compiled)")

    def ready(address: str) -> None:
        waiting.stop()
        print(f"tacit lab: {address}{fragment}", flush=True)
        print("Ctrl-C ends it.", flush=True)
        if not no_browser:
            threading.Thread(
                target=webbrowser.open, args=(address + fragment,), daemon=True
            ).start()

    with waiting:
        serve(hello(points, request), port, ready)
    warn("stopped")
    return 0
