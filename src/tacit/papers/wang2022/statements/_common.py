"""What the statements of wang2022 share: their setting, condition (9), problems and gradients.

K classes. The K outputs are K networks of their own, trained one against the rest (4), so a K-class
run is `Run((), members=…)` with one run per class in the order of `data.classes`. Binary data is
the case K = 2: the second output has the first one's problem with the labels exchanged. One plain
run then stands for both outputs; two `members` are the two outputs.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tacit.certificates import Best, optimum
from tacit.certificates.kkt import KKT
from tacit.certificates.kkt_two_layer import two_layer_kkt
from tacit.numerics.arrangements import TooManyCells, cover, faces
from tacit.numerics.infeasible import no_network_fits
from tacit.numerics.least_squares import boxed_least_squares
from tacit.theorems import shared_hypotheses as common
from tacit.theorems.theorem import Case, Moment, Network, Run
from tacit.values import Check, Dataset, Setting

SECONDS = 1.0
"""For the convex program, of all classes together; after that there are bounds."""
MOST_ENTRIES = 1500
"""Entries of X, times the number of classes, up to which it is tried at all."""
ON_A_WALL = 1e-9
"""|w·x| up to this share of ‖w‖‖x‖ is a neuron in the wall of x."""
MOST_FACES = 3000
"""Sign vectors that are looked at one by one."""
FAINT = 1e-6
"""Neurons with a smaller share of Σ|a_k|‖w_k‖ have died out."""
NOT_TOLD = ("undecided", "branched")
"""Outcomes of runs that do not say where the flow ends."""

FLOW = Setting(rule="flow", init="balanced:1e-4")


def network_checks(case: Case, place: str) -> tuple[Check, ...]:
    """A two-layer ReLU network, both layers trained."""
    return (
        common.two_layer(case, place),
        common.relu(case, place),
        common.both_layers(case, place),
    )


def flow_checks(case: Case, place: str) -> tuple[Check, ...]:
    """Gradient flow on the logistic loss from ‖w_k‖ = |a_k|."""
    return (
        *network_checks(case, place),
        common.logistic(case, place),
        common.flow(case, place),
        common.balanced(case, place),
    )


def problems(data: Dataset, count: int = 1) -> list[Dataset]:
    """The binary problems of the outputs; of binary data both, when there are runs of both."""
    if not data.binary:
        return [data.one_vs_rest(k) for k in range(len(data.classes))]
    return [data, Dataset(data.X, -data.y, data.name)][:count]


def outputs(data: Dataset, run: Run) -> list[tuple[Dataset, Run]] | None:
    """Every output's problem with its run; None when the runs are not one for each class."""
    runs = run.members or (run,)
    found = problems(data, len(runs))
    return list(zip(found, runs, strict=True)) if len(found) == len(runs) else None


def starts(case: Case, run: Run | None) -> list[tuple[Dataset, Network]] | None:
    """Every output's problem and initial weights; None when these are not known."""
    if case.data.binary and case.start is not None:
        return [(case.data, case.start)]
    found = None if run is None else outputs(case.data, run)
    if not found or not all(one.moments for _, one in found):
        return None
    return [(data, one.start) for data, one in found]


def balanced(W: np.ndarray, signs: list[int]) -> Network:
    """|a_k| = ‖w_k‖."""
    return Network(W, np.linalg.norm(W, axis=1) * signs)


@lru_cache(maxsize=16)
def best(data: Dataset) -> Best | None:
    """The optimum of (7), with its proof; None for data on which that may take long."""
    if data.X.size * len(problems(data)) > MOST_ENTRIES:
        return None
    return optimum(data, seconds=SECONDS / len(problems(data)))


def network_fits(case: Case, place: str) -> Check:
    """Some network gives every point its label: else the problem has no feasible point."""
    for data in problems(case.data):
        proof = no_network_fits(data.X, data.y, 0.0)
        if proof is not None:
            rows = ", ".join(str(row) for row in sorted(proof)[:5])
            return common.yes_or_no("network_fits", False, place, f"already rows {rows} forbid it")
    return common.yes_or_no("network_fits", True, place)


def best_network(data: Dataset) -> Network:
    """The optimum of a binary problem, balanced, with the smallest margin 1."""
    found = best(data)
    assert found is not None, "the data is too large"
    problem = found.problems[0]
    return Network(problem.W, problem.a)


def ended_at(network: Network) -> Run:
    """A run made by hand that has this limit."""
    return Run((Moment(0.0, 0.0, network),), network)


def matching(network: Network, data: Dataset) -> np.ndarray:
    """sign(a_k)·yᵀ(Xw_k)₊ / (‖w_k‖ Σ‖x_n‖) for every neuron: (9) holds where it is positive."""
    pull = data.y @ np.maximum(data.X @ network.W.T, 0)
    sizes = np.linalg.norm(network.W, axis=1) * np.linalg.norm(data.X, axis=1).sum()
    return np.sign(network.a) * pull / np.maximum(sizes, 1e-300)  # (9)


def margin_of(network: Network, data: Dataset) -> float:
    """q_min/‖θ‖²."""
    q = data.y * (np.maximum(data.X @ network.W.T, 0) @ network.a)
    size = float((network.W**2).sum() + (network.a**2).sum())
    return float(q.min()) / size if size > 0 else 0.0


def kkt_of(network: Network, data: Dataset) -> KKT:
    return two_layer_kkt(network.W, network.a, data.X, data.y, 0.0, boundary=ON_A_WALL)


def has_limit(case: Case, run: Run | None, name: str, place: str) -> Check | None:
    """None when the run has a limit that the problem (13) is about; else why `name` is open."""
    if run is None or not run.moments:
        return common.of_the_path(name, place)
    for check in (common.two_classes(case, place), *network_checks(case, place)):
        if not check.holds:
            return common.undecided(name, place, f"not looked at: {check.name} fails")
    return None


def masks_of(network: Network, data: Dataset, kkt: KKT) -> np.ndarray:
    """D̂_k of Proposition 3, one row for every neuron."""
    D = (network.W @ data.X.T > 0).astype(float)
    for (k, n), mask in kkt.masks.items():
        D[k, n] = mask
    return D


def alive(network: Network) -> np.ndarray:
    """Neurons that have not died out."""
    weight = np.abs(network.a) * np.linalg.norm(network.W, axis=1)
    return np.flatnonzero(weight > FAINT * weight.sum())


def gradient(X: np.ndarray, c: np.ndarray, w: np.ndarray) -> np.ndarray:
    """XᵀD(w)c; in walls the shortest element of Clarke's subdifferential, which the flow follows.

    The paper takes D(w)_n = 0 where w·x_n = 0. A neuron that slides along the wall then has a
    gradient that is not its velocity.
    """
    sigma = sign_vector(X, w)
    return _shortest(X, c, sigma > 0, sigma == 0)


def sign_vector(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """sign(Xw), 0 in walls."""
    t = X @ w
    on = np.abs(t) <= ON_A_WALL * np.linalg.norm(w) * np.linalg.norm(X, axis=1)
    return np.where(on, 0, np.sign(t))


def _shortest(X: np.ndarray, c: np.ndarray, active: np.ndarray, on: np.ndarray) -> np.ndarray:
    """Points on one line share their mask: h for those ahead, 1 − h for those behind."""
    g = (c * active) @ X
    rows = np.flatnonzero(on & (c != 0) & X.any(axis=1))
    if not len(rows):
        return g
    unit = X[rows] / np.linalg.norm(X[rows], axis=1)[:, None]
    columns = []
    while len(rows):
        along = unit @ unit[0]
        same = np.abs(along) > 1 - 1e-12
        pulls = c[rows[same], None] * X[rows[same]]
        columns.append(np.sign(along[same]) @ pulls)
        g = g + (along[same] < 0) @ pulls
        rows, unit = rows[~same], unit[~same]
    A = np.array(columns).T
    return g + A @ boxed_least_squares(A, -g, 0, 1)


@lru_cache(maxsize=16)
def gradient_sizes(data: Dataset) -> tuple[np.ndarray, np.ndarray] | None:
    """Lengths > 0 of g(σ, y/2) over all sign vectors σ, as in (24), and of the shortest gradients.

    None when there are too many σ.
    """
    signs = all_signs(data.X)
    if signs is None:
        return None
    c = data.y / 2
    plain = np.linalg.norm(((signs > 0) * c) @ data.X, axis=1)
    short = [float(np.linalg.norm(_shortest(data.X, c, s > 0, s == 0))) for s in signs]
    none = no_gradient(data)
    return _distinct(plain, none), _distinct(np.array(short), none)


def no_gradient(data: Dataset) -> float:
    """Gradients that are no longer than this are 0 but for rounding."""
    return 1e-9 * float(np.linalg.norm(data.X, axis=1).sum())


def _distinct(sizes: np.ndarray, none: float) -> np.ndarray:
    """In order, those that differ by rounding once."""
    sizes = np.sort(sizes[sizes > none])
    return sizes[np.diff(sizes, prepend=-1.0) > none]


def all_signs(X: np.ndarray) -> np.ndarray | None:
    """All sign(Xu), zeros included; None when there are too many."""
    return _faces(X.tobytes(), *X.shape)


def open_signs(signs: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Those without zeros, but for points that are 0."""
    return signs[((signs != 0) | ~X.any(axis=1)).all(axis=1)]


@lru_cache(maxsize=16)
def _faces(entries: bytes, n: int, d: int) -> np.ndarray | None:
    X = np.frombuffer(entries).reshape(n, d)
    if X.size > MOST_FACES or cover(n, int(np.linalg.matrix_rank(X))) > MOST_FACES:
        return None
    try:
        return faces(X, MOST_FACES)
    except TooManyCells:
        return None


def few_signs(case: Case, place: str) -> Check:
    """The sign vectors can be gone through."""
    signs = all_signs(case.data.X)
    if signs is None:
        note = f"there may be more than {MOST_FACES:,} sign vectors; they were not gone through"
        return common.undecided("few_sign_vectors", place, note)
    note = f"{len(signs)} sign vectors of {MOST_FACES:,} that are gone through at most"
    return common.by_slack("few_sign_vectors", 1 - len(signs) / MOST_FACES, place, note)
