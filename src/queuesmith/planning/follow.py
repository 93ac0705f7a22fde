"""A replay that follows optimal plans: what optimal planning is worth over a whole log."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from queuesmith.base.errors import PolicyError
from queuesmith.cluster import Cluster
from queuesmith.planning.options import SolveOptions
from queuesmith.planning.plans import plan
from queuesmith.planning.snapshot import Snapshot
from queuesmith.planning.solve import load_kernels, solve
from queuesmith.planning.steps import staircase
from queuesmith.policy.any_policy import SelfReplaying, Watch
from queuesmith.policy.writing import check_once
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints


@dataclass(frozen=True)
class OptimalPlanning(SelfReplaying):
    """Plan all waiting jobs as well as can be at each submission and each completion.

    At each instant completions release cores, arrivals join the queue, and if jobs wait a plan is
    made; those planned for now start. Walltimes are mostly too long, so a new plan is made at each
    completion, too.

    Parameters
    ----------
    seconds
        How long one plan may take.
    objective
        What the plans minimise.
    """

    seconds: float = SolveOptions.seconds
    objective: str = SolveOptions.objective

    def __post_init__(self) -> None:
        SolveOptions(self.objective, self.seconds)

    def __str__(self) -> str:
        written = f"seconds={self.seconds:g}"
        if self.objective != SolveOptions.objective:
            written += f"; objective={self.objective}"
        return f"optimal({written})"

    def replay(self, workload: Workload, cluster: Cluster, watch: Watch) -> Ints:
        """Return the start of each job where optimal plans are followed."""
        load_kernels()
        machine = _BusyMachine(workload, cluster)
        arrived = 0
        while (arrived < len(workload) or machine.waiting) and not watch.cancelled:
            now = _next_event(machine, workload.submit, arrived)
            machine.release(now)
            while arrived < len(workload) and workload.submit[arrived] == now:
                machine.waiting.append(arrived)
                arrived += 1
            if machine.waiting:
                starting = _planned_for_now(machine.snapshot(now), self)
                machine.begin([machine.waiting[i] for i in starting], now)
            watch.arrived(arrived)
        return machine.start


class _BusyMachine:
    """What runs, what waits, and what has started when."""

    def __init__(self, workload: Workload, cluster: Cluster) -> None:
        self.workload, self.cores = workload, cluster.cores
        # A job holds its cores for a second at least in the eyes of the planner.
        self.walltime = np.maximum(workload.walltime, 1)
        self.start = np.zeros(len(workload), np.int64)
        self.waiting: list[int] = []
        self.running: list[tuple[int, int]] = []  # end and job, the next end first

    def release(self, now: int) -> None:
        """Let the jobs end that have run out by now."""
        while self.running and self.running[0][0] <= now:
            heapq.heappop(self.running)

    def begin(self, jobs: list[int], now: int) -> None:
        """Start jobs."""
        for job in jobs:
            self.start[job] = now
            heapq.heappush(self.running, (now + int(self.workload.runtime[job]), job))
        self.waiting = [job for job in self.waiting if job not in jobs]

    def snapshot(self, now: int) -> Snapshot:
        """Return what a planning scheduler knows now."""
        held = np.array([job for _, job in self.running], np.int64)
        ends = np.maximum(self.start[held] + self.walltime[held], now + 1)
        time, free = staircase(now, self.cores, ends, self.workload.cores[held])
        jobs = self.workload.select(np.array(self.waiting))
        planned = self.walltime[self.waiting]
        return Snapshot(
            now, jobs.replaced(runtime=planned, walltime=planned), time, free, self.cores
        )


def parse_optimal(inside: str) -> OptimalPlanning:
    """Read what stands between the parentheses of ``optimal(...)``."""
    values: dict[str, Any] = {}
    for setting in filter(None, (part.strip() for part in re.split("[;,]", inside))):
        name, equals, value = (part.strip() for part in setting.partition("="))
        check_once(name, values, f"optimal({inside})")
        try:
            values[name] = {"seconds": float, "objective": str}[name](value)
        except (KeyError, ValueError):
            equals = ""
        if not equals:
            raise PolicyError(
                f"setting '{setting}' of optimal cannot be read: the settings are seconds, a "
                "number, and objective. Write for example optimal(seconds=1; objective=sldwa)."
            )
    return OptimalPlanning(**values)


def _next_event(machine: _BusyMachine, submit: Ints, arrived: int) -> int:
    instants = [end for end, _ in machine.running[:1]]
    if arrived < len(submit):
        instants.append(int(submit[arrived]))
    return min(instants)


def _planned_for_now(snapshot: Snapshot, policy: OptimalPlanning) -> list[int]:
    """Return the positions of the waiting jobs that are to start now."""
    if snapshot.free[0] < snapshot.jobs.cores.min():
        return []
    start = plan(snapshot, "fcfs").start
    if (start > snapshot.now).any():
        start = solve(snapshot, policy.objective, policy.seconds).start
    return np.flatnonzero(start == snapshot.now).tolist()
