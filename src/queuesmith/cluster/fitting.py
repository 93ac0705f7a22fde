"""Which jobs can run on a machine of nodes at all, and why the others cannot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from queuesmith.base.errors import WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cluster.alike import numbered
from queuesmith.cluster.cluster import Cluster
from queuesmith.cluster.features import Mask
from queuesmith.cluster.node_arrays import NodeArrays, gpu_types, node_arrays
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.preemption import preempts
from queuesmith.cluster.requests import JobRequests, job_requests, unknown_partition
from queuesmith.workload import Workload
from queuesmith.workload.preempted import joined_runs
from queuesmith.workload.requests import partition_column
from queuesmith.workload.workload import Change, Ints

Reason = Callable[[Workload, NodeCluster, JobRequests, int], str]


def fitting(workload: Workload, machine: NodeCluster, *, strict: bool = False) -> Workload:
    """Leave out, and count, jobs that no part of a machine could ever run.

    Where the machine stops jobs for others, the runs of one that a log has are joined.

    Parameters
    ----------
    workload
        The jobs.
    machine
        The nodes.
    strict
        Raise instead of leaving jobs out.
    """
    if preempts(machine.settings):
        workload = joined_runs(workload)
    requests = job_requests(workload, machine)
    out = np.zeros(len(workload), np.bool_)
    changes, first = [], None
    for reason, (broken, sentence) in _reasons(workload, machine, requests).items():
        fresh = broken & ~out
        changes.append(Change(reason, int(np.count_nonzero(fresh)), dropped=True))
        if fresh.any():
            said = sentence(workload, machine, requests, int(np.argmax(fresh)))
            if strict:
                raise WorkloadError(f"{said}. Leave such jobs out by not asking for --strict.")
            first = first or said
        out |= fresh
    if out.all() and len(workload):
        raise WorkloadError(
            f"{first}, and no other job of '{workload.name}' fits either. "
            "Give the machine that the log comes from."
        )
    return workload.select(~out).noting(*changes) if out.any() else workload


def jobs_that_fit(
    workload: Workload, machine: Cluster | NodeCluster, *, strict: bool = False
) -> Workload:
    """Leave out, and count, jobs that could never run on a machine, whether it has nodes or not."""
    if isinstance(machine, NodeCluster):
        return fitting(workload, machine, strict=strict)
    return workload.fitting(machine.cores, strict=strict)


def _reasons(
    workload: Workload, machine: NodeCluster, requests: JobRequests
) -> dict[str, tuple[Mask, Reason]]:
    nodes = node_arrays(machine)
    known = [_is_known(workload, machine, i) for i in _first_of_each(requests.node_set)]
    unknown = ~np.array(known, np.bool_)[requests.node_set]
    somewhere: Mask = np.asarray(requests.node_sets.any(axis=1))
    nowhere = ~somewhere[requests.node_set]
    crowded, short = _without_room(requests, nodes)
    return {
        "asks for a partition that the machine has not": (unknown, _say_partition),
        "asks for features that no node of its partition has": (nowhere, _say_features),
        "asks for more than any node that it may run on has": (crowded, _say_node),
        "asks for more nodes than there are of the kind": (short, _say_nodes),
        "asks for more time than its partition gives": (
            _too_long(workload, machine, requests),
            _say_time,
        ),
    }


def _first_of_each(codes: Ints) -> list[int]:
    """Return one position for each of the numbers 0, 1, 2, ..."""
    return [int(i) for i in np.unique(codes, return_index=True)[1]]


def _is_known(workload: Workload, machine: NodeCluster, job: int) -> bool:
    text = _label(workload, "partition", job)
    if not text:
        return machine.default_partition is not None
    return unknown_partition(text, machine) is None


def _without_room(requests: JobRequests, nodes: NodeArrays) -> tuple[Mask, Mask]:
    """Return which jobs fit no single node, and which too few of them; like jobs looked at once."""
    columns = [
        *(requests.node_set, requests.least_nodes, requests.most_nodes, requests.cores),
        *(requests.cores_per_node, requests.memory_per_node, requests.memory_per_core),
        *(requests.gpus_per_node, requests.gpu_type, requests.cores_per_task),
    ]
    kind = numbered(columns)
    rows = np.stack(columns, axis=1)[_first_of_each(kind)]
    found = [_room_of(row, requests.node_sets[row[0]], nodes) for row in rows]
    crowded, short = (np.array(each, np.bool_) for each in zip(*found, strict=True))
    return crowded[kind], short[kind]


def _room_of(row: Ints, may: Mask, nodes: NodeArrays) -> tuple[bool, bool]:
    _, least, most, cores, per_node, memory, memory_per_core, gpus, gpu_type, per_task = row
    room = nodes.cores[may]
    if memory_per_core > 0:
        room = np.minimum(room, nodes.memory[may] // memory_per_core)
    room = room // per_task * per_task
    on_node = nodes.gpus[may]
    has_gpus = on_node[:, gpu_type] if gpu_type >= 0 else on_node.sum(axis=1)
    enough = (nodes.memory[may] >= memory) & (has_gpus >= gpus)
    room = np.sort(room[enough & (room >= max(per_node, 1))])[::-1]
    if not len(room):
        return True, True
    if per_node > 0:
        needed = max(least, -(-cores // per_node))
        return False, len(room) < needed or 0 < most < needed
    taken = room[:most] if most > 0 else room
    return False, len(room) < least or int(taken.sum()) < cores


def _too_long(workload: Workload, machine: NodeCluster, requests: JobRequests) -> Mask:
    limits = [partition.max_time or 2**62 for partition in machine.partitions]
    longest = np.array([*limits, 2**62], np.int64)[requests.partition]
    # A walltime that equals the runtime was raised to it; the user may have asked for less.
    return (workload.walltime > longest) & (workload.walltime > workload.runtime)


# -- sentences -------------------------------------------------------------------------


def _label(workload: Workload, column: str, job: int) -> str:
    column = partition_column(workload) if column == "partition" else column
    codes = workload.extra.get(column)
    return "" if codes is None or codes[job] < 0 else workload.label(column, int(codes[job]))


def _job(workload: Workload, job: int) -> str:
    return f"job {workload.label('id', int(workload.id[job]))}"


def _where(machine: NodeCluster, requests: JobRequests, job: int) -> str:
    number = int(requests.partition[job])
    return f"partition '{machine.partitions[number].name}'" if number >= 0 else "the machine"


def _say_partition(w: Workload, machine: NodeCluster, requests: JobRequests, job: int) -> str:
    text = _label(w, "partition", job)
    if not text:
        return f"{_job(w, job)} names no partition, and none of machine '{machine.name}' is default"
    return f"{_job(w, job)} cannot run: {(unknown_partition(text, machine) or '').rstrip('.')}"


def _say_features(w: Workload, machine: NodeCluster, requests: JobRequests, job: int) -> str:
    columns = ("constraint", "gpu_type", "wanted_nodes", "excluded_nodes")
    asked = " ".join(label for column in columns if (label := _label(w, column, job)))
    return (
        f"{_job(w, job)} asks for '{asked}', but no node of {_where(machine, requests, job)} "
        "has that"
    )


def _say_node(w: Workload, machine: NodeCluster, requests: JobRequests, job: int) -> str:
    """Say what each node would need, and the most that some node has."""
    nodes, may = node_arrays(machine), requests.node_sets[requests.node_set[job]]
    gpus, type_ = int(requests.gpus_per_node[job]), int(requests.gpu_type[job])
    has_gpus = nodes.gpus[may][:, type_] if type_ >= 0 else nodes.gpus[may].sum(axis=1)
    cores = max(int(requests.cores_per_node[job]), int(requests.cores_per_task[job]))
    memory = max(int(requests.memory_per_node[job]), int(requests.memory_per_core[job]) * cores)
    asked, most = so_many(cores, "core"), so_many(nodes.cores[may].max(), "core")
    if memory:
        asked, most = f"{asked}, {memory} MB", f"{most}, {nodes.memory[may].max()} MB"
    if gpus:
        kind = f" of type {gpu_types(machine)[type_]}" if type_ >= 0 else ""
        asked, most = (
            f"{asked}, {so_many(gpus, 'GPU')}{kind}",
            f"{most}, {so_many(has_gpus.max(), 'GPU')}",
        )
    where = _where(machine, requests, job)
    return (
        f"{_job(w, job)} asks for {asked} on a node, but no node of {where} that it may run on has "
        f"all that (at most {most})"
    )


def _say_nodes(w: Workload, machine: NodeCluster, requests: JobRequests, job: int) -> str:
    may = int(requests.node_sets[requests.node_set[job]].sum())
    where = _where(machine, requests, job)
    return (
        f"{_job(w, job)} asks for {so_many(requests.cores[job], 'core')} on "
        f"{so_many(requests.least_nodes[job], 'node')}, but of the {so_many(may, 'node')} of "
        f"{where} too few have room for its part"
    )


def _say_time(w: Workload, machine: NodeCluster, requests: JobRequests, job: int) -> str:
    limit = machine.partitions[int(requests.partition[job])].max_time
    return (
        f"{_job(w, job)} asks for {w.walltime[job]} seconds, but "
        f"{_where(machine, requests, job)} gives {limit}"
    )
