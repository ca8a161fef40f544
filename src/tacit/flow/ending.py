"""Follow gradient flow to its end and say what the end is, with the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter, process_time
from typing import Any

import numpy as np

from tacit.certificates.certificate import compared
from tacit.data import takes_data
from tacit.flow.evidence import LimitEvidence, judge
from tacit.flow.exponential_tail import Kind, tail_of
from tacit.flow.follow import begin, resumed
from tacit.flow.limits import Limit, Limits
from tacit.flow.path import Moment, Path, PathEnd
from tacit.flow.proof import what_is_proved
from tacit.flow.stage import prepare, velocities
from tacit.flow.state import OutOfTime
from tacit.flow.steps import seen_by, weigh
from tacit.flow.tolerances import DEEPEST, EVIDENCE, LOWEST, PATH, PathTolerances
from tacit.messages import count
from tacit.models import Leaky, ReLU, model_text
from tacit.models.initialisations import initial_weights
from tacit.numerics.blas_threads import with_one_blas_thread
from tacit.numerics.float64 import LN10
from tacit.values import BadInput, Dataset, Network, Outcome, Setting
from tacit.values.arguments import check_seed
from tacit.values.setting import Layers

DEEPER = (-1e5, -1e9, -1e60, -1e250)
"""log₁₀ losses down to which the path is followed while it does not show its limit."""
BEYOND = tuple(500.0 * 4**k for k in range(11))
"""log₁₀ log₁₀(1/L) down to which it is followed then, with both layers trained."""
MORE_TRIES = 3000
"""Steps that may be tried on the way there, or twice as many as were tried before."""
JUDGE_AGAIN = 1.5
"""How long the next look at where a path leads is reckoned to take, over the longest until then."""
CLASSIFIED_FROM = -1000.0
"""The depth needed to classify a path that could not be followed further: its log₁₀ loss."""
LEAST_CERTIFY, MOST_CERTIFY = 2.0, 60.0
"""Seconds: to find how wide a margin can be may take a tenth of the time of the path, between these
two. Three times as long hardly closes a gap that is open then; `optimum` has the time that it is
given."""
LEAST_PROOF = 1.5
"""Seconds: a proof of the limit may take a fifth of the time of all before, and at least so long;
most are made in a tenth of a second, or not at all. On a busy machine these least times are longer,
or what is proved would depend on that."""
SMALLEST = 1e-50
"""Largest entries of data and of weights are between this and its inverse."""
MOST_ENTRIES = 10**8
"""Sides of hyperplanes, or numbers in the weights, that are kept for every moment."""

Progress = Callable[[float, float], None]
"""Called with the log₁₀ loss reached and the one to reach."""
Start = Network | tuple[np.ndarray, np.ndarray]


@takes_data
def limit(
    data: Dataset,
    setting: Setting | None = None,
    *,
    seed: int = 0,
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    start: Start | None = None,
    progress: Progress | None = None,
    resume: Limit | Limits | None = None,
) -> Limit | Limits:
    """Follow gradient flow to its end: which network it becomes, and whether that is the best.

    Parameters
    ----------
    data : Dataset, str, Path, or X, y
        What `tacit.load` takes; with arrays, the labels are the second argument. Of more than two
        classes, each is separated from the rest by a network of its own.
    setting : Setting, optional
        The network, its initial weights and its loss.
    seed : int, default 0
        The seed of the initial weights.
    log10_loss : float, default -1000
        The path is followed until log₁₀ of the loss is at most this, and on, to any depth, while it
        does not show what it leads to.
    seconds : float, default 540
        About how long it may take, over all classes; the path is cut where it would take longer.
    start : Network, optional
        Where the path starts, instead of at weights that are drawn. The width is then that of the
        network; its activation must be the setting's, and is where no setting is given.
    progress : callable, optional
        Called with the log₁₀ loss reached and the one to reach.
    resume : Limit or Limits, optional
        What is undecided in it is followed further, with its setting, data and seed.

    Returns
    -------
    Limit, or Limits for more than two classes
        A KeyboardInterrupt ends the search; what was reached until then is returned, and says that
        it was interrupted.

    Examples
    --------
    >>> end = limit("xor", Setting(width=20))
    >>> end.outcome, len(end.groups)
    (<Outcome.PROVED: 'proved'>, 4)
    >>> round(end.margin, 5)
    0.17678
    """
    earlier = resume.each if resume is not None else ()
    if earlier:
        setting, seed = _resumable(data, setting, start, earlier)
    if setting is None:
        alpha = start.alpha if isinstance(start, Network) else 0.0
        setting = Setting(activation=Leaky(alpha) if alpha else ReLU())
    options: dict[str, Any] = {
        "seed": seed,
        "log10_loss": log10_loss,
        "seconds": seconds,
        "start": start,
        "progress": progress,
    }
    if data.binary:
        return binary_limit(data, setting, **options, resume=earlier[0] if earlier else None)
    limits: list[Limit] = []
    prepare()
    deadline = perf_counter() + seconds
    for k in range(len(data.classes)):
        left = (deadline - perf_counter()) / (len(data.classes) - k)
        # Never 0, even if the classes before have used all: that would be refused as a parameter.
        options["seconds"] = max(left, 0.01 * seconds)
        before = earlier[k] if k < len(earlier) else None
        try:
            limits.append(binary_limit(data.one_vs_rest(k), setting, **options, resume=before))
        except KeyboardInterrupt:
            if not limits:
                raise
            return Limits(data, tuple(limits), interrupted=True)
        if limits[-1].interrupted:
            return Limits(data, tuple(limits), interrupted=True)
    return Limits(data, tuple(limits))


def _resumable(
    data: Dataset, setting: Setting | None, start: Start | None, earlier: tuple[Limit, ...]
) -> tuple[Setting, int]:
    """The setting and the seed of what is resumed; refused where nothing of it is open."""
    if setting is not None or start is not None:
        raise BadInput("`resume` keeps the setting and the start; leave `setting` and `start` out")
    whole = data if data.binary else data.one_vs_rest(0)
    same = np.array_equal(whole.X, earlier[0].data.X) and np.array_equal(whole.y, earlier[0].data.y)
    if not same:
        raise BadInput("`resume` keeps the data; give the same points and labels again")
    complete = len(earlier) == (1 if data.binary else len(data.classes))
    if complete and not any(_open(one) for one in earlier):
        raise BadInput(f"there is nothing to resume: the outcome is {earlier[0].outcome}")
    return earlier[0].setting, earlier[0].seed


def _open(limit: Limit) -> bool:
    return limit.outcome is Outcome.UNDECIDED


@with_one_blas_thread
def binary_limit(
    data: Dataset,
    setting: Setting,
    *,
    seed: int = 0,
    log10_loss: float = -1000.0,
    seconds: float = 540.0,
    start: Start | None = None,
    progress: Progress | None = None,
    errors: PathTolerances = PATH,
    resume: Limit | None = None,
    watch: Callable[[Moment], None] | None = None,
) -> Limit:
    """What `limit` returns for binary data, with the same parameters; and the errors of a step.

    `watch` is called with every moment of the path, the first one included, as soon as it is known.
    """
    if resume is not None and not _open(resume):
        return resume
    prepare()
    started, used = perf_counter(), process_time()
    check_flow(data, setting, seed, log10_loss, seconds)
    kind = tail_of(setting.loss)
    alpha, train = setting.alpha, setting.train
    if resume is not None:
        first = resume.path.moments[0].state
        start = Network(first.W, first.a, alpha)
    if start is None:
        start = initial_network(data, setting, seed)
    if not isinstance(start, Network):
        start = Network(*start, alpha)
    _check_start(data, setting, start)
    W, a = start.W, start.a
    setting = setting.replace(width=start.width)
    _check_sizes(data.X, W, a)
    deadline = started + seconds
    if resume is not None:
        flow = resumed(resume.path, kind, errors)
    else:
        flow = begin(data.X, data.y, alpha, W, a, train == "both", kind, errors, deadline)
    if watch is not None:
        for moment in flow.moments:
            watch(moment)
        flow.watch = watch
    left = max(deadline - perf_counter(), 0.0)
    path = flow.run(log10_loss * LN10, left, _reporter(progress, log10_loss))
    judged = perf_counter()
    outcome, reason, evidence = _end(path, data, train, kind, deadline)
    reserve = JUDGE_AGAIN * (perf_counter() - judged)
    allowed = max(3 * flow.tries, flow.tries + MORE_TRIES)  # not in seconds: the same every time
    for goal, depth in _goals(log10_loss, train):
        if path.end is not PathEnd.REACHED or outcome is not Outcome.UNDECIDED:
            break
        if goal * LN10 >= path.last.log_L or depth <= path.last.log10_depth:
            continue
        if depth < math.inf and not seen_by(path.last.state).all():
            break  # what no neuron is active on does not become clearer further down
        left, tries = max(deadline - reserve - perf_counter(), 0.0), allowed - flow.tries
        shown = _reporter(progress, max(goal, LOWEST / LN10))
        path = flow.run(goal * LN10, left, shown, tries, depth=depth)
        judged, in_vain = perf_counter(), flow.tries >= allowed
        outcome, reason, evidence = _end(path, data, train, kind, deadline, in_vain)
        reserve = max(reserve, JUDGE_AGAIN * (perf_counter() - judged))
    flow.watch = None  # what a proof looks at further down is no part of the path
    certificate = proved = None
    if evidence is not None:
        least = min(1.0, 0.05 * seconds)  # the path may have used all
        taken = perf_counter() - started
        busy = max(taken / max(process_time() - used, 1e-3), 1.0)
        longest = min(max(taken / 10, LEAST_CERTIFY * busy), MOST_CERTIFY)
        left = min(max(seconds - taken, least), longest)
        certificate = compared(data, evidence.network, evidence.kkt, train, seconds=left)
        taken = perf_counter() - started
        left = min(max(seconds - taken, least), max(taken / 5, LEAST_PROOF * busy))
        try:
            proved = what_is_proved(data, flow, path, certificate, evidence, left)
        except KeyboardInterrupt:
            path = replace(path, end=PathEnd.INTERRUPTED, reason="interrupted")
        # What is proved holds for these very weights: a claim that it contradicts is withdrawn.
        if proved is not None and proved.excludes(certificate.margin):
            outcome, reason = Outcome.UNDECIDED, f"{proved.sentence} {_advice(path)}"
            evidence = certificate = proved = None
        elif proved is not None and proved.narrow:
            outcome = Outcome.PROVED
    return Limit(
        setting=setting,
        data=data,
        seed=seed,
        outcome=outcome,
        reason=reason,
        path=path,
        groups=evidence.groups if evidence else (),
        network=evidence.network if evidence else None,
        kkt=evidence.kkt if evidence else None,
        certificate=certificate,
        proved=proved,
        approach=evidence.approach if evidence else np.zeros((0, 2)),
        fitted_rate=evidence.rate if evidence else None,
        seconds=perf_counter() - started + (resume.seconds if resume else 0.0),
    )


def _goals(log10_loss: float, train: Layers) -> Iterator[tuple[float, float]]:
    """log₁₀ losses and depths to which a path is followed while it does not show its limit."""
    for goal in DEEPER:
        if goal < 10 * log10_loss:
            yield max(goal, DEEPEST[train]), math.inf
    if train == "both":
        yield from ((-math.inf, depth) for depth in BEYOND)


def initial_network(data: Dataset, setting: Setting, seed: int) -> Network:
    """The initial weights that training and the flow start from with this seed."""
    drawn = initial_weights(
        setting.model, data.d, setting.width, setting.init, seed, setting.output_weight
    )
    return Network(drawn["W"], drawn["a"], setting.alpha)


def _check_start(data: Dataset, setting: Setting, start: Network) -> None:
    if start.alpha != setting.alpha:
        raise BadInput(
            f"the network in `start` has the slope α = {start.alpha:g} and the setting has "
            f"α = {setting.alpha:g} (`activation='{setting.activation}'`); give both the same"
        )
    if start.d != data.d or start.width == 0:
        raise BadInput(f"`start`: W has shape {start.W.shape}; the data needs (m, {data.d})")


def check_width(data: Dataset, setting: Setting) -> None:
    """Refuse networks of which a single moment is too large."""
    if setting.width * max(data.n, data.d) > MOST_ENTRIES:
        raise BadInput(
            f"`width={setting.width}` with {data.n} points in {data.d} dimensions needs more than "
            f"{MOST_ENTRIES:,} numbers at every moment; choose it smaller"
        )


def check_flow(
    data: Dataset, setting: Setting, seed: int, log10_loss: float, seconds: float
) -> None:
    """Refuse what the flow cannot be followed for."""
    if not setting.two_layer:
        raise BadInput(
            f"the flow is that of two_layer networks, not of {model_text(setting.model)}"
        )
    check_width(data, setting)
    check_seed(seed)
    if not -math.inf < log10_loss < 0:
        raise BadInput(f"`log10_loss={log10_loss:g}` must be a negative number, say -1000")
    if log10_loss < DEEPEST[setting.train]:
        raise BadInput(
            f"`log10_loss={log10_loss:g}` is beyond the flow's arithmetic; "
            f"it must be at least {DEEPEST[setting.train]:g}"
        )
    if not seconds > 0:
        raise BadInput(f"`seconds={seconds:g}` must be positive")


def _check_sizes(X: np.ndarray, W: np.ndarray, a: np.ndarray) -> None:
    """Squares of all lengths must be numbers, and so must their products."""
    for what, entries in (("points", X), ("initial weights", W), ("output weights", a)):
        size = np.abs(entries)[entries != 0]
        if size.size and not (SMALLEST <= size.max() and size.max() <= 1 / SMALLEST):
            raise BadInput(
                f"{what} of size {size.max():.1e} are beyond the flow's arithmetic; "
                f"scale them to between {SMALLEST:g} and {1 / SMALLEST:g}"
            )
    neurons = np.maximum(np.abs(W).max(axis=1, initial=0.0), np.abs(a))
    for k in np.flatnonzero((neurons > 0) & (neurons < PATH.dead))[:1]:
        raise BadInput(
            f"neuron {k} of the initial weights has size {neurons[k]:.1e}, below {PATH.dead:g}, "
            "which the flow takes for dead; make it 0 or larger"
        )


def _end(
    path: Path,
    data: Dataset,
    train: Layers,
    kind: Kind,
    deadline: float = math.inf,
    in_vain: bool = False,
) -> tuple[Outcome, str, LimitEvidence | None]:
    """What the end of the path is, a sentence of evidence, and the limit where there is one.

    `in_vain`: all steps that were allowed beyond the loss that was asked for have been tried.
    """
    state, at = path.last.state, path.last.loss_text()
    if path.end is PathEnd.BRANCHED:
        other = "Another seed" if state.planes.alpha else "Another seed, or a Leaky ReLU,"
        hint = f"{other} may have one way only."
        return Outcome.BRANCHED, f"{path.reason} {hint}", None
    if path.end in (PathEnd.UNDECIDED, PathEnd.INTERRUPTED):
        deep = path.last.log_L < CLASSIFIED_FROM * LN10
        verdict = _judged(path, data, train, deadline) if deep else ""
        if isinstance(verdict, LimitEvidence):
            return Outcome.CONVERGED, verdict.sentence, verdict
        said = f"{path.reason[:1].upper()}{path.reason[1:]}; the path was followed to {at}."
        words = [said, *([verdict] if verdict else [])]
        if path.end is PathEnd.UNDECIDED:
            words.append(_advice(path, in_vain))
        return Outcome.UNDECIDED, " ".join(words), None
    if path.end is PathEnd.DEAD:
        when = "from the start" if len(path.moments) < 3 else "in the end"
        return (
            Outcome.DEAD,
            f"All neurons are inactive on every sample, {when}: nothing moves any more at {at}.",
            None,
        )
    if path.end is PathEnd.REST:
        return Outcome.STUCK, _stuck(path, at), None
    unseen = ~seen_by(state)
    if unseen.any():
        if vanishing := _vanishing(path, kind):
            said = (
                f"At {at} no neuron is active on {count(int(unseen.sum()), 'sample')} of {data.n}, "
                f"but {count(vanishing, 'neuron')} may shrink to 0, where the smallest difference "
                "between the layers leads away."
            )
            return Outcome.UNDECIDED, f"{said} Another scale of `init` may decide it.", None
        return Outcome.PARTIAL, _partial(data, unseen), None
    verdict = _judged(path, data, train, deadline)
    if isinstance(verdict, str):
        return Outcome.UNDECIDED, f"{verdict} {_advice(path)}", None
    return Outcome.CONVERGED, verdict.sentence, verdict


def _judged(path: Path, data: Dataset, train: Layers, deadline: float) -> LimitEvidence | str:
    """What `judge` says, as long as there is time for it."""
    try:
        return judge(path, data, train, deadline)
    except OutOfTime:
        at = path.last.loss_text()
        return f"At {at} there was no time to find the network that the patterns point to."


def _advice(path: Path, in_vain: bool = False) -> str:
    """What to try next where the end is not known."""
    if path.out_of_time:
        return "More `seconds`, a smaller `width` or fewer points may decide it."
    if path.end is PathEnd.REACHED or in_vain:
        return "A smaller `log10_loss` and more `seconds` may decide it."
    return "Another `seed` or another scale of `init` may decide it."


def _stuck(path: Path, at: str) -> str:
    """By what evidence the path is at rest."""
    q = path.last.state.outputs()
    wrong = int((q <= 0).sum())
    return (
        f"At rest with positive loss, {at}: {path.reason}; {count(wrong, 'point')} of {len(q)} "
        f"{'is' if wrong == 1 else 'are'} not on the side of the label."
    )


def _vanishing(path: Path, kind: Kind) -> int:
    """Neurons that move and shrink, or lie on a hyperplane and have shrunk to nothing.

    They may turn and grow again; or, if the layers are balanced exactly, shrink to w = 0 and a = 0.
    Descent, or rounding, leads past that, and from there on the neuron grows.
    """
    first, state = path.moments[0].state, path.last.state
    if not state.both:
        return 0
    planes, lengths = state.planes, np.linalg.norm(state.W, axis=1)
    c = weigh(state, kind).p * planes.y
    along = np.sign(state.a) * (velocities(state, c) * state.W).sum(axis=1)
    shrinks = along < -EVIDENCE.grows * float(np.abs(c) @ np.abs(planes.r)) * lengths
    gone = lengths < PATH.negligible * np.linalg.norm(first.W, axis=1)
    return int((shrinks | (gone & (state.side == 0).any(axis=1))).sum())


def _partial(data: Dataset, unseen: np.ndarray) -> str:
    """Which samples no neuron is active on."""
    classes = {int(label) for label in data.y[unseen]}
    whole = len(classes) == 1 and (unseen == (data.y == min(classes))).all()
    which = f", all of class {min(classes):+d}" if whole else ""
    return (
        f"No neuron is active on {count(int(unseen.sum()), 'sample')} of {data.n}{which}: the "
        "output stays 0 there, while the rest is fitted with ever larger weights."
    )


def share_done(now: float, goal: float) -> float:
    """How far a path is, from 0 to 1.

    log(1/L) grows exponentially, so that its logarithm is what advances evenly.
    """
    return min(max(math.log1p(max(-now, 0.0)) / math.log1p(-goal), 0.0), 1.0)


def _reporter(progress: Progress | None, goal: float) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda log_L: progress(log_L / LN10, goal)
