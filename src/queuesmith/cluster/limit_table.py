"""All limits as a table: who is counted together, and the most of each thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from queuesmith.cluster.licenses import job_licenses, machine_licenses
from queuesmith.cluster.limits import Amounts, Limits, inherited, share_tree
from queuesmith.cluster.requests import JobRequests
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster

#: More than anything that is counted.
ENDLESS = 2**62
#: What limits of QOS and associations count, in the order of the columns.
COUNTED = ("cores", "nodes", "MB of memory", "GPUs", "jobs")


def counted_amounts(requests: JobRequests) -> Ints:
    """Return what each job counts in limits: cores, nodes, memory, GPUs, jobs."""
    memory = np.where(
        requests.memory_per_core > 0,
        requests.memory_per_core * requests.cores,
        requests.memory_per_node * requests.least_nodes,
    )
    gpus = requests.gpus_per_node * requests.least_nodes
    jobs = np.ones_like(requests.cores)
    return np.stack([requests.cores, requests.least_nodes, memory, gpus, jobs], axis=1)


class LimitTable:
    """All that jobs hold together up to a limit, each with who is counted together.

    These are the limits of QOS and associations, the tasks of an array that may run at once, and
    the licenses of the machine.

    Attributes
    ----------
    counted
        What is counted, in the order of the columns.
    most
        The most of each thing, one row a limit.
    first, of_jobs
        The limits of each job: from where to where they stand, and their rows.
    amounts
        What each job counts.
    """

    def __init__(self, workload: Workload, machine: NodeCluster, requests: JobRequests) -> None:
        licenses = machine_licenses(machine)
        self.counted = (*COUNTED, *(f"licenses of {name}" for name in licenses))
        held = job_licenses(workload, licenses)
        self.amounts = np.concatenate([counted_amounts(requests), held], axis=1)
        self._rows: dict[tuple[Any, ...], int] = {}
        self._most: list[list[int]] = []
        lists: list[list[int]] = [[]] * len(workload)
        if machine.enforces_limits:
            lists = self._of_all(workload, machine, requests)
        lists = self._with_arrays(workload, lists)
        if licenses:
            lists = self._with_licenses(lists, held, list(licenses.values()))
        self.first = np.concatenate([[0], np.cumsum([len(each) for each in lists])])
        self.of_jobs = np.array([row for each in lists for row in each], np.int64)
        self.most: Ints = np.array(self._most, np.int64).reshape(-1, len(self.counted))

    def _with_arrays(self, workload: Workload, lists: list[list[int]]) -> list[list[int]]:
        """Return the limits of jobs with that of the array that they are tasks of."""
        unknown = np.full(len(workload), -1, np.int64)
        array, most = (workload.extra.get(name, unknown) for name in ("array", "array_limit"))
        lists = list(lists)
        for job in np.flatnonzero((array >= 0) & (most > 0)):
            key = ("array", int(array[job]))
            lists[job] = [*lists[job], *self._row(key, Amounts(jobs=int(most[job])))]
        return lists

    def _with_licenses(
        self, lists: list[list[int]], held: Ints, most: list[int]
    ) -> list[list[int]]:
        """Return the limits of jobs with that of all licenses, where they need some."""
        row = len(self._most)
        self._most.append([*[ENDLESS] * len(COUNTED), *most])
        need = held.sum(axis=1).tolist()
        return [[*each, row] if some else each for each, some in zip(lists, need, strict=True)]

    def _of_all(
        self, workload: Workload, machine: NodeCluster, requests: JobRequests
    ) -> list[list[int]]:
        links = inherited(machine.associations) if machine.associations else ()
        parent = share_tree(machine.associations).parent if links else np.zeros(0, np.int64)
        qos_number = {qos.name: i for i, qos in enumerate(machine.qos)}
        known: dict[tuple[int, ...], list[int]] = {}
        keys = (requests.qos, requests.association, requests.partition, workload.user)
        lists = []
        for key in zip(*(column.tolist() for column in keys), strict=True):
            if key not in known:
                qos, link, partition, user = key
                rows: list[int] = []
                named = machine.partitions[partition].qos if partition >= 0 else None
                both = dict.fromkeys([qos, qos_number.get(named or "", -1)])
                account = links[link].account if link >= 0 else ""
                for number in (each for each in both if each >= 0):
                    held = machine.qos[number].limits
                    rows += self._of_limits(("qos", number), held, user, account)
                above = link
                if link >= 0:
                    rows += self._row(("user of", link), links[link].limits.user)
                while above >= 0:
                    rows += self._row(("group", above), links[above].limits.group)
                    above = int(parent[above])
                known[key] = rows
            lists.append(known[key])
        return lists

    def _of_limits(
        self, key: tuple[Any, ...], limits: Limits, user: int, account: str
    ) -> Iterator[int]:
        yield from self._row((*key, "group"), limits.group)
        yield from self._row((*key, "user", user), limits.user)
        yield from self._row((*key, "account", account), limits.account)

    def _row(self, key: tuple[Any, ...], amounts: Amounts) -> list[int]:
        values = [amounts.cores, amounts.nodes, amounts.memory, amounts.gpus, amounts.jobs]
        if all(value is None for value in values):
            return []
        if key not in self._rows:
            self._rows[key] = len(self._most)
            more = len(self.counted) - len(COUNTED)
            self._most.append([ENDLESS if value is None else value for value in values])
            self._most[-1] += [ENDLESS] * more
        return [self._rows[key]]
