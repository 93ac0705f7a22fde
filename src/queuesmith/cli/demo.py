"""The demo: the main job on an embedded workload, from nothing to a report one can open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from queuesmith.cli.engine import load_engine
from queuesmith.cli.options import Quiet
from queuesmith.cli.output import print_rows, progress, tell

DEMO_POLICIES = ("fcfs", "fcfs+easy", "fcfs+conservative", "sjf+easy", "wfp3+easy", "group+easy")


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("out/demo"),
    quiet: Quiet = False,
) -> None:
    """Replay, compare and report on the embedded workload."""
    from queuesmith.cli.output import Format

    load_engine()
    from queuesmith.errors import OutputError
    from queuesmith.report import compare, write_report
    from queuesmith.workload.files import write
    from queuesmith.workload.synthetic import demo_workload

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"the folder '{out}' cannot be made: {error.strerror}. Name another with --out."
        ) from error
    workload = demo_workload()
    rows = [{"what": what, "value": value} for what, value in workload.describe().rows()]
    tell("The embedded workload:", quiet=quiet)
    print_rows(rows, Format.table)
    tell("Replaying it under six policies; the first run compiles the engine.", quiet=quiet)
    with progress("replaying", quiet=quiet) as report:
        comparison = compare(workload, policies=DEMO_POLICIES, progress=report)
    print(comparison)
    write(workload, out / "demo.swf.gz")
    page = write_report(
        comparison,
        out / "report.html",
        title="Queuesmith demo: six policies on one workload",
        command=f"queuesmith report {out / 'demo.swf.gz'} "
        f"--policies {','.join(DEMO_POLICIES)} --out report.html",
    )
    tell(f"wrote {out / 'demo.swf.gz'} and {page}: open the page in a browser.", quiet=quiet)
