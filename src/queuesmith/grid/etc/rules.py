"""What must hold of jobs on unequal machines, attempt by attempt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from queuesmith.schedule import Schedule

#: How far two times may differ that are the same but for rounding, relatively.
ROUNDING = 1e-9


def rounding(time: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much instants may be off."""
    return np.asarray(ROUNDING * np.maximum(1.0, np.abs(time)))


def first_wrong(
    schedule: Schedule, wrong: NDArray[np.bool_], what: Callable[[int], str]
) -> list[str]:
    """Return a sentence about the first attempt that is wrong, and in what; none if none is."""
    if not wrong.any():
        return []
    piece = int(np.argmax(wrong))
    parts, jobs = schedule.parts, schedule.workload
    places = schedule.cluster.places
    assert parts.place is not None and places is not None
    job = jobs.label("id", int(jobs.id[parts.job[piece]]))
    machine = places.names[parts.place[piece]]
    when = f"from {parts.start[piece]:g} to {parts.end[piece]:g}"
    return [f"job {job} on machine {machine} {when} {what(piece)}."]


def misplaced(schedule: Schedule, times: NDArray[np.float64]) -> list[str]:
    """Return a sentence where not every attempt is of a job, on a machine that can run it."""
    parts, jobs = schedule.parts, len(times)
    row = schedule.workload.id[parts.job]
    if parts.place is None:
        return ["it is not told on which machine each job runs."]
    if ((row < 0) | (row >= jobs)).any():
        return [f"it has jobs that are not among the {jobs} of '{schedule.cluster.name}'."]
    inside = (parts.place >= 0) & (parts.place < times.shape[1])
    if not inside.all():
        return [f"a job is on machine {parts.place[~inside][0]}, but there are {times.shape[1]}."]
    impossible = ~np.isfinite(times[row, parts.place])
    return first_wrong(schedule, impossible, lambda piece: "cannot be run there")
