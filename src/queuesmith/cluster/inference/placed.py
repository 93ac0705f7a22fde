"""Jobs bound to nodes like those that they really ran on, for logs that forget constraints."""

from __future__ import annotations

from queuesmith.base.errors import WorkloadError
from queuesmith.cluster.hostlist import expanded
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.workload import Workload
from queuesmith.workload.requests import label_texts
from queuesmith.workload.table_columns import coded

EXCLUDED, WHERE = "excluded_nodes", "node_list"


def as_placed(workload: Workload, machine: NodeCluster) -> Workload:
    """Return a log in which each job excludes the kinds of nodes that it did not run on.

    Accounting without ``Constraints`` does not tell which jobs were bound to some nodes; where they
    ran tells it in part. A job that could have run anywhere is bound, too, so a replay agrees with
    history better than one that knows what was asked for and no more. Jobs of which no node is
    known, or one that the machine has not, stay as they are.

    Parameters
    ----------
    workload
        Jobs with the column ``node_list``.
    machine
        The nodes that they ran on.
    """
    if WHERE not in workload.extra:
        raise WorkloadError(
            f"the log '{workload.name}' does not tell on which nodes its jobs ran, so they cannot "
            "be placed as they were. Export NodeList, or leave --as-placed out."
        )
    lists = _texts(workload, WHERE)
    closed = {text: _others(text, machine) for text in set(lists)}
    both = zip(_texts(workload, EXCLUDED), (closed[text] for text in lists), strict=True)
    codes, names = coded([",".join(filter(None, pair)) for pair in both])
    return workload.replaced(
        extra={**workload.extra, EXCLUDED: codes}, labels={**workload.labels, EXCLUDED: names}
    )


def _texts(workload: Workload, column: str) -> list[str]:
    if column not in workload.extra:
        return [""] * len(workload)
    return list(label_texts(workload.extra[column], workload.labels.get(column, ())))


def _others(text: str, machine: NodeCluster) -> str:
    """Return the nodes of all kinds of which none is in a list of nodes."""
    own = set(expanded(text)) if text else set()
    if not own or not own <= machine.node_index.keys():
        return ""
    return ",".join(
        node for kind in machine.kinds if not own & set(kind.nodes) for node in kind.nodes
    )
