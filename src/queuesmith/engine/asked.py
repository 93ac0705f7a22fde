"""What only some logs tell of jobs, as orders see it: a row a field.

The first rows are what jobs ask nodes for, as whole numbers. Those after them are columns that the
log has of its own; they hold the bits of real numbers, so that one table serves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from keyword import iskeyword

import numpy as np
from numpy.typing import NDArray

from queuesmith.engine.kernels.queue import NOTHING_ASKED
from queuesmith.policy.function import PolicyFunction
from queuesmith.policy.view import ASKED_FIELDS, Job
from queuesmith.workload import Workload
from queuesmith.workload.requests import partition_column
from queuesmith.workload.workload import Ints

#: Columns that a scheduler cannot know: how a job went.
HINDSIGHT = (
    *("real_start", "start", "end", "wait", "status", "state", "attempt", "node_list"),
    "cancelled_after",
    *("allocated_cores", "allocated_memory", "allocated_gpus", "cpu_time", "used_memory"),
)


def asked_by(workload: Workload, orders: Sequence[PolicyFunction]) -> NDArray[np.int64]:
    """Return what jobs ask for besides cores and time; nothing where no order looks at it."""
    own = own_columns(workload, orders)
    if not own and not any(order.reads & {*ASKED_FIELDS} for order in orders):
        return NOTHING_ASKED
    nodes = np.maximum(_first_known(workload, "requested_nodes", "nodes"), 1)
    rows = (
        nodes,
        _in_all(workload, "memory", nodes),
        _in_all(workload, "gpus", nodes),
        _first_known(workload, partition_column(workload)),
        _first_known(workload, "qos"),
        _first_known(workload, "account"),
    )
    bits = [workload.extra[name].astype(np.float64).view(np.int64) for name in own]
    table = np.stack([*rows, *bits]).astype(np.int64)
    table.setflags(write=False)
    return table


def own_columns(workload: Workload, orders: Sequence[PolicyFunction]) -> tuple[str, ...]:
    """Return the columns of the log's own that one of the orders looks at."""
    read = frozenset[str]().union(*(order.reads for order in orders))
    return tuple(name for name in visible_columns(workload) if name in read)


def visible_columns(workload: Workload) -> list[str]:
    """Return the columns that only this log has and a scheduler knows before a job has begun."""
    hidden = {*Job._fields, *HINDSIGHT}
    return sorted(
        name
        for name, values in workload.extra.items()
        if name not in hidden
        and name.isidentifier()
        and not (iskeyword(name) or name.startswith("_"))
        and values.dtype.kind in "biuf"
    )


def _first_known(workload: Workload, *columns: str) -> Ints:
    """Return the first of these columns that knows each job, -1 where none does."""
    found = np.full(len(workload), -1, np.int64)
    for column in columns:
        if column in workload.extra:
            found = np.where(found >= 0, found, workload.extra[column].astype(np.int64))
    return found


def _in_all(workload: Workload, what: str, nodes: Ints) -> Ints:
    """Return an amount of a whole job, stated as such, by the node or by the core; 0: unknown."""
    whole = _first_known(workload, what)
    by_node = _first_known(workload, f"{what}_per_node")
    by_core = _first_known(workload, f"{what}_per_core")
    known = np.where(by_node > 0, by_node * nodes, by_core * workload.cores)
    return np.maximum(np.where(whole > 0, whole, known), 0)
