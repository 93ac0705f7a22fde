"""The ways in which each job can be spread over the federation: its modes.

A mode says how many nodes of each group of interchangeable nodes a job takes. With it its duration
and its use of every link are known, so that deciding over modes and starts decides everything;
`assign_nodes` turns them into nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.federation.model.clusters import Floats, Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.fitting import LINK_TOLERANCE
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placed import group_counts
from queuesmith.federation.model.placing import as_schedule, assign_nodes
from queuesmith.federation.model.time_cost import durations_by_level
from queuesmith.schedule import Schedule

#: More modes than this are not listed; a choice of them is.
MOST_MODES = 20_000
#: Of how many speeds, the slowest, modes are chosen where there are too many to list.
MOST_SPEEDS = 8
#: Loads of links are whole numbers, in shares of the bandwidth, so that sums are exact. Each is
#: rounded down: what is feasible stays feasible, and the error is far below the tolerance.
LINK_UNITS = 2**42


@dataclass(frozen=True, eq=False)
class Modes:
    """All modes of all jobs, one job after another.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    saturation
        How many times its bandwidth each link may be loaded.
    first
        Where each job's modes begin; one more at the end.
    counts
        One row a mode, one column for each group: the nodes it takes.
    duration
        The whole seconds the job takes in each mode.
    use
        One row a mode, one column for each link: the load, in ``LINK_UNITS`` of its bandwidth.
    complete
        Whether every feasible mode is listed. If not, bounds over modes prove nothing.
    """

    federation: Federation
    jobs: FederationJobs
    saturation: float
    first: Ints
    counts: Ints
    duration: Ints
    use: Ints
    complete: bool

    @cached_property
    def job(self) -> Ints:
        """The job of each mode."""
        return np.repeat(np.arange(len(self.jobs)), np.diff(self.first)).astype(np.int64)

    @cached_property
    def shortest(self) -> Ints:
        """The least duration of each job."""
        return np.minimum.reduceat(self.duration, self.first[:-1])

    @property
    def limit(self) -> int:
        """The most that any link may be loaded, in ``LINK_UNITS`` of its bandwidth."""
        return int(LINK_UNITS * self.saturation * (1 + LINK_TOLERANCE))

    def of(self, schedule: Schedule) -> Ints:
        """Return the mode of each job in a schedule; -1 where it is not listed."""
        found = np.full(len(self.jobs), -1, np.int64)
        for job, counts in enumerate(group_counts(schedule)):
            mine = slice(self.first[job], self.first[job + 1])
            same = (self.counts[mine] == counts).all(axis=1)
            if same.any():
                found[job] = self.first[job] + int(np.argmax(same))
        return found

    def schedule(self, mode: ArrayLike, start: ArrayLike, method: str) -> Schedule:
        """Return the schedule that starts each job in a mode at a second."""
        chosen, begins = np.asarray(mode, np.int64), np.asarray(start, np.int64)
        ends = begins + self.duration[chosen]
        nodes = assign_nodes(self.federation, self.jobs, begins, ends, self.counts[chosen])
        return as_schedule(
            self.federation, self.jobs, begins, ends, nodes, method, saturation=self.saturation
        )


def list_modes(
    federation: Federation,
    jobs: FederationJobs,
    *,
    saturation: float = 1.0,
    slowed: bool = True,
    also: Sequence[Schedule] = (),
    seed: int = 0,
) -> Modes:
    """List the modes of all jobs, or a good choice where there are too many.

    Parameters
    ----------
    federation, jobs
        Where, and what. Every job must fit (see `check_fits`).
    saturation
        How many times its bandwidth each link may be loaded.
    slowed
        Whether a job on several clusters lasts as if its links were loaded that much all the time
        (eq. 6): whatever else runs, it is done by then. Otherwise it lasts as if nobody else used
        them, which no plan can undercut: what bounds need.
    also
        Schedules whose modes are in the choice.
    seed
        What the choice follows from, where there are too many.
    """
    complete = _count_modes(federation, jobs) <= MOST_MODES
    by_width = (
        {int(t): _all_counts(federation.group_nodes, int(t)) for t in set(jobs.tasks.tolist())}
        if complete
        else {}
    )
    chooser = _Chooser(federation, also, np.random.default_rng(seed))
    calm = durations_by_level(federation, jobs)
    tense = durations_by_level(federation, jobs, saturation if slowed else 1.0)
    first, counts, duration, use = [0], [], [], []
    most = int(LINK_UNITS * saturation * (1 + LINK_TOLERANCE))
    for job, tasks in enumerate(jobs.tasks.tolist()):
        rows = by_width[tasks] if complete else chooser.counts(job, tasks)
        load = _load(federation, rows, tasks, float(jobs.task_bandwidth[job]))
        fits = (load <= most).all(axis=1)
        rows, load = rows[fits], load[fits]
        level = np.where(rows > 0, federation.group_level, -1).max(axis=1)
        spread = _clusters_used(federation, rows) > 1
        counts.append(rows)
        use.append(load)
        duration.append(np.where(spread, tense[job, level], calm[job, level]))
        first.append(first[-1] + len(rows))
    return Modes(
        federation,
        jobs,
        saturation,
        np.array(first, np.int64),
        np.concatenate(counts),
        np.concatenate(duration).astype(np.int64),
        np.concatenate(use),
        complete,
    )


def _count_modes(federation: Federation, jobs: FederationJobs) -> float:
    """How many modes all jobs have, links apart."""
    ways = np.ones(1)
    for nodes in federation.group_nodes.tolist():
        ways = np.convolve(ways, np.ones(nodes + 1))
    return float(ways[jobs.tasks].sum())


def _all_counts(group_nodes: Ints, tasks: int) -> Ints:
    """All ways of taking so many nodes, one row each."""
    rows = np.zeros((1, 0), np.int64)
    for place, nodes in enumerate(group_nodes.tolist()):
        after = int(group_nodes[place + 1 :].sum())
        left = tasks - rows.sum(axis=1)
        parts = [
            np.column_stack([rows[fits], np.full(int(fits.sum()), here)])
            for here in range(nodes + 1)
            if (fits := (left >= here) & (left - here <= after)).any()
        ]
        rows = np.concatenate(parts)
    return rows


def _on_cluster(federation: Federation, rows: Ints) -> Ints:
    on_cluster = np.zeros((len(rows), len(federation.clusters)), np.int64)
    np.add.at(on_cluster.T, federation.group_cluster, rows.T)
    return on_cluster


def _clusters_used(federation: Federation, rows: Ints) -> Ints:
    return np.asarray((_on_cluster(federation, rows) > 0).sum(axis=1))


def _load(federation: Federation, rows: Ints, tasks: int, task_bandwidth: float) -> Ints:
    """The load of each link (eq. 4) in ``LINK_UNITS`` of its bandwidth, rounded down."""
    here = _on_cluster(federation, rows).astype(np.float64)
    share = here * task_bandwidth * (tasks - here) / max(tasks - 1, 1) / federation.bandwidth
    # Whoever exceeds every limit may do so by far; whole numbers have an end.
    return np.minimum(np.floor(share * LINK_UNITS), 2.0**60).astype(np.int64)


class _Chooser:
    """Chooses modes where there are too many to list: few clusters, or few speeds."""

    def __init__(
        self, federation: Federation, also: Sequence[Schedule], rng: np.random.Generator
    ) -> None:
        self.federation = federation
        self.rng = rng
        self.given = [group_counts(schedule) for schedule in also]

    def counts(self, job: int, tasks: int) -> Ints:
        """Return the modes of a job that are worth a try, each once."""
        federation = self.federation
        power, cluster = federation.group_power, federation.group_cluster
        keys = [np.where(cluster == one, -power, np.inf) for one in range(len(federation.clusters))]
        for slowest in federation.levels[-MOST_SPEEDS:]:
            orders = (-power, power, self.rng.random(len(power)))
            keys += [np.where(power >= slowest, key, np.inf) for key in orders]
        filled = [self._fill(tasks, key) for key in keys]
        rows = [given[job] for given in self.given] + [row for row in filled if row is not None]
        return np.unique(np.array(rows, np.int64), axis=0)

    def _fill(self, tasks: int, key: Floats) -> Ints | None:
        """Take nodes of the groups of the least keys; None where those of finite keys are few."""
        order = np.argsort(key, kind="stable")
        usable = np.where(np.isfinite(key[order]), self.federation.group_nodes[order], 0)
        before = np.concatenate([[0], np.cumsum(usable)[:-1]])
        taken = np.clip(tasks - before, 0, usable)
        if taken.sum() < tasks:
            return None
        row = np.zeros(len(key), np.int64)
        row[order] = taken
        return row
