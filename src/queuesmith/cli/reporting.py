"""Reports that commands write beside what they print."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.cli.output import tell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from queuesmith.schedule import Schedule

Report = Annotated[
    Path | None, typer.Option(help="Write the report: figures, Gantt chart, definitions; HTML.")
]


def typed(context: typer.Context) -> str:
    """Return the command as it was typed."""
    return shlex.join(["queuesmith", *context.obj])


def report_on(
    schedules: Iterable[Schedule],
    metrics: tuple[str, ...],
    path: Path | None,
    context: typer.Context,
    *,
    quiet: bool,
) -> None:
    """Write the report of some schedules, where one is asked for."""
    if path is None:
        return
    from queuesmith.report import Comparison, write_report

    write_report(Comparison(tuple(schedules), metrics), path, command=typed(context))
    tell(f"wrote {path}", quiet=quiet)
