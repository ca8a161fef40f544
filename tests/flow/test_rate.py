"""The rate that the limit predicts is the slope of the deep path."""

import numpy as np
import pytest

from helpers import rest_long
from tacit.data import load
from tacit.flow import limit
from tacit.flow.evidence import _falls
from tacit.flow.rate import predicted_rate
from tacit.values import Setting

CASES = {
    "two groups": ("lyu2021_appJ:n=10,d=50,seed=3", Setting(activation="leaky:0.5", width=20)),
    "another slope": ("lyu2021_appJ:n=12,d=30,seed=1", Setting(activation="leaky:0.2", width=20)),
    "frozen parts": ("wang2022_f1", Setting(width=10, init="balanced:1e-3")),
    "fixed output": ("gaussians:n=20,d=4", Setting(activation="leaky:0.5", train="first", width=8)),
}


@pytest.mark.parametrize("name", rest_long(CASES, CASES.keys() - {"another slope"}))
def test_the_predicted_rate_is_the_slope_of_the_deep_path(name):
    text, setting = CASES[name]
    end = limit(load(text), setting, log10_loss=-1e6)
    assert end.outcome.settled
    depth, angle = -end.approach[:, 0], end.approach[:, 1]
    late = depth > depth[-1] / 10
    slope = -np.polyfit(np.log(depth[late]), np.log(angle[late]), 1)[0]
    assert slope == pytest.approx(predicted_rate(end), abs=0.01)
    assert end.rate == pytest.approx(predicted_rate(end), abs=0.02)


@pytest.mark.parametrize(
    ("angles", "depths", "falls"),
    [
        ([2e-2, 1.6e-2, 5.3e-6, 5.3e-6], [3, 7, 74, 450], True),  # rescaled weights at rest
        ([2e-2, 1.6e-2, 5.3e-6, 5.3e-6], [3, 7, 20, 50], False),  # not so deep that they rest
        ([2e-2, 5.3e-5, 5.3e-6, 5.3e-6], [3, 4.5, 74, 450], True),
        ([2e-2, 2e-5, 5.3e-6, 5.3e-6], [3, 7, 74, 450], False),  # came near before patterns changed
        ([2e-2, 1.6e-2, 2e-3, 2e-3], [3, 7, 74, 450], False),  # too far to be at rest
        ([2e-2, 2e-2, 2e-2, 2e-2], [3, 7, 74, 450], False),
        ([2e-2, 1.6e-2, 5e-3, 4e-3], [3, 4, 5, 6], True),
    ],
)
def test_what_counts_as_coming_nearer(angles, depths, falls):
    assert _falls(np.column_stack([np.zeros(4), angles, depths])) == falls
