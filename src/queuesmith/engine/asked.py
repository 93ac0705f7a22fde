"""What jobs ask nodes for, as orders see it: a row a field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from queuesmith.engine.kernels.queue import NOTHING_ASKED
from queuesmith.policy.function import PolicyFunction
from queuesmith.policy.view import ASKED_FIELDS
from queuesmith.workload import Workload
from queuesmith.workload.requests import partition_column
from queuesmith.workload.workload import Ints


def asked_by(workload: Workload, orders: Sequence[PolicyFunction]) -> NDArray[np.int64]:
    """Return what jobs ask for besides cores and time; nothing where no order looks at it."""
    if not any(order.reads & {*ASKED_FIELDS} for order in orders):
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
    table = np.stack(rows).astype(np.int64)
    table.setflags(write=False)
    return table


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
