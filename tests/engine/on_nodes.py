"""Jobs that ask for nodes, and where a schedule put them."""

import numpy as np

from queuesmith import Workload


def jobs(*rows, **extra):
    """Make jobs of (submit, runtime, walltime, cores)."""
    labels = {name: tuple(sorted(set(v))) for name, v in extra.items() if isinstance(v[0], str)}
    columns = {
        name: np.array([labels[name].index(x) for x in v] if name in labels else v, np.int64)
        for name, v in extra.items()
    }
    return Workload(*np.array(rows, np.int64).T, extra=columns, labels=labels)


def places(schedule):
    """Return the names of the nodes of each job."""
    found = [[] for _ in range(len(schedule))]
    names = schedule.cluster.node_names
    for job, place in zip(schedule.pieces.job, schedule.pieces.place, strict=True):
        found[job].append(names[place])
    return [sorted(each) for each in found]
