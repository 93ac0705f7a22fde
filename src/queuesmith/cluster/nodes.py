"""What a machine is made of: kinds of nodes, and partitions of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from queuesmith.base.checks import number, whole_number
from queuesmith.base.errors import ClusterError
from queuesmith.base.registry import known
from queuesmith.cluster.billing import billing_weights
from queuesmith.cluster.hostlist import expanded, folded
from queuesmith.workload.columns import LARGEST_WIDTH

#: Whether jobs have their nodes for themselves: never, always, or apart from others of their user.
Exclusive = Literal["no", "nodes", "user"]
EXCLUSIVE: tuple[Exclusive, ...] = ("no", "nodes", "user")
_LARGEST = float(2**53)


@dataclass(frozen=True)
class NodeKind:
    """Nodes that are all alike.

    Parameters
    ----------
    nodes
        Their names, or Slurm's short form of them: ``n[1-4]``.
    cores
        How many cores jobs can have on each, as Slurm counts CPUs.
    memory
        How many MB jobs can have on each; None where that is unknown or not counted.
    gres
        GPUs and other generic resources of each, by name and type: ``{"gpu:v100": 2}``.
    features
        What jobs can ask for by ``--constraint``.
    weight
        Nodes of less weight are given to jobs first.
    threads_per_core
        Cores are given out in multiples of this.
    """

    nodes: tuple[str, ...]
    cores: int
    memory: int | None = None
    gres: Mapping[str, int] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    weight: int = 1
    threads_per_core: int = 1

    if TYPE_CHECKING:
        # What may be given is more than what is kept; dataclasses know no such difference.
        def __init__(
            self,
            nodes: str | Collection[str],
            cores: int,
            memory: int | None = None,
            gres: Mapping[str, int] = ...,
            features: Collection[str] = (),
            weight: int = 1,
            threads_per_core: int = 1,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", names_of(self.nodes, "a kind of nodes"))
        if not self.nodes:
            raise ClusterError("a kind of nodes has no node. Name at least one, such as n[1-4].")
        what = f"the nodes from '{self.nodes[0]}' on"  # all their names take time to write
        whole_number(f"cores of {what}", self.cores, 1, "Give the cores of one node.")
        number(f"cores of {what}", self.cores, 1, LARGEST_WIDTH, "Give the cores of one node.")
        if self.memory is not None:
            whole_number(f"memory of {what}", self.memory, 1, "Give the MB of one node.")
        for name, amount in self.gres.items():
            whole_number(f"'{name}' of {what}", amount, 0, "Give how many one node has.")
        whole_number(f"weight of {what}", self.weight, 0, "Give a number from 0 up.")
        whole_number(f"threads_per_core of {what}", self.threads_per_core, 1, "Give 1 or more.")
        object.__setattr__(self, "features", tuple(dict.fromkeys(self.features)))

    def __str__(self) -> str:
        short = folded(self.nodes)
        return f"nodes '{short if len(short) < 60 else f'{short[:57]}...'}'"

    @property
    def gpus(self) -> int:
        """How many GPUs each node has, of whatever type."""
        return sum(count for name, count in self.gres.items() if name.split(":")[0] == "gpu")


@dataclass(frozen=True)
class Partition:
    """A set of nodes, which may overlap with others, and what jobs there must keep to.

    Parameters
    ----------
    name, nodes
        What jobs call it, and its nodes as names or in Slurm's short form.
    default
        Whether jobs that name no partition run here.
    up
        Whether jobs can start here at all.
    max_time, default_time
        The longest walltime, and that of jobs that state none, in seconds; None: no such.
    min_nodes, max_nodes, max_cores_per_node
        How many nodes a job has, and how many cores of one node all jobs here together.
    default_memory_per_core, default_memory_per_node, max_memory_per_core, max_memory_per_node
        Memory in MB of jobs that state none, and the most that a job can have.
    priority, tier
        The factor in a job's priority, and the rank of the whole partition before others.
    exclusive
        ``"nodes"``: each job has its nodes for itself; ``"user"``: each user has.
    oversubscribe
        How many jobs may share one core.
    allow_accounts, deny_accounts, allow_qos, deny_qos, allow_groups
        Who may run here; where nothing is allowed by name, everybody may.
    qos
        The quality of service whose limits hold for the partition as a whole.
    least_loaded
        Whether the least loaded nodes are taken first.
    preempt_mode, grace_time
        What becomes of jobs here that others preempt, and the seconds they have left then.
    billing
        What a second of each resource counts in fair-share, as Slurm writes it:
        ``CPU=1.0,Mem=0.25G,GRES/gpu=8``; where nothing is said, cores count.
    """

    name: str
    nodes: tuple[str, ...]
    default: bool = False
    up: bool = True
    max_time: int | None = None
    default_time: int | None = None
    min_nodes: int = 0
    max_nodes: int | None = None
    max_cores_per_node: int | None = None
    default_memory_per_core: int | None = None
    default_memory_per_node: int | None = None
    max_memory_per_core: int | None = None
    max_memory_per_node: int | None = None
    priority: float = 1.0
    tier: int = 1
    exclusive: Exclusive = "no"
    oversubscribe: int = 1
    allow_accounts: tuple[str, ...] = ()
    deny_accounts: tuple[str, ...] = ()
    allow_qos: tuple[str, ...] = ()
    deny_qos: tuple[str, ...] = ()
    allow_groups: tuple[str, ...] = ()
    qos: str | None = None
    least_loaded: bool = False
    preempt_mode: str | None = None
    grace_time: int = 0
    billing: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise ClusterError("a partition has no name, but jobs ask for it by name. Give one.")
        what = f"partition '{self.name}'"
        object.__setattr__(self, "nodes", names_of(self.nodes, what))
        known(f"exclusive use of {what} called", self.exclusive, EXCLUSIVE, error=ClusterError)
        number(f"priority of {what}", self.priority, 0, _LARGEST, "Give a number from 0 up.")
        billing_weights(self.billing, what)
        for name in ("allow_accounts", "deny_accounts", "allow_qos", "deny_qos", "allow_groups"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None:
                whole_number(f"{name} of {what}", value, least, f"Give {least} or more.")


#: The whole numbers of a partition, and how small each can be.
_LEAST = {
    "max_time": 1,
    "default_time": 1,
    "min_nodes": 0,
    "max_nodes": 1,
    "max_cores_per_node": 1,
    "default_memory_per_core": 0,
    "default_memory_per_node": 0,
    "max_memory_per_core": 0,
    "max_memory_per_node": 0,
    "tier": 0,
    "oversubscribe": 1,
    "grace_time": 0,
}


@dataclass(frozen=True)
class Switch:
    """A switch of the network: the nodes and the switches below it."""

    name: str
    nodes: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", names_of(self.nodes, f"switch '{self.name}'"))
        object.__setattr__(self, "switches", names_of(self.switches, f"switch '{self.name}'"))


def names_of(nodes: str | Collection[str], what: str) -> tuple[str, ...]:
    """Return names of nodes, given as such or in Slurm's short form; an error where one is twice.

    Parameters
    ----------
    nodes
        The names, or a text such as ``n[1-4,7]``.
    what
        Whose nodes they are, as a sentence says it.
    """
    names = expanded(nodes) if isinstance(nodes, str) else tuple(nodes)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ClusterError(f"{what} names the node '{twice}' twice. Name each once.")
    return names
