"""Commands that fetch logs: from a running Slurm, from the archive of logs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.help import PanelGroup
from queuesmith.cli.options import Quiet
from queuesmith.cli.output import check_targets, progress, tell, tell_changes, working

app = typer.Typer(
    cls=PanelGroup, help="Fetch a job log: from Slurm's accounting, or from the archive of logs."
)

Out = Annotated[Path, typer.Option(help="The log to write: .parquet, .csv, .csv.gz or .swf.gz.")]


@app.command()
def slurm(
    start: Annotated[str, typer.Option(help="First day, such as 2024-01-01.")],
    out: Out,
    end: Annotated[
        str | None, typer.Option(help="The day after the last; by default today.")
    ] = None,
    days: Annotated[int, typer.Option(help="How many days one call of sacct asks for.")] = 7,
    sacct: Annotated[str, typer.Option(help="The program, where it is not on the path.")] = "sacct",
    cluster: Annotated[
        str | None, typer.Option(help="One of several clusters in the accounting.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Fetch jobs from sacct, in pieces, into one file; the same command resumes what was stopped.

    Needs no rights beyond those of sacct --allusers.
    """
    from queuesmith.workload.files import check_writable
    from queuesmith.workload.sacct_import import SacctRequest, import_sacct

    check_targets(out)
    check_writable(out)
    last = _day(end, "end") if end is not None else _today()
    request = SacctRequest(_day(start, "start"), last, days, sacct, cluster)
    with progress(f"asking {sacct}", quiet=quiet) as report:
        workload = import_sacct(request, out, progress=report)
    tell_changes(workload, quiet=quiet)
    tell(f"wrote {so_many(len(workload), 'job')} to {out}", quiet=quiet)


@app.command()
def archive(
    name: Annotated[str, typer.Argument(help="A log of the Parallel Workloads Archive: KTH-SP2.")],
    out: Annotated[Path, typer.Option(help="The file to write, which ends in .swf.gz.")],
    address: Annotated[
        str | None, typer.Option("--from", help="Another address that has the same files.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Fetch a log of the Parallel Workloads Archive by its name, and check its checksum."""
    from queuesmith.workload.archive import ARCHIVE, fetch_log

    check_targets(out)
    with working(f"fetching {name}", quiet=quiet):
        fetch_log(name, out, archive=address or ARCHIVE)
    tell(f"wrote {out}", quiet=quiet)


def _day(text: str, option: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"--{option} is '{text}', but it must be a date. Give for example 2024-01-01."
        ) from None


def _today() -> datetime:
    return datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)
