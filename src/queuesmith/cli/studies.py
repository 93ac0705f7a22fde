"""Commands for studies: ``queuesmith study run FILE`` and what became of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.registry import known
from queuesmith.base.words import so_many
from queuesmith.cli.group_waits import print_group_waits
from queuesmith.cli.help import PanelGroup
from queuesmith.cli.options import FormatOption, Quiet, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_facts,
    print_json,
    print_rows,
    print_sentences,
    progress,
    tell,
)

if TYPE_CHECKING:
    from queuesmith.campaign import Results
    from queuesmith.study.engines import Engine

app = typer.Typer(
    cls=PanelGroup,
    help="Many logs, policies, loads and seeds, described in one file; safe against crashes.",
    rich_markup_mode=None,
)

#: Where work can be computed.
ENGINES = ("local", "dask", "slurm")
#: Notes about jobs that were left out or mended that a terminal gets.
MOST_NOTES = 5
StudyFile = Annotated[Path, typer.Argument(metavar="FILE", help="The study, as TOML.")]
Folder = Annotated[
    Path | None,
    typer.Option(help="Where results are kept; by default FILE's name with .study at its end."),
]
Metric = Annotated[
    str | None, typer.Option(help="One of the study's metrics; by default the first.")
]


@dataclass(frozen=True)
class EngineOptions:
    """Where work is computed."""

    panel: ClassVar = "Where it is computed"
    #: What the option for Dask's address is called.
    address: ClassVar = "--scheduler"
    on: Annotated[
        str, typer.Option(help="local: this machine's cores; dask: a cluster; slurm: its jobs.")
    ] = "local"
    workers: Annotated[
        int | None, typer.Option(help="Workers; by default one a core, and 4 jobs on Slurm.")
    ] = None
    scheduler: Annotated[
        str | None, typer.Option(help="dask: where the scheduler is, such as tcp://host:8786.")
    ] = None
    partition: Annotated[str | None, typer.Option(help="slurm: the partition.")] = None
    account: Annotated[str | None, typer.Option(help="slurm: the account that pays.")] = None
    minutes: Annotated[int, typer.Option(help="slurm: time limit of a worker's job.")] = 60
    memory: Annotated[str, typer.Option(help="slurm: memory of a worker's job.")] = "2GB"
    interface: Annotated[
        str | None, typer.Option(help="slurm: network interface of the workers, such as ib0.")
    ] = None

    def __post_init__(self) -> None:
        known("engine", self.on, ENGINES)
        if self.on == "dask" and self.scheduler is None:
            raise UsageError(
                f"--on dask needs the address of a scheduler. Give {self.address} tcp://HOST:PORT."
            )
        if self.on != "dask" and self.scheduler is not None:
            raise UsageError(
                f"{self.address} is for --on dask, but this is --on {self.on}. Leave it out."
            )

    @contextmanager
    def elsewhere(self) -> Iterator[Engine | None]:
        """Give the engine of other machines; None for threads of this process."""
        if self.on == "local":
            yield None
        else:
            with self.open() as engine:
                yield engine

    def open(self, logs: Path | None = None) -> Engine:
        """Return the engine, ready to work; what jobs of Slurm print goes into the folder."""
        if self.on == "local":
            from queuesmith.study.engines import LocalEngine

            return LocalEngine(self.workers)
        from queuesmith.study.dask_engines import DaskEngine, SlurmEngine, SlurmJobs

        if self.on == "dask":
            return DaskEngine(str(self.scheduler))
        return SlurmEngine(
            SlurmJobs(
                SlurmJobs.workers if self.workers is None else self.workers,
                self.partition,
                self.account,
                self.minutes,
                self.memory,
                self.interface,
                logs,
            )
        )


@app.command()
@with_options
def run(
    file: StudyFile,
    engine: EngineOptions,
    folder: Folder = None,
    chunk: Annotated[
        float, typer.Option(help="Seconds of work that a worker writes down at once.")
    ] = 30.0,
    out: Annotated[
        Path | None, typer.Option(help="Write the table here: .sqlite, .parquet or .csv.")
    ] = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Compute what of a study is not done yet; after any kind of end, the same goes on."""
    from queuesmith.campaign import read_study, run_study

    check_targets(out)
    study, kept = read_study(file), _folder(file, folder)
    with engine.open(kept / "workers") as workers, progress(study.name, quiet=quiet) as report:
        results, course = run_study(
            study,
            workers,
            kept,
            chunk_seconds=chunk,
            progress=lambda done, units: report(done / units),
        )
    target = out or kept / "results.sqlite"
    results.save(target)
    _warn(results, quiet)
    tell(f"wrote {target}", quiet=quiet)
    print_facts({**_state(results), **_counted(course)}, format)


@app.command()
def status(
    file: StudyFile,
    folder: Folder = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Say how far a study is."""
    results = _results(file, folder)
    _warn(results, quiet)
    print_facts(_state(results), format)


@app.command()
def table(
    file: StudyFile,
    folder: Folder = None,
    out: Annotated[
        Path | None, typer.Option(help="Write all units here: .sqlite, .parquet or .csv.")
    ] = None,
    units: Annotated[
        bool, typer.Option("--units", help="One row a unit, instead of one a policy.")
    ] = False,
    metric: Metric = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Print mean ranks, wins and losses of the policies, or the values of every unit."""
    check_targets(out)
    results = _results(file, folder)
    _warn(results, quiet)
    if out is not None:
        results.save(out)
        tell(f"wrote {out}", quiet=quiet)
    if units:
        print_rows(results.rows(), format)
        return
    from queuesmith.campaign import rank_policies

    ranking = rank_policies(results, metric)
    _tell_unfinished(results, quiet)
    if format is Format.json:
        facts = ("metric", "logs", "left_out", "friedman", "critical_difference")
        waits = {
            policy: {group: each.to_dict() for group, each in own.items()}
            for policy, own in results.group_waits().items()
        }
        found = {k: getattr(ranking, k) for k in facts}
        print_json({**found, "policies": ranking.rows(), "group_waits": waits})
        return
    print_rows(ranking.rows(), format)
    if format is Format.table:
        from queuesmith.report.study_page import verdict

        print_sentences(f"{ranking.metric}: {verdict(ranking)}")
        print_group_waits(results.group_waits())


@app.command()
def report(
    context: typer.Context,
    file: StudyFile,
    folder: Folder = None,
    out: Annotated[
        Path | None, typer.Option(help="The page; by default in the folder of the results.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write one page: ranks across logs, which differences count, and all values."""
    from queuesmith.report.study_page import write_study_report

    target = out or _folder(file, folder) / "report.html"
    if target.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"the page '{target}' must be an HTML file. End its name in .html.")
    results = _results(file, folder)
    check_targets(target)
    _warn(results, quiet)
    words = ["queuesmith", "study", "run", str(file)]
    if folder is not None:
        words += ["--folder", str(folder)]
    write_study_report(results, target, command=shlex.join(words))
    tell(f"wrote {target}", quiet=quiet)


def _folder(file: Path, folder: Path | None) -> Path:
    return folder or file.with_suffix(".study")


def _results(file: Path, folder: Path | None) -> Results:
    from queuesmith.campaign import read_results, read_study

    return read_results(read_study(file), _folder(file, folder))


def _state(results: Results) -> dict[str, Any]:
    return {
        "study": results.study.name,
        "units": len(results.units),
        "done": results.done,
        "without a value": len(results.without_value),
        "processor seconds": results.seconds,
    }


def _counted(course: Any) -> dict[str, Any]:
    return {
        "computed now": course.computed,
        "known before": course.known,
        "shards written": course.chunks,
        "workers lost": course.lost,
    }


def _tell_unfinished(results: Results, quiet: bool) -> None:
    missing = len(results.units) - results.done
    if missing:
        tell(
            f"note: {missing:,} of {so_many(len(results.units), 'unit')} "
            f"{'is' if missing == 1 else 'are'} not done yet; only what is done for every policy "
            "is ranked, so ranks may change",
            quiet=quiet,
        )


def _warn(results: Results, quiet: bool) -> None:
    changes = results.changes
    for change in changes[:MOST_NOTES]:
        tell(f"note: {change}", quiet=quiet)
    if len(changes) > MOST_NOTES:
        more = so_many(
            len(changes) - MOST_NOTES, "more note of this kind", "more notes of this kind"
        )
        tell(f"note: {more} on the page of: queuesmith study report", quiet=quiet)
    if results.damaged:
        tell(
            f"note: {so_many(results.damaged, 'shard was', 'shards were')} damaged; the units in "
            "there count as not done",
            quiet=quiet,
        )
    if results.without_value:
        count, first = len(results.without_value), results.without_value[0]
        tell(
            f"note: {so_many(count, 'unit has', 'units have')} no value, the first because: "
            f"{first}",
            quiet=quiet,
        )
