"""The application, and what its commands share."""

import json as json_module
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Any, Literal, TypeVar, get_args

from cyclopts import App, Parameter, convert

from tacit import __version__
from tacit.messages import count, printable
from tacit.values import BadInput, Dataset, Setting

F = TypeVar("F", bound=Callable[..., int])
T = TypeVar("T")

DEFAULT = Setting().to_dict()
"""What is taken when an option is not given, as texts."""


def whole_numbers(kind: Any, tokens: Any) -> Any:
    """Convert as cyclopts does, but refuse 1.5 as a whole number."""
    if int in (get_args(kind) or (kind,)):
        for token in tokens:
            if not re.fullmatch(r"[+-]?[0-9]+", token.value):
                raise ValueError(f"{token.value} is not a whole number")
    return convert(kind, tokens)


def _default(value: Any) -> str | None:
    """What help says of a default; nothing where an option is simply not given."""
    return None if value is None or value is False or value in ((), "") else str(value)


app = App(
    name="tacit",
    help="Which of all the solutions does gradient descent pick, why, and is it the best one?",
    version=f"tacit {__version__}",
    default_parameter=Parameter(negative=(), converter=whole_numbers, show_default=_default),
    suppress_keyboard_interrupt=False,
)
app.register_install_completion_command(help="Teach this shell to complete commands and options.")

DATA = (
    "a file (.csv, .npz with X and y, or X.npy,y.npy) or a generator call such as "
    "orthogonal:n=500,d=20,seed=0; `tacit list data` shows the generators."
)


def command(
    example: str, data: str | None = "DATA is", takes: str | None = None, **options: Any
) -> Callable[[F], F]:
    """Make the decorated function a command; its help ends with the example.

    `data` begins the sentence about what data is; None where a command takes none. `takes` are the
    arguments in the usage, where they may be left out.
    """
    end = f"Example: `{example}`" + (f"\n\n{data} {DATA}" if data else "")
    if takes is not None:
        options["usage"] = f"Usage: tacit {example.split()[1]} [OPTIONS] {takes}"

    def register(run: F) -> F:
        return app.command(run, help_epilogue=end, **options)

    return register


@Parameter(name="*")
@dataclass(frozen=True)
class DataOptions:
    """How DATA is read."""

    labels: str | None = None
    """A,B: the raw label A becomes +1 and B becomes −1; other rows are left out."""
    bias: float | None = None
    """Append this constant to every point as a last coordinate."""
    test: str | None = None
    """A test set, named like DATA."""

    def load(self, text: str) -> Dataset:
        from tacit.data import load

        data = load(text, labels=self.labels, bias=self.bias, test=self.test)
        if self.labels is None and "labels" in data.parameters:
            minus, plus = data.names[-1], data.names[1]
            warn(f"the label {plus} becomes +1 and {minus} becomes -1; --labels says otherwise")
        if left_out := data.parameters.get("left_out"):
            warn(f"{count(left_out, 'row')} with other labels left out")
        return data


@Parameter(name="*")
@dataclass(frozen=True)
class PointOptions(DataOptions):
    """The same where a test set plays no part: scripts may give one, the help does not show it."""

    test: Annotated[str | None, Parameter(show=False)] = None


def as_options(text: str) -> str:
    """A message of the library in the words of the command line.

    The library names its parameters as Python does, `width=0`; here they are options.

    Examples
    --------
    >>> as_options("`width=0` must be at least 1; or give `labels='a,b'`")
    '--width 0 must be at least 1; or give --labels a,b'
    >>> as_options("choose another name or give `force=True`")
    'choose another name or give --force'
    >>> as_options("More `seconds` or a smaller `log10_loss` may decide it.")
    'More --seconds or a smaller --log10-loss may decide it.'
    """

    def option(match: re.Match[str]) -> str:
        if match[2] is None and match[1] not in HINTS:
            return match[0]
        name = OPTIONS.get(match[1], match[1]).replace("_", "-")
        value = "" if match[2] in (None, "True") else match[2].strip(QUOTES)
        return f"--{name} {value}".rstrip()

    return re.sub(r"`([a-z][a-z0-9_]*)(?:=([^`]*))?`", option, text)


OPTIONS = {"properties": "property"}
"""Parameters whose option has another name."""
HINTS = {"init", "log10_loss", "seconds", "seed", "signs", "width"}
"""Options that messages name without a value."""
QUOTES = "'\"[]()"


def print_json(value: Any) -> None:
    """One line; what could steer a terminal is escaped as JSON does it."""
    text = json_module.dumps(value, ensure_ascii=False, allow_nan=False)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else json_module.dumps(c)[1:-1] for c in text)
    print(text, flush=True)  # what a closed pipe answers comes here, before anything else is said


def warn(message: str) -> None:
    """Say something on standard error, with parameters as options."""
    print(f"tacit: {as_options(printable(message))}", file=sys.stderr)


@Parameter(name="*")
@dataclass(frozen=True)
class NetworkOptions:
    """A two-layer network, its initial weights and its loss."""

    activation: str = DEFAULT["activation"]
    """`relu`, or `leaky:A` for φ(z) = max(z, Az)."""
    train: Literal["both", "first"] = "both"
    """The layers that are trained: both, or the first only."""
    width: int | None = None
    """The number of neurons: 100, or what the file of `--init file:…` holds."""
    init: str | None = None
    """Initial weights, see `tacit list initialisations`; by default `balanced:1e-4`, with a fixed
    output layer `gaussian:1e-4`."""
    output_weight: float | None = None
    """With --train first: V of the output layer, half +V and half −V (1)."""
    loss: str = DEFAULT["loss"]
    """`logistic` or `exponential`. Sum and mean have the same path; the loss and the time that are
    shown are those of the sum."""

    def setting(self, **more: Any) -> Setting:
        """The setting, trained by gradient flow unless `more` says otherwise."""
        if self.train == "both" and self.output_weight is not None:
            raise BadInput(
                "--output-weight plays no part when both layers are trained; it needs --train first"
            )
        given = {name: value for name, value in vars(self).items() if value is not None}
        return Setting(**{"rule": "flow", **given, **more})


Unused = Annotated[int, Parameter(show=False)]
"""`--seed` where nothing is random: scripts may give it, the help does not show it."""


def not_made(*files: Path | None) -> str:
    """What the line about an interrupt says of files that were asked for."""
    return "".join(f"; {path} was not made" for path in files if path is not None)


class NotSo(Exception):
    """What was asked for is not so: exit code 1, with one line."""


def proof_or_not_so(make: Callable[[], T]) -> T:
    """A proof; that there is none is no bad input."""
    try:
        return make()
    except BadInput as error:
        raise NotSo(str(error)) from error


def time_left(seconds: float, kept_back: float = 0.0) -> float:
    """What is left of `--seconds`, which count from the start of the process.

    At most a third of all is kept back for what comes after the search, such as drawing: so much
    processor time, which takes longer where other programs want the processor too.
    """
    if not seconds > 0:
        raise BadInput(f"--seconds {seconds:g} must be positive")
    passed = perf_counter() - process_start[0]
    busy = max(passed / max(process_time() - process_start[1], 1e-9), 1.0)
    return max(seconds - passed - min(busy * kept_back, seconds / 3), 0.01 * seconds)


def seconds_to_write(points: Dataset, width: int) -> float:
    """Estimate the seconds that measuring, compressing and writing a result take.

    They grow with the coordinates of points and neurons (1.5 µs for each, as measured); in small
    problems nobody waits for them.
    """
    return 1.5e-6 * points.d * (points.n + width)


def compile_first(prepare: Callable[[], None]) -> None:
    """Let Numba compile what it has not yet, which happens once and is no part of `--seconds`."""
    from tacit.numerics.compiled import seconds_compiling

    process_start[0] += seconds_compiling(prepare)


process_start = [perf_counter(), 0.0]
"""When this command began, as `perf_counter` and `process_time` tell it."""
