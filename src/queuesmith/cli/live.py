"""The commands for a running Slurm: look, forecast, advise, steer, restore, export."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.cli.engine import load_engine
from queuesmith.cli.options import FormatOption, Quiet, Seed
from queuesmith.cli.output import Format, check_targets, print_json, print_rows, progress, tell
from queuesmith.cli.trust import Trust, chosen_policy

if TYPE_CHECKING:
    from queuesmith.live.changes import AllowList
    from queuesmith.live.state import ClusterState

app = typer.Typer(
    help="A running Slurm: look at it, say when jobs start, advise, steer its queue, restore it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

State = Annotated[
    Path | None,
    typer.Option("--state", help="A folder that 'slurm look --out' wrote; by default look now."),
]
Timeout = Annotated[float, typer.Option(help="Seconds that each of Slurm's commands may take.")]
PolicyName = Annotated[str, typer.Option(help="The policy whose order is wanted.")]
Names = Annotated[str, typer.Option(help="Only jobs of these, with commas between.")]
JournalFolder = Annotated[
    Path | None,
    typer.Option("--journal", help="The folder of the journal; by default QUEUESMITH_STATE."),
]
ClusterName = Annotated[
    str | None, typer.Option(help="Refuse to do anything on a cluster of another name.")
]


def _state(folder: Path | None, timeout: float, cluster: str | None = None) -> ClusterState:
    from queuesmith.live.state import look as look_now
    from queuesmith.live.state import state_of

    state = look_now(seconds=timeout) if folder is None else state_of(folder)
    if cluster is not None and cluster != state.cluster:
        raise UsageError(
            f"this is cluster '{state.cluster}', but --cluster says '{cluster}'. Set SLURM_CONF to "
            "the one you mean; nothing was changed."
        )
    return state


def _allowed(partitions: str, accounts: str, users: str) -> AllowList:
    from queuesmith.live.changes import AllowList

    parts = (
        frozenset(name.strip() for name in text.split(",") if name.strip())
        for text in (partitions, accounts, users)
    )
    return AllowList(*parts)


@app.command()
def look(
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for the state: for --state, for 'machine', and as jobs.swf."),
    ] = None,
    state: State = None,
    timeout: Timeout = 30.0,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Show the state of a running cluster; changes nothing."""
    from queuesmith.live.picture import picture
    from queuesmith.live.state import look as look_now

    if out is not None and state is None:
        out.mkdir(parents=True, exist_ok=True)
        seen = look_now(keep=out, seconds=timeout)
        _write_moment(seen, out, quiet=quiet)
    else:
        seen = _state(state, timeout)
    if format is Format.table:
        print(picture(seen))
    elif format is Format.json:
        facts = {"cluster": seen.cluster, "version": seen.version, "now": seen.now}
        print_json({**facts, "notes": list(seen.notes), "jobs": _job_rows(seen)})
    else:
        print_rows(_job_rows(seen), format)


def _job_rows(seen: ClusterState) -> list[dict[str, Any]]:
    names = (
        *("id", "array", "tasks", "user", "account", "partition", "qos", "state", "reason"),
        *("priority", "cores", "nodes", "walltime", "elapsed", "submit", "start", "node_list"),
    )
    return [{name: getattr(job, name) for name in names} for job in seen.jobs]


def _write_moment(seen: ClusterState, out: Path, *, quiet: bool) -> None:
    from queuesmith.base.errors import WorkloadError
    from queuesmith.live.moment import moment_of_cores
    from queuesmith.workload.files import write

    try:
        moment = moment_of_cores(seen)
    except WorkloadError as error:
        tell(f"note: no jobs.swf: {error}", quiet=quiet)
        return
    write(moment.workload, out / "jobs.swf")
    tell(f"wrote {out}; its jobs.swf is the queue as a workload", quiet=quiet)


@app.command()
def forecast(
    job: Annotated[
        int | None, typer.Argument(help="A job's number; by default all that wait.")
    ] = None,
    state: State = None,
    history: Annotated[
        Path | None,
        typer.Option(help="A log of jobs that have ended; by default what sacct tells."),
    ] = None,
    days: Annotated[float, typer.Option(help="How many days sacct is asked for.")] = 30.0,
    replays: Annotated[int, typer.Option(help="How many replays of this moment.")] = 50,
    arrivals: Annotated[
        bool, typer.Option("--arrivals", help="Let new jobs come as they did in the history.")
    ] = False,
    seed: Seed = 0,
    timeout: Timeout = 30.0,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Say when each waiting job will start, half and nine times in ten, and why it waits."""
    load_engine()
    from queuesmith.live.forecast import accounting, rows
    from queuesmith.live.forecast import forecast as foretell
    from queuesmith.workload.files import read

    seen = _state(state, timeout)
    if job is not None and job not in {each.id for each in seen.waiting}:
        raise UsageError(
            f"job {job} does not wait on cluster '{seen.cluster}'. Give one that does: see "
            "queuesmith slurm look."
        )
    given = None if history is None else read(history)
    past = accounting(days, seconds=timeout) if given is None and state is None else given
    if past is None:
        tell("note: no accounting, so jobs are taken to run to their limits", quiet=quiet)
    with progress(f"replaying {len(seen.waiting)} jobs", quiet=quiet) as tick:
        found = foretell(
            seen,
            past,
            replays=replays,
            arrivals=arrivals,
            seed=seed,
            explained=None if job is None else (job,),
            tick=tick,
        )
    shown = [each for each in found if job in (None, each.job.id)]
    if not shown and job is not None:
        from queuesmith.live.forecast import why_it_waits

        waiting = next(each for each in seen.waiting if each.id == job)
        print(f"job {job} has no expected start: {why_it_waits(seen, waiting)}")
        return
    if format is Format.table:
        print_rows(rows(shown), format)
        if job is not None:
            print(shown[0].why)
        return
    print_rows(
        [
            {
                "job": each.job.id,
                "user": each.job.user,
                "median_seconds": each.median,
                "late_seconds": each.late,
                "slurm_seconds": each.slurm,
                "why": each.why,
            }
            for each in shown
        ],
        format,
    )


@app.command()
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
    load_engine()
    from queuesmith.live.backtest import backtest as foretell
    from queuesmith.workload.files import read

    jobs = read(log)
    size = cores or jobs.machine_cores
    if size is None:
        raise UsageError(f"'{log}' does not say how many cores there were. Give --cores.")
    with progress(f"foretelling {jobs.name}", quiet=quiet) as tick:
        found = foretell(
            jobs, size, chosen, every=every, most=most, replays=replays, seed=seed, tick=tick
        )
    print_rows([found.row()], format)


@app.command()
def advise(
    policy: PolicyName,
    state: State = None,
    partitions: Names = "",
    accounts: Names = "",
    users: Names = "",
    hours: Annotated[float, typer.Option(help="How far to look ahead.")] = 24.0,
    by: Annotated[str, typer.Option(help="Show waits by user, account, partition or qos.")] = (
        "account"
    ),
    commands: Annotated[
        bool, typer.Option("--commands", help="Print only the commands that would do it.")
    ] = False,
    timeout: Timeout = 30.0,
    trust: Trust = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Show the order that a policy wants beside today's, and what it would do; changes nothing."""
    chosen = chosen_policy(policy, trust=trust)
    load_engine()
    from queuesmith.live.advice import advice

    seen = _state(state, timeout)
    given = advice(seen, chosen, _allowed(partitions, accounts, users), hours=hours, by=by)
    if commands:
        print("".join(f"scontrol {change.command}\n" for change in given.changes), end="")
        return
    if format is Format.json:
        print_json(given.to_dict())
        return
    rows = given.moves()
    print_rows(rows if format is Format.csv else rows[:20], format)
    if format is Format.csv:
        return
    if len(rows) > 20:
        print(f"... and {len(rows) - 20:,} more jobs; --format csv has them all")
    print(f"\nWaits of the jobs that wait now, over the next {hours:g} h, by {by}")
    print_rows(given.waits(), format)
    for sentence in given.notes:
        tell(f"note: {sentence}", quiet=quiet)
    print(f"\n{given.sentence}")


@app.command()
def steer(
    policy: PolicyName,
    apply: Annotated[
        bool, typer.Option("--apply", help="Really do it; without, this is 'slurm advise'.")
    ] = False,
    partitions: Names = "",
    accounts: Names = "",
    users: Names = "",
    everyone: Annotated[
        bool, typer.Option("--everyone", help="Steer all jobs, where no list says whose.")
    ] = False,
    every: Annotated[float, typer.Option(help="Seconds from one cycle to the next.")] = 30.0,
    most_changes: Annotated[int, typer.Option(help="Most jobs changed in one cycle.")] = 500,
    cycles: Annotated[int | None, typer.Option(help="Stop after so many cycles.")] = None,
    journal: JournalFolder = None,
    cluster: ClusterName = None,
    as_administrator: Annotated[
        bool, typer.Option("--as-administrator", help="Run with more rights than are needed.")
    ] = False,
    any_grade: Annotated[
        bool, typer.Option("--any-grade", help="Steer even where replays are not to be believed.")
    ] = False,
    grade_every: Annotated[
        float, typer.Option(help="Seconds after which the fidelity grade is looked at again.")
    ] = 21_600.0,
    figures: Annotated[
        Path | None, typer.Option(help="Write figures for Prometheus to this .prom file.")
    ] = None,
    timeout: Timeout = 30.0,
    trust: Trust = False,
    quiet: Quiet = False,
) -> None:
    """Keep the queue in the order of a policy until stopped; then put every job back."""
    if not apply:
        advise(policy, None, partitions, accounts, users, timeout=timeout, trust=trust, quiet=quiet)
        tell("note: nothing was changed; add --apply to steer", quiet=quiet)
        return
    check_targets(figures)
    chosen = chosen_policy(policy, trust=trust)
    allowed = _allowed(partitions, accounts, users)
    if not everyone and not (allowed.partitions or allowed.accounts or allowed.users):
        raise UsageError(
            "nobody is on the allow-list, so there is nothing to steer. Name --partitions, "
            "--accounts or --users, or steer --everyone."
        )
    load_engine()
    from queuesmith.live.journal import default_folder
    from queuesmith.live.steering import Steering, SteerOptions

    options = SteerOptions(
        allowed=allowed,
        every=every,
        most_changes=most_changes,
        cycles=cycles,
        timeout=timeout,
        as_administrator=as_administrator,
        any_grade=any_grade,
        grade_every=grade_every,
        figures=figures,
    )
    _state(None, timeout, cluster)
    say = (lambda line: None) if quiet else _logged
    steering = Steering(chosen, journal or default_folder(), options, say=say)
    done = steering.run()
    print(f"{steering.counts.changes:,} changes in {steering.counts.cycles:,} cycles; {done}")


def _logged(line: str) -> None:
    print(time.strftime("%Y-%m-%dT%H:%M:%S"), line, file=sys.stderr, flush=True)


@app.command()
def restore(
    journal: JournalFolder = None,
    cluster: ClusterName = None,
    timeout: Timeout = 30.0,
) -> None:
    """Put every job back as it was, after a steerer was killed or the machine went down."""
    from queuesmith.live.commands import run
    from queuesmith.live.journal import Journal, default_folder
    from queuesmith.live.restoring import restore as put_back
    from queuesmith.live.state import settings_of

    settings = settings_of(run(("scontrol", "show", "config"), seconds=timeout))
    name = settings.get("ClusterName", "cluster")
    if cluster is not None and cluster != name:
        raise UsageError(
            f"this is cluster '{name}', but --cluster says '{cluster}'. Set SLURM_CONF to the one "
            "you mean; nothing was changed."
        )
    folder = journal or default_folder()
    with Journal(folder, name) as kept:
        if not kept.entries:
            print(f"nothing to do: no journal in '{folder}' says that a job of '{name}' was set.")
            return
        print(put_back(kept, seconds=timeout))


@app.command()
def export(
    log: Annotated[Path, typer.Argument(help="A log of jobs that have ended, such as sacct's.")],
    policy: PolicyName,
    machine: Annotated[
        str, typer.Option(help="The machine: a folder of 'slurm look --out', or a slurm.conf.")
    ],
    objective: Annotated[str, typer.Option(help="What counts; smaller is better.")] = "mean_wait",
    candidates: Annotated[int, typer.Option(help="How many settings are tried.")] = 60,
    split: Annotated[
        float, typer.Option(help="The share of the log's time that is learned from.")
    ] = 0.7,
    seed: Seed = 0,
    trust: Trust = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Print settings of slurm.conf under which stock Slurm comes nearest to a policy."""
    chosen = chosen_policy(policy, trust=trust)
    load_engine()
    from queuesmith.cluster.sources import machine_from
    from queuesmith.live.export import export as find
    from queuesmith.workload.files import read

    jobs, nodes = read(log), machine_from(machine)
    with progress(f"trying {candidates} settings", quiet=quiet) as tick:
        found = find(
            jobs,
            nodes,
            chosen,
            objective=objective,
            candidates=candidates,
            split=split,
            seed=seed,
            tick=tick,
        )
    if format is Format.table:
        print(found.text)
        print_rows(found.rows(), format)
    else:
        print_rows(found.rows(), format)
