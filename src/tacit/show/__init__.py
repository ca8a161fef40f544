"""What a person sees in the terminal, and the same as JSON."""

from tacit.show.certificates import (
    best,
    best_as_json,
    bounds_progress,
    certificates,
    certificates_as_json,
    verdict,
    verdict_as_json,
)
from tacit.show.explain import (
    explanation,
    explanation_as_json,
    explanation_files,
    predictions,
    predictions_as_json,
    refuted,
)
from tacit.show.geometry import geometry, geometry_as_json
from tacit.show.limit import limit, limit_as_json, limit_progress
from tacit.show.lists import items, table_of_items
from tacit.show.papers import reproduced, reproduction_progress
from tacit.show.run import progress, run
from tacit.show.sweep import sweep_progress, swept
