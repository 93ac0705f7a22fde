"""The present moment as a workload: what runs holds its cores, what waits waits.

A replay has no other beginning than an empty machine. So the jobs that run are submitted before all
others, and with them one more that fills what is free and ends now: nothing else can start before.
Any policy then goes on from here as if it had always been so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.cluster.hostlist import expanded
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.nodes import Partition
from queuesmith.cluster.outages import Outage
from queuesmith.live.jobs import LiveJob
from queuesmith.live.occupied import part, spread
from queuesmith.live.reserved import begun_before, has_reservation, lasts, reserved_nodes
from queuesmith.live.state import ClusterState
from queuesmith.workload import Workload
from queuesmith.workload.requests import EXCLUSIVE, job_resources
from queuesmith.workload.table_columns import coded
from queuesmith.workload.workload import Change, Ints

#: What fills the machine up to now: nobody's job, in nobody's group.
NOBODY = "(nobody)"
#: Running jobs stand in partitions of one node each, so that they stay where they are and no limit
#: of their own partition keeps them from running.
RUNNING = "(running on {node})"
#: Seconds before now at which running jobs are submitted where all others come now: the main
#: scheduler looks at a few at once and at all of them only now and then.
LEAD = 600
Runtime = Callable[[LiveJob], int]


@dataclass(frozen=True)
class Moment:
    """The present moment, ready to be replayed.

    Parameters
    ----------
    workload
        First what runs and what fills the machine, then what waits, in Unix seconds.
    machine
        The nodes, or None where the moment is one of a number of cores.
    cores
        How many cores there are that are not away.
    waiting
        The waiting job of each place of the workload, None where it is none.
    """

    workload: Workload
    machine: NodeCluster | None
    cores: int
    waiting: tuple[LiveJob | None, ...]

    @property
    def is_waiting(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which jobs of the workload wait now."""
        return np.array([job is not None for job in self.waiting], np.bool_)


@dataclass(frozen=True)
class _Row:
    """A job of the workload to be."""

    submit: int
    runtime: int
    walltime: int
    cores: int
    user: str
    account: str = ""
    qos: str = ""
    partition: str = ""
    wanted_nodes: str = ""
    excluded_nodes: str = ""
    constraint: str = ""
    nodes: int = -1
    memory: int = -1
    gpus: int = -1
    gpu_type: str = ""
    exclusive: int = 0
    reservation: str = ""
    job: LiveJob | None = None


def walltime_left(job: LiveJob) -> int:
    """Return the seconds after which a running job must end; one at least."""
    return max(job.walltime - job.elapsed, 1)


def away(machine: NodeCluster, now: int) -> frozenset[str]:
    """Return the nodes that run no job now, or only those of a reservation."""
    gone = (outage for outage in machine.outages if lasts(outage, now))
    return frozenset(node for outage in gone for node in (outage.nodes or machine.node_names))


def moment_of_cores(
    state: ClusterState, *, runtime: Runtime | None = None, left: Runtime = walltime_left
) -> Moment:
    """Return the moment on a number of cores, each job submitted when it really was.

    Parameters
    ----------
    state
        The cluster.
    runtime
        How long a waiting job will run; by default its walltime.
    left
        How long a running job will still run; by default to its limit.
    """
    gone = away(state.machine, state.now)
    sizes = dict(zip(state.machine.node_names, state.machine.places.cores.tolist(), strict=True))
    cores = sum(size for node, size in sizes.items() if node not in gone)
    held = [(job, _on_nodes(job, gone)) for job in state.running]
    # Jobs of a reservation run on its nodes, which are none of these cores.
    ready = [
        job
        for job in state.waiting
        if job.ready and job.cores <= cores and not has_reservation(job, state)
    ]
    begin = min((job.submit for job in ready), default=state.now)
    begin = min(begin, state.now) - 1
    before = state.now - begin
    rows = [
        _Row(begin, before + min(left(job), walltime_left(job)), before + walltime_left(job),
             size, job.user, job.account)
        for job, size in held
        if size > 0
    ]  # fmt: skip
    free = cores - sum(row.cores for row in rows)
    if free > 0:
        rows.append(_Row(begin, before, before, free, NOBODY))
    elif free < 0:
        cores -= free  # more is given out than the nodes have, as with shared cores
    rows += [row for job in ready for row in _tasks(job, job.submit, runtime)]
    return _moment(state, rows, None, cores, len(state.waiting) - len(ready))


def moment_of_nodes(
    state: ClusterState,
    order: Sequence[LiveJob] | None = None,
    *,
    runtime: Runtime | None = None,
    left: Runtime = walltime_left,
) -> Moment:
    """Return the moment on the nodes, the waiting jobs in an order, all submitted now.

    Each running job stands on its own nodes; one that names a reservation runs in it. Replay it by
    ``slurm(PriorityType=priority/basic)``, which takes equal submissions by their number.

    Parameters
    ----------
    state
        The cluster.
    order
        The jobs that wait, the first first; by default by their priorities.
    runtime, left
        As for `moment_of_cores`.
    """
    machine, begin = state.machine, state.now - LEAD
    gone, kept = away(machine, state.now), reserved_nodes(machine, state.now)
    free = dict(zip(machine.node_names, machine.places.cores.tolist(), strict=True))
    rows: list[_Row] = []
    for job in sorted(state.running, key=lambda job: job.nodes):
        for node, size in spread(job, free).items():
            free[node] -= size
            inside = node in kept and job.reservation == kept[node].reservation
            if node not in gone or inside:
                row = _piece(job, node, size, begin, min(left(job), walltime_left(job)))
                rows.append(_inside(row, kept[node]) if inside else row)
    there = {node: size for node, size in free.items() if node not in gone}
    rows += [
        _Row(
            begin, LEAD, LEAD, size, NOBODY, partition=RUNNING.format(node=node), nodes=1, memory=1
        )
        for node, size in there.items()
        if size > 0
    ]
    ready = [job for job in (state.waiting if order is None else order) if job.ready]
    rows += [row for job in ready for row in _tasks(job, max(job.submit, state.now), runtime)]
    highest = max(partition.tier for partition in machine.partitions)
    of_nodes = [Partition(RUNNING.format(node=n), (n,), tier=highest + 1) for n in (*there, *kept)]
    outages = tuple(begun_before(each, begin, state.now) for each in machine.outages)
    with_running = replace(machine, partitions=(*machine.partitions, *of_nodes), outages=outages)
    cores = int(sum(machine.places.cores))
    return _moment(state, rows, with_running, cores, len(state.waiting) - len(ready))


def _piece(job: LiveJob, node: str, cores: int, begin: int, left: int) -> _Row:
    """Return what a running job has on one node."""
    resources = job_resources(job.resources)
    return _Row(
        submit=begin,
        runtime=LEAD + left,
        walltime=LEAD + walltime_left(job),
        cores=cores,
        user=job.user,
        account=job.account,
        qos=job.qos,
        partition=RUNNING.format(node=node),
        nodes=1,
        memory=max(resources.memory // job.nodes, 1),
        gpus=max(resources.gpus.number, 0) // job.nodes,
        gpu_type=resources.gpus.type,
    )


def _inside(row: _Row, reservation: Outage) -> _Row:
    """Let a running job run in its reservation, which it cannot outlast."""
    most = row.walltime
    if reservation.end is not None:  # limits count in whole minutes
        most = max(min(most, (reservation.end - row.submit) // 60 * 60), 1)
    runtime = min(row.runtime, most)
    return replace(row, walltime=most, runtime=runtime, reservation=reservation.reservation)


def _on_nodes(job: LiveJob, gone: frozenset[str]) -> int:
    """Return how many cores a running job holds on nodes that are not away."""
    nodes = expanded(job.node_list)
    if not gone or not nodes:
        return job.cores
    parts = (part(job.cores, len(nodes), i) for i, node in enumerate(nodes) if node not in gone)
    return sum(parts)


def _tasks(job: LiveJob, submit: int, runtime: Runtime | None) -> list[_Row]:
    resources = job_resources(job.resources)
    seconds = job.walltime if runtime is None else min(max(runtime(job), 1), job.walltime)
    row = _Row(
        submit=submit,
        runtime=seconds,
        walltime=job.walltime,
        cores=job.cores,
        user=job.user,
        account=job.account,
        qos=job.qos,
        partition=job.partition,
        wanted_nodes=job.wanted_nodes,
        excluded_nodes=job.excluded_nodes,
        constraint=job.features,
        nodes=job.nodes,
        memory=resources.memory,
        gpus=resources.gpus.number,
        gpu_type=resources.gpus.type,
        exclusive=EXCLUSIVE if job.sharing.upper() in ("NO", "EXCLUSIVE") else 0,
        reservation=job.reservation,
        job=job,
    )
    return [row] * job.tasks


def _moment(
    state: ClusterState, rows: list[_Row], machine: NodeCluster | None, cores: int, left_out: int
) -> Moment:
    if not any(row.job is not None for row in rows):
        raise WorkloadError(
            f"no job of cluster '{state.cluster}' waits that could start, so there is nothing to "
            "foretell and nothing to steer."
        )

    def numbers(name: str) -> Ints:
        return np.array([getattr(row, name) for row in rows], np.int64)

    texts = (
        "account",
        "qos",
        "partition",
        "wanted_nodes",
        "excluded_nodes",
        "constraint",
        "gpu_type",
        "reservation",
    )
    users, user_names = coded([row.user for row in rows])
    extra: dict[str, Ints] = {}
    labels: dict[str, tuple[str, ...]] = {"user": user_names}
    for name in texts:
        extra[name], labels[name] = coded([getattr(row, name) for row in rows])
    extra |= {
        "requested_nodes": numbers("nodes"),
        **{name: numbers(name) for name in ("memory", "gpus", "exclusive")},
        "slurm_id": np.array([row.job.id if row.job else 0 for row in rows], np.int64),
    }
    workload = Workload(
        numbers("submit"),
        numbers("runtime"),
        numbers("walltime"),
        numbers("cores"),
        id=np.arange(1, len(rows) + 1),
        user=users,
        extra=extra,
        labels=labels,
        name=state.cluster,
        machine_cores=cores,
        epoch=0,
    ).noting(Change("cannot start now: held, not yet due, or too wide", left_out, dropped=True))
    place = workload.id - 1  # sorted by submission
    return Moment(workload, machine, cores, tuple(rows[i].job for i in place))
