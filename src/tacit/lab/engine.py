"""What the page shows, computed by the library: each request becomes a few answers."""

import math
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from tacit.certificates import Optimality, optimum
from tacit.data import load
from tacit.explanation.explanation import OTHER_RUNS, judged
from tacit.explanation.observation import observe
from tacit.explanation.other_runs import OtherRuns
from tacit.explanation.predictions import careful_judge, prediction_to_dict, verdict_to_dict
from tacit.flow import Limit, binary_limit, initial_network
from tacit.flow.exponential_tail import tail_of
from tacit.flow.path import Moment
from tacit.geometry import check
from tacit.lab.again import command_line, data_name, python_lines
from tacit.lab.descent import descend
from tacit.lab.frames import events, fingerprint, frames
from tacit.lab.requests import MOST_DIMENSIONS, MOST_POINTS, Request
from tacit.messages import printable
from tacit.theorems import Case, Theorem, theorems
from tacit.theorems.judgement import applies
from tacit.values import BadInput, Check, Dataset, Setting
from tacit.values.jsonable import plain

RUN_SECONDS = 60.0
"""How long the flow of one run may take."""
BEST_SECONDS = 20.0
LOG10_LOSS = -1000.0
BATCH_SECONDS = 0.1
"""Frames are sent when so much time has passed since the last ones."""

Send = Callable[[dict[str, Any]], None]


def answer(request: Request, send: Send) -> None:
    """Answer one request by one or more messages."""
    if request.do == "load":
        send(points_message(load(request.text), request.text))
    elif request.do == "read":
        send(points_message(_read(request), ""))
    elif request.do == "check":
        check_points(request, send)
    elif request.do == "run":
        run(request, send)
    elif request.do == "descend":
        descend(request, send)


def points_message(data: Dataset, source: str, bias: float | None = None) -> dict[str, Any]:
    """A data set for the page; refused where it is too large, or has more than two classes."""
    if not data.binary:
        names = ",".join(data.classes[:2])
        raise BadInput(
            f"{data.name} has {len(data.classes)} classes ({', '.join(data.classes[:8])}); "
            f"a page shows two: give the labels to keep, say {names}"
        )
    if data.n > MOST_POINTS or data.d > MOST_DIMENSIONS:
        raise BadInput(
            f"{data.name} has {data.n} points in {data.d} dimensions; a page shows at most "
            f"{MOST_POINTS} in {MOST_DIMENSIONS}"
        )
    return {
        "is": "points",
        "points": data.X.tolist(),
        "labels": data.y.tolist(),
        "name": printable(data.name)[:80],
        "source": source,
        "bias": bias,
        "columns": [printable(name)[:40] for name in data.columns],
        "classes": [printable(data.names[1])[:40], printable(data.names[-1])[:40]],
    }


def _read(request: Request) -> Dataset:
    """The points of a file that was dropped on the page, read as the command line reads it."""
    name = printable(request.name)[:80] or "dropped.csv"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dropped.csv"
        path.write_text(request.text, "utf-8")
        try:
            data = load(str(path), labels=request.labels)
        except BadInput as error:
            raise BadInput(str(error).replace(str(path), name)) from None
    said = {key: value for key, value in data.parameters.items() if key != "file"}
    stem = name.removesuffix(".csv")
    return Dataset(data.X, data.y, stem, data.classes, said, None, data.columns, data.names)


def check_points(request: Request, send: Send) -> None:
    """The geometry of the points first, then every statement's hypotheses; then predictions."""
    data, setting = request.points, request.setting
    geometry = check(data, activation=setting.activation)
    send({"is": "geometry", "properties": [_check(one) for one in geometry.properties.values()]})
    case = Case(
        data, setting, initial_network(data, setting, request.seed), dict(geometry.properties)
    )
    lamps = [_lamp(one, case) for one in theorems().values()]
    send({"is": "lamps", "lamps": lamps})
    if request.dragging:
        return
    said = {}
    for one in lamps:
        if one["applies"] is not False and one["hypotheses"]:
            verdict = careful_judge(theorems()[one["id"]], case)
            if verdict.prediction is not None:
                entry = prediction_to_dict(verdict)
                said[one["id"]] = {
                    "words": verdict.prediction.words,
                    "directions": entry["directions"],
                }
    send(plain({"is": "predictions", "predictions": said}))


def _lamp(one: Theorem, case: Case) -> dict[str, Any]:
    """A statement and its hypotheses, before training."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            hypotheses = one.hypotheses(case)
    except Exception:  # what cannot be evaluated is neither on nor off
        hypotheses = ()
    return {
        "id": one.id,
        "place": " ".join(one.source),
        "summary": one.summary,
        "needs": one.needs,
        "applies": applies(hypotheses) if hypotheses else None,
        "hypotheses": [_check(check) for check in hypotheses],
    }


def _check(one: Check) -> dict[str, Any]:
    """As `asdict`, which copies deeply and takes most of the time of a drag."""
    numbers = {"holds": plain(one.holds), "slack": plain(one.slack), "error": plain(one.error)}
    return {**vars(one), **numbers}


def run(request: Request, send: Send) -> None:
    """Follow the flow to its end, frame by frame; then the limit, the best network, verdicts."""
    data, setting, started = request.points, request.setting, perf_counter()
    kind = tail_of(setting.loss)
    batch = _Batch(kind, send)
    limit = binary_limit(
        data, setting, seed=request.seed, log10_loss=LOG10_LOSS, seconds=RUN_SECONDS, watch=batch
    )
    batch.flush()
    name = data_name(request)
    send(
        {
            **_limit_message(limit),
            "events": events(limit.path),
            "fingerprint": fingerprint(limit.path),
            "command": command_line(request, name),
            "python": python_lines(request, name),
        }
    )
    best = limit.certificate
    if best is None or best.optimality != Optimality.CERTIFIED:
        send(_best(data, setting))
    case = Case(data, setting, initial_network(data, setting, request.seed))
    now = perf_counter()
    latest = now + min(OTHER_RUNS[0] * (now - started) + OTHER_RUNS[1], RUN_SECONDS)
    others = OtherRuns(case, LOG10_LOSS, latest)
    verdicts = judged(
        list(theorems().values()), observe(limit), latest, others, lambda stage, share: None
    )
    telling = [verdict_to_dict(one) for one in verdicts if one.applies is not False]
    send(plain({"is": "verdicts", "verdicts": telling}))


class _Batch:
    """Moments on their way to the page, a few in each message, the first one at once."""

    def __init__(self, kind: Any, send: Send) -> None:
        self.kind, self.send, self.sent = kind, send, -math.inf
        self.moments: list[Moment] = []

    def __call__(self, moment: Moment) -> None:
        self.moments.append(moment)
        if perf_counter() > self.sent + BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self.moments:
            self.send({"is": "frames", "frames": frames(self.moments, self.kind)})
            self.moments, self.sent = [], perf_counter()


def _limit_message(limit: Limit) -> dict[str, Any]:
    """Where the path ends, with the certificate."""
    best, network = limit.certificate, limit.network
    words = {"outcome": str(limit.outcome), "meaning": limit.outcome.sentence}
    return plain(
        {
            "is": "limit",
            **words,
            "reason": limit.reason,
            "margin": limit.margin,
            "groups": [group.to_dict() for group in limit.groups],
            "W": None if network is None else network.W,
            "a": None if network is None else network.a,
            "verdict": best.verdict if best else None,
            "share": None if best is None else 1 - best.shortfall,
            "optimality": str(best.optimality) if best else None,
            "optimal": list(best.margin_bounds) if best else None,
            "proved": limit.proved.sentence if limit.proved else None,
            "approach": limit.approach,
            "rate": limit.rate,
        }
    )


def _best(data: Dataset, setting: Setting) -> dict[str, Any]:
    """The network with the widest margin, which the page shows behind the one that was found."""
    try:
        best = optimum(data, setting, seconds=BEST_SECONDS)
        network = best.network
    except BadInput as error:
        return {"is": "best", "words": str(error), "W": None, "a": None, "margin": None}
    W, a = (network.W, network.a) if network is not None else (None, None)
    margin = best.margin if network is not None else None
    return plain({"is": "best", "words": "", "W": W, "a": a, "margin": margin})


def warm() -> None:
    """Import, and compile or load, what every worker needs, so that a run begins at once.

    In the plane the optimum is enumerated; only from more dimensions is branch and bound compiled.
    """
    request = Request(0, "run", load("xor"), setting=Setting(width=4, rule="flow"))
    for do in (run, check_points):
        do(request, lambda message: None)
    optimum(load("gaussians:n=30,d=8"))
