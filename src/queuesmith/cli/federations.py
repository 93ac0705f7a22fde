"""Commands for jobs across clusters: ``queuesmith place ...``, ``queuesmith federation ...``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.cli.default_command import DefaultCommandGroup
from queuesmith.cli.options import FormatOption, Quiet, Seed, names, numbers, with_options
from queuesmith.cli.output import Format, check_targets, print_rows, progress, tell
from queuesmith.cli.placed import REPORTED, PlacedOptions
from queuesmith.cli.reporting import Report, report_on
from queuesmith.federation.options import PlaceOptions

if TYPE_CHECKING:
    from queuesmith.federation import FederationJobs

app = typer.Typer(
    cls=DefaultCommandGroup,
    help="Place a queue on a federation: queuesmith place FEDERATION.toml JOBS.csv --method ...",
    rich_markup_mode=None,
)
federation_app = typer.Typer(
    help="Federations of clusters: make one, replay arriving jobs on it.", rich_markup_mode=None
)

ClockSeed = Annotated[
    int,
    typer.Option(
        help="Heuristics always repeat themselves; so does prices with the same seed, if it is "
        "done before --seconds are over. What oas and slots have found by then may differ, unless "
        "--steps stops them; a proven optimum is the same length."
    ),
]
FederationFile = Annotated[Path, typer.Argument(help="The clusters and their links, TOML.")]
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

    with progress(f"placing {len(queues)} queues", quiet=quiet) as share_done:
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
    jobs: Annotated[int, typer.Option(help="How many jobs; the paper's have 8.")] = 8,
    nodes: Annotated[int, typer.Option(help="Nodes of the federation it is made for.")] = 12,
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
        queue = paper_queue(kind, seed=seed)
    else:
        queue = generate_queue(kind, jobs, nodes=nodes, most_tasks=most_tasks, seed=seed)
    if load is not None:
        clusters = paper_federation() if on is None else Federation.read(on)
        queue = with_arrivals(queue, clusters, load=load, seed=seed)
    queue.write(out)
    tell(f"wrote {out}: {len(queue)} jobs, {queue.tasks.sum()} tasks", quiet=quiet)


@federation_app.command("generate")
def generate_clusters(
    out: Annotated[Path, typer.Option(help="The file to write, TOML.")],
    clusters: Annotated[int, typer.Option(help="How many clusters.")] = 3,
    nodes: Annotated[int, typer.Option(help="How many nodes each has.")] = 4,
    powers: Annotated[str, typer.Option(help="Powers of the clusters, in turn.")] = "1,0.75,0.5",
    spread: Annotated[
        float, typer.Option(help="Share by which nodes of a cluster fall short of its power.")
    ] = 0.0,
    bandwidth: Annotated[
        float | None, typer.Option(help="Of each link; by default 250 for each node.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a federation; by default the paper's, 3 clusters of 4 nodes."""
    from queuesmith.federation.model.generate import generate_federation

    check_targets(out)
    made = generate_federation(
        clusters,
        nodes,
        powers=numbers(powers, "powers"),
        spread=spread,
        bandwidth=bandwidth,
        seed=seed,
    )
    made.write(out)
    tell(f"wrote {out}: {len(made.clusters)} clusters, {made.nodes} nodes", quiet=quiet)


@dataclass(frozen=True)
class LogJobsOptions:
    """What is assumed of the jobs of a log, which says nothing of communication."""

    sigma: Annotated[
        str, typer.Option(help="Of the jobs of a log: a share, or a range such as 0.5:0.9.")
    ] = "0.7"
    task_bandwidth: Annotated[
        str, typer.Option(help="Of the jobs of a log: a number, or a range such as 50:300.")
    ] = "0"
    cores_per_node: Annotated[int, typer.Option(help="How many cores of a log make a node.")] = 1
    head: Annotated[int | None, typer.Option(help="Take only the first N jobs.")] = None
    fitting: Annotated[
        bool, typer.Option("--fitting", help="Leave out jobs that the federation can never run.")
    ] = False

    def read(self, path: Path, seed: int) -> FederationJobs:
        """Read jobs from CSV with a column 'tasks', or from a job log."""
        from queuesmith.federation import FederationJobs
        from queuesmith.workload.files import read

        if self.head is not None and self.head < 1:
            raise UsageError(f"--head is {self.head}, but it must be at least 1. Give 1 or more.")
        if _is_jobs_file(path):
            jobs = FederationJobs.read(path)
            return jobs if self.head is None else jobs.select(range(min(self.head, len(jobs))))
        log = read(path)
        return FederationJobs.from_workload(
            log if self.head is None else log.head(self.head),
            cores_per_node=self.cores_per_node,
            sigma=_range(self.sigma, "sigma"),
            task_bandwidth=_range(self.task_bandwidth, "task-bandwidth"),
            seed=seed,
        )


@federation_app.command("replay")
@with_options
def replay_jobs(
    context: typer.Context,
    federation: FederationFile,
    jobs: Annotated[Path, typer.Argument(help="Jobs with arrivals, CSV; or a job log.")],
    assumed: LogJobsOptions,
    method: Annotated[
        str,
        typer.Option(
            help="A heuristic; oas, which plans anew at every event with what runs; or slots, "
            "prices for windows of waiting jobs."
        ),
    ] = "fcfs",
    allocation: Annotated[
        str, typer.Option(help="fastest, most-free, one-cluster, link-aware or cheapest.")
    ] = PlaceOptions.allocation,
    saturation: Annotated[
        float,
        typer.Option(help="Load up to which jobs may start, in times the bandwidth; 1 or more."),
    ] = float("inf"),
    window: Annotated[
        int | None,
        typer.Option(
            help="Waiting jobs that are decided about together; of oas, by default as many as its "
            "steps or seconds are enough for."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Time for each plan of oas, slots or prices; the latter two have 1."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            help="Count that stops each plan instead: the same replay each time. oas has 10000 "
            "where neither is given."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            help="Draws what is assumed of the jobs of a log, and what oas tries. The same seed "
            "gives the same replay, unless --seconds stop a method."
        ),
    ] = PlaceOptions.seed,
    *,
    placed: PlacedOptions,
) -> None:
    """Replay arriving jobs; links are shared, and slow down when they saturate."""
    from queuesmith.federation import Federation

    placed.check()
    clusters, queue = Federation.read(federation), assumed.read(jobs, seed)
    if assumed.fitting:
        queue = queue.fitting(clusters, saturation)
    for change in queue.changes:
        tell(f"note: {change}", quiet=placed.quiet)
    from queuesmith.federation.online import replay
    from queuesmith.schedule.verify import verify

    with progress(f"replaying {len(queue):,} jobs", quiet=placed.quiet) as share_done:
        found = replay(
            clusters,
            queue,
            method,
            allocation=allocation,
            saturation=saturation,
            window=window,
            options=_replay_options(method, seconds, steps, seed),
            progress=share_done,
        )
    placed.deliver(verify(found), context, but=("lower_bound", "gap_percent", "status"))


def _replay_options(
    method: str, seconds: float | None, steps: int | None, seed: int
) -> PlaceOptions:
    """What each plan of a replay may take: what was asked for, or a count or time by the method."""
    if seconds is not None and steps is not None:
        raise UsageError(
            f"--seconds {seconds:g} and --steps {steps} were both given, but one of them stops a "
            "plan. Leave one out."
        )
    from queuesmith.federation.online import PLAN_STEPS

    if method == "oas" and seconds is None and steps is None:
        steps = PLAN_STEPS
    return PlaceOptions(seconds=1.0 if seconds is None else seconds, steps=steps, seed=seed)


def _is_jobs_file(path: Path) -> bool:
    """Whether a file has the header of jobs of a federation, not of a log."""
    from queuesmith.base.files import decoded, read_bytes

    head = decoded(read_bytes(path).split(b"\n", 1)[0])
    return "base_time" in [word.strip() for word in head.split(",")]


def _range(text: str, option: str) -> tuple[float, float]:
    values = numbers(text, option, separator=":")
    if len(values) > 2:
        raise UsageError(f"--{option} is '{text}', but it must be one number or LOW:HIGH.")
    return values[0], values[-1]
