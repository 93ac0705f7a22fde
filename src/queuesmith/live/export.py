"""Settings of slurm.conf under which stock Slurm comes nearest to a policy, without a daemon."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from queuesmith.base.checks import seeded, whole_number
from queuesmith.base.errors import QueuesmithError
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.fitting import fitting
from queuesmith.engine.simulate import simulate
from queuesmith.learning.split import DEFAULT_SPLIT, split_in_time
from queuesmith.policy import AnyPolicy, Slurm
from queuesmith.policy.slurm import conf_lines
from queuesmith.schedule import Schedule
from queuesmith.schedule.objective import Objective
from queuesmith.workload import Workload
from queuesmith.workload.group_names import grouped_for

#: What is looked for, and the values that are tried.
CHOICES: dict[str, tuple[str, ...]] = {
    "PriorityWeightAge": ("0", "100", "1000", "10000", "100000"),
    "PriorityWeightFairshare": ("0", "100", "1000", "10000", "100000"),
    "PriorityWeightJobSize": ("0", "100", "1000", "10000", "100000"),
    "PriorityWeightQOS": ("0", "1000", "10000"),
    "PriorityWeightPartition": ("0", "1000", "10000"),
    "PriorityFavorSmall": ("NO", "YES"),
    "PriorityMaxAge": ("1-0", "7-0"),
    "bf_max_job_test": ("100", "500", "2000"),
}
#: The priorities that partitions may get.
_FACTORS = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Candidate:
    """One way to set up Slurm: values of slurm.conf, and the priority of each partition."""

    settings: Mapping[str, str]
    partitions: Mapping[str, float]

    @property
    def lines(self) -> list[str]:
        """What slurm.conf is to say."""
        factors = [
            f"# PartitionName={name} ... PriorityJobFactor={factor:g}"
            for name, factor in self.partitions.items()
        ]
        return [*conf_lines(self.settings), *factors]


@dataclass(frozen=True)
class Exported:
    """The settings that were found, and what they are worth.

    Parameters
    ----------
    candidate
        The settings.
    seen, unseen
        The objective under the policy, under Slurm as it is set up today, and under the settings
        found: on the jobs that were learned from, and on those that were not.
    longest
        The longest wait of each on the jobs not seen, in seconds: the price of a gain.
    """

    policy: str
    objective: str
    candidate: Candidate
    seen: tuple[float, float, float]
    unseen: tuple[float, float, float]
    longest: tuple[float, float, float]

    @property
    def loss(self) -> float | None:
        """By how many per cent the settings fall short of the policy on jobs not seen.

        None where the policy's own value is 0, so that there is no per cent of it.
        """
        wanted, _, found = self.unseen
        return (
            _sign(Objective(self.objective)) * 100 * (found - wanted) / abs(wanted)
            if wanted
            else None
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the values as a table."""
        names = (self.policy, "Slurm as it is", "Slurm as exported")
        values = zip(names, self.seen, self.unseen, self.longest, strict=True)
        return [
            {
                "what": name,
                f"{self.objective}, seen": seen,
                "not seen": unseen,
                "longest wait (s)": longest,
            }
            for name, seen, unseen, longest in values
        ]

    @property
    def text(self) -> str:
        """The lines for slurm.conf, with what they are worth."""
        short = "" if self.loss is None else f" ({_short(self.loss)})"
        head = [
            f"# nearest to {self.policy} by {self.objective}, found by replay;",
            f"# on jobs not seen {self.unseen[2]:g}{short}, the policy itself {self.unseen[0]:g}, "
            f"Slurm as it is {self.unseen[1]:g}",
        ]
        return "\n".join([*head, *self.candidate.lines]) + "\n"


def export(
    log: Workload,
    machine: NodeCluster,
    policy: AnyPolicy,
    *,
    objective: str = "mean_wait",
    candidates: int = 60,
    split: float = DEFAULT_SPLIT,
    seed: int = 0,
    tick: Callable[[float], None] = lambda share: None,
) -> Exported:
    """Look for settings of stock Slurm that come nearest to a policy.

    Half of the candidates are drawn at random; the others change one value of the best so far. The
    policy is replayed on the machine's cores, Slurm on its nodes.

    Parameters
    ----------
    log
        Jobs of the past; the first part in time is learned from, the rest judges.
    machine
        The nodes, with the settings of today.
    policy
        What Slurm is to come near to.
    objective
        What counts; a metric of which more is better is made large.
    candidates
        How many settings are tried.
    split
        The share of the time that is learned from.
    seed
        The same seed gives the same settings.
    tick
        Told the share that is done.
    """
    whole_number("the number of candidates", candidates, 2, "Give for example 60.")
    if isinstance(policy, Slurm):
        raise QueuesmithError(
            f"'{policy}' is Slurm already, so there is nothing to export. Give another policy."
        )
    measure, chance = Objective(objective), seeded(seed)
    learning, judging = split_in_time(fitting(grouped_for(policy.groups, log), machine), split)
    assert judging is not None
    best, value, sign = None, float("inf"), _sign(measure)
    for number in range(candidates):
        near = best if best is not None and number >= candidates // 2 else None
        candidate = _changed(near, chance) if near else _drawn(machine, chance)
        reached = sign * measure(_replayed(learning, machine, candidate))
        if reached < value:
            best, value = candidate, reached
        tick((number + 1) / candidates)
    if best is None:
        raise QueuesmithError(
            f"'{objective}' is no number for any of {so_many(candidates, 'setting')}. Choose "
            "another."
        )
    schedules = [
        (
            simulate(part, Cluster(machine.cores, machine.name), policy),
            simulate(part, machine, "slurm()"),
            _replayed(part, machine, best),
        )
        for part in (learning, judging)
    ]
    seen, unseen = (_three(map(measure, each)) for each in schedules)
    longest = _three(float(schedule.wait.max()) for schedule in schedules[1])
    return Exported(str(policy), str(measure), best, seen, unseen, longest)


def _sign(measure: Objective) -> float:
    return -1.0 if measure.better == "higher" else 1.0


def _short(loss: float) -> str:
    return f"{abs(loss):.1f} % {'worse' if loss > 0 else 'better'}"


def _three(values: Iterable[float]) -> tuple[float, float, float]:
    first, second, third = values
    return first, second, third


def _drawn(machine: NodeCluster, chance: np.random.Generator) -> Candidate:
    settings = {name: str(chance.choice(values)) for name, values in CHOICES.items()}
    several = machine.partitions if len(machine.partitions) > 1 else ()
    return Candidate(settings, {part.name: float(chance.choice(_FACTORS)) for part in several})


def _changed(candidate: Candidate, chance: np.random.Generator) -> Candidate:
    """Return a candidate with one value changed."""
    names = [*CHOICES, *candidate.partitions]
    name = str(chance.choice(names))
    if name in CHOICES:
        settings = {**candidate.settings, name: str(chance.choice(CHOICES[name]))}
        return replace(candidate, settings=settings)
    factors = {**candidate.partitions, name: float(chance.choice(_FACTORS))}
    return replace(candidate, partitions=factors)


def _replayed(log: Workload, machine: NodeCluster, candidate: Candidate) -> Schedule:
    partitions = tuple(
        replace(part, priority=candidate.partitions.get(part.name, part.priority))
        for part in machine.partitions
    )
    settings = {"PriorityType": "priority/multifactor", **candidate.settings}
    return simulate(log, replace(machine, partitions=partitions), Slurm(settings))
