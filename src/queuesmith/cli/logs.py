"""Commands that look at, make and reshape job logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.cli.options import FormatOption, LogOptions, Quiet, Seed, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    tell,
    tell_changes,
    working,
)

if TYPE_CHECKING:
    from queuesmith.workload import Workload

Out = Annotated[Path, typer.Option(help="The file to write: .swf, .swf.gz, .csv or .parquet.")]


@with_options
def describe(
    log: LogOptions,
    plot: Annotated[Path | None, typer.Option(help="Write the pictures to this HTML file.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Say what is in a job log: arrivals, sizes, runtimes, estimates, load by week."""
    if plot is not None:
        _check_figure(plot)
    workload = log.read()
    description = workload.describe()
    if plot is not None:
        from queuesmith.figures.page import write_figures

        write_figures([description.plot()], plot, title=f"The jobs of {workload.name}")
        tell(f"wrote {plot}", quiet=log.quiet)
    if format is Format.json:
        print_json(description.to_dict())
    else:
        print_rows([{"what": what, "value": value} for what, value in description.rows()], format)


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

    if model not in GENERATORS:
        raise UsageError(f"there is no model '{model}'. Choose from: {', '.join(GENERATORS)}.")
    with working(f"generating {jobs} jobs", quiet=quiet):
        workload = GENERATORS[model](
            jobs, cores, load=load, users=users, estimates=estimates, seed=seed
        )
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
    tell(f"wrote {len(workload):,} jobs to {out}", quiet=quiet)


def _check_figure(path: Path) -> None:
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"the picture '{path}' must be an HTML file. End its name in .html.")
    check_targets(path)
