"""Which machine runs which job, as one array, and as a schedule: short jobs first on each machine.

Searches work on the array alone, the machine of each job by its number. What they come to is a
`Schedule` like any other, on the matrix as its machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from queuesmith.base.errors import ScheduleError
from queuesmith.base.words import so_many
from queuesmith.grid.etc.matrix import EtcMatrix, Floats
from queuesmith.grid.etc.measures import weighted
from queuesmith.schedule import Schedule
from queuesmith.schedule.pieces import Pieces
from queuesmith.solving.status import Proof

Machines = NDArray[np.int64]


def mapped(
    matrix: EtcMatrix,
    machine: ArrayLike,
    method: str,
    objective: str = "makespan",
    *,
    lower_bound: float | None = None,
    seconds: float | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Schedule:
    """Return the schedule of jobs whose machines are known: short jobs run first.

    Parameters
    ----------
    matrix
        The jobs and machines.
    machine
        The machine of each job, by its number.
    method
        What decided it.
    objective
        What was minimised: ``makespan``, ``flowtime``, ``simultaneous`` or ``hierarchic``.
    lower_bound
        What the objective cannot be below, where that was proven.
    seconds
        How long the decision took.
    facts
        Further facts about how it came about, ready for JSON.

    >>> mapped(EtcMatrix([[3, 4], [2, 5], [4, 4]]), [0, 0, 1], "by hand").makespan
    5.0
    """
    chosen = checked_machines(matrix, machine, method)
    start, end = starts_and_ends(matrix, chosen)
    every, ones = np.arange(matrix.jobs), np.ones(matrix.jobs, np.int64)
    return Schedule(
        matrix.workload,
        matrix,
        start,
        method,
        seconds=seconds,
        own_end=end,
        pieces=Pieces(every, start, end, ones, chosen),
        proof=Proof(objective, objective_value(matrix, chosen, objective), lower_bound),
        facts=dict(facts or {}),
    )


def with_lower_bound(schedule: Schedule, lower_bound: float) -> Schedule:
    """Return the schedule with what its objective cannot be below."""
    assert schedule.proof is not None
    return replace(schedule, proof=replace(schedule.proof, lower_bound=lower_bound))


def checked_machines(matrix: EtcMatrix, machine: ArrayLike, method: str) -> Machines:
    """Return a machine for every job that can run it; raise where one is missing or cannot."""
    chosen = np.array(machine, dtype=np.int64)
    if chosen.shape != (matrix.jobs,):
        raise ScheduleError(
            f"mapping '{method}' has {so_many(chosen.size, 'machine')}, but instance "
            f"'{matrix.name}' has {so_many(matrix.jobs, 'job')}. Give one machine for each job."
        )
    outside = (chosen < 0) | (chosen >= matrix.machines)
    if outside.any():
        job = int(np.argmax(outside))
        raise ScheduleError(
            f"mapping '{method}' puts job {job} on machine {chosen[job]}, but there are "
            f"{matrix.machines}. Number machines from 0."
        )
    impossible = ~np.isfinite(own_times(matrix, chosen))
    if impossible.any():
        job = int(np.argmax(impossible))
        raise ScheduleError(
            f"mapping '{method}' puts job {job} on machine {chosen[job]}, which cannot "
            "run it. Choose a machine with a finite time."
        )
    return chosen


# -- what a machine for each job comes to ----------------------------------------------------------


def own_times(matrix: EtcMatrix, machine: Machines) -> Floats:
    """Return the time of each job on its machine."""
    return np.asarray(matrix.times[np.arange(matrix.jobs), machine])


def starts_and_ends(matrix: EtcMatrix, machine: Machines) -> tuple[Floats, Floats]:
    """Return when each job starts and ends, short jobs first on each machine."""
    own = own_times(matrix, machine)
    order = np.lexsort((own, machine))
    border = np.searchsorted(machine[order], np.arange(matrix.machines + 1))
    start, end = np.empty(matrix.jobs), np.empty(matrix.jobs)
    for number in np.flatnonzero(np.diff(border)):
        mine = order[border[number] : border[number + 1]]
        clock = np.cumsum(np.append(matrix.ready[number], own[mine]))
        start[mine], end[mine] = clock[:-1], clock[1:]
    return start, end


def flowtime(matrix: EtcMatrix, machine: Machines) -> float:
    """Return the sum of the finishing times of all jobs (Carretero et al., eq. 1)."""
    return float(starts_and_ends(matrix, machine)[1].sum())


def load_balance(matrix: EtcMatrix, machine: Machines) -> float:
    """Return the mean completion time over the makespan: 1 where all machines finish together."""
    completion = matrix.completion(machine)
    return float(completion.mean() / completion.max())


def utilization(matrix: EtcMatrix, machine: Machines) -> float:
    """Return the share of the machines' time from 0 to the makespan in which they compute."""
    completion = matrix.completion(machine)
    busy = (completion - matrix.ready).sum()
    return float(busy / (matrix.machines * completion.max()))


def objective_value(matrix: EtcMatrix, machine: Machines, objective: str) -> float:
    """Return the value of an objective; hierarchic mappings are judged by their makespan."""
    if objective == "flowtime":
        return flowtime(matrix, machine)
    makespan = matrix.makespan(machine)
    if objective == "simultaneous":
        return weighted(makespan, flowtime(matrix, machine) / matrix.machines)
    return makespan


# -- what a schedule tells -------------------------------------------------------------------------


def matrix_of(schedule: Schedule) -> EtcMatrix:
    """Return the jobs and machines of a schedule of a grid."""
    if not isinstance(schedule.cluster, EtcMatrix):
        raise ScheduleError(
            f"schedule '{schedule.policy}' runs on '{schedule.cluster.name}', which is no grid of "
            "unequal machines. Give a schedule of one."
        )
    return schedule.cluster


def machine_of(schedule: Schedule) -> Machines:
    """Return where each job ended, by the number of the machine."""
    parts = schedule.parts
    if parts.place is None:
        raise ScheduleError(
            f"schedule '{schedule.policy}' does not tell on which machine each job ran. "
            "Give one that does."
        )
    machine = np.full(len(schedule), -1, np.int64)
    order = np.argsort(parts.end, kind="stable")
    machine[parts.job[order]] = parts.place[order]  # the last one stays
    return machine


def mapping_facts(schedule: Schedule) -> dict[str, Any]:
    """Return what is known about the schedule of an instance, ready for JSON."""
    matrix, machine = matrix_of(schedule), machine_of(schedule)
    total = flowtime(matrix, machine)
    proof = schedule.proof or Proof("makespan", matrix.makespan(machine))
    return {
        "instance": matrix.name,
        "jobs": matrix.jobs,
        "machines": matrix.machines,
        "method": schedule.policy,
        "objective": proof.objective,
        "makespan": matrix.makespan(machine),
        "flowtime": total,
        "mean_flowtime": total / matrix.machines,
        "load_balance": load_balance(matrix, machine),
        "utilization": utilization(matrix, machine),
        "value": proof.value,
        "lower_bound": proof.lower_bound,
        "gap_percent": proof.gap_percent,
        "status": str(proof.status),
        "seconds": schedule.seconds or 0.0,
        **schedule.facts,
    }
