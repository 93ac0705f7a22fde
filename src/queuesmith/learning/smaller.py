"""A smaller rule base that does the same on a log: without rules and strategies it never needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.engine.simulate import as_machine, simulate
from queuesmith.policy.rulebase import RuleBase, RuleBased, RuleBasePair
from queuesmith.policy.rules import FuzzyRules
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload


@dataclass(frozen=True, eq=False)
class Smaller:
    """A rule base that starts every job of a log as a larger one does.

    Parameters
    ----------
    policy
        The smaller rule base; the same as before where nothing can go.
    rules
        The numbers, from 1, of the rules that were dropped, for each part of the rule base.
    strategies
        The strategies that were dropped, none of which is ever chosen.
    decisions
        How many decisions were taken on the log.
    """

    policy: RuleBased
    rules: tuple[tuple[int, ...], ...]
    strategies: tuple[str, ...]
    decisions: int

    def __str__(self) -> str:
        if not self.decisions:
            return "Nothing was to be decided on this log, so it does not tell what can be dropped."
        if not any(self.rules) and not self.strategies:
            return "No rule and no strategy can be dropped without changing what it does."
        count = sum(map(len, self.rules))
        rules = so_many(count, "rule that never decides", "rules that never decide")
        never = so_many(len(self.strategies), "strategy that is", "strategies that are")
        others = f" and {never} never chosen"
        kept = [len(part) for part in self.policy.parts]
        left = "1 rule is" if kept == [1] else f"{', '.join(map(str, kept))} rules are"
        return (
            f"Without {rules}{others if self.strategies else ''} it starts every job of this log "
            f"at the same instant; {left} left."
        )


def smaller(
    policy: RuleBased,
    workload: Workload,
    cluster: Cluster | NodeCluster | None = None,
    *,
    cores: int | None = None,
) -> Smaller:
    """Drop the fuzzy rules that never decide and the strategies that are never chosen on a log.

    All rules have a say at each decision, also those that never contribute most; so whatever is
    dropped, the log is replayed, and what changes the start of any job stays.

    Parameters
    ----------
    policy
        A rule base, or a pair of them. Rigid rules are classes of states, none of which can go.
    workload, cluster, cores
        As for ``simulate``.
    """
    machine = as_machine(workload, cluster, cores)
    before = simulate(workload, machine, policy)

    def is_same(other: RuleBased) -> bool:
        return bool(np.array_equal(simulate(workload, machine, other).start, before.start))

    idle = _idle(policy, before)
    dropped: set[tuple[int, int]] = set()
    if idle and is_same(_without(policy, set(idle))):
        dropped = set(idle)
    else:
        for rule in idle:
            if is_same(_without(policy, dropped | {rule})):
                dropped.add(rule)
    found = _without(policy, dropped)
    strategies: tuple[str, ...] = ()
    for fewer, names in _fewer_strategies(found, before):
        if is_same(fewer):
            found, strategies = fewer, names
    rules = tuple(
        tuple(rule + 1 for of, rule in sorted(dropped) if of == part)
        for part in range(len(policy.parts))
    )
    return Smaller(found, rules, strategies, before.decisions.count)


def _idle(policy: RuleBased, schedule: Schedule) -> list[tuple[int, int]]:
    """Return part and number of each fuzzy rule that never decided; one rule of a part stays."""
    counts = schedule.decisions.rule_counts
    return [
        (part, int(rule))
        for part, rules in enumerate(policy.parts)
        if isinstance(rules, FuzzyRules) and counts[part].any()
        for rule in np.flatnonzero(counts[part] == 0)
    ]


def _without(policy: RuleBased, dropped: set[tuple[int, int]]) -> RuleBased:
    """Return a rule base without some rules."""
    if not dropped:
        return policy
    parts = []
    for part, rules in enumerate(policy.parts):
        kept = [rule for rule in range(len(rules)) if (part, rule) not in dropped]
        if isinstance(rules, FuzzyRules) and len(kept) < len(rules):
            rules = FuzzyRules(rules.centre[kept], rules.width[kept], rules.weight[kept])
        parts.append(rules)
    if isinstance(policy, RuleBasePair):
        return policy.replaced(order_rules=parts[0], algorithm_rules=parts[1])
    assert isinstance(policy, RuleBase)
    return policy.replaced(rules=parts[0])


def _fewer_strategies(
    policy: RuleBased, schedule: Schedule
) -> Iterator[tuple[RuleBased, tuple[str, ...]]]:
    """Yield the rule base without the strategies that were never chosen, where it has such."""
    if not isinstance(policy, RuleBase) or not isinstance(policy.rules, FuzzyRules):
        return
    counts = schedule.decisions.strategy_counts
    chosen = np.flatnonzero(counts).tolist()
    if not 0 < len(chosen) < len(policy.offered):
        return
    names = tuple(str(s) for i, s in enumerate(policy.offered) if i not in chosen)
    rules = replace(policy.rules, weight=policy.rules.weight[:, chosen])
    yield policy.replaced(rules=rules, offered=tuple(policy.offered[i] for i in chosen)), names
