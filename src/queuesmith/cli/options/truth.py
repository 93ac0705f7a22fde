"""The options that hold a replay against what really happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from queuesmith.base.errors import UsageError
from queuesmith.cli.options.log import LogOptions
from queuesmith.cli.options.machine import MachineOptions, NodesOption, machine_named
from queuesmith.cli.options.single import described
from queuesmith.cli.output import tell_changes

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.workload import Workload
    from queuesmith.workload.moments import Moment

ConstraintsOption = Annotated[
    str | None,
    described(
        "as-logged, inferred from where jobs ran and who was let past them, or a CSV file of "
        "id,constraint; by default inferred where the log has none."
    ),
]


@dataclass(frozen=True)
class NodesOptions:
    """The machine as it is: its nodes, what binds jobs to them, and when nothing may run there."""

    panel: ClassVar = "The machine"
    nodes: NodesOption = None
    constraints: ConstraintsOption = None
    maintenance: Annotated[
        list[str] | None,
        described(
            "A time in which nothing may run, known beforehand: FIRST:LAST as for --between; may "
            "be repeated."
        ),
    ] = None

    def cluster(
        self, workload: Workload, machine: MachineOptions, log: LogOptions
    ) -> Cluster | NodeCluster:
        """Return the machine: of nodes where one is described, else a number of cores."""
        from queuesmith.cluster import with_maintenance

        found = machine_named(self.nodes, workload, machine, log)
        return with_maintenance(found, workload, self.windows()) if self.maintenance else found

    @property
    def policy_that_ran(self) -> str | None:
        """The policy under which constraints are inferred; None for the machine's own."""
        return None

    def constrained(
        self, workload: Workload, machine: Cluster | NodeCluster, log: LogOptions
    ) -> Workload:
        """Return the jobs with the constraints that are asked for, and say what was inferred."""
        from queuesmith.study.constraints import with_constraints

        bound = with_constraints(
            workload,
            machine,
            self.constraints,
            today=self.policy_that_ran,
            strict=log.strict,
            whole=log.whole() if self.nodes else None,
        )
        tell_changes(bound, quiet=log.quiet, since=len(workload.changes))
        return bound

    def windows(self) -> list[tuple[Moment, Moment]]:
        """Return the windows of maintenance, each from when up to when."""
        from queuesmith.workload.moments import split_moments

        found = []
        for text in self.maintenance or ():
            window = split_moments(text)
            if window is None:
                raise UsageError(
                    f"--maintenance is '{text}', but it must be two moments. Write FIRST:LAST in "
                    "seconds of the log or in dates, or FIRST..LAST where dates have hours."
                )
            found.append(window)
        return found


@dataclass(frozen=True)
class TruthOptions(NodesOptions):
    """The machine as it is, and how a replay on it is held against what really happened."""

    today: Annotated[
        str | None,
        described(
            "The policy that really ran, by which replays are graded where the log tells what "
            "happened; by default slurm() on a machine of nodes, else fcfs+easy."
        ),
    ] = None
    although_untrue: Annotated[
        bool,
        typer.Option(
            "--although-untrue",
            help="Recommend a policy even where replays are 20 % or more from what happened.",
        ),
    ] = False

    @property
    def policy_that_ran(self) -> str | None:
        """The policy by which replays are graded, too."""
        return self.today
