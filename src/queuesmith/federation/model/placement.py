"""Which job runs on which nodes and when, how good that is, and how sure one can be of it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.base.errors import ScheduleError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes, write_bytes
from queuesmith.federation.model.federation import Federation, Floats, Ints
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.solving.status import Status, gap_percent, status_of

COLUMNS = ("id", "start", "end", "nodes")


class LinkLoad(NamedTuple):
    """The load of the links over time, constant between two times.

    Attributes
    ----------
    time
        When the load changes; the last one is the end.
    load
        One row for each span between two times, one column for each link: the bandwidth in use.
    """

    time: Ints
    load: Floats


@dataclass(frozen=True, eq=False)
class Placement:
    """For every job its nodes, its start and its end.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    start, end
        When each job begins and when its nodes are free again, in whole seconds.
    nodes
        The nodes of all jobs one after another, by their numbers; those of job ``j`` are
        ``nodes[jobs.offset[j] : jobs.offset[j + 1]]``.
    method
        What decided it.
    saturation
        How many times its bandwidth each link may be loaded.
    lower_bound
        What no placement's makespan can be below, where that was proven.
    seconds
        How long the decision took.
    facts
        Further facts about how it came about, ready for JSON.
    """

    federation: Federation
    jobs: FederationJobs
    start: Ints
    end: Ints
    nodes: Ints
    method: str
    saturation: float = 1.0
    lower_bound: float | None = None
    seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = {"start": len(self.jobs), "end": len(self.jobs), "nodes": self.jobs.offset[-1]}
        for column, size in sizes.items():
            values = np.array(getattr(self, column), dtype=np.int64)
            values.setflags(write=False)
            object.__setattr__(self, column, values)
            if values.shape != (size,):
                raise ScheduleError(
                    f"placement '{self.method}' has {values.size} values of '{column}', but "
                    f"'{self.jobs.name}' needs {size}. Give one for each job, and a node for each "
                    "task."
                )

    # -- looking -----------------------------------------------------------------------------

    def nodes_of(self, job: int) -> Ints:
        """Return the nodes of a job."""
        return self.nodes[self.jobs.offset[job] : self.jobs.offset[job + 1]]

    @cached_property
    def task_job(self) -> Ints:
        """The job of each entry of ``nodes``."""
        return np.repeat(np.arange(len(self.jobs)), self.jobs.tasks)

    @cached_property
    def on_cluster(self) -> Ints:
        """How many tasks of each job are on each cluster: one row a job."""
        clusters = len(self.federation.clusters)
        flat = self.task_job * clusters + self.federation.node_cluster[self.nodes]
        count = np.bincount(flat, minlength=len(self.jobs) * clusters)
        return count.reshape(len(self.jobs), clusters).astype(np.int64)

    @cached_property
    def slowest_power(self) -> Floats:
        """The power of the slowest node of each job, which rules it (eq. 3)."""
        power = self.federation.node_power[self.nodes]
        return np.asarray(np.minimum.reduceat(power, self.jobs.offset[:-1]))

    @cached_property
    def link_use(self) -> Floats:
        """The bandwidth each job consumes on each link while it runs (eq. 4): one row a job."""
        tasks = self.jobs.tasks[:, None].astype(np.float64)
        share = (tasks - self.on_cluster) / np.maximum(tasks - 1, 1)
        return np.asarray(self.on_cluster * self.jobs.task_bandwidth[:, None] * share)

    def link_load(self) -> LinkLoad:
        """Return the load of the links over time."""
        time, place = np.unique(np.concatenate([self.start, self.end]), return_inverse=True)
        change = np.zeros((len(time), len(self.federation.clusters)))
        count = len(self.jobs)
        np.add.at(change, place[:count], self.link_use)
        np.add.at(change, place[count:], -self.link_use)
        users = np.zeros(change.shape, np.int64)
        np.add.at(users, place[:count], self.link_use > 0)
        np.add.at(users, place[count:], -(self.link_use > 0).astype(np.int64))
        # Where nobody is left, the load is 0, not what the arithmetic left over.
        load = np.where(np.cumsum(users, axis=0) > 0, np.cumsum(change, axis=0), 0.0)
        return LinkLoad(time, load[:-1])

    # -- how good it is ------------------------------------------------------------------------

    @cached_property
    def makespan(self) -> int:
        """When the last job has ended, from second 0 (eq. 9)."""
        return int(self.end.max())

    @property
    def gap_percent(self) -> float | None:
        """By how many per cent the makespan may at most lie above the least possible."""
        return gap_percent(self.makespan, self.lower_bound)

    @property
    def status(self) -> Status:
        """Whether the placement is proven to be the best."""
        return status_of(self.makespan, self.lower_bound)

    @cached_property
    def busy(self) -> Ints:
        """The seconds each node is in use."""
        spent = np.repeat(self.end - self.start, self.jobs.tasks)
        return np.bincount(self.nodes, weights=spent, minlength=self.federation.nodes).astype(
            np.int64
        )

    @property
    def compaction_percent(self) -> float:
        """The share of the nodes' time until the makespan in which they are in use."""
        return 100.0 * float(self.busy.sum()) / (self.federation.nodes * self.makespan)

    @property
    def utilization(self) -> float:
        """The share of the federation's power in use until the makespan, from 0 to 1."""
        power = self.federation.node_power
        return float((self.busy * power).sum() / (power.sum() * self.makespan))

    @property
    def cluster_utilization(self) -> dict[str, float]:
        """The share of each cluster's nodes in use until the makespan, from 0 to 1."""
        total = np.bincount(self.federation.node_cluster, weights=self.busy)
        share = total / (self.federation.cluster_nodes * self.makespan)
        return dict(zip(self.federation.names, share.tolist(), strict=True))

    @property
    def wait(self) -> Ints:
        """How long each job waits."""
        return np.asarray(self.start - self.jobs.submit)

    @property
    def co_allocated(self) -> int:
        """How many jobs run on more than one cluster."""
        return int(np.count_nonzero((self.on_cluster > 0).sum(axis=1) > 1))

    @property
    def peak_link_load(self) -> float:
        """The highest load of any link, as a share of its bandwidth."""
        load = self.link_load().load
        return float((load / self.federation.bandwidth).max()) if load.size else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what is known about the placement, ready for JSON."""
        return {
            "federation": self.federation.name,
            "queue": self.jobs.name,
            "jobs": len(self.jobs),
            "nodes": self.federation.nodes,
            "method": self.method,
            "makespan": self.makespan,
            "lower_bound": self.lower_bound,
            "gap_percent": self.gap_percent,
            "status": str(self.status),
            "compaction_percent": self.compaction_percent,
            "utilization": self.utilization,
            "mean_wait": float(self.wait.mean()),
            "longest_wait": int(self.wait.max()),
            "co_allocated": self.co_allocated,
            "peak_link_load": self.peak_link_load,
            "saturation": self.saturation,
            "seconds": self.seconds,
            **self.facts,
        }

    # -- files ---------------------------------------------------------------------------------

    def write(self, path: AnyPath) -> None:
        """Write ``id,start,end,nodes`` as CSV; nodes are numbers separated by spaces."""
        text = io.StringIO(newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)
        for job, name in enumerate(self.jobs.id):
            nodes = " ".join(map(str, self.nodes_of(job).tolist()))
            table.writerow([name, self.start[job], self.end[job], nodes])
        write_bytes(path, text.getvalue().encode())

    @classmethod
    def read(
        cls,
        path: AnyPath,
        federation: Federation,
        jobs: FederationJobs,
        *,
        method: str | None = None,
        saturation: float = 1.0,
    ) -> Placement:
        """Read a placement as `write` writes it, of the same federation and jobs."""
        text = decoded(check_text(read_bytes(path), path, "CSV"))
        rows = csv.DictReader(io.StringIO(text, newline=""))
        by_id: dict[str, tuple[int, int, list[int]]] = {}
        for line, row in enumerate(rows, 2):
            name, entry = _entry(row, line, path)
            by_id[name] = entry
        for name, tasks in zip(jobs.id, jobs.tasks.tolist(), strict=True):
            if name not in by_id or len(by_id[name][2]) != tasks:
                found = len(by_id[name][2]) if name in by_id else "no"
                raise ScheduleError(
                    f"'{path}' has {found} nodes for job {name}, but it has {tasks} tasks. Give "
                    "the jobs that the placement was made for."
                )
        entries = [by_id[name] for name in jobs.id]
        return cls(
            federation,
            jobs,
            np.array([entry[0] for entry in entries]),
            np.array([entry[1] for entry in entries]),
            np.array([node for entry in entries for node in entry[2]]),
            method=str(path) if method is None else method,
            saturation=saturation,
        )

    def __repr__(self) -> str:
        return f"<Placement '{self.method}': {len(self.jobs):,} jobs in {self.makespan:,} s>"


def _entry(row: dict[str, str], line: int, path: AnyPath) -> tuple[str, tuple[int, int, list[int]]]:
    try:
        nodes = [int(word) for word in row["nodes"].split()]
        return row["id"], (int(row["start"]), int(row["end"]), nodes)
    except (KeyError, ValueError, TypeError, AttributeError):
        raise ScheduleError(
            f"line {line} of '{path}' is no part of a placement, which has the header "
            f"'{','.join(COLUMNS)}', whole seconds, and node numbers separated by spaces. "
            "Correct it."
        ) from None


def assign_nodes(
    federation: Federation,
    jobs: FederationJobs,
    start: ArrayLike,
    end: ArrayLike,
    counts: ArrayLike,
) -> Ints:
    """Return nodes for jobs of which only the number of nodes of each group is known.

    Where at no time more nodes of a group are in use than it has, there is always such an
    assignment: whoever starts takes the free nodes of the lowest numbers.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    start, end
        When each job begins and ends.
    counts
        One row a job, one column for each of the federation's groups.
    """
    begins, ends = np.asarray(start, np.int64), np.asarray(end, np.int64)
    wanted = np.asarray(counts, np.int64)
    free_from = np.full(federation.nodes, np.iinfo(np.int64).min)
    nodes = np.empty(jobs.offset[-1], np.int64)
    for job in np.lexsort((ends, begins)):
        place = int(jobs.offset[job])
        for group in np.flatnonzero(wanted[job]):
            members, count = federation.group_members[group], int(wanted[job, group])
            free = members[free_from[members] <= begins[job]]
            if len(free) < count:
                raise ScheduleError(
                    f"job {jobs.id[job]} starts at {begins[job]} on {count} nodes of cluster "
                    f"'{federation.names[federation.group_cluster[group]]}', but {len(free)} of "
                    "them are free. Start it later, or elsewhere."
                )
            nodes[place : place + count] = free[:count]
            free_from[free[:count]] = ends[job]
            place += count
    return nodes
