"""The one error that users see."""

from tacit.messages.text import printable


class BadInput(ValueError):
    """Input a person can mend. The message is one line: what is wrong, where, what is right."""

    def __str__(self) -> str:
        return printable(super().__str__())


def require(condition: bool, message: str) -> None:
    """Refuse what a person gave; the message says what that was and what would be right."""
    if not condition:
        raise BadInput(message)
