"""Losses by name."""

import pytest

from tacit.models.losses import LOSSES, Hinge, parse_loss
from tacit.values import BadInput


@pytest.mark.parametrize("text", LOSSES)
def test_parse(text: str) -> None:
    assert parse_loss(text) == LOSSES[text]
    assert isinstance(hash(parse_loss(text)), int)


def test_parse_reads_the_confidence() -> None:
    assert parse_loss("hinge:5") == Hinge(5.0)
    assert parse_loss("hinge:1") == Hinge(1.0) != parse_loss("hinge")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("logistc", "did you mean 'logistic'"),
        ("logistic:summ", "did you mean 'logistic:sum'"),
        ("hing", "did you mean 'hinge'"),
        ("square", "there are: logistic"),
        ("", "there are: logistic"),
        ("hinge:", "G ≥ 1"),
        ("hinge:sum", "G ≥ 1"),
        ("hinge:0.5", "G ≥ 1"),
        ("hinge:nan", "G ≥ 1"),
        ("hinge:inf", "G ≥ 1"),
    ],
)
def test_parse_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        parse_loss(text)
