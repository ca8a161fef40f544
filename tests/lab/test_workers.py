"""The engine's processes themselves: limits that they meet, and pages that go on."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
import tacit.lab.server
import tacit.lab.tab
import tacit.lab.worker
from lab_cases import CASE, SETTING, message
from tacit.lab.frames import fingerprint
from tacit.lab.tab import Tab, Turns

pytestmark = pytest.mark.long


def hard(**changes: Any) -> str:
    """A run of minutes: random labels in many dimensions."""
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(200, 12)), rng.choice([-1, 1], 200)
    case = {"points": points.tolist(), "labels": labels.tolist()}
    return message(**case, setting={**SETTING, "width": 200, "init": "he:1"}, **changes)


class Page:
    """One page without a browser, on real processes."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []
        self.tab = Tab(self._send, Turns())

    async def _send(self, text: str) -> None:
        self.said.append(json.loads(text))

    async def heard(self, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(120):
            while not any(map(right, self.said)):
                await asyncio.sleep(0.01)
        return next(filter(right, self.said))

    async def process(self, slot: str = "run") -> Any:
        return (await self.tab.workers[slot]).process


def on_a_page(story: Callable[[Page], Awaitable[None]]) -> None:
    async def told() -> None:
        page = Page()
        try:
            await story(page)
        finally:
            await page.tab.close()

    asyncio.run(told())


async def gone(process: Any) -> None:
    async with asyncio.timeout(60):
        while process.is_alive():
            await asyncio.sleep(0.01)


async def still_answers(page: Page) -> None:
    await page.tab.take(message(id=99))
    last = await page.heard(lambda one: one["id"] == 99 and one["is"] in ("done", "refused"))
    assert last["is"] == "done"


def test_a_run_that_takes_too_long_is_killed_and_its_page_goes_on(monkeypatch):
    async def story(page: Page) -> None:
        monkeypatch.setitem(tacit.lab.tab.SECONDS, "run", 3.0)
        await page.tab.take(hard(id=5))
        await page.heard(lambda one: one["is"] == "frames")
        process = await page.process()
        refused = await page.heard(lambda one: one["is"] == "refused")
        assert refused["id"] == 5 and "more than 3 seconds" in refused["words"]
        await gone(process)
        monkeypatch.setitem(tacit.lab.tab.SECONDS, "run", 180.0)
        await still_answers(page)
        assert (await page.process()).pid != process.pid

    on_a_page(story)


def test_a_run_without_memory_ends_its_process_alone(monkeypatch):
    async def story(page: Page) -> None:
        monkeypatch.setattr(tacit.lab.worker, "MEMORY", 1 << 20)
        await page.tab.take(hard(id=5))
        refused = await page.heard(lambda one: one["is"] == "refused")
        assert refused["id"] == 5 and "not enough memory" in refused["words"]
        monkeypatch.setattr(tacit.lab.worker, "MEMORY", 2 << 30)
        await still_answers(page)

    on_a_page(story)


def test_a_process_that_was_killed_while_it_was_idle_is_replaced_in_silence():
    async def story(page: Page) -> None:
        await still_answers(page)
        process = await page.process()
        os.kill(process.pid, signal.SIGKILL)
        await gone(process)
        page.said.clear()
        await still_answers(page)

    on_a_page(story)


def test_a_flood_of_runs_costs_few_processes():
    async def story(page: Page) -> None:
        page.tab.prepare()
        before = await page.process()
        for k in range(300):
            await page.tab.take(hard(id=k))
        await page.heard(lambda one: one["id"] == 299 and one["is"] == "frames")
        assert {one["id"] for one in page.said} == {299}
        assert (await page.process()).pid == before.pid
        await page.tab.take(json.dumps({"id": 300, "do": "stop"}))
        await gone(before)  # a run that is given up is computed no further
        await still_answers(page)

    on_a_page(story)


def engines(group: int) -> list[int]:
    """The processes of this group that workers are copies of."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if os.getpgid(pid) == group and b"multiprocessing.forkserver" in words:
                found.append(pid)
    return found


def heeds(pid: int) -> bool:
    """Whether Ctrl-C would not just end it, as before Python puts its own handler in place."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        kinds = [line.split() for line in lines if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]
        return any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for _, mask in kinds)
    return False


def test_ctrl_c_while_the_engine_is_loaded_is_one_line():
    """A terminal sends it to the process that loads it, too, which has nothing to say."""
    command = [sys.executable, "-m", "tacit", "lab", "xor", "--no-browser"]
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    while not any(map(heeds, engines(server.pid))):
        assert server.poll() is None
        time.sleep(0.001)
    os.killpg(server.pid, signal.SIGINT)
    assert server.communicate(timeout=60)[1] == "tacit: stopped\n"
    assert server.returncode == 0


def test_an_interrupt_before_the_server_begins_has_no_words(monkeypatch):
    """Python warns of a coroutine that was never begun; here warnings are errors."""

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tacit.lab.server.asyncio, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tacit.lab.server.serve({}, 0, print)
    gc.collect()


def test_ten_pages_of_one_server_get_their_own_answers():
    from websockets.sync.client import connect

    command = [sys.executable, "-m", "tacit", "lab", "xor", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split()[-1]
    origin = address.removesuffix("/").rpartition("/")[0]

    def ask(seed: int) -> str:
        with connect(
            address.replace("http", "ws") + "socket", origin=origin, max_size=None
        ) as page:
            page.send(message("check", id=1, seed=seed, dragging=False))
            page.send(message("run", id=2, seed=seed))
            said = []
            while sum(one["is"] == "done" for one in said) < 2:
                said.append(json.loads(page.recv(timeout=120)))
            assert sum(one["is"] == "lamps" for one in said) == 1
            return next(one["fingerprint"] for one in said if one["is"] == "limit")

    with ThreadPoolExecutor(10) as pages:
        runs = list(pages.map(ask, range(10)))
    server.send_signal(signal.SIGINT)
    assert server.wait(timeout=60) == 0
    server.stdout.close()
    setting = tacit.Setting(width=6, init="balanced:0.0001")
    limits = (tacit.limit(CASE["points"], CASE["labels"], setting, seed=k) for k in range(10))
    assert runs == [fingerprint(one.path) for one in limits]
