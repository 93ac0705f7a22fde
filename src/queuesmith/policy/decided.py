"""What the rules of a rule base decided over a replay, in words: in which states, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.words import so_many
from queuesmith.policy.features import find_features
from queuesmith.policy.rulebase import RuleBased
from queuesmith.policy.rules import FuzzyRules
from queuesmith.policy.sentences import choices_in_words

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class DecidedRule:
    """One rule that decided at least once.

    Parameters
    ----------
    part
        Which rules it belongs to: ``strategy``, or ``order`` and ``algorithm`` of a pair.
    rule
        Its number, from 1.
    count, share
        How often it decided, and which share of all decisions of its part that is.
    chosen
        What was chosen then, the most frequent first. It need not be what the rule alone is for:
        all rules have a say.
    state
        The mean of each feature over the states in which it decided.
    """

    part: str
    rule: int
    count: int
    share: float
    chosen: dict[str, int]
    state: dict[str, float]

    def __str__(self) -> str:
        what = ", ".join(f"{name} {so_many(count, 'time')}" for name, count in self.chosen.items())
        where = ", ".join(f"{name} {value:.2g}" for name, value in self.state.items())
        return f"{100 * self.share:5.1f} %  rule {self.rule} chose {what}; on average at {where}."

    def to_dict(self) -> dict[str, Any]:
        """Return it, ready for JSON."""
        return {
            "part": self.part,
            "rule": self.rule,
            "count": self.count,
            "share": self.share,
            "chosen": self.chosen,
            "state": self.state,
        }


def decided_rules(
    policy: RuleBased, choice_counts: Sequence[Ints], state_sums: Sequence[Reals]
) -> list[DecidedRule]:
    """Return the rules that decided, those that did so most often first.

    Parameters
    ----------
    policy
        The rule base.
    choice_counts
        For each part of it a row a rule, a column a choice: how often the rule decided and that
        was chosen.
    state_sums
        For each part a row a rule, a column a feature: the sum over the states in which the rule
        decided.
    """
    words = [feature.words for feature in find_features(policy.features)]
    found = []
    parts = zip(choices_in_words(policy), choice_counts, state_sums, strict=True)
    for (part, names), counts, sums in parts:
        whole = max(int(counts.sum()), 1)
        own = [
            DecidedRule(
                part,
                int(rule) + 1,
                int(counts[rule].sum()),
                float(counts[rule].sum() / whole),
                _most_frequent(names, counts[rule]),
                dict(zip(words, (sums[rule] / counts[rule].sum()).tolist(), strict=True)),
            )
            for rule in np.flatnonzero(counts.sum(axis=1))
        ]
        found += sorted(own, key=lambda each: -each.count)
    return found


def idle_rules(policy: RuleBased, choice_counts: Sequence[Ints]) -> list[tuple[str, list[int]]]:
    """Return the numbers, from 1, of the fuzzy rules that never decided, for each part."""
    parts = zip(choices_in_words(policy), policy.parts, choice_counts, strict=True)
    return [
        (part, (np.flatnonzero(counts.sum(axis=1) == 0) + 1).tolist())
        for (part, _), rules, counts in parts
        if isinstance(rules, FuzzyRules)
    ]


def decided_lines(
    policy: RuleBased, choice_counts: Sequence[Ints], state_sums: Sequence[Reals]
) -> list[str]:
    """Return what was decided as lines of text."""
    known = decided_rules(policy, choice_counts, state_sums)
    lines = []
    for part, _ in choices_in_words(policy):
        if len(policy.parts) > 1:
            lines.append(f"For the {part}:")
        lines += [f"  {each}" for each in known if each.part == part]
    for part, numbers in idle_rules(policy, choice_counts):
        if numbers:
            which = ", ".join(map(str, numbers))
            of = f" for the {part}" if len(policy.parts) > 1 else ""
            lines.append(f"Rules{of} that never decided: {which}.")
    return lines


def _most_frequent(names: Sequence[str], counts: Ints) -> dict[str, int]:
    order = np.argsort(-counts, kind="stable")
    return {names[choice]: int(counts[choice]) for choice in order if counts[choice]}
