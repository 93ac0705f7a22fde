"""The command that learns a policy from a log."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.group_waits import print_waits
from queuesmith.cli.learner_options import LearnerOptions, learning_share, wait_factor
from queuesmith.cli.options import (
    FormatOption,
    LogOptions,
    MachineOptions,
    Seed,
    TruthOptions,
    own_metric,
    with_options,
)
from queuesmith.cli.output import (
    Format,
    check_targets,
    on_terminal,
    print_json,
    print_rows,
    print_sentences,
    print_table,
    tell,
    tell_changes,
)
from queuesmith.cli.reporting import typed
from queuesmith.cli.studies import EngineOptions

if TYPE_CHECKING:
    from queuesmith.learning import Tuned
    from queuesmith.learning.course import LearningProgress
    from queuesmith.learning.method import Method
    from queuesmith.schedule.fidelity import Fidelity


@with_options
def tune(
    context: typer.Context,
    log: LogOptions,
    machine: MachineOptions,
    truth: TruthOptions,
    learner: LearnerOptions,
    engine: EngineOptions,
    objective: Annotated[
        str | None,
        typer.Option(help="What the policy should be good at, over metrics; by default mean_wait."),
    ] = None,
    longest_wait: Annotated[
        str,
        typer.Option(
            metavar="FACTOR",
            help="Admit no policy under which a group's longest or 99 % wait is more than this "
            "many times what it is under fcfs+easy; waits of up to a day always are. none: no "
            "limit.",
        ),
    ] = "2",
    no_worse: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC[:SHARE]",
            help="Admit no policy under which this metric is worse than under fcfs+easy, by more "
            "than a share such as 0.1% where one is given.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="race, prob, pittsburgh, coevolution, cma, priority, head_start or dynp; pitts, "
            "cca: as in the paper. By default race: rules, weights and head starts in turns, then "
            "the best alone."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="Tune the parameters that this policy declares, instead of rules: "
            "my.py:function+easy, power+easy, slurm(PriorityWeightAge=1000, ...) on a --machine; "
            "or improve a planner: dynp(fcfs,sjf,ljf)."
        ),
    ] = None,
    seed: Seed = 0,
    split: Annotated[
        str, typer.Option(help="Share of the log's time to learn on, or 'none' for all.")
    ] = "0.7",
    store: Annotated[
        Path | None, typer.Option(help="Record the run in this file; the same command resumes it.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the policy to this JSON file; slurm(...) to .conf, as lines for slurm.conf."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write convergence, rules and groups as an HTML page.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Learn a policy for an objective, and judge it on jobs it did not see."""
    from queuesmith.cluster.fitting import jobs_that_fit
    from queuesmith.learning.tune import as_objective, tune
    from queuesmith.report.learned import tuning_conclusion
    from queuesmith.schedule.guard import as_guards
    from queuesmith.study.grading import grade_of

    check_targets(out, store, report)
    objective = None if objective is None else own_metric(objective)
    share, chosen = learning_share(split), learner.method(method, policy)
    if out is not None and out.suffix == ".conf" and not (policy or "").startswith("slurm"):
        raise UsageError(
            f"'{out}' would hold lines for a slurm.conf, but what is tuned is not slurm(...). "
            "Give a name that ends in .json, or tune --policy 'slurm(PriorityWeightAge=1000)'."
        )
    guards = as_guards(no_worse or (), bound=as_objective(objective).bound)
    limit = wait_factor(longest_wait)
    workload = log.read()
    cluster = truth.cluster(workload, machine, log)
    workload = truth.constrained(workload, cluster, log)
    fitting = jobs_that_fit(workload, cluster, strict=log.strict)
    tell_changes(fitting, quiet=log.quiet, since=len(workload.changes))
    graded = grade_of(fitting, cluster, truth.today)
    with _watching(chosen, quiet=log.quiet) as watch, engine.elsewhere() as other:
        tuned = tune(
            fitting,
            cluster,
            objective,
            chosen,
            no_worse=guards,
            longest_wait=limit,
            strict=log.strict,
            seed=seed,
            split=share,
            workers=engine.workers,
            engine=other,
            store=store,
            progress=watch,
        )
    said = tuning_conclusion(tuned, graded, although_untrue=truth.although_untrue)
    if out is not None:
        _write_policy(tuned, out, said)
        tell(f"wrote {out}", quiet=log.quiet)
    if report is not None:
        from queuesmith.report.learned import write_tuning_report

        written = write_tuning_report(
            tuned,
            report,
            command=typed(context),
            fidelity=graded,
            although_untrue=truth.although_untrue,
        )
        tell(f"wrote {written}", quiet=log.quiet)
    _show(tuned, graded, format, said, although_untrue=truth.although_untrue, quiet=log.quiet)


def _show(
    tuned: Tuned,
    graded: Fidelity | None,
    format: Format,
    said: str,
    *,
    although_untrue: bool,
    quiet: bool,
) -> None:
    """Print what was learned in the format that is asked for, and how fast."""
    from queuesmith.report.caution import is_untrue

    if format is Format.json:
        told = None if graded is None else graded.to_dict()
        untrue = is_untrue(graded) and not although_untrue
        known = {**tuned.to_dict(), "conclusion": said}
        print_json({**known, "fidelity": told, "recommended": not untrue})
        return
    if format is Format.csv:
        print_rows(tuned.rows(), format)
    else:
        print_tuned(tuned, graded, although_untrue=although_untrue)
    rate = f"{tuned.evaluations / tuned.seconds:,.3g} a second" if tuned.seconds else "at once"
    tell(
        f"{so_many(tuned.evaluations, 'policy was', 'policies were')} judged, {rate}.", quiet=quiet
    )


def _write_policy(tuned: Tuned, out: Path, said: str) -> None:
    """Write the policy; as lines for slurm.conf, below what came out, where the name says so."""
    from queuesmith.base.files import write_bytes
    from queuesmith.policy import Slurm

    if out.suffix != ".conf":
        tuned.policy.save(out)
        return
    if not isinstance(tuned.policy, Slurm):
        raise UsageError(
            f"what was learned is {tuned.policy}, since no setting of Slurm keeps the limits, so "
            f"there are no lines for '{out}'. Give other limits, or a name that ends in .json."
        )
    text = "".join(f"# {line}\n" for line in textwrap.wrap(said, 90))
    write_bytes(out, (text + tuned.policy.fragment).encode())


def print_tuned(
    tuned: Tuned, graded: Fidelity | None = None, *, although_untrue: bool = False
) -> None:
    """Print what was learned for, a table that fits a terminal, and what came out.

    Parameters
    ----------
    tuned
        What was learned.
    graded
        How true replays of the log are, where it tells what really happened.
    although_untrue
        Say what came out even where they are not.
    """
    from queuesmith.report.learned import terminal_rows, tuning_conclusion

    rows = terminal_rows(tuned)
    print_sentences(f"Learned for {tuned.goal}.")
    print_table(rows, right=list(rows[0])[2:])
    judged = tuned.held_out or tuned.learning
    print_waits({part.replace("_", " "): each for part, each in judged.schedules.items()})
    print_sentences(
        f"Best fixed: {tuned.best_fixed}. Learned: {tuned.policy}.",
        *tuned.no_worse_sentences(),
        "" if graded is None else graded.sentence,
        tuning_conclusion(tuned, graded, although_untrue=although_untrue),
    )


@contextmanager
def _watching(
    method: Method, *, quiet: bool
) -> Iterator[Callable[[LearningProgress], None] | None]:
    """Show generation, best value, evaluations a second and time left, where somebody watches."""
    if quiet or not on_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(f"{method.name}: replaying the fixed strategies", total=1.0)

        def report(state: LearningProgress) -> None:
            left = "" if state.seconds_left is None else f", {_clock(state.seconds_left)} left"
            text = f"{method.name}: {state}{left}"
            bars.update(task, completed=state.share, description=text)

        yield report


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S" if seconds >= 3600 else "%M:%S", time.gmtime(seconds))
