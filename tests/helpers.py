"""What several tests use."""

import pytest

from tacit._types import BadInput


def refused(call: object, *words: str) -> str:
    """The one line with which `call` is refused; it holds all the words."""
    with pytest.raises(BadInput) as caught:
        call()  # type: ignore[operator]
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line
    return line
