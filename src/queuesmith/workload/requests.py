"""What jobs ask a machine of nodes for: the extra columns that tell it.

Amounts are whole numbers and -1 where unknown; memory is in MB; texts are numbers with labels.

| column | meaning |
|---|---|
| ``requested_nodes``, ``most_nodes`` | how many nodes at least, and at most |
| ``tasks``, ``tasks_per_node``, ``cores_per_task`` | how the cores are to be spread over nodes |
| ``memory_per_node``, ``memory_per_core``, ``memory`` | one of three ways; 0: all of a node |
| ``gpus_per_node``, ``gpus``, ``gpu_type`` | GPUs on each node, or of the job; their type |
| ``constraint`` | features of nodes, as ``--constraint`` spells them |
| ``exclusive`` | 0: shares nodes, 1: has its nodes for itself, 2: shares with its user only |
| ``partition``, ``qos``, ``account`` | names; several partitions with commas between |
| ``eligible_after`` | seconds from the submission until the job could start at all |
| ``node_list``, ``allocated_memory``, ``allocated_gpus`` | what it really had |
| ``attempt`` | 1 for the first run under an id, 2 for the next, after a requeue |
| ``dependency``, ``array``, ``array_limit`` | what it waits for; its array, how many run at once |
| ``licenses``, ``reservation`` | as ``--licenses`` spells them; the reservation that it names |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import WorkloadError
from queuesmith.workload.slurm_text import (
    JobMemory,
    count,
    generic_resources,
    job_memory,
    megabytes,
)
from queuesmith.workload.table_columns import coded
from queuesmith.workload.workload import Ints, Workload

Columns = dict[str, NDArray[Any]]
Labels = dict[str, tuple[str, ...]]
Value = TypeVar("Value")

#: Values of the column ``exclusive``.
SHARED, EXCLUSIVE, EXCLUSIVE_USER = 0, 1, 2

_TRES_MEMORY = re.compile(r"(?:^|,)mem=([^,]*)")
_TRES_NODES = re.compile(r"(?:^|,)node=([^,]*)")
_TRES_LICENSES = re.compile(r"(?:^|,)license/([^=,]+)=([0-9]+)")
_TRES_GPUS = re.compile(r"(?:^|,)gres/gpu(?::([^=,]+))?=([^,]*)")


class Gpus(NamedTuple):
    """How many GPUs, -1 where unknown, and of which type, where one is named."""

    number: int = -1
    type: str = ""


class JobResources(NamedTuple):
    """What a list of resources says besides cores; -1 where it says nothing."""

    nodes: int = -1
    memory: int = -1
    gpus: Gpus = Gpus()


def job_resources(text: str) -> JobResources:
    """Return nodes, memory and GPUs of a list such as ``cpu=8,mem=4G,node=2,gres/gpu:v100=2``.

    What cannot be read counts as unknown: such lists hold much that is none of our business.
    """
    memory, nodes = _TRES_MEMORY.search(text), _TRES_NODES.search(text)
    plain, typed, type_ = -1, 0, ""
    for name, amount in _TRES_GPUS.findall(text):
        number = _or_unknown(count, amount, -1)
        if name:
            typed, type_ = typed + max(number, 0), name
        else:
            plain = number
    return JobResources(
        nodes=_or_unknown(count, nodes[1], -1) if nodes else -1,
        memory=_or_unknown(megabytes, memory[1], -1) if memory else -1,
        gpus=Gpus(plain if plain >= 0 or not type_ else typed, type_),
    )


def licenses_in(text: str) -> str:
    """Return the licenses in a list of resources: ``cpu=8,license/matlab=2`` is ``matlab:2``."""
    return ",".join(f"{name}:{amount}" for name, amount in _TRES_LICENSES.findall(text))


def gpus_in(text: str) -> Gpus:
    """Return the GPUs among generic resources: ``gpu:v100:2,nic:1`` is 2 of type v100."""
    nothing: dict[str, int] = {}
    amounts = _or_unknown(generic_resources, text, nothing)
    found = {name: n for name, n in amounts.items() if name.split(":")[0] == "gpu"}
    if not found:
        return Gpus()
    return Gpus(sum(found.values()), next((n[4:] for n in found if n.startswith("gpu:")), ""))


def request_columns(texts: Mapping[str, Sequence[str]]) -> tuple[Columns, Labels]:
    """Return what a log of sacct tells of its jobs' requests, as extra columns and labels.

    Parameters
    ----------
    texts
        The columns of the log by sacct's names in small letters; those that are not there are
        not missed, and what cannot be read is unknown.
    """
    columns: Columns = {}
    labels: Labels = {}
    asked = _each(texts.get("reqtres"), job_resources)
    had = _each(texts.get("alloctres"), job_resources)
    memory = _each(texts.get("reqmem"), lambda text: _or_unknown(job_memory, text, JobMemory()))
    per_node = _each(texts.get("reqgres"), gpus_in)
    if memory is not None:
        columns["memory_per_node"] = _numbers(each.per_node for each in memory)
        columns["memory_per_core"] = _numbers(each.per_core for each in memory)
        columns["memory"] = _numbers(each.whole for each in memory)
    elif asked is not None:
        columns["memory"] = _numbers(each.memory for each in asked)
    nodes = _each(texts.get("reqnodes"), lambda text: _or_unknown(count, text, -1))
    if nodes is not None:
        columns["requested_nodes"] = _numbers(nodes)
    elif asked is not None:
        columns["requested_nodes"] = _numbers(each.nodes for each in asked)
    tasks = _each(texts.get("ntasks"), lambda text: _or_unknown(count, text, -1))
    if tasks is not None:
        columns["tasks"] = _numbers(tasks)
    if asked is not None:
        columns["gpus"] = _numbers(each.gpus.number for each in asked)
    if per_node is not None:
        columns["gpus_per_node"] = _numbers(each.number for each in per_node)
    if had is not None:
        columns["allocated_memory"] = _numbers(each.memory for each in had)
        columns["allocated_gpus"] = _numbers(each.gpus.number for each in had)
    columns = {name: column for name, column in columns.items() if (column >= 0).any()}
    for name, words in _texts_of(texts, asked, per_node).items():
        codes, names = coded(words)
        if names:
            columns[name], labels[name] = codes, names
    return columns, labels


def with_requests(log: Workload, submitted: Workload) -> Workload:
    """Return a log with what another record of the same jobs tells of their requests besides.

    A log of sacct does not tell, for example, how tasks were to be spread; what was submitted does.

    Parameters
    ----------
    log
        What happened.
    submitted
        What was submitted, such as ``*.events``; jobs are told by their ids.
    """
    place = {int(id): i for i, id in enumerate(submitted.id)}
    index = np.array([place.get(int(id), -1) for id in log.id], np.int64)
    if not (index >= 0).any():
        raise WorkloadError(
            f"no job of '{log.name}' has an id that stands in '{submitted.name}', too, so their "
            "requests cannot be told. Give what was submitted to the same machine."
        )
    extra, labels = dict(log.extra), dict(log.labels)
    for name, column in submitted.extra.items():
        if name not in extra and np.issubdtype(column.dtype, np.integer):
            extra[name] = np.where(index >= 0, column[index], -1)
            labels |= {name: submitted.labels[name]} if name in submitted.labels else {}
    return log.replaced(extra=extra, labels=labels)


def partition_column(workload: Workload) -> str:
    """Return the column that divides a log's jobs by where they ran: ``partition`` or ``queue``.

    Logs in SWF often have queues and no partitions.
    """
    partition, queue = (workload.extra.get(name) for name in ("partition", "queue"))
    divided = partition is not None and len(np.unique(partition[partition >= 0])) > 1
    return "queue" if not divided and queue is not None and (queue >= 0).any() else "partition"


def label_texts(codes: Ints, labels: Sequence[str]) -> NDArray[Any]:
    """Return numbers as the texts they stand for; the number where it has none, "" below 0."""
    distinct, where = np.unique(codes, return_inverse=True)
    texts = [
        "" if code < 0 else (labels[code] if code < len(labels) else str(code)) for code in distinct
    ]
    return np.array([*texts, ""], object)[where]


def attempts(ids: Sequence[str]) -> Ints | None:
    """Return for each job how often its id stands up to there; None where each stands once."""
    if len(set(ids)) == len(ids):
        return None
    seen: dict[str, int] = {}
    numbers = []
    for id in ids:
        seen[id] = seen.get(id, 0) + 1
        numbers.append(seen[id])
    return np.array(numbers, np.int64)


#: Columns of sacct that are texts, and what they are called here.
_TEXTS = {
    "constraints": "constraint",
    "nodelist": "node_list",
    "flags": "flags",
    "reservation": "reservation",
}


def _texts_of(
    texts: Mapping[str, Sequence[str]],
    asked: list[JobResources] | None,
    per_node: list[Gpus] | None,
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for source, name in _TEXTS.items():
        if source in texts:
            nothing = ("none assigned", "none", "(null)")
            found[name] = ["" if t.strip().lower() in nothing else t for t in texts[source]]
    listed = _each(texts.get("reqtres"), licenses_in)
    if listed is not None and any(listed):
        found["licenses"] = listed
    if per_node is not None:
        found["gpu_type"] = [gpus.type for gpus in per_node]
    elif asked is not None:
        found["gpu_type"] = [each.gpus.type for each in asked]
    return found


def _each(texts: Sequence[str] | None, parse: Callable[[str], Value]) -> list[Value] | None:
    """Parse a column, each distinct text once."""
    if texts is None:
        return None
    values = {text: parse(text) for text in set(texts)}
    return [values[text] for text in texts]


def _numbers(values: Any) -> Ints:
    return np.fromiter(values, np.int64)


def _or_unknown(parse: Callable[[str], Value], text: str, unknown: Value) -> Value:
    try:
        return parse(text)
    except (ValueError, OverflowError):
        return unknown
