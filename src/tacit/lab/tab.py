"""One open page: what it asks for, and the workers that answer it."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable

from tacit.lab.requests import Request, read_request
from tacit.lab.worker import SECONDS, Stopped, Worker, discard, refusal, start_worker
from tacit.values import BadInput

SLOTS = {"check": "geometry", "load": "data", "read": "data", "run": "run", "descend": "descent"}
"""Requests in one slot follow each other: a newer one takes the place of an older one."""
HASTY = {"geometry"}
"""Slots whose worker ends what it is at, since that is a matter of milliseconds; only the latest of
the requests that came meanwhile is then answered. In others, it is killed."""


PAUSE = 0.02
"""Seconds that a request waits for a newer one, so that a flood of them costs no processes."""


class Turns:
    """How many runs are computed at once, over all tabs; what is more waits."""

    def __init__(self) -> None:
        self.free = asyncio.Semaphore(max(10, os.cpu_count() or 1))


class Tab:
    """The requests of one page, each in the slot of its kind."""

    def __init__(self, send: Callable[[str], Awaitable[None]], turns: Turns) -> None:
        self.send, self.turns = send, turns
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.workers: dict[str, asyncio.Task[Worker]] = {}
        self.waiting: dict[str, tuple[Request, str]] = {}
        self.busy: set[str] = set()
        """Slots whose worker is at something."""

    def prepare(self) -> None:
        """Start the workers that every page needs before it asks."""
        for slot in ("geometry", "run"):
            if slot not in self.workers:
                self.workers[slot] = asyncio.create_task(start_worker())

    async def take(self, raw: str) -> None:
        """Check a message and begin to answer it."""
        try:
            request = read_request(raw)
        except BadInput as error:
            await self.send(json.dumps({"id": _id_of(raw), **refusal(str(error))}))
            return
        if request.do == "stop":
            await self._end("run")
            await self._end("descent")
            self.prepare()
            return
        slot = SLOTS[request.do]
        task = self.tasks.get(slot)
        if task is not None and not task.done():
            if slot in HASTY:
                self.waiting[slot] = request, raw
                return
            await self._end(slot)
        self.tasks[slot] = asyncio.create_task(self._answer(slot, request, raw))

    async def _answer(self, slot: str, request: Request, raw: str) -> None:
        if slot not in HASTY:
            await asyncio.sleep(PAUSE)
            async with self.turns.free:
                await self._ask(slot, request, raw)
            return
        await self._ask(slot, request, raw)
        while slot in self.waiting:
            await self._ask(slot, *self.waiting.pop(slot))

    async def _ask(self, slot: str, request: Request, raw: str) -> None:
        try:
            worker = await self._worker(slot)
            if not worker.alive:  # it ended while nothing was asked of it
                self._kill(slot)
                worker = await self._worker(slot)
            self.busy.add(slot)
            async for text in worker.answers(raw, SECONDS[request.do]):
                await self.send(text)
            self.busy.discard(slot)
            await self.send(json.dumps({"id": request.id, "is": "done"}))
        except Stopped as reason:
            self._kill(slot)
            words = f"{reason}; a new one is ready"
            await self.send(json.dumps({"id": request.id, **refusal(words)}))

    async def _worker(self, slot: str) -> Worker:
        if slot not in self.workers:
            self.workers[slot] = asyncio.create_task(start_worker())
        return await asyncio.shield(self.workers[slot])  # it may serve the next request too

    async def _end(self, slot: str) -> None:
        """Give up what a slot is at."""
        task = self.tasks.pop(slot, None)
        if task is not None and not task.done():
            if slot in self.busy:
                self._kill(slot)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _kill(self, slot: str) -> None:
        self.busy.discard(slot)
        worker = self.workers.pop(slot, None)
        if worker is not None:
            discard(worker)

    async def close(self) -> None:
        """Give up everything."""
        for slot in list(self.tasks):
            await self._end(slot)
        for slot in list(self.workers):
            self._kill(slot)


def _id_of(raw: str) -> int | None:
    """The number of a message that is refused, where it has one."""
    try:
        id = json.loads(raw)["id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return id if type(id) is int else None
