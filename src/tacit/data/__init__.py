"""Data sets: generators by name, and files."""

from tacit.data import figure_sets as figures
from tacit.data import images, linear, orthogonal, symmetric, xor
from tacit.data.generators import GENERATORS, generate
from tacit.data.loading import load, takes_data

__all__ = ["GENERATORS", "generate", "load", "takes_data"]
