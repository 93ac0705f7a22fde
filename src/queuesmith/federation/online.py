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

import numpy as np

from queuesmith.base.checks import whole_number
from queuesmith.base.errors import ScheduleError, UsageError
from queuesmith.base.words import so_many
from queuesmith.compiled import load
from queuesmith.federation.heuristics.heuristics import HEURISTICS, place_by_heuristic
from queuesmith.federation.methods import named_method, place
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs, check_fits
from queuesmith.federation.model.placed import job_names
from queuesmith.federation.options import PlaceOptions
from queuesmith.federation.planned_replay import PlannedReplay
from queuesmith.federation.replay.kernels.planned import run_plan
from queuesmith.federation.replay.kernels.site import NEVER
from queuesmith.schedule import Schedule

#: Decides where and when the jobs of a window run, as if the federation were empty.
Decider = Callable[[Federation, FederationJobs], Schedule]
DEFAULT_WINDOW = 8
#: Steps of each plan of ``oas`` where the options do not say.
PLAN_STEPS = 10_000


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
) -> Schedule:
    """Replay jobs that arrive over time.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    decider
        A heuristic, which decides at every event; ``oas``, which plans at every event with what
        runs then; or another method, or a function of yours, which plans a window of waiting jobs,
        as if the federation were empty, whenever all jobs of the last window have started.
    allocation
        How a heuristic chooses nodes.
    saturation
        A job starts only if no link is then loaded beyond so many times its bandwidth; by default
        links take any load, and slow down.
    window
        How many waiting jobs are decided about together, the first to arrive; by default all for
        a heuristic, as many as its steps or seconds are enough for with ``oas``, and 8 for any
        other decider. With ``oas`` half of them are the first to arrive, the others those of least
        work.
    options
        What a method that is no heuristic may be told, for each of its plans; by default ``oas``
        takes 10,000 steps for each, so that a replay is the same each time.
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
    if decider == "oas":
        from queuesmith.federation.exact.rolling_replay import replay_by_plans

        return replay_by_plans(
            federation,
            jobs,
            saturation=saturation,
            window=window,
            options=options or PlaceOptions(steps=PLAN_STEPS),
            progress=progress,
        )
    name = decider if isinstance(decider, str) else getattr(decider, "__name__", "decider")
    decide = _by_method(decider, options) if isinstance(decider, str) else decider
    load(run_plan)
    began = time.perf_counter()
    state = PlannedReplay(federation, jobs, saturation)
    while state.planned < len(jobs):
        _plan_next(state, decide, DEFAULT_WINDOW if window is None else window)
        if progress is not None:
            progress(state.planned / len(jobs))
    return state.finished(name, time.perf_counter() - began)


def replay_placement(
    plan: Schedule,
    federation: Federation | None = None,
    *,
    saturation: float = math.inf,
) -> Schedule:
    """Carry out a plan: each job on its nodes, at its start or as soon after as they are free.

    Parameters
    ----------
    plan
        A schedule on a federation, such as `place` returns.
    federation
        What it is carried out on, by default what it was made for: one with other powers or links
        shows what the plan is worth there. It must have as many nodes.
    saturation
        A job starts only if no link is then loaded beyond so many times its bandwidth.
    """
    _check_saturation(saturation)
    where = plan.cluster if federation is None else federation
    if not isinstance(where, Federation) or where.nodes != plan.cluster.cores:
        raise UsageError(
            f"'{where.name}' has {so_many(where.cores, 'node')}, but the plan was made for a "
            f"federation of {plan.cluster.cores}. Give one of the same size."
        )
    load(run_plan)
    began = time.perf_counter()
    state = PlannedReplay(where, FederationJobs.of(plan.workload), saturation)
    state.carry_out(np.arange(len(plan)), plan, plan.start, until=NEVER)
    return state.finished(f"{plan.policy}, replayed", time.perf_counter() - began)


def _plan_next(state: PlannedReplay, decide: Decider, size: int) -> None:
    """Plan the first jobs that wait, or the next to arrive, and go on until they run."""
    first = state.planned
    now = max(state.now, int(state.jobs.submit[first]))
    arrived = int(np.searchsorted(state.jobs.submit, now, side="right"))
    chosen = np.arange(first, min(first + size, arrived))
    plan = decide(state.federation, state.jobs.select(chosen).queued())
    if job_names(plan) != tuple(state.jobs.id[job] for job in chosen):
        raise ScheduleError(
            f"decider '{plan.policy}' was asked about {so_many(len(chosen), 'job')}, but its "
            f"schedule is of {so_many(len(plan), 'other')}. Return a schedule of the jobs it was "
            "given."
        )
    due = np.full(len(chosen), now)
    last = state.planned + len(chosen) == len(state.jobs)
    state.carry_out(chosen, plan, due, until=NEVER if last else 0)


def _by_method(name: str, options: PlaceOptions | None) -> Decider:
    named_method(name)

    def decide(federation: Federation, window: FederationJobs) -> Schedule:
        return place(federation, window, name, options)

    return decide


def _check_saturation(saturation: float) -> None:
    if not saturation >= 1:
        raise UsageError(
            f"the saturation is {saturation!r}, but it must be at least 1. Give 1 for none, or inf "
            "for any load."
        )
