"""Attacks on tacit: seeded random campaigns whose answers are checked by other means."""
