"""What is written and shown of jobs that were placed on clusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.cli.options import FormatOption, Quiet
from queuesmith.cli.output import Format, check_targets, print_facts, tell
from queuesmith.cli.reporting import Report, report_on

if TYPE_CHECKING:
    from collections.abc import Collection

    from queuesmith.schedule import Schedule

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
        report_on([schedule], REPORTED, self.report, context, quiet=self.quiet)
        facts = placement_facts(schedule)
        print_facts({name: facts[name] for name in facts if name not in but}, self.format)
