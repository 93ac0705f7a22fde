"""Commands for bags of tasks: ``queuesmith knapsack ...``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import OutputError, UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.default_command import DefaultCommandGroup
from queuesmith.cli.options import FormatOption, LogOptions, Seed, numbers, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_facts,
    print_json,
    print_rows,
    tell,
    tell_changes,
)
from queuesmith.cli.reporting import report_on
from queuesmith.knobs.options import ALPHA, BETA, GAMMA, SHARES, SIZES, BagOptions

if TYPE_CHECKING:
    from queuesmith.knobs import Knobs, TaskJobs
    from queuesmith.schedule import Schedule
    from queuesmith.workload import Workload

app = typer.Typer(
    cls=DefaultCommandGroup,
    help="Replay bags of tasks with a greedy knapsack: queuesmith knapsack LOG --knobs ...",
    rich_markup_mode=None,
)

#: The knobs unless others are given.
INITIAL = f"alpha={ALPHA:g},beta={BETA:g},gamma={GAMMA:g}"
#: What the report of a replay has besides figures and Gantt chart.
REPORTED = ("makespan", "mean_wait", "mean_response", "expansion_factor", "utilization")

Cores = Annotated[int | None, typer.Option(help="Number of processors; by default the log's.")]
Setting = Annotated[
    str, typer.Option("--knobs", help="alpha=1,beta=1,gamma=0; those left out are 0.")
]
Plot = Annotated[Path | None, typer.Option(help="Write the picture to this HTML file.")]


@dataclass(frozen=True)
class JobOptions:
    """What a job's size and length are, and how it may be split."""

    share: Annotated[
        str, typer.Option(help="Part of its tasks that a job may run at once: 0 to 1, or 'random'.")
    ] = f"{BagOptions.share:g}"
    cores_per_task: Annotated[int, typer.Option(help="Cores of each task.")] = (
        BagOptions.cores_per_task
    )
    rigid: Annotated[
        str,
        typer.Option(help="Jobs that cannot be split: 'none', 'all', or a column that marks them."),
    ] = "none"
    cores_from: Annotated[
        str, typer.Option(help="'requested', or a column such as allocated_cores.")
    ] = "requested"
    know_runtimes: Annotated[
        bool,
        typer.Option("--know-runtimes", help="Let the scheduler know runtimes, as the paper does."),
    ] = False
    seed: Seed = BagOptions.seed

    def prepared(self, workload: Workload) -> Workload:
        """Return the log with the sizes and lengths that are asked for."""
        if self.cores_from != "requested":
            workload = workload.replaced(cores=_column(workload, self.cores_from))
        return workload.replaced(walltime=workload.runtime) if self.know_runtimes else workload

    def jobs(self, workload: Workload, *, split: bool = True) -> TaskJobs:
        """Return the jobs as bags of tasks."""
        from queuesmith.knobs import TaskJobs

        workload = self.prepared(workload)
        malleable: Any = split and self.rigid != "all"
        if self.rigid not in ("all", "none") and split:
            malleable = _column(workload, self.rigid) == 0
        return TaskJobs(
            workload,
            _share(self.share),
            cores_per_task=self.cores_per_task,
            malleable=malleable,
            seed=self.seed,
        )


def _written(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


@app.command("run")
@with_options
def run(
    context: typer.Context,
    log: LogOptions,
    job: JobOptions,
    cores: Cores = None,
    knobs: Setting = INITIAL,
    backfill: Annotated[
        str, typer.Option(help="Where a task does not fit: list, easy or none.")
    ] = BagOptions.backfill,
    over_weight: Annotated[
        bool,
        typer.Option(
            "--over-weight", help="Order by priority over the number of tasks: algorithm 1, line 2."
        ),
    ] = False,
    schedule: Annotated[
        Path | None, typer.Option(help="Write every chunk of tasks as CSV.")
    ] = None,
    plot: Plot = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with figures and a Gantt chart, as HTML.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Replay bags of tasks: as many tasks of the first job as fit, then the next."""
    from queuesmith.knobs import knapsack
    from queuesmith.knobs.bag_schedule import bag_summary
    from queuesmith.schedule.export import save_pieces

    check_targets(schedule)
    check_pictures(plot, report)
    chosen = _knobs(knobs)
    jobs = job.jobs(log.read())
    before = len(jobs.workload.changes)
    found = knapsack(
        jobs,
        knobs=chosen,
        backfill=backfill,
        cores=cores,
        strict=log.strict,
        over_weight=over_weight,
    )
    tell_changes(found.workload, quiet=log.quiet, since=before)
    if schedule is not None:
        save_pieces(found, schedule)
        tell(f"wrote {schedule}", quiet=log.quiet)
    if plot is not None:
        _draw_run(found, plot)
        tell(f"wrote {plot}", quiet=log.quiet)
    report_on([found], REPORTED, report, context, quiet=log.quiet)
    print_facts({**bag_summary(found), "favours": chosen.favours()}, format)


def _draw_run(found: Schedule, plot: Path) -> None:
    """Draw utilization and running jobs."""
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs.drawing import draw_activity
    from queuesmith.knobs.figure_data import activity_data

    title = f"{found.policy} on {so_many(found.cluster.cores, 'core')}"
    write_figures([draw_activity(activity_data(found))], plot, title=title)


@app.command()
@with_options
def shares(
    log: LogOptions,
    job: JobOptions,
    cores: Cores = None,
    knobs: Setting = INITIAL,
    at: Annotated[
        str, typer.Option(help="Shares to compare, comma-separated; 'random' is one, too.")
    ] = ",".join(map(_written, SHARES)),
    plot: Plot = None,
    format: FormatOption = Format.table,
) -> None:
    """Compare shares: the makespan over the part of its tasks a job may run at once."""
    from queuesmith.cluster import as_cluster
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs.drawing import draw_shares
    from queuesmith.knobs.scaling import over_shares

    check_pictures(plot)
    workload = job.prepared(log.read())
    found = over_shares(
        workload,
        _knobs(knobs),
        cores=as_cluster(workload, None, cores).cores,
        shares=[_share(part) for part in at.split(",")],
        cores_per_task=job.cores_per_task,
        seed=job.seed,
    )
    if plot is not None:
        write_figures([draw_shares(found)], plot, title="Response time and share")
        tell(f"wrote {plot}", quiet=log.quiet)
    print_rows(found.rows(), format)


@app.command()
@with_options
def sizes(
    log: LogOptions,
    job: JobOptions,
    cores: Annotated[
        str, typer.Option(help="Sizes of the machine to compare, comma-separated.")
    ] = ",".join(map(_written, SIZES)),
    knobs: Setting = INITIAL,
    plot: Plot = None,
    format: FormatOption = Format.table,
) -> None:
    """Compare machine sizes, and fit a power law to the makespan."""
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs.drawing import draw_sizes
    from queuesmith.knobs.figure_data import size_data
    from queuesmith.knobs.scaling import over_sizes

    check_pictures(plot)
    machine = [int(size) for size in numbers(cores, "cores")]
    found = over_sizes(
        job.prepared(log.read()),
        _knobs(knobs),
        sizes=machine,
        share=_share(job.share),
        cores_per_task=job.cores_per_task,
        seed=job.seed,
    )
    if plot is not None:
        figure = draw_sizes(size_data(found), law=str(found.law))
        write_figures([figure], plot, title="Response time and system size")
        tell(f"wrote {plot}", quiet=log.quiet)
    if format is Format.json:
        assert found.law is not None
        print_json({"sizes": found.rows(), "law": vars(found.law)})
    else:
        print_rows(found.rows(), format)
        if format is Format.table:
            print(f"makespan = {found.law}")


@app.command()
@with_options
def queue(
    log: LogOptions,
    job: JobOptions,
    second: Annotated[int, typer.Option(help="The second of the log to look at.")],
    cores: Cores = None,
    knobs: Setting = INITIAL,
    averages: Annotated[
        str, typer.Option(help="Averages over the waiting 'queue' or over the 'log'.")
    ] = "queue",
    format: FormatOption = Format.table,
) -> None:
    """Show who waits at a second of a replay, with the priorities of equation 1."""
    from queuesmith.knobs import knapsack
    from queuesmith.knobs.priority import priorities

    chosen = _knobs(knobs)
    found = knapsack(job.jobs(log.read()), knobs=chosen, cores=cores)
    rows = priorities(found, second, chosen, averages=averages)
    if not rows:
        tell(f"nobody waits at second {second}", quiet=log.quiet)
    print_rows(rows, format)


def _knobs(text: str) -> Knobs:
    from queuesmith.knobs import Knobs

    return Knobs.parse(text)


def _share(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def _column(workload: Workload, name: str) -> Any:
    import numpy as np

    values = workload.extra.get(name)
    if values is None or not np.issubdtype(values.dtype, np.integer):
        known = [
            key for key, each in workload.extra.items() if np.issubdtype(each.dtype, np.integer)
        ]
        raise UsageError(
            f"the log '{workload.name}' has no whole-number column '{name}'. "
            f"It has: {', '.join(known) or '(none)'}."
        )
    return values


def check_pictures(*paths: Path | None) -> None:
    """Refuse pictures that are no HTML files, or cannot be written."""
    for path in paths:
        if path is not None and path.suffix.lower() not in (".html", ".htm"):
            raise OutputError(f"the picture '{path}' must be an HTML file. End its name in .html.")
    check_targets(*paths)
