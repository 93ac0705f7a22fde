"""The commands for a running Slurm: look, forecast, advise, steer, restore, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.cli.live_forecast import backtest, forecast
from queuesmith.cli.live_options import LookOptions
from queuesmith.cli.live_steer import advise, export, restore, steer
from queuesmith.cli.options import FormatOption, Quiet, with_options
from queuesmith.cli.output import Format, print_json, print_rows, tell

if TYPE_CHECKING:
    from queuesmith.live.state import ClusterState

app = typer.Typer(
    help="A running Slurm: look at it, say when jobs start, advise, steer its queue, restore it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@with_options
def look(
    where: LookOptions,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for the state: for --state, for 'machine', and as jobs.swf."),
    ] = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Show the state of a running cluster; changes nothing."""
    from queuesmith.live.picture import picture
    from queuesmith.live.state import look as look_now

    if out is not None and where.state is not None:
        raise UsageError(
            "--out keeps what Slurm says now, but --state names what was kept before. Leave one "
            "of them out."
        )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        seen = look_now(keep=out, seconds=where.timeout)
        _write_moment(seen, out, quiet=quiet)
    else:
        seen = where.look()
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


for command in (look, forecast, backtest, advise, steer, restore, export):
    app.command()(command)
