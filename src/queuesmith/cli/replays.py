"""Commands that replay a log: one policy, several side by side, a report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.choices import ChoiceOptions, as_rows
from queuesmith.cli.group_waits import print_waits
from queuesmith.cli.options import (
    CountingOptions,
    FormatOption,
    LogOptions,
    MachineOptions,
    TruthOptions,
    own_metric,
    own_metrics,
    settings,
    with_options,
)
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    print_sentences,
    print_table,
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.studies import EngineOptions
from queuesmith.cli.summary_rows import readable_rows
from queuesmith.cli.trust import Trust, chosen_policies, chosen_policy

if TYPE_CHECKING:
    from queuesmith.policy import Order
    from queuesmith.report import Comparison
    from queuesmith.study.engines import Engine
    from queuesmith.workload import Workload

DEFAULT_POLICIES = "fcfs,fcfs+easy,fcfs+conservative,sjf+easy"
DEFAULT_METRICS = "mean_wait,p95_wait,mean_bounded_slowdown,awrt,utilization"

Policies = Annotated[
    str, typer.Option(help="Policies, comma-separated; each as for simulate --policy.")
]
Metrics = Annotated[
    str,
    typer.Option(help="Metrics or objectives, comma-separated; my.py:function for your own."),
]


@with_options
def simulate(
    log: LogOptions,
    machine: MachineOptions,
    truth: TruthOptions,
    counting: CountingOptions,
    choices: ChoiceOptions,
    policy: Annotated[
        str,
        typer.Option(help="order+backfill, my.py:function+backfill, dynp(...), or a .json file."),
    ] = "fcfs+easy",
    set: Annotated[
        list[str] | None, typer.Option(help="Set a parameter of the order: name=number.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="Also give this metric or expression over metrics.")
    ] = None,
    schedule: Annotated[
        Path | None, typer.Option(help="Write id, submit, start, end of every job as CSV.")
    ] = None,
    save_policy: Annotated[
        Path | None, typer.Option(help="Write the policy to this JSON file.")
    ] = None,
    trust: Trust = False,
    format: FormatOption = Format.table,
) -> None:
    """Replay a job log under one policy."""
    from queuesmith.schedule.objective import Objective
    from queuesmith.study import simulate_many
    from queuesmith.study.grading import grade_of
    from queuesmith.workload.group_names import GroupNames

    check_targets(schedule, save_policy)
    values = settings(",".join(set or []), "set", "--set alpha=1.5")
    chosen = machine.configured(chosen_policy(policy, trust=trust)).having(**values)
    choices.check(chosen)
    wanted = None if objective is None else Objective(own_metric(objective), bound=counting.bound)
    requests = choices.requests()
    workload = log.read()
    cluster = truth.cluster(workload, machine, log)
    workload = truth.constrained(workload, cluster, log)
    machine.tell_unused([chosen], quiet=log.quiet)
    with progress(f"replaying {chosen}", quiet=log.quiet) as report:
        result = simulate_many(
            workload,
            cluster,
            [chosen],
            strict=log.strict,
            reservations=requests,
            progress=report,
        )[0]
    tell_changes(result.workload, quiet=log.quiet, since=len(workload.changes))
    counted = result.trimmed(counting.warm_up, counting.cool_down)
    summary = {**counted.summary(bound=counting.bound).to_dict(), "cores": result.cluster.cores}
    if wanted is not None:
        summary |= {"objective": str(wanted), "value": wanted(counted)}
    if schedule is not None:
        result.save(schedule)
        tell(f"wrote {schedule}", quiet=log.quiet)
    if save_policy is not None:
        named = chosen.for_groups(chosen.groups or GroupNames.of(workload))
        named.save(save_policy)
        tell(f"wrote {save_policy}", quiet=log.quiet)
    choices.write(result, quiet=log.quiet)
    told = choices.told(result)
    graded = grade_of(result.workload, cluster, truth.today, known=[result])
    if format is Format.json:
        print_json({**summary, **told, "fidelity": None if graded is None else graded.to_dict()})
        return
    by_group = summary.pop("awrt_by_group")
    summary |= _awrt_rows(result.workload, by_group)
    summary |= as_rows(told)
    rows = [{"metric": name, "value": value} for name, value in summary.items()]
    if format is Format.csv:
        print_rows(rows, format)
        return
    print_table(readable_rows(summary), right=["value"])
    if graded is not None:
        print_sentences(graded.sentence)


def _awrt_rows(jobs: Workload, by_group: dict[str, float | None]) -> dict[str, float | None]:
    """Return the AWRT of each group under the name that an objective gives it: ``awrt[bio]``."""
    from queuesmith.schedule.metrics import Term

    names = dict(enumerate(jobs.labels.get("group", ())))
    groups = {int(group): value for group, value in by_group.items()}
    return {str(Term("awrt", names.get(group, group))): each for group, each in groups.items()}


@with_options
def compare(
    log: LogOptions,
    machine: MachineOptions,
    truth: TruthOptions,
    counting: CountingOptions,
    engine: EngineOptions,
    policies: Policies = DEFAULT_POLICIES,
    metrics: Metrics = DEFAULT_METRICS,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Also give 95 % confidence intervals, by weeks.")
    ] = False,
    trust: Trust = False,
    format: FormatOption = Format.table,
) -> None:
    """Replay a job log under several policies and mark the best; history comes first if known."""
    from queuesmith.report.caution import conclusion, history_caution, recommended
    from queuesmith.report.group_waits import waits_to_dict
    from queuesmith.report.table import interval_table

    with engine.elsewhere() as other:
        comparison = _compare(
            log,
            machine,
            truth,
            counting,
            policies,
            metrics,
            trust=trust,
            workers=engine.workers,
            other=other,
        )
    untrue = truth.although_untrue
    if format is Format.json:
        content = comparison.to_dict(intervals=intervals)
        said = {
            "waits": waits_to_dict({each.policy: each for each in comparison.schedules}),
            "recommended": recommended(comparison, although_untrue=untrue),
            "conclusion": conclusion(comparison, although_untrue=untrue),
        }
        print_json({**content, **said})
    elif format is Format.csv:
        sys.stdout.write(comparison.to_csv(intervals=intervals))
    else:
        print(comparison)
        if intervals:
            print("\n95 % confidence intervals, from redrawing the weeks of the log")
            print(interval_table(comparison))
        print()
        print_waits({each.policy: each for each in comparison.schedules})
        print_sentences(
            history_caution(comparison) or "", conclusion(comparison, although_untrue=untrue)
        )


@with_options
def report(
    context: typer.Context,
    log: LogOptions,
    machine: MachineOptions,
    truth: TruthOptions,
    counting: CountingOptions,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")],
    policies: Policies = DEFAULT_POLICIES,
    metrics: Metrics = DEFAULT_METRICS,
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
    trust: Trust = False,
) -> None:
    """Compare policies and write one self-contained HTML page about it."""
    from queuesmith.cli.recipe import Recipe
    from queuesmith.report import write_report

    check_targets(out)
    comparison = _compare(log, machine, truth, counting, policies, metrics, trust=trust)
    recipe = Recipe(log, machine, truth, counting, policies, metrics)
    write_report(
        comparison,
        out,
        title=title,
        command=shlex.join(["queuesmith", *context.obj]),
        code=recipe.code(out, title),
        although_untrue=truth.although_untrue,
    )
    tell(f"wrote {out}", quiet=log.quiet)


def policies(format: FormatOption = Format.table) -> None:
    """List what a policy can be made of: orders, backfills, deciders, plan metrics, features."""
    from queuesmith.policy import BACKFILLS, ORDERS
    from queuesmith.policy.features import FEATURES
    from queuesmith.policy.keep import Keep
    from queuesmith.policy.policy import DEEP
    from queuesmith.policy.self_tuning import DECIDERS, DEFAULT, PLAN_METRICS

    def settings(order: Order) -> str:
        return ", ".join(f"{key}={value:g}" for key, value in order.parameters.items())

    planner = "Plans under several orders and follows the plan that is best by a metric."
    rows = [
        *(("order", name, _sentence(o.function), settings(o)) for name, o in ORDERS.items()),
        *(("backfill", name, text, "depth" * (name in DEEP)) for name, text in BACKFILLS.items()),
        ("cores kept free", "keep", _sentence(Keep), "share, groups=2, patience"),
        ("self-tuning", "dynp", planner, DEFAULT),
        *(("decider", name, meaning, "") for name, meaning in DECIDERS.items()),
        *(("plan metric", name, meaning, "") for name, meaning in PLAN_METRICS.items()),
        *(("feature", name, _sentence(f.function), "") for name, f in FEATURES.items()),
    ]
    columns = ("kind", "name", "meaning", "parameters")
    print_rows([dict(zip(columns, row, strict=True)) for row in rows], format)


def _sentence(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").splitlines()[0]


def metrics(format: FormatOption = Format.table) -> None:
    """List the metrics, each with its definition."""
    from queuesmith.schedule.metrics import METRICS

    rows = [
        {"name": m.name, "unit": m.unit, "better": m.better, "definition": m.definition}
        for m in METRICS.values()
    ]
    print_rows(rows, format)


def _compare(
    log: LogOptions,
    machine: MachineOptions,
    truth: TruthOptions,
    counting: CountingOptions,
    policies: str,
    metrics: str,
    *,
    trust: bool,
    workers: int | None = None,
    other: Engine | None = None,
) -> Comparison:
    from queuesmith.report.compare import compare

    measured = own_metrics(metrics)
    chosen = [machine.configured(policy) for policy in chosen_policies(policies, trust=trust)]
    if not chosen:
        raise UsageError("no policy is given. Name at least one, for example fcfs+easy.")
    workload = log.read()
    cluster = truth.cluster(workload, machine, log)
    workload = truth.constrained(workload, cluster, log)
    machine.tell_unused(chosen, quiet=log.quiet)
    with progress(
        f"replaying {so_many(len(chosen), 'policy', 'policies')}", quiet=log.quiet
    ) as report:
        comparison = compare(
            workload,
            cluster,
            chosen,
            measured,
            strict=log.strict,
            warm_up=counting.warm_up,
            cool_down=counting.cool_down,
            bound=counting.bound,
            today=truth.today,
            workers=workers,
            engine=other,
            progress=report,
        )
    tell_changes(comparison.workload, quiet=log.quiet, since=len(workload.changes))
    return comparison
