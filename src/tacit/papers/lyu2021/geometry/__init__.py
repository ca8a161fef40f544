"""The assumptions on the data that lyu2021 makes."""

from tacit.papers.lyu2021.geometry import assumptions, one_sided

__all__ = ["assumptions", "one_sided"]
