"""The fixed data sets of the papers' figures."""

import numpy as np

from tacit.data._sampling import LARGEST, between
from tacit.data.generators import generator
from tacit.data.symmetric import with_hints
from tacit.messages import require
from tacit.values import Dataset


@generator("lyu2021 App. I.1.1, Fig. 1 left")
def lyu2021_left(alpha: float = 0.5) -> Dataset:
    """Six symmetric points with a KKT direction that is not linear and has a suboptimal margin.

    (1, cot β), (1, 0), (1, −cot β) with label 1, their opposites with label −1; β solves

        (2 sin²β + cos β) α² − (1 + cos β) α + cos 2β = 0,

    which is (1 − α)(2(1+α) c² − α c − (1 + 2α)) = 0 in c = cos β. For ReLU (alpha=0) cot β = 1.
    """
    require(0 <= alpha < 1, f"lyu2021_left: alpha={alpha} must be at least 0 and less than 1")
    # The same quadratic in e = 1 − cos β: 2(1+α) e² − (4+3α) e + (1−α) = 0. Its smaller root,
    # written without cancellation, stays accurate as α → 1 and β → 0.
    e = 2 * (1 - alpha) / (4 + 3 * alpha + np.sqrt((4 + 3 * alpha) ** 2 - 8 * (1 - alpha**2)))
    sin_beta = np.sqrt(e * (2 - e))
    cot_beta = float((1 - e) / sin_beta) if alpha > 0 else 1.0
    positive = np.array([[1, cot_beta], [1, 0], [1, -cot_beta]])
    return Dataset(
        np.vstack([positive, -positive]),
        np.repeat([1, -1], 3),
        parameters={"beta": float(np.arctan2(1, cot_beta)), "cot_beta": cot_beta},
    )


@generator("lyu2021 App. I.1.2, Fig. 1 middle")
def lyu2021_middle(
    eps: float = 0.1,
    eps_minus: float = 1.0,
    c: float = 0.05,
    n_plus: int = 10,
    n_minus: int = 5,
    step: float = 1.0,
) -> Dataset:
    """Two positive half-lines around a negative one: linear in x, not in y; third coordinate c.

    (x, ±1, c) with x ≥ ε and label 1; (−x, 0, c) with x ≥ ε' and label −1. The paper wants c < ε,
    ε/ε' ≪ α and more positive points than negative ones; gradient flow then ends at one neuron with
    support (ε, ±1, c), whose margin is far from the best when ε ≪ 1.

    Ours: all numbers. n_plus points on each positive half-line, n_minus on the negative one, `step`
    apart, the first at the end; eps_minus is ε'. The defaults satisfy Assumptions A.2, A.3 and A.5
    for α = ½.
    """
    name = "lyu2021_middle"
    between(name, "eps", eps, 1 / LARGEST)
    between(name, "eps_minus", eps_minus, 1 / LARGEST)
    between(name, "c", c, 0)
    between(name, "step", step, 0)
    between(name, "n_plus", n_plus, 1, 1e6)
    between(name, "n_minus", n_minus, 1, 1e6)
    right = eps + step * np.arange(n_plus)
    left = eps_minus + step * np.arange(n_minus)
    x = np.concatenate([right, right, -left])
    second = np.repeat([1, -1, 0], [n_plus, n_plus, n_minus])
    X = np.column_stack([x, second, np.full(len(x), c)])
    return Dataset(X, np.where(second == 0, -1, 1))


@generator("lyu2021 App. I.1.2, Fig. 1 right")
def lyu2021_right(
    alpha: float = 0.5, H: float | None = None, K: float | None = None, eps: float | None = None
) -> Dataset:
    """Three hints in the plane, in front of four points that a line separates.

    (H, 0), (ε, K), (ε, −K) with label 1 (Definition 6.1 with w* = e₁, w⊥ = e₂), then (1, ±1) with
    label 1 and (−1, ±½) with label −1. Whichever of H, K, eps is not given follows from App. A.2
    for this alpha, as in `hinted`.

    Ours: the four points; the paper shows a picture only.
    """
    X = np.array([[1, 1], [1, -1], [-1, 0.5], [-1, -0.5]])
    y = np.array([1, 1, -1, -1])
    e_1, e_2 = np.eye(2)
    return with_hints("lyu2021_right", X, y, e_1, e_2, alpha, H, K, eps)


@generator("wang2022 App. F.1, Fig. 1 to 7")
def wang2022_f1() -> Dataset:
    """Two points in the plane, orthogonally separable and not spike-free.

    The optimal neurons are (0.5606, −0.1597) and (−0.2300, 0.6607); the "0.58" printed in (128) is
    a misprint.
    """
    return Dataset(np.array([[1.65, -0.47], [-0.47, 1.35]]), np.array([1, -1]))


@generator("wang2022 App. F.2, Fig. 8 to 10")
def wang2022_f2() -> Dataset:
    """Two positive points in the plane, spike-free.

    The optimal neuron is (0.4386, 0.5881). The paper's text calls the set non-spike-free; the
    heading of F.2 is right.
    """
    return Dataset(np.array([[1.65, 0.47], [0.47, 1.35]]), np.array([1, 1]))
