"""A learned policy, and all that shows what it is worth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from queuesmith.base.files import AnyPath, atomic_write
from queuesmith.base.frames import Framed
from queuesmith.learning.conclusion import conclusion
from queuesmith.learning.course import Step
from queuesmith.learning.verdict import Guarded, Verdict
from queuesmith.policy.any_policy import AnyPolicy
from queuesmith.schedule.confidence import Interval
from queuesmith.schedule.objective import Objective
from queuesmith.schedule.paired import improvement_percent


@dataclass(frozen=True, eq=False, repr=False)
class Tuned(Framed):
    """What was learned, how, and how good it is on jobs seen and not seen.

    Parameters
    ----------
    policy
        The learned policy: it works wherever a policy works.
    settings
        The method and all its parameters, ready for JSON.
    objective
        What it was learned for.
    seed, split
        What chance followed from; the share of the log's time learned from, None for all.
    learning
        The verdict on the jobs that it learned from.
    held_out
        The verdict on jobs it did not see; None where it learned on all.
    history
        Where the run stood after each round: evaluations, best so far, mean of the round; of
        admitted policies only.
    evaluations
        How many policies the learner had judged.
    seconds
        How long judging them took, interruptions not counted.
    """

    policy: AnyPolicy
    settings: dict[str, Any]
    objective: Objective
    seed: int
    split: float | None
    learning: Verdict
    held_out: Verdict | None
    history: tuple[Step, ...]
    evaluations: int
    seconds: float

    @property
    def method(self) -> str:
        """The name of the method."""
        return str(self.settings["method"])

    @property
    def baseline(self) -> Interval:
        """The objective under FCFS with EASY, on the jobs learned from."""
        return self.learning.values["baseline"]

    @property
    def best_fixed(self) -> str:
        """The fixed strategy that is best on the jobs learned from."""
        return self.learning.best_fixed.policy

    @property
    def improvement_percent(self) -> dict[str, float | None]:
        """By how many per cent it is better than each, on the jobs learned from."""
        return self.learning.improvement_percent

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "method": self.method,
            "objective": str(self.objective),
            "longest_wait": None if (rule := self.learning.starving) is None else rule.factor,
            "conclusion": self.conclusion,
            **self.learning.to_dict(),
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "evaluations_per_second": self.evaluations / self.seconds if self.seconds else None,
            "seed": self.seed,
            "split": self.split,
            "settings": self.settings,
            "history": [step.to_dict() for step in self.history],
            "policy": self.policy.content(),
        }

    @property
    def conclusion(self) -> str:
        """What came out, and whether to believe it, in a sentence or two."""
        return conclusion(self)

    def no_worse_sentences(self) -> list[str]:
        """Say of each metric that was to get no worse whether that was kept, on each part.

        Where the learner found nothing that keeps the limits, the last sentence says so.
        """
        verdicts = {"on the jobs learned from": self.learning, "on jobs not seen": self.held_out}
        found = []
        for place, guard in enumerate(self.learning.guards):
            parts = [
                _kept(verdict.no_worse[place], jobs)
                for jobs, verdict in verdicts.items()
                if verdict is not None
            ]
            share = f"at most {100 * guard.tolerance:g} %" if guard.tolerance else "no"
            than = self.learning.baseline.policy
            found.append(f"{guard.metric}, {share} worse than under {than}: {', '.join(parts)}.")
        if self.history[-1].best is None and (found or self.learning.starving is not None):
            limit = "this" if found else "the limit of the longest waits"
            found.append(
                f"No policy that the learner had judged keeps {limit}, so the result is the best "
                f"fixed strategy that does: {self.policy}."
            )
        return found

    def save(self, path: AnyPath) -> None:
        """Write everything as a JSON file; ``policy.save`` writes the policy alone."""
        with atomic_write(path) as file:
            file.write((json.dumps(self.to_dict(), indent=2) + "\n").encode())

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each policy on each part of the log, the jobs seen first."""
        verdicts = {"learned on": self.learning, "held out": self.held_out}
        return [
            {"jobs": jobs, "policy": f"{part.replace('_', ' ')}: {schedule.policy}", **row}
            for jobs, verdict in verdicts.items()
            if verdict is not None
            for part, schedule in verdict.schedules.items()
            for row in [_row(verdict, part)]
        ]

    def __repr__(self) -> str:
        gains = [f"{_percent(self.learning)} on the jobs learned from"]
        if self.held_out is not None:
            gains.append(f"{_percent(self.held_out)} on jobs not seen")
        better = " and ".join(gains)
        return f"<Tuned by {self.method} for '{self.objective}': better than EASY by {better}>"

    @property
    def goal(self) -> str:
        """What it was learned for, in words."""
        rule = self.learning.starving
        text = f"{self.objective}, {self.objective.better} is better"
        if rule is None:
            return text
        times = f"{rule.factor:g} times fcfs+easy's"
        return f"{text}; no group's longest or 99 % wait above {times}, waits of up to a day apart"


def _row(verdict: Verdict, part: str) -> dict[str, Any]:
    interval = verdict.values[part]
    gain = verdict.improvement.get(part)
    return {
        "value": interval.value,
        "low": interval.low,
        "high": interval.high,
        "learned is better by %": None if gain is None else gain.value,
        "from %": None if gain is None else gain.low,
        "to %": None if gain is None else gain.high,
        "longest wait": max(verdict.longest_waits[part].values()),
        **{each.guard.metric: getattr(each, part) for each in verdict.no_worse},
    }


def _kept(guarded: Guarded, jobs: str) -> str:
    values = f"{_digits(guarded.learned)} against {_digits(guarded.baseline)}"
    if guarded.kept:
        return f"kept {jobs} ({values})"
    gain = improvement_percent(guarded.learned, guarded.baseline, guarded.guard.better)
    worse = "" if gain is None else f", {-gain:.2g} % worse"
    return f"not kept {jobs} ({values}{worse})"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100_000 else f"{value:,.6g}"


def _percent(verdict: Verdict) -> str:
    gain = verdict.improvement_percent["baseline"]
    return "an unknown share" if gain is None else f"{gain:.2f} %"
