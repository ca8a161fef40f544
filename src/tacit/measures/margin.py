"""Loss, errors and margins."""

import numpy as np

from tacit.measures.measure import NotDefined, Snapshot, measure


@measure("log_loss")
def log_loss(s: Snapshot) -> float:
    """Natural logarithm of the loss: finite where the loss itself underflows."""
    return s.log_loss


@measure("train_error")
def train_error(s: Snapshot) -> float:
    """Share of training points without y_i f(x_i) > 0."""
    return float(np.mean(~(s.q > 0)))


@measure("test_error")
def test_error(s: Snapshot) -> float:
    """The share of points of the test set that get the wrong label."""
    if s.data.test is None:
        raise NotDefined("there is no test set")
    return float(np.mean(~(s.data.test.y * s.outputs(s.data.test.X) > 0)))


@measure("q_min")
def q_min(s: Snapshot) -> float:
    """Smallest output margin min_i y_i f(x_i)."""
    return float(s.q.min())


@measure("norm")
def norm(s: Snapshot) -> float:
    """‖θ‖ of the trained weights."""
    return s.norm


@measure("margin")
def margin(s: Snapshot) -> float:
    """Normalised margin γ = q_min/‖θ‖^L, sarussi2021 (4)."""
    return float(normalised(s.q.min(), np.asarray(s.norm), s.homogeneity))


@measure("smoothed_margin")
def smoothed_margin(s: Snapshot) -> float:
    """γ̃ of sarussi2021 (5), generalised to ‖θ‖^L; never above γ."""
    if not s.loss.has_exponential_tail:
        raise NotDefined("the loss has no exponential tail")
    smoothed = s.loss.margin_of_log_total(s.log_loss, s.data.n)
    return float(normalised(smoothed, np.asarray(s.norm), s.homogeneity))


def normalised(values: np.ndarray, norm: np.ndarray, homogeneity: int) -> np.ndarray:
    """values/‖θ‖^L, divided L times since ‖θ‖^L may overflow; NaN for the network 0."""
    norm = np.where(norm > 0, norm, np.nan)
    for _ in range(homogeneity):
        values = values / norm
    return values
