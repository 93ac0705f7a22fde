"""A small machine with places, for tests of schedules that are more than a pool of cores."""

from dataclasses import dataclass

import numpy as np

from queuesmith.cluster import Places
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.solving.status import Proof
from queuesmith.workload import Workload


@dataclass(frozen=True)
class Nodes:
    """Nodes of some cores each; it forbids what it is told to forbid."""

    sizes: tuple[int, ...] = (2, 2, 1)
    forbidden: str = ""
    name: str = "nodes"

    @property
    def cores(self):
        return sum(self.sizes)

    @property
    def places(self):
        return Places([f"n{i}" for i in range(len(self.sizes))], np.array(self.sizes))

    @property
    def measures(self):
        return {"peak_link_load": lambda schedule: 0.5}

    def violations(self, schedule):
        return [self.forbidden] if self.forbidden else []


JOBS = Workload(
    [0, 0, 1],
    [4, 3, 2],
    [4, 3, 2],
    [3, 2, 1],
    id=[0, 1, 2],
    labels={"id": ("a", "b", "c")},
    name="three",
)


def placed(machine=None, **changes):
    """Job a on two nodes, b after it on one of them, c beside it; real times."""
    pieces = {
        "job": [0, 0, 1, 2],
        "start": [0.0, 0.0, 4.5, 1.0],
        "end": [4.5, 4.5, 7.5, 3.25],
        "cores": [2, 1, 2, 1],
        "place": [0, 1, 0, 1],
    } | changes.pop("pieces", {})
    own = {
        "start": [0.0, 4.5, 1.0],
        "own_end": np.array([4.5, 7.5, 3.25]),
        "proof": Proof("makespan", 7.5, 6.0),
    }
    return Schedule(
        JOBS,
        machine or Nodes(),
        policy="by-hand",
        pieces=Pieces(**{key: np.array(value) for key, value in pieces.items()}),
        **own | changes,
    )
