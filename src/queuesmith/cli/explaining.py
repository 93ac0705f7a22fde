"""The command that says what a policy does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from queuesmith.base.errors import UsageError
from queuesmith.base.words import so_many
from queuesmith.cli.options import (
    FormatOption,
    LogIfAny,
    LogOptions,
    MachineOptions,
    NodesOptions,
    with_options,
)
from queuesmith.cli.output import (
    Format,
    check_targets,
    print_json,
    print_rows,
    print_sentences,
    progress,
    tell,
    tell_changes,
)
from queuesmith.cli.trust import Trust, chosen_policy, loaded_policy

if TYPE_CHECKING:
    from queuesmith.cluster import Cluster, NodeCluster
    from queuesmith.workload import Workload


@with_options
def explain(
    log: LogIfAny,
    machine: MachineOptions,
    nodes: NodesOptions,
    policy: Annotated[
        str,
        typer.Argument(help="A policy as one writes it, or its JSON file, as tune writes it."),
    ],
    smaller: Annotated[
        Path | None,
        typer.Option(help="Write a rule base without what the log never needs to this file."),
    ] = None,
    trust: Trust = False,
    format: FormatOption = Format.table,
) -> None:
    """Say in sentences what a policy does; with a log, what each rule chose in which states."""
    from queuesmith.policy.rulebase import RuleBased
    from queuesmith.policy.sentences import explain, sentences

    check_targets(smaller)
    is_file = policy.endswith(".json") or Path(policy).is_file()
    known = (
        loaded_policy(Path(policy), trust=trust) if is_file else chosen_policy(policy, trust=trust)
    )
    if smaller is not None and (log.log is None or not isinstance(known, RuleBased)):
        raise UsageError(
            f"--smaller needs a rule base and a log to replay it on, but '{policy}' "
            f"{'has no log' if log.log is None else 'is no rule base'}. Name both."
        )
    replayed = None if log.log is None else _jobs_and_machine(log, machine, nodes)
    decisions = None if replayed is None else _decisions(known, *replayed, log)
    counts = None if decisions is None else decisions.rule_counts
    if format is Format.table:
        _print_explained(explain(known, counts), known, decisions)
    else:
        rows = [sentence.to_dict() for sentence in sentences(known, counts)]
        if format is Format.json:
            print_json({"policy": str(known), "sentences": rows, **_decided(known, decisions)})
        else:
            print_rows([{**row, "rules": " ".join(map(str, row["rules"]))} for row in rows], format)
    if smaller is not None and replayed is not None:
        quiet = log.quiet or format is not Format.table
        _write_smaller(known, *replayed, smaller, quiet=quiet)


def _jobs_and_machine(
    log: LogOptions, machine: MachineOptions, nodes: NodesOptions
) -> tuple[Workload, Cluster | NodeCluster]:
    """Return the jobs and the machine as ``tune`` has them."""
    workload = log.read()
    cluster = nodes.cluster(workload, machine, log)
    return nodes.constrained(workload, cluster, log), cluster


def _print_explained(text: str, policy: Any, decisions: Any) -> None:
    """Print a policy in words, and what its rules decided where that is known."""
    from queuesmith.policy.decided import decided_lines

    print(text)
    if decisions is None:
        return
    print(f"What was chosen, {so_many(decisions.count, 'decision')}:")
    for line in decided_lines(policy, decisions.choice_counts, decisions.state_sums):
        print(line)
    for strategy, count in decisions.by_strategy().items():
        if count:
            print(f"chosen {so_many(count, 'time')}: {strategy}")


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


def _write_smaller(
    policy: Any, workload: Workload, cluster: Cluster | NodeCluster, path: Path, *, quiet: bool
) -> None:
    """Write a rule base that does the same on the log with fewer rules, and say what is gone."""
    from queuesmith.learning.smaller import smaller

    found = smaller(policy, workload, cluster)
    found.policy.save(path)
    if not quiet:
        print_sentences(str(found))
    tell(f"wrote {path}", quiet=quiet)


def _decisions(
    policy: Any, workload: Workload, cluster: Cluster | NodeCluster, log: LogOptions
) -> Any:
    """Replay a log; return how its rules decided, or None where the policy has none."""
    from queuesmith.engine.decisions import RuleDecisions
    from queuesmith.study import simulate_many

    with progress(f"replaying {policy}", quiet=log.quiet) as report:
        schedule = simulate_many(workload, cluster, [policy], strict=log.strict, progress=report)[0]
    tell_changes(schedule.workload, quiet=log.quiet, since=len(workload.changes))
    return schedule.decisions if isinstance(schedule.decisions, RuleDecisions) else None
