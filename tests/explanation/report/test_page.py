"""The report: everything is in it, nothing is loaded, and what came from outside is text."""

from __future__ import annotations

import re
import shlex
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest

from tacit import Setting, __version__, load
from tacit.explanation import Explanation, explain
from tacit.explanation.report import page
from tacit.explanation.report.command import UNNAMED, command, source
from tacit.explanation.report.page import as_code
from tacit.explanation.report.phrases import short
from tacit.explanation.sentences import counted
from tacit.pages import number
from tacit.theorems import VerdictStatus

BOTH = Setting(width=12, train="both", init="balanced:1e-4", rule="flow")
EVIL = "<script>alert(1)</script>$x^2$\"'&{{ 7 * 7 }}"
SECTIONS = ["answer", "pictures", "hypotheses", "predictions", "geometry", "limit", "certificate",
            "computed", "citations"]  # fmt: skip


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    return explain(load("orthogonal:n=12,d=2,seed=1"), BOTH)


@pytest.fixture(scope="module")
def html(explanation: Explanation) -> str:
    return page(explanation)


@pytest.fixture(scope="module")
def classes() -> Explanation:
    return explain("orthogonal_classes:n=6,d=3", BOTH, only=("lyu2021:thm3.1", "wang2022:thm2"))


class Reader(HTMLParser):
    """Tags are closed in order; ids, links and addresses are kept."""

    void = {"meta", "img", "br", "link", "input", "hr"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.add(tag)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if "href" in named else []
        self.sources += [named["src"]] if "src" in named else []
        assert not any(name.startswith("on") for name in named)
        if tag == "img":
            assert len(named["alt"]) > 20
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


HIDDEN = r"(?s)<style>.*?</style>|<script>.*?</script>"


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", re.sub(HIDDEN, "", html)))
                    .split())  # fmt: skip


def test_nothing_is_loaded_and_nothing_runs(html: str) -> None:
    seen = Reader(html)
    assert not seen.tags & {"link", "iframe", "object", "embed", "base", "form"}
    (script,) = re.findall(r"(?s)<script>(.*?)</script>", html)
    (allowed,) = re.findall(r"script-src 'sha256-(.*?)'", html)
    assert allowed == b64encode(sha256(script.encode()).digest()).decode()
    assert script == files("tacit.explanation.report").joinpath("page.js").read_text("utf-8")
    assert html.count("script-src") == 1 and "default-src 'none'" in html
    assert all(link.startswith("#") for link in seen.links)
    assert len(seen.sources) == 6
    for address in seen.sources:
        head, _, body = address.partition(",")
        assert head == "data:image/svg+xml;base64"
        svg = b64decode(body, validate=True)
        assert ElementTree.fromstring(svg).tag.endswith("}svg")
        assert b"<script" not in svg and not re.search(rb'href="http', svg)
    assert not re.search(r"https?://|@import|url\(", html)


def test_every_part_is_there_in_order_and_links_lead_somewhere(html: str) -> None:
    seen = Reader(html)
    assert len(seen.ids) == len(set(seen.ids))
    assert [name for name in seen.ids if name in SECTIONS] == SECTIONS
    assert {link[1:] for link in seen.links} <= set(seen.ids)


def test_every_theorem_and_every_number_is_there(explanation: Explanation, html: str) -> None:
    text = text_of(html)
    for verdict in explanation.worst.verdicts:
        assert verdict.theorem.id in text
        if verdict.applies is not False:
            assert " ".join(verdict.words.split()) in text
            assert verdict.prediction is None or verdict.prediction.words in text
            for check in verdict.hypotheses:
                assert check.name in text and number(check.slack) in text
    for check in explanation.geometry.properties.values():
        assert check.name in text and check.note in text
    limit = explanation.worst.limit
    assert limit.certificate is not None and limit.certificate.verdict in text
    for group in limit.groups:
        assert number(group.weight, 6) in text
    assert limit.reason in text and f"tacit {__version__}" in text
    assert "@inproceedings{lyu2021," in text and "@inproceedings{brutzkus2019," not in text


def test_the_answer_has_its_three_parts(html: str) -> None:
    text = text_of(html.partition("<nav")[0])
    for words in ("Which solution? Training converges", "Why? Linearly separable", "Theorem H.2",
                  "Is it the best? Yes. A KKT point and the global optimum"):  # fmt: skip
        assert words in text
    assert "Refuted" not in text


def test_the_command_makes_the_same_data_and_is_understood(
    explanation: Explanation, html: str
) -> None:
    from tacit.cli._app import app

    words = shlex.split(command(explanation))
    assert words[:2] == ["tacit", "explain"] and command(explanation) in unescape(html)
    again = load(words[2])
    assert np.array_equal(again.X, explanation.data.X) and np.array_equal(
        again.y, explanation.data.y
    )
    called, bound, _ = app.parse_args(words[1:], exit_on_error=False, print_error=False)
    assert called.__name__ == "explain"
    network = bound.arguments["network"]
    assert network.width == BOTH.width and network.init == str(BOTH.init)


@pytest.mark.parametrize("text", ["xor", "hinted", "linear:n=5,d=3,margin=0.2", "xord"])
def test_generators_are_called_as_they_were(text: str) -> None:
    data = load(text)
    again = load(source(data))
    assert np.array_equal(again.X, data.X) and np.array_equal(again.y, data.y)


@pytest.mark.usefixtures("undrawn")
def test_data_without_a_name_is_said_to_be_data(explanation: Explanation) -> None:
    data = replace(explanation.data, parameters={})
    assert source(data) == UNNAMED and "DATA stands for" in page(replace(explanation, data=data))
    file = replace(explanation.data, parameters={"file": "a b'.csv", "labels": {"u": 1, "v": -1}})
    words = shlex.split(command(replace(explanation, data=file)))
    assert words[2] == "a b'.csv" and words[words.index("--labels") + 1] == "u=+1,v=-1"


@pytest.mark.usefixtures("undrawn")
def test_refuted_is_loud_and_can_be_run_again(explanation: Explanation) -> None:
    part = explanation.worst
    at = next(k for k, one in enumerate(part.verdicts) if one.theorem.id == "lyu2021:thmH.2")
    fake = replace(part.verdicts[at], status="refuted", residual=0.25, words="It is off by 0.25.")
    verdicts = (*part.verdicts[:at], fake, *part.verdicts[at + 1 :])
    html = page(replace(explanation, parts=(replace(part, verdicts=verdicts),)))
    Reader(html)
    box = re.search(r'(?s)<section class="refuted".*?</section>', html)
    assert box is not None and html.index(box.group()) < html.index('id="answer"')
    said = text_of(box.group())
    again = command(explanation, "lyu2021:thmH.2")
    for words in ("Refuted", "Theorem H.2", "It is off by 0.25.", "0.25", again, "seed 0",
                  f"tacit {__version__}", "numpy", "balanced:1e-4"):  # fmt: skip
        assert words in said
    assert again.endswith("--only lyu2021:thmH.2")
    assert "lyu2021:thmH.2 is refuted" in text_of(html)


def test_what_comes_from_outside_is_text(classes: Explanation) -> None:
    names = (EVIL, "b" * 500, "c")
    data = replace(classes.data, name=EVIL + "n" * 3000, classes=names, parameters={"file": EVIL})
    parts = tuple(
        replace(
            part, name=name, limit=replace(part.limit, data=replace(part.limit.data, name=EVIL))
        )
        for part, name in zip(classes.parts, names, strict=True)
    )
    geometry = replace(classes.geometry, data=data)
    html = page(replace(classes, data=data, parts=parts, geometry=geometry))
    seen = Reader(html)
    assert html.lower().count("<script") == 1 and "49" not in seen.tags  # the page's own
    assert "&lt;script&gt;alert(1)&lt;/script&gt;$x^2$" in html and "{{ 7 * 7 }}" in html
    for address in seen.sources:
        assert b"alert(1)" not in b64decode(address.partition(",")[2])
    title = re.search(r"<h1>(.*?)</h1>", html)
    assert title is not None and len(unescape(title.group(1))) <= 100


@pytest.mark.usefixtures("undrawn")
def test_every_class_has_its_part(classes: Explanation) -> None:
    html = page(classes)
    seen = Reader(html)
    text = text_of(html)
    assert len(seen.ids) == len(set(seen.ids))
    assert {link[1:] for link in seen.links} <= set(seen.ids)
    assert len(seen.sources) == 6
    for part in classes.parts:
        assert f"{part.name} against the rest" in text and number(part.limit.margin, 6) in text
    assert classes.verdicts and "Of all classes together" in text


def test_parameters_in_messages_are_code_and_the_rest_is_text() -> None:
    said = as_code("Another `seed`, or `init='he:1'`, <b>may</b> decide it.")
    first, second = "<code>seed</code>", "<code>init=&#39;he:1&#39;</code>"
    assert said == f"Another {first}, or {second}, &lt;b&gt;may&lt;/b&gt; decide it."


@pytest.mark.usefixtures("undrawn")
def test_an_interrupted_search_says_what_is_missing(classes: Explanation) -> None:
    cut = replace(classes, parts=classes.parts[:1], interrupted=True)
    text = text_of(page(cut))
    assert "Interrupted." in text and "nothing is known of 1, 2." in text


def test_without_a_limit_the_outcome_and_its_evidence_are_said() -> None:
    explanation = explain(load("xor"), replace(BOTH, width=2), only=("phuong2021:thm1",))
    outcome = explanation.worst.limit.outcome
    assert outcome == "partial"
    html = page(explanation)
    Reader(html)
    text = text_of(html)
    assert f"No limit is claimed: the path is {outcome}." in text
    assert text.count(explanation.worst.limit.reason) >= 2
    assert outcome.sentence not in text  # it says the same as the reason, which says more
    assert "There is no certificate, since there is no limit." in text


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("data", ["linear:n=1,d=2", "linear:n=6,d=1"])
@pytest.mark.parametrize("only", ["sarussi2021:thm4.1", "brutzkus2019:thm3.4"])
def test_small_data_and_no_theorem(data: str, only: str) -> None:
    html = page(explain(load(data), replace(BOTH, width=4), only=(only,)))
    Reader(html)
    assert "does not apply" in html or "do not apply" in html


@pytest.mark.usefixtures("undrawn")
def test_many_groups_unfold(explanation: Explanation) -> None:
    part = explanation.worst
    many = tuple(replace(part.limit.groups[0], weight=1.0 + k / 1000) for k in range(70))
    html = page(
        replace(explanation, parts=(replace(part, limit=replace(part.limit, groups=many)),))
    )
    Reader(html)
    assert "50 more groups" in html and number(1.0, 6) in text_of(html)


def test_numbers_are_for_people() -> None:
    assert [number(x) for x in (None, float("nan"), float("inf"), -0.5, 1.23456e-9, 0.0)] == [
        "–", "–", "∞", "−0.5", "1.2e−09", "0",
    ]  # fmt: skip
    assert short("a\nb\x1b[1m") == "a b\\x1b[1m" and len(short("x" * 999)) == 100


def test_verdicts_are_counted_in_english(explanation: Explanation, html: str) -> None:
    agrees, not_applicable = VerdictStatus.AGREES, VerdictStatus.NOT_APPLICABLE
    assert [counted(agrees, n) for n in (1, 2)] == ["1 agrees", "2 agree"]
    assert [counted(not_applicable, n) for n in (1, 2)] == ["1 does not apply", "2 do not apply"]
    here = [verdict.status for verdict in explanation.worst.verdicts]
    assert counted(not_applicable, here.count(not_applicable)) in text_of(html)
    assert counted(VerdictStatus.CONFIRMED, here.count("confirmed")) in text_of(html)


def test_without_time_no_panel_is_empty_and_no_theorem_is_blamed() -> None:
    html = page(explain("orthogonal:n=12,d=2,seed=1", BOTH, seconds=1e-6))
    assert "theorems that were asked was decided." in html
    assert "What was learned." in html
    assert "How they got there." not in html
