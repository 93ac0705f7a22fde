"""The machine behind a log: the nodes, partitions, limits and outages that its jobs let one see.

What is inferred is the least that the jobs prove: a node is as large as what ran on it at once, a
limit holds where it was reached by several and exceeded by none while jobs waited. It is marked as
inferred, and meant to be looked at and corrected.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.hostlist import expanded, folded, natural
from queuesmith.cluster.levels import Levels, levels, peaks
from queuesmith.cluster.limits import Amounts, Association, Limits, QualityOfService
from queuesmith.cluster.node_cluster import NodeCluster
from queuesmith.cluster.nodes import NodeKind, Partition
from queuesmith.cluster.outages import Outage
from queuesmith.cluster.slurm_fields import joined
from queuesmith.workload import Workload
from queuesmith.workload.requests import label_texts, partition_column
from queuesmith.workload.sacct import peak_cores
from queuesmith.workload.workload import Ints

#: Slurm's records of one job's end and the next one's start may overlap by so many seconds.
OVERLAP = 5
#: A size of nodes counts where so large a share of those of like names reached it.
SUPPORT = 0.2
#: A limit is believed where so many reached it, none exceeded it, and each had jobs waiting at it
#: for so many seconds.
REACHED_BY, WAITED_AT_LIMIT = 3, 3600
#: A partition has a limit where its jobs held nearly its peak for this share of their waiting.
HELD_SHARE = 0.25
#: A gap in which nothing ran is an outage from this length on, where jobs waited meanwhile.
MACHINE_GAP, NODE_GAP = 3600, 86_400
#: A peak this near to the whole machine is the machine, not a limit.
NEARLY_ALL = 0.9

_HEADER_NODES = re.compile(r";\s*MaxNodes:\s*([0-9]+)", re.IGNORECASE)


def infer_machine(workload: Workload) -> NodeCluster:
    """Return the machine that a log lets one see.

    Parameters
    ----------
    workload
        Jobs of which is known when they really began. Node lists, memory, GPUs, constraints,
        partitions, QOS and accounts are used where the log has them.
    """
    seen = _Log(workload)
    inferred: dict[str, str] = {}
    if seen.pieces is not None:
        kinds = _kinds_of_lists(seen, seen.pieces, inferred)
        partitions = _partitions_of_lists(seen, seen.pieces, inferred)
    else:
        kinds = _kinds_of_widths(seen, inferred)
        names = tuple(node for kind in kinds for node in kind.nodes)
        partitions = _partitions_of_names(seen, names, inferred)
    cores = sum(kind.cores * len(kind.nodes) for kind in kinds)
    caps = _partition_caps(seen, partitions, cores, inferred) if seen.pieces is None else {}
    return NodeCluster(
        kinds=kinds,
        name=workload.name,
        partitions=tuple(_capped(each, caps) for each in partitions),
        qos=(*_qos(seen, cores, inferred), *caps.values()),
        associations=_associations(seen, inferred),
        outages=_outages(seen, kinds, inferred),
        inferred=inferred,
    )


# -- what the log tells ----------------------------------------------------------------


@dataclass(frozen=True)
class _Pieces:
    """The parts of jobs on nodes: which job, which node, and the names of the nodes."""

    job: Ints
    node: Ints
    names: tuple[str, ...]


class _Log:
    """A workload, and what it tells about the nodes its jobs ran on."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        start = workload.extra.get("real_start")
        known = np.zeros(len(workload), np.bool_) if start is None else start >= workload.submit
        self.ran: NDArray[np.bool_] = known
        self.submit = workload.submit
        self.start: Ints = np.where(known, 0 if start is None else start, workload.submit)
        self.end: Ints = self.start + np.where(known, workload.runtime, 0)

    def names(self, column: str) -> NDArray[Any]:
        if column == "user":
            return label_texts(self.workload.user, self.workload.labels.get("user", ()))
        if column not in self.workload.extra:
            return np.full(len(self.workload), "", object)
        return label_texts(self.workload.extra[column], self.workload.labels.get(column, ()))

    @cached_property
    def partition(self) -> NDArray[Any]:
        return self.names(partition_column(self.workload))

    def numbers(self, column: str) -> Ints:
        unknown = np.full(len(self.workload), -1, np.int64)
        values: Ints = self.workload.extra.get(column, unknown)
        return values

    @cached_property
    def pieces(self) -> _Pieces | None:
        """The parts of jobs on nodes; None where the log has no node lists."""
        lists = self.names("node_list")
        if not self.ran.any() or not (lists[self.ran] != "").any():
            return None
        members = {text: expanded(text) for text in set(lists[self.ran]) if text}
        names = sorted({node for nodes in members.values() for node in nodes}, key=natural)
        number = {node: i for i, node in enumerate(names)}
        codes = {text: [number[n] for n in nodes] for text, nodes in members.items()}
        parts = [(i, codes[lists[i]]) for i in np.flatnonzero(self.ran) if lists[i]]
        job = np.repeat([i for i, _ in parts], [len(nodes) for _, nodes in parts])
        node = np.concatenate([nodes for _, nodes in parts])
        return _Pieces(job.astype(np.int64), node.astype(np.int64), tuple(names))

    def by(self, line: Ints, amount: Ints) -> Levels:
        """Return what was held and waited over time, by a line for each job; below 0: none."""
        used = self.ran & (line >= 0)
        jobs = (line, self.submit, self.start, self.end, amount)
        return levels(*(column[used] for column in jobs))


# -- nodes -----------------------------------------------------------------------------


def _kinds_of_lists(seen: _Log, parts: _Pieces, inferred: dict[str, str]) -> tuple[NodeKind, ...]:
    """Return nodes as large as what ran on them at once; those of like names lend each other."""
    on = np.maximum(np.bincount(parts.job, minlength=len(seen.workload)), 1)
    cores = _lent(_peak_on_nodes(seen, parts, seen.workload.cores // on), parts, SUPPORT)
    memory = _peak_on_nodes(seen, parts, _memory_on_node(seen, on))
    gpus = _peak_on_nodes(seen, parts, _gpus_on_node(seen, on))
    groups = [(stem, int(size)) for stem, size in zip(_stems(parts.names), cores, strict=True)]
    memory = _most_of_group(memory, groups)
    features = _features(seen, parts, inferred)
    inferred["nodes"] = (
        f"{len(parts.names)} names in the node lists of {len(set(parts.job))} jobs; a node has the "
        "most cores that ran on it at once, or that are common among nodes of like names"
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


def _peak_on_nodes(seen: _Log, parts: _Pieces, amount: Ints) -> Ints:
    start = seen.start[parts.job]
    end = np.maximum(seen.end[parts.job] - OVERLAP, start)
    return peaks(levels(parts.node, start, start, end, amount[parts.job]), len(parts.names))


def _stems(names: tuple[str, ...]) -> list[str]:
    """Return names without their numbers: ``cpn-f13-02`` is ``cpn-f#-#``."""
    return [re.sub(r"[0-9]+", "#", name) for name in names]


def _lent(size: Ints, parts: _Pieces, support: float) -> Ints:
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


def _memory_on_node(seen: _Log, on: Ints) -> Ints:
    """Return the MB that each job held on each of its nodes, 0 where unknown."""
    had, whole = seen.numbers("allocated_memory"), seen.numbers("memory")
    per_node, per_core = seen.numbers("memory_per_node"), seen.numbers("memory_per_core")
    of_cores = per_core * (seen.workload.cores // on)
    choices = [had > 0, per_node > 0, per_core > 0, whole > 0]
    return np.select(choices, [had // on, per_node, of_cores, whole // on], 0)


def _gpus_on_node(seen: _Log, on: Ints) -> Ints:
    per_node = seen.numbers("gpus_per_node")
    had, whole = seen.numbers("allocated_gpus"), seen.numbers("gpus")
    return np.select([per_node > 0, had > 0, whole > 0], [per_node, had // on, whole // on], 0)


def _features(seen: _Log, parts: _Pieces, inferred: dict[str, str]) -> list[tuple[str, ...]]:
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


def _kinds_of_widths(seen: _Log, inferred: dict[str, str]) -> tuple[NodeKind, ...]:
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
    inferred["nodes"] = f"{cores} cores in nodes of {size}: {how}; the log has no node lists"
    width = len(str(count))
    names = tuple(f"n{number:0{width}d}" for number in range(1, count + 1))
    return (NodeKind(names, size),)


def _node_size(seen: _Log, cores: int) -> tuple[int, str]:
    jobs = seen.workload
    nodes = seen.numbers("nodes")
    on_nodes = (nodes > 0) & (jobs.cores % np.maximum(nodes, 1) == 0)
    if on_nodes.any():
        sizes = Counter(int(size) for size in jobs.cores[on_nodes] // nodes[on_nodes])
        often = [size for size, times in sizes.items() if times >= REACHED_BY] or list(sizes)
        return min(max(often), cores), "the most cores that several jobs had on a node"
    header = "\n".join(jobs.header)
    match = _HEADER_NODES.search(header)
    stated = cores // int(match[1]) if match and 0 < int(match[1]) <= cores else 1
    common = math.gcd(*(int(width) for width in np.unique(jobs.cores)), cores)
    if common > stated:
        return common, "all widths of jobs are multiples of it"
    return stated, "as the header says" if stated > 1 else "nothing tells of larger ones"


# -- partitions ------------------------------------------------------------------------


def _partitions_of_lists(
    seen: _Log, parts: _Pieces, inferred: dict[str, str]
) -> tuple[Partition, ...]:
    """Return the partitions that jobs name, each with the nodes that its jobs ran on."""
    names = [name for name in dict.fromkeys(seen.partition) if name and "," not in name]
    nodes = {}
    for name in names:
        ran_on = np.unique(parts.node[seen.partition[parts.job] == name])
        nodes[name] = tuple(parts.names[node] for node in ran_on)
    nodes = {name: own for name, own in nodes.items() if own}
    if nodes:
        inferred["partitions"] = (
            "the nodes on which the jobs of a partition ran; no job that ended within its time "
            "asked for more time, none for more nodes"
        )
    return _limited(seen, nodes)


def _partitions_of_names(
    seen: _Log, nodes: tuple[str, ...], inferred: dict[str, str]
) -> tuple[Partition, ...]:
    names = [name for name in dict.fromkeys(seen.partition) if name and "," not in name]
    if names:
        inferred["partitions"] = (
            "names from the log; all nodes belong to each, as the log has no node lists; no job "
            "that ended within its time asked for more time"
        )
    return _limited(seen, dict.fromkeys(names, nodes))


def _limited(seen: _Log, nodes: dict[str, tuple[str, ...]]) -> tuple[Partition, ...]:
    """Return partitions with the longest time and most nodes that any job of each asked for."""
    found = []
    busiest = Counter(seen.partition).most_common(1)
    for name, own in nodes.items():
        jobs = seen.partition == name
        most_nodes = int(seen.numbers("nodes")[jobs].max())
        # Where it equals the runtime, a walltime may have been raised to it.
        asked = seen.workload.walltime[jobs & (seen.workload.walltime > seen.workload.runtime)]
        longest = asked if len(asked) else seen.workload.walltime[jobs]
        found.append(
            Partition(
                name,
                own,
                default=bool(busiest) and name == busiest[0][0],
                max_time=max(int(longest.max()), 1),
                max_nodes=most_nodes if most_nodes > 0 else None,
            )
        )
    return tuple(found)


# -- limits and shares -----------------------------------------------------------------


def _partition_caps(
    seen: _Log, partitions: tuple[Partition, ...], cores: int, inferred: dict[str, str]
) -> dict[str, QualityOfService]:
    """Return the most cores of a partition that its jobs never exceeded, though they waited."""
    number = {partition.name: i for i, partition in enumerate(partitions)}
    line = np.array([number.get(name, -1) for name in seen.partition], np.int64)
    found = seen.by(line, seen.workload.cores)
    caps = {}
    for partition, most in zip(partitions, peaks(found, len(partitions)), strict=True):
        own = found.line == number[partition.name]
        waiting = own & (found.waiting > 0)
        waited = int(found.lasts[waiting].sum())
        at_most = int(found.lasts[waiting & (found.held >= NEARLY_ALL * most)].sum())
        if most < NEARLY_ALL * cores and waited >= NODE_GAP and at_most >= HELD_SHARE * waited:
            limits = Limits(group=Amounts(cores=int(most)))
            caps[partition.name] = QualityOfService(_cap_name(partition), limits=limits)
            inferred[f"cores of partition {partition.name}"] = (
                f"never more than {most} at once, and nearly so many for {at_most / waited:.0%} of "
                "the time during which its jobs waited"
            )
    return caps


def _capped(partition: Partition, caps: dict[str, QualityOfService]) -> Partition:
    capped = partition.name in caps
    return replace(partition, qos=_cap_name(partition)) if capped else partition


def _cap_name(partition: Partition) -> str:
    return f"partition {partition.name}"


def _qos(seen: _Log, cores: int, inferred: dict[str, str]) -> tuple[QualityOfService, ...]:
    """Return the QOS that jobs name, with the limits of users that several reached."""
    texts = seen.names("qos")
    names = [name for name in dict.fromkeys(texts) if name] or ["normal"]
    found = []
    for name in names:
        own = np.ones(len(texts), np.bool_) if (texts == "").all() else texts == name
        limits = _user_limits(seen, own, cores)
        found.append(QualityOfService(name, limits=limits))
        for thing, amount in (("jobs", limits.user.jobs), ("cores", limits.user.cores)):
            if amount is not None:
                inferred[f"qos {name}: {thing} of a user"] = (
                    f"at least {REACHED_BY} users reached {amount} while more of their jobs "
                    "waited, and none exceeded it"
                )
    return tuple(found)


def _user_limits(seen: _Log, own: NDArray[np.bool_], cores: int) -> Limits:
    line = np.where(own, seen.workload.user, -1)
    one = np.ones(len(line), np.int64)
    jobs = _reached(seen.by(line, one), least=2)
    held = _reached(seen.by(line, seen.workload.cores), least=2)
    if held is not None and held >= NEARLY_ALL * cores:
        held = None
    return Limits(user=Amounts(jobs=jobs, cores=held))


def _reached(found: Levels, least: int) -> int | None:
    """Return the most that anybody held, where several did so for long while more waited."""
    if not len(found.held):
        return None
    most = int(found.held.max())
    at_limit = (found.held == most) & (found.waiting > 0)
    waited = np.zeros(int(found.line.max()) + 1, np.int64)
    np.add.at(waited, found.line[at_limit], found.lasts[at_limit])
    several = np.count_nonzero(waited >= WAITED_AT_LIMIT) >= REACHED_BY
    return most if several and most >= least else None


def _associations(seen: _Log, inferred: dict[str, str]) -> tuple[Association, ...]:
    accounts, users = seen.names("account"), seen.names("user")
    pairs = dict.fromkeys(zip(accounts, users, strict=True))
    named = [(account, user) for account, user in pairs if account]
    if not named:
        return ()
    inferred["accounts"] = (
        "the accounts and users of the jobs; their shares are not known: all alike"
    )
    used = Counter(zip(users, accounts, strict=True))
    links = [Association(account) for account in dict.fromkeys(account for account, _ in named)]
    favourite: dict[str, str] = {}
    for (user, account), _ in used.most_common():
        favourite.setdefault(user, account)
    for account, user in named:
        if user:
            links.append(Association(account, user, default=favourite[user] == account))
    return tuple(links)


# -- outages ---------------------------------------------------------------------------


def _outages(
    seen: _Log, kinds: tuple[NodeKind, ...], inferred: dict[str, str]
) -> tuple[Outage, ...]:
    epoch = seen.workload.epoch or 0
    found = _machine_gaps(seen, epoch)
    if found:
        inferred["outages"] = (
            f"{len(found)} times nothing ran for an hour and more while jobs waited"
        )
    if seen.pieces is not None:
        on_nodes = _node_gaps(seen, seen.pieces, epoch, found)
        if on_nodes:
            inferred["outages of nodes"] = (
                f"{len(on_nodes)} times nodes had no job for a day and more while jobs that fit "
                "on one node waited for their partition"
            )
        found += on_nodes
    return tuple(found)


def _machine_gaps(seen: _Log, epoch: int) -> list[Outage]:
    one_line = np.zeros(len(seen.workload), np.int64)
    found = seen.by(one_line, seen.workload.cores)
    return [
        Outage(begin=epoch + begin, end=epoch + end, reason="nothing ran")
        for begin, end in _gaps(found, MACHINE_GAP, lambda waited, length: waited >= length / 2)
    ]


def _gaps(found: Levels, least: int, believed: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Return the times between the first job and the last during which nothing was held."""
    gaps: list[tuple[int, int]] = []
    began, waited = None, 0
    first = True
    for time, lasts, held, waiting in zip(*found[1:], strict=True):
        if held > 0 and began is not None:
            if not first and time - began >= least and believed(waited, int(time - began)):
                gaps.append((began, int(time)))
            began, waited = None, 0
        if held > 0:
            first = False
        else:
            began = int(time) if began is None else began
            waited += int(lasts) if waiting > 0 else 0
    return gaps


def _node_gaps(seen: _Log, parts: _Pieces, epoch: int, machine_gaps: list[Outage]) -> list[Outage]:
    """Return when single nodes had no job for long although jobs of their partition waited."""
    narrow = (seen.numbers("nodes") == 1) & seen.ran
    waits = {
        name: _waiting_time(seen, narrow & (seen.partition == name))
        for name in dict.fromkeys(seen.partition)
    }
    order = np.lexsort((seen.start[parts.job], parts.node))
    away: dict[tuple[int, int], list[str]] = {}
    for node, own in enumerate(np.split(order, np.cumsum(np.bincount(parts.node))[:-1])):
        start, end = seen.start[parts.job[own]], seen.end[parts.job[own]]
        busy_until = np.maximum.accumulate(end)
        homes = set(seen.partition[parts.job[own]])
        for i in np.flatnonzero(start[1:] - busy_until[:-1] >= NODE_GAP):
            gap = (int(busy_until[i]), int(start[i + 1]))
            if any(waits[name](*gap) >= (gap[1] - gap[0]) / 2 for name in homes):
                away.setdefault(gap, []).append(parts.names[node])
    whole = {(o.begin, o.end) for o in machine_gaps}
    return [
        Outage(tuple(nodes), epoch + begin, epoch + end, f"no job on {folded(nodes)}")
        for (begin, end), nodes in sorted(away.items())
        if (epoch + begin, epoch + end) not in whole
    ]


def _waiting_time(seen: _Log, jobs: NDArray[np.bool_]) -> Callable[[int, int], int]:
    """Return a function that tells for how long of a span some of these jobs waited."""
    line = np.where(jobs, 0, -1)
    found = seen.by(line, np.ones(len(line), np.int64))
    if not len(found.time):
        return lambda begin, end: 0
    spent = np.concatenate([[0], np.cumsum(np.where(found.waiting > 0, found.lasts, 0))])

    def until(moment: int) -> int:
        i = int(np.searchsorted(found.time, moment, side="right")) - 1
        if i < 0:
            return 0
        inside = min(moment - int(found.time[i]), int(found.lasts[i]))
        return int(spent[i]) + (inside if found.waiting[i] > 0 else 0)

    return lambda begin, end: until(end) - until(begin)
