"""The command that grades a replay: today's policy against what really happened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cli.engine import load_engine
from queuesmith.cli.options import FormatOption, LogOptions, MachineOptions, with_options
from queuesmith.cli.output import Format, check_targets, print_json, print_rows, progress, tell

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.policy import AnyPolicy
    from queuesmith.workload import Workload


@with_options
def fidelity(
    log: LogOptions,
    machine: MachineOptions,
    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy that really ran; by default fcfs+easy, with a slurm.conf "
            "multifactor+plan, on a machine of Slurm's slurm()."
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            "--machine",
            help="The machine as it is: a folder with a slurm.conf or a machine.toml, one such "
            "file, or 'infer'.",
        ),
    ] = None,
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
    load_engine()
    from queuesmith.cluster import Cluster
    from queuesmith.cluster.fitting import fitting
    from queuesmith.cluster.followed import not_followed
    from queuesmith.cluster.inference.placed import as_placed as bound_as_placed
    from queuesmith.cluster.sources import machine_from
    from queuesmith.engine.simulate import queues_cancelled
    from queuesmith.policy import Slurm, as_policy
    from queuesmith.schedule import history
    from queuesmith.schedule.fidelity import Fidelity, columns_of
    from queuesmith.schedule.fidelity_reasons import reasons
    from queuesmith.study import simulate_many

    check_targets(report)
    workload = log.read(cancelled=cancelled)
    found = machine_from(nodes, log=workload, timezone=log.timezone) if nodes else None
    today = "multifactor+plan" if machine.slurm_conf else "fcfs+easy"
    if found is not None and "SchedulerType" in found.settings:
        today = "slurm()"
    chosen = machine.configured(as_policy(policy or today))
    cluster: Cluster | NodeCluster
    if found is not None and isinstance(chosen, Slurm):
        cluster = found
        fit = fitting(workload, found, strict=log.strict)
        fit = bound_as_placed(fit, found) if as_placed else fit
    elif as_placed:
        raise UsageError(
            f"--as-placed places jobs on nodes, but {chosen} is replayed on a number of cores. "
            "Leave it out, or give --machine with a slurm.conf."
        )
    else:
        cluster = Cluster(found.cores, found.name) if found else machine.cluster(workload)
        fit = workload.fitting(cluster.cores, strict=log.strict)
    real = history(fit, cluster)
    if real is None:
        raise WorkloadError(
            f"the log '{workload.name}' does not tell when its jobs really began, so no replay of "
            "it can be graded. Give a log with starts or waits."
        )
    policies = _drawn(chosen, fit, cluster, draws)
    with progress(f"replaying {chosen}", quiet=log.quiet) as tick:
        replayed, *others = simulate_many(fit, cluster, policies, progress=tick)
    judged = Fidelity(real, replayed, tuple(others))
    if report is not None:
        from queuesmith.figures.page import write_figures
        from queuesmith.report.fidelity_figures import draw_queues, draw_waits_against

        figures = [draw_waits_against(judged), draw_queues(judged)]
        write_figures(figures, report, title=f"{workload.name}: {judged.sentence}")
        tell(f"wrote {report}", quiet=log.quiet)
    explained = reasons(judged)
    absent = not_followed(found, fit) if found is not None and isinstance(chosen, Slurm) else ()
    if format is Format.json:
        left_out = {"not_followed": list(absent)} if found is not None else {}
        queued = len(fit.cancelled) if fit.cancelled and queues_cancelled(chosen) else 0
        print_json({**judged.to_dict(), "cancelled": queued, **left_out, "explained": explained})
        return
    columns = [by] if by else columns_of(fit)
    rows = [{"part": "all jobs", "jobs": len(real), **judged.figures()}]
    for column in columns:
        rows += [{"part": f"{column} {row.pop(column)}", **row} for row in judged.by(column)]
    print_rows(_readable(rows) if format is Format.table else rows, format)
    if format is Format.table:
        for each in explained:
            print(_told(each))
        if fit.cancelled is not None:
            print(_told_cancelled(len(fit.cancelled), queues_cancelled(chosen)))
        if found is not None and not as_placed and _forgets_constraints(fit, found):
            print(
                "The log does not tell Constraints: jobs that were bound to some nodes are "
                "replayed as free. --as-placed binds each to the kinds of nodes it ran on."
            )
        if absent:
            print(f"Not followed: {', '.join(absent)}.")
        print(judged.sentence)


def _drawn(
    chosen: AnyPolicy, log: Workload, machine: Cluster | NodeCluster, draws: int
) -> list[AnyPolicy]:
    """Return the policies to replay: the chosen one, and as often as asked with other clocks."""
    from queuesmith.cluster import NodeCluster
    from queuesmith.policy import Slurm

    if draws == 1:
        return [chosen]
    if not isinstance(chosen, Slurm) or not isinstance(machine, NodeCluster):
        raise UsageError(
            f"--draws {draws} replays with other clocks of Slurm, but {chosen} has no clocks. "
            "Leave --draws out, or give --machine with a slurm.conf."
        )
    first = int(log.submit[0]) + (log.epoch or 0)
    return [*chosen.with_other_clocks(machine.settings, first, draws)]


def _forgets_constraints(log: Workload, machine: NodeCluster) -> bool:
    """Tell whether jobs may have been bound to nodes by features that the log leaves out."""
    told = {"constraint", "excluded_nodes"} & log.extra.keys()
    kinds = {kind.features for kind in machine.kinds}
    return len(kinds) > 1 and not told and "node_list" in log.extra


def _told_cancelled(count: int, queued: bool) -> str:
    jobs = "1 job that was" if count == 1 else f"{count:,} jobs that were"
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
