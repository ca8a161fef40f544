"""Outcomes and statuses: words of a fixed list, each with the sentence that explains it."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """A word with its sentence; JSON and comparisons see the word.

    Examples
    --------
    >>> class Light(Status):
    ...     RED = "red", "Stop."
    >>> Light.RED == "red", Light.RED.sentence
    (True, 'Stop.')
    """

    sentence: str

    def __new__(cls, word: str, sentence: str = "") -> Status:
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        return member
