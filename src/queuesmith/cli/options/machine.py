"""The options that say which machine is meant: a number of cores, or nodes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.cli.options.log import LogOptions
from queuesmith.cli.options.single import described
from queuesmith.cli.options.texts import settings
from queuesmith.cli.output import tell

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.policy import AnyPolicy
    from queuesmith.workload import Workload

NodesOption = Annotated[
    str | None,
    typer.Option(
        "--machine",
        help="The machine as it is: a folder with a slurm.conf or a machine.toml, one such "
        "file, or 'infer'.",
    ),
]


@dataclass(frozen=True)
class MachineOptions:
    """Which machine is meant, and how it ranks partitions and qualities of service."""

    panel: ClassVar = "The machine"
    cores: Annotated[
        int | None, described("Number of processors; by default what the log says.")
    ] = None
    slurm_conf: Annotated[
        Path | None,
        described(
            "A slurm.conf: weights for multifactor, priorities of partitions, and how many cores "
            "its nodes have."
        ),
    ] = None
    qos_priority: Annotated[
        str, described("Priorities of qualities of service: high=100,normal=10.")
    ] = ""

    def cluster(self, workload: Workload) -> Cluster:
        """Return the machine for a workload."""
        from queuesmith.cluster import Cluster, as_cluster
        from queuesmith.policy.slurm_conf import read_slurm_conf

        partitions = read_slurm_conf(self.slurm_conf).partition_priority if self.slurm_conf else {}
        return Cluster(
            as_cluster(workload, None, self.stated_cores()).cores,
            workload.name,
            partition_priority=partitions,
            qos_priority=settings(self.qos_priority, "qos-priority", "high=100,normal=10"),
        )

    def stated_cores(self) -> int | None:
        """Return how many cores are stated: by the user, or by the nodes of the slurm.conf."""
        if self.cores is not None or self.slurm_conf is None or not _has_nodes(self.slurm_conf):
            return self.cores
        from queuesmith.cluster.slurm_conf import machine_of_slurm_conf

        return machine_of_slurm_conf(self.slurm_conf).cores

    def tell_unused(self, policies: Sequence[AnyPolicy], *, quiet: bool) -> None:
        """Say so where a slurm.conf is given and no policy looks at it."""
        from queuesmith.policy import Policy

        orders = [policy.order.name for policy in policies if isinstance(policy, Policy)]
        if self.slurm_conf is not None and "multifactor" not in orders:
            named = ", ".join(map(str, policies))
            tell(
                f"note: '{self.slurm_conf}' has weights and priorities, which only multifactor "
                f"looks at, not {named}. Replay multifactor+plan, or the machine with --machine.",
                quiet=quiet,
            )

    def configured(self, policy: AnyPolicy) -> AnyPolicy:
        """Return the policy with the weights of the slurm.conf, where it is multifactor."""
        from queuesmith.policy import Policy
        from queuesmith.policy.slurm_conf import read_slurm_conf

        if self.slurm_conf is None or not isinstance(policy, Policy):
            return policy
        if policy.order.name != "multifactor":
            return policy
        return policy.having(**read_slurm_conf(self.slurm_conf).parameters)


def machine_named(
    nodes: str | None, workload: Workload, machine: MachineOptions, log: LogOptions
) -> Cluster | NodeCluster:
    """Return the machine of ``--machine``, or the number of cores where none is named."""
    if nodes is None:
        return machine.cluster(workload)
    from queuesmith.cluster.sources import machine_from
    from queuesmith.cluster.summary import size_text

    for option, value in (("cores", machine.cores), ("slurm-conf", machine.slurm_conf)):
        if value is not None:
            raise UsageError(
                f"--machine and --{option} are both given, but each says what the machine is. "
                "Give one of them."
            )
    found = machine_from(nodes, log=workload, timezone=log.timezone)
    tell(f"machine {size_text(found)}", quiet=log.quiet)
    return found


def _has_nodes(conf: Path) -> bool:
    """Tell whether a slurm.conf describes nodes."""
    from queuesmith.cluster.config_lines import config_lines

    return any(line.subject == "nodename" for line in config_lines(conf, error=PolicyError))
