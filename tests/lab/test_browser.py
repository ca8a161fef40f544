"""The page in a real browser: what is on it is looked at, not its pixels."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit

pytestmark = pytest.mark.long
DATA = "orthogonal:n=12,d=2,seed=1"
PATIENCE = 120_000
"""Milliseconds; the machine may be busy."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    assert path, "there is no Chromium on this machine; install it: apt-get install chromium"
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "tacit", "lab", DATA, "--width", "12", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield server.stdout.readline().split()[-1]
    server.send_signal(signal.SIGINT)
    assert server.wait(timeout=60) == 0  # Ctrl-C is how it is ended
    server.stdout.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A page whose first run is done; no error and no request to another host along the way."""
    made = browser.new_page(viewport={"width": 1400, "height": 1000}, reduced_motion="reduce")
    made.set_default_timeout(PATIENCE)
    wrong, asked = [], []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    made.on("request", lambda request: asked.append(request.url))
    made.goto(address)
    done(made)
    yield made
    assert not wrong
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)
    made.close()


def done(page: Any) -> str:
    """Wait for the end of a run; its fingerprint."""
    page.wait_for_selector("body[data-run=done]")
    return page.get_attribute("body", "data-fingerprint")


def until(page: Any, script: str, arg: Any = None) -> None:
    """Wait until a script says yes; the page's policy forbids Playwright's own way to do this."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(script, arg):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"in vain: {script} {arg or ''}")


def told(page: Any, id: str, words: str) -> None:
    """Wait until a part of the page says this."""
    script = "([id, words]) => document.getElementById(id).innerText.includes(words)"
    until(page, script, [id, words])


def running(page: Any) -> None:
    until(page, "() => document.body.dataset.run !== 'done'")


def lit(page: Any) -> set[str]:
    return set(page.eval_on_selector_all(".lamp.on[data-id]", "all => all.map(e => e.dataset.id)"))


def linked(page: Any) -> dict[str, Any]:
    """The state that is in the address."""
    fragment = page.evaluate("location.hash.slice(1).replaceAll('-', '+').replaceAll('_', '/')")
    return json.loads(b64decode(fragment + "=" * (-len(fragment) % 4)))


def points(page: Any) -> list[list[float]]:
    return linked(page)["points"]


def screen(page: Any, x: float, y: float) -> tuple[float, float]:
    """Where a point of the plane is on the screen."""
    box = page.locator("#plane").bounding_box()
    radius = 1.3 * max(abs(entry) for point in points(page) for entry in point)
    unit = min(box["width"] - 2, box["height"] - 2) / 2 / radius
    return box["x"] + box["width"] / 2 + x * unit, box["y"] + box["height"] / 2 - y * unit


def test_the_answer_on_the_page_is_that_of_the_library(page):
    end = tacit.limit(DATA, tacit.Setting(width=12))
    assert "Global optimum" in page.inner_text("#verdict")
    assert end.certificate.verdict in page.inner_text("#verdict")
    why = tacit.explain(DATA, tacit.Setting(width=12))
    badges = page.eval_on_selector_all(
        "#lamps .lamp.on",
        "all => all.map(e => [e.dataset.id, e.querySelector('.badge')?.innerText])",
    )
    expected = {v.theorem.id: str(v.status) for v in why.worst.verdicts if v.applies}
    assert {id: badge for id, badge in badges} == expected


def test_points_are_placed_and_taken_back(page):
    before = points(page)
    page.mouse.click(*screen(page, -0.5 * before[0][0], 0.7))
    told(page, "about", f"{len(before) + 1} points")
    done(page)
    assert len(points(page)) == len(before) + 1
    page.click("#undo")
    done(page)
    assert points(page) == before
    page.click("#redo")
    done(page)
    page.keyboard.press("Control+z")
    done(page)
    assert points(page) == before


def test_a_dragged_point_puts_a_lamp_out(page):
    name = ".lamp[data-property=orthogonally_separable]"
    page.click("#geometry summary")
    assert page.locator(f"{name}.on").count() == 1
    before, (x, y) = lit(page), points(page)[0]
    page.mouse.move(*screen(page, x, y))
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(*screen(page, x - step * x / 4, y - step * y / 4))
    page.wait_for_selector(f"{name}.off")  # while it is still dragged
    until(page, "() => !document.querySelector('.lamp.on[data-id=\"phuong2021:thm1\"]')")
    page.mouse.up()
    done(page)
    assert before - lit(page)
    page.click("#undo")
    done(page)


def test_the_run_plays_and_can_be_scrubbed(page):
    page.click("#rewind")
    until(page, "() => document.getElementById('moment').dataset.index === '0'")
    page.select_option("#speed", "4")
    page.click("#play")
    until(page, "() => Number(document.getElementById('moment').dataset.index) > 5")
    page.focus("#scrub")
    page.keyboard.press("End")
    last = int(page.get_attribute("body", "data-frames")) - 1
    until(page, f"() => document.getElementById('moment').dataset.index === '{last}'")
    page.keyboard.press("Home")
    until(page, "() => document.getElementById('moment').dataset.index === '0'")


def test_a_run_plays_by_itself_but_not_for_those_who_want_less_motion(page, browser, address):
    last = int(page.get_attribute("body", "data-frames")) - 1
    assert page.get_attribute("#moment", "data-index") == str(last)
    other = browser.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(address)
    done(other)
    assert other.get_attribute("#play", "aria-label") == "pause"
    until(other, f"() => document.getElementById('moment').dataset.index === '{last}'")
    until(other, "() => document.getElementById('play').ariaLabel === 'play'")
    other.close()


def test_a_link_gives_the_same_run_bit_for_bit(page, browser):
    page.evaluate("document.getElementById('scale').value = -6")
    page.dispatch_event("#scale", "input")
    running(page)
    run, link = done(page), page.url
    page.reload()
    assert done(page) == run
    other = browser.new_page(reduced_motion="reduce")
    other.set_default_timeout(PATIENCE)
    other.goto(link)
    assert done(other) == run
    assert other.inner_text("#scale-text") == "0.000001"
    other.close()


def test_two_pages_do_not_disturb_each_other(page, browser, address):
    other = browser.new_page(reduced_motion="reduce")
    other.set_default_timeout(PATIENCE)
    other.goto(address)
    run = done(other)
    page.fill("#seed", "7")
    running(page)
    assert done(page) != run and other.get_attribute("body", "data-fingerprint") == run
    other.close()


def test_what_is_taken_away(page, tmp_path):
    for button, start in (("png", b"\x89PNG"), ("svg", b"<svg xmlns"), ("csv", b"x1,x2,y\n")):
        with page.expect_download() as download:
            page.click(f"#{button}")
        path = tmp_path / f"taken.{button}"
        download.value.save_as(path)
        assert path.read_bytes().startswith(start)
    data = tacit.load(str(tmp_path / "taken.csv"))
    assert data.X.tolist() == points(page)
    assert page.text_content("#command").startswith(f"tacit explain {DATA}")


def test_a_gif_of_the_run(page, tmp_path):
    from PIL import Image, ImageSequence

    with page.expect_download() as download:
        page.click("#gif")
    download.value.save_as(tmp_path / "run.gif")
    with Image.open(tmp_path / "run.gif") as film:
        pictures = [one.convert("RGB") for one in ImageSequence.Iterator(film)]
        assert film.size == (480, 480) and film.info["loop"] == 0
    assert len(pictures) == 100 and pictures[0].tobytes() != pictures[-1].tobytes()
    assert all(len(one.getcolors(480 * 480)) > 20 for one in (pictures[0], pictures[-1]))


def test_a_film_of_the_run(page, browser, tmp_path):
    with page.expect_download() as download:
        page.click("#film")
    name = download.value.suggested_filename
    download.value.save_as(tmp_path / name)
    assert name in ("tacit-lab.mp4", "tacit-lab.webm")
    shown = browser.new_page()
    raw = b64encode((tmp_path / name).read_bytes()).decode()
    size, first, last = shown.evaluate(
        """async (source) => {
          const video = Object.assign(document.createElement("video"), { muted: true });
          const until = (what) => new Promise((tell) => { video[`on${what}`] = tell; });
          video.src = source;
          await until("loadeddata");
          const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
          [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
          const pixels = async (time) => {
            const there = until("seeked");
            video.currentTime = time;
            await there;
            pen.drawImage(video, 0, 0);
            return canvas.toDataURL();
          };
          return [[canvas.width, canvas.height], await pixels(0.01), await pixels(8)];
        }""",
        f"data:video/{name[10:]};base64,{raw}",
    )
    assert size == [640, 640] and first != last
    shown.close()


def test_the_boundary_is_where_the_network_is_zero(page, address):
    """Random networks, with and without bias: f is 0 along it, and changes sign nowhere else."""
    worst, missed, crossings = page.evaluate(
        """async (address) => {
          const { boundaryRays, boundarySegments, output } = await import(address + "boundary.js");
          let seed = 1, worst = 0, missed = 0, crossings = 0;
          const draw = () => ((seed = (16807 * seed) % 2147483647) / 2147483647) * 2 - 1;
          for (let trial = 0; trial < 40; trial++) {
            const flat = trial % 2 === 0, alpha = trial % 4 < 2 ? 0.3 : 0;
            const neuron = () => [draw(), draw(), flat ? 0 : draw(), draw()];
            const net = Array.from({ length: 8 }, neuron);
            const f = ([x, y]) => output(net, alpha, x, y);
            const far = (angle) => [3 * Math.cos(angle), 3 * Math.sin(angle)];
            const lines = flat ? boundaryRays(net, alpha).map((angle) => [[0, 0], far(angle)])
              : boundarySegments(net, alpha, 1);
            for (const [p, q] of lines) for (const t of [0.1, 0.5, 0.9]) {
              const z = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])];
              worst = Math.max(worst, Math.abs(f(z)));
            }
            const near = ([x, y]) => lines.some(([p, q]) => {
              const d = [q[0] - p[0], q[1] - p[1]], size = d[0] ** 2 + d[1] ** 2;
              const t = Math.min(Math.max(((x - p[0]) * d[0] + (y - p[1]) * d[1]) / size, 0), 1);
              return Math.hypot(p[0] + t * d[0] - x, p[1] + t * d[1] - y) < 1e-6;
            });
            for (let k = 0; k < 50; k++) {
              let a = [draw(), draw()], b = [draw(), draw()];
              if (f(a) * f(b) >= 0) continue;
              for (let i = 0; i < 60; i++) {
                const c = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
                if (f(a) * f(c) > 0) a = c; else b = c;
              }
              crossings++;
              if (!near(a)) missed++;
            }
          }
          return [worst, missed, crossings];
        }""",
        address,
    )
    assert crossings > 300 and missed == 0 and worst < 1e-9


def test_the_page_by_keyboard(page):
    before = points(page)
    page.focus("#plane")
    page.keyboard.press("n")
    assert page.inner_text("#status").startswith("row 0: (")  # for those who only hear it
    page.keyboard.press("ArrowRight")
    running(page)
    done(page)
    assert points(page)[0][0] == pytest.approx(before[0][0] + 0.05, abs=1e-3)
    page.keyboard.press("Delete")
    running(page)
    done(page)
    assert len(points(page)) == len(before) - 1


def test_a_file_is_dropped_in_any_dimension(page, tmp_path):
    rows = ["a,b,c,y", "1,2,0.5,cat", "2,1,1,cat", "-1,-2,0.3,dog", "-2,-1,-1,dog"]
    (tmp_path / "pets.csv").write_text("\n".join(rows))
    page.set_input_files("#file", str(tmp_path / "pets.csv"))
    told(page, "about", "pets: 4 points")
    done(page)
    assert "dog" in page.inner_text("#legend")
    page.select_option("#view", "columns")
    page.select_option("#view-x", label="c")  # the other column is still b
    row = tmp_path / "row.svg"
    with page.expect_download() as download:
        page.click("#svg")
    download.value.save_as(row)
    places = re.findall(r'<circle cx="([^"]*)" cy="([^"]*)" r="5.2"', row.read_text())
    x, y = map(float, places[0])  # of the first dog
    assert (x - 320) / (320 - y) == pytest.approx(0.3 / -2, rel=0.02)
    (tmp_path / "bad.csv").write_text("1,2,cat\n1,x,dog\n")
    page.set_input_files("#file", str(tmp_path / "bad.csv"))
    page.wait_for_selector("#status.wrong")
    assert "bad.csv, line 2, column 2" in page.inner_text("#status")


def test_only_starts_that_there_are_can_be_chosen(page):
    """With fixed output weights no start is balanced; the page takes another one, and goes on."""
    page.select_option("#train", "first")
    running(page)
    done(page)
    assert page.input_value("#start") == "gaussian" and page.input_value("#width") == "12"
    assert "--train first" in page.text_content("#command")


def test_a_number_between_two_places_of_a_slider_is_kept(page):
    """A link may have any scale; only who moves its slider changes it."""
    case = {**linked(page), "setting": {**linked(page)["setting"], "init": "balanced:0.003"}}
    page.goto(page.url.partition("#")[0] + f"#{b64encode(json.dumps(case).encode()).decode()}")
    page.reload()
    done(page)
    assert page.inner_text("#scale-text") == "0.003"
    page.fill("#seed", "5")
    running(page)
    done(page)
    assert "--init balanced:3e-3" in page.text_content("#command")


def test_nothing_is_said_of_no_points(page):
    page.click("#clear")
    told(page, "status", "Click into the plane")
    assert page.locator(".lamp").count() == 0 and not page.locator("#verdict").is_visible()
    box = page.locator("#plane").bounding_box()
    page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + 0.4 * box["height"])
    told(page, "about", "points: 1 point in 2 dimensions")
    done(page)
    before = points(page)
    page.select_option("#brush", "-1")
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.4 * box["height"])
    told(page, "about", "2 points")
    done(page)
    assert points(page)[0] == before[0]
    assert points(page)[1] == pytest.approx([-before[0][0], before[0][1]], abs=0.01)


def test_what_is_pointed_at_is_told(page):
    page.hover("#lamps .lamp")
    assert "✓" in page.inner_text("#tip")
    page.mouse.move(*screen(page, *points(page)[3]))
    assert "row 3: (" in page.inner_text("#tip") and "margin" in page.inner_text("#tip")
    page.focus("#lamps .lamp:nth-child(2)")
    page.keyboard.press("Shift+Tab")
    assert "✓" in page.inner_text("#tip")


def test_descent_is_shown_beside_the_flow(page):
    page.check("#descent")
    told(page, "descent-caption", "epoch")
    assert page.locator("#descent-plane").is_visible()


def test_every_control_has_a_name(page):
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('input, select, button, canvas')].filter((e) =>
          !e.labels?.length && !e.getAttribute('aria-label') && !e.innerText && !e.ariaHidden)
          .map((e) => e.id)"""
    )
    assert nameless == []


@pytest.mark.parametrize("width", [390, 800])
def test_nothing_sticks_out_of_a_small_screen(browser, address, width):
    made = browser.new_page(viewport={"width": width, "height": 844}, reduced_motion="reduce")
    made.set_default_timeout(PATIENCE)
    made.goto(address)
    done(made)
    assert made.evaluate("document.documentElement.scrollWidth <= innerWidth")
    made.close()


def test_another_page_in_the_same_browser_reaches_nothing(browser, address, tmp_path):
    """A hostile page that even knows the address: no socket, no file, no frame."""
    (tmp_path / "evil.html").write_text("<!DOCTYPE html><title>evil</title><body>")
    made = browser.new_page()
    made.goto((tmp_path / "evil.html").as_uri())
    reached = made.evaluate(
        """async (address) => {
          const socket = await new Promise((tell) => {
            const made = new WebSocket(address.replace("http", "ws") + "socket");
            made.onopen = () => tell("open");
            made.onerror = () => tell("refused");
          });
          const file = await fetch(address).then(() => "read", () => "refused");
          const script = await import(address + "state.js").then(() => "read", () => "refused");
          return [socket, file, script];
        }""",
        address,
    )
    assert reached == ["refused"] * 3
    made.close()


def test_hostile_messages_do_not_stop_the_server(page, address):
    told = page.evaluate(
        """async (address) => {
          const socket = new WebSocket(address.replace("http", "ws") + "socket");
          const words = [];
          await new Promise((tell) => { socket.onopen = tell; });
          socket.onmessage = (event) => words.push(JSON.parse(event.data));
          const file = '{"id":1,"do":"load","call":"/etc/passwd"}';
          for (const raw of ["{", "null", '{"do":"run"}', file, "9".repeat(5000)]) socket.send(raw);
          const refused = () => words.filter((one) => one.is === "refused");
          while (refused().length < 5) await new Promise((tell) => setTimeout(tell, 20));
          socket.close();
          return refused().map((one) => one.words);
        }""",
        address,
    )
    assert len(told) == 5 and not any("\n" in words for words in told)
    page.reload()
    done(page)


def test_a_killed_worker_is_replaced(page):
    """Every process that the server has started is killed in the middle of a run."""
    page.fill("#seed", "11")
    running(page)
    kill_workers()
    page.wait_for_selector("body[data-run=refused], body[data-run=done]")
    page.fill("#seed", "12")
    running(page)
    done(page)


def kill_workers() -> None:
    """Kill the copies of the process that the server's workers are made from, and not that one."""
    parents, nurseries = {}, set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        if b"multiprocessing.forkserver" in command:
            nurseries.add(int(folder.name))
    ours = {number for number in nurseries if parents.get(parents[number]) == os.getpid()}
    for number, parent in parents.items():
        if parent in ours:
            os.kill(number, signal.SIGKILL)


def test_a_recording_plays_offline(browser, tmp_path):
    path = tmp_path / "page.html"
    command = [sys.executable, "-m", "tacit", "lab", DATA, "--width", "12", "--export", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    context = browser.new_context(offline=True)
    made, wrong = context.new_page(), []
    made.set_default_timeout(PATIENCE)
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    made.goto(path.as_uri())
    made.wait_for_selector("body[data-ready]")
    assert "Global optimum" in made.inner_text("#verdict") and lit(made)
    until(made, "() => Number(document.getElementById('moment').dataset.index) > 2")
    made.focus("#scrub")
    made.keyboard.press("End")
    last = int(made.get_attribute("body", "data-frames")) - 1
    until(made, f"() => document.getElementById('moment').dataset.index === '{last}'")
    assert not made.locator("#generator").is_visible()
    assert not wrong
    context.close()
