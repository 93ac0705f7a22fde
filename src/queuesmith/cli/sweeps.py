"""Commands for priorities with knobs: sweep them, choose, tune them on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.registry import entry
from queuesmith.base.words import so_many
from queuesmith.cli.bags import Cores, JobOptions, Plot, check_pictures
from queuesmith.cli.group_waits import print_waits
from queuesmith.cli.options import FormatOption, LogOptions, Quiet, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_facts,
    print_json,
    print_rows,
    print_sentences,
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.studies import EngineOptions
from queuesmith.knobs.options import SPLIT, RetuneOptions, SweepOptions

if TYPE_CHECKING:
    from queuesmith.knobs import SweepResult, TaskJobs

#: What ``sweep --scheduler`` takes: whether jobs may be split, and the backfill.
SCHEDULERS = {
    "easy": (False, "easy"),
    "list": (False, "list"),
    "none": (False, "none"),
    "knapsack": (True, "list"),
}

#: Rows of a sweep's table that are times.
TIMES = ("makespan", "mean_wait")

Workers = Annotated[
    int | None, typer.Option(help="How many threads; by default one for each core.")
]


@dataclass(frozen=True)
class SweepEngineOptions(EngineOptions):
    """Where settings are replayed; ``--scheduler`` is what is swept here."""

    address: ClassVar = "--dask-scheduler"
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--dask-scheduler", help="dask: where the scheduler is, such as tcp://host:8786."
        ),
    ] = None


@with_options
def sweep(
    log: LogOptions,
    job: JobOptions,
    engine: SweepEngineOptions,
    cores: Cores = None,
    range: Annotated[
        str, typer.Option(help="LOW:HIGH:STEP for all knobs, or three of them with commas.")
    ] = SweepOptions.ranges,
    swept: Annotated[
        str,
        typer.Option(
            "--scheduler", help="easy, list or none for rigid jobs; knapsack for bags of tasks."
        ),
    ] = "easy",
    quick: Annotated[
        bool, typer.Option("--quick", help="Search with few replays instead of trying all.")
    ] = False,
    budget: Annotated[
        float, typer.Option(help="Part of the settings that --quick may replay.")
    ] = SweepOptions.budget,
    objective: Annotated[
        list[str] | None, typer.Option(help="What --quick looks for; by default classes and RT.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the table of all settings: .parquet or .csv.")
    ] = None,
    plot: Plot = None,
    format: FormatOption = Format.table,
) -> None:
    """Replay a job log under all settings of the knobs alpha, beta and gamma."""
    from queuesmith.cluster import as_cluster
    from queuesmith.knobs import save_sweep
    from queuesmith.knobs.sweep_files import check_suffix

    if out is not None:
        check_suffix(out)
    check_pictures(plot)
    check_targets(out)
    split, backfill = entry("scheduler", swept, SCHEDULERS)
    jobs = job.jobs(log.read(), split=split)
    before = len(jobs.workload.changes)
    jobs = jobs.fitting(as_cluster(jobs.workload, None, cores).cores, strict=log.strict)
    tell_changes(jobs.workload, quiet=log.quiet, since=before)
    options: dict[str, Any] = {"cores": cores, "backfill": backfill, "workers": engine.workers}
    ranges = range.split(",") if "," in range else range
    if not isinstance(ranges, str) and len(ranges) != 3:
        raise UsageError(f"--range has {len(ranges)} ranges, but there are 3 knobs. Give 1 or 3.")
    keep = None if out is None or quick else out.with_name(out.name + ".unfinished")
    how = (budget, objective, job.seed) if quick else None
    with engine.elsewhere() as other:
        result = _swept(jobs, ranges, {**options, "engine": other}, log, keep, how)
    if out is not None:
        save_sweep(result, out, keep=keep)
        tell(f"wrote {out}", quiet=log.quiet)
    if plot is not None:
        _draw_sweep(result, plot, log.quiet)
    _print_sweep(result, jobs, format)


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


def _print_sweep(result: SweepResult, jobs: TaskJobs, format: Format) -> None:
    from queuesmith.report.group_waits import waits_to_dict

    facts = result.to_dict()
    if format is Format.json:
        print_json({**facts, "group_waits": waits_to_dict(result.schedules(jobs))})
        return
    rows = [{"least": name, **found} for name, found in facts.pop("best").items()]
    if format is not Format.table:
        print_rows(rows, format)
        return
    facts["computing time (s)"] = facts.pop("seconds")
    print_rows([{"what": key, "value": value} for key, value in facts.items()], format)
    print_rows(_with_units(rows), format)
    print_waits({_least(name): each for name, each in result.schedules(jobs).items()})
    print_sentences(result.conclusion())


def _least(name: str) -> str:
    """Return what a table of waits calls the best setting for a cost."""
    from queuesmith.knobs.sweep_result import SHORT

    return f"least {name}" if name in SHORT else name


def _with_units(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table with all times in one unit, which stands beside the name."""
    from queuesmith.report.wording import table_time_scale

    scale = table_time_scale([row["value"] for row in rows if row["least"] in TIMES])
    return [
        {**row, "least": f"{row['least']} ({scale.unit})", "value": row["value"] / scale.factor}
        if row["least"] in TIMES
        else row
        for row in rows
    ]


def _draw_sweep(result: SweepResult, plot: Path, quiet: bool) -> None:
    from queuesmith.figures.page import write_figures
    from queuesmith.knobs.drawing import draw_cloud
    from queuesmith.knobs.figure_data import cloud_data

    title = (
        f"{so_many(len(result), 'setting')} on the {so_many(result.jobs, 'job')} of {result.log}"
    )
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
    from queuesmith.knobs.choosing import choose, costs_of, find_setting
    from queuesmith.knobs.setting import NAMES, Knobs
    from queuesmith.knobs.sweep_files import read_sweep

    check_pictures(plot)
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
    print_facts(answer, format)


@with_options
def retune(
    log: LogOptions,
    cores: Cores = None,
    objective: Annotated[
        str, typer.Option(help="What is to be small, over the costs of a sweep.")
    ] = RetuneOptions.objective,
    every: Annotated[float, typer.Option(help="Seconds between two searches.")] = (
        RetuneOptions.every
    ),
    window: Annotated[float, typer.Option(help="How far back a search looks.")] = (
        RetuneOptions.window
    ),
    range: Annotated[str, typer.Option(help="Settings that a search tries.")] = (
        str(RetuneOptions.ranges)
    ),
    neighbourhood: Annotated[
        float, typer.Option(help="How far around a setting others count for it; 0: not at all.")
    ] = RetuneOptions.neighbourhood,
    backfill: Annotated[str, typer.Option(help="easy, list or none.")] = RetuneOptions.backfill,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare with the best fixed knobs, held out.")
    ] = False,
    split: Annotated[
        float, typer.Option(help="Share of the log that fixed knobs are searched on.")
    ] = SPLIT,
    schedule: Annotated[
        Path | None, typer.Option(help="Write id, submit, start, end of every job as CSV.")
    ] = None,
    workers: Workers = None,
    format: FormatOption = Format.table,
) -> None:
    """Replay a job log under knobs that are searched anew every so often."""
    from queuesmith.cluster import as_cluster
    from queuesmith.knobs.retuning import held_out
    from queuesmith.knobs.retuning import retune as tune

    check_targets(schedule)
    workload = log.read()
    if not len(workload):
        raise WorkloadError(f"workload '{workload.name}' has no jobs to replay. Give one that has.")
    before = len(workload.changes)
    workload = workload.fitting(as_cluster(workload, None, cores).cores, strict=log.strict)
    tell_changes(workload, quiet=log.quiet, since=before)
    options: dict[str, Any] = {
        "cores": cores,
        "backfill": backfill,
        "every": every,
        "window": window,
        "ranges": range,
        "neighbourhood": neighbourhood,
        "workers": workers,
    }
    with progress(f"tuning {workload.name}", quiet=log.quiet) as report:
        if compare:
            judged = held_out(workload, None, objective, split=split, progress=report, **options)
            found, rows, said = judged.tuned, list(judged.rows), judged.verdict
        else:
            found = tune(workload, None, objective, progress=report, **options)
            rows = found.rows()
            said = "whether turning the knobs pays is a question to the log: ask with --compare."
    if schedule is not None:
        found.schedule.save(schedule)
        tell(f"wrote {schedule}", quiet=log.quiet)
    print_rows(rows, format)
    tell(f"note: {said}", quiet=log.quiet)
