"""The replay of arriving jobs by plans that are made anew whenever something happens."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from queuesmith.compiled import load
from queuesmith.federation.exact.rolling import RollingPlan, RollingPlanner, StillRunning
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.options import PlaceOptions
from queuesmith.federation.planned_replay import PlannedReplay
from queuesmith.federation.replay.kernels.planned import run_plan
from queuesmith.federation.replay.kernels.site import NEVER
from queuesmith.schedule import Schedule


def replay_by_plans(
    federation: Federation,
    jobs: FederationJobs,
    *,
    saturation: float,
    window: int | None = None,
    options: PlaceOptions,
    progress: Callable[[float], None] | None = None,
) -> Schedule:
    """Replay arriving jobs; at every event the jobs that wait are planned with what runs.

    Jobs start whose planned start is now. The facts of the result tell how many plans there were,
    how many were proven to be the best, and how far the others may be from it.
    """
    limit = min(saturation, options.saturation)
    check_fits(federation, jobs, limit)
    load(run_plan)
    planner = RollingPlanner(
        federation,
        jobs,
        saturation=limit,
        steps=options.steps,
        seconds=options.seconds,
        window=window,
        seed=options.seed,
    )
    began = time.perf_counter()
    replayed = _RollingReplay(PlannedReplay(federation, jobs, saturation), planner)
    while replayed.go_on():
        if progress is not None:
            progress(replayed.state.planned / len(jobs))
    return replayed.state.finished("oas", time.perf_counter() - began, replayed.facts())


class _RollingReplay:
    """A replay in progress: who waits, and the plan so far."""

    def __init__(self, state: PlannedReplay, planner: RollingPlanner) -> None:
        self.state, self.planner = state, planner
        self.waiting: list[int] = []
        self.arrived = 0
        self.last: RollingPlan | None = None
        self.planned_at = 0
        self.gaps: list[float] = []
        self.plans = self.proven = self.kept = 0

    def go_on(self) -> bool:
        """Let the next thing happen, plan, and start what is due; tell whether more will happen."""
        now = self._next_event()
        if now == NEVER:
            self.state.go_on(self.state.planned, NEVER)
            return False
        self.state.go_on(self.state.planned, now)
        came = self._arrive(now)
        if self.waiting:
            self._plan(now, came)
            self._start(now)
        return True

    def _next_event(self) -> int:
        """When the next job arrives, or ends while others wait."""
        submit, running = self.state.jobs.submit, self.state.running_jobs
        now = int(submit[self.arrived]) if self.arrived < len(submit) else NEVER
        if self.waiting and len(running):
            now = min(now, int(self.state.running.end[running].min()))
        return now

    def _arrive(self, now: int) -> bool:
        before = self.arrived
        submit = self.state.jobs.submit
        while self.arrived < len(submit) and submit[self.arrived] <= now:
            self.waiting.append(self.arrived)
            self.arrived += 1
        return self.arrived > before

    def _plan(self, now: int, came: bool) -> None:
        """Plan anew, unless the last plan was proven and all went as it said."""
        if self.last is not None:
            self.last = _later(self.last, now - self.planned_at, self.waiting)
        self.planned_at = now
        if self.last is not None and self.last.proven and not came and not self._late(self.last):
            self.kept += 1
            return
        self.last = self.planner.plan(self.waiting, self._running(now), self.last)
        self.plans += 1
        self.proven += self.last.proven
        if self.last.gap_percent is not None:
            self.gaps.append(self.last.gap_percent)

    def _late(self, plan: RollingPlan) -> bool:
        """Tell whether something ended at another time than planned, or a job was not planned."""
        return len(plan.jobs) < len(self.waiting) or bool((plan.start < 0).any())

    def _running(self, now: int) -> StillRunning:
        state, federation = self.state, self.state.federation
        jobs = state.running_jobs
        counts = np.zeros((len(jobs), len(federation.group_nodes)), np.int64)
        for place, job in enumerate(jobs.tolist()):
            mine = state.running.nodes[state.jobs.offset[job] : state.jobs.offset[job + 1]]
            counts[place] = np.bincount(federation.node_group[mine], minlength=counts.shape[1])
        use = state.running.use[jobs] / federation.bandwidth
        return StillRunning(counts, use, state.running.end[jobs] - now)

    def _start(self, now: int) -> None:
        assert self.last is not None
        due = np.flatnonzero(self.last.start == 0).tolist()
        for place in due:
            job = int(self.last.jobs[place])
            self.state.start_now(job, self.last.counts[place], now)
            self.waiting.remove(job)

    def facts(self) -> dict[str, Any]:
        """Return how the plans were made, and how far they were from proven."""
        return {
            "plans": self.plans,
            "plans_kept": self.kept,
            "plans_proven": self.proven,
            "plans_without_bound": self.plans - len(self.gaps),
            "plan_gap_percent_mean": None if not self.gaps else float(np.mean(self.gaps)),
            "plan_gap_percent_worst": None if not self.gaps else max(self.gaps),
            "plan_gaps_percent": [round(gap, 3) for gap in self.gaps],
        }


def _later(plan: RollingPlan, seconds: int, waiting: list[int]) -> RollingPlan | None:
    """Return what is left of a plan some time later, or None where nothing is."""
    left = np.isin(plan.jobs, waiting)
    if not left.any():
        return None
    bound = (
        1.0 if plan.proven else None
    )  # what is left of the best plan is the best of what is left
    return RollingPlan(plan.jobs[left], plan.counts[left], plan.start[left] - seconds, 1.0, bound)
