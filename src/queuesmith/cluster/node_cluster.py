"""A machine as it is: nodes, partitions, limits, shares, outages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from queuesmith.base.errors import ClusterError
from queuesmith.base.registry import entry, no_such
from queuesmith.base.words import so_many
from queuesmith.cluster.limits import Association, QualityOfService, ordered
from queuesmith.cluster.machine import Places
from queuesmith.cluster.nodes import NodeKind, Partition, Switch
from queuesmith.cluster.outages import Outage, with_one_time_each
from queuesmith.cluster.preemption import check_modes, check_preemption


@dataclass(frozen=True)
class NodeCluster:
    """A machine of nodes, which may be of different kinds.

    Parameters
    ----------
    kinds
        Its nodes, those that are alike together.
    name
        What messages and figures call it.
    partitions
        The sets of nodes that jobs ask for; where none is given, one of all nodes.
    qos, associations
        Limits and shares of jobs, users and accounts.
    outages
        When nodes are not there.
    switches
        The network as a tree, where it is known.
    settings
        What a slurm.conf says about scheduling, by Slurm's names.
    inferred
        What was not stated but concluded from a log, and how, by the name of the thing.
    not_understood
        What was found in the files and means nothing here, and how often.
    """

    kinds: tuple[NodeKind, ...]
    name: str = "cluster"
    partitions: tuple[Partition, ...] = ()
    qos: tuple[QualityOfService, ...] = ()
    associations: tuple[Association, ...] = ()
    outages: tuple[Outage, ...] = ()
    switches: tuple[Switch, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    inferred: Mapping[str, str] = field(default_factory=dict)
    not_understood: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not self.kinds:
            raise ClusterError(f"machine '{self.name}' has no nodes. Describe at least one kind.")
        for name in ("kinds", "partitions", "qos", "outages", "switches"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        _check_once(
            [n for kind in self.kinds for n in kind.nodes], f"machine '{self.name}'", "node"
        )
        if not self.partitions:
            everywhere = Partition("all", self.node_names, default=True)
            object.__setattr__(self, "partitions", (everywhere,))
        for what, things in (("partition", self.partitions), ("QOS", self.qos)):
            _check_once([thing.name for thing in things], f"machine '{self.name}'", what)
        object.__setattr__(self, "associations", _checked_shares(self.associations))
        object.__setattr__(self, "outages", with_one_time_each(self.outages))
        self._check_nodes()
        self._check_qos()

    def _check_nodes(self) -> None:
        users = [(f"partition '{p.name}'", p.nodes) for p in self.partitions]
        users += [("an outage", outage.nodes) for outage in self.outages]
        users += [(f"switch '{switch.name}'", switch.nodes) for switch in self.switches]
        # Partitions of all nodes share one list of them, which is looked at once.
        for what, nodes in {id(nodes): (what, nodes) for what, nodes in users}.values():
            absent = set(nodes) - self.node_index.keys()
            if absent:
                raise ClusterError(
                    f"{what} names the node '{min(absent)}', but machine '{self.name}' has none of "
                    "that name. Define the node, or take it out of the list."
                )

    def _check_qos(self) -> None:
        check_modes(self.partitions, "partition")
        if not self.qos:
            return  # they are not known
        names = [qos.name for qos in self.qos]
        for partition in self.partitions:
            for name in (*partition.allow_qos, *((partition.qos,) if partition.qos else ())):
                if name not in names:
                    sentence = no_such("QOS", name, names)
                    raise ClusterError(f"in partition '{partition.name}', {sentence}")
        check_preemption(self.qos)
        check_modes(self.qos, "QOS")

    def __repr__(self) -> str:
        nodes, cores = so_many(len(self.node_names), "node"), so_many(self.cores, "core")
        return f"<NodeCluster '{self.name}': {nodes}, {cores}>"

    # -- what every machine tells ----------------------------------------------------------

    @cached_property
    def cores(self) -> int:
        """How many cores there are in all."""
        return sum(kind.cores * len(kind.nodes) for kind in self.kinds)

    @cached_property
    def places(self) -> Places:
        """Its nodes and the cores of each."""
        cores = np.repeat([k.cores for k in self.kinds], [len(k.nodes) for k in self.kinds])
        return Places(self.node_names, cores.astype(np.int64))

    @property
    def measures(self) -> Mapping[str, Callable[[Any], float]]:
        """Nothing that other machines do not have."""
        return {}

    def violations(self, schedule: Any) -> list[str]:
        """Return what a schedule breaks of memory, GPUs, where jobs may run, and limits."""
        from queuesmith.cluster.violations import violations_on_nodes

        return violations_on_nodes(self, schedule)

    @property
    def partition_priority(self) -> Mapping[str, float]:
        """The priority of each partition, by name."""
        return {partition.name: partition.priority for partition in self.partitions}

    @property
    def qos_priority(self) -> Mapping[str, float]:
        """The priority of each quality of service, by name."""
        return {qos.name: float(qos.priority) for qos in self.qos}

    # -- looking ---------------------------------------------------------------------------

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """All nodes, in the order of their numbers."""
        return tuple(node for kind in self.kinds for node in kind.nodes)

    @cached_property
    def node_index(self) -> Mapping[str, int]:
        """The number of each node, by its name."""
        return {node: i for i, node in enumerate(self.node_names)}

    def partition(self, name: str) -> Partition:
        """Return a partition by its name."""
        return entry("partition", name, {p.name: p for p in self.partitions}, error=ClusterError)

    @property
    def default_partition(self) -> Partition | None:
        """The partition of jobs that name none; None where they must name one."""
        only = self.partitions[0] if len(self.partitions) == 1 else None
        return next((p for p in self.partitions if p.default), only)

    @property
    def counts_memory(self) -> bool:
        """Whether memory is given out to jobs, and not cores alone."""
        stated = self.settings.get("SelectTypeParameters")
        known = any(kind.memory is not None for kind in self.kinds)
        return known and (stated is None or "memory" in stated.lower())

    @property
    def enforces_limits(self) -> bool:
        """Whether limits of QOS and associations hold; so they do where nothing is said of it."""
        stated = self.settings.get("AccountingStorageEnforce")
        return stated is None or bool({"limits", "safe", "all"} & set(stated.lower().split(",")))


def _checked_shares(associations: Collection[Association]) -> tuple[Association, ...]:
    return ordered(associations) if associations else ()


def _check_once(names: Collection[str], where: str, what: str) -> None:
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise ClusterError(f"{where} has the {what} '{name}' twice. Give each a name of its own.")
