"""What became of jobs that arrived over time: attempts, restarts, lost time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.base.files import AnyPath, write_bytes
from queuesmith.grid.dynamic.scenario import Scenario
from queuesmith.grid.etc.tables import csv_text
from queuesmith.schedule import Schedule


def scenario_of(schedule: Schedule) -> Scenario:
    """Return the arrivals and machines of a schedule of jobs that arrived over time."""
    if not isinstance(schedule.cluster, Scenario):
        raise ScheduleError(
            f"schedule '{schedule.policy}' runs on '{schedule.cluster.name}', where no machine "
            "joins or leaves. Give one of replay_grid."
        )
    return schedule.cluster


def finished(schedule: Schedule) -> NDArray[np.bool_]:
    """Return which attempts finished their job; the others were broken off."""
    return np.asarray(schedule.parts.end == schedule.end[schedule.parts.job])


def restarts(schedule: Schedule) -> NDArray[np.int64]:
    """Return how many times each job began anew because its machine left."""
    begun = np.bincount(schedule.parts.job, minlength=len(schedule))
    return np.asarray(begun - 1, dtype=np.int64)


def lost_seconds(schedule: Schedule) -> float:
    """Return the machine time of attempts that were broken off."""
    return float(sum(schedule.parts.length[~finished(schedule)].tolist()))


def present_utilization(schedule: Schedule) -> float:
    """Return the share of the machines' presence up to the last end in which they compute."""
    until = float(schedule.end.max())
    there = sum(
        max(0.0, min(last, until) - first)
        for spans in scenario_of(schedule).presence()
        for first, last in spans
    )
    return float(sum(schedule.parts.length.tolist()) / there)


def replay_facts(schedule: Schedule) -> dict[str, Any]:
    """Return the measures of a replay, ready for JSON."""
    scenario = scenario_of(schedule)
    response = schedule.end - schedule.submit
    return {
        "instance": scenario.name,
        "jobs": scenario.jobs,
        "machines": scenario.machines,
        "method": schedule.policy,
        "load": scenario.load,
        "mean_response": float(response.mean()),
        "max_response": float(response.max()),
        "makespan": float(schedule.end.max()),
        "flowtime": float(schedule.end.sum()),
        "utilization": present_utilization(schedule),
        "restarts": int(restarts(schedule).sum()),
        "lost_seconds": lost_seconds(schedule),
        "decisions": schedule.facts["decisions"],
        "seconds_deciding": schedule.seconds,
    }


def write_attempts(schedule: Schedule, path: AnyPath) -> None:
    """Write all attempts as CSV: job, machine, submit, start, end, and whether it finished."""
    scenario, parts = scenario_of(schedule), schedule.parts
    assert parts.place is not None
    row = schedule.workload.id[parts.job]
    columns = (
        [scenario.matrix.job_names[job] for job in row],
        [scenario.matrix.machine_names[place] for place in parts.place],
        map(repr, scenario.submit[row].tolist()),
        map(repr, parts.start.tolist()),
        map(repr, parts.end.tolist()),
        ["yes" if done else "no" for done in finished(schedule)],
    )
    head = ("job", "machine", "submit", "start", "end", "finished")
    write_bytes(path, csv_text([head, *zip(*columns, strict=True)]))
