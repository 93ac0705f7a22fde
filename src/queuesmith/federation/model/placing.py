"""From starts, ends and nodes to a schedule, and back to the files and facts that people read."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from queuesmith.base.errors import ScheduleError
from queuesmith.base.files import AnyPath, check_text, decoded, read_bytes, write_bytes
from queuesmith.base.words import so_many
from queuesmith.federation.model.clusters import Ints
from queuesmith.federation.model.federation import Federation
from queuesmith.federation.model.jobs import FederationJobs
from queuesmith.federation.model.placed import (
    co_allocated,
    compaction_percent,
    job_names,
    job_nodes,
    last_end,
    peak_link_load,
    power_utilization,
    saturation_of,
)
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.solving.status import Proof

COLUMNS = ("id", "start", "end", "nodes")
#: Times and nodes beyond this are no part of any placement.
LATEST = 2**60


def as_schedule(
    federation: Federation,
    jobs: FederationJobs,
    start: ArrayLike,
    end: ArrayLike,
    nodes: ArrayLike,
    method: str,
    *,
    saturation: float = 1.0,
    lower_bound: float | None = None,
    seconds: float = 0.0,
    facts: Mapping[str, Any] | None = None,
) -> Schedule:
    """Return the schedule of jobs whose starts, ends and nodes are known.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    start, end
        When each job begins and when its nodes are free again, in whole seconds.
    nodes
        The nodes of all jobs one after another, by their numbers; those of job ``j`` are
        ``nodes[jobs.offset[j] : jobs.offset[j + 1]]``.
    method
        What decided it.
    saturation
        How many times its bandwidth each link may be loaded; kept in the schedule's facts.
    lower_bound
        What no schedule's last end can be below, where that was proven.
    seconds
        How long the decision took.
    facts
        Further facts about how it came about, ready for JSON.
    """
    begins, ends, where = (np.array(values, np.int64) for values in (start, end, nodes))
    sizes = {
        "start": (begins, len(jobs)),
        "end": (ends, len(jobs)),
        "nodes": (where, jobs.offset[-1]),
    }
    for column, (values, size) in sizes.items():
        if values.shape != (size,):
            raise ScheduleError(
                f"placement '{method}' has {so_many(values.size, 'value')} of '{column}', but "
                f"'{jobs.name}' needs {size}. Give one for each job, and a node for each task."
            )
    task_job = np.repeat(np.arange(len(jobs)), jobs.tasks)
    schedule = Schedule(
        jobs.workload,
        federation,
        begins,
        method,
        seconds,
        own_end=ends,
        pieces=Pieces(task_job, begins[task_job], ends[task_job], np.ones_like(where), where),
        facts={"saturation": float(saturation), **(facts or {})},
    )
    return with_bound(schedule, lower_bound)


def with_bound(schedule: Schedule, lower_bound: float | None) -> Schedule:
    """Return the schedule with what its last end is proven not to be below."""
    return replace(schedule, proof=Proof("makespan", last_end(schedule), lower_bound))


def assign_nodes(
    federation: Federation,
    jobs: FederationJobs,
    start: ArrayLike,
    end: ArrayLike,
    counts: ArrayLike,
) -> Ints:
    """Return nodes for jobs of which only the number of nodes of each group is known.

    Where at no time more nodes of a group are in use than it has, there is always such an
    assignment: whoever starts takes the free nodes of the lowest numbers.

    Parameters
    ----------
    federation, jobs
        Where, and what.
    start, end
        When each job begins and ends.
    counts
        One row a job, one column for each of the federation's groups.
    """
    begins, ends = np.asarray(start, np.int64), np.asarray(end, np.int64)
    wanted = np.asarray(counts, np.int64)
    free_from = np.full(federation.nodes, np.iinfo(np.int64).min)
    nodes = np.empty(jobs.offset[-1], np.int64)
    for job in np.lexsort((ends, begins)):
        place = int(jobs.offset[job])
        for group in np.flatnonzero(wanted[job]):
            members, count = federation.group_members[group], int(wanted[job, group])
            free = members[free_from[members] <= begins[job]]
            if len(free) < count:
                raise ScheduleError(
                    f"job {jobs.id[job]} starts at {begins[job]} on {so_many(count, 'node')} of "
                    f"cluster '{federation.names[federation.group_cluster[group]]}', but "
                    f"{len(free)} of them are free. Start it later, or elsewhere."
                )
            nodes[place : place + count] = free[:count]
            free_from[free[:count]] = ends[job]
            place += count
    return nodes


# -- files and facts -------------------------------------------------------------------------------


def write_placement(schedule: Schedule, path: AnyPath) -> None:
    """Write ``id,start,end,nodes`` as CSV; nodes are numbers separated by spaces."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    nodes = [" ".join(map(str, mine.tolist())) for mine in job_nodes(schedule)]
    columns = (job_names(schedule), schedule.start.tolist(), schedule.end.tolist(), nodes)
    table.writerows(zip(*columns, strict=True))
    write_bytes(path, text.getvalue().encode())


def read_placement(
    path: AnyPath,
    federation: Federation,
    jobs: FederationJobs,
    *,
    method: str | None = None,
    saturation: float = 1.0,
) -> Schedule:
    """Read a schedule as `write_placement` writes it, of the same federation and jobs."""
    text = decoded(check_text(read_bytes(path), path, "CSV"))
    rows = csv.DictReader(io.StringIO(text, newline=""))
    by_id: dict[str, tuple[int, int, list[int]]] = {}
    for line, row in enumerate(rows, 2):
        name, entry = _entry(row, line, path)
        if name in by_id:
            raise ScheduleError(
                f"line {line} of '{path}' is the second of job {name}, but a job runs once. Remove "
                "one."
            )
        by_id[name] = entry
    for name, tasks in zip(jobs.id, jobs.tasks.tolist(), strict=True):
        if name not in by_id or len(by_id[name][2]) != tasks:
            found = so_many(len(by_id[name][2]), "node") if name in by_id else "no nodes"
            raise ScheduleError(
                f"'{path}' has {found} for job {name}, but it has {so_many(tasks, 'task')}. Give "
                "the jobs that the placement was made for."
            )
    start, end, nodes = zip(*(by_id[name] for name in jobs.id), strict=True)
    return as_schedule(
        federation,
        jobs,
        start,
        end,
        np.concatenate(nodes),
        str(path) if method is None else method,
        saturation=saturation,
    )


def _entry(row: dict[str, str], line: int, path: AnyPath) -> tuple[str, tuple[int, int, list[int]]]:
    try:
        nodes = [int(word) for word in row["nodes"].split()]
        times = int(row["start"]), int(row["end"])
        if max(map(abs, (*times, *nodes))) > LATEST:
            raise ValueError
        return row["id"], (*times, nodes)
    except (KeyError, ValueError, TypeError, AttributeError):
        raise ScheduleError(
            f"line {line} of '{path}' is no part of a placement, which has the header "
            f"'{','.join(COLUMNS)}', whole seconds, and node numbers separated by spaces. "
            "Correct it."
        ) from None


def placement_facts(schedule: Schedule) -> dict[str, Any]:
    """Return what is known about a schedule on a federation, ready for JSON."""
    return {
        "federation": schedule.cluster.name,
        "queue": schedule.workload.name,
        "jobs": len(schedule),
        "nodes": schedule.cluster.cores,
        "method": schedule.policy,
        "makespan": last_end(schedule),
        "lower_bound": schedule.lower_bound,
        "gap_percent": schedule.gap_percent,
        "status": str(schedule.status),
        "compaction_percent": compaction_percent(schedule),
        "utilization": power_utilization(schedule),
        "mean_wait": float(schedule.wait.mean()),
        "longest_wait": int(schedule.wait.max()),
        "co_allocated": co_allocated(schedule),
        "peak_link_load": peak_link_load(schedule),
        "saturation": saturation_of(schedule),
        "seconds": schedule.seconds,
        **schedule.facts,
    }
