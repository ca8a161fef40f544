"""phuong2021."""

from __future__ import annotations

from tacit.papers.base import Paper

PAPER = Paper("phuong2021")
