"""Off-line schedules: all jobs of a log are known, and inserted one after another where they fit.

Each job, in a given order, gets the earliest room at or after its submission, beside those that
were inserted before it. So a job late in the order never delays one before it, although it may have
been submitted months earlier: that is what no on-line scheduler can do. For every measure that
grows with the ends of jobs, some order gives a best schedule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import Cluster
from queuesmith.learning.kernels.insertion import empty_profile, insert_all
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload


def insert_jobs(
    workload: Workload, cluster: Cluster, order: NDArray[np.int64], name: str
) -> Schedule:
    """Return the schedule that comes of inserting jobs in an order.

    Parameters
    ----------
    workload, cluster
        The jobs, each of which fits the machine, and the machine.
    order
        Places of the jobs in the workload, the one inserted first in front.
    name
        What the schedule is called.
    """
    profile = empty_profile(len(workload), cluster.cores)
    start = np.empty(len(workload), np.int64)
    insert_all(
        profile,
        workload.submit,
        np.maximum(workload.runtime, 1),  # a job holds its cores for a second at least
        workload.cores,
        np.ascontiguousarray(order, dtype=np.int64),
        start,
    )
    return Schedule(workload, cluster, start, name)
