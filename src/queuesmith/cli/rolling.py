"""The command that learns again each month, and judges on the next."""

from __future__ import annotations

from typing import Annotated

import typer

from queuesmith.cli.learner_options import LearnerOptions, wait_factor
from queuesmith.cli.options import (
    FormatOption,
    LogOptions,
    MachineOptions,
    Seed,
    own_metric,
    with_options,
)
from queuesmith.cli.output import Format, print_json, print_rows, progress, tell_changes


@with_options
def roll(
    log: LogOptions,
    machine: MachineOptions,
    learner: LearnerOptions,
    objective: Annotated[
        str | None, typer.Option(help="As for tune; by default mean_wait.")
    ] = None,
    longest_wait: Annotated[
        str, typer.Option(metavar="FACTOR", help="As for tune; none for no limit.")
    ] = "2",
    method: Annotated[str, typer.Option(help="As for tune.")] = "pittsburgh",
    days: Annotated[float, typer.Option(help="How long a month is.")] = 30.0,
    origins: Annotated[int, typer.Option(help="How many months, the last of the log.")] = 3,
    seed: Seed = 0,
    workers: Annotated[
        int | None, typer.Option(help="Replays at once; by default one for each core.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Learn on months 1 to k, judge on month k + 1: what learning again each month would bring."""
    from queuesmith.learning.rolling import roll

    wanted = None if objective is None else own_metric(objective)
    chosen, limit = learner.method(method, None), wait_factor(longest_wait)
    workload = log.read()
    with progress(f"learning {origins} times", quiet=log.quiet) as report:
        found = roll(
            workload,
            machine.cluster(workload),
            wanted,
            chosen,
            days=days,
            origins=origins,
            longest_wait=limit,
            strict=log.strict,
            seed=seed,
            workers=workers,
            progress=report,
        )
    tell_changes(workload, quiet=log.quiet, since=len(workload.changes))
    rows = [origin.row() for origin in found]
    if format is Format.json:
        print_json({"origins": [origin.to_dict() for origin in found]})
    else:
        print_rows(rows, format)
