"""Which cores of which nodes running jobs hold, whatever partition they run in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from queuesmith.cluster.hostlist import expanded
from queuesmith.live.jobs import LiveJob


def spread(job: LiveJob, free: Mapping[str, int]) -> dict[str, int]:
    """Return the cores of a running job on each of its nodes: as evenly as there is room."""
    nodes = [node for node in expanded(job.node_list) if free.get(node, 0) > 0]
    sizes = {node: min(part(job.cores, len(nodes), i), free[node]) for i, node in enumerate(nodes)}
    missing = job.cores - sum(sizes.values())
    for node in nodes:
        more = min(missing, free[node] - sizes[node])
        sizes[node] += more
        missing -= more
    return {node: size for node, size in sizes.items() if size > 0}


def part(cores: int, nodes: int, number: int) -> int:
    """Return the cores of one node of a job: as evenly as can be, the first have more."""
    return cores // nodes + (number < cores % nodes)


def free_cores(jobs: Iterable[LiveJob], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the cores of each node that no running job holds."""
    free = dict(sizes)
    for job in sorted(jobs, key=lambda job: job.nodes):
        for node, size in spread(job, free).items():
            free[node] -= size
    return free
