"""When jobs can start that name a reservation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from queuesmith.cluster.node_arrays import reservations
from queuesmith.cluster.requests import JobRequests
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster


def reservation_numbers(machine: NodeCluster) -> Ints:
    """Return the number of the reservation that each outage is for, -1: none."""
    numbers = {name: i for i, name in enumerate(reservations(machine))}
    return np.array([numbers.get(each.reservation, -1) for each in machine.outages], np.int64)


def from_reservations(workload: Workload, machine: NodeCluster, requests: JobRequests) -> Ints:
    """Return when each job can start: not before its reservation begins."""
    eligible = requests.eligible
    for number, outage in zip(reservation_numbers(machine), machine.outages, strict=True):
        if number >= 0 and outage.begin is not None:
            begin = outage.begin - (workload.epoch or 0)
            own = requests.reservation == number
            eligible = np.where(own, np.maximum(eligible, begin), eligible)
    return eligible
