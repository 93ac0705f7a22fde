"""Placements with a proof: searches, bounds, and the methods that join them.

``modes`` lists the ways in which each job can be spread; ``search`` and ``searchers`` look for
short plans with them, ``area_bound``, ``configuration_bound`` and ``provers`` for bounds; ``oas``
joins all of these. ``slots`` is the model of Blanco et al.
"""

from queuesmith.federation.exact.oas import solve_oas
from queuesmith.federation.exact.slots import best_in_slots, solve_slots

__all__ = ["best_in_slots", "solve_oas", "solve_slots"]
