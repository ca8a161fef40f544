"""Theorems of phuong2021."""

from __future__ import annotations

from tacit.theorems.base import Theorem

THEOREMS: tuple[type[Theorem], ...] = ()
