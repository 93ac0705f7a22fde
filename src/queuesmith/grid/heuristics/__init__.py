"""Quick mappings by a rule, such as Min-Min."""

from queuesmith.grid.heuristics.heuristics import HEURISTICS, heuristic_named, map_by_heuristic

__all__ = ["HEURISTICS", "heuristic_named", "map_by_heuristic"]
