"""What is proved: the best network of all, margins between bounds, claims that hold."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from tacit.certificates import Certificate, Optimum
from tacit.plot.axes import SMALL, draws, literal, own_axes, say
from tacit.plot.plane import MINUS, PLUS, network_outputs
from tacit.proofs import Verification
from tacit.values import Interval


@draws("optimum", "optimum : Optimum", "What `tacit.optimum` returned.")
def best_network(optimum: Optimum, ax: Axes | None = None) -> Axes:
    """Draw the outputs of the best network over the data; of several classes the first."""
    data, network = optimum.data, optimum.per_class[0].network
    if network.width == 0:
        return say(own_axes(ax), literal(data.name), str(optimum.sentence))
    ax = network_outputs(network, data if data.binary else data.one_vs_rest(0), ax)
    ax.set_title(f"best network: {ax.get_title()}")
    return ax


@draws("certificate", "certificate : Certificate", "What `tacit.certify` returned.")
def margin_in_bounds(certificate: Certificate, ax: Axes | None = None) -> Axes:
    """Draw the margin of a network beside the bounds of the widest margin of all."""
    ax = _interval(own_axes(ax), certificate.margin_bounds, "widest margin of all networks")
    ax.axvline(certificate.margin, c=PLUS, lw=1.6, label=f"margin {certificate.margin:.6g}")
    ax.set(title=f"{certificate.name}: {certificate.optimality}", xlabel="normalised margin")
    ax.legend(loc="best", fontsize=SMALL)
    return ax


@draws("verification", "verification : Verification", "What `tacit.verify` returned.")
def proved_bounds(verification: Verification, ax: Axes | None = None) -> Axes:
    """Draw the bounds of the objective that a proof was verified to give."""
    ax, bounds = own_axes(ax), verification.objective_bounds
    title = "verified" if verification.verified else "rejected"
    if bounds is None:
        return say(ax, title, verification.reason or "no network fits the data")
    ax = _interval(ax, bounds, "smallest objective of all networks")
    ax.set(title=title, xlabel="objective")
    ax.legend(loc="best", fontsize=SMALL)
    return ax


@draws("claims", "reproduction : Reproduction", "What `tacit.reproduce` returned.")
def claims(reproduction: Any, ax: Axes | None = None) -> Axes:
    """Draw which claims of the reproduced figures hold."""
    ax, every = own_axes(ax), reproduction.claims[::-1]
    for holds, colour, word in ((True, "#00695c", "holds"), (False, "#b3001b", "fails")):
        rows = [k for k, claim in enumerate(every) if bool(claim["holds"]) is holds]
        ax.plot(np.ones(len(rows)), rows, "o", c=colour, label=word)
    names = [f"{claim['figure']} {claim['id']}" for claim in every]
    ax.set_yticks(range(len(every)), names, fontsize=SMALL)
    ax.set(title="claims", xticks=[])
    ax.legend(loc="best", fontsize=SMALL)
    return ax


def _interval(ax: Axes, bounds: Interval, name: str) -> Axes:
    label = f"{name}: {bounds.lower:.6g} to {bounds.upper:.6g}"
    ax.axvspan(bounds.lower, bounds.upper, color=MINUS, alpha=0.25, label=label)
    for end in bounds:
        ax.axvline(end, c=MINUS, lw=1)
    ax.set_yticks([])
    return ax
