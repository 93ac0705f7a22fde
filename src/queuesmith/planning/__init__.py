"""Optimal planning: the best schedule of one planning step, with what is proven about it."""

from queuesmith.planning.snapshot import Snapshot

__all__ = ["Snapshot"]
