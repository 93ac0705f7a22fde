"""Commands for federations and jobs that arrive at them: ``queuesmith federation ...``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.options import FederationFile, Quiet, Seed, numbers, with_options
from queuesmith.cli.output import check_targets, progress, tell
from queuesmith.cli.placed import PlacedOptions
from queuesmith.federation.options import PlaceOptions

if TYPE_CHECKING:
    from queuesmith.federation import FederationJobs

app = typer.Typer(
    help="Federations of clusters: make one, replay arriving jobs on it.", rich_markup_mode=None
)


@app.command("generate")
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
    tell(
        f"wrote {out}: {so_many(len(made.clusters), 'cluster')}, {so_many(made.nodes, 'node')}",
        quiet=quiet,
    )


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


@app.command("replay")
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

    with progress(f"replaying {so_many(len(queue), 'job')}", quiet=placed.quiet) as share_done:
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
