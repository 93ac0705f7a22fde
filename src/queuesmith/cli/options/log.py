"""The options that say which log is meant, how it is read, and which part is taken."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.cli.options.single import Quiet, described
from queuesmith.cli.options.texts import numbers
from queuesmith.cli.output import tell_changes, working

if TYPE_CHECKING:
    from queuesmith.workload import Workload

DEFAULT_THRESHOLDS = "0.08,0.02,0.01,0.001"


@dataclass(frozen=True)
class LogOptions:
    """Which log is meant, how it is read, and which part of it is taken."""

    panel: ClassVar = "The log"
    log: Annotated[
        Path, typer.Argument(help="The job log: SWF, sacct text, events, CSV, Parquet or Batsim.")
    ]
    log_format: Annotated[str, described("auto, swf, sacct, events, csv, parquet or batsim.")] = (
        "auto"
    )
    columns: Annotated[
        str | None, described("Columns of a sacct text without header: names, or 'xdmod'.")
    ] = None
    timezone: Annotated[
        str, described("Time zone of the dates in a sacct text; what is shown is in UTC.")
    ] = "UTC"
    overrun: Annotated[
        str, described("Where a job ran beyond its walltime: 'raise' that, or 'cut' the job.")
    ] = "raise"
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail where a job would be left out."),
    ] = False
    head: Annotated[int | None, described("Take only the first N jobs.")] = None
    between: Annotated[
        str | None,
        described("Take only jobs submitted between FIRST:LAST: seconds, or dates (UTC)."),
    ] = None
    where: Annotated[
        str | None,
        described("Take only jobs that meet a condition: \"partition == 'gpu' and cores > 64\"."),
    ] = None
    load_factor: Annotated[
        float | None, described("Move arrivals so that the load is multiplied by this.")
    ] = None
    groups: Annotated[
        str, described("Group users by their 'share' of the work, or by a column of the log.")
    ] = "share"
    thresholds: Annotated[
        str, described("Shares of the work that divide the groups, heaviest users first.")
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
        workload = self._part(self._grouped(self._file(cancelled=cancelled)))
        tell_changes(workload, quiet=self.quiet)
        return workload

    @property
    def is_part(self) -> bool:
        """Whether only some jobs of the log are taken."""
        return any(each is not None for each in (self.where, self.between, self.head))

    def whole(self) -> Workload | None:
        """Return the log that the jobs are a part of; None where they are all of it."""
        return self._file() if self.is_part else None

    def _file(self, *, cancelled: bool = False) -> Workload:
        from queuesmith.workload.files import read
        from queuesmith.workload.slurm_text import zone_of

        zone_of(self.timezone)
        with working(f"reading {self.log}", quiet=self.quiet):
            return read(
                self.log,
                format=self.log_format,
                columns=self.columns,
                timezone=self.timezone,
                overrun=self.overrun,  # type: ignore[arg-type]  # checked there, with a sentence
                strict=self.strict,
                dependencies=self.dependencies,
                cancelled=cancelled,
            )

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
class LogIfAny(LogOptions):
    """The same for a command that has something to say without a log, too."""

    # Whoever reads it has asked before whether there is one.
    log: Annotated[
        Path | None, typer.Argument(help="A job log: say also how often each rule decides.")
    ] = None  # type: ignore[assignment]


def _dates(workload: Workload) -> str:
    """Say in dates from when to when jobs are submitted, where the log has dates."""
    if workload.epoch is None:
        return ""
    days = [
        datetime.fromtimestamp(workload.epoch + int(second), UTC).date()
        for second in (workload.submit[0], workload.submit[-1])
    ]
    return f", {days[0]} to {days[1]}"
