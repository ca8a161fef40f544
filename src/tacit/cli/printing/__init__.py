"""What a person sees in the terminal, and the same as JSON."""

from tacit.cli.printing.sweep import sweep_progress, swept
