"""The planning steps of a replay: what a planning scheduler knew at each submission."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from queuesmith.base.checks import seeded, whole_number
from queuesmith.base.errors import UsageError, WorkloadError
from queuesmith.base.words import so_many
from queuesmith.cluster import Cluster
from queuesmith.planning.snapshot import Snapshot
from queuesmith.policy import Policy
from queuesmith.schedule import Schedule
from queuesmith.workload import Workload
from queuesmith.workload.dependencies import check_no_dependencies
from queuesmith.workload.workload import Ints


def snapshots(
    source: Schedule | Workload,
    policy: Policy | str | None = None,
    *,
    cores: int | None = None,
    steps: int | None = None,
    seed: int = 0,
    fewest: int = 1,
    most: int | None = None,
) -> Iterator[Snapshot]:
    """Yield the planning steps of a replay, one at each instant of submission.

    Parameters
    ----------
    source
        A schedule, or a workload that is replayed first.
    policy, cores
        For a workload: how it is replayed, and on how many processors.
    steps, seed
        Take only so many, chosen at random over the whole replay; by default all.
    fewest, most
        Only steps with at least and at most so many waiting jobs.
    """
    schedule = _replayed(source, policy, cores)
    instants = sampled_instants(schedule, steps=steps, seed=seed, fewest=fewest, most=most)
    for instant in instants:
        yield snapshot_at(schedule, int(instant))


def sampled_instants(
    schedule: Schedule,
    *,
    steps: int | None = None,
    seed: int = 0,
    fewest: int = 1,
    most: int | None = None,
) -> Ints:
    """Return the instants of the steps that ``snapshots`` yields."""
    instants = step_instants(schedule, fewest=fewest, most=most)
    if not len(instants):
        wanted = (
            f"{fewest} to {so_many(most, 'waiting job')}"
            if most is not None
            else f"at least {so_many(fewest, 'waiting job')}"
        )
        raise WorkloadError(
            f"no step of '{schedule.workload.name}' has {wanted}. Ask for other steps."
        )
    if steps is None:
        return instants
    whole_number("the number of steps", steps, 1, "Give how many to take, for example 300.")
    rng = seeded(seed)
    return np.sort(rng.choice(instants, min(steps, len(instants)), replace=False))


def step_instants(schedule: Schedule, *, fewest: int = 1, most: int | None = None) -> Ints:
    """Return the instants of submission at which so many jobs wait, those just arrived included."""
    submit = check_no_dependencies(schedule.workload, "the planner").submit
    instants = np.unique(submit)
    arrived = np.searchsorted(submit, instants, "right")
    waiting = arrived - np.searchsorted(np.sort(schedule.start), instants, "left")
    chosen = waiting >= max(fewest, 1)
    if most is not None:
        chosen &= waiting <= most
    return instants[chosen]


def snapshot_at(schedule: Schedule, instant: int) -> Snapshot:
    """Return what a planning scheduler knows at an instant of a schedule, before it decides."""
    jobs, start = schedule.workload, schedule.start
    waiting = (jobs.submit <= instant) & (start >= instant)
    running = (start < instant) & (schedule.end > instant)
    # A job holds its cores for a second at least in the eyes of the planner.
    walltime = np.maximum(jobs.walltime, 1)
    time, free = staircase(
        instant,
        schedule.cluster.cores,
        start[running] + walltime[running],
        jobs.cores[running],
    )
    known = jobs.select(waiting)
    planned = walltime[waiting]
    known = known.replaced(runtime=planned, walltime=planned)
    return Snapshot(instant, known, time, free, schedule.cluster.cores)


def staircase(now: int, cores: int, ends: Ints, held: Ints) -> tuple[Ints, Ints]:
    """Return the free cores over time if running jobs end when their walltimes say."""
    time, position = np.unique(np.append(ends, now), return_inverse=True)
    freed = np.bincount(position, weights=np.append(held, 0), minlength=len(time))
    free = cores - int(held.sum()) + np.cumsum(np.rint(freed).astype(np.int64))
    return time.astype(np.int64), free


def _replayed(
    source: Schedule | Workload, policy: Policy | str | None, cores: int | None
) -> Schedule:
    if isinstance(source, Schedule):
        return source
    from queuesmith.engine import simulate

    if policy is None:
        raise UsageError("a workload has no steps before it is replayed. Give a policy.")
    cluster = None if cores is None else Cluster(cores, source.name)
    return simulate(source, cluster, policy)
