"""Studies: many replays at once."""

from queuesmith.study.runner import simulate_many

__all__ = ["simulate_many"]
