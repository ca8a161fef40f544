"""One self-contained page about a data set."""

from tacit.explanation.report.page import page

__all__ = ["page"]
