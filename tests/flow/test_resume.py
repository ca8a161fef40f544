"""A path that was cut is followed further, and comes to where it would have come."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import refused
from tacit.flow import Limit, limit
from tacit.values import BadInput, Setting, saved_form

CUT = {"log10_loss": -1000.0, "seconds": 1e-3}


@pytest.fixture
def setting():
    return Setting(width=20)


def test_a_path_that_was_cut_comes_to_its_limit_from_disk_too(tmp_path, setting):
    whole = limit("xor", setting)
    cut = limit("xor", setting, **CUT)
    assert cut.outcome == "undecided" and cut.path.out_of_time
    cut.save(tmp_path / "cut")
    for earlier in (cut, Limit.load(tmp_path / "cut")):
        after = limit(cut.data, resume=earlier)
        assert after.outcome == whole.outcome
        assert after.setting == cut.setting and after.seed == cut.seed
        assert after.path.steps > cut.path.steps
        assert after.path.moments[0].log_L == cut.path.moments[0].log_L
        np.testing.assert_allclose(after.margin, whole.margin, rtol=1e-6)
        assert sorted(len(group.members) for group in after.groups) == sorted(
            len(group.members) for group in whole.groups
        )


def test_of_several_classes_the_open_ones_are_followed_further(setting):
    cut = limit("orthogonal_classes:n=6,d=3", setting, **CUT)
    assert all(one.outcome == "undecided" for one in cut)
    after = limit(cut.data, resume=cut)
    assert all(one.outcome != "undecided" for one in after)


def test_nothing_is_resumed_where_nothing_is_open(setting):
    end = limit("xor", setting)
    with pytest.raises(BadInput, match="there is nothing to resume: the outcome is"):
        limit(end.data, resume=end)
    with pytest.raises(BadInput, match="`resume` keeps the setting and the start"):
        limit(end.data, setting, resume=end)


def test_other_data_is_not_what_is_resumed(setting):
    """The path would go on with the old points, and be judged by the new ones."""
    for text, other in (
        ("xor", "orthogonal:n=4,d=2"),
        ("orthogonal_classes:n=6,d=3", "orthogonal_classes:n=9,d=3"),
    ):
        cut = limit(text, setting, **CUT)
        with pytest.raises(BadInput, match="give the same points and labels again"):
            limit(other, resume=cut)


def test_arrays_of_wide_networks_stand_beside_the_json(tmp_path, monkeypatch) -> None:
    """Two million neurons made a JSON file that was too long to be read again."""
    monkeypatch.setattr(saved_form, "FEW_BYTES", 0)
    end = limit("wang2022_f1", Setting(width=6))
    end.save(tmp_path / "end")
    text = (tmp_path / "end" / "limit.json").read_text()
    assert '"array"' not in text and 'cosines": [' not in text
    again = Limit.load(tmp_path / "end")
    assert again.to_dict() == end.to_dict()
    assert np.array_equal(again.path.last.state.W, end.path.last.state.W)
    (tmp_path / "end" / "limit.json").write_text(text.replace('"stored.', '"stored.9'))
    refused(lambda: Limit.load(tmp_path / "end"), "an array is not right")
