"""Instances: how long each job takes on each machine. Files, generators, description."""

from queuesmith.grid.etc.describe import EtcDescription, describe
from queuesmith.grid.etc.files import from_work, read_etc, read_work, write_etc
from queuesmith.grid.etc.generate import RangeModel, VariationModel, generate_etc
from queuesmith.grid.etc.mapping import machine_of, mapped, mapping_facts
from queuesmith.grid.etc.mapping_files import read_mapping, read_solution, write_mapping
from queuesmith.grid.etc.matrix import EtcMatrix

__all__ = [
    "EtcDescription",
    "EtcMatrix",
    "RangeModel",
    "VariationModel",
    "describe",
    "from_work",
    "generate_etc",
    "machine_of",
    "mapped",
    "mapping_facts",
    "read_etc",
    "read_mapping",
    "read_solution",
    "read_work",
    "write_etc",
    "write_mapping",
]
