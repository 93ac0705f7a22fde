"""Tuning: policies that are learned for an objective, and judged on jobs they did not see."""

from queuesmith.tuning.result import Tuned
from queuesmith.tuning.tune import tune

__all__ = ["Tuned", "tune"]
