"""Limits that are known in closed form, by another solver, or by plain descent."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from helpers import rest_long
from tacit import Dataset, Setting, load
from tacit._jax import jax, jnp
from tacit.certificates.certificate import Certificate
from tacit.flow import Limit, limit
from tacit.flow.embedding import embedding
from tacit.flow.path import Moment
from tacit.numerics.class_margin import class_margin
from tacit.numerics.max_margin import max_margin
from tacit.papers.lyu2021.scaled_margin import scaled_margin
from tacit.papers.sarussi2021.perfect_agreement import par

LN2 = np.log(2.0)


def converged(setting: Setting, data: Dataset, seed: int = 0) -> tuple[Limit, Certificate]:
    """The limit and its certificate."""
    end = limit(data, setting, seed=seed)
    outcome, reason, certificate = end.outcome, end.reason, end.certificate
    assert outcome.settled, reason
    assert certificate is not None
    return end, certificate


def vectors(limit: Limit) -> np.ndarray:
    """v_g, as rows."""
    return np.array([group.weight * group.direction for group in limit.groups])


def phi(t: np.ndarray, alpha: float) -> np.ndarray:
    return np.maximum(t, alpha * t)


def unit_output(limit: Limit, points: np.ndarray, alpha: float) -> np.ndarray:
    """f(x) of the limit scaled to ‖θ‖ = 1, both layers trained: ‖θ‖² is 2 Σ‖v_g‖."""
    signs = np.array([group.sign for group in limit.groups])
    total = 2 * sum(group.weight for group in limit.groups)
    return phi(points @ vectors(limit).T, alpha) @ signs / total


def from_file(folder: Path, W: np.ndarray, a: np.ndarray) -> str:
    np.savez(folder / "weights.npz", W=np.array(W, dtype=float), a=np.array(a, dtype=float))
    return f"file:{folder / 'weights.npz'}"


def at(*degrees: float) -> np.ndarray:
    """Unit vectors of the plane."""
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


# --- both layers: the theorems --------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, width",
    rest_long(
        [("n=6,d=2", 10), ("n=20,d=3,seed=1", 10), ("n=150,d=10,seed=2", 40)],
        [("n=20,d=3,seed=1", 10)],
    ),
)
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_orthogonally_separable_data_ends_in_the_two_class_margins(call, width, loss) -> None:
    """phuong2021 Thm. 1: one vector per class, each the class's own max-margin vector."""
    data = load(f"orthogonal:{call}")
    setting = Setting(width=width, init="balanced:1e-4", loss=loss)
    end, certificate = converged(setting, data, seed=3)
    assert certificate.optimality == "certified"
    assert sorted(group.sign for group in end.groups) == [-1, 1]
    for group, v in zip(end.groups, vectors(end), strict=True):
        w = class_margin(data.X, data.y, group.sign).w
        assert w is not None
        np.testing.assert_allclose(v, w, rtol=0, atol=1e-9 * np.linalg.norm(w))


INITS = ["balanced_gaussian:1e-6", "pair:1e-6:1", "balanced:1e-6"]


@pytest.mark.parametrize(
    "alpha, init, seed",
    rest_long(
        [(a, init, seed) for a in (0.1, 0.3, 0.5) for init in INITS for seed in (0, 1, 2)],
        [(0.3, init, seed) for seed, init in enumerate(INITS)],
    ),
)
def test_symmetric_data_ends_in_the_max_margin_separator(alpha, init, seed, rng) -> None:
    """lyu2021 Thm. 4.3: (1+α)/4 w*·x, the global optimum, where b̄ has entries of both signs.

    Where all its entries have one sign only neurons of this sign grow, and Lemma A.4 says where a
    single one ends: ½ φ(w⁺·x), or −½ φ(−w⁻·x), which is not optimal.
    """
    data = load(f"symmetric:n=12,d={2 + seed},seed={seed}")
    setting = Setting(activation=f"leaky:{alpha}", width=2 + 2 * seed, init=init)
    end, certificate = converged(setting, data, seed)
    points = rng.normal(size=(40, data.d))
    output = unit_output(end, points, alpha)
    embedded = embedding(end.path.moments[0].state)
    if embedded.good:
        w = max_margin(data.y[:, None] * data.X).direction
        np.testing.assert_allclose(output, (1 + alpha) / 4 * points @ w, rtol=0, atol=1e-8)
        assert certificate.optimality == "certified"
    else:
        (sign,) = {int(sign) for sign in np.sign(embedded.b)}
        w = scaled_margin(data.X, data.y, alpha, sign).direction
        expected = sign / 2 * phi(sign * points @ w, alpha)
        np.testing.assert_allclose(output, expected, rtol=0, atol=1e-8)
        assert certificate.optimality == "suboptimal"


def test_both_kinds_of_embedding_are_among_the_symmetric_cases() -> None:
    good = set()
    for seed in (0, 1, 2):
        data = load(f"symmetric:n=12,d={2 + seed},seed={seed}")
        rng = np.random.default_rng(seed)
        W, a = rng.normal(size=(2 + 2 * seed, data.d)), rng.normal(size=2 + 2 * seed)
        mu = data.y @ data.X
        good.add(len(set(np.sign(W @ mu / np.linalg.norm(mu) + a))) == 2)
    assert good == {True, False}


@pytest.mark.parametrize(
    "call, alpha",
    rest_long(
        [
            ("n=10,d=2", 0.5),
            ("n=10,d=3,seed=1", 0.5),
            ("n=6,d=2,alpha=0.2,seed=2", 0.2),
            ("n=6,d=2,alpha=0.7,seed=3", 0.7),
        ],
        [("n=10,d=2", 0.5), ("n=6,d=2,alpha=0.7,seed=3", 0.7)],
    ),
)
@pytest.mark.parametrize("seed", rest_long([0, 1, 2], [1]))  # with a positive neuron or without
def test_hints_lead_to_a_worse_linear_classifier(call, alpha, seed, rng) -> None:
    """lyu2021 Thm. 6.2: ½ φ(w*·x) if there is a positive neuron, and the margin is suboptimal.

    Without one (probability 2^−m) the negative ones end like a single one of them.
    """
    data = load(f"hinted:{call}")
    setting = Setting(activation=f"leaky:{alpha}", width=2, init="balanced_gaussian:1e-6")
    end, certificate = converged(setting, data, seed)
    points = rng.normal(size=(40, data.d))
    if (end.path.moments[0].state.a > 0).any():
        w = data.X[0] / np.linalg.norm(data.X[0])  # the first hint is H w*
        expected, margin = phi(points @ w, alpha) / 2, data.parameters["eps"] / 2
    else:
        other = scaled_margin(data.X, data.y, alpha, -1)
        expected, margin = -phi(-points @ other.direction, alpha) / 2, other.margin_bounds.lower / 2
    np.testing.assert_allclose(unit_output(end, points, alpha), expected, rtol=0, atol=1e-8)
    assert end.margin == pytest.approx(margin, rel=1e-9)
    assert certificate.optimality == "suboptimal" and certificate.shortfall > 0.1
    assert certificate.margin_bounds.lower > 1.1 * margin


# --- the first layer only: sizes of groups --------------------------------------------------------


def sized_program(data: Dataset, alpha: float, signs, sizes, patterns) -> np.ndarray:
    """min Σ‖v_g‖²/size_g with y_i Σ s_g m_gi x_i·v_g ≥ 1, by Lawson and Hanson's LDP."""
    slopes = np.where(np.array(patterns) > 0, 1.0, alpha) * np.array(signs)[:, None] * data.y
    roots = np.sqrt(np.array(sizes, dtype=float))
    A = np.hstack([r * m[:, None] * data.X for r, m in zip(roots, slopes, strict=True)])
    rows = np.vstack([A.T, np.ones(len(A))])
    goal = np.append(np.zeros(A.shape[1]), 1.0)
    left = rows @ nnls(rows, goal)[0] - goal
    return roots[:, None] * (-left[:-1] / left[-1]).reshape(len(roots), -1)


def test_groups_of_1_and_9_neurons_share_unequally(tmp_path) -> None:
    """min Σ‖v_g‖²/size_g, not min Σ‖v_g‖: the weights are 1.005 and 1.373, not both 1.128.

    Three positive points; one neuron sees the first two, nine the last two.
    """
    data = Dataset(at(160, 90, 20) * np.array([[1.0], [0.6], [1.0]]), [1, 1, 1])
    W = 0.01 * np.vstack([at(140), at(*np.linspace(25, 55, 9))])
    setting = Setting(train="first", width=10, init=from_file(tmp_path, W, np.ones(10)))
    end, _ = converged(setting, data)
    one, nine = sorted(end.groups, key=lambda group: group.size)
    assert (one.size, nine.size) == (1, 9)
    assert one.pattern.tolist() == [1, 1, -1] and nine.pattern.tolist() == [-1, 1, 1]
    V = sized_program(data, 0.0, [1, 1], [1, 9], [one.pattern, nine.pattern])
    mine = np.array([one.weight * one.direction, nine.weight * nine.direction])
    np.testing.assert_allclose(mine, V, rtol=0, atol=1e-9)
    np.testing.assert_allclose([one.weight, nine.weight], [1.0054525, 1.3732106], atol=1e-7)
    assert end.margin == pytest.approx((one.weight**2 + nine.weight**2 / 9) ** -0.5, rel=1e-9)
    seen = np.array([[1, 1, 0], [0, 1, 1]])
    unsized = minimize(
        lambda v: np.linalg.norm(v.reshape(2, 2), axis=1).sum(),
        mine.ravel(),
        options={"ftol": 1e-12},
        constraints={
            "type": "ineq",
            "fun": lambda v: np.einsum("gi,ij,gj->i", seen, data.X, v.reshape(2, 2)) - 1,
        },
    )
    lengths = np.linalg.norm(unsized.x.reshape(2, 2), axis=1)
    np.testing.assert_allclose(lengths, [1.12844, 1.12844], atol=1e-4)


@pytest.mark.parametrize(
    "call, alpha, width, v",
    rest_long(
        [
            ("n=30,d=3", 0.2, 10, 1.0),
            ("n=40,d=2,seed=1", 0.5, 8, 0.3),
            ("n=20,d=5,seed=2", 0.1, 20, 3.0),
            ("n=100,d=10,seed=3", 0.3, 20, 1.0),
        ],
        [("n=40,d=2,seed=1", 0.5, 8, 0.3), ("n=20,d=5,seed=2", 0.1, 20, 3.0)],
    ),
)
def test_perfect_agreement_ends_in_par(call, alpha, width, v) -> None:
    """sarussi2021 Thm. 6.2: both signs classify perfectly, so the limit is that of (7)."""
    data = load(f"gaussians:{call}")
    setting = Setting(
        activation=f"leaky:{alpha}",
        train="first",
        width=width,
        init="gaussian:1e-4",
        output_weight=v,
    )
    end, certificate = converged(setting, data, seed=1)
    assert sorted(group.sign for group in end.groups) == [-1, 1]
    best = par(data.X, data.y, alpha)
    assert best.w is not None and best.u is not None
    for group in end.groups:
        assert group.size == width // 2
        np.testing.assert_array_equal(group.pattern, group.sign * data.y)
        w = best.w if group.sign > 0 else best.u
        mine = group.weight * group.direction
        np.testing.assert_allclose(mine, w, rtol=0, atol=1e-9 * np.linalg.norm(w))
    squares = best.w @ best.w + best.u @ best.u
    assert end.margin == pytest.approx((squares / (v**2 * width / 2)) ** -0.5, rel=1e-9)
    assert certificate.optimality == "certified"


@pytest.mark.parametrize("seed", rest_long([2, 4, 5], [4]))
def test_agreement_that_is_not_perfect_ends_in_its_own_program(seed: int) -> None:
    """sarussi2021 App. J: neurons of one sign share a pattern, but the outlier spoils PAR."""
    data = load(f"gaussians_outlier:n=20,d=2,seed={seed}")
    setting = Setting(activation="leaky:0.2", train="first", width=12, init="gaussian:1e-4")
    end, _ = converged(setting, data, seed)
    groups = end.groups
    assert sorted(group.sign for group in groups) == [-1, 1]
    assert not all((group.pattern == group.sign * data.y).all() for group in groups)
    signs, sizes = [group.sign for group in groups], [group.size for group in groups]
    V = sized_program(data, 0.2, signs, sizes, [group.pattern for group in groups])
    np.testing.assert_allclose(vectors(end), V, rtol=0, atol=1e-9 * np.abs(V).max())


# --- every claim, checked again -------------------------------------------------------------------

RANDOM = [
    (number, d, n, activation, train, labels)
    for number, (d, n, activation, train, labels) in enumerate(
        [
            (2, 12, "relu", "both", "xor"),
            (2, 16, "leaky:0.2", "both", "xor"),
            (2, 10, "leaky:0.3", "first", "xor"),
            (2, 8, "leaky:0.4", "both", "random"),
            (2, 14, "leaky:0.1", "first", "linear"),
            (2, 16, "relu", "both", "linear"),
            (3, 10, "relu", "both", "linear"),
            (3, 12, "leaky:0.3", "both", "xor"),
            (3, 14, "relu", "first", "xor"),
            (4, 8, "relu", "first", "random"),
            (4, 12, "leaky:0.2", "both", "random"),
            (4, 10, "relu", "both", "xor"),
        ]
    )
]
QUICK = [RANDOM[k] for k in (0, 2, 4, 6, 9)]


@cache
def random_limit(number: int, d: int, n: int, activation: str, train: str, labels: str) -> Limit:
    rng = np.random.default_rng([71, number])
    X = rng.normal(size=(n, d))
    y = {
        "xor": np.sign(X[:, 0] * X[:, 1]),
        "linear": np.sign(X @ rng.normal(size=d)),
        "random": rng.choice([-1, 1], n),
    }[labels]
    setting = Setting(
        activation=activation,
        train=train,  # type: ignore[arg-type]
        width=24,
        init="balanced:1e-3" if train == "both" else "gaussian:1e-3",
    )
    return limit(Dataset(X, y.astype(int)), setting, seed=number, seconds=300.0)


def stationarity(limit: Limit, alpha: float) -> float:
    """‖∂/∂v of the objective − Σ λ_i ∂q_i‖, relative, with λ ≥ 0 on the points of margin 1.

    A direction on the hyperplane of such a point may have any slope h in [α, 1] there, whatever
    slope others have: λ_i h = αλ_i + µ with 0 ≤ µ ≤ (1 − α) λ_i, a row of its own with a slack
    variable.
    """
    X, y, V = limit.data.X, limit.data.y, vectors(limit)
    signs = np.array([group.sign for group in limit.groups])
    sizes = np.array([group.size for group in limit.groups])
    pattern = np.array([group.pattern for group in limit.groups])
    q = y * (signs @ phi(V @ X.T, alpha))
    support = np.flatnonzero(q < 1 + 1e-7)
    first = limit.setting.train == "first"
    lengths = np.linalg.norm(V, axis=1)
    goal = (V / (sizes if first else lengths)[:, None]).ravel()
    slopes = np.where(pattern > 0, 1.0, alpha) * signs[:, None] * y
    columns = [(slopes[:, [i]] * X[i]).ravel() for i in support]
    boxes = []
    for j, i in enumerate(support):
        for g in np.flatnonzero(pattern[:, i] == 0):
            one = np.zeros(V.shape)
            one[g] = signs[g] * y[i] * X[i]
            columns.append(one.ravel())
            boxes.append(j)
    k, free = len(support), len(boxes)
    upper = np.hstack([np.array(columns).T, np.zeros((len(goal), free))])
    lower = np.hstack([np.zeros((free, k)), np.eye(free), np.eye(free)])
    lower[np.arange(free), boxes] = -(1 - alpha)
    _, left = nnls(np.vstack([upper, lower]), np.append(goal, np.zeros(free)), maxiter=10000)
    return float(left / np.linalg.norm(goal))


def smoothed_margin(moment: Moment) -> float:
    """log(1/L)/‖θ‖^L: below the limit's margin, and never falling."""
    state = moment.state
    square = float((state.W**2).sum() + (state.a**2).sum() * state.both)
    return -moment.log_L / (square if state.both else square**0.5)


@pytest.mark.parametrize("number, d, n, activation, train, labels", rest_long(RANDOM, QUICK))
def test_what_is_claimed_is_a_kkt_point_that_the_path_comes_near(
    number, d, n, activation, train, labels
) -> None:
    end = random_limit(number, d, n, activation, train, labels)
    if not end.outcome.settled:
        assert end.groups == () and end.margin is None
        return
    assert end.margin is not None
    X, y, V = end.data.X, end.data.y, vectors(end)
    alpha = end.setting.alpha
    signs = np.array([group.sign for group in end.groups])
    assert (y * (signs @ phi(V @ X.T, alpha))).min() == pytest.approx(1, abs=1e-9)
    for group in end.groups:
        t = X @ group.direction / np.linalg.norm(X, axis=1)
        assert (np.abs(t[group.pattern == 0]) < 1e-8).all()
        np.testing.assert_array_equal(
            np.sign(t)[group.pattern != 0], group.pattern[group.pattern != 0]
        )
    assert stationarity(end, alpha) < 1e-8
    margins = [smoothed_margin(m) for m in end.path.moments if m.log_L < -20]
    assert np.all(np.diff(margins) > -1e-7 * end.margin)
    assert 0.95 * end.margin < margins[-1] < end.margin
    depth, angles = -end.approach.T[0], end.approach.T[1]
    late = [np.interp(depth[-1] / k, depth, angles) for k in (100, 10, 1)]
    assert late[0] > late[1] > late[2]


@pytest.mark.parametrize(
    "cases, most", [(QUICK, 4), pytest.param(RANDOM, 8, marks=pytest.mark.long)]
)
def test_most_of_these_converge(cases, most: int) -> None:
    outcomes = [random_limit(*case).outcome for case in cases]
    assert sum(outcome.settled for outcome in outcomes) >= most, outcomes
    groups = [group for case in cases for group in random_limit(*case).groups]
    assert any((group.pattern == 0).any() for group in groups)


DEEP = [0, 1, 3, 4, 5, 7]
"""Numbers of those that converge, with both layers and with the first only."""


@cache
def deep_limit(*case) -> Limit:
    """From the same initial weights as far down as numbers go."""
    said = random_limit(*case)
    depth = -1e250 if said.setting.train == "both" else -1e120
    return limit(said.data, said.setting, seed=said.seed, log10_loss=depth, start=first(said))


@pytest.mark.parametrize("number", rest_long(DEEP, [4]))
def test_deep_down_the_path_goes_where_it_was_said_to_go(number) -> None:
    case = RANDOM[number]
    said, there = random_limit(*case), deep_limit(*case)
    assert said.outcome.settled and there.outcome.settled, (said.reason, there.reason)
    assert there.margin == pytest.approx(said.margin, rel=1e-9)


@pytest.mark.long
def test_most_paths_arrive() -> None:
    angles = sorted(deep_limit(*RANDOM[number]).approach[-1, 1] for number in DEEP)
    assert angles[3] < 1e-6


def first(limit: Limit) -> tuple[np.ndarray, np.ndarray]:
    """The initial weights."""
    state = limit.path.moments[0].state
    return state.W, state.a


# --- plain descent --------------------------------------------------------------------------------

STEP = 0.004
"""Of descent on log L; with both layers trained times 1 + ‖θ‖², as the curvature grows so."""
LOG_L, MOST_STEPS = -150.0, 2 * 10**6
"""Where it ends."""


@jax.jit
def descent(X, y, alpha, both, W, a):
    """θ + η ∇(−log L) until log L is small, L being the sum of the logistic losses."""

    def log_loss(W, a):
        t = X @ W.T
        q = y * (jnp.where(t > 0, t, alpha * t) @ a)
        values = jnp.where(q > 30, -q, jnp.log(jnp.logaddexp(0.0, -jnp.minimum(q, 30.0))))
        return jax.scipy.special.logsumexp(values)

    def step(state):
        W, a, _, steps = state
        value, (at_W, at_a) = jax.value_and_grad(log_loss, (0, 1))(W, a)
        eta = STEP / (1 + both * ((W**2).sum() + (a**2).sum()))
        return W - eta * at_W, a - both * eta * at_a, value, steps + 1

    def unfinished(state):
        return (state[2] > LOG_L) & (state[3] < MOST_STEPS)

    return jax.lax.while_loop(unfinished, step, (W, a, log_loss(W, a), 0))


def angle(W: np.ndarray, a: np.ndarray, limit: Limit) -> float:
    """Between Σ|a_k| w_k over the limit's groups and v_g; neurons of no group should be 0."""
    terms = np.abs(a)[:, None] * W
    mine = [terms[group.members].sum(axis=0) for group in limit.groups]
    members = np.concatenate([group.members for group in limit.groups])
    rest = np.delete(terms, members, axis=0).ravel()
    one = np.concatenate([np.ravel(mine), rest])
    two = np.append(vectors(limit).ravel(), np.zeros(len(rest)))
    one, two = one / np.linalg.norm(one), two / np.linalg.norm(two)
    return float(2 * np.arcsin(min(1.0, np.linalg.norm(one - two) / 2)))


@pytest.mark.parametrize(
    "seed, n, m, alpha, train",
    [
        (0, 4, 6, 0.0, "both"),
        pytest.param(1, 5, 6, 0.3, "both", marks=pytest.mark.long),
        pytest.param(2, 5, 6, 0.3, "first", marks=pytest.mark.long),
        pytest.param(3, 6, 4, 0.1, "both", marks=pytest.mark.long),
    ],
)
def test_descent_goes_to_the_same_limit(seed, n, m, alpha, train, tmp_path) -> None:
    """As near as the path itself is at that loss."""
    rng = np.random.default_rng([8, seed])
    X, size = rng.normal(size=(n, 2)), rng.uniform(0.05, 0.1)
    y = np.sign(X[:, 0] * X[:, 1]) if seed % 2 == 0 else np.sign(X @ rng.normal(size=2))
    W = size * at(*rng.uniform(0, 360, m))
    a = (size if train == "both" else 1.0) * np.resize([1.0, -1.0], m)
    activation = f"leaky:{alpha}" if alpha else "relu"
    setting = Setting(activation=activation, train=train, width=m, init=from_file(tmp_path, W, a))
    end, _ = converged(setting, Dataset(X, y.astype(int)))
    W, a, log_L, _ = map(np.asarray, descent(X, y, alpha, float(train == "both"), W, a))
    assert log_L <= LOG_L
    late = [moment for moment in end.path.moments if moment.log_L < -1]
    angles = [angle(moment.state.W, moment.state.a, end) for moment in late]
    # Moments are some tens of percent apart in log(1/L), with which the angle changes smoothly.
    path = float(np.interp(np.log(-LOG_L), [np.log(-moment.log_L) for moment in late], angles))
    assert angle(W, a, end) <= 2 * path + 1e-3
    assert path < 0.2


# --- other ends -----------------------------------------------------------------------------------


def test_a_dead_network(tmp_path) -> None:
    """Every neuron is off at every point, and no weight ever moves."""
    data = Dataset(at(-30, 0, 30), [1, -1, 1])
    init = from_file(tmp_path, at(170, 180, 190), np.array([1.0, -1.0, 1.0]))
    for train in ("both", "first"):
        end = limit(data, Setting(width=3, init=init, train=train))
        outcome = end.outcome
        assert outcome == "dead"
        assert end.groups == () and end.margin is None
        assert end.log10_loss == pytest.approx(np.log10(3 * np.log(2)))
        np.testing.assert_array_equal(end.path.last.state.W, at(170, 180, 190))


@pytest.mark.parametrize("activation", ["relu", "leaky:0.3"])
@pytest.mark.parametrize("train", ["both", "first"])
def test_contradictory_labels_leave_the_network_stuck(activation, train, tmp_path) -> None:
    """A point with both labels has output 0 at the minimum, where L = 2 log 2."""
    data = Dataset([[1.0, 2.0], [1.0, 2.0]], [1, -1])
    init = from_file(tmp_path, 0.1 * at(10, 60, 100, 200), 0.1 * np.array([1.0, -1, -1, 1]))
    end = limit(data, Setting(activation=activation, train=train, width=4, init=init))
    outcome = end.outcome
    assert outcome == "stuck"
    assert end.groups == ()
    assert end.log10_loss == pytest.approx(np.log10(2 * np.log(2)), abs=1e-6)


@pytest.mark.parametrize("train", ["both", "first"])
def test_one_class_that_no_neuron_sees_is_partial(train, tmp_path) -> None:
    """The other class is fitted by its own max-margin vector."""
    data = Dataset(np.vstack([at(-20, 30), at(160, 200)]), [1, 1, -1, -1])
    init = from_file(tmp_path, 0.1 * at(-10, 0, 20), 0.1 * np.ones(3))
    end = limit(data, Setting(train=train, width=3, init=init))
    outcome = end.outcome
    assert outcome == "partial"
    assert end.groups == ()
    assert "class -1" in end.reason
    assert end.log10_loss == pytest.approx(np.log10(2 * np.log(2)), abs=1e-6)
    state = end.path.last.state
    total = np.abs(state.a) @ state.W
    w = class_margin(data.X, data.y, 1).w
    assert w is not None
    cosine = total @ w / np.linalg.norm(total) / np.linalg.norm(w)
    assert cosine == pytest.approx(1, abs=1e-4)


def test_a_path_on_which_the_neuron_of_the_limit_still_points_backwards() -> None:
    data = load(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), [-1, -1, -1, -1])
    end, _ = converged(Setting(width=5, init="gaussian:10"), data, seed=638)
    first = end.approach[0, 1]
    assert first == pytest.approx(np.pi / 2) and np.isfinite(end.approach).all()


@pytest.mark.parametrize("seed, unseen", [(55, 2), (3, 0), (10, 0)])
def test_a_fixed_output_layer_is_no_measure_of_the_first(
    seed: int, unseen: int, tmp_path: Path
) -> None:
    """Points 2²⁰ times as long, weights as much shorter: the same outputs on the same path."""
    rng = np.random.default_rng(seed)
    X, y, W = rng.normal(size=(10, 3)), rng.choice([-1, 1], 10), 0.01 * rng.normal(size=(8, 3))
    ends = []
    for scale in (1.0, 2.0**20):
        file = tmp_path / f"{scale}.npz"
        np.savez(file, W=W / scale, a=np.tile([1.0, -1.0], 4))
        ends.append(limit(load(X * scale, y), Setting(train="first", init=f"file:{file}")))
    assert ends[0].outcome == ends[1].outcome
    # Errors are measured by the same ruler: the steps are the same ones until rounding shows.
    steps, again = ([moment.log_L for moment in end.path.moments[:50]] for end in ends)
    assert again == pytest.approx(steps, rel=1e-9)
    if unseen:
        assert [end.path.last.log_L for end in ends] == pytest.approx([np.log(unseen * LN2)] * 2)
    else:
        assert ends[1].margin == pytest.approx(2.0**20 * ends[0].margin, rel=1e-9)
