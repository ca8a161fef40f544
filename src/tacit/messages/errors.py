"""The one error that users see."""

from __future__ import annotations


class BadInput(ValueError):
    """Input a person can mend. The message is one line: what is wrong, where, what is right."""
