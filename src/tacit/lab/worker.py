"""The engine in processes of its own, which may be killed at any time and cost little to replace.

A first process imports and loads everything once; every worker is a copy of it (`forkserver`; where
there is none, a fresh process). What goes through the pipes are texts of JSON, never objects.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

from tacit.interrupts import deaf_children
from tacit.lab.requests import read_request
from tacit.messages import printable
from tacit.values import BadInput

MEMORY = 2 << 30
"""Bytes that a worker may take beyond what it has when it starts."""
SECONDS = {"check": 20.0, "load": 20.0, "read": 20.0, "run": 180.0, "descend": 60.0}
"""How long each kind of request may take, all in all; then its worker is killed."""

GONE = "the engine has stopped: there was not enough memory for this, or it was killed"


@cache
def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tacit.lab.warm"])
    return context


class Worker:
    """One process that answers one request after the other."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pipe, theirs = _context().Pipe()
        self.process = _context().Process(target=work, args=(theirs, MEMORY), daemon=True)
        with deaf_children():  # the first process lets them in when it has no more words for them
            self.process.start()
        theirs.close()
        self.loop = loop
        self.inbox: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Pass on what comes, and None when the process has ended."""
        with suppress(RuntimeError):  # the loop is closed
            try:
                while True:
                    text = self.pipe.recv_bytes().decode()
                    self.loop.call_soon_threadsafe(self.inbox.put_nowait, text)
            except (EOFError, OSError):
                self.loop.call_soon_threadsafe(self.inbox.put_nowait, None)

    async def answers(self, raw: str, seconds: float) -> AsyncIterator[str]:
        """The answers to a request that was checked; `Stopped` if the process ends before it is."""
        try:
            self.pipe.send_bytes(raw.encode())
            async with asyncio.timeout(seconds):
                while (text := await self.inbox.get()) != "done":
                    if text is None:
                        raise Stopped(GONE)
                    yield text
        except TimeoutError:
            raise Stopped(f"it took more than {seconds:g} seconds and was stopped") from None
        except OSError:
            raise Stopped(GONE) from None

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    def kill(self) -> None:
        self.process.kill()


async def start_worker() -> Worker:
    """A new worker. The first has to wait for what is loaded, so this does not block the server."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[Worker] = loop.create_future()

    def arrive(worker: Worker | Exception) -> None:
        if isinstance(worker, Exception):
            if not ready.cancelled():
                ready.set_exception(Stopped(f"no new engine can be started: {worker}"))
        elif ready.cancelled():
            worker.kill()
        else:
            ready.set_result(worker)

    def begin() -> None:
        worker: Worker | Exception
        try:
            worker = Worker(loop)
        except (OSError, EOFError, RuntimeError) as error:  # no process, pipe or thread is left
            worker = error
        try:
            loop.call_soon_threadsafe(arrive, worker)
        except RuntimeError:  # the server has stopped meanwhile
            if isinstance(worker, Worker):
                worker.kill()

    threading.Thread(target=begin, daemon=True).start()
    return await ready


def discard(worker: asyncio.Task[Worker]) -> None:
    """Kill a worker, whether or not it has started."""
    if not worker.cancel() and not worker.cancelled() and worker.exception() is None:
        worker.result().kill()


class Stopped(Exception):
    """A worker did not come to the end of a request; the message says why."""


def work(pipe: Connection, memory: int) -> None:
    """Answer requests until the pipe is closed, or there is no memory left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    _limit_memory(memory)
    from tacit.lab.engine import answer

    while True:
        try:
            request = read_request(pipe.recv_bytes().decode())
        except (EOFError, OSError):
            return

        def send(message: dict[str, Any], id: int = request.id) -> None:
            pipe.send_bytes(json.dumps({"id": id, **message}, allow_nan=False).encode())

        try:
            answer(request, send)
        except BadInput as error:
            send(refusal(str(error)))
        except (MemoryError, OSError):  # a new process has its memory in order
            return
        except Exception as error:
            send(refusal(f"this is a mistake in tacit: {type(error).__name__}: {error}"))
        pipe.send_bytes(b"done")


def refusal(words: str) -> dict[str, Any]:
    """Why something was not done, as one line."""
    return {"is": "refused", "words": printable(" ".join(words.replace("`", "").split()))[:500]}


def _limit_memory(memory: int) -> None:
    """Where the system can: beyond this, memory is refused to this process alone."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))
