"""The synthetic experiments of §5: their training, and claims about the layers it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.data import load
from tacit.measures.layer import Layer
from tacit.numerics.class_margin import class_margin
from tacit.reproduction.artefact import Claim, Settings, Tell, Whose, ours, paper
from tacit.reproduction.claims import at_least, at_most, explained, mean_interval, near
from tacit.training import Many, train_many
from tacit.values import BadInput, Dataset, Setting

HIGH = 0.9
"""§5.1: "the correlation is generally high, above 0.9 for most neurons"."""
NARROW = 5.0
"""Ours: rows align in a direction when they are this many degrees from it, on the mean."""
DROP = 5.0
"""Ours: the second singular value is so many times the third where a matrix is of rank two."""
ZERO = 0.05
"""Ours: a singular value is effectively zero when it is at most this part of the largest."""
SHOWN = 10
"""Singular values in Fig. 1a, 2a–c and 4a."""


@dataclass(frozen=True)
class Synthetic(Settings):
    """The training of §5.1, which §5.2 takes over."""

    n: int = paper(500, "§5.1")
    d: int = paper(20, "§5.1")
    width: int = paper(100, "§5.1, §5.2")
    batch: int = paper(50, "§5.1")
    lr: float = paper(0.1, "§5.1")
    epochs: int = paper(500, "§5.1")
    factor: float = paper(0.05, "§5.1: all weights are multiplied by it at initialisation")
    init: str = ours("uniform", "what is multiplied: PyTorch's default, uniform in ±1/√fan_in")
    loss: str = ours("logistic", "the mean over a batch; (3) is the sum over the data")


def train_networks(s: Synthetic, model: str, runs: int, tell: Tell) -> tuple[list[Dataset], Many]:
    """Train networks, each on data of its own."""
    if s.width < 2 or s.d < 2:
        raise BadInput(f"width={s.width} and d={s.d} must be at least 2: two directions are shown")
    seeds = range(s.seed * runs, (s.seed + 1) * runs)
    sets = [load(f"orthogonal:n={s.n},d={s.d},seed={seed}") for seed in seeds]
    setting = Setting(
        model=model,
        width=s.width,
        init=f"{s.init}:{s.factor}",
        loss=s.loss,
        rule="sgd",
        lr=s.lr,
        batch=s.batch,
    )
    tell(f"training {runs} networks")
    many = train_many(
        sets, setting, s.epochs, seeds, at=[0], progress=lambda i, n: tell(f"network {i} of {n}")
    )
    return sets, many


def layer_of(many: Many, i: int, part: str, sign: np.ndarray) -> Layer:
    """A layer of network i before and after training, with the output signs of its units."""
    return Layer(many.member(i, 0)[part], many.member(i)[part], sign)


def max_margin_directions(data: Dataset) -> np.ndarray:
    """w₊ and w₋, two unit rows."""
    rows = []
    for label in (1, -1):
        w = class_margin(data.X, data.y, label).w  # (6), (7)
        if w is None or not w.any():
            raise BadInput(f"{data.name}: no max-margin vector for y = {label:+d}; take a larger n")
        rows.append(w / np.linalg.norm(w))
    return np.array(rows)


def fitted_claim(sets: Sequence[Dataset], many: Many) -> Claim:
    """Every network classifies its data."""
    outputs = [many.outputs(data.X)[i] for i, data in enumerate(sets)]
    wrong = [float((f * data.y <= 0).mean()) for f, data in zip(outputs, sets, strict=True)]
    text = f"training error, the largest of {len(sets)} networks"
    return at_most("fitted", text, max(wrong), 0.0)


def rank_claim(id: str, name: str, layers: Sequence[Layer]) -> Claim:
    """Two singular values have grown beyond all that the initial weights had."""
    ranks = np.array([layer.rank for layer in layers])
    text = f"singular values of {name} beyond every initial one, mean of {len(layers)} networks"
    return near(id, text, float(ranks.mean()), 2, 0.0, "rank two")


def zero_claim(id: str, layers: Sequence[Layer]) -> Claim:
    """The other singular values are effectively zero (said of Fig. 1)."""
    left = [layer.values[2] / layer.values[0] if len(layer.values) > 2 else 0.0 for layer in layers]
    text = "the third singular value relative to the first, largest"
    claim = at_most(id, text, max(left), ZERO, "effectively zero")
    finding = (
        "It is what the initial weights have left: only two singular values have grown. How large "
        "they are before they are multiplied by the factor is not said; smaller ones leave less."
    )
    return explained(claim, finding, Whose.OPEN, all(layer.rank == 2 for layer in layers))


def drop_claim(id: str, layers: Mapping[str, Sequence[Layer]]) -> Claim:
    """The matrices are rank two: the second singular value stands out over the third."""
    least = {
        name: min(float(layer.values[1] / layer.values[2]) for layer in ones)
        for name, ones in layers.items()
    }
    text = "second singular value over the third, in the layer and network where it is least"
    claim = at_least(id, text, min(least.values()), DROP, "all rank two")
    finding = (
        f"By layer it is {', '.join(f'{x:.1f} ({name})' for name, x in least.items())} at least. "
        "Only two singular values have grown beyond the initial ones in any layer; the third is "
        "what these have left. How large they are before they are multiplied by 0.05 is not "
        "stated, and would settle it."
    )
    known = all(layer.rank == 2 for ones in layers.values() for layer in ones)
    return explained(claim, finding, Whose.OPEN, known)


def two_rays_claim(id: str, name: str, layers: Sequence[Layer]) -> Claim:
    """The rows have two main directions."""
    off = float(np.mean([layer.off_rays for layer in layers]))
    text = f"{name} lie on two rays (degrees off, weighted by length, mean of {len(layers)})"
    return at_most(id, text, off, NARROW, "two main directions")


def correlation_claim(id: str, what: str, cosines: Sequence[np.ndarray]) -> Claim:
    """Most neurons have a high correlation with a max-margin direction."""
    shares = np.array([(one > HIGH).mean() for one in cosines])
    mean = float(shares.mean())
    return Claim(
        id,
        f"share of neurons whose correlation with {what} is above {HIGH}, mean of {len(shares)}",
        "most",
        mean,
        mean > 0.5,
        mean_interval(shares) if len(shares) > 1 else None,
        criterion="> 0.5",
    )
