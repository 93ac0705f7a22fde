"""Who was passed over: jobs that waited while another was let where they would have fitted.

Slurm looks at jobs by their priority, plans those that cannot start, and lets others start where
they delay no plan. So where a job starts on some nodes, one that stood before it, asks for no more,
ends no later and would have had room there cannot have been able to run there. All that this rests
on is in the accounting and the configuration: where and when jobs ran, and what they asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.cluster import NodeCluster
from queuesmith.cluster.inference.history import JobHistory
from queuesmith.cluster.levels import levels
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.node_arrays import node_arrays
from queuesmith.cluster.requests import job_requests
from queuesmith.engine.standing import QueueStanding
from queuesmith.policy.slurm_settings import SlurmSettings
from queuesmith.workload import Workload
from queuesmith.workload.requests import EXCLUSIVE
from queuesmith.workload.workload import Ints

Mask = NDArray[np.bool_]

#: A job that has come less than so many seconds ago may not have been in the queue of a pass that
#: had begun already.
SEEN_AFTER = 60
#: So many of the starts that passed a job over are looked at, at most.
MOST_STARTS = 200


class PassedOver(NamedTuple):
    """A job, and the nodes that others were given though it stood before them.

    Attributes
    ----------
    job
        The job.
    nodes
        Which nodes would have had room for it, one row for each start that passed it over.
    needed
        How many of them it needs.
    """

    job: int
    nodes: Mask
    needed: int


class Starts:
    """The starts of a history, and what room there was where they took place.

    Attributes
    ----------
    known
        Whether the log tells where jobs ran; without, there is nothing to see.
    """

    def __init__(self, workload: Workload, machine: NodeCluster, settings: SlurmSettings) -> None:
        self.seen, self.asks = JobHistory(workload), job_requests(workload, machine)
        self.machine, self.settings = machine, settings
        self.known = self.seen.pieces is not None
        if self.known:
            self._look(workload, machine, settings)

    def _look(self, workload: Workload, machine: NodeCluster, settings: SlurmSettings) -> None:
        self.standing = QueueStanding(self.seen, machine, self.asks, settings)
        self.limit: Ints = np.maximum(-(-workload.walltime // 60), 1)
        self.least = np.minimum(self.asks.least_nodes, self.asks.cores)
        spread = -(-self.asks.cores // np.maximum(self.least, 1))
        self.cores = np.where(self.asks.cores_per_node > 0, self.asks.cores_per_node, spread)
        self.memory = np.maximum(self.asks.memory_per_node, self.asks.memory_per_core * self.cores)
        table = LimitTable(workload, machine, self.asks)
        self.limited: Mask = np.diff(table.first) > 0
        self._lay_out_pieces(machine)
        self.order = np.argsort(self.seen.start, kind="stable")
        self.sorted_starts = self.seen.start[self.order]
        self.first_in_line = self._first_in_line()

    def _lay_out_pieces(self, machine: NodeCluster) -> None:
        """Find the nodes of each job, and what was left there when it started, its own part too."""
        pieces, nodes, asks, seen = self.seen.pieces, node_arrays(machine), self.asks, self.seen
        assert pieces is not None  # known
        number = np.array([machine.node_index.get(name, -1) for name in pieces.names], np.int64)
        place = number[pieces.node]
        known = place >= 0
        job, self.place = pieces.job[known], place[known]
        count = np.bincount(job, minlength=len(seen.workload))
        self.first = np.concatenate([[0], np.cumsum(count)])
        cores = seen.workload.cores[job] // np.maximum(count[job], 1)
        whole = asks.exclusive[job] == EXCLUSIVE
        cores = np.where(whole, nodes.cores[self.place], cores)
        memory = np.maximum(asks.memory_per_node[job], asks.memory_per_core[job] * cores)
        memory = np.where(asks.whole_memory[job] | whole, nodes.memory[self.place], memory)
        self.has = nodes.cores, nodes.memory, nodes.gpus.sum(axis=1)
        amounts = cores, memory, asks.gpus_per_node[job]
        self.room = [
            most[self.place] - self._held(job, amount) + amount
            for most, amount in zip(self.has, amounts, strict=True)
        ]

    def _held(self, job: Ints, amount: Ints) -> Ints:
        """Return what all jobs hold on a piece's node when all that start with it have started."""
        start, end = self.seen.start[job], self.seen.end[job]
        found = levels(self.place, start, start, end, amount)
        late = int(max(self.seen.end.max(), 0)) + 2
        at = np.searchsorted(found.line * late + found.time, self.place * late + start, "right")
        return found.held[at - 1]

    def passed_over(self) -> Iterator[PassedOver]:
        """Yield each job that was passed over, with where it would have had room."""
        seen = self.seen
        waited = seen.start - self.asks.eligible > SEEN_AFTER
        for job in np.flatnonzero(seen.ran & waited & (np.diff(self.first) > 0)).tolist():
            others = self._let_past(job)
            if len(others):
                rows = self._had_room(job, others)
                enough = rows.sum(axis=1) >= self.least[job]
                if enough.any():
                    yield PassedOver(job, rows[enough], int(self.least[job]))

    def _let_past(self, job: int) -> Ints:
        """Return the jobs that started while one waited that stood before them, ends no later."""
        low = np.searchsorted(self.sorted_starts, self.asks.eligible[job] + SEEN_AFTER)
        high = np.searchsorted(self.sorted_starts, self.seen.start[job])
        others = self.order[low:high]
        asks, seen = self.asks, self.seen
        alike = (asks.partition[others] == asks.partition[job]) & seen.ran[others]
        alike &= asks.reservation[others] == asks.reservation[job]
        others = others[alike & self._delays_no_plan(job, others)]
        same = asks.association[others] == asks.association[job]
        if self.limited[job] or not self.standing.knows_shares:
            # Of a job with limits it is known only of one that counts as much in the same ones
            # that they did not hold it back.
            same &= (asks.qos[others] == asks.qos[job]) & (asks.cores[others] >= asks.cores[job])
            others = others[same]
        at = seen.start[others]
        others = others[self.standing.lead(job, others, at) > 0][:MOST_STARTS]
        looked_at: Ints = others[self._is_looked_at(job, others)]
        return looked_at

    def _delays_no_plan(self, job: int, others: Ints) -> Mask:
        """Tell where a job could have started instead of another without delaying any plan.

        It is over no later, or it is first in line, so that nothing is planned before it.
        """
        shorter: Mask = self.limit[others] >= self.limit[job]
        either: Mask = shorter | (self.first_in_line[others] == job)
        return either

    def _first_in_line(self) -> Ints:
        """Return who is first in line when each job starts, -1: not known."""
        seen, first = self.seen, np.full(len(self.limit), -1, np.int64)
        if len({p.tier for p in self.machine.partitions}) > 1 or not self.standing.knows_shares:
            return first
        if seen.workload.cancelled is not None:
            return first  # their plans are not known
        comes, came = np.argsort(self.asks.eligible, kind="stable"), 0
        waiting = np.zeros(0, np.int64)
        for other in self.order[seen.ran[self.order]].tolist():
            at = int(seen.start[other])
            until = int(np.searchsorted(self.asks.eligible, at, "right", sorter=comes))
            waiting = np.concatenate([waiting, comes[came:until]])
            came = max(came, until)
            waiting = waiting[seen.start[waiting] > at]
            head = self.standing.head(waiting, at)
            if head >= 0:
                first[other] = head
        return first

    def _is_looked_at(self, job: int, others: Ints) -> Mask:
        """Tell at which starts a job is among those of its user that the backfill looks at."""
        most, users = int(self.settings["bf_max_job_user"]), self.seen.workload.user
        looked: Mask = np.ones(len(others), np.bool_)
        for i in np.flatnonzero(users[others] != users[job]) if most else ():
            at = self.seen.start[others[i]]
            mates = users == users[job]
            mates &= (self.asks.eligible <= at) & (self.seen.start > at)
            mates[job] = False
            rivals = np.flatnonzero(mates)
            behind = self.standing.lead(job, rivals, int(at)) > 0
            looked[i] = np.count_nonzero(~behind) < most
        return looked

    def _had_room(self, job: int, others: Ints) -> Mask:
        """Return on which nodes of others, and beside what runs there, a job had room."""
        asks, count = self.asks, np.diff(self.first)[others]
        row = np.repeat(np.arange(len(others)), count)
        piece = np.repeat(self.first[others] - np.cumsum(count) + count, count)
        piece = piece + np.arange(len(row))
        cores, memory, gpus = (room[piece] for room in self.room)
        place = self.place[piece]
        fits = (cores >= self.cores[job]) & (memory >= self.memory[job])
        fits &= gpus >= max(int(asks.gpus_per_node[job]), 0)
        if asks.exclusive[job] == EXCLUSIVE:
            fits &= cores >= self.has[0][place]
        if asks.whole_memory[job]:
            fits &= memory >= self.has[1][place]
        fits &= asks.node_sets[asks.node_set[job], place]
        rows = np.zeros((len(others), len(self.has[0])), np.bool_)
        rows[row[fits], place[fits]] = True
        return rows

    def nodes_of(self, job: int) -> Ints:
        """Return the nodes that a job really had."""
        return self.place[self.first[job] : self.first[job + 1]]
