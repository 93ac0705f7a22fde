"""Commands for priorities with knobs: sweep them, choose, replay bags of tasks, tune on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import OutputError, UsageError, WorkloadError
from queuesmith.cli.default_command import DefaultCommandGroup
from queuesmith.cli.engine import load_engine
from queuesmith.cli.options import FormatOption, LogOptions, Quiet, Seed, numbers, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    progress,
    tell,
    tell_changes,
)

if TYPE_CHECKING:
    from queuesmith.knobs import Knobs, SweepResult, TaskJobs
    from queuesmith.workload import Workload

app = typer.Typer(
    cls=DefaultCommandGroup,
    help="Replay bags of tasks with a greedy knapsack: queuesmith knapsack LOG --knobs ...",
    rich_markup_mode=None,
)

#: What ``sweep --scheduler`` takes: whether jobs may be split, and the backfill.
SCHEDULERS = {
    "easy": (False, "easy"),
    "list": (False, "list"),
    "none": (False, "none"),
    "knapsack": (True, "list"),
}

Cores = Annotated[int | None, typer.Option(help="Number of processors; by default the log's.")]
Setting = Annotated[
    str, typer.Option("--knobs", help="alpha=1,beta=1,gamma=0; those left out are 0.")
]
Plot = Annotated[Path | None, typer.Option(help="Write the picture to this HTML file.")]
Workers = Annotated[
    int | None, typer.Option(help="How many threads; by default one for each core.")
]


@dataclass(frozen=True)
class JobOptions:
    """What a job's size and length are, and how it may be split."""

    share: Annotated[
        str, typer.Option(help="Part of its tasks that a job may run at once: 0 to 1, or 'random'.")
    ] = "1"
    cores_per_task: Annotated[int, typer.Option(help="Cores of each task.")] = 1
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
    seed: Seed = 0

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


@with_options
def sweep(
    log: LogOptions,
    job: JobOptions,
    cores: Cores = None,
    range: Annotated[
        str, typer.Option(help="LOW:HIGH:STEP for all knobs, or three of them with commas.")
    ] = "-2:2:0.1",
    scheduler: Annotated[
        str, typer.Option(help="easy, list or none for rigid jobs; knapsack for bags of tasks.")
    ] = "easy",
    quick: Annotated[
        bool, typer.Option("--quick", help="Search with few replays instead of trying all.")
    ] = False,
    budget: Annotated[
        float, typer.Option(help="Part of the settings that --quick may replay.")
    ] = 0.03,
    objective: Annotated[
        list[str] | None, typer.Option(help="What --quick looks for; by default classes and RT.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the table of all settings: .parquet or .csv.")
    ] = None,
    plot: Plot = None,
    workers: Workers = None,
    format: FormatOption = Format.table,
) -> None:
    """Replay a job log under all settings of the knobs alpha, beta and gamma."""
    load_engine()
    from queuesmith.knobs import save_sweep
    from queuesmith.knobs.sweep_files import check_suffix

    if out is not None:
        check_suffix(out)
    _check_pictures(plot)
    check_targets(out)
    if scheduler not in SCHEDULERS:
        raise UsageError(
            f"there is no scheduler '{scheduler}'. Choose from: {', '.join(SCHEDULERS)}."
        )
    split, backfill = SCHEDULERS[scheduler]
    jobs = job.jobs(log.read(), split=split)
    options: dict[str, Any] = {"cores": cores, "backfill": backfill, "workers": workers}
    ranges = range.split(",") if "," in range else range
    if not isinstance(ranges, str) and len(ranges) != 3:
        raise UsageError(f"--range has {len(ranges)} ranges, but there are 3 knobs. Give 1 or 3.")
    keep = None if out is None or quick else out.with_name(out.name + ".unfinished")
    result = _swept(
        jobs, ranges, options, log, keep, (budget, objective, job.seed) if quick else None
    )
    if out is not None:
        save_sweep(result, out, keep=keep)
        tell(f"wrote {out}", quiet=log.quiet)
    if plot is not None:
        _draw_sweep(result, plot, log.quiet)
    _print_sweep(result, format)


def _swept(
    jobs: TaskJobs,
    ranges: Any,
    options: dict[str, Any],
    log: LogOptions,
    keep: Path | None,
    quick: tuple[float, list[str] | None, int] | None,
) -> SweepResult:
    from queuesmith.knobs import quick_search
    from queuesmith.knobs import sweep as sweep_knobs

    with progress(f"sweeping {jobs.workload.name}", quiet=log.quiet) as report:
        if quick is not None:
            budget, objectives, seed = quick
            return quick_search(
                jobs,
                ranges=ranges,
                budget=budget,
                objectives=objectives,
                seed=seed,
                progress=report,
                **options,
            )
        return sweep_knobs(jobs, ranges=ranges, keep=keep, progress=report, **options)


def _print_sweep(result: SweepResult, format: Format) -> None:
    facts = result.to_dict()
    if format is Format.json:
        print_json(facts)
        return
    rows = [{"least": name, **found} for name, found in facts.pop("best").items()]
    if format is Format.table:
        print_rows([{"what": key, "value": value} for key, value in facts.items()], format)
    print_rows(rows, format)


def _draw_sweep(result: SweepResult, plot: Path, quiet: bool) -> None:
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs.drawing import draw_cloud
    from queuesmith.knobs.figure_data import cloud_data

    title = f"{len(result):,} settings on the {result.jobs:,} jobs of {result.log}"
    write_figures([draw_cloud(cloud_data(result))], plot, title=title)
    tell(f"wrote {plot}", quiet=quiet)


def knobs(
    table: Annotated[
        Path | None, typer.Argument(help="The table of a sweep: .parquet or .csv.")
    ] = None,
    objective: Annotated[
        str, typer.Option(help="What is to be small: B, or 2*A + RT/1000, over the costs.")
    ] = "RT",
    where: Annotated[
        list[str] | None,
        typer.Option(help="A constraint, such as 'RT within 2%' or 'A <= 1.5'; may be repeated."),
    ] = None,
    setting: Annotated[
        str | None, typer.Option(help="Say what this setting favours: alpha=1,gamma=-1.")
    ] = None,
    plot: Plot = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Choose knobs from the table of a sweep, and say in words what they favour."""
    from queuesmith.knobs.choose import choose, costs_of, find_setting
    from queuesmith.knobs.setting import NAMES, Knobs
    from queuesmith.knobs.sweep_files import read_sweep

    _check_pictures(plot)
    if table is None and setting is None:
        raise UsageError("neither a table nor --setting is given. Give the table of a sweep.")
    result = None if table is None else read_sweep(table)
    if setting is not None:
        chosen = Knobs.parse(setting)
        costs = {} if result is None else costs_of(result, find_setting(result, chosen))
        values = dict(zip(NAMES, chosen.values, strict=True))
        answer = {**values, **costs, "favours": chosen.favours()}
    else:
        assert result is not None
        answer = choose(result, objective, where=where or ()).to_dict()
    if plot is not None and result is not None:
        _draw_sweep(result, plot, quiet)
    if format is Format.json:
        print_json(answer)
    else:
        print_rows([{"what": key, "value": value} for key, value in answer.items()], format)


@app.command("run")
@with_options
def run(
    log: LogOptions,
    job: JobOptions,
    cores: Cores = None,
    knobs: Setting = "alpha=1,beta=1",
    backfill: Annotated[
        str, typer.Option(help="Where a task does not fit: list, easy or none.")
    ] = "list",
    schedule: Annotated[
        Path | None, typer.Option(help="Write every chunk of tasks as CSV.")
    ] = None,
    plot: Plot = None,
    format: FormatOption = Format.table,
) -> None:
    """Replay bags of tasks: as many tasks of the first job as fit, then the next."""
    load_engine()
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs import knapsack
    from queuesmith.knobs.drawing import draw_activity
    from queuesmith.knobs.figure_data import activity_data

    check_targets(schedule)
    _check_pictures(plot)
    chosen = _knobs(knobs)
    jobs = job.jobs(log.read())
    before = len(jobs.workload.changes)
    found = knapsack(jobs, knobs=chosen, backfill=backfill, cores=cores, strict=log.strict)
    tell_changes(found.jobs.workload, quiet=log.quiet, since=before)
    if schedule is not None:
        found.save(schedule)
        tell(f"wrote {schedule}", quiet=log.quiet)
    if plot is not None:
        title = f"{found.policy} on {found.cluster.cores:,} cores"
        write_figures([draw_activity(activity_data(found))], plot, title=title)
        tell(f"wrote {plot}", quiet=log.quiet)
    summary = {**found.summary(), "favours": chosen.favours()}
    if format is Format.json:
        print_json(summary)
    else:
        print_rows([{"what": key, "value": value} for key, value in summary.items()], format)


@app.command()
@with_options
def shares(
    log: LogOptions,
    job: JobOptions,
    cores: Cores = None,
    knobs: Setting = "alpha=1,beta=1",
    at: Annotated[
        str, typer.Option(help="Shares to compare, comma-separated; 'random' is one, too.")
    ] = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1,random",
    plot: Plot = None,
    format: FormatOption = Format.table,
) -> None:
    """Compare shares: the response time over the part of its tasks a job may run at once."""
    load_engine()
    from queuesmith.cluster import as_cluster
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs.drawing import draw_shares
    from queuesmith.knobs.scaling import over_shares

    _check_pictures(plot)
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
    ] = "36,72,144,288,576",
    knobs: Setting = "alpha=1,beta=1",
    plot: Plot = None,
    format: FormatOption = Format.table,
) -> None:
    """Compare machine sizes, and fit a power law to the response time."""
    load_engine()
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs.drawing import draw_sizes
    from queuesmith.knobs.figure_data import size_data
    from queuesmith.knobs.scaling import over_sizes

    _check_pictures(plot)
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
            print(f"response time = {found.law}")


@app.command()
@with_options
def queue(
    log: LogOptions,
    job: JobOptions,
    second: Annotated[int, typer.Option(help="The second of the log to look at.")],
    cores: Cores = None,
    knobs: Setting = "alpha=1,beta=1",
    averages: Annotated[
        str, typer.Option(help="Averages over the waiting 'queue' or over the 'log'.")
    ] = "queue",
    format: FormatOption = Format.table,
) -> None:
    """Show who waits at a second of a replay, with the priorities of equation 1."""
    load_engine()
    from queuesmith.knobs import knapsack
    from queuesmith.knobs.priority import priorities

    chosen = _knobs(knobs)
    found = knapsack(job.jobs(log.read()), knobs=chosen, cores=cores)
    rows = priorities(found, second, chosen, averages=averages)
    if not rows:
        tell(f"nobody waits at second {second}", quiet=log.quiet)
    print_rows(rows, format)


@with_options
def retune(
    log: LogOptions,
    cores: Cores = None,
    objective: Annotated[
        str, typer.Option(help="What is to be small, over the costs of a sweep.")
    ] = "mean_wait",
    every: Annotated[float, typer.Option(help="Seconds between two searches.")] = 604_800.0,
    window: Annotated[float, typer.Option(help="How far back a search looks.")] = 7_257_600.0,
    range: Annotated[str, typer.Option(help="Settings that a search tries.")] = "-1:1:0.5",
    backfill: Annotated[str, typer.Option(help="easy, list or none.")] = "easy",
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare with the best fixed knobs, held out.")
    ] = False,
    split: Annotated[
        float, typer.Option(help="Share of the log that fixed knobs are searched on.")
    ] = 0.5,
    schedule: Annotated[
        Path | None, typer.Option(help="Write id, submit, start, end of every job as CSV.")
    ] = None,
    workers: Workers = None,
    format: FormatOption = Format.table,
) -> None:
    """Replay a job log under knobs that are searched anew every so often."""
    load_engine()
    from queuesmith.knobs.retuning import held_out
    from queuesmith.knobs.retuning import retune as tune

    check_targets(schedule)
    workload = log.read()
    if not len(workload):
        raise WorkloadError(f"workload '{workload.name}' has no jobs to replay. Give one that has.")
    options: dict[str, Any] = {
        "cores": cores,
        "backfill": backfill,
        "every": every,
        "window": window,
        "ranges": range,
        "workers": workers,
    }
    with progress(f"tuning {workload.name}", quiet=log.quiet) as report:
        if compare:
            rows = held_out(workload, None, objective, split=split, progress=report, **options)
        else:
            found = tune(workload, None, objective, progress=report, **options)
            rows = found.rows()
            if schedule is not None:
                found.schedule.save(schedule)
                tell(f"wrote {schedule}", quiet=log.quiet)
    print_rows(rows, format)


def _knobs(text: str) -> Knobs:
    from queuesmith.knobs.setting import Knobs

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


def _check_pictures(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and path.suffix.lower() not in (".html", ".htm"):
            raise OutputError(f"the picture '{path}' must be an HTML file. End its name in .html.")
    check_targets(*paths)
