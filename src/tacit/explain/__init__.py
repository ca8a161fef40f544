"""Check, predict, limit and certify as one result."""

from tacit.explain.explain import Explanation, Part, explain
from tacit.explain.predict import Predictions, predict

__all__ = ["Explanation", "Part", "Predictions", "explain", "predict"]
