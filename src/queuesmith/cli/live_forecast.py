"""The commands that say when jobs of a running Slurm will start, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.live_options import JournalFolder, LookOptions
from queuesmith.cli.options import FormatOption, Quiet, Seed, with_options
from queuesmith.cli.output import Format, print_rows, progress, tell, tell_changes
from queuesmith.cli.trust import Trust, chosen_policy

if TYPE_CHECKING:
    from queuesmith.live.forecast import Expectation
    from queuesmith.live.jobs import LiveJob
    from queuesmith.live.state import ClusterState
    from queuesmith.live.steered import Steered
    from queuesmith.workload import Workload


@dataclass(frozen=True)
class SteeredOptions:
    """By what the queue is steered, where it is."""

    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy that steers the queue; by default that of a steerer which runs on "
            "this machine."
        ),
    ] = None
    every: Annotated[float, typer.Option(help="Seconds from one of its cycles to the next.")] = 30.0
    journal: JournalFolder = None
    trust: Trust = False

    def steered(self, cluster: str, *, present: bool) -> Steered | None:
        """Return by what a cluster is steered; a state that was kept does not tell."""
        from queuesmith.live.journal import default_folder
        from queuesmith.live.steered import Steered, steered_now

        if self.policy is not None:
            return Steered(chosen_policy(self.policy, trust=self.trust), self.every)
        return steered_now(self.journal or default_folder(), cluster) if present else None


@dataclass(frozen=True)
class MarkOptions:
    """Whether forecasts are noted and corrected by what came of earlier ones."""

    marks: Annotated[
        Path | None,
        typer.Option(
            help="Where forecasts are noted and learned from; by default QUEUESMITH_STATE, and "
            "nowhere with --state."
        ),
    ] = None
    as_replayed: Annotated[
        bool,
        typer.Option("--as-replayed", help="Say what the replays say; learn and note nothing."),
    ] = False

    def folder(self, *, present: bool) -> Path | None:
        """Return where forecasts are noted; None where they are not."""
        from queuesmith.live.journal import default_folder

        if self.as_replayed:
            return None
        return self.marks or (default_folder() if present else None)


@with_options
def forecast(
    look: LookOptions,
    steering: SteeredOptions,
    noting: MarkOptions,
    job: Annotated[
        str | None, typer.Argument(help="A job's number; by default all that wait.")
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(help="A log of jobs that have ended; by default what sacct tells."),
    ] = None,
    days: Annotated[float, typer.Option(help="How many days sacct is asked for.")] = 30.0,
    replays: Annotated[int, typer.Option(help="How many replays of this moment.")] = 50,
    arrivals: Annotated[
        bool | None,
        typer.Option(
            help="Let new jobs come, as in the history, before the late mark; by default where "
            "the queue is steered."
        ),
    ] = None,
    seed: Seed = 0,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Say when each waiting job will start, half and nine times in ten, and why it waits."""
    from queuesmith.live.forecast import forecast as foretell
    from queuesmith.live.marks import told

    seen, present = look.look(), look.state is None
    number = _number(seen, job)
    past = _past(history, days, look)
    if past is None:
        tell(
            "note: no job is known that has ended, so jobs are taken to run to their limits",
            quiet=quiet,
        )
    steered = steering.steered(seen.cluster, present=present)
    if steered is not None:
        tell(f"note: steered by {steered.policy}, every {steered.every:g} s", quiet=quiet)
    with progress(f"replaying {so_many(len(seen.waiting), 'job')}", quiet=quiet) as tick:
        found: Sequence[Expectation] = foretell(
            seen,
            past,
            steered=steered,
            replays=replays,
            arrivals=arrivals,
            seed=seed,
            explained=None if number is None else (number,),
            tick=tick,
        )
    folder, rest = noting.folder(present=present), "marks are as replayed"
    if folder is not None:
        found, rest = told(found, seen, past, folder, steered)
    missing = len(seen.waiting) - len(found)
    if missing and number is None:
        why = so_many(missing, "job that waits has", "jobs that wait have")
        tell(f"note: {why} no expected start: held, or not yet due", quiet=quiet)
    _show(seen, [each for each in found if number in (None, each.job.id)], number, rest, format)


def _number(seen: ClusterState, job: str | None) -> int | None:
    """Return the number of a job that waits."""
    if job is None:
        return None
    array, _, task = job.partition("_")
    if array.isdecimal() and task:
        raise UsageError(
            f"'{job}' is a task of an array, but forecasts are of the first task of it that waits. "
            f"Give the array's number: {array}."
        )
    if not job.isdecimal():
        raise UsageError(f"'{job}' is no job's number. Give one such as 1234.")
    if int(job) not in {each.id for each in seen.waiting}:
        raise UsageError(
            f"job {job} does not wait on cluster '{seen.cluster}'. Give one that does: see "
            "queuesmith slurm look."
        )
    return int(job)


def _past(history: Path | None, days: float, look: LookOptions) -> Workload | None:
    """Return the jobs that have ended; of a state that was kept only a log tells them."""
    from queuesmith.live.forecast import accounting
    from queuesmith.workload.files import read

    if history is not None:
        return read(history)
    return accounting(days, seconds=look.timeout) if look.state is None else None


def _show(
    seen: ClusterState, shown: list[Expectation], job: int | None, rest: str, format: Format
) -> None:
    from queuesmith.live.forecast import rows, why_it_waits

    if not shown and job is not None:
        waiting = next(each for each in seen.waiting if each.id == job)
        why = why_it_waits(seen, waiting)
        if format is Format.table:
            print(f"job {job} has no expected start: {why}")
        else:
            print_rows([_row(waiting, why, None)], format)
        return
    if format is Format.table:
        print_rows(rows(shown), format)
        print(rest)
        if job is not None:
            print(shown[0].why)
        return
    print_rows([_row(each.job, each.why, each) for each in shown], format)


def _row(job: LiveJob, why: str, found: Expectation | None) -> dict[str, Any]:
    """Return a forecast for programs; times are empty where no start is expected."""
    return {
        "job": job.id,
        "user": job.user,
        "median_seconds": None if found is None else found.median,
        "late_seconds": None if found is None else found.late,
        "slurm_seconds": None if found is None else found.slurm,
        "why": why,
        "learned_from_jobs": None if found is None else found.rests_on,
    }


def backtest(
    log: Annotated[Path, typer.Argument(help="A log that tells when its jobs really started.")],
    policy: Annotated[str, typer.Option(help="By what the queue is replayed.")] = "fcfs+easy",
    cores: Annotated[
        int | None, typer.Option(help="The cores of the machine; by default those of the log.")
    ] = None,
    every: Annotated[float, typer.Option(help="Seconds from one moment to the next.")] = 3600.0,
    most: Annotated[int, typer.Option(help="The most moments, evenly over the log.")] = 500,
    replays: Annotated[int, typer.Option(help="How many replays of each moment.")] = 30,
    seed: Seed = 0,
    trust: Trust = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Foretell starts hour by hour along a log, beside what happened and what requests say."""
    chosen = chosen_policy(policy, trust=trust)
    from queuesmith.live.backtest import backtest as foretell
    from queuesmith.workload.files import read

    jobs = read(log)
    tell_changes(jobs, quiet=quiet)
    size = cores or jobs.machine_cores
    if size is None:
        raise UsageError(f"'{log}' does not say how many cores there were. Give --cores.")
    with progress(f"foretelling {jobs.name}", quiet=quiet) as tick:
        found = foretell(
            jobs, size, chosen, every=every, most=most, replays=replays, seed=seed, tick=tick
        )
    print_rows([found.row()], format)
