"""phuong2021 §5.2 with two to six layers: KKT residual, degree and first layer along the flow."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit._jax import jax, jnp
from tacit.data import load
from tacit.measures.layer import Layer
from tacit.models import Residual
from tacit.models.activation import phi
from tacit.models.initialisations import Uniform
from tacit.numerics.class_margin import class_margin
from tacit.papers.beyond.figures import PAPER
from tacit.plot import new_figure
from tacit.probing import probe
from tacit.reproduction.artefact import Claim, Exhibit, Settings, Tell, Whose, ours, paper
from tacit.reproduction.claims import at_least, at_most, explained, near
from tacit.values import Dataset

SLOPE = 0.06
"""Difference of slopes that counts as none, where they are −1/2 to −1/6."""
COLOURS = ("black", "#1f5fa8", "#2a9d5c", "#c9781b", "#b3302a")


@dataclass(frozen=True)
class Depth(Settings):
    n: int = paper(500, "phuong2021 §5.1")
    d: int = paper(20, "phuong2021 §5.1")
    width: int = paper(100, "phuong2021 §5.1, §5.2")
    factor: float = paper(0.05, "phuong2021 §5.1, on weights drawn as PyTorch does")
    lyu_n: int = paper(10, "lyu2021 Table 1, first row")
    lyu_d: int = paper(50, "lyu2021 App. J")
    lyu_alpha: float = ours(0.5, "α of lyu2021 Fig. 1; Table 1 gives none")
    depths: tuple[int, ...] = ours((2, 3, 4, 5, 6), "layers; the paper has 2 and 4")
    looks: tuple[float, ...] = ours((10, 30, 100, 300, 1000, 3000), "log(1/L) at which we probe")
    lyu_looks: tuple[float, ...] = ours(
        (10, 30, 100, 300, 1000, 3000, 10000, 30000), "the same on the data of lyu2021"
    )
    turn: float = ours(0.01, "the longest step, as a part of ‖θ‖")
    step: float = ours(0.7, "and that of log(1/L) at most; from 2 on descent is not stable")
    runs: int = ours(3, "networks for each depth, each on data of its own; medians are drawn")


Net = Callable[[dict[str, Any], Any], Any]


class Looks(NamedTuple):
    """What was seen of the networks of one depth: runs × looks."""

    at: np.ndarray
    """log(1/L), one number for each look."""
    residual: np.ndarray
    """The KKT residual; how far θ is off the cone of gradients where there is no degree."""
    degree: np.ndarray
    euler: np.ndarray
    smoothed: np.ndarray
    off: np.ndarray
    """1 − cosine of a row of W1 and the nearer of w₊ and w₋, the mean by squared length."""
    ranks: np.ndarray
    """Singular values of the hidden matrices beyond all initial ones: runs × matrices."""


@PAPER.artefact(
    "depth",
    "phuong2021 §5.2, Theorem 1; lyu2021 Table 1",
    Depth,
    {"n": 100, "width": 30, "depths": (2, 3, 4), "lyu_looks": (10, 100, 300, 1000, 3000)},
)
def depth(s: Depth, tell: Tell) -> Exhibit:
    """Two to six layers: the KKT residual falls like log(1/L)^(−1/depth), and skips fade

    The paper trains a residual network, as small fully connected ones are delicate: their gradients
    vanish, then grow. With steps that are parts of ‖θ‖ and descend log L, which is gradient flow on
    L at another speed, both are followed to a loss of e^(−3000). The theory says that fully
    connected networks, homogeneous of degree L, turn to a KKT point. It gives no rate, but the
    start does: weights that no gradient moves stay, ‖θ‖ grows like log(1/L)^(1/depth), so their
    share of θ falls like log(1/L)^(−1/depth) and the residual with it (top left; dashed: these
    slopes). Top right, ten points of lyu2021 Table 1: three to five layers come near to that, two
    and six fall more slowly, and why is open; at a kink the probe has one of the gradients, so what
    it says is an upper bound.

    Bottom left: the residual network (30) has terms of every degree and is not homogeneous from
    three layers on. Its degree by Euler's identity rises to the number of layers (dotted: what it
    lacks), and it is off the cone of its gradients by less and less (lines), both like
    log(1/L)^(−1/depth): the skips fade, but slowly. Bottom right: 1 − cosine of the rows of the
    first layer and the nearer max-margin direction, which the paper conjectures to be their limit,
    of fully connected networks (lines) and residual ones (dotted).
    """
    sets = [_orthogonal(s, k) for k in range(s.runs)]
    others = [_gaussian(s, k) for k in range(s.runs)]
    plain, lyu, residual = {}, {}, {}
    for L in s.depths:
        tell(f"{L} layers")
        plain[L] = _looks(s, L, _connected(L), sets, s.looks)
        lyu[L] = _looks(s, L, _connected(L, s.lyu_alpha), others, s.lyu_looks)
        if L > 2:
            residual[L] = _looks(s, L, Residual(L), sets, s.looks)
    claims = (
        *_homogeneous_claims(s, plain, lyu),
        *_residual_claims(residual),
        *_conjecture_claims(plain, residual),
    )
    saved = {
        f"{name}_{field}_{L}": getattr(seen, field)
        for name, family in (("connected", plain), ("lyu", lyu), ("residual", residual))
        for L, seen in family.items()
        for field in Looks._fields
    }
    return Exhibit(claims, _drawn(plain, lyu, residual), saved)


def _orthogonal(s: Depth, k: int) -> Dataset:
    return load(f"orthogonal:n={s.n},d={s.d},seed={s.seed * s.runs + k}")


def _gaussian(s: Depth, k: int) -> Dataset:
    return load(f"lyu2021_appJ:n={s.lyu_n},d={s.lyu_d},seed={s.seed * s.runs + k}")


def _connected(L: int, alpha: float = 0.0) -> Net:
    """A fully connected network with the matrices of `Residual`."""

    def f(params: dict[str, Any], X: Any) -> Any:
        z = X @ params["W1"].T
        for l in range(2, L + 1):
            z = phi(z, alpha) @ params[f"W{l}"].T
        return z[:, 0]

    return f


def _looks(s: Depth, L: int, f: Net, sets: Sequence[Dataset], at: Sequence[float]) -> Looks:
    descend = _descent(s, L, f)
    rows, ranks = [], []
    for k, data in enumerate(sets):
        shapes = Residual(L).shapes(data.d, s.width)
        start = Uniform(s.factor).draw(shapes, np.random.default_rng((s.seed, L, k)))
        params, seen = dict(start), []
        for target in at:
            params = descend(params, data.X, data.y, float(target))
            seen.append(_seen(f, params, data))
        rows.append(seen)
        hidden = [f"W{l}" for l in range(1, L)]
        sign = np.sign(np.asarray(params[f"W{L}"])[0])
        ranks.append([Layer(start[w], np.asarray(params[w]), sign).rank for w in hidden])
    residual, degree, euler, smoothed, off = np.moveaxis(np.array(rows), -1, 0)
    return Looks(np.array(at), residual, degree, euler, smoothed, off, np.array(ranks))


def _seen(f: Net, params: dict[str, Any], data: Dataset) -> tuple[float, ...]:
    probed = probe((f, params), data.X, data.y, seconds=0)
    homogeneity, support = probed.homogeneity, probed.support
    off = probed.residual
    if not homogeneity.holds:  # there is no KKT point then, but there is a cone of gradients
        off = math.nan if support is None else support.stationarity
    return off, homogeneity.degree, homogeneity.error, probed.smoothed_margin, _off(params, data)


def _off(params: dict[str, Any], data: Dataset) -> float:
    W = np.asarray(params["W1"])
    both = [class_margin(data.X, data.y, label).w for label in (1, -1)]  # (6), (7)
    cosines = [W @ w / np.linalg.norm(w) for w in both if w is not None and w.any()]
    lengths = np.linalg.norm(W, axis=1)
    return float(1 - (np.max(cosines, axis=0) * lengths).sum() / (lengths**2).sum())


def _descent(s: Depth, L: int, f: Net) -> Callable[..., dict[str, Any]]:
    """Descend log L until log(1/L) is the target, in steps small beside ‖θ‖ and log(1/L).

    The p_i = e^(−q_i)/Σ e^(−q_j) change by a factor when a step changes q by 1, and q grows like
    ‖θ‖^L, so a step of ‖θ‖/(L log(1/L)) is the longest that follows them.
    """

    def log_loss(params: dict[str, Any], X: Any, y: Any) -> Any:
        q = y * f(params, X)
        each = jnp.where(q > 40, -q, jnp.log(jnp.logaddexp(0.0, -jnp.minimum(q, 40.0))))
        return jax.nn.logsumexp(each) - math.log(len(y))

    def step(state: Any) -> Any:
        params, X, y, target, _ = state
        value, gradient = jax.value_and_grad(log_loss)(params, X, y)
        norm, slope = _norm(params), _norm(gradient)
        length = jnp.minimum(s.turn, s.step / (L * jnp.maximum(-value, 1.0))) * norm / slope
        params = {name: params[name] - length * gradient[name] for name in params}
        return params, X, y, target, value

    def descend(params: dict[str, Any], X: Any, y: Any, target: float) -> dict[str, Any]:
        start = params, X, y, target, jnp.asarray(0.0)
        return jax.lax.while_loop(lambda state: -state[-1] < state[-2], step, start)[0]

    return jax.jit(descend)


def _norm(params: dict[str, Any]) -> Any:
    return jnp.sqrt(sum((one**2).sum() for one in params.values()))


def _slope(at: np.ndarray, values: np.ndarray) -> float:
    """Of the logarithm of the medians over that of log(1/L), in the last tenfold."""
    x = np.log(at)
    late = x >= x[-1] - math.log(10) - 1e-9
    return float(np.polyfit(x[late], np.log(np.median(values, axis=0)[late]), 1)[0])


def _written(slopes: dict[int, float]) -> str:
    return ", ".join(f"{L} layers: {slope:.3f}" for L, slope in slopes.items())


def _homogeneous_claims(s: Depth, plain: dict[int, Looks], lyu: dict[int, Looks]) -> list[Claim]:
    every = [*plain.items(), *lyu.items()]
    off = max(float((np.abs(seen.degree - L) + seen.euler).max()) for L, seen in every)
    falls = max(
        float((1 - seen.smoothed[:, 1:] / seen.smoothed[:, :-1]).max()) for _, seen in every
    )
    medians = [np.median(seen.residual, axis=0) for _, seen in every]
    slopes = {L: _slope(seen.at, seen.residual) for L, seen in plain.items()}
    lyu_slopes = {L: _slope(seen.at, seen.residual) for L, seen in lyu.items()}
    layers = f"{min(s.depths)} to {max(s.depths)} layers"
    said = "converges to a KKT point (lyu2021 Thm 3.1)"
    return [
        at_most(
            "degree",
            f"fully connected networks of {layers} are homogeneous of that degree: largest error "
            "of Euler's identity",
            off,
            1e-6,
        ),
        at_most(
            "smoothed",
            "their smoothed margin never falls: largest relative fall from look to look",
            falls,
            1e-9,
            "never falls (Lyu & Li)",
        ),
        at_most(
            "falls",
            "their KKT residual falls: the last median over the first, largest of all depths and "
            "both data sets",
            max(float(one[-1] / one[0]) for one in medians),
            0.8,
            said,
        ),
        at_most(
            "rate",
            "on orthogonally separable data it falls like log(1/L)^(−1/depth): largest difference "
            f"of a slope from −1/depth ({_written(slopes)})",
            max(abs(slope + 1 / L) for L, slope in slopes.items()),
            SLOPE,
        ),
        at_most(
            "falls_lyu",
            "on the data of lyu2021 Table 1 it still falls in the end: largest slope"
            f" ({_written(lyu_slopes)})",
            max(lyu_slopes.values()),
            -SLOPE,
        ),
    ]


def _residual_claims(residual: dict[int, Looks]) -> list[Claim]:
    least = min(float(seen.euler.min()) for seen in residual.values())
    lacks = [abs(_slope(seen.at, L - seen.degree) + 1 / L) for L, seen in residual.items()]
    cone = [abs(_slope(seen.at, seen.residual) + 1 / L) for L, seen in residual.items()]
    return [
        at_least(
            "skips",
            "residual networks of three layers and more are not homogeneous: smallest error of "
            "Euler's identity",
            least,
            1e-6,
        ),
        at_most(
            "fade",
            "what their degree lacks of the number of layers falls like log(1/L)^(−1/depth): "
            "largest difference of a slope",
            max(lacks),
            SLOPE,
        ),
        at_most(
            "cone",
            "so does the part of θ off the cone of gradients: largest difference of a slope",
            max(cone),
            SLOPE,
        ),
    ]


def _conjecture_claims(plain: dict[int, Looks], residual: dict[int, Looks]) -> list[Claim]:
    claims = []
    for name, id, family in (
        ("fully connected", "connected", plain),
        ("residual", "skip", residual),
    ):
        ranks = np.concatenate([seen.ranks.ravel() for seen in family.values()])
        off = [np.median(seen.off, axis=0) for seen in family.values()]
        rank = near(
            f"rank_{id}",
            f"{name} networks: share of hidden matrices of which two singular values have grown "
            "beyond all initial ones",
            float((ranks == 2).mean()),
            1.0,
            0.0,
            "all rank two (§5.2)",
        )
        finding = (
            f"{int((ranks != 2).sum())} of {len(ranks)} matrices have another number, "
            f"{int(ranks.min())} to {int(ranks.max())}."
        )
        claims += [
            explained(rank, finding, Whose.OPEN),
            at_most(
                f"first_{id}",
                f"{name} networks: rows of the first layer turn to the max-margin directions, "
                "1 − cosine in the end, largest median",
                max(float(one[-1]) for one in off),
                0.01,
                "conjectured (§5.2)",
            ),
            at_most(
                f"turning_{id}",
                f"{name} networks: and still do so, 1 − cosine at a look over that at the look "
                "before, largest median",
                max(float((one[1:] / one[:-1]).max()) for one in off),
                0.9,
            ),
        ]
    return claims


def _drawn(plain: dict[int, Looks], lyu: dict[int, Looks], residual: dict[int, Looks]) -> Any:
    figure, ((first, second), (third, fourth)) = new_figure(2, 2, size=(11, 8.4))
    for ax, family in ((first, plain), (second, lyu)):
        for (L, seen), colour in zip(family.items(), COLOURS, strict=False):
            _line(ax, seen.at, seen.residual, colour, "-", f"{L} layers")
            _dashes(ax, seen, L, colour)
    for (L, seen), colour in zip(residual.items(), COLOURS[1:], strict=False):
        _line(third, seen.at, seen.residual, colour, "-", f"{L} layers")
        _line(third, seen.at, L - seen.degree, colour, ":", None)
        _line(fourth, seen.at, seen.off, colour, ":", None)
    for (L, seen), colour in zip(plain.items(), COLOURS, strict=False):
        _line(fourth, seen.at, seen.off, colour, "-", f"{L} layers")
    first.set_title("fully connected: KKT residual")
    second.set_title("the same on the data of lyu2021 Table 1")
    third.set_title("residual: off the cone (lines), lack of degree (dotted)")
    fourth.set_title("first layer: 1 − cosine to w₊ or w₋")
    for ax in (first, second, third, fourth):
        ax.set(xscale="log", yscale="log", xlabel="log(1/L)")
        ax.legend(fontsize=8, loc="lower left")
    return figure


def _line(
    ax: Any, at: np.ndarray, values: np.ndarray, colour: str, style: str, label: str | None
) -> None:
    ax.plot(at, np.median(values, axis=0), style, c=colour, marker=".", lw=1.4, label=label)
    if style == "-":
        for one in values:
            ax.plot(at, one, ".", c=colour, ms=3, alpha=0.4)


def _dashes(ax: Any, seen: Looks, L: int, colour: str) -> None:
    ends = seen.at[-1] * np.array([0.1, 1.0])
    last = float(np.median(seen.residual[:, -1]))
    ax.plot(ends, 0.8 * last * (ends / ends[-1]) ** (-1 / L), "--", c=colour, lw=0.9)
