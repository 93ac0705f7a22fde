"""What a schedule on nodes breaks: memory, GPUs, where and when jobs may run, limits.

Cores of nodes are checked for every machine that has places. Nothing here is shared with what
makes schedules but what the jobs ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from queuesmith.base.words import so_many
from queuesmith.cluster.levels import levels
from queuesmith.cluster.limit_table import LimitTable
from queuesmith.cluster.node_arrays import gpu_types, node_arrays, reservations
from queuesmith.cluster.outages import Outage
from queuesmith.cluster.requests import JobRequests, job_requests
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster

#: Before and after everything.
EVER = 2**62


def violations_on_nodes(machine: NodeCluster, schedule: Any) -> list[str]:
    """Return a sentence for each rule that a schedule with places breaks."""
    pieces = schedule.pieces
    if pieces is None or pieces.place is None or not len(pieces):
        return []
    if ((pieces.place < 0) | (pieces.place >= len(machine.node_names))).any():
        return []  # said already, for machines of any kind
    requests = job_requests(schedule.workload, machine)
    found = [_forbidden(machine, schedule, requests), _wrong_count(schedule, requests)]
    found += [_run_again(schedule), _disturbed(machine, schedule, requests)]
    found += [_memory(machine, schedule, requests), *_gpus(machine, schedule, requests)]
    found += _limits(machine, schedule, requests)
    found += [_in_outage(machine, schedule, requests, each) for each in machine.outages]
    return [sentence for sentence in found if sentence is not None]


def _name(schedule: Any, job: int) -> str:
    jobs = schedule.workload
    return f"job {jobs.label('id', int(jobs.id[job]))}"


def _forbidden(machine: NodeCluster, schedule: Any, requests: JobRequests) -> str | None:
    pieces = schedule.pieces
    wrong = ~requests.node_sets[requests.node_set[pieces.job], pieces.place]
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    return (
        f"{_name(schedule, int(pieces.job[first]))} runs on "
        f"'{machine.node_names[pieces.place[first]]}', where its partition, its features or its "
        "list of nodes do not let it."
    )


class Runs(NamedTuple):
    """From when to when jobs ran, a row each time; and on how many nodes."""

    job: Ints
    start: Ints
    end: Ints
    nodes: Ints


def _runs(schedule: Any) -> Runs:
    """Return the runs of jobs, the last of each first; those before it were cut short."""
    pieces, jobs = schedule.pieces, np.arange(len(schedule))
    again = pieces.start != schedule.start[pieces.job]
    count = np.bincount(pieces.job[~again], minlength=len(schedule))
    if not again.any():
        return Runs(jobs, schedule.start, schedule.end, count)
    rows = np.stack([pieces.job[again], pieces.start[again]])
    (job, start), first, others = np.unique(rows, axis=1, return_index=True, return_counts=True)
    return Runs(
        np.concatenate([jobs, job]),
        np.concatenate([schedule.start, start]),
        np.concatenate([schedule.end, pieces.end[again][first]]),
        np.concatenate([count, others]),
    )


def _run_again(schedule: Any) -> str | None:
    """Who was stopped and ran again had not reached its end, and runs once at a time."""
    runs = _runs(schedule)
    order = np.lexsort((runs.start, runs.job))
    job, start, end = runs.job[order], runs.start[order], runs.end[order]
    same = job[1:] == job[:-1]
    early = same & (start[1:] < end[:-1])
    done = same & (end[:-1] - start[:-1] >= schedule.workload.runtime[job[:-1]])
    if not (early | done).any():
        return None
    first = int(np.argmax(early | done))
    what = "is still running" if early[first] else "has reached its end"
    return (
        f"{_name(schedule, int(job[first]))} runs again at {start[first + 1]}, when its run from "
        f"{start[first]} to {end[first]} {what}."
    )


def _wrong_count(schedule: Any, requests: JobRequests) -> str | None:
    runs = _runs(schedule)
    least = np.minimum(requests.least_nodes, requests.cores)
    most = requests.most_nodes[runs.job]
    wrong = (runs.nodes < least[runs.job]) | ((most > 0) & (runs.nodes > most))
    if not wrong.any():
        return None
    job, count = (int(each[np.argmax(wrong)]) for each in (runs.job, runs.nodes))
    return (
        f"{_name(schedule, job)} runs on {so_many(count, 'node')}, but it asks for {least[job]} at "
        f"least{f' and {requests.most_nodes[job]} at most' if requests.most_nodes[job] else ''}."
    )


def _over(machine: NodeCluster, schedule: Any, amount: Ints, most: Ints, what: str) -> str | None:
    """Say on which node more is held at once than it has."""
    pieces = schedule.pieces
    held = levels(pieces.place, pieces.start, pieces.start, pieces.end, amount)
    over = held.held > most[held.line]
    if not over.any():
        return None
    first = int(np.argmax(over))
    node = int(held.line[first])
    return (
        f"{held.held[first]} {what} are held at {held.time[first]} on "
        f"'{machine.node_names[node]}', which has {most[node]}."
    )


def _disturbed(machine: NodeCluster, schedule: Any, requests: JobRequests) -> str | None:
    """A job that has its nodes for itself holds all their cores."""
    pieces, cores = schedule.pieces, node_arrays(machine).cores
    alone = requests.exclusive[pieces.job] == 1
    if not alone.any():
        return None
    held = np.where(alone, cores[pieces.place], pieces.cores)
    return _over(machine, schedule, held, cores, "cores, counting all of a job's own nodes,")


def _memory(machine: NodeCluster, schedule: Any, requests: JobRequests) -> str | None:
    pieces, memory = schedule.pieces, node_arrays(machine).memory
    job = pieces.job
    per_core = requests.memory_per_core[job]
    amount = np.where(per_core > 0, per_core * pieces.cores, requests.memory_per_node[job])
    amount = np.where(requests.whole_memory[job], memory[pieces.place], amount)
    return _over(machine, schedule, amount, memory, "MB of memory")


def _gpus(machine: NodeCluster, schedule: Any, requests: JobRequests) -> list[str | None]:
    job, gpus = schedule.pieces.job, node_arrays(machine).gpus
    amount = requests.gpus_per_node[job]
    found = [_over(machine, schedule, amount, gpus.sum(axis=1), "GPUs")]
    for number, name in enumerate(gpu_types(machine)):
        of_type = np.where(requests.gpu_type[job] == number, amount, 0)
        found.append(_over(machine, schedule, of_type, gpus[:, number], f"GPUs of type {name}"))
    return found


def _limits(machine: NodeCluster, schedule: Any, requests: JobRequests) -> list[str]:
    table, runs = LimitTable(schedule.workload, machine, requests), _runs(schedule)
    limits = np.diff(table.first)[runs.job]
    run = np.repeat(np.arange(len(runs.job)), limits)
    job, place = runs.job[run], np.arange(len(run)) - np.repeat(np.cumsum(limits) - limits, limits)
    row_of = table.of_jobs[table.first[job] + place]
    found: list[str] = []
    for number, what in enumerate(table.counted if len(job) else ()):
        amount = table.amounts[job, number]
        start, end = runs.start[run], runs.end[run]
        held = levels(row_of, start, start, end, amount)
        over = held.held > table.most[held.line, number]
        if over.any():
            first = int(np.argmax(over))
            row = int(held.line[first])
            found.append(
                f"{held.held[first]} {what} are held at {held.time[first]} where a limit "
                f"allows {table.most[row, number]} together."
            )
    return found


def _in_outage(
    machine: NodeCluster, schedule: Any, requests: JobRequests, outage: Outage
) -> str | None:
    """Say which job is on a node while that is out, or kept for others.

    No job runs into an outage that was planned; one that nobody knew of keeps jobs from starting.
    """
    pieces, epoch = schedule.pieces, schedule.workload.epoch or 0
    begin = -EVER if outage.begin is None else outage.begin - epoch
    end = EVER if outage.end is None else outage.end - epoch
    out = np.zeros(len(machine.node_names), np.bool_)
    out[[machine.node_index[node] for node in outage.nodes or machine.node_names]] = True
    there = out[pieces.place]
    last = pieces.end if outage.planned else pieces.start + 1
    during = (pieces.start < end) & (last > begin) & (pieces.end > pieces.start)
    if outage.reservation:
        own = requests.reservation == reservations(machine).index(outage.reservation)
        wrong = np.where(own[pieces.job], _outside(pieces, there, begin, end), there & during)
        what = f"reservation '{outage.reservation}'"
    else:
        wrong, what = there & during, "outage"
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    times = f"from {'ever' if begin == -EVER else begin} to {'ever' if end == EVER else end}"
    return (
        f"{_name(schedule, int(pieces.job[first]))} runs on "
        f"'{machine.node_names[pieces.place[first]]}' from {pieces.start[first]} to "
        f"{pieces.end[first]}, which the {what} {times} does not let it."
    )


def _outside(pieces: Any, there: Any, begin: int, end: int) -> Any:
    """Tell which parts of a reservation's own jobs are not in it while it lasts.

    When it is over, they run like all others.
    """
    inside = there & (pieces.start >= begin) & (pieces.end <= end)
    return (pieces.start < end) & ~inside
