"""Data that a linear separator through 0 explains."""

import numpy as np

from tacit.data._sampling import (
    LARGEST,
    Points,
    above,
    between,
    halves,
    train_and_test,
    unit_vector,
)
from tacit.data.generators import generator
from tacit.messages import require
from tacit.values import Dataset

FARTHEST_TAIL = 1e6
"""Gaussians are not conditioned on lying farther out than this many standard deviations."""


@generator("sarussi2021 §3; lyu2021 Assumption 3.2")
def linear(n: int = 100, d: int = 2, margin: float = 0.1, seed: int = 0, test: int = 0) -> Dataset:
    """Gaussian points labelled by a random linear teacher and pushed off its boundary.

    x = g + y·margin·w*, g ~ N(0, I), y = sign(w*·g), w* uniform on the sphere; y w*·x ≥ margin.

    Ours: the distribution; pushing keeps the whole Gaussian and works for any margin, where
    removing a band would not.
    """
    between("linear", "margin", margin, 0)
    rng = np.random.default_rng(seed)
    w_star = unit_vector(d, rng)
    return train_and_test(lambda k, r: teacher_points(k, w_star, margin, r), n, test, rng)


def teacher_points(n: int, w_star: np.ndarray, margin: float, rng: np.random.Generator) -> Points:
    """n Gaussian points with labels sign(w*·x), moved away from w*·x = 0 by `margin`."""
    X = rng.standard_normal((n, len(w_star)))
    y = np.where(X @ w_star >= 0, 1, -1)
    return X + np.outer(y * margin, w_star), y


@generator("sarussi2021 Fig. 4 and Fig. 8")
def gaussians(
    n: int = 100,
    d: int = 2,
    distance: float = 3.0,
    std: float = 1.0,
    margin: float = 1.0,
    seed: int = 0,
    test: int = 0,
) -> Dataset:
    """Two antipodal Gaussians, one for each label, without the points inside a linear margin.

    x ~ N(y·distance·e₁, std²·I) given y x₁ ≥ margin, for ⌊n/2⌋ positive and then ⌈n/2⌉ negative
    points. x₁ is drawn from the conditional distribution itself, so no margin is too wide for
    rejection; it is exactly what rejection would give.

    Ours: the means lie on the first axis; distance, std and margin (the paper gives none; for
    Fig. 8 it gives n=400, d=50). Points beyond the band on the wrong side are excluded too, because
    the data must be separable.
    """
    _check_gaussians("gaussians", distance, std, margin)
    rng = np.random.default_rng(seed)
    return train_and_test(lambda k, r: _two_gaussians(k, d, distance, std, margin, r), n, test, rng)


@generator("sarussi2021 App. J, Fig. 9")
def gaussians_outlier(
    n: int = 100,
    d: int = 2,
    distance: float = 3.0,
    std: float = 1.0,
    margin: float = 1.0,
    height: float | None = None,
    seed: int = 0,
) -> Dataset:
    """The two antipodal Gaussians and, as the last point, one positive outlier.

    n points as in `gaussians`, then x = −(margin/2)·e₁ + height·e₂ with label +1. The axis of the
    Gaussians gets the outlier wrong, a tilted separator gets everything right. u = −e₁ classifies
    all negative points correctly and the outlier wrongly, so V⁻_β is not empty: Theorem 6.2 is
    silent, and the u neurons may agree with each other (NAR) without classifying perfectly (PAR).

    Ours: all numbers and the outlier's place. height is 2·distance, or more where the drawn points
    would otherwise make the data inseparable; a given height that does so is refused. All n points
    and labels change sign together where that is needed to make the point nearest to the line
    through 0 and the outlier a negative one: a positive one leads to the PAR after all.
    """
    name = "gaussians_outlier"
    _check_gaussians(name, distance, std, margin)
    require(d >= 2, f"{name}: d={d} leaves no room for the outlier; d must be at least 2")
    above(name, "distance", distance, 0)
    X, y = _two_gaussians(n, d, distance, std, margin, np.random.default_rng(seed))
    # (1, s, 0, …) separates the n points iff s·sideways < along for each of them, and the outlier
    # iff s·height > margin/2.
    along, sideways = y * X[:, 0], -y * X[:, 1]
    tilting = sideways > 0
    slopes = along[tilting] / sideways[tilting]
    steepest = max(float(np.min(slopes, initial=np.inf)), float(np.finfo(float).tiny))
    if height is None:
        height = max(2 * distance, margin / steepest)
    above(name, "height", height, max(margin / 2 / steepest, 1 / LARGEST))
    nearest = np.argmin(along - margin / 2 / height * sideways)
    if y[nearest] > 0:
        X, y = -X[::-1], -y[::-1]
    outlier = np.zeros(d)
    outlier[:2] = -margin / 2, height
    return Dataset(np.vstack([X, outlier]), np.append(y, 1), parameters={"height": height})


@generator("lyu2021 App. J, Table 1 and Fig. 4")
def lyu2021_appJ(
    n: int = 100, d: int = 50, margin: float = 0.4, bias: float = 0.1, seed: int = 0, test: int = 0
) -> Dataset:
    """N(0, I) labelled by the sign of x₁, moved off x₁ = 0, with a constant last coordinate.

    x = (g + y·margin·e₁, bias), g ~ N(0, I_d), y = sign(g₁): dimension d + 1.

    Ours: the classifier is the first axis (as drawn in Fig. 4); margin=0.4, because "mildly" is not
    a number and 0.4 gives the max-margin separator about the test errors of Table 1.
    """
    between("lyu2021_appJ", "margin", margin, 0)
    between("lyu2021_appJ", "bias", abs(bias), 0)
    e_1 = np.eye(1, d)[0]

    def draw(k: int, r: np.random.Generator) -> Points:
        X, y = teacher_points(k, e_1, margin, r)
        return np.column_stack([X, np.full(k, bias)]), y

    return train_and_test(draw, n, test, np.random.default_rng(seed))


def _check_gaussians(name: str, distance: float, std: float, margin: float) -> None:
    for key, length in (("distance", distance), ("std", std)):
        if length != 0:
            between(name, key, length, 1 / LARGEST)
    between(name, "margin", margin, 0)
    if std == 0:
        require(
            distance >= margin and distance > 0,
            f"{name}: with std=0 every point lies at distance={distance}, inside "
            f"margin={margin}; distance must be positive and at least margin",
        )
    else:
        require(
            margin - distance <= FARTHEST_TAIL * std,
            f"{name}: margin={margin} is more than {FARTHEST_TAIL:g} times std={std} beyond "
            f"distance={distance}; choose margin smaller or std larger",
        )


def _two_gaussians(
    n: int, d: int, distance: float, std: float, margin: float, rng: np.random.Generator
) -> Points:
    y = halves(n)
    X = std * rng.standard_normal((n, d))
    X[:, 0] = y * _normal_above(margin, distance, std, n, rng)
    return X, y


def _normal_above(
    least: float, mean: float, std: float, n: int, rng: np.random.Generator
) -> np.ndarray:
    """n draws of N(mean, std²) given that they are ≥ least, by inversion in the upper tail."""
    from scipy.special import log_ndtr, ndtri_exp

    u = 1 - rng.random(n)
    if std == 0:
        return np.full(n, mean)
    log_tail = log_ndtr((mean - least) / std) + np.log(u)
    return np.maximum(mean - std * ndtri_exp(log_tail), least)
