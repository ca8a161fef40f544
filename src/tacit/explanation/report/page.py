"""An explanation as one HTML page that needs nothing but itself."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from markupsafe import Markup, escape

from tacit.explanation import Explanation
from tacit.explanation.report import rows
from tacit.explanation.report.command import UNNAMED, command, source, versions
from tacit.explanation.report.phrases import alt, answer, names_directions, short
from tacit.explanation.sentences import counted
from tacit.messages import count, printable
from tacit.pages import render
from tacit.plot import explanation_pictures
from tacit.theorems import VerdictStatus

CAPTIONS = {
    "boundary": "Colour is the output; where it changes sign, there is a line.",
    "neurons": "A filled end inside a hollow mark is a prediction that came true.",
    "turning": "Thick lines are neurons that matter in the end.",
    "margins": "The smoothed margin never falls; the dotted line is the widest that is known.",
    "loss": "An axis that leads far from 0 is logarithmic beyond ±1; its label says so.",
    "distance": "The path comes near like a power of log(1/L); the limit itself is computed.",
}
"""How to read a picture."""
HEADS = {
    "boundary": "What was learned.",
    "neurons": "Where neurons point.",
    "turning": "How they got there.",
    "margins": "Is it the best?",
    "loss": "How fast.",
    "distance": "How far from the limit.",
}


def page(explanation: Explanation) -> str:
    """Render the whole report; every text that came from outside is escaped."""
    sections = [rows.section(explanation, part, k) for k, part in enumerate(explanation.parts)]
    worst = explanation.parts.index(explanation.worst)
    missing = explanation.data.classes[len(explanation.parts) :]
    whole = [rows.statement(explanation, one, "all") for one in explanation.verdicts]
    applying = [one for part in sections for one in part.applying] + whole
    entries, uncited = rows.bibtex(explanation)
    return render(
        "tacit.explanation.report",
        as_code,
        counted,
        short,
        explanation=explanation,
        name=short(explanation.data.name),
        full_name=printable(explanation.data.name),
        about=_about(explanation),
        answer=answer(explanation),
        pictures=_pictures(explanation),
        sections=sections,
        worst=sections[worst],
        missing=[short(name) for name in missing],
        whole=whole,
        refuted=[one for one in applying if one.status == VerdictStatus.REFUTED],
        meanings={status: status.sentence for status in VerdictStatus},
        holds=rows.HOLDS,
        most_groups=rows.MOST_GROUPS,
        setting=rows.setting(explanation),
        parameters=[(k, printable(str(v))) for k, v in explanation.data.parameters.items()],
        command=command(explanation),
        unnamed=source(explanation.data) == UNNAMED,
        versions=versions(),
        bibtex=entries,
        uncited=uncited,
        script=_script(),
        script_hash=b64encode(sha256(_script().encode()).digest()).decode(),
    )


def _about(explanation: Explanation) -> list[str]:
    """Describe data and network in two lines."""
    data, s = explanation.data, explanation.setting
    sizes = data.class_sizes
    few = [f"{short(name)}: {size}" for name, size in list(sizes.items())[:10]]
    more = ", …" if len(sizes) > 10 else ""
    classes = count(len(sizes), "class", "classes")
    test = f"; {count(data.test.n, 'test point')}" if data.test else ""
    layers = "both layers trained"
    if s.train == "first":
        layers = f"first layer trained, output fixed at ±{s.output_weight:g}"
    start = str(s.initialisation).replace("-", "\N{NON-BREAKING HYPHEN}")
    return [
        f"{count(data.n, 'point')} in {count(data.d, 'dimension')}, {classes}: "
        f"{', '.join(few)}{more}{test}",
        f"Gradient flow of a two-layer network: {s.activation}, {count(s.width, 'neuron')}, "
        f"{layers}, start {start}, {s.loss} loss, "
        f"seed {explanation.seed}",
    ]


def _pictures(explanation: Explanation) -> list[tuple[str, str, str, str]]:
    """Two parts of a caption, words instead, and the picture as an address that holds it."""
    part = explanation.worst
    silent = {"neurons"} if not any(names_directions(one) for one in part.verdicts) else set()
    return [
        (
            HEADS[name],
            CAPTIONS[name] if name not in silent else "",
            alt(name, part),
            f"data:image/svg+xml;base64,{b64encode(svg).decode()}",
        )
        for name, svg in explanation_pictures(part).items()
    ]


def as_code(text: str) -> Markup:
    """A message of the library, with the parameters that it names in backquotes as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(printable(text)))))


@cache
def _script() -> str:
    """The one script that the page allows, by its hash: buttons that copy a command."""
    return files("tacit.explanation.report").joinpath("page.js").read_text("utf-8")
