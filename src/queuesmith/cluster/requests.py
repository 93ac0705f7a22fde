"""What jobs ask a machine of nodes for, as plain arrays."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.registry import no_such
from queuesmith.cluster.features import Mask, nodes_with
from queuesmith.cluster.hostlist import expanded
from queuesmith.cluster.limits import inherited
from queuesmith.cluster.node_arrays import gpu_types, node_arrays, reservations
from queuesmith.cluster.nodes import Partition
from queuesmith.workload import Workload
from queuesmith.workload.requests import (
    EXCLUSIVE,
    EXCLUSIVE_USER,
    label_texts,
    partition_column,
)
from queuesmith.workload.slurm_text import megabytes
from queuesmith.workload.workload import Ints

if TYPE_CHECKING:
    from queuesmith.cluster.node_cluster import NodeCluster


class JobRequests(NamedTuple):
    """What each job of a workload asks a machine for, everything settled that it leaves open.

    Attributes
    ----------
    least_nodes, most_nodes
        How many nodes; ``most_nodes`` is 0 where any number will do.
    cores, cores_per_node, cores_per_task
        Cores in all; on each of its nodes but the last, which has the rest, 0 where they may be
        spread in any way; cores that must be on one node.
    memory_per_node, memory_per_core, whole_memory
        In MB; 0 where it asks otherwise; whether it takes all the memory of its nodes.
    gpus_per_node, gpu_type
        GPUs on each node, and the number of their type, -1: any.
    exclusive
        0: shares its nodes, 1: has them for itself, 2: shares them with jobs of its user.
    node_set
        The row of ``node_sets`` that has the nodes it may run on.
    partition, qos, association
        Numbers of the machine's partition (the first it names), QOS and association; -1: none.
    reservation
        The number of the reservation that it names, -1: none that the machine has.
    eligible
        When it can start at all, in seconds of the log.
    node_sets, set_partitions
        Which nodes, and which partitions, belong to each set; one row a set.
    """

    least_nodes: Ints
    most_nodes: Ints
    cores: Ints
    cores_per_node: Ints
    cores_per_task: Ints
    memory_per_node: Ints
    memory_per_core: Ints
    whole_memory: Mask
    gpus_per_node: Ints
    gpu_type: Ints
    exclusive: Ints
    node_set: Ints
    partition: Ints
    qos: Ints
    association: Ints
    reservation: Ints
    eligible: Ints
    node_sets: Mask
    set_partitions: Mask


def job_requests(workload: Workload, machine: NodeCluster) -> JobRequests:
    """Return what the jobs of a log ask a machine for, as plain arrays.

    What a job does not state is what its partition gives by default; where the log does not tell
    what was asked for but what was had, that is taken. A job whose partition or features there
    are not has a set of no nodes: `queuesmith.cluster.fitting` tells of such.
    """
    known = _ANSWERS.get(workload)
    if known is not None and known[0]() is machine:
        return known[1]
    answer = _job_requests(workload, machine)
    _ANSWERS[workload] = weakref.ref(machine), answer
    return answer


#: What the jobs of a log asked a machine for last: replays of one log ask for the same again.
_ANSWERS: weakref.WeakKeyDictionary[
    Workload, tuple[weakref.ReferenceType[NodeCluster], JobRequests]
] = weakref.WeakKeyDictionary()


def _job_requests(workload: Workload, machine: NodeCluster) -> JobRequests:
    jobs = _Jobs(workload)
    node_set, sets, in_partitions, first = _node_sets(jobs, machine)
    least, most, per_node = _shape(jobs)
    gpus = jobs.first_known("gpus_per_node")
    whole_gpus = jobs.first_known("gpus", "allocated_gpus")
    per_node_gpus = np.where(gpus > 0, gpus, -(-np.maximum(whole_gpus, 0) // least))
    exclusive = np.maximum(jobs.numbers("exclusive"), 0)
    for number, partition in enumerate(machine.partitions):
        forced = {"no": 0, "nodes": EXCLUSIVE, "user": EXCLUSIVE_USER}[partition.exclusive]
        here = (first == number) & (exclusive != EXCLUSIVE)
        exclusive = np.where(here & (forced > 0), forced, exclusive)
    memory_per_node, memory_per_core, whole_memory = _memory(jobs, machine, first, least, most)
    association = _associations(jobs, machine)
    answer = JobRequests(
        least_nodes=least,
        most_nodes=most,
        cores=workload.cores,
        cores_per_node=per_node,
        cores_per_task=np.maximum(jobs.numbers("cores_per_task"), 1),
        memory_per_node=memory_per_node,
        memory_per_core=memory_per_core,
        whole_memory=whole_memory,
        gpus_per_node=per_node_gpus,
        gpu_type=_numbers_of(jobs.names("gpu_type"), gpu_types(machine)),
        exclusive=exclusive,
        node_set=node_set,
        partition=first,
        qos=_qos(jobs, machine, association),
        association=association,
        reservation=_numbers_of(jobs.names("reservation"), reservations(machine)),
        eligible=workload.submit + np.maximum(jobs.numbers("eligible_after"), 0),
        node_sets=sets,
        set_partitions=in_partitions,
    )
    for array in answer:
        array.setflags(write=False)
    return answer


class _Jobs:
    """The columns of a workload by name, and what they are where the log does not have them."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload

    def __len__(self) -> int:
        return len(self.workload)

    def has(self, column: str) -> bool:
        return column in self.workload.extra

    def numbers(self, column: str) -> Ints:
        unknown = np.full(len(self), -1, np.int64)
        values: Ints = self.workload.extra.get(column, unknown)
        return values.astype(np.int64, copy=False)

    def first_known(self, *columns: str) -> Ints:
        """Return the first of these columns that knows each job."""
        found = np.full(len(self), -1, np.int64)
        for column in columns:
            found = np.where(found >= 0, found, self.numbers(column))
        return found

    def names(self, column: str) -> NDArray[Any]:
        """Return a column as texts, empty where unknown."""
        if column == "partition":
            column = partition_column(self.workload)
        if column == "user":
            codes, labels = self.workload.user, self.workload.labels.get("user", ())
        elif self.has(column):
            codes, labels = self.workload.extra[column], self.workload.labels.get(column, ())
        else:
            return np.full(len(self), "", object)
        return label_texts(codes, labels)


def _numbers_of(names: NDArray[Any], known: tuple[str, ...]) -> Ints:
    """Return the numbers of names among those known, -1 where it is none of them."""
    number = {name: i for i, name in enumerate(known) if name}
    return np.array([number.get(name, -1) for name in names], np.int64)


# -- where -----------------------------------------------------------------------------


#: The texts that decide which nodes a job may run on.
_SET_COLUMNS = ("partition", "constraint", "wanted_nodes", "excluded_nodes", "gpu_type")


def _node_sets(jobs: _Jobs, machine: NodeCluster) -> tuple[Ints, Mask, Mask, Ints]:
    """Return each job's set, the nodes and partitions of each set, and each job's partition."""
    columns = [jobs.names(name) for name in _SET_COLUMNS]
    keys = list(zip(*columns, strict=True))
    distinct = list(dict.fromkeys(keys))
    number = {key: i for i, key in enumerate(distinct)}
    in_partitions = np.array([_partitions(key[0], machine) for key in distinct], np.bool_)
    member = node_arrays(machine).partitions
    sets = np.array(
        [
            _set(key, member[inside].any(axis=0), machine)
            for key, inside in zip(distinct, in_partitions, strict=True)
        ],
        np.bool_,
    )
    node_set = np.array([number[key] for key in keys], np.int64)
    ranked = [_first(inside, machine) for inside in in_partitions]
    return node_set, sets, in_partitions, np.array(ranked, np.int64)[node_set]


def _partitions(text: str, machine: NodeCluster) -> list[bool]:
    default = machine.default_partition
    names = text.split(",") if text else ([default.name] if default else [])
    return [partition.name in names for partition in machine.partitions]


def _first(inside: Mask, machine: NodeCluster) -> int:
    """Return the partition of the highest tier that a job names, -1 where there is none."""
    wanted = [int(i) for i in np.flatnonzero(inside)]
    return max(wanted, key=lambda i: (machine.partitions[i].tier, -i)) if wanted else -1


def _set(key: tuple[str, ...], nodes: Mask, machine: NodeCluster) -> Mask:
    _, constraint, wanted, excluded, gpu_type = key
    types = gpu_types(machine)
    if gpu_type and gpu_type not in types and "" not in types:
        return np.zeros_like(nodes)
    if constraint:
        nodes = nodes & nodes_with(machine, constraint)
    if excluded:
        away = set(expanded(excluded))
        nodes = nodes & np.array([name not in away for name in machine.node_names], np.bool_)
    if wanted and not set(expanded(wanted)) <= set(machine.node_names):
        return np.zeros_like(nodes)
    return nodes


# -- how much --------------------------------------------------------------------------


def _shape(jobs: _Jobs) -> tuple[Ints, Ints, Ints]:
    """Return the least and the most nodes, and the cores on each, 0 where open."""
    cores = jobs.workload.cores
    per_task = np.maximum(jobs.numbers("cores_per_task"), 1)
    per_node = np.maximum(jobs.numbers("tasks_per_node"), 0) * per_task
    asked, most, had = (jobs.numbers(n) for n in ("requested_nodes", "most_nodes", "nodes"))
    by_tasks = -(-cores // np.maximum(per_node, 1))
    # What a job had stands in for what it asked for, where the log does not tell that.
    only_had = (asked <= 0) & (per_node == 0) & (had > 0)
    least = np.where(asked > 0, asked, np.where(per_node > 0, by_tasks, np.maximum(had, 1)))
    most = np.where(only_had, had, np.maximum(most, 0))
    even = only_had & (cores % least == 0)
    per_node = np.where(even, cores // least, np.minimum(per_node, cores))
    return least, most, per_node


def _memory(
    jobs: _Jobs, machine: NodeCluster, partition: Ints, least: Ints, most: Ints
) -> tuple[Ints, Ints, Mask]:
    """Return memory per node, per core, and whether it is all of the nodes'."""
    nothing = np.zeros(len(jobs), np.int64)
    if not machine.counts_memory:
        return nothing, nothing, nothing.astype(np.bool_)
    per_node, per_core, whole = (
        jobs.numbers(name) for name in ("memory_per_node", "memory_per_core", "memory")
    )
    only_whole = (per_node < 0) & (per_core < 0) & (whole > 0)
    # Where a job may be on more nodes than one, its memory goes with its cores.
    spread = only_whole & (most != least)
    per_core = np.where(spread, -(-whole // jobs.workload.cores), per_core)
    per_node = np.where(only_whole & ~spread, -(-whole // least), per_node)
    open_ = (per_node < 0) & (per_core < 0)
    for number, each in enumerate(machine.partitions):
        here = open_ & (partition == number)
        of_core, of_node = _default_memory(each, machine)
        per_core = np.where(here & (of_core is not None), of_core or 0, per_core)
        per_node = np.where(
            here & (of_core is None) & (of_node is not None), of_node or 0, per_node
        )
    # Slurm gives all memory of a node to a job that asks for none, where nothing else is set; of a
    # log that tells nothing about memory nobody knows who asked.
    told = any(jobs.has(name) for name in ("memory_per_node", "memory_per_core", "memory"))
    still_open = (per_node < 0) & (per_core < 0)
    all_of_it = (per_node == 0) | (still_open & told & ("SelectTypeParameters" in machine.settings))
    return np.maximum(per_node, 0), np.maximum(per_core, 0), all_of_it


def _default_memory(partition: Partition, machine: NodeCluster) -> tuple[int | None, int | None]:
    of_core, of_node = partition.default_memory_per_core, partition.default_memory_per_node
    if of_core is None and of_node is None:
        of_core = _amount(machine.settings, "DefMemPerCPU")
        of_node = _amount(machine.settings, "DefMemPerNode")
    return of_core or None, of_node or None


def _amount(settings: Mapping[str, str], name: str) -> int | None:
    try:
        amount = megabytes(settings.get(name, ""))
    except ValueError:
        return None
    return amount if amount > 0 else None


# -- whose -----------------------------------------------------------------------------


def _associations(jobs: _Jobs, machine: NodeCluster) -> Ints:
    """Return the association of each job's user and account; the user's default without one."""
    number: dict[tuple[str, str | None, str | None], int] = {}
    default: dict[str, int] = {}
    for i, link in enumerate(machine.associations):
        number[link.key] = i
        if link.user is not None and (link.default or link.user not in default):
            default[link.user] = i
    found = []
    columns = (jobs.names(name) for name in ("account", "user", "partition"))
    for account, user, partition in zip(*columns, strict=True):
        keys = ((account, user, partition), (account, user, None), (account, None, None))
        own = next((number[key] for key in keys if key in number), -1)
        found.append(own if account else default.get(user, -1))
    return np.array(found, np.int64)


def _qos(jobs: _Jobs, machine: NodeCluster, association: Ints) -> Ints:
    names = tuple(qos.name for qos in machine.qos)
    own = _numbers_of(jobs.names("qos"), names)
    links = inherited(machine.associations) if machine.associations else ()
    defaults = [_default_qos(link.default_qos, link.qos, names) for link in links]
    by_default = np.array([*defaults, _default_qos(None, (), names)], np.int64)[association]
    return np.where(own >= 0, own, by_default)


def _default_qos(stated: str | None, allowed: tuple[str, ...], names: tuple[str, ...]) -> int:
    only = allowed[0] if len(allowed) == 1 else None
    wanted = stated or only or "normal"
    return names.index(wanted) if wanted in names else -1


def unknown_partition(text: str, machine: NodeCluster) -> str | None:
    """Return the sentence for a partition that a machine has not; None where it has them all."""
    names = [partition.name for partition in machine.partitions]
    absent = next((name for name in text.split(",") if name and name not in names), None)
    return None if absent is None else no_such("partition", absent, names)


def most_pieces(requests: JobRequests, nodes: int) -> Ints:
    """Return on how many nodes a job can be at most."""
    spread = np.minimum(requests.cores, nodes)
    by_node = -(-requests.cores // np.maximum(requests.cores_per_node, 1))
    most = np.where(requests.cores_per_node > 0, np.maximum(by_node, requests.least_nodes), spread)
    most = np.where(requests.most_nodes > 0, np.minimum(most, requests.most_nodes), most)
    return np.maximum(most, requests.least_nodes)
