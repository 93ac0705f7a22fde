"""The command that learns again each month, and judges on the next."""

from __future__ import annotations

from typing import Annotated

import typer

from queuesmith.base.words import so_many
from queuesmith.cli.learner_options import LearnerOptions, wait_factor
from queuesmith.cli.options import (
    FormatOption,
    LogOptions,
    MachineOptions,
    Seed,
    TruthOptions,
    own_metric,
    with_options,
)
from queuesmith.cli.output import (
    Format,
    print_json,
    print_rows,
    print_sentences,
    progress,
    tell_changes,
)


@with_options
def roll(
    log: LogOptions,
    machine: MachineOptions,
    truth: TruthOptions,
    learner: LearnerOptions,
    objective: Annotated[
        str | None, typer.Option(help="As for tune; by default mean_wait.")
    ] = None,
    longest_wait: Annotated[
        str, typer.Option(metavar="FACTOR", help="As for tune; none for no limit.")
    ] = "2",
    method: Annotated[str | None, typer.Option(help="As for tune.")] = None,
    days: Annotated[float, typer.Option(help="How long a month is.")] = 30.0,
    origins: Annotated[int, typer.Option(help="How many months, the last of the log.")] = 3,
    seed: Seed = 0,
    workers: Annotated[
        int | None, typer.Option(help="Replays at once; by default one for each core.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Learn on months 1 to k, judge on month k + 1: what learning again each month would bring."""
    from queuesmith.cluster.fitting import jobs_that_fit
    from queuesmith.learning.rolling import roll, rolling_conclusion
    from queuesmith.report.caution import is_untrue, refusal
    from queuesmith.study.grading import grade_of

    wanted = None if objective is None else own_metric(objective)
    chosen, limit = learner.method(method), wait_factor(longest_wait)
    workload = log.read()
    cluster = truth.cluster(workload, machine, log)
    workload = truth.constrained(workload, cluster, log)
    fitting = jobs_that_fit(workload, cluster, strict=log.strict)
    tell_changes(fitting, quiet=log.quiet, since=len(workload.changes))
    graded = grade_of(fitting, cluster, truth.today)
    with progress(f"learning {so_many(origins, 'time')}", quiet=log.quiet) as report:
        found = roll(
            fitting,
            cluster,
            wanted,
            chosen,
            days=days,
            origins=origins,
            longest_wait=limit,
            seed=seed,
            workers=workers,
            progress=report,
        )
    untrue = is_untrue(graded) and not truth.although_untrue
    said = refusal(graded) if untrue and graded is not None else rolling_conclusion(found)
    if format is Format.json:
        told = None if graded is None else graded.to_dict()
        rows = [origin.to_dict() for origin in found]
        print_json({"origins": rows, "fidelity": told, "conclusion": said})
    elif format is Format.csv:
        print_rows([origin.row() for origin in found], format)
    else:
        print_sentences(f"Learned for {found[0].tuned.goal}.")
        print_rows([origin.row() for origin in found], format)
        print_sentences("" if graded is None else graded.sentence, said)
