"""Kits by which users test their own policies, and the twin that says what is right."""

from queuesmith.testing.policy import check_policy
from queuesmith.testing.slowly import simulate_slowly

__all__ = ["check_policy", "simulate_slowly"]
