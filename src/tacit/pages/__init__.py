"""What the HTML pages have in common: how templates are filled, one stylesheet, numbers."""

from tacit.pages.templates import number, render

__all__ = ["number", "render"]
