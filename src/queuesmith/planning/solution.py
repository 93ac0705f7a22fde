"""The plan that was found, what is proven about it, and what took how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from queuesmith.cluster import Cluster
from queuesmith.planning.problem import Plan
from queuesmith.planning.snapshot import Snapshot
from queuesmith.schedule import Schedule
from queuesmith.solving.status import Status, gap_percent, status_of
from queuesmith.workload.workload import Ints


@dataclass(frozen=True, eq=False)
class Solution:
    """The best plan found for a snapshot, and a bound that no plan is below.

    Parameters
    ----------
    plan
        The start of every job.
    objective
        What was minimised.
    value, lower_bound
        The value of the plan, and what the value of no plan is below.
    policy, policy_value
        The best of the policies that the search began with, and its value.
    seconds
        How long it took.
    parts
        How long each part of it took, in seconds, by name.
    facts
        Further facts about how it came about, ready for JSON.
    """

    plan: Plan
    objective: str
    value: float
    lower_bound: float
    policy: str
    policy_value: float
    seconds: float
    parts: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def snapshot(self) -> Snapshot:
        """What was planned."""
        return self.plan.snapshot

    @property
    def start(self) -> Ints:
        """The instant at which each job is to start."""
        return self.plan.start

    @property
    def gap_percent(self) -> float | None:
        """By how many per cent the value may at most lie above the optimum."""
        return gap_percent(self.value, self.lower_bound)

    @property
    def status(self) -> Status:
        """Whether the plan is proven to be the best."""
        return status_of(self.value, self.lower_bound)

    @property
    def quality(self) -> float:
        """The value of this plan over that of the best policy (Grothklags and Streit, eq. 7)."""
        return self.value / self.policy_value if self.policy_value else 1.0

    @property
    def loss_percent(self) -> float:
        """How many per cent are lost by following the best policy instead."""
        return 100.0 * (1.0 - self.quality)

    @property
    def schedule(self) -> Schedule:
        """The plan as a schedule of the waiting jobs; what runs now is not part of it."""
        cluster = Cluster(self.snapshot.cores, self.snapshot.jobs.name)
        return Schedule(self.snapshot.jobs, cluster, self.start, "optimal", self.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known about the solution, ready for JSON."""
        return {
            "name": self.snapshot.jobs.name,
            "jobs": len(self.snapshot),
            "cores": self.snapshot.cores,
            "objective": self.objective,
            "value": self.value,
            "lower_bound": self.lower_bound,
            "gap_percent": self.gap_percent,
            "status": str(self.status),
            "policy": self.policy,
            "policy_value": self.policy_value,
            "loss_percent": self.loss_percent,
            "seconds": self.seconds,
            **{f"{part}_seconds": round(took, 4) for part, took in self.parts.items()},
            **self.facts,
        }
