"""Commands for learned policies: learn one from a log, and say what it does."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.cli.group_waits import print_waits
from queuesmith.cli.options import (
    FormatOption,
    LogOptions,
    MachineOptions,
    Quiet,
    Seed,
    TruthOptions,
    names,
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
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.reporting import typed
from queuesmith.cli.studies import EngineOptions
from queuesmith.cli.trust import Trust, chosen_policy, loaded_policy

if TYPE_CHECKING:
    from queuesmith.learning import Tuned
    from queuesmith.learning.course import LearningProgress
    from queuesmith.learning.method import Method
    from queuesmith.schedule.fidelity import Fidelity

#: Options that hold a list.
LISTS = ("features", "strategies", "orders", "algorithms", "backfills")


def _option(help: str) -> Any:
    return typer.Option(help=help)


@dataclass(frozen=True)
class LearnerOptions:
    """Parameters of the methods; those not given stay what the method's default is."""

    generations: Annotated[int | None, _option("How many generations.")] = None
    parents: Annotated[int | None, _option("How many survive a generation.")] = None
    offspring: Annotated[int | None, _option("How many children a generation has.")] = None
    rules: Annotated[int | None, _option("How many rules a rule base has.")] = None
    participations: Annotated[int | None, _option("prob: how often a rule gets each strategy.")] = (
        None
    )
    features: Annotated[str | None, _option("What rules look at, comma-separated.")] = None
    strategies: Annotated[str | None, _option("What rules choose, comma-separated.")] = None
    orders: Annotated[str | None, _option("coevolution, dynp: orders to choose from.")] = None
    algorithms: Annotated[str | None, _option("coevolution: backfills, or greedy.")] = None
    backfills: Annotated[str | None, _option("priority: backfills to try.")] = None
    window: Annotated[
        int | None, _option("Seconds over which the slowdown is averaged; 0 for all.")
    ] = None
    step: Annotated[float | None, _option("Strength of mutation at the beginning.")] = None
    weight_step: Annotated[float | None, _option("The same for weights of rules.")] = None
    changed: Annotated[
        float | None, _option("Share of its numbers in which a child may differ from its parent.")
    ] = None
    changed_last: Annotated[float | None, _option("The same in the last generation.")] = None
    seeded: Annotated[
        int | None, _option("How many first parents play the best fixed strategies.")
    ] = None
    restart_after: Annotated[
        int | None, _option("Begin anew after this many generations without a better policy.")
    ] = None
    pairing: Annotated[str | None, _option("coevolution: random or best partners.")] = None

    def method(self, name: str, policy: str | None, *, is_named: bool = False) -> Method:
        """Return the method with the parameters that were given.

        Parameters
        ----------
        name
            The method.
        policy
            A policy whose parameters are to be tuned; it has a method of its own.
        is_named
            Whether the user named the method, so that it is not what it is by default.
        """
        from queuesmith.learning.methods import make_method, method_of_policy

        given: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                given[field.name] = tuple(names(value)) if field.name in LISTS else value
        if policy is None:
            return make_method(name, **given)
        chosen = method_of_policy(policy, **given)
        if is_named and name != chosen.name:
            raise UsageError(
                f"--method is '{name}', but --policy '{policy}' has a method of its own. Leave one "
                "of them out."
            )
        return chosen


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
        str,
        typer.Option(
            help="prob, pittsburgh, coevolution, cma, priority or dynp; pitts, cca: as in the "
            "paper."
        ),
    ] = "pittsburgh",
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
    from queuesmith.report.caution import is_untrue
    from queuesmith.report.learned import tuning_conclusion
    from queuesmith.schedule.guard import as_guards
    from queuesmith.study.grading import grade_of

    check_targets(out, store, report)
    objective = None if objective is None else own_metric(objective)
    source = context.get_parameter_source("method")
    is_named = source is not None and source.name == "COMMANDLINE"
    share, chosen = _share(split), learner.method(method, policy, is_named=is_named)
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
    if format is Format.json:
        told = None if graded is None else graded.to_dict()
        untrue = is_untrue(graded) and not truth.although_untrue
        known = {**tuned.to_dict(), "conclusion": said}
        print_json({**known, "fidelity": told, "recommended": not untrue})
    elif format is Format.csv:
        print_rows(tuned.rows(), format)
    else:
        print_tuned(tuned, graded, although_untrue=truth.although_untrue)
    if format is not Format.json:
        rate = f"{tuned.evaluations / tuned.seconds:,.3g} a second" if tuned.seconds else "at once"
        tell(f"{tuned.evaluations:,} policies were judged, {rate}.", quiet=log.quiet)


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


def explain(
    policy: Annotated[
        str,
        typer.Argument(help="A policy as one writes it, or its JSON file, as tune writes it."),
    ],
    log: Annotated[
        Path | None, typer.Argument(help="A job log: say also how often each rule decides.")
    ] = None,
    cores: Annotated[
        int | None, typer.Option(help="Number of processors; by default what the log says.")
    ] = None,
    smaller: Annotated[
        Path | None,
        typer.Option(help="Write a rule base without what the log never needs to this file."),
    ] = None,
    trust: Trust = False,
    format: FormatOption = Format.table,
    quiet: Quiet = False,
) -> None:
    """Say in sentences what a policy does; with a log, what each rule chose in which states."""
    from queuesmith.policy.rulebase import RuleBased
    from queuesmith.policy.sentences import explain, sentences

    check_targets(smaller)
    is_file = policy.endswith(".json") or Path(policy).is_file()
    known = (
        loaded_policy(Path(policy), trust=trust) if is_file else chosen_policy(policy, trust=trust)
    )
    if smaller is not None and (log is None or not isinstance(known, RuleBased)):
        raise UsageError(
            f"--smaller needs a rule base and a log to replay it on, but '{policy}' "
            f"{'has no log' if log is None else 'is no rule base'}. Name both."
        )
    decisions = _decisions(known, log, cores, quiet) if log is not None else None
    counts = None if decisions is None else decisions.rule_counts
    if format is Format.table:
        _print_explained(explain(known, counts), known, decisions)
    else:
        rows = [sentence.to_dict() for sentence in sentences(known, counts)]
        if format is Format.json:
            print_json({"policy": str(known), "sentences": rows, **_decided(known, decisions)})
        else:
            print_rows([{**row, "rules": " ".join(map(str, row["rules"]))} for row in rows], format)
    if smaller is not None and log is not None:
        _write_smaller(known, log, cores, smaller, quiet=quiet or format is not Format.table)


def _print_explained(text: str, policy: Any, decisions: Any) -> None:
    """Print a policy in words, and what its rules decided where that is known."""
    from queuesmith.policy.decided import decided_lines

    print(text)
    if decisions is None:
        return
    print(f"What was chosen, {decisions.count:,} decisions:")
    for line in decided_lines(policy, decisions.choice_counts, decisions.state_sums):
        print(line)
    for strategy, count in decisions.by_strategy().items():
        if count:
            print(f"chosen {count:,} times: {strategy}")


def _decided(policy: Any, decisions: Any) -> dict[str, Any]:
    """Return what rules decided, ready for JSON."""
    from queuesmith.policy.decided import decided_rules, idle_rules

    if decisions is None:
        return {"chosen": {}, "decided": [], "never_decided": {}}
    often = {name: count for name, count in decisions.by_strategy().items() if count}
    rules = decided_rules(policy, decisions.choice_counts, decisions.state_sums)
    return {
        "chosen": often,
        "decided": [rule.to_dict() for rule in rules],
        "never_decided": dict(idle_rules(policy, decisions.choice_counts)),
    }


def _write_smaller(policy: Any, log: Path, cores: int | None, path: Path, *, quiet: bool) -> None:
    """Write a rule base that does the same on the log with fewer rules, and say what is gone."""
    from queuesmith.learning.smaller import smaller
    from queuesmith.workload.files import read

    found = smaller(policy, read(log), cores=cores)
    found.policy.save(path)
    if not quiet:
        print_sentences(str(found))
    tell(f"wrote {path}", quiet=quiet)


def _decisions(policy: Any, log: Path, cores: int | None, quiet: bool) -> Any:
    """Replay a log; return how its rules decided, or None where the policy has none."""
    from queuesmith.engine.decisions import RuleDecisions
    from queuesmith.study import simulate_many
    from queuesmith.workload.files import read

    workload = read(log)
    with progress(f"replaying {policy}", quiet=quiet) as report:
        schedule = simulate_many(workload, None, [policy], cores=cores, progress=report)[0]
    tell_changes(schedule.workload, quiet=quiet)
    return schedule.decisions if isinstance(schedule.decisions, RuleDecisions) else None


def wait_factor(text: str) -> float | None:
    """Read how many times as long as before groups may wait; None for no limit."""
    from queuesmith.schedule.starvation import NobodyStarves

    if text.strip().lower() == "none":
        return None
    try:
        return NobodyStarves(float(text)).factor
    except ValueError:
        raise UsageError(
            f"--longest-wait is '{text}', but it must be a number of 1 or more, or none for no "
            "limit. Give for example 2."
        ) from None


def _share(split: str) -> float | None:
    """Read the share of the log to learn on."""
    if split.strip().lower() in ("none", "all"):
        return None
    try:
        return float(split)
    except ValueError:
        raise UsageError(
            f"--split is '{split}', but it must be a share between 0 and 1, or none. "
            "Give for example 0.7."
        ) from None


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
