"""The data of the Gantt chart: compact enough to travel inside the page.

Up to 100,000 jobs are embedded as they are. Of a longer log the whole is embedded as busy cores
over time, and the most loaded stretch job by job.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.figures.palette import group_colours
from queuesmith.report.figure_data import UserGroups, user_groups
from queuesmith.report.lanes import Lanes, assign_lanes
from queuesmith.schedule.schedule import Schedule
from queuesmith.schedule.timeline import horizon
from queuesmith.schedule.times import Times
from queuesmith.workload import Workload
from queuesmith.workload.workload import Ints

#: The least ticks that the whole time has where times are real.
FINEST = 100_000
#: The most places that are named at the side of the chart.
MOST_PLACES = 5_000
#: The most jobs that are drawn one by one.
MOST_JOBS = 100_000
OVERVIEW_BINS = 600

Window = tuple[int, int]


def gantt_payload(schedules: Sequence[Schedule], *, most_jobs: int = MOST_JOBS) -> dict[str, Any]:
    """Return everything that ``gantt.js`` draws, ready for JSON.

    Parameters
    ----------
    schedules
        Schedules of one workload, drawn one at a time.
    most_jobs
        Above so many jobs only the most loaded stretch is embedded job by job.
    """
    jobs = schedules[0].workload
    first, last = zip(*map(horizon, schedules), strict=True)
    whole = (min(first), max(*last, min(first) + 1))
    clock = Clock(whole[0], _tick(schedules, whole))
    groups = user_groups(jobs)
    window = whole if len(jobs) <= most_jobs else busiest_window(schedules, most_jobs)
    chosen = _jobs_within(schedules, window)
    colours = group_colours(len(groups.labels), other=groups.other)
    return {
        "epoch": None if jobs.epoch is None else jobs.epoch + clock.origin,
        "tick": clock.tick,
        "span": [0, whole[1] - clock.origin],
        "window": [window[0] - clock.origin, window[1] - clock.origin],
        "total": len(jobs),
        "names": _job_names(jobs, chosen),
        "places": _places(schedules[0]),
        "groups": [
            {"label": label, "colour": colour}
            for label, colour in zip(groups.labels, colours, strict=True)
        ],
        "jobs": _job_columns(schedules[0], groups, chosen, clock),
        "users": _user_names(jobs, chosen),
        "policies": [_policy(each, groups, chosen, window, whole, clock) for each in schedules],
    }


class Clock(NamedTuple):
    """How times travel: as whole ticks of some seconds from an origin."""

    origin: int
    tick: float

    def ticks(self, seconds: Times) -> Ints:
        """Return durations as ticks."""
        return np.rint(seconds / self.tick).astype(np.int64)


def _tick(schedules: Sequence[Schedule], whole: Window) -> float:
    """Return the seconds of a tick: 1, or less where times are real and the whole is short."""
    if all(np.issubdtype(each.end.dtype, np.integer) for each in schedules):
        return 1.0
    return float(min(1.0, 10.0 ** np.floor(np.log10((whole[1] - whole[0]) / FINEST))))


def busiest_window(schedules: Sequence[Schedule], most_jobs: int) -> Window:
    """Return the most loaded stretch of time that holds at most so many jobs in every schedule.

    The stretch begins at a submission, where the following jobs bring the most work a second.
    """
    jobs = schedules[0].workload
    count = max(most_jobs // 2, 1)
    core_seconds = schedules[0].work
    first = np.arange(0, max(len(jobs) - count, 0) + 1, max(count // 20, 1))
    past = np.minimum(first + count, len(jobs))
    work = np.concatenate([[0.0], np.cumsum(core_seconds)])
    seconds = np.maximum(jobs.submit[past - 1] - jobs.submit[first], 1)
    best = int(np.argmax((work[past] - work[first]) / seconds))
    begin, end = int(jobs.submit[first[best]]), int(jobs.submit[past[best] - 1]) + 1
    for schedule in schedules:
        starts = np.sort(schedule.start[(schedule.end > begin) & (schedule.start < end)])
        if len(starts) > most_jobs:
            end = max(int(starts[most_jobs]), begin + 1)
    return begin, end


def packed(values: Ints, *, delta: bool = False) -> dict[str, Any]:
    """Pack whole numbers: from their least one up, by byte planes, deflated, as base64.

    Parameters
    ----------
    values
        The numbers.
    delta
        Whether to keep the steps between neighbours instead, the first being from 0.
    """
    numbers = np.diff(values, prepend=0) if delta else np.asarray(values)
    base = int(numbers.min()) if len(numbers) else 0
    rest = (numbers - base).astype("<u8")
    largest = int(rest.max()) if len(rest) else 0
    width = max((largest.bit_length() + 7) // 8, 1)
    planes = rest.view(np.uint8).reshape(-1, 8)[:, :width].T
    squeezed = zlib.compress(np.ascontiguousarray(planes).tobytes(), 6)
    data = base64.b64encode(squeezed).decode("ascii")
    return {"base": base, "width": width, "count": len(values), "delta": delta, "data": data}


def unpacked(pack: dict[str, Any]) -> Ints:
    """Return the numbers of ``packed``, as the page does it."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(pack["data"])), dtype=np.uint8)
    table = planes.reshape(pack["width"], pack["count"]).astype(np.int64)
    shifts = 8 * np.arange(pack["width"], dtype=np.int64)
    numbers: Ints = (table << shifts[:, None]).sum(axis=0) + pack["base"]
    return np.cumsum(numbers) if pack["delta"] else numbers


def busy_by_group(
    schedule: Schedule, groups: UserGroups, edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean number of busy cores in each bin (row) by group (column), exactly."""
    columns, parts = [], schedule.parts
    for slot in range(len(groups.labels)):
        own = groups.slot[parts.job] == slot
        cores = parts.cores[own].astype(np.float64)
        time = np.concatenate([parts.start[own], parts.end[own]])
        order = np.argsort(time, kind="stable")
        busy = np.cumsum(np.concatenate([cores, -cores])[order])
        area = np.concatenate([[0.0], np.cumsum(busy[:-1] * np.diff(time[order]))])
        columns.append(np.diff(np.interp(edges, time[order], area)) / np.diff(edges))
    return np.column_stack(columns)


def _jobs_within(schedules: Sequence[Schedule], window: Window) -> Ints:
    inside = np.zeros(len(schedules[0]), dtype=np.bool_)
    for schedule in schedules:
        inside |= _within(schedule, window)
    return np.flatnonzero(inside)


def _within(schedule: Schedule, window: Window) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (schedule.start < window[1]) & (schedule.end > window[0])
    return inside


def _job_columns(
    schedule: Schedule, groups: UserGroups, chosen: Ints, clock: Clock
) -> dict[str, Any]:
    jobs = schedule.workload
    return {
        "id": packed(jobs.id[chosen], delta=True),
        "submit": packed(clock.ticks(schedule.submit[chosen] - clock.origin), delta=True),
        "runtime": packed(clock.ticks(schedule.runtime[chosen])),
        "cores": packed(jobs.cores[chosen]),
        "user": packed(jobs.user[chosen]),
        "group": packed(groups.slot[chosen]),
    }


def _job_names(jobs: Workload, chosen: Ints) -> dict[str, str]:
    if "id" not in jobs.labels:
        return {}
    return {str(number): jobs.label("id", number) for number in jobs.id[chosen].tolist()}


def _places(schedule: Schedule) -> dict[str, Any] | None:
    """Return the names of the places and the first core of each, from the bottom up."""
    places = schedule.cluster.places
    if places is None or len(places.names) > MOST_PLACES:
        return None
    border = np.concatenate([[0], np.cumsum(places.cores)])
    return {"names": list(places.names), "border": border.tolist()}


def _user_names(jobs: Workload, chosen: Ints) -> dict[str, str]:
    if "user" not in jobs.labels:
        return {}
    return {str(code): jobs.label("user", int(code)) for code in np.unique(jobs.user[chosen])}


def _policy(
    schedule: Schedule,
    groups: UserGroups,
    chosen: Ints,
    window: Window,
    whole: Window,
    clock: Clock,
) -> dict[str, Any]:
    lanes = assign_lanes(schedule, np.flatnonzero(_within(schedule, window)))
    edges = np.linspace(whole[0], whole[1], OVERVIEW_BINS + 1)
    busy = busy_by_group(schedule, groups, edges)
    # A thousandth of the machine is finer than any screen.
    shares = np.rint(busy * 1000 / lanes.cores).astype(np.int64)
    return {
        "name": schedule.policy,
        "cores": schedule.cluster.cores,
        "height": lanes.cores,
        "wait": packed(clock.ticks(schedule.wait[chosen])),
        "lanes": {
            "job": packed(np.searchsorted(chosen, lanes.job), delta=True),
            "low": packed(lanes.low),
            "height": packed(lanes.height),
            **_own_times(schedule, lanes, clock),
        },
        "overview": packed(shares.ravel()),
    }


def _own_times(schedule: Schedule, lanes: Lanes, clock: Clock) -> dict[str, Any]:
    """Return start and length of each rectangle, where they do not follow from its job."""
    moved = (lanes.start != schedule.parts.start[lanes.piece]).any()
    if schedule.pieces is None and schedule.own_end is None and not moved:
        return {}
    return {
        "start": packed(clock.ticks(lanes.start - clock.origin), delta=True),
        "length": packed(clock.ticks(lanes.end - lanes.start)),
    }
