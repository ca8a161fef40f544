"""What is proved of the limit: the flow is followed until the bounds of its margin all but agree.

The weights from which the proof goes on are those at the end of that path, which no rounding
excuses: whether or not the path from the initial weights leads just there, what is proved holds for
gradient flow from these very numbers.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from tacit.certificates import Certificate
from tacit.certificates.proved_end import NARROW, ProvedEnd, proved_end, trapped_end
from tacit.flow.evidence import LimitEvidence
from tacit.flow.follow import Flow
from tacit.flow.path import Path, PathEnd
from tacit.flow.state import State
from tacit.flow.tolerances import DEEPEST
from tacit.numerics.branch_and_bound import compilation
from tacit.numerics.float64 import LN10
from tacit.values import Dataset, Network
from tacit.values.setting import Layers

DEPTHS = (-1e9, -1e60, -1e120, -1e250)
"""log₁₀ of the losses down to which the path is followed until the bounds are close: their gap is
about log n over log(1/L), and larger where the direction converges slowly."""
ALIGNED = (-1e60, -1e250)
"""log₁₀ of the losses at which most neurons of one pattern have aligned up to rounding, so that
they are stored as one (lyu2021 Lemma 5.3: such neurons stay aligned)."""
MOST_TRIES = 1000
"""Steps that may be tried on the way there; some twenty are enough for most paths."""


def what_is_proved(
    data: Dataset,
    flow: Flow,
    path: Path,
    certificate: Certificate,
    evidence: LimitEvidence,
    seconds: float,
) -> ProvedEnd | None:
    """The proof for this limit; the path itself stays as it is."""
    both, last_try = path.last.state.both, flow.tries + MOST_TRIES
    if not both:  # the bounds of fixed output weights are searched for
        compilation()  # if that is not on disk already; no part of the time
    until = perf_counter() + seconds
    train: Layers = "both" if both else "first"

    def bounded(longer: Path) -> ProvedEnd | None:
        state, left = longer.last.state, max(until - perf_counter(), 0.0)
        network = Network(state.W, state.a, state.planes.alpha)
        return proved_end(data, network, train, flow.kind, certificate, evidence.groups, left)

    proved = bounded(path)
    for depth in DEPTHS:
        if proved is None or proved.narrow or path.end is not PathEnd.REACHED:
            break
        if certificate.margin < (1 - NARROW) * proved.margin_bounds.upper:  # they stay apart
            break
        if depth * LN10 < path.last.log_L and depth >= DEEPEST[train]:
            left = max(until - perf_counter(), 0.0)
            path = flow.run(depth * LN10, left, most_tries=last_try - flow.tries, late=True)
            if path.end is PathEnd.INTERRUPTED:
                raise KeyboardInterrupt
            proved = bounded(path)
    if proved is None or proved.narrow or not both or path.end is not PathEnd.REACHED:
        return proved
    for k, depth in enumerate(ALIGNED):
        if path.last.log_L <= depth * LN10 and k > 0:
            break  # these weights have been looked at
        if path.last.log_L > depth * LN10:
            left = max(until - perf_counter(), 0.0)
            path = flow.run(depth * LN10, left, most_tries=last_try - flow.tries, late=True)
            if path.end is PathEnd.INTERRUPTED:
                raise KeyboardInterrupt
        left = max(until - perf_counter(), 0.0)
        trapped = trapped_end(
            data, stored_network(flow.state), flow.kind, certificate.kkt.multipliers, left
        )
        if trapped is not None or path.end is not PathEnd.REACHED:
            return trapped or proved
    return proved


def stored_network(state: State) -> Network:
    """The network of a state in which a neuron may count as another number than one.

    With both layers trained, c neurons (w, a) have the outputs, the norm and the gradient flow of
    the one neuron √c (w, a).
    """
    root = np.sqrt(state.copies)
    return Network(root[:, None] * state.W, root * state.a, state.planes.alpha)
