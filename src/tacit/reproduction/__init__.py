"""The papers' figures and tables, made again: `tacit reproduce KEY:ID`."""

from tacit.reproduction.listing import artefacts as artefacts
from tacit.reproduction.listing import catalogue as catalogue
from tacit.reproduction.reproductions import Reproduction as Reproduction
from tacit.reproduction.reproductions import reproduce as reproduce
