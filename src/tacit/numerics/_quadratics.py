"""Bounds of branch and bound by quadratic functions: few nodes, each slow, for hard problems.

`_chords` replaces (p_k·u)₊ by chords, which lie far above where few of many |p_k·u| can be large
at once. Here, with t = p_k·u, for any κ > 0 and any 0 ≤ θ, h with θ + h ≤ 1,

    t₊ ≤ t/2 + (1/κ + κ t²)/4                                 (rows with +, side unknown)
    −t₊ ≤ −θ t(t − low)/(high − low) − h t                     (rows with −, low ≤ t ≤ high)

and sides have multipliers x ≥ 0 as before. The sum is constant + g·u + ½u·Qu, and for every µ with
S = µI − Q positive definite it is, over ‖u‖ ≤ 1, at most

    B − ½(u − v)·S(u − v),   B = constant + ½µ + ½ g·S⁻¹g,   v = S⁻¹g.     (1)

B is a bound, and u with F(u) > T have p_k·u within √(2(B − T) p_k·S⁻¹p_k) of p_k·v, which makes
ranges smaller. B is convex in all multipliers; Newton's method with logarithmic barriers makes it
small. It is the dual of the semidefinite relaxation (Shor's).
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.numerics._relaxation import EPS, Sum
from tacit.numerics.compiled import compiled

BARRIER = 5e-4
"""The weight of the barriers, relative to what a bound is above the threshold: they cost about a
hundred times that …"""
LEAST_BARRIER = 1e-8
"""… and relative to the threshold, at least."""
FIRST_BARRIER = 1e-2
"""The weight to begin with, relative to the threshold, which becomes smaller by …"""
FALL = 0.2
"""… this factor when a Newton step gains less than …"""
CENTRAL = 3.0
"""… this multiple of it."""
MOST_STEPS = 60
"""Newton steps of one relaxation."""
MOST_DOUBLINGS = 60
"""Doublings of µ until S is positive, which it should be at once."""
MOST_ROUNDS = 4
"""Relaxations of one node, each with smaller ranges than the last …"""
LEAST_LOST = 0.1
"""… by this share of one of them."""
FIRST = 1e-2
"""The multiplier of a side that has just become known."""


class QuadraticNode(NamedTuple):
    """Sides of the rows with +, then of those with − (both 0: not known), ranges, multipliers.

    z: µ; κ, x or θ of every row; h of every row; the row to branch on.
    """

    side: np.ndarray
    low: np.ndarray
    high: np.ndarray
    z: np.ndarray


class Terms(NamedTuple):
    """For each multiplier but µ: its row, where it stands in z, and what it adds to S and to g."""

    row: np.ndarray
    at: np.ndarray
    bend: np.ndarray
    push: np.ndarray


@compiled
def terms_of(F: Sum, node: QuadraticNode) -> tuple[Terms, np.ndarray]:
    """The multipliers that count in this node, and the part of g without any."""
    K, r = F.rows.shape
    row, at = np.empty(2 * K, np.int64), np.empty(2 * K, np.int64)
    bend, lean = np.zeros(2 * K), np.zeros(2 * K)
    g = F.linear.copy()
    m = 0
    for k in range(K):
        side, weight = node.side[k], 0.0
        if k < F.up:
            weight = 0.5 if side == 0 else (1.0 if side > 0 else 0.0)
            row[m], at[m] = k, 1 + k
            if side == 0:
                bend[m] = -0.5
            else:
                lean[m] = side
            m += 1
        elif side == 0:
            width = node.high[k] - node.low[k]
            row[m], at[m], bend[m], lean[m] = k, 1 + k, 2.0 / width, node.low[k] / width
            row[m + 1], at[m + 1], bend[m + 1], lean[m + 1] = k, 1 + K + k, 0.0, -1.0
            m += 2
        elif side > 0:
            weight = -1.0
        if weight != 0.0:
            for j in range(r):
                g[j] += weight * F.rows[k, j]
    return Terms(row[:m], at[:m], bend[:m], lean[:m]), g


@compiled
def factor(A: np.ndarray) -> bool:
    """Cholesky's factor in place, below the diagonal and on it; False where there is none."""
    n = len(A)
    for j in range(n):
        value = A[j, j]
        for l in range(j):
            value -= A[j, l] * A[j, l]
        if not value > 0:
            return False
        root = math.sqrt(value)
        A[j, j] = root
        for i in range(j + 1, n):
            value = A[i, j]
            for l in range(j):
                value -= A[i, l] * A[j, l]
            A[i, j] = value / root
    return True


@compiled
def forward(L: np.ndarray, b: np.ndarray) -> None:
    """Replace b by L⁻¹b."""
    for i in range(len(b)):
        value = b[i]
        for l in range(i):
            value -= L[i, l] * b[l]
        b[i] = value / L[i, i]


@compiled
def backward(L: np.ndarray, b: np.ndarray) -> None:
    """Replace b by L⁻ᵀb."""
    for i in range(len(b) - 1, -1, -1):
        b[i] /= L[i, i]
        for l in range(i):
            b[l] -= L[i, l] * b[i]


class Factored(NamedTuple):
    """S = LLᵀ and L⁻¹g for some multipliers; the bound B, with what rounding may have done to it,
    and the value that Newton's method makes small; `positive` is False where S is not."""

    positive: bool
    L: np.ndarray
    y: np.ndarray
    bound: float
    value: float


@compiled
def factored(F: Sum, terms: Terms, first: np.ndarray, z: np.ndarray, barrier: float) -> Factored:
    K, r = F.rows.shape
    S, g = np.zeros((r, r)), first.copy()
    size, lean = z[0], F.size
    for j in range(r):
        S[j, j] = z[0]
    constant, logs = 0.0, 0.0
    for i in range(len(terms.row)):
        k, value = terms.row[i], z[terms.at[i]]
        p = F.rows[k]
        bend, weight = terms.bend[i] * value, terms.push[i] * value
        size += abs(bend) * F.norms[k] * F.norms[k]
        lean += (abs(weight) + 1) * F.norms[k]
        if bend < 0:
            constant += 0.25 / value
        else:
            logs += math.log(value)
        if k >= F.up and bend > 0:
            logs += math.log(1 - value - z[1 + K + k])
        for j in range(r):
            g[j] += weight * p[j]
            if bend != 0.0:
                for l in range(j + 1):
                    S[j, l] += bend * p[j] * p[l]
    if not factor(S):
        return Factored(False, S, g, math.inf, math.inf)
    forward(S, g)
    square = 0.0
    for j in range(r):
        square += g[j] * g[j]
        logs += 2 * math.log(S[j, j])
    # Rounding has changed S by no more than `shift` and g by no more than `off`, and ‖u‖ ≤ 1.
    shift = 8 * (2 * K + r * r + 8) * EPS * size
    off = (2 * K + r + 8) * EPS * lean
    value = constant + 0.5 * z[0] + 0.5 * square
    bound = value * (1 + (K + r + 16) * EPS) + 0.5 * shift + off
    return Factored(True, S, g, bound, value - barrier * logs)


class Solved(NamedTuple):
    """v, q_k = p_k·v, the products p_k·S⁻¹p_l, and S⁻¹p_k as columns."""

    v: np.ndarray
    q: np.ndarray
    gram: np.ndarray
    solved: np.ndarray


@compiled
def shape_of(F: Sum, made: Factored) -> tuple[Solved, np.ndarray]:
    """What (1) says of every row, from the factor L of S; and L⁻¹, which it took."""
    K, r = F.rows.shape
    inverse = np.zeros((r, r))
    for j in range(r):
        inverse[j, j] = 1.0 / made.L[j, j]
        for i in range(j + 1, r):
            value = 0.0
            for l in range(j, i):
                value -= made.L[i, l] * inverse[l, j]
            inverse[i, j] = value / made.L[i, i]
    Y = np.dot(inverse, F.rows.T)
    v = np.dot(inverse.T, made.y)
    return Solved(v, np.dot(F.rows, v), np.dot(Y.T, Y), np.dot(inverse.T, Y)), inverse


@compiled
def newton_step(
    F: Sum, terms: Terms, z: np.ndarray, shape: Solved, inverse: np.ndarray, barrier: float
) -> tuple[np.ndarray, float]:
    """The step of µ and of the other multipliers, and how much it would gain, to first order."""
    K, r = F.rows.shape
    m = len(terms.row)
    H, down = np.empty((m + 1, m + 1)), np.empty(m + 1)
    whole = np.dot(inverse.T, inverse)
    trace, traces = 0.0, 0.0
    for j in range(r):
        trace += whole[j, j]
        for l in range(r):
            traces += whole[j, l] * whole[j, l]
    Sv = np.dot(whole, shape.v)
    down[0] = -(0.5 - 0.5 * np.dot(shape.v, shape.v) - barrier * trace)
    H[0, 0] = np.dot(shape.v, Sv) + barrier * traces
    turn = np.empty(m)
    for i in range(m):
        k, value = terms.row[i], z[terms.at[i]]
        bend, q = terms.bend[i], shape.q[k]
        turn[i] = terms.push[i] - bend * q
        slope = terms.push[i] * q - 0.5 * bend * q * q - barrier * bend * shape.gram[k, k]
        own = 0.0
        if bend < 0:
            slope -= 0.25 / (value * value)
            own = 0.5 / (value * value * value)
        else:
            slope -= barrier / value
            own = barrier / (value * value)
        if k >= F.up:
            rest = 1 - z[1 + k] - z[1 + K + k]
            slope += barrier / rest
            own += barrier / (rest * rest)
        along, square = 0.0, 0.0
        for j in range(r):
            along += shape.solved[j, k] * shape.v[j]
            square += shape.solved[j, k] * shape.solved[j, k]
        down[i + 1] = -slope
        H[i + 1, 0] = -turn[i] * along + barrier * bend * square
        for j in range(i + 1):
            product = shape.gram[k, terms.row[j]]
            H[i + 1, j + 1] = (
                turn[i] * turn[j] * product + barrier * bend * terms.bend[j] * product * product
            )
        H[i + 1, i + 1] += own
        if k >= F.up and i > 0 and terms.row[i - 1] == k:
            H[i + 1, i] += barrier / (rest * rest)
    for i in range(m + 1):
        # Multipliers that do the same make H singular; this keeps Cholesky's factor.
        H[i, i] *= 1 + 1e-12
    step = down.copy()
    if not factor(H):
        return step * 0.0, 0.0
    forward(H, step)
    backward(H, step)
    return step, np.dot(step, down)


@compiled
def longest_step(F: Sum, terms: Terms, z: np.ndarray, step: np.ndarray) -> float:
    """At most 1, and nine tenths of the way to where a multiplier ends."""
    K = len(F.rows)
    most = math.inf
    if step[0] < 0:
        most = -z[0] / step[0]
    for i in range(len(terms.row)):
        change = step[i + 1]
        if change < 0:
            most = min(most, -z[terms.at[i]] / change)
        k = terms.row[i]
        if k >= F.up and terms.bend[i] > 0:
            both = change + step[i + 2]
            if both > 0:
                most = min(most, (1 - z[1 + k] - z[1 + K + k]) / both)
    return min(1.0, 0.9 * most)


@compiled
def relax(
    F: Sum, node: QuadraticNode, terms: Terms, first: np.ndarray, threshold: float, barrier: float
) -> tuple[Factored, float]:
    """Make the bound small, until it is at most the threshold, or the barriers weigh little."""
    made = factored(F, terms, first, node.z, barrier)
    for _ in range(MOST_DOUBLINGS):
        if made.positive:
            break
        node.z[0] *= 2
        made = factored(F, terms, first, node.z, barrier)
    trial = node.z.copy()
    if not made.positive:
        return made, barrier
    for _ in range(MOST_STEPS):
        if made.bound <= threshold:
            break
        shape, inverse = shape_of(F, made)
        step, gain = newton_step(F, terms, node.z, shape, inverse, barrier)
        length = longest_step(F, terms, node.z, step)
        better = False
        for _ in range(12):
            trial[:] = node.z
            trial[0] += length * step[0]
            for i in range(len(terms.row)):
                trial[terms.at[i]] += length * step[i + 1]
            new = factored(F, terms, first, trial, barrier)
            if new.positive and new.value <= made.value:
                better = True
                break
            length *= 0.5
        if better:
            node.z[:] = trial
            made = new
        if not better or gain < CENTRAL * barrier:
            least = barrier_of(made.bound, threshold)
            if barrier <= 1.5 * least:
                break
            barrier = max(FALL * barrier, least)
            made = factored(F, terms, first, node.z, barrier)
    return made, barrier


@compiled
def shrink(
    F: Sum,
    node: QuadraticNode,
    made: Factored,
    shape: Solved,
    inverse: np.ndarray,
    threshold: float,
) -> tuple[float, bool]:
    """Ranges by (1); the largest share that one of them lost, and whether a side became known.

    The share is infinite where nothing is left of a range: then no u of the node is above T.
    """
    K, r = F.rows.shape
    trace, size = 0.0, 0.0
    for j in range(r):
        for l in range(j + 1):
            trace += inverse[j, l] * inverse[j, l]
            size += made.L[j, l] * made.L[j, l]
    rounding = 64 * (r + 8) * EPS * size * trace  # of S⁻¹, relative to its size
    lost, settled = 0.0, False
    # S is nearly singular, and what its inverse says of ranges is too uncertain to be used.
    if rounding > 1e-3:
        return lost, settled
    length = math.sqrt(np.dot(shape.v, shape.v))
    for k in range(K):
        if node.side[k] != 0:
            continue
        square = shape.gram[k, k] + rounding * trace * F.norms[k] * F.norms[k]
        reach = math.sqrt(2 * max(made.bound - threshold, 0.0) * square) * (1 + 1e-12)
        reach += (rounding * length + rounding * trace) * F.norms[k]
        width = node.high[k] - node.low[k]
        node.high[k] = min(node.high[k], shape.q[k] + reach)
        node.low[k] = max(node.low[k], shape.q[k] - reach)
        if node.low[k] >= node.high[k]:
            return math.inf, settled
        if node.high[k] <= 0 or node.low[k] >= 0:
            know(F, node, k, -1 if node.high[k] <= 0 else 1)
            settled = True
        else:
            lost = max(lost, 1 - (node.high[k] - node.low[k]) / width)
    return lost, settled


@compiled
def know(F: Sum, node: QuadraticNode, k: int, side: int) -> None:
    """The side of a row; with + its κ gives way to the multiplier of the side."""
    node.side[k] = side
    if k < F.up:
        node.z[1 + k] = FIRST


@compiled
def any_row(F: Sum, node: QuadraticNode) -> int:
    """A row with + whose side is not known; −1 where there is none."""
    row = -1
    for k in range(F.up):
        if node.side[k] == 0:
            row = k
    return row


@compiled
def furthest(F: Sum, node: QuadraticNode, shape: Solved, barrier: float) -> int:
    """The row with + whose quadratic function is furthest above t₊, as u is spread around v."""
    row, most = -1, -1.0
    for k in range(F.up):
        if node.side[k] == 0:
            q = shape.q[k]
            spread = math.sqrt(q * q + 2 * barrier * shape.gram[k, k])
            far = 0.5 * (q + spread) - max(q, 0.0)
            if far > most:
                row, most = k, far
    return row


@compiled
def bound_node(
    F: Sum, node: QuadraticNode, threshold: float, u: np.ndarray, barrier: float
) -> float:
    """A bound over the node; the row to branch on (−1: none) is kept with it, and u is set to v."""
    bound, row = math.inf, -1
    u[:] = 0.0
    for _ in range(MOST_ROUNDS):
        terms, first = terms_of(F, node)
        made, barrier = relax(F, node, terms, first, threshold, barrier)
        bound = min(bound, made.bound)
        if not made.positive:
            break
        shape, inverse = shape_of(F, made)
        u[:] = shape.v
        if bound <= threshold:
            break
        row = furthest(F, node, shape, barrier)
        lost, settled = shrink(F, node, made, shape, inverse, threshold)
        if lost == math.inf:
            bound = threshold
            break
        if lost < LEAST_LOST and not settled:
            break
    if row < 0 or node.side[row] != 0:
        row = any_row(F, node)
    node.z[-1] = row
    return bound


@compiled
def begin(F: Sum, node: QuadraticNode, threshold: float) -> None:
    """What is known at first, with multipliers for which S is positive for sure."""
    K = len(F.rows)
    node.z[0] = threshold
    for k in range(K):
        n = F.norms[k]
        node.low[k], node.high[k] = -n, n
        node.z[1 + k] = node.z[1 + K + k] = 0.3
        if n == 0:
            know(F, node, k, -1)
        elif k < F.up:
            node.z[1 + k] = 0.5 / n
            node.z[0] += 0.5 * n


@compiled
def barrier_of(bound: float, threshold: float) -> float:
    """The weight of the barriers for a node of which so much is known."""
    return max(BARRIER * (bound - threshold), LEAST_BARRIER * threshold)
