"""The MIP of Blanco et al., equations 8 to 23, for HiGHS.

Variables, in the paper's letters: ``Z`` job on node, ``X`` job on node in slot, ``Y`` job starts
with slot, ``s`` and ``f`` first and last slot, and the makespan. Added to make the rest linear:
``W`` the slowest power among a job's nodes, ``N`` how many of its tasks are on a cluster, ``BW``
the bandwidth it uses on a link in a slot. Slots are numbered from 1, as in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.equations import link_use
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.fitting import LINK_TOLERANCE
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placed import job_nodes
from queuesmith.federation.model.placing import as_schedule
from queuesmith.federation.model.time_cost import durations_by_level
from queuesmith.schedule import Schedule
from queuesmith.solving.mixed_model import MixedModel

#: Models with more variables than this are not begun.
MOST_VARIABLES = 400_000


class SlotSolution(NamedTuple):
    """What HiGHS found."""

    schedule: Schedule
    status: str
    bound: float | None  # on the makespan of the model, in slots


class _LinkUse(NamedTuple):
    """What a job uses of a link: by the count of its tasks on these nodes, in each slot."""

    nodes: Ints
    tasks: Ints  # the variables N, from no task on
    load: Floats  # of each count, in shares of the bandwidth
    use: Ints  # the variables BW


class SlotModel:
    """The model of one queue, one slot size and one deadline.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    size
        Of a slot (eta), in seconds.
    theta
        How many slots there are.
    """

    def __init__(self, federation: Federation, jobs: FederationJobs, size: int, theta: int) -> None:
        self.federation, self.jobs, self.size, self.theta = federation, jobs, size, theta
        self.seconds = durations_by_level(federation, jobs)
        self.slots: Ints = -(-self.seconds // size)  # whole slots of each job at each level
        self.level: Ints = np.searchsorted(-federation.levels, -federation.node_power)
        self.model = MixedModel()
        self.links: list[list[_LinkUse]] = [[] for _ in range(len(jobs))]
        self._name_variables()
        for job in range(len(jobs)):
            self._place(job)
            self._time(job)
        self._share_nodes()
        self._share_links()

    # -- variables -----------------------------------------------------------------------------

    def _new(self, *shape: int, whole: bool = True, upper: float = 1.0) -> Ints:
        """Number so many variables from 0 up (eq. 23)."""
        if len(self.model.upper) + np.prod(shape) > MOST_VARIABLES:
            raise UsageError(
                f"the slot model of {so_many(len(self.jobs), 'job')} on "
                f"{so_many(self.federation.nodes, 'node')} has more than {MOST_VARIABLES:,} "
                f"variables in {so_many(self.theta, 'slot')}. Use larger slots, or the method "
                "'oas'."
            )
        return self.model.new(*shape, whole=whole, upper=upper)

    def _name_variables(self) -> None:
        count, nodes = len(self.jobs), self.federation.nodes
        self.z = self._new(count, nodes)
        self.x = self._new(count, nodes, self.theta)
        self.y = self._new(count, self.theta)
        self.s = self._new(count, whole=False, upper=self.theta)
        self.f = self._new(count, whole=False, upper=self.theta)
        self.w = self._new(count, len(self.federation.levels))
        self.span = self._new(1, whole=False, upper=self.theta)

    # -- constraints ---------------------------------------------------------------------------

    def _place(self, job: int) -> None:
        """Nodes of a job: equations 11 to 13, and its slowest power, equation 3."""
        add, tasks = self.model.add, float(self.jobs.tasks[job])
        add((1, self.z[job]), low=tasks, high=tasks)  # eq. 12
        add((1, self.w[job]), low=1, high=1)
        for node in range(self.federation.nodes):
            mine, here = self.z[job, node], self.x[job, node]
            add((1, mine), (-1, here), high=0)  # eq. 11: Z is not 1 without an X
            as_slow = self.w[job, self.level[node] :]
            add((1, mine), (-1, as_slow), high=0)  # eq. 3: no node is slower than W
            for slot in range(self.theta):
                add((1, here[slot]), (-1, mine), high=0)  # eq. 11: Z is at least each X
                add((tasks, here[slot]), (-1, self.x[job, :, slot]), high=0)  # eq. 13

    def _time(self, job: int) -> None:
        """Slots of a job: equations 14 to 20, and the objective, equation 9."""
        add, tasks = self.model.add, float(self.jobs.tasks[job])
        number = np.arange(1, self.theta + 1)
        add((1, self.y[job]), low=1, high=1)  # eq. 15
        starts = [(float(t), self.y[job, t - 1]) for t in number]
        add((-1, self.s[job]), *starts, low=1, high=1)  # eq. 16
        for node in range(self.federation.nodes):
            for slot in range(self.theta):
                # eq. 14, once for each slot: nothing runs before the slot it starts with.
                add((1, self.x[job, node, slot]), (1, self.y[job, slot + 1 :]), high=1)
                add((slot + 1, self.x[job, node, slot]), (-1, self.f[job]), high=0)  # eq. 17
        # eq. 8, 18 and 19, mended: as many slots as its time, rounded up, on its slowest node.
        need = [
            (-float(self.slots[job, level]), self.w[job, level])
            for level in range(len(self.federation.levels))
        ]
        add((1, self.f[job]), (-1, self.s[job]), *need, low=0, high=0)
        work = [(tasks * factor, variable) for factor, variable in need]
        add((1, self.x[job]), *work, low=0)  # eq. 20
        add((1, self.f[job]), (-1, self.span), high=0)  # eq. 9

    def _share_nodes(self) -> None:
        for node in range(self.federation.nodes):
            for slot in range(self.theta):
                self.model.add((1, self.x[:, node, slot]), high=1)  # eq. 10

    def _share_links(self) -> None:
        """Equations 4, 21 and 22, with N in place of the product of equation 4."""
        talks = [
            job
            for job in range(len(self.jobs))
            if self.jobs.tasks[job] > 1 and self.jobs.task_bandwidth[job] > 0
        ]
        for link, bandwidth in enumerate(self.federation.bandwidth.tolist()):
            if not talks or not np.isfinite(bandwidth):
                continue
            use = self._new(len(talks), self.theta, whole=False, upper=np.inf)
            for place, job in enumerate(talks):
                self._use_link(job, link, bandwidth, use[place])
            for slot in range(self.theta):
                self.model.add((1, use[:, slot]), high=1 + LINK_TOLERANCE)  # eq. 21 and 22

    def _use_link(self, job: int, link: int, bandwidth: float, use: Ints) -> None:
        """The share of a link's bandwidth that a job uses in each slot (eq. 4)."""
        nodes = np.flatnonzero(self.federation.node_cluster == link)
        tasks = int(self.jobs.tasks[job])
        most = min(tasks, len(nodes))
        count = self._new(most + 1)
        self.model.add((1, count), low=1, high=1)
        here = [(-float(number), count[number]) for number in range(1, most + 1)]
        self.model.add((1, self.z[job, nodes]), *here, low=0, high=0)
        share = link_use(tasks, float(self.jobs.task_bandwidth[job]), np.arange(most + 1))
        self.links[job].append(_LinkUse(nodes, count, share / bandwidth, use))
        for number in np.flatnonzero(share):
            load = float(share[number]) / bandwidth
            for slot in range(self.theta):
                running = (load / tasks, self.x[job, :, slot])  # 1 or 0 tasks-fold, by eq. 13
                self.model.add((load, count[number]), running, (-1, use[slot]), high=load)

    # -- solving and reading -------------------------------------------------------------------

    def solve(self, start: Schedule, seconds: float, nodes: int | None = None) -> SlotSolution:
        """Let HiGHS minimise the makespan in slots for so many seconds, or nodes of its tree.

        It begins with a schedule whose jobs start with slots.
        """
        found = self.model.minimise(
            int(self.span[0]), start=self.encode(start), seconds=seconds, nodes=nodes
        )
        over = "time is up" if nodes is None else f"{so_many(nodes, 'node is', 'nodes are')} up"
        status = "optimal" if found.optimal else over
        return SlotSolution(self._decode(found.values), status, found.bound)

    def encode(self, schedule: Schedule) -> Floats:
        """Return the value of each variable in a schedule whose jobs start with slots."""
        values = np.zeros(len(self.model.upper))
        first = schedule.start // self.size
        for job, nodes in enumerate(job_nodes(schedule)):
            slowest = self.level[nodes].max()
            held = slice(first[job], first[job] + self.slots[job, slowest])
            values[self.z[job, nodes]] = 1
            values[self.x[job, nodes, held]] = 1
            values[self.y[job, held.start]] = 1
            values[self.w[job, slowest]] = 1
            values[self.s[job]], values[self.f[job]] = held.start, held.stop
            for link in self.links[job]:
                here = np.count_nonzero(np.isin(link.nodes, nodes))
                values[link.tasks[here]] = 1
                values[link.use[held]] = link.load[here]
        values[self.span] = values[self.f].max()
        return values

    def _decode(self, values: Floats) -> Schedule:
        """Jobs start with their slot, and end when their time is over."""
        on_node = values[self.z] > 0.5
        start = (values[self.y].argmax(axis=1) * self.size).astype(np.int64)
        slowest = np.where(on_node, self.level, -1).max(axis=1)
        end = start + self.seconds[np.arange(len(self.jobs)), slowest]
        nodes = np.concatenate([np.flatnonzero(row) for row in on_node])
        return as_schedule(self.federation, self.jobs, start, end, nodes, "slots")
