"""A replay in progress whose decisions come from outside: jobs start where they are told to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from queuesmith.base.errors import ScheduleError
from queuesmith.federation.model.clusters import Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placed import links_used, slowest_power, task_nodes
from queuesmith.federation.model.placing import as_schedule
from queuesmith.federation.replay.kernels.planned import run_plan
from queuesmith.federation.replay.kernels.site import NOW, RUNNING, STARTED
from queuesmith.federation.replay.packing import empty_site, nobody_running, pack_jobs, pack_layout
from queuesmith.schedule import Schedule


class PlannedReplay:
    """A replay that is decided piece by piece, each carried out before the next."""

    def __init__(self, federation: Federation, jobs: FederationJobs, saturation: float) -> None:
        self.federation, self.jobs, self.saturation = federation, jobs, saturation
        self.layout, self.columns = pack_layout(federation), pack_jobs(jobs)
        self.running = nobody_running(federation, jobs)
        self.site = empty_site(federation, self.layout)
        self.order = np.zeros(len(jobs), np.int64)
        self.due = np.zeros(len(jobs), np.int64)
        self.waiting = np.zeros(len(jobs), np.int64)
        self.planned = 0

    @property
    def now(self) -> int:
        """The last second at which something happened."""
        return int(self.site.counter[NOW])

    @property
    def running_jobs(self) -> Ints:
        """The jobs that run, by their numbers."""
        return np.sort(self.running.heap[: int(self.site.counter[RUNNING])])

    def start_now(self, job: int, counts: Ints, now: int) -> None:
        """Start a job on so many free nodes of each group, those of the lowest numbers."""
        layout, place = self.layout, int(self.jobs.offset[job])
        for group in np.flatnonzero(counts).tolist():
            members = layout.members[layout.group_first[group] : layout.group_first[group + 1]]
            free = members[self.site.node_free[members] == 1][: counts[group]]
            self.running.nodes[place : place + len(free)] = free
            place += len(free)
        here = np.bincount(layout.group_cluster, counts, len(self.federation.clusters))
        tasks = int(self.jobs.tasks[job])
        each = float(self.jobs.task_bandwidth[job])
        self.running.use[job] = here * each * (tasks - here) / max(tasks - 1, 1)
        self.running.slowest[job] = layout.group_power[counts > 0].min()
        self.due[job] = now
        self.order[self.planned] = job
        self.go_on(self.planned + 1, now)

    def carry_out(self, chosen: Ints, plan: Schedule, due: Ints, *, until: int) -> None:
        """Append planned jobs, in the order of their planned starts, and go on until they run."""
        here = replace(plan, cluster=self.federation)
        tasks = slice(self.jobs.offset[chosen[0]], self.jobs.offset[chosen[-1] + 1])
        self.running.nodes[tasks] = task_nodes(here)
        self.running.use[chosen] = links_used(here)
        self.running.slowest[chosen] = slowest_power(here)
        self.due[chosen] = due
        after = self.planned + len(chosen)
        self.order[self.planned : after] = chosen[np.argsort(plan.start, kind="stable")]
        self.go_on(after, until)
        if self.site.counter[STARTED] < after:
            job = int(self.waiting[0])
            raise ScheduleError(
                f"job {self.jobs.id[job]} can never start where '{plan.policy}' puts it: its links "
                f"would carry more than {self.saturation:g} times their bandwidth. Allow more "
                "saturation, or plan with less."
            )

    def go_on(self, planned: int, until: int) -> None:
        """Go on until so many jobs of the order have started, and up to a second."""
        self.planned = planned
        run_plan(
            self.layout,
            self.columns,
            self.running,
            self.site,
            self.order,
            self.due,
            self.waiting,
            planned,
            float(self.saturation),
            until,
        )

    def finished(
        self, method: str, seconds: float, facts: Mapping[str, object] | None = None
    ) -> Schedule:
        """Return what became of all jobs."""
        return as_schedule(
            self.federation,
            self.jobs,
            self.running.start,
            self.running.end,
            self.running.nodes,
            method,
            saturation=self.saturation,
            seconds=seconds,
            facts=facts,
        )
