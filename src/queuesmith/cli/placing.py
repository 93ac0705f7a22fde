"""Commands that place a queue on clusters, all of it waiting: ``queuesmith place ...``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.default_command import DefaultCommandGroup
from queuesmith.cli.options import FederationFile, FormatOption, Quiet, Seed, names, with_options
from queuesmith.cli.output import Format, check_targets, print_rows, progress, tell
from queuesmith.cli.placed import REPORTED, PlacedOptions
from queuesmith.cli.reporting import Report, report_on
from queuesmith.federation.options import PlaceOptions

app = typer.Typer(
    cls=DefaultCommandGroup,
    help="Place a queue on a federation: queuesmith place FEDERATION.toml JOBS.csv --method ...",
    rich_markup_mode=None,
)

ClockSeed = Annotated[
    int,
    typer.Option(
        help="Heuristics always repeat themselves; so does prices with the same seed, if it is "
        "done before --seconds are over. What oas and slots have found by then may differ, unless "
        "--steps stops them; a proven optimum is the same length."
    ),
]
#: The columns of a comparison, by what they are called in JSON and CSV; short, to fit a terminal.
SHOWN = {
    "method": "method", "makespan": "makespan s", "gap_percent": "gap %", "status": "status",
    "compaction_percent": "compact %", "seconds": "took s",
}  # fmt: skip


@dataclass(frozen=True)
class MethodOptions:
    """What the methods of placing may be told; the defaults are those of the library."""

    seconds: Annotated[float, typer.Option(help="Time for oas, slots and prices.")] = (
        PlaceOptions.seconds
    )
    steps: Annotated[
        int | None,
        typer.Option(
            help="Stop oas, slots and prices by this count instead of --seconds: the same result "
            "each time."
        ),
    ] = PlaceOptions.steps
    allocation: Annotated[
        str,
        typer.Option(help="Heuristics: fastest, most-free, one-cluster, link-aware or cheapest."),
    ] = PlaceOptions.allocation
    slot: Annotated[
        float, typer.Option(help="Slots: their size in per cent of the mean base time.")
    ] = PlaceOptions.slot_percent
    saturation: Annotated[
        float, typer.Option(help="Load that links may carry, in times their bandwidth.")
    ] = PlaceOptions.saturation
    seed: ClockSeed = PlaceOptions.seed
    workers: Annotated[
        int | None, typer.Option(help="Threads of exact methods; by default two.")
    ] = PlaceOptions.workers

    def options(self) -> PlaceOptions:
        """Return what the methods take."""
        return PlaceOptions(
            allocation=self.allocation,
            slot_percent=self.slot,
            saturation=self.saturation,
            seconds=self.seconds,
            steps=self.steps,
            seed=self.seed,
            workers=self.workers,
        )


@app.command("run")
@with_options
def run(
    context: typer.Context,
    federation: FederationFile,
    jobs: Annotated[Path, typer.Argument(help="The queue, CSV.")],
    how: MethodOptions,
    method: Annotated[
        str, typer.Option(help="oas, slots, prices, or a heuristic such as fcfs or lpt-fit.")
    ] = "oas",
    *,
    placed: PlacedOptions,
) -> None:
    """Place one queue, all of it waiting at second 0."""
    from queuesmith.federation import Federation, FederationJobs

    placed.check()
    clusters, queue, options = Federation.read(federation), FederationJobs.read(jobs), how.options()
    from queuesmith.federation.methods import place

    with progress(f"{method} on {queue.name}", quiet=placed.quiet) as share_done:
        found = place(clusters, queue, method, options, progress=share_done)
    placed.deliver(found, context)


@app.command()
@with_options
def compare(
    context: typer.Context,
    federation: FederationFile,
    jobs: Annotated[list[Path], typer.Argument(help="One or more queues, CSV.")],
    how: MethodOptions,
    methods: Annotated[
        str, typer.Option(help="Methods, comma-separated.")
    ] = "fcfs,sjf,bjf,fpfs,spt,lpt,prices,oas",
    report: Report = None,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Place queues by several methods, side by side with the proven bound."""
    from queuesmith.federation import Federation, FederationJobs

    check_targets(report)
    if report is not None and len(jobs) > 1:
        raise UsageError(
            f"--report is of one queue, but {len(jobs)} were given. Write one for each."
        )
    clusters, options = Federation.read(federation), how.options()
    queues = [FederationJobs.read(path) for path in jobs]
    from queuesmith.federation.methods import compare_methods
    from queuesmith.federation.model.placing import placement_facts

    with progress(f"placing {so_many(len(queues), 'queue')}", quiet=quiet) as share_done:
        found = compare_methods(clusters, queues, names(methods), options, progress=share_done)
    report_on(found, REPORTED, report, context, quiet=quiet)
    rows = [placement_facts(schedule) for schedule in found]
    for row in rows:
        row["status"] = row.get("slot_status", row["status"])  # the slot model's own
    if format is Format.table:
        _print_compared(rows, quiet=quiet)
        return
    if format is Format.csv:
        noted = ["note"] if any("note" in row for row in rows) else []
        heads = ("queue", *SHOWN, "lower_bound", *noted)
        rows = [{key: row.get(key, "") for key in heads} for row in rows]
    print_rows(rows, format)


def _print_compared(rows: list[dict[str, Any]], *, quiet: bool) -> None:
    """Print a table for each queue, and below what a row is not."""
    for queue in dict.fromkeys(row["queue"] for row in rows):
        mine = [row for row in rows if row["queue"] == queue]
        tell(f"{queue}: no makespan is below {mine[0]['lower_bound']:,} s", quiet=quiet)
        shown = [{**row, "status": _status(row)} for row in mine]
        print_rows(
            [{head: _short(row[key]) for key, head in SHOWN.items()} for row in shown], Format.table
        )
        for row in mine:
            if "note" in row:
                tell(f"note: {row['method']}: {row['note']}", quiet=quiet)


def _status(row: dict[str, Any]) -> str:
    """A status without what it goes on to say; the slot model's own is about whole slots."""
    status = str(row["status"]).partition(",")[0]
    return f"{status} in slots" if "slot_status" in row else status


def _short(value: Any) -> Any:
    """Words up to a comma, and numbers of two digits after the point."""
    if isinstance(value, float):
        return round(value, 2)
    return value.partition(",")[0] if isinstance(value, str) else value


@app.command()
def generate(
    kind: Annotated[
        str, typer.Argument(help="matching, small-first, general, or the paper's WL-1 to WL-6.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write, CSV.")],
    jobs: Annotated[
        int | None, typer.Option(help="How many jobs; default: 8, as the paper's have.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(help="Nodes of the federation it is made for; default: 12.")
    ] = None,
    most_tasks: Annotated[
        int | None, typer.Option(help="Tasks of the widest job of kind general.")
    ] = None,
    load: Annotated[
        float | None,
        typer.Option(help="Let them arrive over time: work that arrives, over what --on could do."),
    ] = None,
    on: Annotated[
        Path | None, typer.Option(help="The federation of --load, TOML; by default the paper's.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a random queue."""
    from queuesmith.federation import Federation
    from queuesmith.federation.model.generate import (
        PAPER_QUEUES,
        generate_queue,
        paper_federation,
        paper_queue,
        with_arrivals,
    )

    check_targets(out)
    if on is not None and load is None:
        raise UsageError(f"--on is {on}, but it only says where a --load arrives. Give --load 1.")
    if kind in PAPER_QUEUES:
        _refuse_for_the_papers(kind, jobs=jobs, nodes=nodes, most_tasks=most_tasks)
        queue = paper_queue(kind, seed=seed)
    else:
        queue = generate_queue(
            kind,
            8 if jobs is None else jobs,
            nodes=12 if nodes is None else nodes,
            most_tasks=most_tasks,
            seed=seed,
        )
    if load is not None:
        clusters = paper_federation() if on is None else Federation.read(on)
        queue = with_arrivals(queue, clusters, load=load, seed=seed)
    queue.write(out)
    tell(
        f"wrote {out}: {so_many(len(queue), 'job')}, {so_many(queue.tasks.sum(), 'task')}",
        quiet=quiet,
    )


def _refuse_for_the_papers(kind: str, **asked: int | None) -> None:
    """Refuse sizes for a queue of the paper, which has its own."""
    for option, value in asked.items():
        if value is not None:
            raise UsageError(
                f"--{option.replace('_', '-')} is {value}, but {kind} is of the paper and has its "
                "own size. Leave it out, or give the kind general."
            )
