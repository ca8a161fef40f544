"""Where the figures of lyu2021 register themselves."""

from tacit.reproduction.artefact import Paper

PAPER = Paper("lyu2021")
