"""brutzkus2019."""

from __future__ import annotations

from tacit.papers.base import Paper

PAPER = Paper("brutzkus2019")
