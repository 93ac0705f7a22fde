"""The event-driven replay of a federation: what happens as time goes by.

Jobs arrive, start when their nodes are free, share the links, and go slower while a link of theirs
is saturated (equations 5 to 7); whatever starts or ends changes the rates, and ends follow. Events
happen at whole seconds; what a job has still to do is kept as a fraction. Without saturation a
placement is reproduced to the second.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from queuesmith.base.checks import whole_number
from queuesmith.base.errors import ScheduleError, UsageError
from queuesmith.compiled import load
from queuesmith.federation.heuristics.heuristics import HEURISTICS, place_by_heuristic
from queuesmith.federation.methods import named_method, place
from queuesmith.federation.model.federation import Federation, Ints
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placement import Placement
from queuesmith.federation.options import PlaceOptions
from queuesmith.federation.replay.kernels.planned import run_plan
from queuesmith.federation.replay.kernels.site import NOW, STARTED
from queuesmith.federation.replay.packing import empty_site, nobody_running, pack_ground, pack_work

#: Decides where and when the jobs of a window run, as if the federation were empty.
Decider = Callable[[Federation, FederationJobs], Placement]
DEFAULT_WINDOW = 8


def replay(
    federation: Federation,
    jobs: FederationJobs,
    decider: str | Decider = "fcfs",
    *,
    allocation: str = "fastest",
    saturation: float = math.inf,
    window: int | None = None,
    options: PlaceOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> Placement:
    """Replay jobs that arrive over time.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    decider
        A heuristic, which decides at every event; or another method, or a function of yours, which
        plans a window of waiting jobs whenever all jobs of the last window have started.
    allocation
        How a heuristic chooses nodes.
    saturation
        A job starts only if no link is then loaded beyond so many times its bandwidth; by default
        links take any load, and slow down.
    window
        How many waiting jobs are decided about together, the first to arrive; by default all for
        a heuristic, and 8 for any other decider.
    options
        What a method that is no heuristic may be told.
    progress
        Is called with the share of the jobs that have started, 0 to 1.
    """
    _check_saturation(saturation)
    if window is not None:
        whole_number("the window", window, 1, "Give for example 8.")
    check_fits(federation, jobs, saturation)
    if isinstance(decider, str) and decider in HEURISTICS:
        return place_by_heuristic(
            federation, jobs, decider, allocation, saturation=saturation, window=window
        )
    name = decider if isinstance(decider, str) else getattr(decider, "__name__", "decider")
    decide = _by_method(decider, options) if isinstance(decider, str) else decider
    load(run_plan)
    began = time.perf_counter()
    windows = _Windows(federation, jobs, saturation)
    while windows.planned < len(jobs):
        windows.plan_next(decide, DEFAULT_WINDOW if window is None else window)
        if progress is not None:
            progress(windows.planned / len(jobs))
    return windows.finished(name, time.perf_counter() - began)


def replay_placement(
    placement: Placement,
    federation: Federation | None = None,
    *,
    saturation: float = math.inf,
) -> Placement:
    """Carry out a placement: each job on its nodes, at its start or as soon after as they are free.

    Parameters
    ----------
    placement
        The plan.
    federation
        What it is carried out on, by default what it was made for: one with other powers or links
        shows what the plan is worth there. It must have as many nodes.
    saturation
        A job starts only if no link is then loaded beyond so many times its bandwidth.
    """
    _check_saturation(saturation)
    ground = placement.federation if federation is None else federation
    if ground.nodes != placement.federation.nodes:
        raise UsageError(
            f"federation '{ground.name}' has {ground.nodes} nodes, but the placement was made for "
            f"{placement.federation.nodes}. Give one of the same size."
        )
    load(run_plan)
    began = time.perf_counter()
    windows = _Windows(ground, placement.jobs, saturation)
    everyone = np.arange(len(placement.jobs))
    windows.carry_out(everyone, placement, placement.start, to_the_end=True)
    return windows.finished(f"{placement.method}, replayed", time.perf_counter() - began)


class _Windows:
    """A replay that is decided window by window, each carried out before the next."""

    def __init__(self, federation: Federation, jobs: FederationJobs, saturation: float) -> None:
        self.federation, self.jobs, self.saturation = federation, jobs, saturation
        self.ground, self.work = pack_ground(federation), pack_work(jobs)
        self.running = nobody_running(federation, jobs)
        self.site = empty_site(federation, self.ground)
        self.order = np.zeros(len(jobs), np.int64)
        self.due = np.zeros(len(jobs), np.int64)
        self.waiting = np.zeros(len(jobs), np.int64)
        self.planned = 0

    @property
    def now(self) -> int:
        """The last second at which something happened."""
        return int(self.site.counter[NOW])

    def plan_next(self, decide: Decider, size: int) -> None:
        """Plan the first jobs that wait, or the next to arrive, and go on until they run."""
        first = self.planned
        now = max(self.now, int(self.jobs.submit[first]))
        arrived = int(np.searchsorted(self.jobs.submit, now, side="right"))
        chosen = np.arange(first, min(first + size, arrived))
        plan = decide(self.federation, self.jobs.select(chosen).queued())
        if plan.jobs.id != tuple(self.jobs.id[job] for job in chosen):
            raise ScheduleError(
                f"decider '{plan.method}' was asked about {len(chosen)} jobs, but its placement "
                f"is of {len(plan.jobs)} others. Return a placement of the jobs it was given."
            )
        due = np.full(len(chosen), now)
        self.carry_out(chosen, plan, due, to_the_end=self.planned + len(chosen) == len(self.jobs))

    def carry_out(self, chosen: Ints, plan: Placement, due: Ints, *, to_the_end: bool) -> None:
        """Append planned jobs, in the order of their planned starts, and go on until they run."""
        moved = replace(plan, federation=self.federation)
        for number, job in enumerate(chosen):
            mine = slice(self.jobs.offset[job], self.jobs.offset[job + 1])
            self.running.nodes[mine] = plan.nodes_of(number)
        self.running.use[chosen] = moved.link_use
        self.running.slowest[chosen] = moved.slowest_power
        self.due[chosen] = due
        after = self.planned + len(chosen)
        self.order[self.planned : after] = chosen[np.argsort(plan.start, kind="stable")]
        self.planned = after
        run_plan(
            self.ground,
            self.work,
            self.running,
            self.site,
            self.order,
            self.due,
            self.waiting,
            after,
            float(self.saturation),
            int(to_the_end),
        )
        if self.site.counter[STARTED] < after:
            job = int(self.waiting[0])
            raise ScheduleError(
                f"job {self.jobs.id[job]} can never start where '{plan.method}' puts it: its links "
                f"would carry more than {self.saturation:g} times their bandwidth. Allow more "
                "saturation, or plan with less."
            )

    def finished(self, method: str, seconds: float) -> Placement:
        """Return what became of all jobs."""
        return Placement(
            self.federation,
            self.jobs,
            self.running.start,
            self.running.end,
            self.running.nodes,
            method,
            saturation=self.saturation,
            seconds=seconds,
        )


def _by_method(name: str, options: PlaceOptions | None) -> Decider:
    named_method(name)

    def decide(federation: Federation, window: FederationJobs) -> Placement:
        return place(federation, window, name, options)

    return decide


def _check_saturation(saturation: float) -> None:
    if not saturation >= 1:
        raise UsageError(
            f"the saturation is {saturation!r}, but it must be at least 1. Give 1 for none, or inf "
            "for any load."
        )
