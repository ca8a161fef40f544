"""One self-contained page about a data set."""

from tacit.report.page import page

__all__ = ["page"]
