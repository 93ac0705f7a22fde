"""Options that several commands share, each described once."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args

import typer

from queuesmith.base.errors import PolicyError, UsageError, WorkloadError
from queuesmith.cli.output import Format, tell, tell_changes, working

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.policy import AnyPolicy
    from queuesmith.workload import Workload
    from queuesmith.workload.moments import Moment

FormatOption = Annotated[
    Format, typer.Option("--format", help="How the result is printed.", case_sensitive=False)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]

DEFAULT_THRESHOLDS = "0.08,0.02,0.01,0.001"


def _option(help: str) -> Any:
    return typer.Option(help=help)


@dataclass(frozen=True)
class LogOptions:
    """Which log is meant, how it is read, and which part of it is taken."""

    panel: ClassVar = "The log"
    log: Annotated[
        Path, typer.Argument(help="The job log: SWF, sacct text, events, CSV, Parquet or Batsim.")
    ]
    log_format: Annotated[str, _option("auto, swf, sacct, events, csv, parquet or batsim.")] = (
        "auto"
    )
    columns: Annotated[
        str | None, _option("Columns of a sacct text without header: names, or 'xdmod'.")
    ] = None
    timezone: Annotated[str, _option("Time zone of the dates in a sacct text.")] = "UTC"
    overrun: Annotated[
        str, _option("Where a job ran beyond its walltime: 'raise' that, or 'cut' the job.")
    ] = "raise"
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail where a job would be left out."),
    ] = False
    head: Annotated[int | None, _option("Take only the first N jobs.")] = None
    between: Annotated[
        str | None,
        _option("Take only jobs submitted between FIRST:LAST: seconds of the log, or dates."),
    ] = None
    where: Annotated[
        str | None,
        _option("Take only jobs that meet a condition: \"partition == 'gpu' and cores > 64\"."),
    ] = None
    load_factor: Annotated[
        float | None, _option("Move arrivals so that the load is multiplied by this.")
    ] = None
    groups: Annotated[
        str, _option("Group users by their 'share' of the work, or by a column of the log.")
    ] = "share"
    thresholds: Annotated[
        str, _option("Shares of the work that divide the groups, heaviest users first.")
    ] = DEFAULT_THRESHOLDS
    dependencies: Annotated[
        bool,
        typer.Option(
            "--dependencies", help="Let jobs wait for those that the log says they follow."
        ),
    ] = False
    quiet: Quiet = False

    def read(self, *, cancelled: bool = False) -> Workload:
        """Read the log, group its users, take the part that is asked for, say what was dropped.

        Jobs that were cancelled while they waited are kept beside it where asked for.
        """
        from queuesmith.workload.files import read
        from queuesmith.workload.slurm_text import zone_of

        zone_of(self.timezone)
        with working(f"reading {self.log}", quiet=self.quiet):
            workload = read(
                self.log,
                format=self.log_format,
                columns=self.columns,
                timezone=self.timezone,
                overrun=self.overrun,  # type: ignore[arg-type]  # checked there, with a sentence
                strict=self.strict,
                dependencies=self.dependencies,
                cancelled=cancelled,
            )
        workload = self._part(self._grouped(workload))
        tell_changes(workload, quiet=self.quiet)
        return workload

    def _grouped(self, workload: Workload) -> Workload:
        if self.groups == "share" and self.thresholds == DEFAULT_THRESHOLDS:
            return workload
        return workload.grouped(tuple(numbers(self.thresholds, "thresholds")), by=self.groups)

    def _part(self, workload: Workload) -> Workload:
        if self.between is not None:
            from queuesmith.workload.moments import split_moments

            moments = split_moments(self.between)
            if moments is None:
                raise UsageError(
                    f"--between is '{self.between}', but it must be two moments. Write FIRST:LAST "
                    "in seconds of the log or in dates, or FIRST..LAST where dates have hours."
                )
            part = workload.between(*moments)
            if not len(part):
                raise WorkloadError(
                    f"no job of '{workload.name}' was submitted between {self.between}: its "
                    f"submissions are from second {workload.submit[0]} to {workload.submit[-1]}"
                    f"{_dates(workload)}. Give others with --between FIRST:LAST."
                )
            workload = part
        if self.where is not None:
            part = workload.where(self.where)
            if not len(part):
                raise WorkloadError(
                    f"no job of '{workload.name}' meets the condition \"{self.where}\". "
                    "Give another with --where."
                )
            workload = part
        if self.head is not None:
            if self.head < 1:
                raise UsageError(
                    f"--head is {self.head}, but it must be at least 1. Give 1 or more."
                )
            workload = workload.head(self.head)
        if self.load_factor is not None:
            workload = workload.with_load_factor(self.load_factor)
        return workload


@dataclass(frozen=True)
class LogOrDemo(LogOptions):
    """The same for a page that has logs of its own, which need no file."""

    log: Annotated[Path, typer.Argument(help="The job log, or demo, demo-large, demo-bursty.")] = (
        Path("demo")
    )

    def chosen(self) -> dict[str, Any]:
        """Return the options that are not as they are by default, but for the log itself."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        usual = {each.name: each.default for each in fields(self)}
        silent = ("log", "quiet", "strict")
        return {n: value for n, value in own.items() if n not in silent and value != usual[n]}


@dataclass(frozen=True)
class MachineOptions:
    """Which machine is meant, and how it ranks partitions and qualities of service."""

    panel: ClassVar = "The machine"
    cores: Annotated[int | None, _option("Number of processors; by default what the log says.")] = (
        None
    )
    slurm_conf: Annotated[
        Path | None,
        _option(
            "A slurm.conf: weights for multifactor, priorities of partitions, and how many cores "
            "its nodes have."
        ),
    ] = None
    qos_priority: Annotated[
        str, _option("Priorities of qualities of service: high=100,normal=10.")
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


ConstraintsOption = Annotated[
    str | None,
    _option(
        "as-logged, inferred from where jobs ran and who was let past them, or a CSV file of "
        "id,constraint; by default inferred where the log has none."
    ),
]


NodesOption = Annotated[
    str | None,
    typer.Option(
        "--machine",
        help="The machine as it is: a folder with a slurm.conf or a machine.toml, one such "
        "file, or 'infer'.",
    ),
]


@dataclass(frozen=True)
class TruthOptions:
    """The machine as it is, and how a replay on it is held against what really happened."""

    panel: ClassVar = "The machine"
    nodes: NodesOption = None
    constraints: ConstraintsOption = None
    maintenance: Annotated[
        list[str] | None,
        _option(
            "A time in which nothing may run, known beforehand: FIRST:LAST as for --between; may "
            "be repeated."
        ),
    ] = None
    today: Annotated[
        str | None,
        _option(
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

    def cluster(
        self, workload: Workload, machine: MachineOptions, log: LogOptions
    ) -> Cluster | NodeCluster:
        """Return the machine: of nodes where one is described, else a number of cores."""
        from queuesmith.cluster import with_maintenance

        found = machine_named(self.nodes, workload, machine, log)
        return with_maintenance(found, workload, self.windows()) if self.maintenance else found

    def constrained(
        self, workload: Workload, machine: Cluster | NodeCluster, log: LogOptions
    ) -> Workload:
        """Return the jobs with the constraints that are asked for, and say what was inferred."""
        from queuesmith.study.constraints import with_constraints

        bound = with_constraints(
            workload, machine, self.constraints, today=self.today, strict=log.strict
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


@dataclass(frozen=True)
class CountingOptions:
    """Which part of a replay counts."""

    panel: ClassVar = "What counts"
    warm_up: Annotated[
        float, _option("Share of the log at its beginning whose jobs do not count.")
    ] = 0.0
    cool_down: Annotated[float, _option("Share of the log at its end not counted.")] = 0.0
    bound: Annotated[float, _option("Bound of the bounded slowdown, in seconds.")] = 10.0


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take bundles of options: each field becomes an option of its own."""
    bundles: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        bundle = parameter.annotation
        if isinstance(bundle, type) and is_dataclass(bundle):
            bundles[parameter.name] = bundle
            own = inspect.signature(bundle, eval_str=True).parameters.values()
            parameters += [_in_panel(each, getattr(bundle, "panel", None)) for each in own]
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def expanded(**values: Any) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle(**{f.name: values.pop(f.name) for f in fields(bundle)})
        command(**values)

    ordered = sorted(parameters, key=lambda p: p.default is not p.empty)
    keyword = [p.replace(kind=p.KEYWORD_ONLY) for p in ordered]
    expanded.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    expanded.__annotations__ = {p.name: p.annotation for p in keyword}
    return expanded


def _in_panel(parameter: inspect.Parameter, panel: str | None) -> inspect.Parameter:
    """Let help show an option of a bundle in the bundle's panel."""
    kind, *facts = get_args(parameter.annotation) or (parameter.annotation,)
    options = [fact for fact in facts if hasattr(fact, "rich_help_panel")]
    if panel is None or not options or options[0].rich_help_panel:
        return parameter
    option = copy(options[0])
    option.rich_help_panel = panel
    return parameter.replace(annotation=Annotated[kind, option])


def _has_nodes(conf: Path) -> bool:
    """Tell whether a slurm.conf describes nodes."""
    from queuesmith.cluster.config_lines import config_lines

    return any(line.subject == "nodename" for line in config_lines(conf, error=PolicyError))


def _dates(workload: Workload) -> str:
    """Say in dates from when to when jobs are submitted, where the log has dates."""
    if workload.epoch is None:
        return ""
    days = [
        datetime.fromtimestamp(workload.epoch + int(second), UTC).date()
        for second in (workload.submit[0], workload.submit[-1])
    ]
    return f", {days[0]} to {days[1]}"


def numbers(
    text: str, option: str, *, separator: str = ",", count: int | None = None
) -> list[float]:
    """Read a list of numbers."""
    try:
        values = [float(part) for part in text.split(separator)]
    except ValueError:
        values = []
    if not values or len(values) != (count or len(values)) or not all(map(math.isfinite, values)):
        wanted = "numbers" if count is None else f"{count} numbers"
        raise UsageError(
            f"--{option} is '{text}', but it must be {wanted} separated by '{separator}'. "
            "Correct it."
        )
    return values


def settings(text: str, option: str, example: str) -> dict[str, float]:
    """Read ``name=number,name=number``."""
    from queuesmith.policy.policy import parse_settings

    try:
        return parse_settings(text)
    except PolicyError:
        raise UsageError(
            f"--{option} is '{text}', but it must be name=number. Write for example {example}."
        ) from None


def own_metrics(text: str) -> list[str]:
    """Read a list of metrics; those of the user's own files are loaded and called by name."""
    return [own_metric(name) for name in names(text)]


def own_metric(text: str) -> str:
    """Return an objective; where it is ``my.py:function``, load that and return its name."""
    if not re.fullmatch(r".+\.py:\w+", text.strip()):
        return text
    from queuesmith.policy.own_metrics import add_metric

    return add_metric(text.strip())


def names(text: str) -> list[str]:
    """Read a comma-separated list; commas within brackets do not separate."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
