"""Check a user's policy: the twin, feasibility, determinism, and what is wrong in words."""

from __future__ import annotations

import numpy as np

from queuesmith.base.checks import seeded, whole_number
from queuesmith.base.errors import PolicyError
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster
from queuesmith.engine import simulate
from queuesmith.policy import AnyPolicy, SelfReplaying, as_policy
from queuesmith.schedule.verify import violations
from queuesmith.testing.slowly import simulate_slowly
from queuesmith.workload import Workload


def check_policy(
    policy: AnyPolicy | str, *, workloads: int = 25, jobs: int = 40, seed: int = 0
) -> AnyPolicy:
    """Take a policy through many small random workloads; raise PolicyError where it fails.

    Each workload is replayed twice by the engine and once by the plain-Python twin. All three
    schedules must be the same, and feasible. A policy that replays by itself has no twin.

    Parameters
    ----------
    policy
        A policy, or one as it is written: ``"my.py:patient_wide+easy"``.
    workloads, jobs
        How many random workloads, and of how many jobs each.
    seed
        Another seed, other workloads.

    Returns
    -------
    AnyPolicy
        The policy, so that the call can stand where the policy would.
    """
    checked = as_policy(policy)
    whole_number("the number of workloads", workloads, 1, "Give for example 25.")
    whole_number("the number of jobs", jobs, 1, "Give for example 40.")
    rng = seeded(seed)
    for number in range(workloads):
        cluster = Cluster(int(rng.integers(1, 65)))
        workload = random_workload(rng, jobs, cluster.cores).renamed(f"random {number}")
        _check_on(checked, workload, cluster)
    return checked


def random_workload(rng: np.random.Generator, jobs: int, cores: int) -> Workload:
    """Return jobs with many ties, bursts, overestimates, and widths up to the whole machine."""
    runtime = rng.integers(0, 50, jobs)
    return Workload(
        submit=np.sort(rng.integers(0, 15 * jobs, jobs) // 5 * 5),
        runtime=runtime,
        walltime=runtime + rng.integers(0, 3, jobs) * rng.integers(0, 40, jobs),
        cores=1 + (rng.random(jobs) ** 3 * cores).astype(np.int64),
        user=rng.integers(0, 5, jobs),
        group=rng.integers(1, 6, jobs),
        extra={"partition": rng.integers(0, 3, jobs), "qos": rng.integers(0, 3, jobs)},
    )


def _check_on(policy: AnyPolicy, workload: Workload, cluster: Cluster) -> None:
    schedule = simulate(workload, cluster, policy)
    again = simulate(workload, cluster, policy)
    if not np.array_equal(schedule.start, again.start):
        raise _not_deterministic(policy, workload, cluster)
    found = violations(schedule)
    if found:
        raise PolicyError(
            f"policy '{policy}' gives an infeasible schedule for workload '{workload.name}' on "
            f"{so_many(cluster.cores, 'core')}: {' '.join(found)} This is an error in Queuesmith: "
            "report it."
        )
    if isinstance(policy, SelfReplaying):
        return
    twin = _twin(policy, workload, cluster)
    differ = np.flatnonzero(schedule.start != twin)
    if len(differ):
        # Chance may strike alike twice, so the twin is asked several times.
        if any((_twin(policy, workload, cluster) != twin).any() for _ in range(10)):
            raise _not_deterministic(policy, workload, cluster)
        job = int(differ[np.argmin(np.minimum(schedule.start, twin)[differ])])
        raise PolicyError(
            f"policy '{policy}' behaves otherwise compiled than in plain Python: in workload "
            f"'{workload.name}' on {so_many(cluster.cores, 'core')} job {workload.id[job]} starts "
            f"at {schedule.start[job]} compiled and at {twin[job]} in Python. Look for "
            "whole-number division, overflow, and comparisons of nearly equal numbers."
        )


def _twin(
    policy: AnyPolicy, workload: Workload, cluster: Cluster
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    try:
        return simulate_slowly(workload, cluster, policy).start
    except (ArithmeticError, ValueError, TypeError) as error:
        raise PolicyError(
            f"policy '{policy}' fails in plain Python: {error}. "
            "Guard it, for example with max(..., 1)."
        ) from error


def _not_deterministic(policy: AnyPolicy, workload: Workload, cluster: Cluster) -> PolicyError:
    return PolicyError(
        f"policy '{policy}' is not deterministic: two replays of workload '{workload.name}' on "
        f"{so_many(cluster.cores, 'core')} differ. Let it depend on its arguments alone."
    )
