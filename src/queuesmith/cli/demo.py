"""The demo: the main job on an embedded workload, from nothing to a report one can open."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.cli.options import Quiet
from queuesmith.cli.output import print_rows, progress, tell

if TYPE_CHECKING:
    from queuesmith.learning import Tuned
    from queuesmith.learning.offline_front import Front
    from queuesmith.workload import Workload

DEMO_POLICIES = ("fcfs", "fcfs+easy", "fcfs+conservative", "sjf+easy", "wfp3+easy", "group+easy")
#: Budgets that take seconds on two cores; the commands' defaults are larger.
GENERATIONS, FRONT_GENERATIONS = 20, 10


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("out/demo"),
    quiet: Quiet = False,
) -> None:
    """Replay, compare, learn and report on the embedded workload."""
    from queuesmith.base.errors import OutputError
    from queuesmith.cli.output import Format
    from queuesmith.report import write_report
    from queuesmith.report.compare import compare
    from queuesmith.report.learned import tuning_sections
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
    tuned = _learned(workload, quiet)
    front = _front(tuned, quiet)
    tuned.policy.save(out / "policy.json")
    write(workload, out / "demo.swf.gz")
    page = write_report(
        comparison,
        out / "report.html",
        title="Queuesmith demo: six policies on one workload, and a learned one",
        command=f"queuesmith report {out / 'demo.swf.gz'} "
        f"--policies {','.join(DEMO_POLICIES)} --out report.html",
        extra_sections=tuning_sections(tuned, front),
    )
    tell(
        f"wrote {out / 'demo.swf.gz'}, {out / 'policy.json'} and {page}: open the page in a "
        "browser.",
        quiet=quiet,
    )
    typed = sys.argv[0] if Path(sys.argv[0]).stem == "queuesmith" else "queuesmith"
    serve = f"{shlex.quote(typed)} serve {out / 'demo.swf.gz'}"
    tell(f"To turn the knobs yourself: {serve}", quiet=quiet)


def _learned(workload: Workload, quiet: bool) -> Tuned:
    """Learn a policy, and print what it is worth on jobs seen and not seen."""
    from queuesmith.cli.learning import print_tuned
    from queuesmith.learning import tune
    from queuesmith.learning.evolution import Pittsburgh

    tell(
        "Learning a policy from the first 70 % of the log, as "
        f"'queuesmith tune --method pittsburgh --generations {GENERATIONS}' does.",
        quiet=quiet,
    )
    with progress("learning", quiet=quiet) as report:
        tuned = tune(
            workload,
            method=Pittsburgh(generations=GENERATIONS),
            progress=lambda state: report(state.share),
        )
    print_tuned(tuned)
    return tuned


def _front(tuned: Tuned, quiet: bool) -> Front | None:
    """Search what could be had for the jobs that were not seen, where the library is installed."""
    from queuesmith.cluster import Cluster
    from queuesmith.learning.pareto import FrontSearch, pareto_front

    if find_spec("pymoo") is None:
        tell(
            "The off-line front is left out: it needs the library pymoo. Install it with: "
            "pip install 'queuesmith[tune]'.",
            quiet=quiet,
        )
        return None
    verdict = tuned.held_out or tuned.learning
    tell("Searching the off-line front of the jobs that were not seen.", quiet=quiet)
    with progress("searching the front", quiet=quiet) as report:
        return pareto_front(
            verdict.learned.workload,
            Cluster(verdict.learned.cluster.cores, verdict.learned.cluster.name),
            tuned.objective,
            [tuned.best_fixed, tuned.policy],
            FrontSearch(generations=FRONT_GENERATIONS),
            progress=lambda state: report(state.share),
        )
