"""Tables come out as pandas frames, and frames go in."""

from __future__ import annotations

import numpy as np
import pandas as pd

import tacit


def test_a_frame_goes_in_and_frames_come_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2)) + np.repeat([[3.0, 3.0], [-3.0, -3.0]], 6, axis=0)
    frame = pd.DataFrame(X, columns=["height", "weight"])
    data = tacit.load(frame, pd.Series(["cat"] * 6 + ["dog"] * 6))
    assert data.columns == ("height", "weight") and data.names == {-1: "cat", 1: "dog"}
    properties = tacit.check(data).to_frame()
    assert isinstance(properties, pd.DataFrame) and len(properties) > 10
    run = tacit.train(data, tacit.Setting(width=4), epochs=20, seeds=(0, 1))
    measures = run.to_frame()
    assert set(measures["seed"]) == {0, 1} and {"epoch", "margin"} <= set(measures.columns)
    assert np.isfinite(measures["log_loss"]).all()
    predictions = tacit.predict(data, only=("phuong2021:thm1",)).to_frame()
    assert isinstance(predictions, pd.DataFrame) and len(predictions) == 1
    limit = tacit.limit(data, tacit.Setting(width=4))
    assert isinstance(limit.to_frame(), pd.DataFrame)
