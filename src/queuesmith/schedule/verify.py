"""An independent check that a schedule is feasible.

It looks at the jobs and the start times alone, and shares no code with what made the schedule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from queuesmith.base.checks import of_kind
from queuesmith.base.errors import ScheduleError
from queuesmith.base.words import so_many
from queuesmith.schedule.pieces import Pieces
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.times import Times
from queuesmith.workload.dependencies import predecessors
from queuesmith.workload.workload import MOST_CORES, TASK_CORES, Ints, task_cores


@dataclass(frozen=True)
class Usage:
    """How many cores are busy from each instant on, up to the next instant."""

    time: Times
    busy: Ints


def usage(schedule: Schedule) -> Usage:
    """Return the staircase of busy cores over time; a job of no length uses nothing.

    Accepted reservations hold their cores, too.
    """
    parts = schedule.parts
    held = [answer.request for answer in schedule.reservations if answer.accepted]
    begin, end, cores = (
        np.array([getattr(request, column) for request in held], np.int64)
        for column in ("begin", "end", "cores")
    )
    time = np.concatenate([parts.start, begin, parts.end, end])
    change = np.concatenate([parts.cores, cores, -parts.cores, -cores])
    instants, position = np.unique(time, return_inverse=True)
    steps = np.bincount(position, weights=change, minlength=len(instants))
    return Usage(instants, np.cumsum(np.rint(steps).astype(np.int64)))


def violations(schedule: Schedule) -> list[str]:
    """Return a sentence for each rule that the schedule breaks; none where it is feasible."""
    of_kind("the schedule", schedule, Schedule, "Give what simulate(...) returned.")
    rules = (
        _early,
        _too_soon,
        _endless,
        _wide,
        _overfull,
        _crowded,
        _incomplete,
        _uneven,
        _beyond_share,
    )
    found = [sentence for rule in rules if (sentence := rule(schedule)) is not None]
    return [*found, *schedule.cluster.violations(schedule)]


def _early(schedule: Schedule) -> str | None:
    first_start = np.array(schedule.start)
    np.minimum.at(first_start, schedule.parts.job, schedule.parts.start)
    early = first_start < schedule.submit
    if not early.any():
        return None
    first, count = int(np.argmax(early)), np.count_nonzero(early)
    return (
        f"{so_many(count, 'job starts before it is', 'jobs start before they are')} submitted; the "
        f"first is {_job(schedule, first)}, submitted at {schedule.submit[first]}, started at "
        f"{first_start[first]}."
    )


def _too_soon(schedule: Schedule) -> str | None:
    after, think = predecessors(schedule.workload)
    follows = np.flatnonzero(after >= 0)
    due = schedule.end[after[follows]] + think[follows]
    soon = schedule.start[follows] < due
    if not soon.any():
        return None
    first = int(np.argmax(soon))
    job = int(follows[first])
    count = so_many(np.count_nonzero(soon), "job starts before it is", "jobs start before they are")
    return (
        f"{count} due after another; the first is {_job(schedule, job)}, due at {due[first]} after "
        f"{_job(schedule, int(after[job]))}, started at {schedule.start[job]}."
    )


def _endless(schedule: Schedule) -> str | None:
    # A start of "never" near the largest integer makes the end wrap around to the past.
    endless = schedule.end < schedule.start
    if not endless.any():
        return None
    first = int(np.argmax(endless))
    return (
        f"{so_many(np.count_nonzero(endless), 'job never starts', 'jobs never start')}; the first "
        f"is {_job(schedule, first)} with start {schedule.start[first]}, beyond all time."
    )


def _wide(schedule: Schedule) -> str | None:
    needed, cores = task_cores(schedule.workload), schedule.cluster.cores
    wide = needed > cores
    if not wide.any():
        return None
    first = int(np.argmax(wide))
    return (
        f"{so_many(np.count_nonzero(wide), 'job is', 'jobs are')} wider than the "
        f"{so_many(cores, 'core')} of cluster '{schedule.cluster.name}'; the first is "
        f"{_job(schedule, first)} with {needed[first]}."
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


def _crowded(schedule: Schedule) -> str | None:
    """Look at each place at the instants at which something starts there: there its peaks are."""
    parts, places = schedule.parts, schedule.cluster.places
    if places is None or parts.place is None:
        return None
    outside = (parts.place < 0) | (parts.place >= len(places.names))
    if outside.any():
        wrong = int(np.argmax(outside))
        return (
            f"{_job(schedule, int(parts.job[wrong]))} is on place {parts.place[wrong]}, but places "
            f"are 0 to {len(places.names) - 1}."
        )
    level, piece = _levels(parts, parts.place, parts.cores)
    over = level > places.cores[parts.place[piece]]
    if not over.any():
        return None
    first = int(piece[int(np.argmax(over))])
    place = int(parts.place[first])
    return (
        f"{level[np.argmax(over)]} cores are busy at {parts.start[first]} on "
        f"'{places.names[place]}', which has {places.cores[place]}, when "
        f"{_job(schedule, int(parts.job[first]))} starts."
    )


def _levels(parts: Pieces, line: Ints, amount: Ints) -> tuple[Ints, Ints]:
    """Return what each line, such as a place, holds after each start or end, and whose that is."""
    lasting = np.flatnonzero(parts.end > parts.start)
    piece = np.tile(lasting, 2)
    time = np.concatenate([parts.start[lasting], parts.end[lasting]])
    ends_first = np.repeat([1, 0], len(lasting))
    order = np.lexsort((ends_first, time, line[piece]))
    change = np.concatenate([amount[lasting], -amount[lasting]])[order]
    return np.cumsum(change), piece[order]


def _incomplete(schedule: Schedule) -> str | None:
    """Every core of a job runs once: all together at its end, or task by task."""
    if schedule.pieces is None:
        return None
    parts, jobs = schedule.pieces, schedule.workload
    at_the_end = parts.end == schedule.end[parts.job]
    counted = at_the_end if TASK_CORES not in jobs.extra else np.ones(len(parts), np.bool_)
    ran = np.bincount(parts.job, weights=parts.cores * counted, minlength=len(jobs))
    wrong = (ran != jobs.cores) | (np.bincount(parts.job, parts.cores < 1, len(jobs)) > 0)
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    their = "job does not run each of its", "jobs do not run each of their"
    return (
        f"{so_many(np.count_nonzero(wrong), *their)} cores once; the first is "
        f"{_job(schedule, first)}, which has {jobs.cores[first]} and ran {ran[first]:.0f}."
    )


def _uneven(schedule: Schedule) -> str | None:
    """In a bag every task takes the job's runtime; the job lasts from the first to the last."""
    if schedule.pieces is None or TASK_CORES not in schedule.workload.extra:
        return None
    parts, count = schedule.pieces, len(schedule)
    wrong = np.bincount(parts.job, parts.length != schedule.workload.runtime[parts.job], count) > 0
    first_start, last_end = np.array(schedule.end), np.array(schedule.start)
    np.minimum.at(first_start, parts.job, parts.start)
    np.maximum.at(last_end, parts.job, parts.end)
    wrong |= (first_start != schedule.start) | (last_end != schedule.end)
    if not wrong.any():
        return None
    return (
        f"{so_many(np.count_nonzero(wrong), 'job has', 'jobs have')} tasks that are not as long as "
        "the job says, or that begin or end beyond it; the first is "
        f"{_job(schedule, int(np.argmax(wrong)))}."
    )


def _beyond_share(schedule: Schedule) -> str | None:
    most = schedule.workload.extra.get(MOST_CORES)
    if schedule.pieces is None or most is None:
        return None
    parts = schedule.pieces
    level, piece = _levels(parts, parts.job, parts.cores)
    over = level > most[parts.job[piece]]
    if not over.any():
        return None
    job = int(parts.job[piece[int(np.argmax(over))]])
    return (
        f"{_job(schedule, job)} holds more than the {so_many(most[job], 'core')} of its share at "
        "once."
    )


def _job(schedule: Schedule, position: int) -> str:
    jobs = schedule.workload
    return f"job {jobs.label('id', int(jobs.id[position]))}"


def verify(schedule: Schedule) -> Schedule:
    """Return the schedule unchanged if it is feasible; raise with every violation if not."""
    found = violations(schedule)
    if found:
        raise ScheduleError(f"schedule '{schedule.policy}' is not feasible: {' '.join(found)}")
    return schedule
