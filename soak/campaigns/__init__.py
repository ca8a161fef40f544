"""One campaign in each file: `attack(case)` runs a case and raises `Failure` for what is wrong."""

CAMPAIGNS = (
    "optimum",
    "first_layer",
    "limit",
    "explain",
    "extremes",
    "check",
    "proofs",
    "files",
    "interrupts",
    "sweeps",
)
"""In the order of the table."""
