"""The nodes of Slurm's twin: where a job has room, which nodes it gets, which are away."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from queuesmith.cluster import NodeCluster, Outage
from queuesmith.cluster.node_arrays import node_arrays
from queuesmith.cluster.requests import job_requests
from queuesmith.cluster.reserved import reservation_numbers
from queuesmith.engine.slurm_nodes import by_name
from queuesmith.workload import Workload

Nodes = dict[int, tuple[int, int, list[int]]]  # free cores, memory and GPUs of each node


@dataclass(eq=False)
class NodeTask:
    """One job on its way through the machine."""

    place: int
    priority: int = 0
    start: int | None = None
    given: dict[int, tuple[int, int, list[int]]] = field(default_factory=dict)  # what it holds


class SlurmNodesTwin:
    """What jobs ask of nodes, and what is free there."""

    def __init__(self, workload: Workload, machine: NodeCluster) -> None:
        self.workload, self.machine = workload, machine
        self.requests, self.nodes = job_requests(workload, machine), node_arrays(machine)
        self.reserved = reservation_numbers(machine).tolist()
        # Nodes are known by their place among the names, as Slurm sorts them.
        self.order = by_name(machine).tolist()
        self.free: Nodes = {
            n: (int(self.nodes.cores[i]), int(self.nodes.memory[i]), self.nodes.gpus[i].tolist())
            for n, i in enumerate(self.order)
        }
        self.leaf = self._leaves()

    def _leaves(self) -> dict[int, int] | None:
        switches = [switch for switch in self.machine.switches if switch.nodes]
        if "tree" not in self.machine.settings.get("TopologyPlugin", "") or not switches:
            return None
        names = [self.machine.node_names[i] for i in self.order]
        members = sorted(sorted(names.index(node) for node in s.nodes) for s in switches)
        return {node: number for number, nodes in enumerate(members) for node in nodes}

    def room(self, task: NodeTask, node: int, free: Nodes) -> int:
        """Return the cores of a node that a job could have."""
        asks, i = self.requests, task.place
        cores, memory, gpus = free[node]
        number = self.order[node]
        if asks.exclusive[i] == 1 and cores < self.nodes.cores[number]:
            return 0
        if memory < asks.memory_per_node[i]:
            return 0
        if asks.whole_memory[i] and memory < self.nodes.memory[number]:
            return 0
        type_ = int(asks.gpu_type[i])
        if (sum(gpus) if type_ < 0 else gpus[type_]) < asks.gpus_per_node[i]:
            return 0
        if asks.memory_per_core[i] > 0:
            cores = min(cores, memory // int(asks.memory_per_core[i]))
        cores -= cores % int(asks.cores_per_task[i])
        if asks.cores_per_node[i] > 0:
            return int(asks.cores_per_node[i]) if cores >= asks.cores_per_node[i] else 0
        return cores if asks.most_nodes[i] != 1 or cores >= asks.cores[i] else 0

    def choose(self, task: NodeTask, usable: set[int], free: Nodes) -> list[int]:
        """Return the nodes for a job, none where it cannot run."""
        asks, i = self.requests, task.place
        room = {n: r for n in sorted(usable) if (r := self.room(task, n, free)) > 0}
        least = min(int(asks.least_nodes[i]), int(asks.cores[i]))
        for weight in sorted({int(self.nodes.weight[self.order[n]]) for n in room}):
            light = {n: r for n, r in room.items() if self.nodes.weight[self.order[n]] <= weight}
            if len(light) >= least and sum(light.values()) >= asks.cores[i]:
                chosen = self._pick(task, light, least)
                if chosen:
                    return chosen
        return []

    def _pick(self, task: NodeTask, room: dict[int, int], least: int) -> list[int]:
        cores = int(self.requests.cores[task.place])
        most = int(self.requests.most_nodes[task.place]) or len(self.order)
        chosen: list[int] = []
        while room and len(chosen) < most and (cores > 0 or len(chosen) < least):
            for node in self._block(room, cores, max(least - len(chosen), 1)):
                if len(chosen) == most or (cores <= 0 and len(chosen) >= least):
                    break
                still = max(least - len(chosen) - 1, 0)
                cores -= max(min(room.pop(node), cores - still), 1)
                chosen.append(node)
        return chosen if cores <= 0 and len(chosen) >= least else []

    def _block(self, room: dict[int, int], cores: int, count: int) -> list[int]:
        """Return the nodes of the switch, or the neighbours, that fit best."""

        def enough(block: list[int]) -> bool:
            return sum(room[n] for n in block) >= cores and len(block) >= count

        if self.leaf is not None:
            leaf = self.leaf
            blocks = [[n for n in room if leaf[n] == k] for k in sorted(set(leaf.values()))]
            sized = [(block, len(block)) for block in blocks if block]
        else:
            runs: list[list[int]] = []
            weight = {n: int(self.nodes.weight[self.order[n]]) for n in room}
            for node in sorted(n for n in room if weight[n] == min(weight.values())):
                if runs and runs[-1][-1] == node - 1:
                    runs[-1].append(node)
                else:
                    runs.append([node])
            sized = [(block, sum(room[n] for n in block)) for block in runs]
        fitting = [each for each in sized if enough(each[0])]
        best = min(fitting, key=lambda e: e[1]) if fitting else max(sized, key=lambda e: e[1])
        if self.leaf is None and count == 1:
            single = [n for n in best[0] if room[n] >= cores]
            if single:
                return [min(single, key=lambda n: room[n])]
        return best[0]

    def hold(self, task: NodeTask, chosen: list[int], free: Nodes) -> None:
        """Take what a job needs of its nodes."""
        asks, i = self.requests, task.place
        left, least = int(asks.cores[i]), min(int(asks.least_nodes[i]), int(asks.cores[i]))
        for place, node in enumerate(chosen):
            cores, memory, gpus = free[node]
            given = self.room(task, node, free)
            given = max(min(given, left - max(least - place - 1, 0)), 1)
            left -= given
            whole = int(self.nodes.cores[self.order[node]])
            given = whole if asks.exclusive[i] == 1 else given
            given = min(given + -given % int(asks.cores_per_task[i]), whole)
            amount = int(asks.memory_per_core[i]) * given or int(asks.memory_per_node[i])
            if asks.whole_memory[i]:
                amount = int(self.nodes.memory[self.order[node]])
            taken, needed = [0] * len(gpus), int(asks.gpus_per_node[i])
            for kind in range(len(gpus)):
                if asks.gpu_type[i] in (-1, kind):
                    taken[kind] = min(needed, gpus[kind])
                    needed -= taken[kind]
            task.given[node] = (given, amount, taken)
            rest = [a - b for a, b in zip(gpus, taken, strict=True)]
            free[node] = (cores - given, memory - amount, rest)

    def release(self, task: NodeTask, free: Nodes) -> None:
        """Give back what a job holds."""
        for node, (cores, memory, gpus) in task.given.items():
            a, b, c = free[node]
            free[node] = (a + cores, b + memory, [x + y for x, y in zip(c, gpus, strict=True)])

    def usable(self, task: NodeTask, now: int, end: int) -> set[int]:
        """Return the nodes on which a job may run from an instant up to another."""
        row = self.requests.node_sets[self.requests.node_set[task.place]]
        nodes = {n for n, i in enumerate(self.order) if row[i]}
        own = int(self.requests.reservation[task.place])
        for outage, reservation in zip(self.machine.outages, self.reserved, strict=True):
            begins, ends = self._times(outage)
            out = outage.nodes or self.machine.node_names
            there = {n for n, i in enumerate(self.order) if self.machine.node_names[i] in out}
            if 0 <= own == reservation:
                if now < ends:
                    nodes = nodes & there if end <= ends else set()
            elif begins < (end if outage.planned else now + 1) and ends > now:
                nodes = nodes - there
        return nodes

    def _times(self, outage: Outage) -> tuple[float, float]:
        epoch = self.workload.epoch or 0
        begin = -math.inf if outage.begin is None else outage.begin - epoch
        return begin, math.inf if outage.end is None else outage.end - epoch

    def comes_back(self, now: int) -> bool:
        """Tell whether nodes come back at an instant."""
        return any(self._times(outage)[1] == now for outage in self.machine.outages)
