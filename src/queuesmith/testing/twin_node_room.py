"""What the twins on nodes know of nodes and jobs: who holds what, and what room is left.

What is free on a node is counted afresh, from the jobs, at every instant that anybody asks about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.node_arrays import node_arrays
from queuesmith.cluster.requests import job_requests
from queuesmith.cluster.reserved import from_reservations, reservation_numbers
from queuesmith.engine.cancelled import cancel_times
from queuesmith.testing.twin import Task, tasks_of
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import predecessors

NEVER = 2**62


class Part(NamedTuple):
    """A part of a job on one node."""

    node: int
    cores: int
    gpus: tuple[int, ...]


class Away(NamedTuple):
    """A time during which nodes are out, or for the jobs of a reservation alone."""

    nodes: set[int]
    begin: int
    end: int
    planned: bool
    reservation: int


@dataclass(eq=False)
class NodeTask(Task):
    """One job on its way through the nodes."""

    eligible: int = 0
    after: NodeTask | None = None
    think: int = 0
    cancelled: int = NEVER  # when its user cancels it
    parts: list[Part] = field(default_factory=list)

    def holds_at(self, time: int) -> bool:
        """Tell whether it holds its nodes at an instant, as far as a scheduler can know."""
        begin = self.start if self.start is not None else self.reserved
        return begin is not None and begin <= time < begin + self.walltime


class Nodes:
    """The machine as arrays, what its jobs ask for, and what is left of it."""

    def __init__(self, workload: Workload, machine: NodeCluster) -> None:
        self.machine = machine
        self.arrays = node_arrays(machine)
        self.asks = job_requests(workload, machine)
        self.limits = LimitTable(workload, machine, self.asks)
        self.user = workload.user
        epoch = workload.epoch or 0
        self.outages = [
            Away(
                {machine.node_index[n] for n in outage.nodes or machine.node_names},
                -NEVER if outage.begin is None else outage.begin - epoch,
                NEVER if outage.end is None else outage.end - epoch,
                outage.planned,
                number,
            )
            for outage, number in zip(
                machine.outages, reservation_numbers(machine).tolist(), strict=True
            )
        ]

    def held_cores(self, task: NodeTask, part: Part) -> int:
        """Return the cores of a node that a job holds, those it did not ask for included."""
        if self.asks.exclusive[task.place] == 1:
            return int(self.arrays.cores[part.node])
        return part.cores + -part.cores % int(self.arrays.threads_per_core[part.node])

    def held_memory(self, task: NodeTask, part: Part) -> int:
        """Return the memory of a node that a job holds."""
        job = task.place
        if self.asks.whole_memory[job]:
            return int(self.arrays.memory[part.node])
        per_core = int(self.asks.memory_per_core[job])
        return per_core * part.cores if per_core > 0 else int(self.asks.memory_per_node[job])

    def per_node(self, task: NodeTask) -> int:
        """Return the cores that a job must have on each of its nodes, 0 where it does not care."""
        asks, job = self.asks, task.place
        only_one = asks.most_nodes[job] == 1 and asks.least_nodes[job] <= 1
        return task.cores if only_one else int(self.asks.cores_per_node[task.place])

    def least(self, task: NodeTask) -> int:
        """Return the least number of nodes of a job."""
        part = self.per_node(task)
        least = min(int(self.asks.least_nodes[task.place]), task.cores)
        return max(least, -(-task.cores // part) if part else 1)

    def most(self, task: NodeTask) -> int:
        """Return the greatest number of nodes of a job."""
        most = int(self.asks.most_nodes[task.place])
        return max(most, self.least(task)) if most else len(self.arrays.cores)

    def may_use(self, task: NodeTask) -> list[int]:
        """Return the nodes that a job may use, whether they are there or not."""
        return [int(n) for n in np.flatnonzero(self.asks.node_sets[self.asks.node_set[task.place]])]

    def is_there(self, task: NodeTask, node: int, now: int, begin: int, end: int) -> bool:
        """Tell whether a node is there for a job for so long, as far as one knows by now.

        Until its reservation is over, a job is on its nodes and ends in time.
        """
        own = self.asks.reservation[task.place]
        for away in self.outages:
            if own >= 0 and away.reservation == own:
                if begin < away.end and (node not in away.nodes or end > away.end):
                    return False
            elif not (away.planned or away.begin <= now):
                continue  # nobody knows of it
            elif node in away.nodes and away.begin < end and away.end > begin:
                return False
        return True

    def room(
        self, task: NodeTask, node: int, instants: Iterable[int], others: Sequence[NodeTask]
    ) -> int:
        """Return the cores of a node that a job could have at all those instants."""
        job, asks = task.place, self.asks
        cores, memory = int(self.arrays.cores[node]), int(self.arrays.memory[node])
        gpus = [int(count) for count in self.arrays.gpus[node]]
        for time in instants:
            there = [(t, p) for t in others if t.holds_at(time) for p in t.parts if p.node == node]
            if not self._may_share(task, [t for t, _ in there]):
                return 0
            held = sum(self.held_cores(t, p) for t, p in there)
            cores = min(cores, int(self.arrays.cores[node]) - held)
            taken = sum(self.held_memory(t, p) for t, p in there)
            memory = min(memory, int(self.arrays.memory[node]) - taken)
            for kind, has in enumerate(self.arrays.gpus[node]):
                gpus[kind] = min(gpus[kind], int(has) - sum(p.gpus[kind] for _, p in there))
        wanted = asks.gpu_type[job]
        fitting = sum(n for kind, n in enumerate(gpus) if wanted in (-1, kind))
        if memory < asks.memory_per_node[job] or fitting < asks.gpus_per_node[job]:
            return 0
        if asks.whole_memory[job] and memory < self.arrays.memory[node]:
            return 0
        cores -= cores % int(self.arrays.threads_per_core[node])
        if asks.memory_per_core[job] > 0:
            cores = min(cores, memory // int(asks.memory_per_core[job]))
        cores -= cores % int(asks.cores_per_task[job])
        part = self.per_node(task)
        if part:
            return part if cores >= part else 0
        return max(cores, 0)

    def _may_share(self, task: NodeTask, others: Sequence[NodeTask]) -> bool:
        exclusive, user = self.asks.exclusive, self.user
        if exclusive[task.place] == 1:
            return not others
        owners = {int(user[t.place]) for t in others if exclusive[t.place] == 2}
        if owners - {int(user[task.place])}:
            return False
        return exclusive[task.place] != 2 or not others or bool(owners)


def node_tasks(workload: Workload, machine: NodeCluster) -> list[NodeTask]:
    """Return the jobs of a workload, ready to be replayed on nodes."""
    asks = job_requests(workload, machine)
    eligible = from_reservations(workload, machine, asks)
    after, think = predecessors(workload)
    cancelled = cancel_times(workload).tolist()
    tasks = [
        NodeTask(
            **vars(task),
            eligible=int(eligible[i]),
            think=int(think[i]),
            cancelled=cancelled[i],
        )
        for i, task in enumerate(tasks_of(workload, machine))  # type: ignore[arg-type]
    ]
    for task, before in zip(tasks, after, strict=True):
        task.after = tasks[before] if before >= 0 else None
    return tasks
