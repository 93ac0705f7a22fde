"""What a policy would do to the queue of this moment, without doing it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from queuesmith.base.checks import positive
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.registry import known
from queuesmith.base.words import so_many
from queuesmith.engine.simulate import simulate
from queuesmith.live.changes import (
    AllowList,
    Change,
    changes_for,
    movable,
    why_not,
    with_the_others,
)
from queuesmith.live.jobs import LiveJob
from queuesmith.live.moment import Runtime, moment_of_nodes
from queuesmith.live.ordering import wanted_order
from queuesmith.live.rights import check_all_shown
from queuesmith.live.state import ClusterState
from queuesmith.policy import AnyPolicy, Policy

DIVIDED_BY = ("user", "account", "partition", "qos")
#: How Slurm itself goes on from here: its own schedulers, in the order that the jobs stand in.
AS_THEY_STAND = "slurm(PriorityType=priority/basic)"


@dataclass(frozen=True)
class Advice:
    """Today's order beside the one that a policy wants, and what comes of each.

    Parameters
    ----------
    policy
        The policy.
    today, wanted
        The jobs that could start, in both orders; jobs that may not be steered keep their places.
    changes
        What would have to be set.
    starts
        When each task of a job would start, today and as wanted, in seconds from now.
    now, hours, by
        The moment, how far ahead to look, and what waits are divided by.
    notes
        What the advice does not take into account.
    """

    policy: AnyPolicy
    today: tuple[LiveJob, ...]
    wanted: tuple[LiveJob, ...]
    changes: tuple[Change, ...]
    starts: tuple[dict[int, list[int]], dict[int, list[int]]]
    now: int
    hours: float
    by: str
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What it comes to."""
        if not self.changes:
            return f"{self.policy} would change nothing for {so_many(len(self.today), 'job')}."
        moved = sum(row["place today"] != row["place wanted"] for row in self.moves())
        return (
            f"{self.policy} would move {moved:,} of {so_many(len(self.today), 'job')} with "
            f"{so_many(len(self.changes), 'change')}. Nothing was changed; slurm steer --apply "
            "would."
        )

    def moves(self) -> list[dict[str, Any]]:
        """Return the jobs in the wanted order: both places, and both expected starts."""
        place = {job.id: number for number, job in enumerate(self.today, 1)}
        before, after = self.starts
        return [
            {
                "job": str(job.id),
                "user": job.user,
                "cores": job.cores,
                "walltime (min)": job.walltime // 60,
                "place today": place[job.id],
                "place wanted": number,
                "starts in (min) today": _minutes(before.get(job.id)),
                "wanted": _minutes(after.get(job.id)),
            }
            for number, job in enumerate(self.wanted, 1)
        ]

    def waits(self) -> list[dict[str, Any]]:
        """Return mean and longest waits, up to the horizon, of each part of the jobs."""
        horizon = 3600 * self.hours
        parts: defaultdict[str, list[LiveJob]] = defaultdict(list)
        for job in self.today:
            parts[getattr(job, self.by) or "(none)"].append(job)
        rows = []
        for name, jobs in [("all", list(self.today)), *sorted(parts.items())]:
            today, wanted = (
                np.array(
                    [
                        self.now - job.submit + min(start, horizon)
                        for job in jobs
                        for start in starts.get(job.id, ())
                    ]
                )
                for starts in self.starts
            )
            if not len(today):
                continue
            rows.append(
                {
                    self.by: name,
                    "jobs": len(today),
                    "mean wait (min) today": round(float(today.mean()) / 60, 1),
                    "wanted": round(float(wanted.mean()) / 60, 1),
                    "longest (min) today": round(float(today.max()) / 60, 1),
                    "longest wanted": round(float(wanted.max()) / 60, 1),
                }
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {
            "policy": str(self.policy),
            "moves": self.moves(),
            "waits": self.waits(),
            "commands": [f"scontrol {change.command}" for change in self.changes],
            "notes": list(self.notes),
        }


def advice(
    state: ClusterState,
    policy: AnyPolicy,
    allowed: AllowList | None = None,
    *,
    hours: float = 24.0,
    by: str = "account",
    runtime: Runtime | None = None,
) -> Advice:
    """Compare today's order with the one that a policy wants; nothing is changed.

    Parameters
    ----------
    state
        The cluster.
    policy
        The policy.
    allowed
        Whose jobs may be steered; by default everybody's.
    hours
        How far ahead waits are looked at.
    by
        What waits are divided by: user, account, partition or qos.
    runtime
        How long a waiting job will run; by default its walltime.
    """
    positive("the hours ahead", hours, "Give for example 24.")
    known("division of waits called", by, DIVIDED_BY)
    check_all_shown(state.cluster, state.hidden_from)
    allowed = allowed or AllowList()
    today = tuple(job for job in state.waiting if job.ready)
    free = wanted_order(state, policy, runtime=runtime)
    jobs = movable(free, allowed, {})
    wanted = with_the_others(today, jobs, free)
    starts, notes = _starts(state, (today, wanted), runtime)
    fixed = sum(why_not(job, allowed, {}) is not None for job in today)
    if fixed:
        keep = so_many(fixed, "job keeps its place", "jobs keep their places")
        notes = (*notes, f"{keep}: not to be steered")
    if isinstance(policy, Policy) and policy.keep is not None and policy.keep.share > 0:
        notes = (*notes, "steering sets an order, so no cores are kept free")
    changes = tuple(changes_for(jobs))
    return Advice(policy, today, wanted, changes, starts, state.now, hours, by, notes)


def _starts(
    state: ClusterState, orders: Sequence[Sequence[LiveJob]], runtime: Runtime | None
) -> tuple[tuple[dict[int, list[int]], dict[int, list[int]]], tuple[str, ...]]:
    try:
        before, after = (_replayed(state, order, runtime) for order in orders)
    except QueuesmithError as error:
        return ({}, {}), (f"starts are not foretold: {error}",)
    return (before, after), (
        "starts are those of a replay without new jobs; jobs run "
        + ("to their limits" if runtime is None else "as long as predicted"),
    )


def _replayed(
    state: ClusterState, order: Sequence[LiveJob], runtime: Runtime | None
) -> dict[int, list[int]]:
    """Return when each task of each job would start, in seconds from now."""
    moment = moment_of_nodes(state, order, runtime=runtime)
    schedule = simulate(moment.workload, moment.machine, AS_THEY_STAND)
    place = {int(number): i for i, number in enumerate(moment.workload.id)}
    starts: defaultdict[int, list[int]] = defaultdict(list)
    for number, start in zip(schedule.workload.id.tolist(), schedule.start.tolist(), strict=True):
        job = moment.waiting[place[number]]
        if job is not None:
            starts[job.id].append(max(start - state.now, 0))
    return dict(starts)


def _minutes(starts: Sequence[int] | None) -> float | None:
    return None if not starts else round(float(np.mean(starts)) / 60, 1)
