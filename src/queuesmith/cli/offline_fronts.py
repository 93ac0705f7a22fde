"""The command that searches the off-line front: what could be had if all were known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import OutputError
from queuesmith.cli.group_waits import print_waits
from queuesmith.cli.options import (
    FormatOption,
    LogOptions,
    MachineOptions,
    Seed,
    names,
    with_options,
)
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.studies import EngineOptions
from queuesmith.cli.trust import Trust, chosen_policy

if TYPE_CHECKING:
    from queuesmith.learning.offline_front import Front, Point


@with_options
def pareto(
    log: LogOptions,
    machine: MachineOptions,
    engine: EngineOptions,
    policies: Annotated[
        str, typer.Option(help="Policies to measure against the front, comma-separated.")
    ] = "fcfs+easy",
    objective: Annotated[
        str, typer.Option(help="In whose direction distances are measured, over metrics.")
    ] = "10*awrt[1] + 4*awrt[2]",
    algorithm: Annotated[str, typer.Option(help="nsga3 or nsga2.")] = "nsga3",
    population: Annotated[int, typer.Option(help="How many schedules a generation has.")] = 84,
    generations: Annotated[int, typer.Option(help="How many generations.")] = 40,
    ways: Annotated[
        str, typer.Option(help="How schedules are made: insert, or backfills to replay.")
    ] = "insert,easy,list",
    seed: Seed = 0,
    store: Annotated[
        Path | None,
        typer.Option(help="Record the search in this file; the same command resumes it."),
    ] = None,
    trust: Trust = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the front to this file: .csv, or .json for all.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write the picture of the front to this HTML file.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Search the off-line Pareto front, and measure how far policies are from it."""
    from queuesmith.learning.pareto import FrontSearch, pareto_front
    from queuesmith.learning.tune import BASELINE
    from queuesmith.report.group_waits import waits_to_dict
    from queuesmith.schedule.objective import Objective
    from queuesmith.study import simulate_many

    _check_kind(out, (".csv", ".json", ".json.gz"), "the front")
    _check_kind(plot, (".html", ".htm"), "the picture")
    check_targets(out, plot, store)
    wanted = Objective(objective)
    search = FrontSearch(algorithm, population, generations, tuple(names(ways)))
    chosen = [machine.configured(chosen_policy(text, trust=trust)) for text in names(policies)]
    workload = log.read()
    with (
        engine.elsewhere() as other,
        progress("searching the front", quiet=log.quiet) as report,
    ):
        front = pareto_front(
            workload,
            machine.cluster(workload),
            wanted,
            chosen,
            search,
            strict=log.strict,
            seed=seed,
            workers=engine.workers,
            engine=other,
            store=store,
            progress=lambda state: report(state.share),
        )
    tell_changes(workload.fitting(front.cores), quiet=log.quiet, since=len(workload.changes))
    _write(front, out, plot, log.quiet)
    shown = list(dict.fromkeys([BASELINE, *chosen]))
    replayed = simulate_many(workload, machine.cluster(workload), shown, strict=log.strict)
    waiting = {schedule.policy: schedule for schedule in replayed}
    if format is Format.json:
        print_json({**front.to_dict(), "waits": waits_to_dict(waiting)})
    elif format is Format.csv:
        print_rows(front.rows(), format)
    else:
        print_rows(summary_rows(front), format)
        print_waits(waiting)
        tell(summary(front), quiet=log.quiet)


def summary_rows(front: Front) -> list[dict[str, Any]]:
    """Return the best schedule of the front and each policy, with its distance."""
    best = {"schedule": "best of the front", **_worth(front, front.best)}
    unknown = {"gap %": None, "nearest %": None, "dominated by": None}
    others = [
        {
            "schedule": distance.point.name,
            **_worth(front, distance.point),
            "gap %": distance.gap_percent,
            "nearest %": distance.nearest_percent,
            "dominated by": distance.dominated_by,
        }
        for distance in front.distances
    ]
    return [best | unknown, *others]


def summary(front: Front) -> str:
    """Say in words what was found."""
    left_out = (
        f" No job belongs to {', '.join(front.left_out)}: left out." if front.left_out else ""
    )
    is_, dominates = ("is", "it dominates") if len(front) == 1 else ("are", "they dominate")
    return (
        f"{len(front):,} of {front.evaluations:,} schedules {is_} on the front of "
        f"{len(front.objectives)} objectives; {dominates} {100 * front.hypervolume:.1f} % of the "
        f"space up to twice EASY's response times.{left_out}"
    )


def _worth(front: Front, point: Point) -> dict[str, Any]:
    return {str(front.objective): point.value, **{axis: point.values[axis] for axis in front.axes}}


def _check_kind(path: Path | None, suffixes: tuple[str, ...], what: str) -> None:
    if path is not None and not path.name.lower().endswith(suffixes):
        raise OutputError(
            f"{what} cannot be written to '{path}': the name must end in "
            f"{' or '.join(suffixes)}. Change it."
        )


def _write(front: Front, out: Path | None, plot: Path | None, quiet: bool) -> None:
    if out is not None:
        front.save(out)
        tell(f"wrote {out}", quiet=quiet)
    if plot is not None:
        from queuesmith.figures.page import write_figures
        from queuesmith.report.front_figure import draw_front

        write_figures([draw_front(front)], plot, title="The off-line front")
        tell(f"wrote {plot}", quiet=quiet)
