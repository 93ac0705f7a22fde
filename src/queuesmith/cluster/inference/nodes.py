"""The nodes behind a log: as large as what ran on them at once."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np

from queuesmith.base.errors import ClusterError
from queuesmith.base.words import so_many
from queuesmith.cluster.inference.history import JobHistory, NodePieces
from queuesmith.cluster.levels import levels, peaks
from queuesmith.cluster.nodes import NodeKind
from queuesmith.cluster.slurm_fields import joined
from queuesmith.workload.busy import peak_cores
from queuesmith.workload.workload import Ints

#: Slurm's records of one job's end and the next one's start may overlap by so many seconds.
OVERLAP = 5
#: A size of nodes counts where so large a share of those of like names reached it.
SUPPORT = 0.2
#: A size counts where so many jobs had it.
HAD_BY = 3

_HEADER_NODES = re.compile(r";\s*MaxNodes:\s*([0-9]+)", re.IGNORECASE)


def kinds_of_lists(
    seen: JobHistory, parts: NodePieces, inferred: dict[str, str]
) -> tuple[NodeKind, ...]:
    """Return nodes as large as what ran on them at once; those of like names lend each other."""
    on = np.maximum(np.bincount(parts.job, minlength=len(seen.workload)), 1)
    cores = _lent(_peak_on_nodes(seen, parts, seen.workload.cores // on), parts, SUPPORT)
    memory = _peak_on_nodes(seen, parts, _memory_on_node(seen, on))
    gpus = _peak_on_nodes(seen, parts, _gpus_on_node(seen, on))
    groups = [(stem, int(size)) for stem, size in zip(_stems(parts.names), cores, strict=True)]
    memory = _most_of_group(memory, groups)
    features = _features(seen, parts, inferred)
    inferred["nodes"] = (
        f"{so_many(len(parts.names), 'name')} in the node lists of "
        f"{so_many(len(set(parts.job)), 'job')}; a node has the most cores that ran on it at once, "
        "or that are common among nodes of like names"
    )
    for what, amounts in (("memory", memory), ("gpus", gpus)):
        if amounts.any():
            inferred[what] = f"the most {what} that jobs held on a node, or on one like it, at once"
    return joined(
        NodeKind(
            nodes=(name,),
            cores=max(int(cores[i]), 1),
            memory=int(memory[i]) or None,
            gres={"gpu": int(gpus[i])} if gpus[i] else {},
            features=features[i],
        )
        for i, name in enumerate(parts.names)
    )


def _peak_on_nodes(seen: JobHistory, parts: NodePieces, amount: Ints) -> Ints:
    start = seen.start[parts.job]
    end = np.maximum(seen.end[parts.job] - OVERLAP, start)
    most = peaks(levels(parts.node, start, start, end, amount[parts.job]), len(parts.names))
    # Of jobs that are shorter than the overlap, each had room for itself.
    np.maximum.at(most, parts.node, amount[parts.job])
    return most


def _stems(names: tuple[str, ...]) -> list[str]:
    """Return names without their numbers: ``cpn-f13-02`` is ``cpn-f#-#``."""
    return [re.sub(r"[0-9]+", "#", name) for name in names]


def _lent(size: Ints, parts: NodePieces, support: float) -> Ints:
    """Raise nodes that were never full to a size that is common among those of like names."""
    lent = np.array(size)
    stems = np.array(_stems(parts.names), object)
    for stem in dict.fromkeys(stems):
        here = np.flatnonzero(stems == stem)
        reached = Counter(int(value) for value in size[here])
        needed = max(2, support * len(here))
        common = sorted(value for value, times in reached.items() if times >= needed)
        common = common or [max(reached)]
        for i in here:
            lent[i] = next((value for value in common if value >= size[i]), size[i])
    return lent


def _most_of_group(amount: Ints, groups: list[tuple[str, int]]) -> Ints:
    most: dict[tuple[str, int], int] = {}
    for group, value in zip(groups, amount, strict=True):
        most[group] = max(most.get(group, 0), int(value))
    return np.array([most[group] for group in groups], np.int64)


def _memory_on_node(seen: JobHistory, on: Ints) -> Ints:
    """Return the MB that each job held on each of its nodes, 0 where unknown."""
    had, whole = seen.numbers("allocated_memory"), seen.numbers("memory")
    per_node, per_core = seen.numbers("memory_per_node"), seen.numbers("memory_per_core")
    of_cores = per_core * (seen.workload.cores // on)
    choices = [had > 0, per_node > 0, per_core > 0, whole > 0]
    return np.select(choices, [had // on, per_node, of_cores, whole // on], 0)


def _gpus_on_node(seen: JobHistory, on: Ints) -> Ints:
    per_node = seen.numbers("gpus_per_node")
    had, whole = seen.numbers("allocated_gpus"), seen.numbers("gpus")
    return np.select([per_node > 0, had > 0, whole > 0], [per_node, had // on, whole // on], 0)


def _features(
    seen: JobHistory, parts: NodePieces, inferred: dict[str, str]
) -> list[tuple[str, ...]]:
    """Give a node the features that jobs on it asked for, where they asked for all of a list."""
    found: list[dict[str, None]] = [{} for _ in parts.names]
    asked = seen.names("constraint")
    for constraint in dict.fromkeys(asked[asked != ""]):
        if re.search(r"[|*\[\]()!]", constraint):
            continue
        ran_on = np.unique(parts.node[asked[parts.job] == constraint])
        for node in ran_on:
            found[node].update(dict.fromkeys(re.split(r"[&,]", constraint)))
    if any(found):
        inferred["features"] = "nodes have the features that jobs which ran on them asked for"
    return [tuple(names) for names in found]


def kinds_of_widths(seen: JobHistory, inferred: dict[str, str]) -> tuple[NodeKind, ...]:
    """Return nodes of one size, as the header or the widths of jobs suggest."""
    jobs = seen.workload
    if jobs.machine_cores is None and not seen.ran.any():
        raise ClusterError(
            f"the log '{jobs.name}' tells neither the size of its machine nor when its jobs began, "
            "so nothing can be inferred from it. Describe the machine in TOML."
        )
    cores = jobs.machine_cores or peak_cores(jobs)
    size, how = _node_size(seen, cores)
    count = max(cores // size, 1)
    inferred["nodes"] = (
        f"{so_many(cores, 'core')} in nodes of {size}: {how}; the log has no node lists"
    )
    width = len(str(count))
    names = tuple(f"n{number:0{width}d}" for number in range(1, count + 1))
    return (NodeKind(names, size),)


def _node_size(seen: JobHistory, cores: int) -> tuple[int, str]:
    jobs = seen.workload
    nodes = seen.numbers("nodes")
    on_nodes = (nodes > 0) & (jobs.cores % np.maximum(nodes, 1) == 0)
    if on_nodes.any():
        sizes = Counter(int(size) for size in jobs.cores[on_nodes] // nodes[on_nodes])
        often = [size for size, times in sizes.items() if times >= HAD_BY] or list(sizes)
        return min(max(often), cores), "the most cores that several jobs had on a node"
    header = "\n".join(jobs.header)
    match = _HEADER_NODES.search(header)
    stated = cores // int(match[1]) if match and 0 < int(match[1]) <= cores else 1
    common = math.gcd(*(int(width) for width in np.unique(jobs.cores)), cores)
    if common > stated:
        return common, "all widths of jobs are multiples of it"
    return stated, "as the header says" if stated > 1 else "nothing tells of larger ones"
