"""One self-contained page about a network that was probed."""

from tacit.probing.report.page import page

__all__ = ["page"]
