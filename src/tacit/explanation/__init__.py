"""Check, predict, limit and certify as one result."""

from tacit.explanation.explanation import Explanation, Part, explain
from tacit.explanation.predictions import Predictions, predict

__all__ = ["Explanation", "Part", "Predictions", "explain", "predict"]
