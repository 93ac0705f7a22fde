"""How a policy that chooses has decided over a replay."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queuesmith.base.files import atomic_write
from queuesmith.policy.rulebase import RuleBased
from queuesmith.policy.self_tuning import SelfTuning


@dataclass(frozen=True, eq=False)
class RuleDecisions:
    """How often each rule decided and each strategy was chosen.

    Counted are the instants at which there was a choice: at least two jobs waited, and one fitted.
    """

    policy: RuleBased
    #: For each part of the rule base a row a rule, a column a choice: how often the rule decided
    #: and that was chosen.
    choice_counts: tuple[NDArray[np.int64], ...]
    #: For each part a row a rule, a column a feature: the sum over the states in which it decided.
    state_sums: tuple[NDArray[np.float64], ...]
    strategy_counts: NDArray[np.int64]

    @property
    def rule_counts(self) -> tuple[NDArray[np.int64], ...]:
        """How often each rule decided, for each part of the rule base."""
        return tuple(counts.sum(axis=1) for counts in self.choice_counts)

    @property
    def count(self) -> int:
        """How many decisions were taken."""
        return int(self.strategy_counts.sum())

    def by_strategy(self) -> dict[str, int]:
        """Return how often each strategy was chosen, the most frequent first."""
        counts: dict[str, int] = {}
        for strategy, count in zip(self.policy.strategies, self.strategy_counts, strict=True):
            counts[str(strategy)] = counts.get(str(strategy), 0) + int(count)
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON; rules are counted in the order of the rule base."""
        return {
            "decisions": self.count,
            "by_strategy": self.by_strategy(),
            "by_rule": [counts.tolist() for counts in self.rule_counts],
        }


@dataclass(frozen=True)
class Switch:
    """The planner changed its policy: when, and by what comparison of plans."""

    time: int
    from_policy: str
    to_policy: str
    waiting: int
    values: dict[str, float]  # what the plan under each candidate was worth


@dataclass(frozen=True, eq=False)
class SelfTuningDecisions:
    """The steps of a self-tuning replay: when, what was chosen, what each plan was worth."""

    policy: SelfTuning
    time: NDArray[np.int64]
    choice: NDArray[np.int64]  # a candidate's number
    waiting: NDArray[np.int64]  # jobs that were planned
    value: NDArray[np.float64]  # a row a step, a column a candidate: the plan's metric

    @property
    def count(self) -> int:
        """How many steps there were."""
        return len(self.time)

    def by_policy(self) -> dict[str, int]:
        """Return in how many steps each candidate was chosen."""
        counts = np.bincount(self.choice, minlength=len(self.policy.candidates))
        names = map(str, self.policy.candidates)
        return {name: int(count) for name, count in zip(names, counts, strict=True)}

    def active_seconds(self) -> dict[str, int]:
        """Return for how long each candidate was active, from the first step to the last."""
        lasted = np.diff(self.time)
        return {
            str(candidate): int(lasted[self.choice[:-1] == number].sum())
            for number, candidate in enumerate(self.policy.candidates)
        }

    def switches(self) -> list[Switch]:
        """Return every change of the active policy, with its cause."""
        names = [str(candidate) for candidate in self.policy.candidates]
        # The first candidate is active before the first step.
        before = np.concatenate([[0], self.choice])[: len(self.choice)]
        return [
            Switch(
                int(self.time[step]),
                names[before[step]],
                names[self.choice[step]],
                int(self.waiting[step]),
                dict(zip(names, map(float, self.value[step]), strict=True)),
            )
            for step in np.flatnonzero(before != self.choice)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        return {
            "steps": self.count,
            "switches": len(self.switches()),
            "by_policy": self.by_policy(),
            "active_seconds": self.active_seconds(),
            "mean_waiting": float(self.waiting.mean()) if self.count else 0.0,
            "max_waiting": int(self.waiting.max()) if self.count else 0,
        }

    def save_switches(self, path: str | Path) -> None:
        """Write every change of the active policy as CSV, with the value of each one's plan."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        names = [str(candidate) for candidate in self.policy.candidates]
        writer.writerow(["time", "from", "to", "waiting", *names])
        for switch in self.switches():
            values = [switch.values[name] for name in names]
            writer.writerow(
                [switch.time, switch.from_policy, switch.to_policy, switch.waiting, *values]
            )
        with atomic_write(path) as file:
            file.write(buffer.getvalue().encode())
