"""What jobs run on: a number of identical processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from queuesmith.base.errors import ClusterError
from queuesmith.workload.workload import LARGEST_WIDTH

_NO_PRIORITIES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Cluster:
    """A machine of identical processors.

    Parameters
    ----------
    cores
        How many processors there are.
    name
        What messages and figures call the machine.
    partition_priority, qos_priority
        The priority of each partition (``PriorityJobFactor`` in slurm.conf) and of each
        quality of service, by name; only the ``multifactor`` order looks at them.
    """

    cores: int
    name: str = "cluster"
    partition_priority: Mapping[str, float] = field(default_factory=lambda: _NO_PRIORITIES)
    qos_priority: Mapping[str, float] = field(default_factory=lambda: _NO_PRIORITIES)

    def __post_init__(self) -> None:
        if isinstance(self.cores, bool) or int(self.cores) != self.cores:
            raise ClusterError(
                f"cluster '{self.name}' has {self.cores!r} cores, but a number of cores is whole. "
                "Give a whole number."
            )
        if not 1 <= self.cores <= LARGEST_WIDTH:
            raise ClusterError(
                f"cluster '{self.name}' has {self.cores} cores, but a cluster has between 1 and "
                f"{LARGEST_WIDTH:,}. Give the number of processors of the machine."
            )
        for kind in ("partition_priority", "qos_priority"):
            for label, priority in getattr(self, kind).items():
                if not 0 <= priority < float("inf"):
                    raise ClusterError(
                        f"{kind} of '{label}' is {priority}, but a priority is a number from 0 up. "
                        "Correct it."
                    )
