"""The command that grades a replay: today's policy against what really happened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.words import so_many
from queuesmith.cli.options import (
    ConstraintsOption,
    FormatOption,
    LogOptions,
    MachineOptions,
    NodesOption,
    machine_named,
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

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.policy import AnyPolicy
    from queuesmith.schedule.fidelity import Fidelity
    from queuesmith.workload import Workload


@with_options
def fidelity(
    log: LogOptions,
    machine: MachineOptions,
    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy that really ran; by default slurm() on a --machine, else fcfs+easy, "
            "with a --slurm-conf multifactor+plan."
        ),
    ] = None,
    nodes: NodesOption = None,
    draws: Annotated[
        int,
        typer.Option(
            min=1,
            max=1000,
            help="Replay slurm() so often, each time looking at other instants, and grade the mean "
            "wait of each job.",
        ),
    ] = 1,
    cancelled: Annotated[
        bool,
        typer.Option(
            help="Let jobs that were cancelled while they waited stand in the queue until then, "
            "where the log tells it."
        ),
    ] = True,
    as_placed: Annotated[
        bool,
        typer.Option(
            "--as-placed",
            help="Let each job run only on nodes of the kinds that it really ran on: for logs "
            "without Constraints.",
        ),
    ] = False,
    constraints: ConstraintsOption = None,
    save_constraints: Annotated[
        Path | None,
        typer.Option(help="Write the jobs with constraints as CSV, to be edited and given back."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Divide by size, month, user, group or a column such as partition."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write wait against wait and both queues as an HTML page.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Replay today's policy, and grade how well that agrees with what really happened."""
    from queuesmith.study import grading
    from queuesmith.study.constraints import write_constraints

    check_targets(report, save_constraints)
    workload = log.read(cancelled=cancelled)
    found = machine_named(nodes, workload, machine, log)
    if machine.slurm_conf:
        policy = policy or "multifactor+plan"
    chosen = machine.configured(grading.todays_policy(found, policy))
    with progress(f"replaying {chosen}", quiet=log.quiet) as tick:
        judged = grading.fidelity(
            workload,
            found,
            chosen,
            draws=draws,
            as_placed=as_placed,
            constraints=constraints,
            strict=log.strict,
            whole=log.whole() if nodes else None,
            progress=tick,
        )
    tell_changes(judged.history.workload, quiet=log.quiet, since=len(workload.changes))
    if save_constraints is not None:
        write_constraints(judged.history.workload, save_constraints)
        tell(f"wrote {save_constraints}", quiet=log.quiet)
    if report is not None:
        _draw(judged, report)
        tell(f"wrote {report}", quiet=log.quiet)
    if format is Format.json:
        print_json(_as_json(judged, found, chosen))
        return
    rows = _rows(judged, by)
    print_rows(_readable(rows) if format is Format.table else rows, format)
    if format is Format.table:
        for sentence in _said(judged, found, chosen, as_placed=as_placed):
            print(sentence)


def _draw(judged: Fidelity, page: Path) -> None:
    from queuesmith.figures.page import write_figures
    from queuesmith.report.fidelity_figures import draw_queues, draw_waits_against

    figures = [draw_waits_against(judged), draw_queues(judged)]
    title = f"{judged.history.workload.name}: {judged.sentence}"
    write_figures(figures, page, title=title)


def _as_json(
    judged: Fidelity, machine: Cluster | NodeCluster, policy: AnyPolicy
) -> dict[str, object]:
    from queuesmith.cluster import NodeCluster
    from queuesmith.engine.simulate import queues_cancelled
    from queuesmith.schedule.fidelity_reasons import reasons

    cancelled = judged.history.workload.cancelled
    queued = len(cancelled) if cancelled and queues_cancelled(policy) else 0
    absent = _not_followed(judged, machine, policy)
    of_nodes: dict[str, object] = {}
    if isinstance(machine, NodeCluster):
        of_nodes = {"not_followed": list(absent), "stopped_jobs": judged.replayed.stopped_jobs}
    return {**judged.to_dict(), "cancelled": queued, **of_nodes, "explained": reasons(judged)}


def _rows(judged: Fidelity, by: str | None) -> list[dict[str, object]]:
    """Return the figures of all jobs, then of each part of them."""
    from queuesmith.schedule.fidelity import columns_of

    jobs = judged.history.workload
    rows = [{"part": "all jobs", "jobs": len(jobs), **judged.figures()}]
    for column in [by] if by else columns_of(jobs):
        for row in judged.by(column):
            part = str(row.pop(column))
            rows.append({"part": part if part.startswith(column) else f"{column} {part}", **row})
    return rows


def _said(
    judged: Fidelity, machine: Cluster | NodeCluster, policy: AnyPolicy, *, as_placed: bool
) -> Iterator[str]:
    """Say what explains the rest, what the replay does not know, and how far to believe it."""
    from queuesmith.engine.simulate import queues_cancelled
    from queuesmith.schedule.fidelity_reasons import reasons

    jobs = judged.history.workload
    yield from map(_told, reasons(judged))
    if jobs.cancelled is not None:
        yield _told_cancelled(len(jobs.cancelled), queues_cancelled(policy))
    if stopped := judged.replayed.stopped_jobs:
        yield f"The replay stopped {so_many(stopped, 'job')} so that others could start."
    if judged.as_logged is not None and judged.inferred:
        yield _told_inferred(judged, judged.as_logged)
    if not as_placed and _forgets_constraints(jobs, machine):
        yield (
            "The log does not tell Constraints: jobs that were bound to some nodes are replayed as "
            "free. --as-placed binds each to the kinds of nodes it ran on."
        )
    absent = _not_followed(judged, machine, policy)
    if absent:
        yield f"Not followed: {', '.join(absent)}."
    yield judged.sentence


def _not_followed(
    judged: Fidelity, machine: Cluster | NodeCluster, policy: AnyPolicy
) -> tuple[str, ...]:
    """Return what the machine's configuration asks for and the replay of Slurm leaves out."""
    from queuesmith.cluster import NodeCluster
    from queuesmith.cluster.followed import not_followed
    from queuesmith.policy import Slurm

    if isinstance(machine, NodeCluster) and isinstance(policy, Slurm):
        return tuple(not_followed(machine, judged.history.workload))
    return ()


def _forgets_constraints(log: Workload, machine: Cluster | NodeCluster) -> bool:
    """Tell whether jobs may have been bound to nodes by features that the log leaves out."""
    from queuesmith.cluster import NodeCluster
    from queuesmith.engine.inferred_constraints import can_infer

    if not isinstance(machine, NodeCluster):
        return False
    return can_infer(log, machine)


def _told_inferred(judged: Fidelity, without: Fidelity) -> str:
    """Say of how many jobs constraints were inferred, and what the grade is without them."""
    off, rank = without.error_percent, without.rank_correlation
    return (
        f"Constraints of {so_many(judged.inferred, 'job')} inferred from where they ran and who "
        "was let past them (the accounting has no Constraints column). As logged: "
        f"{'-' if off is None else f'{off:+.1f}'} %, rank correlation "
        f"{'-' if rank is None else f'{rank:.2f}'}, a job's error {without.mean_error:,.0f} s, "
        f"grade {without.grade} (--constraints as-logged)."
    )


def _told_cancelled(count: int, queued: bool) -> str:
    jobs = so_many(count, "job that was", "jobs that were")
    where = "stood in the replayed queue until then" if queued else "left out of the replayed queue"
    return f"{jobs} cancelled while waiting: {where}."


def _told(row: dict[str, Any]) -> str:
    """Return what one reason explains, in a sentence."""
    without = row["error_percent_without"]
    rest = "" if without is None else f"; without them the replay is off by {without:+.0f} %"
    jobs, share = so_many(row["jobs"], "job"), row["share_of_waiting"]
    return f"{jobs}, {share:.0%} of the waiting: {row['reason']}{rest}."


def _readable(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the few columns that fit a terminal, in minutes and per cent."""

    def minutes(seconds: object) -> str:
        return f"{float(seconds) / 60:,.1f}"  # type: ignore[arg-type]

    def share(value: object, sign: str = "") -> str:
        return "-" if value is None else f"{float(value):{sign}.0f}"  # type: ignore[arg-type]

    return [
        {
            "part": row["part"],
            "jobs": f"{row['jobs']:,}",
            "real (min)": minutes(row["mean_wait_history"]),
            "replayed": minutes(row["mean_wait_replayed"]),
            "off (%)": share(row["error_percent"], "+"),
            "a job's error": minutes(row["mean_error"]),
            "rank corr.": "-"
            if row["rank_correlation"] is None
            else f"{row['rank_correlation']:.2f}",
            "in 5 min (%)": share(100 * float(row["within_five_minutes"])),  # type: ignore[arg-type]
        }
        for row in rows
    ]
