"""Who does not know the token, or comes from another page, reaches nothing."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import AsyncIterator

import pytest

from lab_cases import message

TOKEN = "secret"
EVIL = "http://evil.example"


class Echo:
    """A worker that answers at once, and dies or sleeps if it is told to."""

    def __init__(self) -> None:
        self.alive = True

    async def answers(self, raw: str, seconds: float) -> AsyncIterator[str]:
        from tacit.lab.worker import Stopped

        asked = json.loads(raw)
        if asked.get("name") == "die":
            raise Stopped("the engine has stopped")
        if asked.get("name") == "sleep":
            await asyncio.sleep(3600)
        yield json.dumps({"id": asked["id"], "is": "echo"})

    def kill(self) -> None:
        self.alive = False


@pytest.fixture
def started(monkeypatch) -> list[Echo]:
    import tacit.lab.tab

    made: list[Echo] = []

    async def start() -> Echo:
        made.append(Echo())
        return made[-1]

    monkeypatch.setattr(tacit.lab.tab, "start_worker", start)
    return made


class Client:
    """Asks a server of its own for files and sockets, with any headers."""

    def __init__(self, port: int) -> None:
        self.port, self.host = port, f"127.0.0.1:{port}"
        self.origin = f"http://{self.host}"

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        asked.putrequest("GET", path, skip_host=True)
        for key, value in {"host": self.host, **headers}.items():
            asked.putheader(key, value)
        asked.endheaders()
        answer = asked.getresponse()
        said = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        asked.close()
        return said

    def talk(self, path: str = f"/{TOKEN}/socket", **headers: str):
        from websockets.sync.client import connect

        origin = headers.get("origin", self.origin) or None
        way = socket.create_connection(("127.0.0.1", self.port))
        return connect(f"ws://{headers.get('host', self.host)}{path}", sock=way, origin=origin)


@pytest.fixture
def client(started):
    import uvicorn

    from tacit.lab.server import application, configuration, listen

    ear = listen(0)
    port = ear.getsockname()[1]
    server = uvicorn.Server(configuration(application(TOKEN, port, {"is": "hello"})))
    thread = threading.Thread(target=server.run, args=([ear],))
    thread.start()
    yield Client(port)
    server.should_exit = True
    thread.join()
    ear.close()


def test_only_this_machine_can_reach_it(client):
    from tacit.lab.server import listen

    with listen(0) as ear:
        assert ear.getsockname()[0] == "127.0.0.1"


def test_files_are_served_with_a_strict_policy(client):
    for name in ("", "main.js", "lab.css", "boundary.js"):
        status, headers, text = client.get(f"/{TOKEN}/{name}")
        assert status == 200 and text
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_strangers_get_nothing(client):
    page = f"/{TOKEN}/"
    for path, headers in [
        ("/wrong/", {}),
        ("/", {}),
        ("/secre/", {}),
        (f"/{TOKEN}%00/", {}),
        (page, {"host": f"evil.example:{client.port}"}),
        (page, {"host": "127.0.0.1"}),
        (page, {"origin": EVIL}),
        (page, {"origin": "null"}),
        (page, {"origin": f"https://{client.host}"}),
        (f"{page}main.js", {"origin": "http://127.0.0.1:1"}),
    ]:
        status, _, text = client.get(path, **headers)
        assert status == 403 and b"<" not in text, (path, headers)


def test_only_the_files_of_the_page_are_served(client):
    outside = ("..%2Fserver.py", "%2e%2e/server.py", "../server.py")
    for name in (*outside, "server.py", "page", ".html", "x" * 5000):
        assert client.get(f"/{TOKEN}/{name}")[0] in (403, 404), name


def test_strangers_get_no_socket(client):
    from websockets.exceptions import InvalidStatus

    for path, headers in [
        ("/wrong/socket", {}),
        (f"/{TOKEN}/socket", {"origin": ""}),  # a socket needs an origin
        (f"/{TOKEN}/socket", {"origin": EVIL}),
        (f"/{TOKEN}/socket", {"host": "evil.example"}),
    ]:
        with pytest.raises(InvalidStatus, match="403"), client.talk(path, **headers):
            pass


def told(page) -> dict:
    return json.loads(page.recv(timeout=20))


def test_messages_are_answered_and_wrong_ones_are_refused_in_one_line(client):
    with client.talk() as page:
        assert told(page) == {"is": "hello"}
        for raw in ("{", "NaN", message(seed=float("nan")), message(evil=1), json.dumps([])):
            page.send(raw)
            refused = told(page)
            assert refused["is"] == "refused" and "\n" not in refused["words"]
        page.send(message())
        assert told(page) == {"id": 1, "is": "echo"}
        assert told(page) == {"id": 1, "is": "done"}


def test_a_message_that_is_too_large_or_no_text_ends_that_page_alone(client):
    from websockets.exceptions import ConnectionClosed

    with client.talk() as other:
        told(other)
        for raw in ("x" * 3_000_000, b"\x00\xff"):
            with client.talk() as page, pytest.raises(ConnectionClosed):
                told(page)
                page.send(raw)
                told(page)
        other.send(message())
        assert told(other)["is"] == "echo"


def test_a_worker_that_dies_is_replaced(client, started):
    with client.talk() as page:
        told(page)
        page.send(message(name="die"))
        assert "a new one" in told(page)["words"]
        page.send(message())
        assert told(page)["is"] == "echo"


def test_a_run_in_progress_gives_way_to_the_next(client):
    with client.talk() as page:
        told(page)
        for k in range(5):
            page.send(message(name="sleep", id=k))
        page.send(message(id=9))
        assert told(page) == {"id": 9, "is": "echo"}


def test_ten_pages_at_once(client, started):
    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(client.talk()) for _ in range(10)]
        for k, page in enumerate(pages):
            told(page)
            page.send(message(id=k))
        for k, page in enumerate(pages):
            assert told(page) == {"id": k, "is": "echo"}
    deadline = time.monotonic() + 20
    while any(worker.alive for worker in started) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(worker.alive for worker in started)  # nothing stays when the pages have gone
