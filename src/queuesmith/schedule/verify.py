"""An independent check that a schedule is feasible.

It looks at the jobs and the start times alone, and shares no code with what made the schedule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from queuesmith.base.errors import ScheduleError
from queuesmith.schedule.schedule import Schedule


@dataclass(frozen=True)
class Usage:
    """How many cores are busy from each instant on, up to the next instant."""

    time: np.ndarray[tuple[int], np.dtype[np.int64]]
    busy: np.ndarray[tuple[int], np.dtype[np.int64]]


def usage(schedule: Schedule) -> Usage:
    """Return the staircase of busy cores over time; a job of no length uses nothing.

    Accepted reservations hold their cores, too.
    """
    jobs = schedule.workload
    held = [answer.request for answer in schedule.reservations if answer.accepted]
    begin, end, cores = (
        np.array([getattr(request, column) for request in held], np.int64)
        for column in ("begin", "end", "cores")
    )
    time = np.concatenate([schedule.start, begin, schedule.end, end])
    change = np.concatenate([jobs.cores, cores, -jobs.cores, -cores])
    instants, position = np.unique(time, return_inverse=True)
    steps = np.bincount(position, weights=change, minlength=len(instants))
    return Usage(instants, np.cumsum(np.rint(steps).astype(np.int64)))


def violations(schedule: Schedule) -> list[str]:
    """Return a sentence for each rule that the schedule breaks; none where it is feasible."""
    rules = (_early, _endless, _wide, _overfull)
    return [sentence for rule in rules if (sentence := rule(schedule)) is not None]


def _early(schedule: Schedule) -> str | None:
    jobs = schedule.workload
    early = schedule.start < jobs.submit
    if not early.any():
        return None
    first = int(np.argmax(early))
    return (
        f"{np.count_nonzero(early)} jobs start before they are submitted; the first is job "
        f"{jobs.id[first]}, submitted at {jobs.submit[first]}, started at {schedule.start[first]}."
    )


def _endless(schedule: Schedule) -> str | None:
    # A start of "never" near the largest integer makes the end wrap around to the past.
    endless = schedule.end < schedule.start
    if not endless.any():
        return None
    first = int(np.argmax(endless))
    return (
        f"{np.count_nonzero(endless)} jobs never start; the first is job "
        f"{schedule.workload.id[first]} with start {schedule.start[first]}, beyond all time."
    )


def _wide(schedule: Schedule) -> str | None:
    jobs, cores = schedule.workload, schedule.cluster.cores
    wide = jobs.cores > cores
    if not wide.any():
        return None
    first = int(np.argmax(wide))
    return (
        f"{np.count_nonzero(wide)} jobs are wider than the {cores} cores of cluster "
        f"'{schedule.cluster.name}'; the first is job {jobs.id[first]} with {jobs.cores[first]}."
    )


def _overfull(schedule: Schedule) -> str | None:
    stairs, cores = usage(schedule), schedule.cluster.cores
    over = stairs.busy > cores
    if not over.any():
        return None
    first = int(np.argmax(over))
    return (
        f"{stairs.busy[first]} cores are busy at second {stairs.time[first]}, but cluster "
        f"'{schedule.cluster.name}' has {cores}."
    )


def verify(schedule: Schedule) -> Schedule:
    """Return the schedule unchanged if it is feasible; raise with every violation if not."""
    found = violations(schedule)
    if found:
        raise ScheduleError(f"schedule '{schedule.policy}' is not feasible: {' '.join(found)}")
    return schedule
