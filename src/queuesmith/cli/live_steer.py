"""The commands that change the order of a running Slurm's queue, or say what that would do."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.live_options import (
    ClusterName,
    JournalFolder,
    LookOptions,
    PolicyName,
    Timeout,
    WhoseOptions,
    check_cluster,
)
from queuesmith.cli.options import FormatOption, Quiet, Seed, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.trust import Trust, chosen_policy

if TYPE_CHECKING:
    from queuesmith.live.advice import Advice


@with_options
def advise(
    look: LookOptions,
    whose: WhoseOptions,
    policy: PolicyName,
    hours: Annotated[float, typer.Option(help="How far to look ahead.")] = 24.0,
    by: Annotated[str, typer.Option(help="Show waits by user, account, partition or qos.")] = (
        "account"
    ),
    commands: Annotated[
        bool, typer.Option("--commands", help="Print only the commands that would do it.")
    ] = False,
    trust: Trust = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Show the order that a policy wants beside today's, and what it would do; changes nothing."""
    chosen = chosen_policy(policy, trust=trust)
    from queuesmith.live.advice import advice

    seen = look.look()
    whose.check_partitions(part.name for part in seen.machine.partitions)
    given = advice(seen, chosen, whose.allowed, hours=hours, by=by)
    if commands:
        print("".join(f"scontrol {change.command}\n" for change in given.changes), end="")
    elif format is Format.json:
        print_json(given.to_dict())
    elif format is Format.csv:
        print_rows(given.moves(), format)
    else:
        _show(given, quiet=quiet)


def _show(given: Advice, *, quiet: bool) -> None:
    """Print an advice for people."""
    rows = given.moves()
    print_rows(rows[:20], Format.table)
    if len(rows) > 20:
        print(f"... and {so_many(len(rows) - 20, 'more job')}; --format csv has them all")
    print(f"\nWaits of the jobs that wait now, over the next {given.hours:g} h, by {given.by}")
    print_rows(given.waits(), Format.table)
    for sentence in given.notes:
        tell(f"note: {sentence}", quiet=quiet)
    print(f"\n{given.sentence}")


@with_options
def steer(
    whose: WhoseOptions,
    policy: PolicyName,
    apply: Annotated[
        bool, typer.Option("--apply", help="Really do it; without, this is 'slurm advise'.")
    ] = False,
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
    check_targets(figures)
    chosen = chosen_policy(policy, trust=trust)
    if apply and not everyone and whose.nobody:
        raise UsageError(
            "nobody is on the allow-list, so there is nothing to steer. Name --partitions, "
            "--accounts or --users, or steer --everyone."
        )
    seen = LookOptions(timeout=timeout).look()
    whose.check_partitions(part.name for part in seen.machine.partitions)
    if not apply:
        from queuesmith.live.advice import advice

        _show(advice(seen, chosen, whose.allowed), quiet=quiet)
        tell("note: nothing was changed; add --apply to steer", quiet=quiet)
        return
    from queuesmith.live.journal import default_folder
    from queuesmith.live.steering import Steering, SteerOptions

    options = SteerOptions(
        allowed=whose.allowed,
        every=every,
        most_changes=most_changes,
        cycles=cycles,
        timeout=timeout,
        as_administrator=as_administrator,
        any_grade=any_grade,
        grade_every=grade_every,
        figures=figures,
    )
    check_cluster(seen.cluster, cluster)
    say = (lambda line: None) if quiet else _logged
    steering = Steering(chosen, journal or default_folder(), options, say=say)
    done = steering.run()
    counts = steering.counts
    print(f"{so_many(counts.changes, 'change')} in {so_many(counts.cycles, 'cycle')}; {done}")


def _logged(line: str) -> None:
    print(time.strftime("%Y-%m-%dT%H:%M:%S"), line, file=sys.stderr, flush=True)


def restore(
    journal: JournalFolder = None,
    cluster: ClusterName = None,
    timeout: Timeout = 30.0,
) -> None:
    """Put every job back as it was, after a steerer was killed or the machine went down."""
    from queuesmith.live.commands import run
    from queuesmith.live.journal import Journal, default_folder
    from queuesmith.live.queries import settings_of
    from queuesmith.live.restoring import restore as put_back
    from queuesmith.live.rights import check_all_shown, hidden_from

    settings = settings_of(run(("scontrol", "show", "config"), seconds=timeout))
    name = settings.get("ClusterName", "cluster")
    check_cluster(name, cluster)
    check_all_shown(name, hidden_from(settings, seconds=timeout))
    folder = journal or default_folder()
    with Journal(folder, name) as kept:
        if not kept.entries:
            print(f"nothing to do: no journal in '{folder}' says that a job of '{name}' was set.")
            return
        print(put_back(kept, seconds=timeout))


def export(
    log: Annotated[Path, typer.Argument(help="A log of jobs that have ended, such as sacct's.")],
    policy: PolicyName,
    machine: Annotated[
        str, typer.Option(help="The machine: a folder of 'slurm look --out', or a slurm.conf.")
    ],
    objective: Annotated[str, typer.Option(help="What counts: a metric or an expression.")] = (
        "mean_wait"
    ),
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
    from queuesmith.cluster.fitting import fitting
    from queuesmith.cluster.sources import machine_from
    from queuesmith.live.export import export as find
    from queuesmith.workload.files import read

    nodes = machine_from(machine)
    jobs = fitting(read(log), nodes)
    tell_changes(jobs, quiet=quiet)
    with progress(f"trying {so_many(candidates, 'setting')}", quiet=quiet) as tick:
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
