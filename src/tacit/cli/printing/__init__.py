"""What a person sees in the terminal, and the same as JSON."""

from tacit.cli.printing.explain import (
    explanation,
    explanation_as_json,
    explanation_files,
    predictions,
    predictions_as_json,
    refuted,
)
from tacit.cli.printing.sweep import sweep_progress, swept
