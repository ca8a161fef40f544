"""What people read when something is wrong: the one error they see, and words for it."""

from tacit.messages.errors import BadInput, require
from tacit.messages.text import (
    count,
    harmless,
    near_miss,
    number_text,
    outward,
    percent_below,
    printable,
)

__all__ = ["BadInput", "count", "harmless", "near_miss", "number_text", "outward"]
__all__ += ["percent_below", "printable", "require"]
