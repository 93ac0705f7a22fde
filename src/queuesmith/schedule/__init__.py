"""Schedules: what ran when, whether that is feasible, and how good it is."""

from queuesmith.schedule.schedule import Schedule, history

__all__ = ["Schedule", "history"]
