"""sarussi2021."""

from __future__ import annotations

from tacit.papers.base import Paper

PAPER = Paper("sarussi2021")
