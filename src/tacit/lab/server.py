"""The server of the page: this machine only, and only who knows the token.

A page of another origin in the same browser must reach nothing: every request needs the token in
its path, a Host header that names this server and, where there is an Origin header, the same there
(a DNS name that was made to point here fails at the Host). A WebSocket needs the Origin header.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import signal
import socket
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tacit.lab.requests import MOST_BYTES
from tacit.lab.tab import Tab, Turns
from tacit.lab.worker import discard, start_worker
from tacit.values import BadInput

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection
    from starlette.requests import Request as Asked
    from starlette.responses import Response
    from starlette.websockets import WebSocket

MOST_TABS = 32
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(token: str, port: int, greeting: dict[str, Any]) -> Starlette:
    """The page, its files and its WebSocket, all below `/token/`."""
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocketDisconnect

    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    turns = Turns()
    tabs: set[Tab] = set()

    def allowed(asked: HTTPConnection) -> bool:
        known = hmac.compare_digest(asked.path_params["token"].encode(), token.encode())
        origin = asked.headers.get("origin")
        same = origin in {f"http://{host}" for host in hosts}
        if origin is None:
            same = asked.scope["type"] == "http"
        return known and same and asked.headers.get("host") in hosts

    async def page(asked: Asked) -> Response:
        if not allowed(asked):
            return PlainTextResponse("this address is not known here\n", 403, HEADERS)
        name = asked.path_params.get("name") or "page.html"
        static = {file.name: file for file in files("tacit.lab").joinpath("static").iterdir()}
        kind = TYPES.get(name[name.rfind(".") :] if "." in name else "")
        if name not in static or kind is None:
            return PlainTextResponse("there is no such file\n", 404, HEADERS)
        return Response(static[name].read_bytes(), 200, HEADERS, kind)

    async def talk(asked: WebSocket) -> None:
        if not allowed(asked) or len(tabs) >= MOST_TABS:
            await asked.close()
            return
        await asked.accept()
        tab = Tab(_sender(asked), turns)
        tabs.add(tab)
        tab.prepare()
        try:
            await asked.send_text(json.dumps(greeting))
            while True:
                await tab.take(await asked.receive_text())
        except (WebSocketDisconnect, KeyError):  # KeyError: bytes, which no page of ours sends
            pass
        finally:
            tabs.discard(tab)
            await tab.close()

    async def nothing(asked: Asked) -> Response:
        return PlainTextResponse("this address is not known here\n", 403, HEADERS)

    return Starlette(
        routes=[
            WebSocketRoute("/{token}/socket", talk),
            Route("/{token}/", page),
            Route("/{token}/{name}", page),
            Route("/{rest:path}", nothing),
        ]
    )


def _sender(socket: WebSocket) -> Callable[[str], Any]:
    """Send one text after the other; nothing once the page has gone."""
    from starlette.websockets import WebSocketDisconnect

    lock = asyncio.Lock()

    async def send(text: str) -> None:
        async with lock:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await socket.send_text(text)

    return send


def listen(port: int) -> socket.socket:
    """A socket of this machine that no other can reach; port 0 is any that is free."""
    ear = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        ear.bind(("127.0.0.1", port))
        ear.listen(128)
    except (OSError, OverflowError) as error:
        ear.close()
        raise BadInput(
            f"`port={port}` cannot be used: {getattr(error, 'strerror', error)}"
        ) from None
    return ear


def serve(greeting: dict[str, Any], port: int, ready: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C; `greeting` is what a page is told first, and `ready`
    is called with its address once it can be opened.
    """
    ear = listen(port)
    port = ear.getsockname()[1]
    token = secrets.token_urlsafe(24)
    config = configuration(application(token, port, greeting))
    serving = _serve(config, ear, lambda: ready(f"http://127.0.0.1:{port}/{token}/"))
    try:
        asyncio.run(serving)
    finally:
        serving.close()  # an interrupt may have come before it began, of which Python would warn


def configuration(page: Starlette) -> uvicorn.Config:
    """How the page is served: quietly, with messages of a limited size."""
    import uvicorn

    return uvicorn.Config(
        page,
        log_level="critical",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=MOST_BYTES,
        timeout_graceful_shutdown=1,
        lifespan="off",
    )


async def _serve(config: uvicorn.Config, ear: socket.socket, ready: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        """A server that Ctrl-C ends in order: signals are ours."""

        @contextlib.contextmanager
        def capture_signals(self) -> Any:
            yield

    server, loop = Server(config), asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    first = asyncio.create_task(start_worker())  # it comes when what all are copies of is loaded
    serving = asyncio.create_task(server.serve([ear]))
    while not (server.started and first.done()) and not serving.done():
        await asyncio.sleep(0.02)
    if not server.should_exit:
        ready()
    await serving
    discard(first)
