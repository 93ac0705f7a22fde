"""Quick ways to place a queue: the heuristics of the literature, and one for large queues."""

from queuesmith.federation.heuristics.heuristics import (
    ALLOCATIONS,
    HEURISTICS,
    place_by_heuristic,
)
from queuesmith.federation.heuristics.large_queue import place_by_prices

__all__ = ["ALLOCATIONS", "HEURISTICS", "place_by_heuristic", "place_by_prices"]
