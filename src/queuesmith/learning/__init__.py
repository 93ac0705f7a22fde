"""Tuning: policies that are learned for an objective, and judged on jobs they did not see."""

from queuesmith.learning.result import Tuned
from queuesmith.learning.tune import tune

__all__ = ["Tuned", "tune"]
