"""Grids: independent jobs on heterogeneous machines."""

from queuesmith.grid.etc.matrix import EtcMatrix
from queuesmith.grid.mapping import Mapping

__all__ = ["EtcMatrix", "Mapping"]
