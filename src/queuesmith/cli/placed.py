"""What is written and shown of jobs that were placed on clusters."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.cli.options import FormatOption, Quiet
from queuesmith.cli.output import Format, check_targets, print_json, print_rows, tell

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from queuesmith.schedule import Schedule

Report = Annotated[
    Path | None, typer.Option(help="Write the report: figures, Gantt chart, definitions; HTML.")
]
REPORTED = (
    "makespan", "mean_wait", "utilization", "power_utilization", "peak_link_load", "co_allocated",
)  # fmt: skip


@dataclass(frozen=True)
class PlacedOptions:
    """Where a placement goes: files, pictures, the terminal."""

    out: Annotated[Path | None, typer.Option(help="Write id, start, end and nodes as CSV.")] = None
    plot: Annotated[
        Path | None, typer.Option(help="Draw nodes by time and the links, as an HTML page.")
    ] = None
    report: Report = None
    format: FormatOption = Format.table
    quiet: Quiet = False

    def check(self) -> None:
        """Refuse files that cannot be written, before anything is computed."""
        check_targets(self.out, self.plot, self.report)

    def deliver(
        self, schedule: Schedule, context: typer.Context, *, but: Collection[str] = ()
    ) -> None:
        """Write and draw what was asked for, and show the facts, but for some."""
        from queuesmith.federation import write_placement
        from queuesmith.federation.model.placing import placement_facts
        from queuesmith.federation.picture import draw
        from queuesmith.figures.page import write_figures

        if self.out is not None:
            write_placement(schedule, self.out)
            tell(f"wrote {self.out}", quiet=self.quiet)
        if self.plot is not None:
            write_figures([draw(schedule)], self.plot, title="A placement")
            tell(f"wrote {self.plot}", quiet=self.quiet)
        report_placed([schedule], self.report, context, quiet=self.quiet)
        facts = {key: value for key, value in placement_facts(schedule).items() if key not in but}
        if self.format is Format.json:
            print_json(facts)
            return
        plain = (str, int, float, type(None))
        rows = [{"what": key, "value": value} for key, value in facts.items()]
        print_rows([row for row in rows if isinstance(row["value"], plain)], self.format)


def report_placed(
    schedules: Sequence[Schedule], path: Path | None, context: typer.Context, *, quiet: bool
) -> None:
    """Write the report of some placements, where it is asked for."""
    if path is None:
        return
    from queuesmith.report import Comparison, write_report

    command = shlex.join(["queuesmith", *context.obj])
    write_report(Comparison(tuple(schedules), REPORTED), path, command=command)
    tell(f"wrote {path}", quiet=quiet)
