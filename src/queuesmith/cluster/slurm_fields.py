"""Nodes and partitions from Slurm's words for them, in slurm.conf and scontrol's output alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.hostlist import expanded
from queuesmith.cluster.nodes import Exclusive, NodeKind, Partition
from queuesmith.cluster.outages import Outage
from queuesmith.cluster.slurm_words import (
    NODE_WORDS,
    NODE_WORDS_ELSEWHERE,
    PARTITION_WORDS,
    PARTITION_WORDS_ELSEWHERE,
    means_nothing_here,
    scheduling_word,
)
from queuesmith.workload.slurm_text import count, duration, generic_resources, megabytes

NONE = ("", "(null)", "none", "n/a", "no_val", "null")
_AWAY = ("DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "MAINT")


@dataclass(frozen=True)
class Fields:
    """The settings of a node or a partition, by keyword in small letters, and where they stand."""

    values: Mapping[str, str]
    place: str

    def text(self, *keywords: str) -> str | None:
        """Return the first of these settings that says something."""
        texts = (self.values.get(keyword) for keyword in keywords)
        return next((t for t in texts if t is not None and t.strip().lower() not in NONE), None)

    def number(self, *keywords: str, parse: Callable[[str], int] = count) -> int | None:
        """Return the first of these settings as a number; None where it is not given or endless."""
        text = self.text(*keywords)
        if text is None:
            return None
        try:
            value = parse(text)
        except (ValueError, OverflowError):
            raise ClusterError(
                f"{self.place} sets {keywords[0]}={text}, but that is no amount. Correct it."
            ) from None
        return None if value < 0 else value

    def names(self, keyword: str) -> tuple[str, ...]:
        """Return a list of names; none where all are meant."""
        text = self.text(keyword)
        if text is None or text.upper() == "ALL":
            return ()
        return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass
class SlurmReading:
    """What has been read of a machine so far, in Slurm's words."""

    settings: dict[str, str] = field(default_factory=dict)
    name: str | None = None
    nodes: list[Fields] = field(default_factory=list)
    partitions: list[Fields] = field(default_factory=list)
    strange: Counter[str] = field(default_factory=Counter)

    def note(self, keyword: str, value: str) -> None:
        """Keep a setting that decides about scheduling; count a keyword that is not Slurm's."""
        name = scheduling_word(keyword)
        if keyword.lower() == "clustername":
            self.name = value
        elif name is not None:
            self.settings[name] = value
        elif not means_nothing_here(keyword):
            self.strange[keyword] += 1


def node_kind(fields: Fields, nodes: Collection[str]) -> NodeKind:
    """Return the kind of nodes that settings describe.

    Parameters
    ----------
    fields
        The settings of a ``NodeName=`` line or of what scontrol shows.
    nodes
        The names.
    """
    number = fields.number
    processors, threads = _processors(fields)
    cores = number("cpuefctv") or processors - _set_aside(fields, processors, threads)
    memory = number("realmemory", parse=megabytes)
    if memory is not None:
        memory -= number("memspeclimit", parse=megabytes) or 0
    features = fields.text("feature", "features", "availablefeatures", "activefeatures") or ""
    return NodeKind(
        nodes=tuple(nodes),
        cores=cores,
        memory=memory or None,
        gres=_gres(fields),
        features=tuple(feature.strip() for feature in features.split(",") if feature.strip()),
        weight=1 if (weight := number("weight")) is None else weight,
        threads_per_core=1 if cores % threads else threads,
    )


def _processors(fields: Fields) -> tuple[int, int]:
    """Return a node's CPUs as Slurm counts them, and how many of them make a core.

    Where there are as many CPUs as cores, a CPU is a core, whatever threads it has.
    """
    threads = fields.number("threadspercore") or 1
    stated = fields.number("cpus", "procs", "cputot")
    sockets = fields.number("sockets", "socketsperboard")
    per_socket = fields.number("corespersocket")
    if stated and sockets is None and per_socket is None:
        return stated, threads
    whole = (sockets or 1) * (per_socket or 1) * (fields.number("boards") or 1)
    # As Slurm does, a number of CPUs is believed only where it fits the sockets and cores.
    return (whole, 1) if stated == whole else (whole * threads, threads)


def _set_aside(fields: Fields, processors: int, threads: int) -> int:
    """Return how many CPUs of a node are kept for the system: those of whole cores."""
    listed = fields.text("cpuspeclist")
    if "corespeccount" in fields.values or listed is None:
        return (fields.number("corespeccount") or 0) * threads
    try:
        spans = [[int(end) for end in part.split("-")] for part in listed.split(",")]
        there = [range(span[0], min(span[-1] + 1, processors)) for span in spans]
    except ValueError:
        raise ClusterError(
            f"{fields.place} sets CpuSpecList={listed}, but CPUs are listed as 0-3,8. Correct it."
        ) from None
    return len({cpu // threads for each in there for cpu in each}) * threads


def _gres(fields: Fields) -> dict[str, int]:
    text = fields.text("gres") or ""
    try:
        return generic_resources(text)
    except ValueError:
        raise ClusterError(
            f"{fields.place} sets Gres={text}, but resources are written as gpu:v100:2. Correct it."
        ) from None


def states(fields: Fields) -> tuple[str, ...]:
    """Return the states of a node: ``IDLE+DRAIN*`` is IDLE and DRAIN."""
    return tuple(
        word.strip("*~#!%$@^- ") for word in (fields.text("state") or "").upper().split("+")
    )


def outage_of(fields: Fields, nodes: Collection[str]) -> Outage | None:
    """Return that nodes are away, where their state says so."""
    if not set(states(fields)) & set(_AWAY):
        return None
    reason = fields.text("reason") or "+".join(states(fields)).lower()
    return Outage(tuple(nodes), reason=reason)


def partition(fields: Fields, all_nodes: Collection[str], sets: Mapping[str, Any]) -> Partition:
    """Return the partition that settings describe.

    Parameters
    ----------
    fields
        The settings of a ``PartitionName=`` line or of what scontrol shows.
    all_nodes
        The nodes there are.
    sets
        Names that stand for several nodes.
    """
    number, name = fields.number, fields.values["partitionname"]
    exclusive, oversubscribe = _sharing(fields)
    old_priority = number("priority")
    tier, factor = number("prioritytier"), fields.text("priorityjobfactor", "priority")
    return Partition(
        name=name,
        nodes=_nodes(fields, name, all_nodes, sets),
        default=_yes(fields, "default"),
        up=(fields.text("state") or "UP").upper() in ("UP", "DRAIN"),
        max_time=number("maxtime", parse=duration),
        default_time=number("defaulttime", parse=duration),
        min_nodes=number("minnodes") or 0,
        max_nodes=number("maxnodes"),
        max_cores_per_node=number("maxcpuspernode"),
        default_memory_per_core=number("defmempercpu", parse=megabytes),
        default_memory_per_node=number("defmempernode", parse=megabytes),
        max_memory_per_core=number("maxmempercpu", parse=megabytes),
        max_memory_per_node=number("maxmempernode", parse=megabytes),
        priority=1.0 if factor is None else _factor(fields, factor),
        tier=tier if tier is not None else (1 if old_priority is None else old_priority),
        exclusive=exclusive,
        oversubscribe=oversubscribe,
        allow_accounts=fields.names("allowaccounts"),
        deny_accounts=fields.names("denyaccounts"),
        allow_qos=fields.names("allowqos"),
        deny_qos=fields.names("denyqos"),
        allow_groups=fields.names("allowgroups"),
        qos=fields.text("qos"),
        least_loaded=_yes(fields, "lln"),
        preempt_mode=fields.text("preemptmode"),
        grace_time=_seconds(fields, "gracetime"),
        billing=fields.text("tresbillingweights") or "",
    )


def _factor(fields: Fields, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ClusterError(
            f"{fields.place} sets PriorityJobFactor={text}, but it must be a number. Correct it."
        ) from None


def _seconds(fields: Fields, keyword: str) -> int:
    """Return a time that is in seconds where it is a plain number."""
    text = fields.text(keyword) or "0"
    return fields.number(keyword, parse=int if text.isdecimal() else duration) or 0


def _yes(fields: Fields, keyword: str) -> bool:
    return (fields.text(keyword) or "").upper() in ("YES", "1", "TRUE")


def _sharing(fields: Fields) -> tuple[Exclusive, int]:
    word, _, most = (fields.text("oversubscribe", "shared") or "NO").upper().partition(":")
    if word == "EXCLUSIVE":
        return "nodes", 1
    jobs = int(most or 4) if word == "FORCE" and (most or "4").isdecimal() else 1
    return "user" if _yes(fields, "exclusiveuser") else "no", max(jobs, 1)


def _nodes(
    fields: Fields, name: str, all_nodes: Collection[str], sets: Mapping[str, Any]
) -> tuple[str, ...]:
    text = fields.text("nodes") or ""
    if text.upper() == "ALL":
        return tuple(all_nodes)
    members: dict[str, None] = {}
    for node in expanded(text):
        members.update(dict.fromkeys(sets.get(node, (node,))))
    there = set(all_nodes)
    absent = next((node for node in members if node not in there), None)
    if absent is not None:
        raise ClusterError(
            f"{fields.place} gives partition '{name}' the node '{absent}', but there is no node of "
            "that name. Add a NodeName line for it, or take it out of the partition."
        )
    return tuple(members)


def strange_words(fields: Fields, spelling: Mapping[str, str]) -> Counter[str]:
    """Count the keywords of a node or a partition that are not Slurm's; spelled as they stand."""
    kind = "PartitionName" if "partitionname" in fields.values else "NodeName"
    words = _KNOWN_WORDS[kind]
    return Counter(f"{spelling[word]} of {kind}" for word in fields.values if word not in words)


_KNOWN_WORDS = {
    "NodeName": NODE_WORDS | NODE_WORDS_ELSEWHERE,
    "PartitionName": PARTITION_WORDS | PARTITION_WORDS_ELSEWHERE,
}


def joined(kinds: Iterable[NodeKind]) -> tuple[NodeKind, ...]:
    """Return kinds with neighbours that are alike made one."""
    together: list[NodeKind] = []
    for kind in kinds:
        if together and replace(kind, nodes=together[-1].nodes) == together[-1]:
            together[-1] = replace(kind, nodes=(*together[-1].nodes, *kind.nodes))
        else:
            together.append(kind)
    return tuple(together)
