"""The command that looks at a machine: its nodes, partitions and limits, and what was inferred."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.words import so_many
from queuesmith.cli.options import FormatOption, Quiet
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    print_table,
    tell,
    tell_changes,
    working,
)

if TYPE_CHECKING:
    from queuesmith.cluster import NodeCluster
    from queuesmith.workload import Workload


def machine(
    source: Annotated[
        str,
        typer.Argument(
            help="A folder with a slurm.conf or a machine.toml, one such file, scontrol's output, "
            "or 'infer' with --log."
        ),
    ],
    log: Annotated[
        Path | None,
        typer.Option(help="A job log: to infer the machine from, or to see which jobs fit."),
    ] = None,
    log_format: Annotated[
        str, typer.Option(help="auto, swf, sacct, events, csv or parquet.")
    ] = "auto",
    columns: Annotated[
        str | None,
        typer.Option(help="Columns of a sacct text without header: names, or 'xdmod'."),
    ] = None,
    timezone: Annotated[
        str, typer.Option(help="Time zone of the dates in a sacct text or of scontrol.")
    ] = "UTC",
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail where a job of the log fits no node.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the machine to this TOML file, to be edited.")
    ] = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Show a machine: kinds of nodes, partitions, limits, what was inferred or not understood."""
    from queuesmith.cluster.sources import machine_from
    from queuesmith.cluster.toml import write_machine
    from queuesmith.workload.files import read

    check_targets(out)
    jobs = None
    if log is not None:
        with working(f"reading {log}", quiet=quiet):
            jobs = read(log, format=log_format, columns=columns, timezone=timezone)
        tell_changes(jobs, quiet=quiet)
    found = machine_from(source, log=jobs, timezone=timezone)
    if jobs is not None:
        _tell_fitting(jobs, found, strict=strict, quiet=quiet)
    if out is not None:
        write_machine(found, out)
        tell(f"wrote {out}", quiet=quiet)
    _show(found, format)


def _tell_fitting(jobs: Workload, found: NodeCluster, *, strict: bool, quiet: bool) -> None:
    from queuesmith.cluster.fitting import fitting

    fit = fitting(jobs, found, strict=strict)
    tell_changes(fit, quiet=quiet, since=len(jobs.changes))
    fits = "fits" if len(fit) == 1 else "fit"
    tell(f"{len(fit):,} of {so_many(len(jobs), 'job')} {fits} machine '{found.name}'", quiet=quiet)


def _show(found: NodeCluster, format: Format) -> None:
    from queuesmith.cluster.summary import machine_tables, size_text
    from queuesmith.cluster.toml import machine_table

    if format is Format.json:
        print_json(_content(found, machine_table(found)))
        return
    tables = machine_tables(found)
    if format is Format.csv:
        print_rows(tables["Nodes"], format)
        return
    print(size_text(found))
    for title, rows in tables.items():
        print(f"\n{title}")
        print_table(rows)


def _content(found: NodeCluster, table: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": found.name,
        "node_count": len(found.node_names),
        "cores": found.cores,
        **{key: value for key, value in table.items() if key != "name"},
        "not_understood": dict(found.not_understood),
    }
