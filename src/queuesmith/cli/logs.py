"""Commands that look at, make and reshape job logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.base.registry import entry
from queuesmith.base.words import so_many
from queuesmith.cli.options import FormatOption, LogOptions, Quiet, Seed, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    print_sentences,
    print_table,
    tell,
    tell_changes,
    working,
)

if TYPE_CHECKING:
    from queuesmith.workload import Workload
    from queuesmith.workload.waits import Waits

#: Of a long list of users or accounts so many are shown, those with the most jobs.
MOST_PARTS = 10

Out = Annotated[Path, typer.Option(help="The file to write: .swf, .swf.gz, .csv or .parquet.")]


@with_options
def describe(
    log: LogOptions,
    cores: Annotated[
        int | None, typer.Option(help="Number of processors; by default what the log says.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Show real waits by this alone, all of it: user, group, size, hour, or a column "
            "of the log such as partition."
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the pictures to this HTML file.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Say what is in a job log: arrivals, sizes, runtimes, load by week, who waited how long."""
    from queuesmith.cluster import as_cluster

    if plot is not None:
        _check_figure(plot)
    workload = log.read()
    if cores is not None:
        workload = workload.replaced(machine_cores=as_cluster(workload, None, cores).cores)
    description = workload.describe()
    waits = real_waits(workload, by)
    if plot is not None:
        from queuesmith.figures.page import write_figures

        write_figures(description.plots(), plot, title=f"The jobs of {workload.name}")
        tell(f"wrote {plot}", quiet=log.quiet)
    if format is Format.json:
        plain = {column: [asdict(row) for row in rows] for column, rows in waits.items()}
        print_json({**description.to_dict(), "waits": plain})
        return
    print_rows([{"what": what, "value": value} for what, value in description.rows()], format)
    if format is Format.table:
        for column, rows in waits.items():
            print_waits(workload, column, rows, most=None if by else MOST_PARTS)
        contradiction = crowded(workload)
        if contradiction:
            print_sentences(contradiction)


def real_waits(workload: Workload, by: str | None) -> dict[str, list[Waits]]:
    """Return how long whom waited, by column; nothing where the log does not tell."""
    from queuesmith.workload.waits import columns_of, waits_by

    start = workload.real_start
    if start is None:
        if by is not None:
            raise WorkloadError(
                f"the log '{workload.name}' does not tell when its jobs really began, so --by has "
                "no waits to show. Give a log with starts or waits."
            )
        return {}
    # Of the hours a first look shows quarters of the day.
    columns = [by] if by else [c.replace("hour", "daytime") for c in columns_of(workload)]
    return {column: waits_by(workload, start - workload.submit, column) for column in columns}


def print_waits(
    workload: Workload, column: str, rows: Sequence[Waits], *, most: int | None
) -> None:
    """Print the waits by one column in hours, of a long list those with the most jobs."""
    from queuesmith.workload.waits import ORDERED, title_of

    shown = list(rows) if most is None or column in ORDERED else list(rows)[:most]
    table = [
        {
            title_of(workload, column): row.part,
            "jobs": row.jobs,
            "mean wait (h)": f"{row.mean / 3600:,.2f}",
            "median (h)": f"{row.median / 3600:,.2f}",
            "95 % (h)": f"{row.p95 / 3600:,.2f}",
            "longest (h)": f"{row.longest / 3600:,.2f}",
        }
        for row in shown
    ]
    print_table(table, right=list(table[0])[1:])
    if len(shown) < len(rows):
        print_sentences(f"{len(rows) - len(shown):,} more: --by {column} shows all.")


def crowded(workload: Workload) -> str | None:
    """Say so where more cores were really busy at once than the machine has."""
    from queuesmith.workload.busy import peak_cores

    cores = workload.machine_cores
    if cores is None or workload.real_start is None:
        return None
    peak = peak_cores(workload)
    if peak <= cores:
        return None
    return (
        f"The log contradicts the machine: {peak:,} cores were really busy at once, but it has "
        f"{cores:,}. Give the right number with --cores, or the machine with --machine."
    )


def generate(
    model: Annotated[str, typer.Argument(help="lublin, bag-of-tasks or airs.")],
    jobs: Annotated[int, typer.Option(help="How many jobs.")],
    cores: Annotated[int, typer.Option(help="Processors of the machine they are made for.")],
    out: Out,
    load: Annotated[
        float | None, typer.Option(help="Offered load; by default what the model gives.")
    ] = None,
    users: Annotated[int, typer.Option(help="How many users submit them.")] = 100,
    estimates: Annotated[
        bool, typer.Option(help="Round walltimes as users give them; else the runtime.")
    ] = True,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a synthetic job log."""
    from queuesmith.workload.synthetic import GENERATORS

    generator = entry("model", model, GENERATORS)
    with working(f"generating {so_many(jobs, 'job')}", quiet=quiet):
        workload = generator(jobs, cores, load=load, users=users, estimates=estimates, seed=seed)
    _write(workload, out, quiet)


@with_options
def convert(log: LogOptions, out: Out) -> None:
    """Write a job log, or a part of it, in another format."""
    _write(log.read(), out, log.quiet)


@with_options
def scale(
    log: LogOptions,
    to: Annotated[int, typer.Option(help="Processors of the machine to scale to.")],
    out: Out,
    from_: Annotated[
        int | None,
        typer.Option("--from", help="Processors of the log's machine; by default what it says."),
    ] = None,
    widen: Annotated[
        float, typer.Option(help="Probability that a job is widened instead of duplicated.")
    ] = 0.5,
    seed: Seed = 0,
) -> None:
    """Scale a job log to another machine size: widen or duplicate each job."""
    from queuesmith.workload.scale import scale

    workload = log.read()
    size = from_ if from_ is not None else workload.machine_cores
    if size is None:
        raise UsageError(
            f"the log '{workload.name}' does not say how many cores its machine has. Give --from N."
        )
    before = len(workload.changes)
    scaled = scale(workload, size, to, seed=seed, widen=widen)
    tell_changes(scaled, quiet=log.quiet, since=before)
    _write(scaled, out, log.quiet)


def _write(workload: Workload, out: Path, quiet: bool) -> None:
    from queuesmith.workload.files import write

    with working(f"writing {out}", quiet=quiet):
        write(workload, out)
    tell(f"wrote {so_many(len(workload), 'job')} to {out}", quiet=quiet)


def _check_figure(path: Path) -> None:
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"the picture '{path}' must be an HTML file. End its name in .html.")
    check_targets(path)
