"""What replays say of the jobs of an A/B run: without steering, and steered by a policy."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from queuesmith import Workload, simulate
from queuesmith.cluster import Cluster, NodeCluster
from queuesmith.cluster.nodes import Partition
from queuesmith.planning.follow import OptimalPlanning
from queuesmith.policy import Policy, as_policy
from tests.lab.submissions import Submission

#: What a replay is told of a job beside its cores: it runs on one node.
SHAPE = ("nodes", "requested_nodes", "most_nodes")
#: How many replays are foretold from.
DRAWS = 20


def measures(log: Workload, wait: Any) -> dict[str, float]:
    """Return what waits of jobs come to."""
    slowdown = np.maximum((wait + log.runtime) / np.maximum(log.runtime, 10), 1)
    return {
        "mean wait": float(wait.mean()),
        "mean bounded slowdown": float(slowdown.mean()),
        "longest wait": float(wait.max()),
    }


def replays(log: Workload, machine: NodeCluster) -> list[Any]:
    """Return the waits under Slurm by submission, and by the shortest request.

    Slurm's priority knows no requests, so in the second replay each request is a partition of all
    nodes with a priority of its own.
    """
    asked = sorted(set(log.walltime.tolist()))
    names = tuple(f"of {seconds} s" for seconds in asked)
    parts = tuple(
        Partition(name, machine.node_names, default=i == 0, priority=1000.0 - i)
        for i, name in enumerate(names)
    )
    unwanted = ("partition", "qos", "account")
    extra = {key: values for key, values in log.extra.items() if key not in unwanted}
    plain = log.replaced(extra=extra)
    code = np.array([asked.index(seconds) for seconds in log.walltime.tolist()])
    divided = plain.replaced(
        extra={**extra, "partition": code}, labels={**log.labels, "partition": names}
    )
    shortest = "slurm(PriorityWeightPartition=1000000, PriorityWeightAge=1)"
    return [
        simulate(plain, machine, "slurm(PriorityType=priority/basic)").wait,
        simulate(divided, replace(machine, partitions=parts), shortest).wait,
    ]


def of_policies(log: Workload, machine: NodeCluster, policy: str) -> list[dict[str, float]]:
    """Return what comes of jobs by submission and by any policy, the mean of many replays.

    No setting of Slurm replays such a policy's order, so both replays are of policies: on the
    nodes, or for a planner, which knows none, on as many cores. A policy's own backfill is not
    imposed; Slurm's plans all jobs anew, as plan does. Each replay has the seconds of submissions
    and ends a little otherwise, for who waits for whom hangs on them.
    """
    chosen = as_policy(policy)
    if isinstance(chosen, Policy):
        chosen = replace(chosen, backfill="plan")
    where = Cluster(machine.cores) if isinstance(chosen, OptimalPlanning) else machine
    jobs = log.replaced(extra={key: log.extra[key] for key in SHAPE})
    chance = np.random.default_rng(0)
    drawn = [shaken(jobs, chance) for _ in range(DRAWS if where is machine else 1)]
    return [
        mean([measures(each, simulate(each, where, by).wait) for each in drawn])
        for by in (as_policy("fcfs+plan"), chosen)
    ]


def shaken(log: Workload, chance: np.random.Generator) -> Workload:
    """Return the jobs submitted up to a second later, and each a second longer or not."""
    submit = np.maximum.accumulate(log.submit + chance.integers(0, 2, len(log)))
    return log.replaced(submit=submit, runtime=log.runtime + chance.integers(0, 2, len(log)))


def mean(several: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure."""
    return {name: float(np.mean([each[name] for each in several])) for name in several[0]}


def submitted(jobs: list[Submission]) -> Workload:
    """Return jobs as a log that tells nothing of what came of them."""
    asked = [dict(re.findall(r"-([a-zA-Z])(\d+)", each.options)) for each in jobs]
    seconds = [round(each.seconds) for each in jobs]
    return Workload(
        [round(each.at) for each in jobs],
        seconds,
        [60 * int(each["t"]) for each in asked],
        [int(each["n"]) for each in asked],
        extra={name: np.array([int(each["N"]) for each in asked]) for name in SHAPE},
    )
