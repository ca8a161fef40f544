"""Data sets: generators by name, and files."""

from tacit.data import figures, images, linear, orthogonal, symmetric, xor
from tacit.data._registry import GENERATORS, generate
from tacit.data.load import load

__all__ = ["GENERATORS", "generate", "load"]
