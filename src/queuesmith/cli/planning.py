"""Commands about optimal plans: ``queuesmith gap`` and ``queuesmith solve``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.words import so_many
from queuesmith.cli.options import FormatOption, LogOptions, MachineOptions, with_options
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_facts,
    print_json,
    print_rows,
    print_sentences,
    print_table,
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.reporting import typed
from queuesmith.cli.studies import EngineOptions
from queuesmith.cli.trust import Trust, chosen_policy
from queuesmith.planning.options import METHODS, WORKLOAD_SECONDS, SolveOptions

if TYPE_CHECKING:
    from queuesmith.planning import Snapshot
    from queuesmith.planning.gap import GapStep, GapStudy
    from queuesmith.policy import AnyPolicy
    from queuesmith.schedule import Schedule

#: What the replay of ``gap`` follows unless told otherwise.
DEFAULT_POLICY = "dynp(fcfs,sjf,ljf; metric=sldwa; decider=advanced)"

#: What the report of a plan compares.
REPORTED = ("artww", "sldwa", "mean_response", "makespan", "utilization")

ObjectiveOption = Annotated[str, typer.Option(help="artww, sldwa, response or makespan.")]
#: What plans are judged by, by the metric of a planner that chooses by it.
BY_METRIC = {
    "artww": "artww",
    "sldwa": "sldwa",
    "mean_response": "response",
    "makespan": "makespan",
}
MethodOption = Annotated[str, typer.Option(help=f"How it is proven: {', '.join(METHODS)}.")]
Workers = Annotated[int, typer.Option(help="Threads for each plan.")]


@dataclass(frozen=True)
class StepEngineOptions(EngineOptions):
    """Where the steps are solved; on this machine one after another."""

    workers: Annotated[
        int | None,
        typer.Option(help="local: threads for each plan, by default 1; slurm: jobs, by default 4."),
    ] = None

    @property
    def threads(self) -> int:
        """Threads for each plan: a worker of another machine has one core."""
        if self.on != "local" or self.workers is None:
            return SolveOptions.workers
        return self.workers


@with_options
def gap(
    log: LogOptions,
    machine: MachineOptions,
    engine: StepEngineOptions,
    policy: Annotated[str, typer.Option(help="The policy that the replay follows.")] = (
        DEFAULT_POLICY
    ),
    steps: Annotated[
        int | None, typer.Option(help="Compare this many steps, taken at random; default: all.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            help="Which steps are taken, the same for the same seed; a plan that the clock ends "
            "may differ from run to run, one that is proven optimal costs the same."
        ),
    ] = SolveOptions.seed,
    fewest: Annotated[
        int, typer.Option(help="Only look at steps with at least this many waiting jobs.")
    ] = 1,
    most: Annotated[
        int | None, typer.Option(help="Only look at steps with at most this many waiting jobs.")
    ] = None,
    seconds_per_step: Annotated[float, typer.Option(help="Time for each optimal plan.")] = (
        SolveOptions.seconds
    ),
    objective: Annotated[
        str | None,
        typer.Option(
            help="artww, sldwa, response or makespan; default: the metric of dynp(...), else "
            f"{SolveOptions.objective}."
        ),
    ] = None,
    trust: Trust = False,
    out: Annotated[Path | None, typer.Option(help="Write every step as CSV.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw loss and gap by number of jobs, as HTML.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Say how far the best policy of each planning step is from the optimum.

    The policies are the candidates of dynp(...), or FCFS, SJF and LJF under another policy.
    """
    from queuesmith.engine import simulate
    from queuesmith.figures.page import write_figures
    from queuesmith.planning import gap as study
    from queuesmith.planning.steps import sampled_instants, snapshot_at
    from queuesmith.policy import SelfTuning

    check_targets(out, plot)
    chosen = machine.configured(chosen_policy(policy, trust=trust))
    workload = log.read()
    schedule = simulate(workload, machine.cluster(workload), chosen, strict=log.strict)
    tell_changes(schedule.workload, quiet=log.quiet, since=len(workload.changes))
    instants = sampled_instants(schedule, steps=steps, seed=seed, fewest=fewest, most=most)
    with (
        engine.elsewhere() as other,
        progress(f"solving {so_many(len(instants), 'step')}", quiet=log.quiet) as report,
    ):
        found = study.gap(
            (snapshot_at(schedule, int(instant)) for instant in instants),
            objective=objective or _own_objective(chosen, quiet=log.quiet),
            policies=chosen.candidates if isinstance(chosen, SelfTuning) else None,
            seconds=seconds_per_step,
            workers=engine.threads,
            seed=seed,
            engine=other,
            progress=lambda done: report(done / len(instants)),
        )
    if out is not None:
        found.save(out)
        tell(f"wrote {out}", quiet=log.quiet)
    if plot is not None:
        write_figures([study.draw_gap(found)], plot, title="Loss and proven gap by waiting jobs")
        tell(f"wrote {plot}", quiet=log.quiet)
    _print_study(found, format)


def _own_objective(policy: AnyPolicy, *, quiet: bool) -> str:
    """Return what a planner chooses by, as an objective of plans; else the usual one."""
    from queuesmith.policy import SelfTuning

    metric = policy.metric if isinstance(policy, SelfTuning) else ""
    objective = BY_METRIC.get(metric, SolveOptions.objective)
    if metric and metric not in BY_METRIC:
        tell(
            f"no optimum is known for {metric}, so plans are judged by {objective}; "
            "--objective chooses another",
            quiet=quiet,
        )
    return objective


def _print_study(found: GapStudy, format: Format) -> None:
    """Print the averages; as a table also the most telling steps, as in Table 1."""
    if format is Format.json:
        print_json(found.to_dict())
        return
    if format is Format.csv:
        print_rows([asdict(step) for step in found.steps], format)
        return
    print_table([{"what": what, "value": value} for what, value in found.facts()])
    print_table([_telling(step) for step in found.telling()])
    print_sentences(found.conclusion)


def _telling(step: GapStep) -> dict[str, Any]:
    """Return what a telling step is shown with (Grothklags and Streit, Table 1), times in hours."""
    return {
        "submission (h)": step.submission / 3600,
        "jobs": step.jobs,
        "makespan (h)": step.makespan / 3600,
        "policy": step.policy,
        "loss (%)": step.loss_percent,
        "gap (%)": step.gap_percent,
        "status": str(step.status),
        "computing time (s)": step.seconds,
    }


@with_options
def solve(
    context: typer.Context,
    log: LogOptions,
    machine: MachineOptions,
    objective: ObjectiveOption = SolveOptions.objective,
    seconds: Annotated[
        float, typer.Option(help="How long it may take; less where the optimum is proven.")
    ] = WORKLOAD_SECONDS,
    method: MethodOption = SolveOptions.method,
    workers: Workers = SolveOptions.workers,
    seed: Annotated[
        int,
        typer.Option(
            help="What chance follows from. What the clock ends may differ from run to run; a "
            "value that is proven optimal does not."
        ),
    ] = SolveOptions.seed,
    schedule: Annotated[
        Path | None, typer.Option(help="Write id, submit, start, end of every job as CSV.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page about it, beside FCFS, SJF and LJF, as HTML.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Find the best schedule of all jobs at once, with a proven bound.

    LOG is a job log, of which all jobs are known from the beginning, or a snapshot (.json).
    """
    from queuesmith.planning import solve as solver
    from queuesmith.planning.solution import solution_facts

    check_targets(schedule, report)
    snapshot = _read(log, machine)
    with progress(f"planning {so_many(len(snapshot), 'job')}", quiet=log.quiet):
        found = solver.solve(
            snapshot, objective, seconds, workers=workers, seed=seed, method=method
        )
    if schedule is not None:
        found.save(schedule)
        tell(f"wrote {schedule}", quiet=log.quiet)
    if report is not None:
        _report(found, snapshot, report, typed(context))
        tell(f"wrote {report}", quiet=log.quiet)
    print_facts(solution_facts(found), format)


def _report(found: Schedule, snapshot: Snapshot, path: Path, command: str) -> None:
    """Write the report of a plan beside those of the policies."""
    from queuesmith.planning.plans import POLICIES, plan
    from queuesmith.report import Comparison, write_report

    plans = (plan(snapshot, name) for name in POLICIES)
    write_report(Comparison((found, *plans), REPORTED), path, command=command)


def _read(log: LogOptions, machine: MachineOptions) -> Snapshot:
    """Read a snapshot, or a log as one."""
    from queuesmith.planning import Snapshot
    from queuesmith.planning.solve import whole_snapshot

    if log.log.suffix == ".json":
        return Snapshot.load(log.log)
    workload = log.read()
    cluster = machine.cluster(workload)
    fitting = workload.fitting(cluster.cores, strict=log.strict)
    tell_changes(fitting, quiet=log.quiet, since=len(workload.changes))
    return whole_snapshot(fitting, cluster)
