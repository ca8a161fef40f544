"""`tacit predict`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from cyclopts import Parameter

from tacit.cli._app import DEFAULT, NetworkOptions, PointOptions, command, print_json
from tacit.messages import printable

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.explanation import Predictions
    from tacit.theorems import Verdict

SIGNS = {True: "[green]yes[/]", None: "[yellow]?[/]  ", False: "[red]no[/] "}
"""How an answer looks, the most telling first."""


@Parameter(name="*")
@dataclass(frozen=True)
class AskedNetwork(NetworkOptions):
    """The same, with the losses that theorems speak of and no limit is computed for."""

    loss: str = DEFAULT["loss"]
    """`logistic` or `exponential`, of which sum and mean have the same path; `hinge`, or `hinge:G`
    as in brutzkus2019 (4)."""


@command("tacit predict orthogonal:n=40,d=2 --only lyu2021")
def predict(
    data: str,
    /,
    *,
    options: PointOptions = PointOptions(),  # noqa: B008  (frozen)
    only: tuple[str, ...] = (),
    model: str = "two_layer",
    network: AskedNetwork = AskedNetwork(),  # noqa: B008  (frozen)
    rule: Literal["flow", "gd", "sgd", "adam"] = "flow",
    lr: float = 0.1,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Which theorems apply, by how much the others fail, and what each promises. No training.

    Parameters
    ----------
    data
        File or generator call. Of more than two classes, also every class against the rest.
    only
        Only this theorem (`lyu2021:thm4.3`) or paper (`lyu2021`); may be repeated.
    model
        `two_layer`, or `conv_max_pool` for brutzkus2019 (2).
    rule
        Gradient flow, or a rule with steps.
    lr
        Step size of such a rule.
    seed
        Of the initial weights. Generators have a seed of their own.
    json
        One JSON object on standard output.
    """
    if model != "two_layer":  # the output layer of such a net is fixed
        network = replace(network, train="first")
    setting = network.setting(model=model, rule=rule, lr=lr)

    from tacit.explanation import predict as ask_theorems

    predictions = ask_theorems(options.load(data), setting, seed=seed, only=only)
    if json:
        print_json(predictions.to_dict())
    else:
        _print_predictions(predictions)
    return 0


def _print_predictions(predictions: Predictions) -> None:
    from rich.markup import escape

    from tacit.cli.terminal import console, title

    screen = console()
    screen.print(title(predictions.data))
    screen.print(_summary(predictions.verdicts))
    _print_papers(screen, predictions.verdicts)
    for name, verdicts in predictions.classes:
        screen.print(f"\n[bold underline]{escape(printable(name))} against the rest[/]")
        screen.print(_summary(verdicts))
        _print_papers(screen, verdicts)
    screen.print("\n--json has every hypothesis with its slack.")


def _summary(verdicts: Sequence[Verdict]) -> str:
    answers = [one.applies for one in verdicts]
    parts = [f"{answers.count(True)} of {len(answers)} apply"]
    if unknown := answers.count(None):
        parts.append(f"{unknown} may (?: a run decides, or nothing does)")
    if others := answers.count(False):
        parts.append(f"{others} do not")
    return "; ".join(parts) + "."


def _print_papers(screen: Console, verdicts: Sequence[Verdict]) -> None:
    """Print the theorems of every paper; papers and theorems that apply come first."""
    from rich.markup import escape

    from tacit.cli.terminal import print_hanging

    order = list(SIGNS)
    width = max(len(one.theorem.id) for one in verdicts)
    papers: dict[str, list[Verdict]] = {}
    for one in sorted(verdicts, key=lambda one: order.index(one.applies)):
        papers.setdefault(one.theorem.source.key, []).append(one)
    for paper, some in papers.items():
        applying = sum(one.applies is True for one in some)
        screen.print(f"\n[bold]{escape(paper)}[/]: {applying} of {len(some)} apply")
        for one in some:
            head = f"{SIGNS[one.applies]}  {escape(f'{one.theorem.id:<{width}}')}  "
            print_hanging(screen, head, escape(printable(_words(one))))


def _words(verdict: Verdict) -> str:
    """What a theorem promises, and on what condition; or why it does not apply."""
    if verdict.prediction is None:
        return verdict.words.removeprefix("It does not apply: ")
    promise = verdict.prediction.words
    return promise if verdict.applies else f"{promise} {verdict.words}"
